/*
 * order_graphs.c - compares strategies for orders on synthetic graphs, with the same number of evaluations for each.
 *
 *	build/release/bench/order_graphs [--graphs N] [--evaluations N] [--size N]
 *	build/release/bench/order_graphs --print FAMILY [--size N] [--seed N]
 *
 * The families are those of REGAL's appendix. Edges are drawn at random, and lead from the smaller number to the
 * larger:
 *
 *	erdos	    Erdos-Renyi: each pair with the same probability
 *	small	    Watts-Strogatz: each with its next neighbours, some of them exchanged for any
 *	attach	    Barabasi-Albert: each reads a few of those before, the more likely the more readers these have
 *	blocks	    stochastic blocks: pairs within a block are more likely than between
 *	layers	    each reads some of the layer before, few of any earlier one
 *
 * Sizes of values are of two sorts, as in real programs: three in four are small (about 4 KiB, log-normal), one in four
 * large (about 256 KiB). All values end in one small one, so that nothing large is returned.
 *
 * Every strategy begins with the depth-first order, and looks at the given number of orders. The bench prints the
 * geometric mean of its bytes against those of that order and of brkga, and, if the graph is small enough, against the
 * best of all orders (by live bytes).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/opt.h"
#include "graph/graph.h"
#include "space/order/exact.h"
#include "space/order/list.h"
#include "space/order/strategy.h"

static const char *const family[] = {"erdos", "small", "attach", "blocks", "layers"};
#define FAMILIES (sizeof family / sizeof *family)
#define MOST 4096 /* nodes */
#define SMALL 40  /* nodes of graphs whose best order is found in any case: of a larger one it may take a minute */

struct net {
	uint32_t n;
	uint8_t *edge; /* [n, n]: the second reads the first */
	struct rng rng;
};

static void arrow(struct net *g, uint32_t a, uint32_t b)
{
	if (a != b)
		g->edge[(size_t)(a < b ? a : b) * g->n + (a < b ? b : a)] = 1;
}

static void each_pair(struct net *g, int blocks)
{
	double alike = 3.0 / g->n;

	for (uint32_t b = 0; b < g->n; b++)
		for (uint32_t a = 0; a < b; a++)
			if (rng_unit(&g->rng) < (!blocks ? alike : a * 5 / g->n == b * 5 / g->n ? 4 * alike
				: alike / 4))
				arrow(g, a, b);
}

static void small_world(struct net *g)
{
	for (uint32_t a = 0; a < g->n; a++)
		for (uint32_t k = 1; k <= 2; k++)
			arrow(g, a, rng_unit(&g->rng) < 0.3 ? (uint32_t)rng_below(&g->rng, g->n) : (a + k) % g->n);
}

static void attach(struct net *g)
{
	uint32_t *end = MEM_NEW(8 * (size_t)g->n, uint32_t), n = 0;

	for (uint32_t b = 0; b < g->n; b++) {
		for (int k = 0; k < 2 && b; k++) {
			uint32_t a = n && rng_unit(&g->rng) < 0.8 ? end[rng_below(&g->rng, n)]
				: (uint32_t)rng_below(&g->rng, b);
			arrow(g, a, b);
			end[n++] = a;
		}
		end[n++] = b;
	}
	mem_free(end);
}

static void layers(struct net *g)
{
	uint32_t wide = (uint32_t)sqrt(g->n) + 1;

	for (uint32_t b = wide; b < g->n; b++)
		for (int k = 0; k < 2; k++) {
			uint32_t first = (b / wide - 1) * wide;
			arrow(g, rng_unit(&g->rng) < 0.9 ? first + (uint32_t)rng_below(&g->rng, wide)
				: (uint32_t)rng_below(&g->rng, first + 1), b);
		}
}

static void draw(struct net *g, size_t which)
{
	switch (which) {
	case 0:
		each_pair(g, 0);
		break;
	case 1:
		small_world(g);
		break;
	case 2:
		attach(g);
		break;
	case 3:
		each_pair(g, 1);
		break;
	default:
		layers(g);
	}
}

/* The graph as a program: what an operation does is not said. */
static void write_text(struct net *g, struct buf *out)
{
	const char *comma = "";

	buf_adds(out, "HloModule graph\nENTRY main {\n");
	for (uint32_t b = 0; b < g->n; b++) {
		double about = rng_unit(&g->rng) < 0.75 ? 1 << 10 : 1 << 16; /* floats */
		buf_addf(out, " n%u = f32[%.0f]{0} custom-call(", b, 1 + floor(about * exp(rng_normal(&g->rng))));
		comma = "";
		for (uint32_t a = 0; a < b; a++)
			if (g->edge[(size_t)a * g->n + b]) {
				buf_addf(out, "%sn%u", comma, a);
				comma = ", ";
			}
		buf_adds(out, "), custom_call_target=\"op\"\n");
	}
	buf_adds(out, " ROOT all = f32[1]{0} custom-call(");
	comma = "";
	for (uint32_t a = 0; a < g->n; a++) {
		bool read = false;
		for (uint32_t b = a + 1; b < g->n; b++)
			read |= g->edge[(size_t)a * g->n + b];
		if (!read) {
			buf_addf(out, "%sn%u", comma, a);
			comma = ", ";
		}
	}
	buf_adds(out, "), custom_call_target=\"op\"\n}\n");
}

