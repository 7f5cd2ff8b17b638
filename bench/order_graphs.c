/*
 * order_graphs.c - compares strategies for orders with the same number of evaluations for each, as REGAL's paper does.
 *
 *	build/release/bench/order_graphs [--graphs N] [--evaluations N] [--size N] [--gap X] [--keep FILE] [GRAPH...]
 *	build/release/bench/order_graphs --print FAMILY [--size N] [--seed N]
 *
 * Takes the GRAPHs (programs as they are in their files), or else drawn graphs (order_draw.h) of all families in turn.
 * As in the paper's data, --gap keeps only drawn graphs with room for improvement: those on which brkga with few
 * evaluations (FEW) needs at least so many percent more than with many (MANY).
 *
 * Every strategy begins with the depth-first order, and looks at the given number of orders; brkga, as in the paper,
 * begins with nothing. "tuned" is brkga with the depth-first order as its first member, and a smaller population.
 * "ours" is the better of guided and anneal, each with half the evaluations.
 *
 * With --columns only some strategies run, beside depth-first and brkga, with which all are compared.
 *
 * With --keep each figure of a drawn graph is written to that file as soon as it is known, and is taken from there when
 * the bench is called again. So it can be stopped and started again; it begins no graph after --stop-after seconds. To
 * measure a strategy anew, delete its lines.
 *
 * The bench prints the geometric mean of each strategy's bytes against those of the depth-first order and of brkga,
 * and, if a graph is small enough, of its live bytes against the best of all orders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/opt.h"
#include "base/progress.h"
#include "bench/order_draw.h"
#include "graph/graph.h"
#include "ready/user_program.h"
#include "space/order/exact.h"
#include "space/order/list.h"
#include "space/order/trial.h"

#define MOST 4096 /* nodes */
#define MOST_DRAWN 1000000 /* graphs */
#define SMALL 40  /* nodes of graphs whose best order is found in any case: of a larger one it may take a minute */

#define FEW 100 /* one generation */
#define MANY 10000

enum { DEPTH_FIRST, BRKGA, TUNED, LOCAL, RANDOM, ANNEAL, REGAL, GUIDED, OURS, COLUMNS,
	BEST = COLUMNS, TAKEN, ROWS };
static const char *const column[] = {"depth-first", "brkga", "tuned", "sweep", "random", "anneal", "regal", "guided",
	"ours", "best", "taken"};

/*
 * What is known of a graph: bytes and live bytes of what each strategy found; the live bytes of the best order, 0 if it
 * is not known; and whether the graph has room for improvement.
 */
struct figures {
	struct {
		uint64_t bytes, live;
		bool known;
	} row[ROWS];
};
struct kept { /* the file of --keep; the figures in it, by the number of the drawn graph */
	FILE *f;
	struct figures *v;
	size_t n, cap;
};

/* Makes room for the figures of a graph. */
static struct figures *figures_of(struct kept *k, size_t graph)
{
	MEM_GROW(&k->v, &k->cap, graph + 1);
	for (; k->n <= graph; k->n++)
		k->v[k->n] = (struct figures){0};
	return &k->v[graph];
}

static void know(struct kept *k, size_t graph, int row, uint64_t bytes, uint64_t live)
{
	struct figures *f = figures_of(k, graph);

	f->row[row].bytes = bytes;
	f->row[row].live = live;
	f->row[row].known = true;
	if (k->f) {
		fprintf(k->f, "%zu %s %llu %llu\n", graph, column[row], (unsigned long long)bytes,
			(unsigned long long)live);
		fflush(k->f);
	}
}

struct wanted { /* what to measure */
	uint64_t evaluations;
	const char *columns; /* "regal,guided"; NULL: all */
};

static bool wants(const struct wanted *w, int which)
{
	size_t n = strlen(column[which]);

	if (!w->columns || which == DEPTH_FIRST || which == BRKGA)
		return true;
	for (const char *p = w->columns; (p = strstr(p, column[which])); p += n)
		if ((p == w->columns || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
			return true;
	return false;
}

struct sum {
	double first, brkga, square, exact; /* square: of brkga, for the standard error */
	uint32_t n, n_exact;
};

static void report(const char *name, const struct sum *sum)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (!sum[i].n)
			continue;
		printf("%-8s %-11s %6.2f%% below depth-first, %+6.2f%% +- %.2f against brkga", name, column[i],
			100 * (1 - exp(sum[i].first / sum[i].n)), 100 * (exp(sum[i].brkga / sum[i].n) - 1),
			100 * sqrt(fmax(sum[i].square - sum[i].brkga * sum[i].brkga / sum[i].n, 0)) / sum[i].n);
		if (sum[i].n_exact)
			printf(", %.2f%% above the best of all (%u graphs)",
				100 * (exp(sum[i].exact / sum[i].n_exact) - 1), sum[i].n_exact);
		printf(" (%u)\n", sum[i].n);
	}
	fflush(stdout);
}

