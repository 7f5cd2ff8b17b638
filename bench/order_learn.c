/*
 * order_learn.c - learns the weights of the scheduler of orders (space/order/policy.h).
 *
 *	build/release/bench/order_learn [--steps N] [--graphs N] [--seed N] [PROGRAM...] > space/order/policy.def
 *
 * Learns on drawn graphs (order_draw.h) of 50 to 200 nodes, and on all computations of the PROGRAMs with at least LEAST
 * instructions. Give programs of examples/graphs/train and loops only: the others judge the weights.
 *
 * The reward of an order is the logarithm of its peak, against that of a depth-first order, negative if it needs less.
 * Evolution strategies estimate its gradient: each step draws directions, looks at orders with the weights a little to
 * either side of each, on the same few programs with the same random numbers, and follows the difference (by Adam).
 * Every order is drawn, so weights learn how sure they may be.
 *
 * Says on stderr how far the mean reward has come: on programs of the training, and on drawn graphs that are not in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/opt.h"
#include "bench/order_draw.h"
#include "graph/graph.h"
#include "ready/user_program.h"
#include "space/order/list.h"
#include "space/order/policy.h"
#include "space/order/program.h"

#define LEAST 30	 /* instructions */
#define DIRECTIONS 12	 /* in each step */
#define PROGRAMS 10	 /* in each step */
#define ASIDE 0.12	 /* how far to either side */
#define RATE 0.03	 /* of Adam */
#define UNSEEN 50	 /* drawn graphs that are only looked at */
#define UNSEEN_SEED 90000000

struct lesson { /* a computation to learn from */
	struct line *line;
	struct policy *policy;
	uint32_t *order;
	double depth_first; /* the peak of a depth-first order */
};
struct lessons {
	struct lesson *v;
	size_t n, cap;
};

static void add(struct lessons *all, struct program *p, uint32_t comp)
{
	struct line *l = program_line(p, comp);
	struct lesson x = {.line = l, .order = MEM_NEW(l->n, uint32_t)};
	struct course c;

	list_depth_first(l, x.order);
	course_init(&c, l, x.order);
	x.depth_first = (double)course_peak(&c);
	course_release(&c);
	if (x.depth_first <= 0)
		return;
	x.policy = policy_new(l, p->order[comp]);
	MEM_GROW(&all->v, &all->cap, all->n + 1);
	all->v[all->n++] = x;
}

static int add_drawn(struct lessons *all, int64_t graphs, uint64_t seed, struct err *err)
{
	for (int64_t i = 0; i < graphs; i++) {
		struct graph *g = MEM_NEW(1, struct graph); /* kept until the process ends, as the programs are */
		struct program *p = MEM_NEW(1, struct program);
		struct buf text = {0};
		draw_graph((size_t)i % FAMILIES, 50 + (uint32_t)(i * 37 % 151), seed + (uint64_t)i, &text);
		if (graph_parse(g, text.data, text.len, "a drawn graph", err) < 0)
			return -1;
		buf_release(&text);
		program_open(p, g);
		program_settle(p);
		add(all, p, g->entry);
	}
	return 0;
}

static int add_program(struct lessons *all, const char *path, struct err *err)
{
	struct user_program *u = MEM_NEW(1, struct user_program);
	struct program *p = MEM_NEW(1, struct program);

	if (user_program_fetch(u, path, NULL, err) < 0)
		return -1;
	program_open(p, &u->graph);
	program_settle(p);
	for (uint32_t c = 0; c < u->graph.n_comps; c++)
		if (program_line(p, c)->n >= LEAST)
			add(all, p, c);
	return 0;
}

static double reward(const struct lesson *x, const double *weight, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	return log((double)policy_draw(x->policy, weight, 1, &r, x->order) / x->depth_first);
}

static double mean(const struct lessons *all, const double *weight)
{
	double sum = 0;

	for (size_t i = 0; i < all->n; i++)
		sum += reward(&all->v[i], weight, i);
	return all->n ? sum / (double)all->n : 0;
}