static void make(size_t which, uint32_t n, uint64_t seed, struct buf *out)
{
	struct net g = {.n = n, .edge = MEM_NEW((size_t)n * n, uint8_t)};

	rng_seed2(&g.rng, seed, which);
	draw(&g, which);
	write_text(&g, out);
	mem_free(g.edge);
}

struct sum {
	double first, brkga, exact;
	uint32_t n, n_exact;
};

#define TRIED 4 /* strategies: all but exact */

static void report(const char *name, const struct sum *sum)
{
	for (int i = 0; i < TRIED; i++) {
		printf("%-8s %-8s %6.2f%% below depth-first, %+6.2f%% against brkga", name, order_strategies[i].name,
			100 * (1 - exp(sum[i].first / sum[i].n)), 100 * (exp(sum[i].brkga / sum[i].n) - 1));
		if (sum[i].n_exact)
			printf(", %.2f%% above the best of all (%u graphs)",
				100 * (exp(sum[i].exact / sum[i].n_exact) - 1), sum[i].n_exact);
		printf("\n");
	}
	fflush(stdout);
}

/* One graph, every strategy. */
static int try_graph(const struct buf *text, int64_t evaluations, uint64_t seed, struct sum *sum, struct err *err)
{
	struct graph g = {0};
	struct program p;
	uint64_t bytes[TRIED] = {0}, live[TRIED] = {0}, first, best = 0;
	uint32_t *order;
	struct err no = {0};
	bool exact;
	int rc = graph_parse(&g, text->data, text->len, "graph", err);

	if (rc < 0)
		return -1;
	program_open(&p, &g);
	order = MEM_NEW(program_line(&p, g.entry)->n, uint32_t);
	list_depth_first(program_line(&p, g.entry), order);
	program_settle(&p);
	exact = program_line(&p, g.entry)->n <= SMALL &&
		exact_order(program_line(&p, g.entry), EXACT_SETS, p.order[g.entry], &best, &no) == 0;
	for (int i = 0; i < TRIED && rc == 0; i++) {
		struct tune_options o = {.moves = (uint64_t)evaluations};
		struct tune_result r;
		struct rng rng;
		rng_seed(&rng, seed);
		memcpy(p.order[g.entry], order, program_line(&p, g.entry)->n * sizeof *order);
		rc = order_strategies[i].run(&p, &o, &rng, &r, err);
		first = r.before;
		bytes[i] = r.bytes;
		live[i] = program_settle(&p);
		sum[i].first += log((double)bytes[i] / (double)first);
		sum[i].n++;
		sum[i].exact += exact ? log((double)live[i] / (double)best) : 0;
		sum[i].n_exact += exact;
	}
	for (int i = 0; i < TRIED && rc == 0; i++)
		sum[i].brkga += log((double)bytes[i] / (double)bytes[1]);
	mem_free(order);
	program_release(&p);
	graph_release(&g);
	return rc;
}

static void add(struct sum *to, const struct sum *from)
{
	for (int i = 0; i < TRIED; i++) {
		to[i].first += from[i].first;
		to[i].brkga += from[i].brkga;
		to[i].exact += from[i].exact;
		to[i].n += from[i].n;
		to[i].n_exact += from[i].n_exact;
	}
}

int main(int argc, char **argv)
{
	int64_t graphs = 40, evaluations = 5000, size = 100, seed = 1;
	const char *print = NULL;
	const struct opt table[] = {OPT_INT(0, "graphs", &graphs, 1, 100000, "of each family"),
		OPT_INT(0, "evaluations", &evaluations, 1, INT64_C(1) << 40, "orders that each strategy looks at"),
		OPT_INT(0, "size", &size, 2, MOST, "nodes of a graph; from half to one and a half of it"),
		OPT_INT('s', "seed", &seed, 0, INT64_MAX / 2, "random seed; graphs count up from it"),
		OPT_STR(0, "print", &print, "FAMILY", "only write one as "
			"HLO text: erdos, small, attach, blocks, layers"), OPT_END};
	const struct opt_program prog = {"order_graphs", "[OPTIONS]",
		"Compares strategies for orders on synthetic graphs.", table};
	struct sum all[TRIED] = {{0}};
	struct err err = {0};
	int rc, n = 0;

	err_program(prog.name);
	rc = opt_parse(&prog, argc, argv, &n, &err);
	for (size_t f = 0; f < FAMILIES && rc == 0; f++) {
		struct sum sum[TRIED] = {{0}};
		for (int64_t i = 0; i < graphs && rc == 0; i++) {
			struct buf text = {0};
			make(f, (uint32_t)(size / 2 + (size * i) / graphs) + 1, (uint64_t)(seed + i), &text);
			if (!print)
				rc = try_graph(&text, evaluations, (uint64_t)(seed + i), sum, &err);
			else if (i == graphs / 2 && strcmp(print, family[f]) == 0)
				fputs(text.data, stdout);
			buf_release(&text);
		}
		if (!print && rc == 0)
			report(family[f], sum);
		add(all, sum);
	}
	if (!print && rc == 0)
		report("all", all);
	return rc < 0 ? err_exit(&err) : 0;
}