/* Runs brkga with options of its own. */
static void genetic(struct program *p, const struct brkga_options *how, uint64_t evaluations, uint64_t seed,
	struct tune_result *out)
{
	struct tune_options o = {.moves = evaluations};
	struct trial t;
	struct rng r;

	rng_seed(&r, seed);
	trial_begin(&t, p, &o, &r, out);
	if (how->from_nothing)
		t.bytes = UINT64_MAX / 2; /* the order that it begins with does not count */
	brkga_with(&t, how, NULL);
	trial_end(&t);
}

static void named(struct program *p, const char *name, uint64_t evaluations, uint64_t seed, struct tune_result *out)
{
	struct tune_options o = {.moves = evaluations};
	struct err err = {0};
	struct rng r;

	rng_seed(&r, seed);
	BUG_ON(order_strategy_find(name)->run(p, &o, &r, out, &err) < 0); /* none of these can fail */
}

/* Fills a column for a program that is in the order to begin with; leaves it in the order that was found. */
static void run_column(struct program *p, int which, uint64_t evaluations, uint64_t seed, struct tune_result *out)
{
	static const struct brkga_options plain = {.members = 100, .elite = 20, .mutants = 15, .bias = 0.7,
		.from_nothing = true}, tuned = {.members = 50, .elite = 10, .mutants = 5, .bias = 0.8};

	switch (which) {
	case DEPTH_FIRST:
		program_settle(p);
		*out = (struct tune_result){.before = program_bytes(p), .bytes = program_bytes(p)};
		break;
	case BRKGA:
		genetic(p, &plain, evaluations, seed, out);
		break;
	case TUNED:
		genetic(p, &tuned, evaluations, seed, out);
		break;
	default:
		named(p, column[which], evaluations, seed, out);
	}
}

static void begin_with(struct program *p, uint32_t *const *orders)
{
	program_copy_orders(p, p->order, orders);
}

/* The better of two strategies, each with half the evaluations. */
static void run_ours(struct program *p, uint32_t *const *first, uint64_t evaluations, uint64_t seed,
	struct tune_result *out)
{
	struct tune_result a, b;

	begin_with(p, first);
	run_column(p, ANNEAL, evaluations / 2, seed, &a);
	begin_with(p, first);
	run_column(p, GUIDED, evaluations / 2, seed, &b);
	*out = b.bytes < a.bytes ? b : a;
}

/* Finds what is not known yet of a program. */
static void try_program(struct program *p, const struct wanted *w, uint64_t seed, struct kept *k, size_t graph)
{
	uint32_t entry = p->graph->entry, **first = MEM_NEW(p->graph->n_comps, uint32_t *);
	uint64_t best = 0;

	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		first[c] = MEM_NEW(program_line(p, c)->n, uint32_t);
		if (program_line(p, c)->n)
			list_depth_first(program_line(p, c), first[c]);
	}
	begin_with(p, first);
	program_settle(p);
	if (!figures_of(k, graph)->row[BEST].known) {
		if (program_line(p, entry)->n > SMALL ||
			exact_order(program_line(p, entry), EXACT_SETS, p->order[entry], &best, &(struct err){0}) < 0)
			best = 0;
		know(k, graph, BEST, best, best);
	}
	for (int i = 0; i < COLUMNS; i++) {
		struct tune_result r;
		if (figures_of(k, graph)->row[i].known || !wants(w, i))
			continue;
		begin_with(p, first);
		if (i == OURS)
			run_ours(p, first, w->evaluations, seed, &r);
		else
			run_column(p, i, w->evaluations, seed, &r);
		know(k, graph, i, r.bytes, program_settle(p));
	}
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		mem_free(first[c]);
	mem_free(first);
}

