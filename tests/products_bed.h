/*
 * products_bed.h - a program of products with a concatenation, each of its own size, and what could be rewritten in it.
 */
#ifndef TESTS_PRODUCTS_BED_H
#define TESTS_PRODUCTS_BED_H

#include <stdlib.h>
#include "base/buf.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

#define PRODUCTS 6

static struct graph graph;

/* So many products with a concatenation, each of its own size: as many places, all of classes of their own. */
static inline void read_program(uint32_t n)
{
	struct buf text = {0};
	struct err err = {0};

	buf_adds(&text, "HloModule m\n\nENTRY e {\n");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rows = 16u << i;
		buf_addf(&text, "  a%u = f32[%u,2] parameter(%u)\n", i, rows, 3 * i);
		buf_addf(&text, "  b%u = f32[%u,3] parameter(%u)\n", i, rows, 3 * i + 1);
		buf_addf(&text, "  w%u = f32[5,4] parameter(%u)\n", i, 3 * i + 2);
		buf_addf(&text, "  c%u = f32[%u,5] concatenate(a%u, b%u), dimensions={1}\n", i, rows, i, i);
		buf_addf(&text, "  y%u = f32[%u,4] dot(c%u, w%u), lhs_contracting_dims={1}, "
			"rhs_contracting_dims={0}\n", i, rows, i, i);
	}
	buf_adds(&text, "  ROOT t = (");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%sf32[%u,4]", i ? ", " : "", 16u << i);
	buf_adds(&text, ") tuple(");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%sy%u", i ? ", " : "", i);
	buf_adds(&text, ")\n}\n");
	graph = (struct graph){0};
	if (graph_parse(&graph, text.data, text.len, "program", &err) < 0)
		printf("FAIL: program: %s\n", err.text);
	buf_release(&text);
}

static inline struct space *open_space(uint32_t n)
{
	struct space *s;

	read_program(n);
	s = space_open("rewrite/without:merge-products:small-product", "cpu", &graph, NULL, 0, NULL);
	if (!CHECK(s && s->n_sites == n && s->n_ties == n))
		exit(1);
	return s;
}

static inline void close_space(struct space *s)
{
	space_free(s);
	graph_release(&graph);
}

#endif
