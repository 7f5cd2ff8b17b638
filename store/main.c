/*
 * main.c - the program `store`: lists what stores hold, checks them, and merges them.
 *
 * A verb is a row of the table below: its name and words, how it opens the store, and the function that does it. Its
 * --help lists exactly the options that it takes.
 */
#include <limits.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/stop.h"
#include "store/cmd.h"
#include "store/fact.h"

static int cmd_rebuild(struct request *r, struct err *err)
{
	struct emit e = {.s = r->s, .format = r->format};
	int rc = store_rebuild(r->s, err);

	if (rc == 0)
		rc = emit_one(&e, "rebuilt",
		sql_query(r->s, err, "SELECT at AS rebuilt_at, steps, (SELECT count(*) FROM sigma) AS"
			" label_scales, (SELECT count(*) FROM best) AS bests FROM rebuilt", ""), err);
	return emit_end(&e, rc, err);
}

/* Writes the file anew, with full pages in order and no free ones: for archives, and before a copy. */
static int cmd_compact(struct request *r, struct err *err)
{
	int64_t before, after;
	struct buf b = {0};
	int rc;

	if (sql_int(r->s, err, &before, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
		"") < 0)
		return -1;
	sql_forget(r->s);
	if (sql_exec(r->s, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", err) < 0 ||
		sql_int(r->s, err, &after, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
		"") < 0)
		return -1;
	if (r->format == EMIT_JSON)
		buf_addf(&b, "{\"bytes_before\": %lld, \"bytes_after\": %lld}\n", (long long)before, (long long)after);
	else
		buf_addf(&b, "%s: %.3g MB, was %.3g MB\n", store_path(r->s), (double)after / 1e6, (double)before / 1e6);
	rc = io_print(&b, err);
	buf_release(&b);
	return rc;
}

/* The options that a verb has beside those of all. */
enum takes { TAKES_WAIT = 1, TAKES_ROWS = 2, TAKES_CHOICE = 4, TAKES_PAGE = 8, TAKES_WITHOUT = 16 };
#define ANY INT_MAX

static const struct verb {
	const char *name;
	int (*fn)(struct request *r, struct err *err);
	int (*check)(struct request *r, struct err *err); /* asked before the store is opened; NULL: nothing is */
	enum store_mode mode;
	int takes, words; /* words: the most after FILE; ANY: its function knows */
	const char *usage, *brief, *about;
} verbs[] = {
	{"info", cmd_info, NULL, STORE_READ, 0, 0, "FILE", "tell what it holds",
		"Tells what the store holds, and where it was measured."},
	{"ls", cmd_ls, NULL, STORE_READ, TAKES_ROWS, 1, "FILE [runs|graphs]", "list runs and graphs",
		"Lists runs and graphs."},
	{"show", cmd_show, NULL, STORE_READ, 0, ANY, "FILE RUN|GRAPH", "tell all about a run or graph",
		"Shows everything about one run (its uuid, or the first digits of it, "
		"or its number) or one graph (its name or hash)."},
	{"verify", cmd_verify, NULL, STORE_READ, 0, 0, "FILE", "check it for damage",
		"Checks the store: reads all pages, hashes every blob again, and replays "
		"every chain against its hashes. The exit status is 1 if anything is damaged."},
	{"merge", cmd_merge, cmd_merge_check, STORE_CREATE, TAKES_WAIT | TAKES_WITHOUT, ANY, "OUT IN...",
		"add the runs of other stores",
		"Adds the runs of other stores to OUT, which is made if absent. A run is known by its uuid, so a "
		"store may be merged again after it has grown, or after a merge was interrupted. The other stores are "
		"only read, and may be written by others meanwhile."},
	{"export", cmd_export, NULL, STORE_READ, TAKES_CHOICE, ANY, "FILE",
		"write samples for other programs",
		"Writes samples as CSV or JSON lines on standard output, or as npz files "
		"in the layout of TpuGraphs, one per space and environment."},
	{"query", cmd_query, NULL, STORE_READ, TAKES_ROWS, ANY, "FILE SQL", "run one SQL statement",
		"Runs one read-only SQL statement. It may use REGEXP (PCRE2), cost(costs, "
		"k), cost_se(costs, k), cost_outcome(costs, k) and the view `samples`. schemas/store.sql says what the "
		"tables hold."},
	{"report", cmd_report, NULL, STORE_READ, TAKES_PAGE, ANY, "FILE --out PAGE", "draw a page about the nights",
		"Writes a page (HTML) about the nights: samples, coverage, errors, the default's own cost over time "
		"and the best seen, per program; every stretch of work; and the history of the models learnt."},
	{"rebuild", cmd_rebuild, NULL, STORE_WRITE, TAKES_WAIT, 0, "FILE", "compute derived tables anew",
		"Computes the derived tables (label scales, bests) from the facts."},
	{"compact", cmd_compact, NULL, STORE_WRITE, TAKES_WAIT, 0, "FILE", "give unused space back",
		"Brings an older store to the present version, and gives unused space back."},
};
#define N_VERBS (sizeof verbs / sizeof *verbs)

struct flags {
	const char *db;
	bool json, csv, jsonl;
};

static size_t option_table(const struct verb *v, struct request *r, struct flags *f, struct opt *t)
{
	const struct opt common[] = {
		OPT_STR(0, "db", &f->db, "FILE", "another way to name the store, instead of the first word"),
		OPT_FLAG(0, "json", &f->json, "print the answer as JSON"),
		OPT_FLAG('q', "quiet", &r->quiet, "show no progress on standard error"),
		OPT_FLAG(0, "force", &r->options.force,
			"use the store even on a network file system, whose locks may not work: at your own risk")};
	const struct opt wait = OPT_FLAG(0, "wait", &r->options.wait,
		"if another program writes the store, wait until it ends, instead of failing");
	const struct opt without = OPT_STR(0, "without", &r->without, "REGEX", "leave out the runs of graphs whose name"
		" matches");
	const struct opt rows[] = {OPT_FLAG(0, "csv", &f->csv, "print the answer as CSV"),
		OPT_FLAG(0, "jsonl", &f->jsonl, "print the answer as JSON lines")};
	const struct opt chosen[] = {
		OPT_STR(0, "run", &r->run, "RUN",
			"write only this run (its uuid, the first digits of it, or its number)"),
		OPT_STR(0, "graph", &r->graph, "REGEX", "write only graphs whose name matches"),
		OPT_STR('o', "out", &r->out, "PATH",
			"the file to write, or the folder for npz; default: standard output"),
		OPT_INT(0, "every", &r->every, 1, 1e9, "write only one in so many samples"),
		OPT_ENUM(0, "format", &r->export_format, "jsonl|csv|npz", "the format to write")};
	const struct opt page[] = {OPT_STR('o', "out", &r->out, "PAGE", "the page to write"),
		OPT_STR(0, "models", &r->models, "DIR",
			"the folder with the histories of models (default: where search looks for models)")};
	const struct opt end = OPT_END;
	size_t n = 0;

	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		t[n++] = common[i];
	if (v->takes & TAKES_WAIT)
		t[n++] = wait;
	if (v->takes & TAKES_WITHOUT)
		t[n++] = without;
	for (size_t i = 0; (v->takes & TAKES_ROWS) && i < sizeof rows / sizeof *rows; i++)
		t[n++] = rows[i];
	for (size_t i = 0; (v->takes & TAKES_CHOICE) && i < sizeof chosen / sizeof *chosen; i++)
		t[n++] = chosen[i];
	for (size_t i = 0; (v->takes & TAKES_PAGE) && i < sizeof page / sizeof *page; i++)
		t[n++] = page[i];
	t[n] = end;
	return n;
}

/* Opens the store and does the work. A store that was made for it stays only if something came of it. */
static int do_verb(const struct verb *v, struct request *r, struct err *err)
{
	bool was = io_exists(r->path);
	int rc;

	if (v->check && v->check(r, err) < 0)
		return -1;
	r->s = store_open(r->path, v->mode, &r->options, err);
	if (!r->s)
		return -1;
	rc = v->fn(r, err);
	if (rc < 0 && !was)
		store_abandon(r->s);
	else
		store_close(r->s);
	return rc;
}

static int run_verb(const struct verb *v, int argc, char **argv, struct err *err)
{
	struct request r = {.every = 1};
	struct flags f = {0};
	struct opt table[16];
	char name[40];
	struct opt_program prog = {name, v->usage, v->about, table};
	int n, rc;

	snprintf(name, sizeof name, "store %s", v->name);
	option_table(v, &r, &f, table);
	rc = opt_parse(&prog, argc, argv, &n, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	r.word = argv;
	if (!f.db && n > 0) {
		f.db = argv[0];
		r.word++;
		n--;
	}
	r.n_words = n;
	r.path = f.db;
	if (!f.db)
		return err_set(err, "which store? usage: store %s %s", v->name, v->usage);
	if (n > v->words)
		return err_set(err, "\"%s\" is one word too many; usage: store %s %s", r.word[v->words], v->name,
			v->usage);
	r.format = f.json ? EMIT_JSON : f.jsonl ? EMIT_JSONL : f.csv ? EMIT_CSV : EMIT_TABLE;
	return do_verb(v, &r, err);
}

static const char *about(struct buf *b)
{
	buf_adds(b, "Lists what stores of measurements hold, checks them, and merges them.\n\n");
	for (size_t i = 0; i < N_VERBS; i++)
		buf_addf(b, "  %-7s %-18s  %s\n", verbs[i].name, verbs[i].usage, verbs[i].brief);
	buf_adds(b, "\n`store VERB --help` tells more.");
	return b->data;
}

static const struct verb *find_verb(const char *name, struct err *err)
{
	const char *names[N_VERBS];
	const char *near;

	for (size_t i = 0; i < N_VERBS; i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
		names[i] = verbs[i].name;
	}
	near = opt_nearest(name, names, N_VERBS);
	err_set(err, "there is no `store %s`%s%s; see store --help", name, near ? "; did you mean " : "", near ? near
		: "");
	return NULL;
}

int main(int argc, char **argv)
{
	const struct opt none[] = {OPT_END};
	struct opt_program prog = {"store", "VERB FILE ...", NULL, none};
	const struct verb *v;
	struct err err = {0};
	struct buf text = {0};
	int n, rc = -1;

	err_program("store");
	stop_on_signals(STOP_BY_DEFAULT);
	if (argc > 1 && argv[1][0] != '-') {
		v = find_verb(argv[1], &err);
		rc = v ? run_verb(v, argc - 1, argv + 1, &err) : -1;
	} else {
		prog.about = about(&text);
		for (size_t i = 0; argc > 1 && strcmp(argv[1], "--help-completion") == 0 && i < N_VERBS; i++)
			printf("%s\n", verbs[i].name);
		rc = opt_parse(&prog, argc, argv, &n, &err);
		if (rc == 0)
			rc = err_set(&err, "what shall it do? Name a verb (store --help lists them)");
		else if (rc == 1)
			rc = 0;
		buf_release(&text);
	}
	return rc < 0 ? err_exit(&err) : rc;
}
