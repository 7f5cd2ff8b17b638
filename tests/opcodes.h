/*
 * opcodes.h - counts the instructions of one kind in a side of a region.
 */
#ifndef TESTS_OPCODES_H
#define TESTS_OPCODES_H

#include "graph/graph.h"
#include "tests/test.h"

static inline uint32_t opcodes_in(const struct buf *b, enum opcode opcode)
{
	struct graph g = {0};
	struct err err = {{0}};
	uint32_t n = 0;

	if (!CHECK(graph_parse(&g, b->data, b->len, "region", &err) == 0))
		printf("%s\n", err.text);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		n += g.node[v].opcode == opcode;
	graph_release(&g);
	return n;
}

#endif
