/*
 * check_net_sketch.c - sketches of nets, and how they are fused with an answer: against trying everything.
 */
#include <math.h>
#include "space/net/area.h"
#include "space/net/sketch.h"
#include "tests/test.h"

#define VARS 8
#define CHOICES 4

/* A model made by hand: a chain, or all pairs; each choice uses memory during the only tick. */
struct made {
	struct reduced m;
	struct var var[VARS];
	struct link link[VARS][VARS];
	struct use use[VARS];
	double cost[VARS][CHOICES], usage[VARS][CHOICES], pair[VARS][VARS][CHOICES * CHOICES], base[2];
};

static void make(struct made *h, uint64_t seed, bool chain, double limit)
{
	struct rng rng;

	*h = (struct made){.m = {.n_vars = VARS, .n_ticks = 1, .limit = limit, .scale = 1}};
	rng_seed(&rng, seed);
	h->m.var = h->var;
	h->m.base = h->base;
	for (uint32_t v = 0; v < VARS; v++) {
		struct var *a = &h->var[v];
		*a = (struct var){.choices = CHOICES, .cost = h->cost[v], .link = h->link[v], .use = &h->use[v],
			.n_uses = 1};
		h->use[v] = (struct use){.from = 0, .to = 1, .usage = h->usage[v]};
		for (uint32_t k = 0; k < CHOICES; k++) {
			h->cost[v][k] = (double)rng_below(&rng, 50);
			h->usage[v][k] = 3 - k;
		}
		for (uint32_t o = 0; o < VARS; o++) {
			if (o == v || (chain && o + 1 != v && v + 1 != o))
				continue;
			a->link[a->n_links++] = (struct link){o, h->pair[v][o]};
			for (uint32_t i = 0; o < v && i < CHOICES * CHOICES; i++) {
				h->pair[v][o][i] = rng_below(&rng, 8) ? (double)rng_below(&rng, 100) : REDUCED_NEVER;
				h->pair[o][v][i % CHOICES * CHOICES + i / CHOICES] = h->pair[v][o][i];
			}
		}
	}
}

/* The least cost of all answers in which each variable takes its choice in a or in b (NULL: any) and memory fits. */
static double least(const struct made *h, const uint16_t *a, const uint16_t *b)
{
	struct standing s;
	double best = INFINITY;
	uint32_t all = 1, radix = a ? 2 : CHOICES;
	uint16_t x[VARS];

	standing_init(&s, &h->m);
	for (uint32_t v = 0; v < VARS; v++)
		all *= radix;
	for (uint32_t i = 0; i < all; i++) {
		for (uint32_t v = 0, rest = i; v < VARS; v++, rest /= radix)
			x[v] = !a ? (uint16_t)(rest % radix) : rest % radix ? b[v] : a[v];
		standing_set(&s, x);
		best = s.over <= 0 && s.cost < best ? s.cost : best;
	}
	standing_release(&s);
	return best;
}

/* In a chain, the pass back takes the best answer of all. */
static void a_chain_is_exact(void)
{
	for (uint64_t seed = 0; seed < (uint64_t)test_cases(20); seed++) {
		struct made h;
		make(&h, seed, true, INFINITY);
		struct sketch *d = sketch_new(&h.m);
		sketch_begin(d, 0.05);
		sketch_write(d, INFINITY);
		sketch_write(d, INFINITY);
		CHECK_NEAR(d->made.cost, least(&h, NULL, NULL), 1e-6);
		sketch_free(d);
	}
}

/* Prices rise until sketches fit, and the best that fits is not far from the best there is. */
static void sketches_come_to_fit(void)
{
	for (uint64_t seed = 0; seed < (uint64_t)test_cases(20); seed++) {
		struct made h;
		double best = INFINITY;
		make(&h, seed, true, 8);
		struct sketch *d = sketch_new(&h.m);
		sketch_begin(d, 0.05);
		sketch_write(d, INFINITY);
		sketch_write(d, INFINITY);
		double bound = least(&h, NULL, NULL);
		for (int i = 0; i < 300; i++) {
			sketch_write(d, best);
			best = d->made.over <= 0 && d->made.cost < best ? d->made.cost : best;
		}
		if (!CHECK(best >= bound - 1e-6 && best <= 1.5 * bound))
			printf("\tseed %llu: %g, at least %g\n", (unsigned long long)seed, best, bound);
		sketch_free(d);
	}
}

/* Fusing two answers finds the best of all combinations. */
static void fusing_is_exact(void)
{
	for (uint64_t seed = 0; seed < (uint64_t)test_cases(50); seed++) {
		struct made h;
		struct rng rng;
		uint16_t a[VARS], b[VARS], x[VARS];
		uint32_t some[VARS];
		const uint16_t *also = b;
		double price[2] = {0};
		make(&h, seed, seed % 2, INFINITY);
		rng_seed(&rng, seed);
		for (uint32_t v = 0; v < VARS; v++) {
			some[v] = v;
			a[v] = (uint16_t)rng_below(&rng, CHOICES);
			b[v] = (uint16_t)rng_below(&rng, CHOICES);
		}
		struct area_solver *solver = area_new(&h.m);
		struct area_task t = {.x = a, .some = some, .n = VARS, .also = &also, .n_also = 1, .price = price,
			.room = 1e6, .work = 1e7, .rng = &rng};
		CHECK(area_work(solver) == 0);
		double best = least(&h, a, b);
		CHECK_NEAR(area_solve(solver, &t, x), best, 1e-12 * best);
		CHECK(area_work(solver) > 0);
		for (uint32_t v = 0; v < VARS; v++)
			CHECK(x[v] == a[v] || x[v] == b[v]);
		area_free(solver);
	}
}

int main(void)
{
	RUN(a_chain_is_exact);
	RUN(sketches_come_to_fit);
	RUN(fusing_is_exact);
	return test_done();
}
