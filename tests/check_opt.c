/*
 * check_opt.c - command lines and the settings that they must give; help texts; and the nearest word, compared with
 * the recursive definition of edit distance.
 */
#include "base/opt.h"

#include <stdlib.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/opt_text.h"
#include "base/rng.h"
#include "tests/test.h"

struct settings {
	int64_t budget;
	double alpha;
	bool json, check;
	const char *db;
	struct opt_list graphs, given;
	int strategy;
};

#define DEFAULTS {.budget = 2000, .alpha = 10, .check = true, .strategy = 1}
#define MAX_WORDS 12

/* Calls `use` with a program whose table fills s. */
static int with_program(struct settings *s, int (*use)(const struct opt_program *, void *), void *arg)
{
	const struct opt table[] = {
		OPT_SECTION("What to tune"),
		OPT_STR(0, "db", &s->db, "FILE", "store of earlier measurements"),
		OPT_INT('b', "budget", &s->budget, 0, INT64_MAX, "evaluations at most"),
		OPT_NUM_AUTO(0, "alpha", &s->alpha, 0, 100, "percent of sites to pick from"),
		OPT_LIST('g', "graph", &s->graphs, "FILE", "program to tune; may be repeated"),
		OPT_SECTION("How"),
		OPT_ENUM('s', "strategy", &s->strategy, "guided|sweep|random",
			"how to go about it, told at such a length that the line has to be broken in two"),
		OPT_FLAG('j', "json", &s->json, "result as JSON on standard output"),
		OPT_FLAG('c', "check", &s->check, "compare the numbers"),
		OPT_END_GIVEN(&s->given)};
	struct opt_program prog = {"search", "[OPTIONS] --graph FILE",
		"Tunes one graph. It does so by guessing well.\n\nA second paragraph.", table};
	return use(&prog, arg);
}

struct line {
	char *argv[MAX_WORDS + 1];
	int argc, n_words;
	struct err err;
};

static int parse_line(const struct opt_program *prog, void *arg)
{
	struct line *l = arg;
	return opt_parse(prog, l->argc, l->argv, &l->n_words, &l->err);
}

/* Parses a command line given as one text with blanks between its words. */
static int parse(struct settings *s, struct line *l, char *text)
{
	*l = (struct line){.argc = 1};
	l->argv[0] = text + strlen(text); /* the program's own name: empty */
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		l->argv[l->argc++] = w;
	return with_program(s, parse_line, l);
}

/* Writes the settings and words after a line as one text. */
static void describe(const struct settings *s, const struct line *l, char *out, size_t size)
{
	struct buf b = {0};
	buf_addf(&b, "b=%lld a=%g %s%sdb=%s s=%d", (long long)s->budget, s->alpha, s->json ? "j " : "",
		s->check ? "c " : "", s->db ? s->db : "-", s->strategy);
	for (size_t i = 0; i < s->graphs.n; i++)
		buf_addf(&b, " g=%s", s->graphs.item[i]);
	for (int i = 0; i < l->n_words; i++)
		buf_addf(&b, " %s", l->argv[i]);
	snprintf(out, size, "%s", b.data);
	buf_release(&b);
}