static void add_figures(const struct figures *f, struct sum *sum)
{
	uint64_t best = f->row[BEST].live;

	for (int i = 0; i < COLUMNS; i++) {
		if (!f->row[i].known)
			continue;
		sum[i].first += log((double)f->row[i].bytes / (double)f->row[DEPTH_FIRST].bytes);
		sum[i].brkga += log((double)f->row[i].bytes / (double)f->row[BRKGA].bytes);
		sum[i].square += pow(log((double)f->row[i].bytes / (double)f->row[BRKGA].bytes), 2);
		sum[i].n++;
		sum[i].exact += best ? log((double)f->row[i].live / (double)best) : 0;
		sum[i].n_exact += best > 0;
	}
}

/* Has the program room for improvement: do many evaluations give brkga so much more than few? */
static bool has_room(struct program *p, double gap, uint64_t seed)
{
	struct tune_result few, many;

	run_column(p, BRKGA, FEW, seed, &few);
	run_column(p, BRKGA, MANY, seed, &many);
	return (double)few.bytes >= (1 + gap / 100) * (double)many.bytes;
}

/* Tries a drawn graph, unless it has no room for improvement. */
static int try_drawn(const struct buf *text, const struct wanted *w, uint64_t seed, double gap, struct kept *k,
	size_t graph, struct err *err)
{
	struct graph g = {0};
	struct program p;

	if (graph_parse(&g, text->data, text->len, "graph", err) < 0)
		return -1;
	program_open(&p, &g);
	if (!figures_of(k, graph)->row[TAKEN].known)
		know(k, graph, TAKEN, gap <= 0 || has_room(&p, gap, seed), 0);
	if (k->v[graph].row[TAKEN].bytes)
		try_program(&p, w, seed, k, graph);
	program_release(&p);
	graph_release(&g);
	return 0;
}

static int try_file(const char *path, const struct wanted *w, uint64_t seed, struct sum *sum, struct err *err)
{
	struct user_program u;
	struct program p;
	struct kept k = {0};

	if (user_program_fetch(&u, path, NULL, err) < 0)
		return -1;
	program_open(&p, &u.graph);
	try_program(&p, w, seed, &k, 0);
	add_figures(&k.v[0], sum);
	mem_free(k.v);
	program_release(&p);
	user_program_release(&u);
	return 0;
}

static void add(struct sum *to, const struct sum *from)
{
	for (int i = 0; i < COLUMNS; i++) {
		to[i].first += from[i].first;
		to[i].brkga += from[i].brkga;
		to[i].square += from[i].square;
		to[i].exact += from[i].exact;
		to[i].n += from[i].n;
		to[i].n_exact += from[i].n_exact;
	}
}

struct settings {
	int64_t graphs, evaluations, size, seed;
	double gap, stop_after;
	const char *print, *keep, *columns;
};

/* Draws the i-th graph of a family: from half to one and a half of the size. */
static void draw_ith(const struct settings *s, size_t which, int64_t i, struct buf *out)
{
	draw_graph(which, (uint32_t)(s->size / 2 + i * 37 % (s->size + 1)) + 1,
		(uint64_t)(s->seed + i), out);
}

/* Reads the figures of an earlier call with the same settings, and opens the file for more of them. */
static int kept_open(struct kept *k, const struct settings *s, struct err *err)
{
	char mine[200], line[200], name[20];
	unsigned long long bytes, live;
	size_t graph;

	snprintf(mine, sizeof mine, "seed %lld, size %lld, evaluations %lld, gap %g\n", (long long)s->seed,
		(long long)s->size, (long long)s->evaluations, s->gap);
	k->f = fopen(s->keep, "a+");
	if (!k->f)
		return err_errno(err, "%.300s cannot be opened to keep figures in", s->keep);
	if (!fgets(line, sizeof line, k->f))
		return fputs(mine, k->f) < 0 ? err_errno(err, "%.300s cannot be written", s->keep) : 0;
	if (strcmp(line, mine) != 0)
		return err_set(err, "the figures in %.300s are of other graphs (%.*s); keep these in another file",
			s->keep, (int)strcspn(line, "\n"), line);
	while (fgets(line, sizeof line, k->f)) {
		if (sscanf(line, "%zu %19s %llu %llu", &graph, name, &bytes, &live) != 4 || graph > MOST_DRAWN)
			return err_set(err, "%.300s has a line that is not a figure: %.100s", s->keep, line);
		for (int i = 0; i < ROWS; i++)
			if (strcmp(name, column[i]) == 0) {
				struct figures *f = figures_of(k, graph);
				f->row[i].bytes = bytes;
				f->row[i].live = live;
				f->row[i].known = true;
			}
	}
	fseek(k->f, 0, SEEK_END);
	return 0;
}

