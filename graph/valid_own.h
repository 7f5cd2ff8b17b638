/*
 * valid_own.h - what the files of the validation share.
 *
 *	valid.c	     the walk over a program; operands, parameters, calls, tuples
 *	valid_part.c  what one instruction holds: literals, dimensions, sizes, messages
 */
#ifndef GRAPH_VALID_OWN_H
#define GRAPH_VALID_OWN_H

#include "hlo/words.h"
#include "hlo/shape.h"
#include "graph/valid.h"

struct valid {
	const struct graph *g;
	const char *file;
	struct err *err;
	const struct hlo_words *words;
	uint32_t *first_param; /* per computation: where its parameters begin in `param`; n_comps + 1 places */
	uint32_t *param;       /* nodes, by number within each computation */
	uint64_t origins;
};

/* Says what is wrong with the parts of node v, or returns NULL. Its shapes must have been checked. */
const char *valid_parts(struct valid *a, uint32_t v);

#endif