static void lines(void)
{
	static const struct {
		const char *line, *want;
	} table[] = {
		{"", "b=2000 a=10 c db=- s=1"},
		{"--budget 5", "b=5 a=10 c db=- s=1"},
		{"--budget=5", "b=5 a=10 c db=- s=1"},
		{"-b 5", "b=5 a=10 c db=- s=1"},
		{"-b5 -jb7", "b=7 a=10 j c db=- s=1"},
		{"--json --no-check --alpha 2.5e1", "b=2000 a=25 j db=- s=1"},
		{"--alpha auto", "b=2000 a=-1 c db=- s=1"},
		{"-g a --graph=b -gc", "b=2000 a=10 c db=- s=1 g=a g=b g=c"},
		{"one -j two --db x three", "b=2000 a=10 j c db=x s=1 one two three"},
		{"one -- -j --db", "b=2000 a=10 c db=- s=1 one -j --db"},
		{"--db - -", "b=2000 a=10 c db=- s=1 -"},
		{"--db=a=b", "b=2000 a=10 c db=a=b s=1"},
		{"--db --json", "b=2000 a=10 c db=--json s=1"}, /* the next word, whatever it looks like */
		{"--strategy random", "b=2000 a=10 c db=- s=2"},
		{"-sguided", "b=2000 a=10 c db=- s=0"},
		{"--budget 9223372036854775807", "b=9223372036854775807 a=10 c db=- s=1"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct settings s = DEFAULTS;
		struct line l;
		char *text = mem_strdup(table[i].line), got[200];
		CHECK_INT(parse(&s, &l, text), 0);
		describe(&s, &l, got, sizeof(got));
		CHECK_STR(got, table[i].want);
		opt_list_release(&s.graphs);
		opt_list_release(&s.given);
		mem_free(text);
	}
}

/* Options are given under their long names, however they are written, and even if their values are the defaults. */
static void what_is_given(void)
{
	static const char *const allowed[] = {"db", "json", "graph", NULL};
	static const struct {
		const char *line, *beside;
	} table[] = {
		{"", NULL},
		{"word -- --budget", NULL},
		{"--db budget --no-json -j -ga --graph=b", NULL},
		{"--budget 2000", "budget"},
		{"-jb5", "budget"},
		{"--db x --no-check --alpha 1", "check"},
		{"-g a -c --strategy sweep", "check"},
		{"--alpha auto -c", "alpha"},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct settings s = DEFAULTS;
		struct line l;
		char *text = mem_strdup(table[i].line);
		const char *beside;
		CHECK_INT(parse(&s, &l, text), 0);
		beside = opt_beside(&s.given, allowed);
		if (!CHECK_STR(beside ? beside : "none", table[i].beside ? table[i].beside : "none"))
			printf("  of %s\n", table[i].line);
		opt_list_release(&s.graphs);
		opt_list_release(&s.given);
		mem_free(text);
	}
}

static void what_is_given_of_a_section(void)
{
	static const struct opt table[] = {OPT_FLAG(0, "first", NULL, ""), OPT_SECTION("A"),
		OPT_FLAG(0, "one", NULL, ""), OPT_FLAG(0, "two", NULL, ""),
		OPT_SECTION("B"), OPT_FLAG(0, "three", NULL, ""), OPT_END};
	const char *names[] = {"first", "three", "two", "one"};
	struct opt_list given = {names, 4, 4};

	CHECK_STR(opt_in_section(table, "A", &given), "two");
	CHECK_STR(opt_in_section(table, "B", &given), "three");
	CHECK_STR(opt_in_section(table, "", &given), "first");
	given.n = 2;
	CHECK(!opt_in_section(table, "A", &given));
	CHECK(!opt_in_section(table, "C", &given));
}

static void offences(void)
{
	static const struct {
		const char *line, *says;
	} table[] = {
		{"--budgte 5", "unknown option --budgte; did you mean --budget?"},
		{"--hlep", "unknown option --hlep; did you mean --help?"},
		{"--qqqqqqqqqq=3", "unknown option --qqqqqqqqqq; search --help lists them all"},
		{"-x", "unknown option -x; search --help lists them all"},
		{"-jx", "unknown option -x; search --help lists them all"},
		{"--db", "--db needs a value (FILE)"},
		{"-b", "--budget needs a value (N)"},
		{"-b 5x", "--budget wants a whole number, not \"5x\""},
		{"--budget=", "--budget wants a whole number, not \"\""},
		{"-b -5", "--budget must be at least 0; it is -5"},
		{"-b 99999999999999999999", "--budget must be at least 0; it is 99999999999999999999"},
		{"--alpha 101", "--alpha must lie between 0 and 100; it is 101"},
		{"--alpha -1", "--alpha must lie between 0 and 100; it is -1"},
		{"--budget auto", "--budget wants a whole number, not \"auto\""},
		{"--alpha nan", "--alpha wants a number, not \"nan\""},
		{"--alpha 1,5", "--alpha wants a number, not \"1,5\""},
		{"--json=yes", "--json takes no value (\"yes\"); --no-json switches it off"},
		{"--no-db", "--db takes a value and cannot be switched off by --no-db"},
		{"--strategy rnadom", "--strategy rnadom: did you mean random?"},
		{"--strategy zzzzzz", "--strategy wants one of guided|sweep|random, not \"zzzzzz\""},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct settings s = DEFAULTS;
		struct line l;
		char *text = mem_strdup(table[i].line);
		CHECK_INT(parse(&s, &l, text), -1);
		CHECK_STR(l.err.text, table[i].says);
		opt_list_release(&s.graphs);
		opt_list_release(&s.given);
		mem_free(text);
	}
}

static struct buf printed;

static int print_help(const struct opt_program *prog, void *arg)
{
	(void)arg;
	opt_text_help(prog, &printed);
	return 0;
}

static int print_man(const struct opt_program *prog, void *arg)
{
	(void)arg;
	opt_text_man(prog, &printed);
	return 0;
}

static int print_completion(const struct opt_program *prog, void *arg)
{
	(void)arg;
	opt_text_completion(prog, &printed);
	return 0;
}

static void says(const char *part)
{
	if (!CHECK(strstr(printed.data, part)))
		printf("not there: %s\n", part);
}

static void help_shows_live_defaults(void)
{
	struct settings s = DEFAULTS;
	s.db = "my.db";
	with_program(&s, print_help, NULL);
	says("usage: search [OPTIONS] --graph FILE\n\nTunes one graph. It does so by guessing well.\n\n"
	     "A second paragraph.\n\nWhat to tune:\n");
	says("\n      --db FILE             store of earlier measurements (default my.db)\n");
	says("\n  -b, --budget N            evaluations at most (default 2000)\n");
	says("\n  -g, --graph FILE          program to tune; may be repeated\n");
	says("\nHow:\n  -s, --strategy guided|sweep|random\n                            how to go about it, told");
	says("(default sweep)\n");
	says("\n  -j, --json                result as JSON on standard output\n");
	says("compare the numbers (default on; --no-check)\n");
	says("\n      --help                this text\n");
	for (char *line = strtok(printed.data, "\n"); line; line = strtok(NULL, "\n"))
		CHECK(strlen(line) <= 80);
	buf_release(&printed);
}

static void man_page(void)
{
	struct settings s = DEFAULTS;
	s.db = ".hidden\\x";
	with_program(&s, print_man, NULL);
	CHECK(strncmp(printed.data, ".TH VANTAGE-search 1 ", 21) == 0);
	says("\nvantage\\-search \\- Tunes one graph\n");
	says("\n.SH DESCRIPTION\nTunes one graph. It does so by guessing well.\n.PP\nA second paragraph.\n");
	says("\n.SH \"What to tune\"\n.TP\n.B \\-\\-db FILE\nstore of earlier measurements (default .hidden\\ex)\n");
	says("\n.TP\n.B \\-b, \\-\\-budget N\nevaluations at most (default 2000)\n");
	buf_release(&printed);
}

static void completion(void)
{
	struct settings s = DEFAULTS;
	with_program(&s, print_completion, NULL);
	CHECK_STR(printed.data,
		"--db=\n--budget=\n--alpha=\n--graph=\n--strategy\n--strategy=guided\n--strategy=sweep\n"
				"--strategy=random\n--json\n--check\n--help\n--version\n");
	buf_release(&printed);
}

static void versions(void)
{
	struct settings s = DEFAULTS;
	struct line l;
	char text[] = "-b 7 --version --nonsense"; /* printing comes before reading */
	CHECK_INT(parse(&s, &l, text), 1);
	CHECK_INT(s.budget, 2000);
	CHECK(strncmp(opt_version(), "vantage ", 8) == 0 && strlen(opt_version()) >= 13);
}

/* The edit distance by its definition: the least number of inserted, deleted, changed and swapped letters. */
static int slow_distance(const char *a, const char *b)
{
	if (!*a || !*b)
		return (int)(strlen(a) + strlen(b));
	int best = slow_distance(a + 1, b + 1) + (*a != *b);
	int d = slow_distance(a + 1, b) + 1;
	best = d < best ? d : best;
	d = slow_distance(a, b + 1) + 1;
	best = d < best ? d : best;
	if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
		d = slow_distance(a + 2, b + 2) + 1;
		best = d < best ? d : best;
	}
	return best;
}

static void nearest_words(void)
{
	struct rng r;
	rng_seed(&r, 1);
	for (int round = 0; round < 300; round++) {
		char word[7][7] = {{0}};
		const char *list[6];
		for (int i = 0; i < 7; i++)
			for (uint64_t k = rng_below(&r, 6); k > 0; k--)
				word[i][k - 1] = (char)('a' + rng_below(&r, 4));
		const char *want = NULL;
		int least = (int)strlen(word[6]) / 3 + 1;
		for (int i = 0; i < 6; i++) {
			int d = slow_distance(word[6], list[i] = word[i]);
			if (d < least || (d == least && !want)) {
				least = d;
				want = list[i];
			}
		}
		const char *got = opt_nearest(word[6], list, 6);
		CHECK(got == want);
	}
	CHECK(opt_nearest("x", NULL, 0) == NULL);
}

int main(void)
{
	RUN(lines);
	RUN(what_is_given);
	RUN(what_is_given_of_a_section);
	RUN(offences);
	RUN(help_shows_live_defaults);
	RUN(man_page);
	RUN(completion);
	RUN(versions);
	RUN(nearest_words);
	return test_done();
}
