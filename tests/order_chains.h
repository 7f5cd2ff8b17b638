/*
 * order_chains.h - a program whose order matters, and the order in which a line lists its steps.
 */
#ifndef TESTS_ORDER_CHAINS_H
#define TESTS_ORDER_CHAINS_H

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "space/order/list.h"

/*
 * Reads a program of some chains, in each of which a large value becomes small, and the sum of the small ones. Breadth
 * first all large values are alive at once. No operation works in place: they are broadcasts and reductions.
 */
static inline void read_chains(struct graph *g, int chains)
{
	struct buf t = {0};
	struct err err = {0};

	buf_adds(&t, "HloModule chains\nadd { a = f32[] parameter(0)\n b = "
		"f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
		"ENTRY main {\n p = f32[] parameter(0)\n z = f32[] constant(0)\n");
	for (int i = 0; i < chains; i++)
		buf_addf(&t, " big%d = f32[1000]{0} broadcast(p), dimensions={}\n", i);
	for (int i = 0; i < chains; i++)
		buf_addf(&t, " cos%d = f32[2000]{0} concatenate(big%d, big%d), dimensions={0}\n", i, i, i);
	for (int i = 0; i < chains; i++)
		buf_addf(&t, " sum%d = f32[] reduce(cos%d, z), dimensions={0}, to_apply=add\n", i, i);
	buf_adds(&t, " ROOT r = (");
	for (int i = 0; i < chains; i++)
		buf_addf(&t, "%sf32[]", i ? ", " : "");
	buf_adds(&t, ") tuple(");
	for (int i = 0; i < chains; i++)
		buf_addf(&t, "%ssum%d", i ? ", " : "", i);
	buf_adds(&t, ")\n}\n");
	if (graph_parse(g, t.data, t.len, "chains", &err) < 0) {
		printf("%s\n", err.text);
		fflush(stdout);
		abort();
	}
	buf_release(&t);
}

static inline void as_listed(const struct line *l, uint32_t *order)
{
	double *key = MEM_NEW(l->n, double);

	list_schedule(l, key, order);
	mem_free(key);
}

#endif
