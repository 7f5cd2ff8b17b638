/*
 * export.h - walks over the steps that `store export` was asked for. Only for export*.c.
 */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include "base/re.h"
#include "store/cmd.h"
#include "store/sum.h"

struct selection {
	struct request *r;
	struct run_info *runs;
	size_t n_runs;
	int64_t only;	    /* this run; 0: all */
	struct re *graph;   /* names; NULL: all */
	struct { int64_t space; bool taken; char *graph; } *space;
	size_t n_spaces;
};
int selection_open(struct selection *x, struct request *r, struct err *err);
void selection_close(struct selection *x); /* also after a failure */
/* The index of the space in x->space, or -1 if it was not asked for. */
int selection_space(const struct selection *x, int64_t space);
/* Is called for a step, with the chain's sum before it. Returns -1 with a sentence to stop. */
typedef int step_fn(void *ctx, const struct run_info *run, const struct step *t, const struct sum *before,
	struct err *err);
/* Calls fn for every step asked for, in order, until it returns -1. Reads only runs that have such steps. */
int selection_walk(struct selection *x, step_fn *fn, void *ctx, struct err *err);
/* The same, of runs in this environment that have a chain in this space. */
int selection_walk_space(struct selection *x, int64_t space, int64_t environment, step_fn *fn, void *ctx,
	struct err *err);

int export_npz(struct selection *x, struct err *err);

#endif
