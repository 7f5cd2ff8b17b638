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

/* schemas/fusion_cause.def: why a group of the compiler's cannot be said as choices. */
enum fusion_cause {
#define CAUSE(id, ...) CAUSE_##id,
#include "schemas/fusion_cause.def"
#undef CAUSE
	CAUSE_COUNT
};

/* How the compiler's own result decodes into choices; the account of the space has the rest. */
struct fusion_report {
	uint32_t sites, matched;	 /* sites found again in the compiler's result */
	uint32_t fusions, fusions_equal; /* groups of more than one member, and those that are the same in ours */
};

/*
 * Sets the defaults of the space from the module just after the compiler's fusion pass. The parts of the account are the
 * compiler's kept instructions, each with what its group computes.
 */
void fusion_decode(struct space *s, const struct graph *after, struct fusion_report *report);
/* Appends it as one sentence for people. */
void fusion_report_text(const struct space *s, const struct fusion_report *r, struct buf *out);

/*
 * Where the compiler treats copies of one instruction differently, which no choice can say, writes the program anew
 * with an instruction for each way (copies.c), and returns how many that adds; 0: nothing is written. The space opened
 * over that program decodes without such differences.
 */
uint32_t fusion_restate(struct space *s, const struct graph *after, struct buf *module);

/* The plain rule: an elementwise site with one user is absorbed, if it may be. */
void fusion_greedy(struct space *s, uint8_t *config);

/* Group counts of a configuration: kept fusible instructions, and groups of more than one member. */
void fusion_count(struct space *s, const uint8_t *config, uint32_t *groups, uint32_t *fusions);

/* Recomputes ties over `hops` (default FUSION_TIE_HOPS) both ways. */
#define FUSION_TIE_HOPS 3
void fusion_ties(struct space *s, uint32_t hops);

#endif