/* Takes the families in turn, until there are enough graphs: of families that rarely have room there are fewer. */
static int try_families(const struct settings *s, struct sum *all, struct err *err)
{
	struct sum sum[FAMILIES][COLUMNS] = {{{0}}};
	struct kept k = {0};
	struct wanted w = {(uint64_t)s->evaluations, s->columns};
	double began = now_seconds();
	size_t drawn = 0;
	int64_t taken = 0;
	int rc = s->keep ? kept_open(&k, s, err) : 0;

	for (; taken < s->graphs && rc == 0 && drawn < MOST_DRAWN && now_seconds() - began < s->stop_after; drawn++) {
		size_t f = drawn % FAMILIES;
		struct buf text = {0};
		draw_ith(s, f, (int64_t)(drawn / FAMILIES), &text);
		rc = try_drawn(&text, &w, (uint64_t)s->seed + drawn, s->gap, &k, drawn, err);
		if (rc == 0 && k.v[drawn].row[TAKEN].bytes) {
			add_figures(&k.v[drawn], sum[f]);
			taken++;
		}
		buf_release(&text);
	}
	if (rc == 0)
		printf("%lld of %zu graphs taken\n", (long long)taken, drawn);
	for (size_t f = 0; f < FAMILIES && rc == 0; f++) {
		report(family[f], sum[f]);
		add(all, sum[f]);
	}
	if (k.f)
		fclose(k.f);
	mem_free(k.v);
	return rc;
}

static int print_family(const struct settings *s, struct err *err)
{
	struct buf text = {0};

	for (size_t f = 0; f < FAMILIES; f++)
		if (strcmp(s->print, family[f]) == 0)
			draw_ith(s, f, s->graphs / 2, &text);
	if (!text.len)
		return err_set(err, "there is no family %.60s: erdos, small, attach, blocks, layers", s->print);
	fputs(text.data, stdout);
	buf_release(&text);
	return 0;
}

int main(int argc, char **argv)
{
	struct settings s = {.graphs = 200, .evaluations = 5000, .size = 125, .seed = 1, .stop_after = 1e9};
	const struct opt table[] = {OPT_INT(0, "graphs", &s.graphs, 1, 100000, "in all"),
		OPT_INT(0, "evaluations", &s.evaluations, 1, INT64_C(1) << 40, "orders that each strategy looks at"),
		OPT_INT(0, "size", &s.size, 2, MOST, "nodes of a graph; from half to one and a half of it"),
		OPT_INT('s', "seed", &s.seed, 0, INT64_MAX / 2, "random seed; graphs count up from it"),
		OPT_NUM(0, "gap", &s.gap, 0, 1000, "percent that many evaluations must gain on a graph; 0: take all"),
		OPT_STR(0, "keep", &s.keep, "FILE", "where figures of drawn graphs are kept, to go on from there"),
		OPT_NUM(0, "stop-after", &s.stop_after, 0, 1e9, "seconds after which no other graph begins"),
		OPT_STR(0, "columns", &s.columns, "NAME,NAME",
			"only these strategies, beside depth-first and brkga: tuned, sweep, random, anneal, regal, "
			"guided, ours"),
		OPT_STR(0, "print", &s.print, "FAMILY", "only write one as "
			"HLO text: erdos, small, attach, blocks, layers"), OPT_END};
	const struct opt_program prog = {"order_graphs", "[OPTIONS] [GRAPH...]",
		"Compares strategies for orders on drawn graphs, or on programs.", table};
	struct sum all[COLUMNS] = {{0}};
	struct err err = {0};
	int rc, n = 0;

	err_program(prog.name);
	rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc == 0 && s.print)
		return print_family(&s, &err) < 0 ? err_exit(&err) : 0;
	if (rc == 0 && n == 0)
		rc = try_families(&s, all, &err);
	for (int i = 0; i < n && rc == 0; i++) {
		struct sum one[COLUMNS] = {{0}};
		struct wanted w = {(uint64_t)s.evaluations, s.columns};
		rc = try_file(argv[i], &w, (uint64_t)s.seed, one, &err);
		printf("%s\n", argv[i]);
		report("", one);
		add(all, one);
	}
	if (rc == 0)
		report("all", all);
	return rc < 0 ? err_exit(&err) : 0;
}
