/*
 * products.h - a hunt that rewrites products of concatenations, and a device that looks for these, for tests.
 *
 * Every product has a shape of its own, so a compiled program tells in which of them the concatenation is still there.
 */
#ifndef TESTS_PRODUCTS_H
#define TESTS_PRODUCTS_H

#include <math.h>
#include <stdlib.h>
#include "base/buf.h"
#include "device/ops.h"
#include "search/hunt.h"
#include "search/scorer.h"
#include "tests/test.h"

#define PRODUCTS 5
#define ROWS 8 /* of the first product; the next one has one more */

/* Small products with a concatenation each. */
static struct space *open_products(struct graph *g)
{
	struct buf text = {0};
	struct space *s;

	buf_adds(&text, "HloModule m\n\nENTRY e {\n");
	for (uint32_t i = 0; i < PRODUCTS; i++)
		buf_addf(&text,
			"  a%u = f32[%u,2] parameter(%u)\n  b%u = f32[%u,3] parameter(%u)\n"
			"  w%u = f32[5,4] parameter(%u)\n"
			"  c%u = f32[%u,5] concatenate(a%u, b%u), dimensions={1}\n"
			"  y%u = f32[%u,4] dot(c%u, w%u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
			i, ROWS + i, 3 * i, i, ROWS + i, 3 * i + 1, i, 3 * i + 2, i, ROWS + i, i, i, i, ROWS + i, i, i);
	buf_adds(&text, "  ROOT t = (");
	for (uint32_t i = 0; i < PRODUCTS; i++)
		buf_addf(&text, "%sf32[%u,4]", i ? ", " : "", ROWS + i);
	buf_adds(&text, ") tuple(");
	for (uint32_t i = 0; i < PRODUCTS; i++)
		buf_addf(&text, "%sy%u", i ? ", " : "", i);
	buf_adds(&text, ")\n}\n");
	*g = (struct graph){0};
	CHECK(graph_parse(g, text.data, text.len, "program", NULL) == 0);
	buf_release(&text);
	s = space_open("rewrite/without:merge-products", "cpu", g, NULL, 0, NULL);
	if (!CHECK(s && s->n_sites == PRODUCTS && s->site[0].choices > 2))
		exit(1);
	return s;
}

struct looking {
	struct device d;
	uint32_t whole[64], summed[64], n; /* by compiled program, a bit for each product that is still
					    * one of a concatenation, or is a sum of products of numbers */
};

static int look(struct device *d, enum compile_how how, const char *format, const void *p, size_t n, unsigned want,
	struct compiled *out, struct err *err)
{
	struct looking *l = (struct looking *)d;
	struct graph g = {0};

	(void)how, (void)format, (void)want;
	if (l->n == 64 || graph_parse(&g, p, n, "program", err) < 0)
		return -1;
	for (uint32_t i = 0; i < g.n_nodes; i++) {
		if (g.node[i].opcode == OP_CONCATENATE)
			l->whole[l->n] |= 1u << (g.node[i].elements / 5 - ROWS);
		if (g.node[i].opcode == OP_REDUCE)
			l->summed[l->n] |= 1u << (g.node[i].elements / 4 - ROWS);
	}
	graph_release(&g);
	out->handle = ++l->n;
	return 0;
}

static int drop(struct device *d, uint32_t handle, struct err *err)
{
	(void)d, (void)handle, (void)err;
	return 0;
}

/* The first choice in so many products, the last one in the others up to `n`. */
static void follow(struct hunt *h, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		h->config[i] = i < first ? 1 : h->s->site[i].choices - 1;
		MEM_GROW(&h->steps, &h->cap_steps, h->n_steps + 1);
		h->steps[h->n_steps++] = (struct hunt_step){.site = i, .n_flips = 1, .to = h->config[i],
			.delta = -1e-4};
	}
	CHECK(h->s->ops->rule(h->s, 0, 1) != h->s->ops->rule(h->s, 4, h->s->site[4].choices - 1));
}

/* A hunt that has changed nothing, with a device that looks. */
struct products {
	struct looking device;
	struct graph graph;
	struct lab lab;
	struct scorer scorer;
	struct hunt h;
};

static void products_begin(struct products *f, const struct device_ops *ops)
{
	struct cost_options co = {.part_seconds = -1};
	struct hunt_options o = {.budget = 100, .seed = 1, .alpha = 100, .tied = true};
	struct err err = {0};

	*f = (struct products){.device.d.ops = ops};
	f->lab.space = open_products(&f->graph);
	f->lab.cost = cost_new(f->lab.space, &f->device.d, &co, &err);
	if (!CHECK(f->lab.cost != NULL))
		exit(1);
	f->scorer = scorer_of_space(f->lab.space);
	hunt_prepare(&f->h, &o, &f->lab);
	hunt_stand(&f->h, &f->scorer);
	f->h.default_seconds = 1e-2;
}

static void products_end(struct products *f)
{
	hunt_release(&f->h);
	cost_free(f->lab.cost);
	space_free(f->lab.space);
	graph_release(&f->graph);
}

#endif
