/*
 * order_draw.h - draws synthetic graphs of values and their readers, to try orders on.
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
 */
#ifndef BENCH_ORDER_DRAW_H
#define BENCH_ORDER_DRAW_H

#include <math.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"

static const char *const family[] = {"erdos", "small", "attach", "blocks", "layers"};
#define FAMILIES (sizeof family / sizeof *family)

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

static inline void draw_graph(size_t which, uint32_t n, uint64_t seed, struct buf *out)
{
	struct net g = {.n = n, .edge = MEM_NEW((size_t)n * n, uint8_t)};

	rng_seed2(&g.rng, seed, which);
	draw(&g, which);
	write_text(&g, out);
	mem_free(g.edge);
}

#endif
