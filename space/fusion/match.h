/*
 * match.h - which instruction after the compiler's fusion pass stands for which one before it.
 *
 * The pass moves instructions into fusions and may put the same one into several. An instruction after
 * it that stands for a node before it is called a copy of that node here, also where it is the only one.
 * Nothing is said of what lies inside applied computations (reducers), nor of scalar constants that
 * nobody reads any more.
 */
#ifndef SPACE_FUSION_MATCH_H
#define SPACE_FUSION_MATCH_H

#include "graph/graph.h"

struct copy {
	uint32_t after, node; /* the instruction after the pass, the node before it */
	uint32_t next;	      /* further copy with the same `after` (twins that were merged), or NONE */
};

struct match {		     /* match_release accepts all zero */
	const struct graph *before, *after;
	uint64_t *hash, *hash_after; /* structural hashes */
	uint32_t *first;	     /* per node after: its first copy, or NONE */
	struct copy *copy;
	size_t n, cap, limit;
	struct arena mem;
};

/* Borrows both graphs until the release. */
void match_find(struct match *m, const struct graph *before, const struct graph *after);
void match_release(struct match *m);

/* How a copy gets one operand of its node. */
struct reading {
	uint32_t copy; /* of the operand, or NONE where it is not found */
	bool inside;   /* computed in the same fusion; otherwise read from memory */
};
struct reading match_reading(const struct match *m, const struct copy *c, uint32_t k);

/* Does the copy's value go to memory: does it stand bare, or is it a result of its fusion? */
bool match_is_kept(const struct match *m, const struct copy *c);

#endif
