/*
 * match.h - finds which instruction after the compiler's fusion pass stands for which one before it.
 *
 * The pass moves instructions into fusions and may put the same one into several. A copy of a node is an
 * instruction after the pass that stands for this node before it, even if it is the only one. Insides of
 * applied computations (reducers) are not matched, nor are scalar constants that nothing reads any more.
 */
#ifndef SPACE_FUSION_MATCH_H
#define SPACE_FUSION_MATCH_H

#include "graph/graph.h"

struct copy {
	uint32_t after, node; /* the instruction after the pass, the node before it */
	uint32_t next;	     /* the next copy with the same `after` (twins that were merged), or NONE */
};

struct match {		     /* match_release accepts all zero */
	const struct graph *before, *after;
	uint64_t *hash, *hash_after; /* structural hashes */
	uint64_t *local, *local_after; /* of instructions by themselves; NULL where the pass only moved */
	uint32_t *first;	     /* per node after: its first copy, or NONE */
	struct copy *copy;
	size_t n, cap, limit;
	struct arena mem;
};

/* Borrows both graphs until the release. */
void match_find(struct match *m, const struct graph *before, const struct graph *after);
void match_release(struct match *m);

/* Where a copy gets one operand of its node from. */
struct reading {
	uint32_t copy; /* the operand's copy, or NONE if it is not found */
	bool inside;   /* is it computed in the same fusion? Otherwise it is read from memory */
};
struct reading match_reading(const struct match *m, const struct copy *c, uint32_t k);

/* The first copy with the value of w, which may be a fusion or a parameter inside one; NONE if it has none. */
uint32_t match_first(const struct match *m, uint32_t w);

/* Does the copy's value go to memory: is it outside of fusions, or a result of its fusion? */
bool match_is_kept(const struct match *m, const struct copy *c);

#endif
