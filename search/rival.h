/*
 * rival.h - searches that believe in operators: how others choose among rewritten programs.
 *
 * TASO and those after it take the cost of a program for the sum of what its operators cost, each measured once by
 * itself, and search that sum: a queue of programs by cost, of which each is rewritten in every way, and what is more than
 * alpha times as dear as the best so far is dropped. Greedy takes the best step while there is one. What comes out is not measured on
 * the way; the verdict says what is left of it after the compiler's own passes.
 */
#ifndef SEARCH_RIVAL_H
#define SEARCH_RIVAL_H

#include "lab/lab.h"

#define RIVAL_ALPHA 1.05 /* TASO's */

struct rival_options {
	double alpha; /* 0: greedy, one step after the other */
	uint64_t budget; /* programs taken from the queue at most */
};

struct rival_answer {
	double believed;    /* seconds that the sum of operators is smaller */
	uint64_t programs;  /* looked at */
	uint32_t operators; /* measured, each once */
};

/* Fills `config` (n_sites bytes). Only for kinds whose places are made of operators. */
int rival_search(struct lab *lab, struct device *d, const struct rival_options *o, uint8_t *config, struct rival_answer *a,
	struct err *err);

#endif
