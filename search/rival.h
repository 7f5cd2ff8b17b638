/*
 * rival.h - the searches of others among rewritten programs, which add up the costs of operators.
 *
 * TASO and its successors assume that a program costs the sum of what its operators cost, and measure each operator
 * once, alone. They keep a queue of programs ordered by that sum, rewrite each program in every way, and drop those
 * that cost more than alpha times the best so far. Greedy takes the best step while there is one. Tensat keeps all ways
 * to compute each value side by side, and an integer program chooses among them (extract.c). No program is measured on
 * the way; the verdict shows how much of the gain remains after the compiler's own passes.
 */
#ifndef SEARCH_RIVAL_H
#define SEARCH_RIVAL_H

#include "lab/lab.h"

#define RIVAL_ALPHA 1.05 /* the alpha of TASO */

struct rival_options {
	double alpha; /* 0: greedy */
	bool extract; /* Tensat's way; alpha and budget do not matter */
	uint64_t budget; /* the most programs that are taken from the queue */
	double seconds;	 /* for all of it; what was not measured by then is not taken; 0: no limit */
};

struct rival_answer {
	double believed;    /* how many seconds smaller the sum of operators is, */
	double of;	    /* ... of so many that the default takes */
	uint64_t programs;  /* how many were looked at */
	uint32_t operators; /* how many were measured */
};

/* Fills `config` (n_sites bytes). Only for kinds that have space_ops.operators. */
int rival_search(struct lab *lab, struct device *d, const struct rival_options *o, uint8_t *config,
	struct rival_answer *a, struct err *err);

#endif
