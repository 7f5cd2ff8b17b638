/*
 * check_order.c - orders of a program. Lines and courses are compared with counting bytes the slow way; then the list
 * scheduler, annealing, and the space.
 */
#include <stdlib.h>
#include "graph/graph.h"
#include "hlo/pack.h"
#include "ready/user_program.h"
#include "space/order/anneal.h"
#include "space/order/holders.h"
#include "space/order/exact.h"
#include "space/order/list.h"
#include "space/order/order.h"
#include "space/order/policy.h"
#include "space/order/strategy.h"
#include "tests/order_chains.h"
#include "tests/order_slow.h"
#include "tests/test.h"

static void any_keys_give_a_legal_order(void)
{
	struct rng r;
	rng_seed(&r, 1);
	for (int k = 0; k < 50; k++) {
		struct line l;
		uint32_t n = 1 + (uint32_t)rng_below(&r, 60), order[64];
		double key[64];
		make_line(&l, n, &r);
		for (uint32_t i = 0; i < n; i++)
			key[i] = rng_unit(&r);
		list_schedule(&l, key, order);
		CHECK(line_legal(&l, order));
		for (uint32_t i = 0; i < n; i++)
			key[order[i]] = i;
		uint32_t again[64];
		list_schedule(&l, key, again); /* an order is the order of its own places */
		CHECK(memcmp(order, again, n * sizeof *order) == 0);
		list_depth_first(&l, order);
		CHECK(line_legal(&l, order));
		if (n > 1) {
			order[0] = order[1];
			CHECK(!line_legal(&l, order));
		}
		line_release(&l);
	}
}

static void moves_count_as_the_whole_does(void)
{
	struct rng r;
	rng_seed(&r, 2);
	for (int k = 0; k < 40; k++) {
		struct line l;
		uint32_t n = 2 + (uint32_t)rng_below(&r, 150), order[160];
		uint64_t bytes[160];
		struct course c;
		make_line(&l, n, &r);
		as_listed(&l, order);
		course_init(&c, &l, order);
		CHECK_INT(course_peak(&c), line_bytes(&l, order, bytes));
		struct anneal a;
		anneal_init(&a, &c, &r);
		for (int i = 0; i < 60; i++) {
			uint32_t first, step = (uint32_t)rng_below(&r, n), after[160];
			uint32_t size = anneal_move(&c, step, anneal_distance(&a), a.mark, a.sequence, &first);
			if (!size)
				continue;
			memcpy(after, c.order, n * sizeof *after);
			memcpy(after + first, a.sequence, size * sizeof *after);
			CHECK(line_legal(&l, after));
			course_try(&c, first, size, a.sequence);
			uint64_t peak = line_bytes(&l, after, bytes);
			CHECK_INT(course_trial_peak(&c), peak);
			if (rng_below(&r, 2)) { /* what is not taken must leave no trace */
				course_take(&c);
				CHECK(memcmp(c.bytes, bytes, n * sizeof *bytes) == 0);
				CHECK_INT(course_peak(&c), peak);
			}
		}
		anneal_release(&a);
		course_release(&c);
		line_release(&l);
	}
}

/* Moves that lie apart, all in one order, give each window the bytes that it has if its move is the only one. */
static void moves_apart_share_an_order(void)
{
	struct rng r;
	uint64_t moves = 0, orders = 0;

	rng_seed(&r, 12);
	for (int k = 0; k < 40; k++) {
		struct line l;
		uint32_t n = 20 + (uint32_t)rng_below(&r, 130), order[160], all[160], alone[160], first, size;
		uint64_t together[160], one[160];
		bool taken[160] = {false};
		struct course c;
		struct anneal a;
		make_line(&l, n, &r);
		as_listed(&l, order);
		memcpy(all, order, n * sizeof *order);
		course_init(&c, &l, order);
		anneal_init(&a, &c, &r);
		for (int i = 0; i < 30; i++) {
			bool free = (size = anneal_next(&a, &first)) > 0;
			for (uint32_t p = first; free && p < first + size; p++)
				free = !taken[p];
			if (!free)
				continue;
			memset(taken + first, true, size);
			memcpy(all + first, a.sequence, size * sizeof *all);
			CHECK(line_legal(&l, all));
			line_bytes(&l, all, together);
			memcpy(alone, order, n * sizeof *order);
			memcpy(alone + first, a.sequence, size * sizeof *alone);
			line_bytes(&l, alone, one);
			CHECK(memcmp(together + first, one + first, size * sizeof *one) == 0);
		}
		a.apart = true;
		a.moves = a.orders = 0;
		anneal_moves(&a, 20, 0.01);
		CHECK_INT(a.orders, 20);
		CHECK(line_legal(&l, c.order));
		CHECK_INT(course_peak(&c), line_bytes(&l, c.order, together));
		moves += a.moves;
		orders += a.orders;
		anneal_release(&a);
		course_release(&c);
		line_release(&l);
	}
	CHECK(moves > 4 * orders);
}

