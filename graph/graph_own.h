/*
 * graph_own.h - what the files that build a graph share.
 */
#ifndef GRAPH_GRAPH_OWN_H
#define GRAPH_GRAPH_OWN_H

#include "graph/graph.h"

enum opcode_class { CLASS_ELEMENTWISE, CLASS_MOVE, CLASS_APPLY, CLASS_HEAVY, CLASS_STRUCTURE, CLASS_CALL, CLASS_OUTSIDE };
enum opcode_flag { COMMUTES = 1, SIDE_EFFECT = 2 };

struct opcode_facts {
	const char *name;
	uint8_t class;
	uint8_t flops;	  /* per result element */
	uint8_t operands; /* at least */
	uint8_t flags;
};
const struct opcode_facts *opcode_facts(uint16_t opcode);

/* analyse.c: roles, trip counts, shapes, sizes, work. Refuses absurd shapes and recursive calls. */
int graph_analyse(struct graph *g, const char *name, struct err *err);

/* content.c */
void graph_content(struct graph *g);

#endif
