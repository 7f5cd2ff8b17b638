/*
 * recode.h - has the answer's code generated in other ways, where that is faster.
 *
 * Which kernels there are is decided instruction by instruction. How wide their vectors are, and how the program asks
 * for memory, is decided for the whole program (schemas/codegen.def), in a race of one way after the other.
 *
 * If nothing else was found, the answer is the user's own program with these options (COMPILE_CODEGEN_OWN): the
 * compiler makes all decisions by itself.
 */
#ifndef SEARCH_RECODE_H
#define SEARCH_RECODE_H

#include "base/json.h"
#include "device/codegen.h"
#include "search/race.h"

struct recode { /* all zero: nothing was asked */
	uint32_t asked, taken; /* ways (codegen.h) that were measured, and taken */
	/* what each asked way saved, as a share of the answer's time with those taken before, and its standard error */
	double gain[CODEGEN_MOST], se[CODEGEN_MOST];
};

/* What it may cost the program that leads to map its temporary memory, as a share of a run; 0: no way saves that. */
double recode_promise(const struct race *x);
/* Tries each of these ways beside those taken before it, and tells the device what was taken. */
int recode_answer(struct recode *r, struct race *x, uint32_t ways, struct err *err);
/* Takes the ways of the search that left this folder. */
void recode_again(struct recode *r, const char *from, struct device *d);
void recode_json(const struct recode *r, struct json *j);
void recode_text(const struct recode *r, struct buf *out); /* a sentence; nothing where nothing was taken */

#endif