/* An order that the scheduler draws is legal, its peak is what counting gives, and the weights decide what it is. */
static void the_scheduler_counts_as_the_whole_does(void)
{
	struct rng r;
	double best = 0, deep = 0;

	rng_seed(&r, 9);
	for (int k = 0; k < 200; k++) {
		struct line l;
		uint32_t n = 2 + (uint32_t)rng_below(&r, 200), order[256];
		uint64_t bytes[256], peak;
		make_line(&l, n, &r);
		list_depth_first(&l, order);
		deep += (double)line_bytes(&l, order, bytes);
		struct policy *p = policy_new(&l, order);
		for (int heat = 0; heat < 2; heat++) {
			peak = policy_draw(p, policy_learnt, heat, &r, order);
			CHECK(line_legal(&l, order));
			CHECK(peak == line_bytes(&l, order, bytes));
		}
		peak = policy_draw(p, policy_learnt, 0, &r, order);
		best += (double)peak;
		policy_free(p);
		line_release(&l);
	}
	CHECK(best < deep); /* it has learnt something, on lines that are none of those it learnt from */
}

static void annealing_finds_the_best_of_all(void)
{
	int found = 0;
	struct rng r;
	rng_seed(&r, 3);
	for (int k = 0; k < 20; k++) {
		struct line l;
		uint32_t order[16];
		struct course c;
		struct anneal a;
		uint64_t best = UINT64_MAX;
		make_line(&l, 8, &r);
		as_listed(&l, order);
		uint64_t truth = best_of_all(&l, order, 0, 0, UINT64_MAX);
		as_listed(&l, order);
		course_init(&c, &l, order);
		anneal_init(&a, &c, &r);
		for (int i = 0; i < 300; i++) {
			anneal_moves(&a, 10, 0.1 / (1 + i));
			best = course_peak(&c) < best ? course_peak(&c) : best;
		}
		CHECK(best >= truth);
		found += best == truth;
		anneal_release(&a);
		course_release(&c);
		line_release(&l);
	}
	if (!CHECK(found >= 18))
		printf("\t%d of 20\n", found);
}

static void the_exact_best_is_the_best_of_all(void)
{
	struct rng r;
	rng_seed(&r, 7);
	for (int k = 0; k < 60; k++) {
		struct line l;
		struct err err = {0};
		uint32_t order[16];
		uint64_t bytes = 0, at[16];
		make_line(&l, k % 2 ? 8 : 10, &r);
		CHECK(exact_order(&l, EXACT_SETS, order, &bytes, &err) == 0);
		CHECK(line_legal(&l, order));
		CHECK_INT(line_bytes(&l, order, at), bytes);
		CHECK_INT(bytes, best_of_all(&l, order, 0, 0, UINT64_MAX));
		line_release(&l);
	}
	struct line l;
	struct err err = {0};
	uint32_t order[100];
	uint64_t bytes;
	line_init(&l, 100);
	line_finish(&l);
	CHECK(exact_order(&l, EXACT_SETS, order, &bytes, &err) < 0 && strstr(err.text, "64"));
	line_release(&l);
}

#define BIG 4032  /* 1000 floats in a heap */
#define TWICE 8000

static void depth_first_needs_one_chain(void)
{
	struct graph g;
	struct space *s;
	struct err err = {0};
	uint8_t config[64];

	read_chains(&g, 4);
	s = space_open("order", "sim", &g, NULL, 0, &err);
	if (!CHECK(s != NULL)) {
		printf("\t%s\n", err.text);
		return;
	}
	CHECK_INT(s->n_sites, 13); /* twelve instructions that make something, and the result */
	order_base_set(s, config, ORDER_DEPTH_FIRST);
	CHECK_INT((uint64_t)s->ops->formula(s, config, QUANTITY_BYTES), 4000 + TWICE);
	struct holders h;
	holders_find(&h, order_program(s));
	CHECK(h.n == 2 && h.v[0].bytes == TWICE && h.v[1].bytes == BIG);
	CHECK(strncmp(h.v[0].name, "cos", 3) == 0 && strcmp(h.v[0].shape, "f32[2000]") == 0);
	holders_release(&h);
	space_free(s);
	graph_release(&g);
}

/* What a configuration needs, and its live bytes, asked of a space that has seen no other. */
static uint64_t asked_anew(const struct graph *g, const uint8_t *config, uint64_t *peak)
{
	struct err err = {0};
	struct space *s = space_open("order", "sim", g, NULL, 0, &err);
	uint64_t bytes = order_bytes(s, config);

	*peak = order_of_config(s, config)->peak[g->entry];
	space_free(s);
	return bytes;
}

