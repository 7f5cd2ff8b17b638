/*
 * fusion.h - fusion as a decision space.
 *
 * A site is an instruction that some consumer could legally absorb. With m legal consumers, m <= 3,
 * it has 2^m choices, one per subset: bit i says that the i-th legal consumer (by node number)
 * absorbs a copy. With more, or in `fusion/binary`, none or all. A value is kept in memory unless
 * every one of its users is legal and absorbs it. So what a choice means depends on the site alone:
 *
 *	edge (p, c) is absorbed	 iff the choice of p has the bit of c
 *	p is kept		 iff p is no site, a root, has an illegal user, or lacks some bit
 *	group(r), r kept	 =   r and, over absorbed edges, everything it computes inside
 *
 * A group has one result, so whatever the choices, contracting groups never makes a cycle: all that
 * a group reads are ancestors of its root. Inside one group a value is computed once, and a reader
 * whose bit is off reads it from memory even where a copy is at hand. Scalar constants are copied
 * into every group that reads them.
 *
 * The internals (struct fusion) are shared by the files space/fusion/ alone.
 */
#ifndef SPACE_FUSION_FUSION_H
#define SPACE_FUSION_FUSION_H

#include "space/space.h"

extern const struct space_kind fusion_kind;

/* How the compiler's own result decodes into choices. */
struct fusion_report {
	uint32_t sites, matched;	    /* sites found again in the compiler's result */
	uint32_t groups, equal;		    /* its kept instructions, and those whose group is the same in ours */
	uint32_t fusions, fusions_equal;    /* ... of those the ones with more than one member */
	uint32_t illegal;		    /* edges it absorbed and our rules do not allow */
	uint32_t mixed;			    /* edges absorbed in one group and not in another: no one choice */
	char first[200];		    /* the first thing that could not be expressed, for people */
};

/* Sets the defaults of the space from the module just after the compiler's fusion pass. */
int fusion_decode(struct space *s, const struct graph *after, struct fusion_report *report, struct err *err);
/* Appends it as one sentence for people. */
void fusion_report_text(const struct fusion_report *r, struct buf *out);

/* The plain rule: an elementwise site with one user is absorbed, if it may be. */
void fusion_greedy(struct space *s, uint8_t *config);

/* Group counts of a configuration: kept fusible instructions, and groups of more than one member. */
void fusion_count(struct space *s, const uint8_t *config, uint32_t *groups, uint32_t *fusions);

/* Recomputes ties over `hops` (default FUSION_TIE_HOPS) both ways. */
#define FUSION_TIE_HOPS 3
void fusion_ties(struct space *s, uint32_t hops);

#endif
