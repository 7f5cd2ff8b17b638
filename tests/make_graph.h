/*
 * make_graph.h - the graph of a module that a test made.
 */
#ifndef TESTS_MAKE_GRAPH_H
#define TESTS_MAKE_GRAPH_H

#include "graph/graph.h"
#include "tests/make_module.h"
#include "tests/test.h"

/* False, and a failed check, if the module is refused; else the caller releases the graph. */
static inline bool make_graph(struct graph *g, const Hlo__HloModuleProto *m)
{
	struct buf b = {0};
	struct err err = {0};
	make_pack(m, &b);
	bool ok = graph_parse(g, b.data, b.len, "made", &err) == 0;
	if (!CHECK(ok))
		printf("%s\n", err.text);
	buf_release(&b);
	return ok;
}

/* What graph.h promises of every graph. */
static inline void check_invariants(const struct graph *g)
{
	uint32_t next = 0;
	bool order = true, users = true, calls = true;
	for (uint32_t c = 0; c < g->n_comps; c++) {
		CHECK_INT(g->comp[c].first, next);
		next += g->comp[c].n_nodes;
		CHECK(g->comp[c].root >= g->comp[c].first && g->comp[c].root < next);
	}
	CHECK_INT(next, g->n_nodes);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		for (uint32_t k = 0; k < n->n_operands; k++)
			order &= node_operands(g, v)[k] < v && g->node[node_operands(g, v)[k]].comp == n->comp;
		for (uint32_t k = 0; k < n->n_called; k++)
			calls &= node_calls(g, v)[k] < n->comp;
		for (uint32_t k = 0; k < n->n_users; k++) { /* ascending, and each reads v */
			uint32_t u = node_users(g, v)[k], found = 0;
			users &= k == 0 || node_users(g, v)[k - 1] < u;
			for (uint32_t i = 0; i < g->node[u].n_operands; i++)
				found += node_operands(g, u)[i] == v;
			users &= found > 0;
		}
		users &= opcode_of(n->proto->opcode) == n->opcode;
	}
	CHECK(order);
	CHECK(users);
	CHECK(calls);
}

#endif