/* Bytes are kept, and orders made only where choices changed: what was asked before must not matter. */
static void what_was_asked_before_does_not_matter(void)
{
	static const char *const path[] = {"examples/graphs/tiny/scan.pb.zst", "examples/graphs/tiny/attention.pb.zst"};
	struct rng r;

	rng_seed(&r, 12);
	for (size_t k = 0; k < sizeof path / sizeof *path; k++) {
		struct user_program u;
		struct err err = {0};
		struct space *s = NULL;
		uint8_t config[200] = {0};
		uint64_t peak;
		if (!CHECK(user_program_fetch(&u, path[k], NULL, &err) == 0) ||
			!CHECK((s = space_open("order", "sim", &u.graph, NULL, 0, &err)) && s->n_sites < 200)) {
			printf("\t%s: %s\n", path[k], err.text);
			return;
		}
		for (int i = 0; i < 60; i++) {
			uint32_t site = (uint32_t)rng_below(&r, s->n_sites);
			/* a found order would have to be found in the other space as well */
			uint8_t n = site == order_base_site(s) ? ORDER_FOUND : s->site[site].choices;
			if (i % 7 == 3) { /* somebody changes the orders */
				struct program *p = order_program(s);
				program_copy_orders(p, p->order, order_base_orders(s, ORDER_DEPTH_FIRST));
				program_settle(p);
			}
			for (uint8_t c = 0; c < n; c++) {
				config[site] = c;
				CHECK_INT(order_bytes(s, config), asked_anew(&u.graph, config, &peak));
			}
			config[site] = (uint8_t)rng_below(&r, n);
			asked_anew(&u.graph, config, &peak);
			CHECK_INT(order_of_config(s, config)->peak[u.graph.entry], peak);
		}
		space_free(s);
		user_program_release(&u);
	}
}

/* Orders the program so that all large values come first. */
static void breadth_first(struct program *p)
{
	const struct graph *g = p->graph;
	const struct line *l = &p->values.line[g->entry];
	double *key = MEM_NEW(l->n, double);

	for (uint32_t i = 0; i < l->n; i++) {
		uint16_t op = g->node[g->comp[g->entry].first + i].opcode;
		key[i] = op == OP_BROADCAST ? 0 : op == OP_CONCATENATE ? 1 : 2;
	}
	list_schedule(l, key, p->order[g->entry]);
	mem_free(key);
}

static void tuning_is_never_worse(void)
{
	struct graph g;
	struct program p;
	struct tune_result out;
	struct tune_options o = {.moves = 20000};
	struct rng r;

	rng_seed(&r, 4);
	read_chains(&g, 4);
	program_open(&p, &g);
	breadth_first(&p);
	tune(&p, &o, &r, &out);
	CHECK(out.bytes <= out.before);
	CHECK_INT(out.bytes, 4000 + TWICE);
	CHECK(out.least == BIG + TWICE && out.proved);
	CHECK(out.moves < 1000); /* what is proved needs no more */
	CHECK(line_legal(&p.values.line[g.entry], p.order[g.entry]));
	program_release(&p);
	graph_release(&g);
}

static void every_strategy_finds_the_chains(void)
{
	for (const struct order_strategy *how = order_strategies; how->name; how++) {
		struct graph g;
		struct program p;
		struct tune_result out;
		struct tune_options o = {.moves = 5000};
		struct err err = {0};
		struct rng r;
		rng_seed(&r, 5);
		read_chains(&g, 4);
		program_open(&p, &g);
		breadth_first(&p);
		CHECK(how->run(&p, &o, &r, &out, &err) == 0);
		CHECK(line_legal(&p.values.line[g.entry], p.order[g.entry]));
		CHECK(out.before > out.bytes);
		if (!CHECK(out.bytes == 4000 + TWICE))
			printf("\t%s: %llu bytes after %llu\n", how->name, (unsigned long long)out.bytes,
				(unsigned long long)out.moves);
		CHECK(order_strategy_find(how->name) == how);
		program_release(&p);
		graph_release(&g);
	}
	CHECK(!order_strategy_find("none"));
}

int main(void)
{
	RUN(any_keys_give_a_legal_order);
	RUN(moves_count_as_the_whole_does);
	RUN(moves_apart_share_an_order);
	RUN(the_scheduler_counts_as_the_whole_does);
	RUN(annealing_finds_the_best_of_all);
	RUN(the_exact_best_is_the_best_of_all);
	RUN(depth_first_needs_one_chain);
	RUN(what_was_asked_before_does_not_matter);
	RUN(tuning_is_never_worse);
	RUN(every_strategy_finds_the_chains);
	return test_done();
}