/* Estimates the gradient of the mean reward. */
static void estimate(const struct lessons *all, const double *weight, struct rng *r, double *gradient)
{
	size_t which[PROGRAMS];

	memset(gradient, 0, POLICY_WEIGHTS * sizeof *gradient);
	for (int i = 0; i < PROGRAMS; i++)
		which[i] = (size_t)rng_below(r, all->n);
	for (int d = 0; d < DIRECTIONS; d++) {
		double way[POLICY_WEIGHTS], up[POLICY_WEIGHTS], down[POLICY_WEIGHTS], sum = 0;
		uint64_t seed = rng_u64(r);
		for (int w = 0; w < POLICY_WEIGHTS; w++) {
			way[w] = rng_normal(r);
			up[w] = weight[w] + ASIDE * way[w];
			down[w] = weight[w] - ASIDE * way[w];
		}
		for (int i = 0; i < PROGRAMS; i++)
			sum += reward(&all->v[which[i]], up, seed) - reward(&all->v[which[i]], down, seed);
		for (int w = 0; w < POLICY_WEIGHTS; w++)
			gradient[w] += sum * way[w] / (2 * ASIDE * DIRECTIONS * PROGRAMS);
	}
}

static void write_weights(const double *weight)
{
	printf("/* Learnt by bench/order_learn.c, which says of what: the weights of space/order/policy.h. */\n");
	for (int w = 0; w < POLICY_WEIGHTS; w++)
		printf("%.4f,%s", weight[w], w % 8 == 7 || w + 1 == POLICY_WEIGHTS ? "\n" : " ");
}

static void learn(const struct lessons *all, const struct lessons *unseen, int64_t steps, double *weight,
	struct rng *r)
{
	double gradient[POLICY_WEIGHTS], first[POLICY_WEIGHTS] = {0}, second[POLICY_WEIGHTS] = {0};

	for (int64_t s = 0; s <= steps; s++) {
		double rate = RATE * (1 - 0.9 * (double)s / (double)steps);
		if (s % 100 == 0)
			fprintf(stderr, "%lld steps: %.4f on %zu of the training, %.4f on %zu others\n",
				(long long)s, mean(all, weight), all->n, mean(unseen, weight), unseen->n);
		estimate(all, weight, r, gradient);
		for (int w = 0; w < POLICY_WEIGHTS; w++) {
			first[w] = 0.9 * first[w] + 0.1 * gradient[w];
			second[w] = 0.99 * second[w] + 0.01 * gradient[w] * gradient[w];
			weight[w] -= rate * first[w] / (1 - pow(0.9, (double)s + 1)) /
				(sqrt(second[w] / (1 - pow(0.99, (double)s + 1))) + 1e-9);
		}
	}
}

int main(int argc, char **argv)
{
	int64_t steps = 1500, graphs = 150, seed = 1;
	const struct opt table[] = {OPT_INT(0, "steps", &steps, 1, 10000000, "of learning"),
		OPT_INT(0, "graphs", &graphs, 1, 100000, "drawn graphs to learn on"),
		OPT_INT('s', "seed", &seed, 0, INT64_MAX / 2, "random seed"), OPT_END};
	const struct opt_program prog = {"order_learn", "[OPTIONS] [PROGRAM...]",
		"Learns the weights of the scheduler of orders, and prints them.", table};
	struct lessons all = {0}, unseen = {0};
	double weight[POLICY_WEIGHTS];
	struct err err = {0};
	struct rng r;
	int n = 0, rc;

	err_program(prog.name);
	rc = opt_parse(&prog, argc, argv, &n, &err);
	rng_seed(&r, (uint64_t)seed);
	if (rc == 0)
		rc = add_drawn(&all, graphs, (uint64_t)seed, &err);
	if (rc == 0)
		rc = add_drawn(&unseen, UNSEEN, UNSEEN_SEED, &err);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = add_program(&all, argv[i], &err);
	if (rc < 0)
		return err_exit(&err);
	memcpy(weight, policy_learnt, sizeof weight);
	/* a hidden layer of zeros could not learn */
	for (int w = POLICY_FACTS; w < POLICY_WEIGHTS; w++)
		if (!(weight[w] < 0 || weight[w] > 0))
			weight[w] = 0.1 * rng_normal(&r);
	learn(&all, &unseen, steps, weight, &r);
	write_weights(weight);
	return 0;
}
