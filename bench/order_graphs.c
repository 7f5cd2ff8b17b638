/*
 * order_graphs.c - compares strategies for orders with the same number of evaluations for each, as REGAL's paper does.
 *
 *	build/release/bench/order_graphs [--graphs N] [--evaluations N] [--size N] [--gap X] [GRAPH...]
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
 * The bench prints the geometric mean of each strategy's bytes against those of the depth-first order and of brkga,
 * and, if a graph is small enough, of its live bytes against the best of all orders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/opt.h"
#include "bench/order_draw.h"
#include "graph/graph.h"
#include "ready/user_program.h"
#include "space/order/exact.h"
#include "space/order/list.h"
#include "space/order/trial.h"

#define MOST 4096 /* nodes */
#define SMALL 40  /* nodes of graphs whose best order is found in any case: of a larger one it may take a minute */

#define FEW 100 /* one generation */
#define MANY 10000

enum { DEPTH_FIRST, BRKGA, TUNED, LOCAL, RANDOM, ANNEAL, REGAL, GUIDED, OURS, COLUMNS };
static const char *const column[] = {"depth-first", "brkga", "tuned", "sweep", "random", "anneal", "regal", "guided",
	"ours"};

struct sum {
	double first, brkga, exact;
	uint32_t n, n_exact;
};

static void report(const char *name, const struct sum *sum)
{
	for (int i = 0; i < COLUMNS && sum->n; i++) {
		printf("%-8s %-11s %6.2f%% below depth-first, %+6.2f%% against brkga", name, column[i],
			100 * (1 - exp(sum[i].first / sum[i].n)), 100 * (exp(sum[i].brkga / sum[i].n) - 1));
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

/* Every strategy on one program. */
static void try_program(struct program *p, uint64_t evaluations, uint64_t seed, struct sum *sum)
{
	uint32_t entry = p->graph->entry, **first = MEM_NEW(p->graph->n_comps, uint32_t *);
	struct tune_result r[COLUMNS];
	uint64_t live[COLUMNS] = {0}, best = 0;
	struct err no = {0};
	bool exact;

	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		first[c] = MEM_NEW(program_line(p, c)->n, uint32_t);
		if (program_line(p, c)->n)
			list_depth_first(program_line(p, c), first[c]);
	}
	begin_with(p, first);
	program_settle(p);
	exact = program_line(p, entry)->n <= SMALL &&
		exact_order(program_line(p, entry), EXACT_SETS, p->order[entry], &best, &no) == 0;
	for (int i = 0; i < COLUMNS; i++) {
		begin_with(p, first);
		if (i == OURS)
			run_ours(p, first, evaluations, seed, &r[i]);
		else
			run_column(p, i, evaluations, seed, &r[i]);
		live[i] = program_settle(p);
	}
	for (int i = 0; i < COLUMNS; i++) {
		sum[i].first += log((double)r[i].bytes / (double)r[DEPTH_FIRST].bytes);
		sum[i].brkga += log((double)r[i].bytes / (double)r[BRKGA].bytes);
		sum[i].n++;
		sum[i].exact += exact ? log((double)live[i] / (double)best) : 0;
		sum[i].n_exact += exact;
	}
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		mem_free(first[c]);
	mem_free(first);
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
static int try_drawn(const struct buf *text, uint64_t evaluations, uint64_t seed, double gap, struct sum *sum,
	struct err *err)
{
	struct graph g = {0};
	struct program p;

	if (graph_parse(&g, text->data, text->len, "graph", err) < 0)
		return -1;
	program_open(&p, &g);
	if (gap <= 0 || has_room(&p, gap, seed))
		try_program(&p, evaluations, seed, sum);
	program_release(&p);
	graph_release(&g);
	return 0;
}

static int try_file(const char *path, uint64_t evaluations, uint64_t seed, struct sum *sum, struct err *err)
{
	struct user_program u;
	struct program p;

	if (user_program_fetch(&u, path, NULL, err) < 0)
		return -1;
	program_open(&p, &u.graph);
	try_program(&p, evaluations, seed, sum);
	program_release(&p);
	user_program_release(&u);
	return 0;
}

static void add(struct sum *to, const struct sum *from)
{
	for (int i = 0; i < COLUMNS; i++) {
		to[i].first += from[i].first;
		to[i].brkga += from[i].brkga;
		to[i].exact += from[i].exact;
		to[i].n += from[i].n;
		to[i].n_exact += from[i].n_exact;
	}
}

struct settings {
	int64_t graphs, evaluations, size, seed;
	double gap;
	const char *print;
};

/* Draws the i-th graph of a family: from half to one and a half of the size. */
static void draw_ith(const struct settings *s, size_t which, int64_t i, struct buf *out)
{
	draw_graph(which, (uint32_t)(s->size / 2 + i * 37 % (s->size + 1)) + 1,
		(uint64_t)(s->seed + i), out);
}

/* Takes the families in turn, until there are enough graphs: of families that rarely have room there are fewer. */
static int try_families(const struct settings *s, struct sum *all, struct err *err)
{
	struct sum sum[FAMILIES][COLUMNS] = {{{0}}};
	int64_t drawn = 0;
	uint32_t taken = 0;
	int rc = 0;

	for (; taken < s->graphs && rc == 0; drawn++) {
		size_t f = (size_t)drawn % FAMILIES;
		uint32_t before = sum[f]->n;
		struct buf text = {0};
		draw_ith(s, f, drawn / (int64_t)FAMILIES, &text);
		rc = try_drawn(&text, (uint64_t)s->evaluations, (uint64_t)(s->seed + drawn), s->gap, sum[f], err);
		taken += sum[f]->n - before;
		buf_release(&text);
	}
	printf("%u of %lld graphs taken\n", taken, (long long)drawn);
	for (size_t f = 0; f < FAMILIES; f++) {
		report(family[f], sum[f]);
		add(all, sum[f]);
	}
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
	struct settings s = {.graphs = 200, .evaluations = 5000, .size = 125, .seed = 1};
	const struct opt table[] = {OPT_INT(0, "graphs", &s.graphs, 1, 100000, "in all"),
		OPT_INT(0, "evaluations", &s.evaluations, 1, INT64_C(1) << 40, "orders that each strategy looks at"),
		OPT_INT(0, "size", &s.size, 2, MOST, "nodes of a graph; from half to one and a half of it"),
		OPT_INT('s', "seed", &s.seed, 0, INT64_MAX / 2, "random seed; graphs count up from it"),
		OPT_NUM(0, "gap", &s.gap, 0, 1000, "percent that many evaluations must gain on a graph; 0: take all"),
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
		rc = try_file(argv[i], (uint64_t)s.evaluations, (uint64_t)s.seed, one, &err);
		printf("%s\n", argv[i]);
		report("", one);
		add(all, one);
	}
	if (rc == 0)
		report("all", all);
	return rc < 0 ? err_exit(&err) : 0;
}
