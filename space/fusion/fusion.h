/*
 * fusion.h - fusion as a decision space.
 *
 * To absorb a value is to compute a copy of it inside the consumer's kernel instead of reading it from
 * memory. A site is an instruction that some consumer could legally absorb. With m legal consumers, m <= 3,
 * it has 2^m choices, one per subset: bit i says that the i-th legal consumer (by node number) absorbs a
 * copy. With more consumers, or in `fusion/binary`, it has two: none or all. A value is kept in memory
 * unless every one of its users may absorb it and does. So what a choice means depends on the site alone:
 *
 *	edge (p, c) is absorbed	 iff the choice of p has the bit of c
 *	p is kept		 iff p is no site, a root, has an illegal user, or lacks some bit
 *	group(r), r kept	 =   r and, over absorbed edges, everything it computes inside
 *
 * A group is what becomes one kernel. It has one result, and all that it reads are ancestors of its root, so
 * no choices can make a cycle of groups. Inside one group a value is computed once. A reader whose bit is off
 * reads the value from memory, even if a copy is in the same group. Scalar constants are copied into every
 * group that reads them.
 *
 * Only the files of space/fusion/ see the internals (struct fusion).
 */
#ifndef SPACE_FUSION_FUSION_H
#define SPACE_FUSION_FUSION_H

#include "space/space.h"

extern const struct space_kind fusion_kind;

/* schemas/fusion_cause.def: why choices cannot say what one of the compiler's groups is. */
enum fusion_cause {
#define CAUSE(id, ...) CAUSE_##id,
#include "schemas/fusion_cause.def"
#undef CAUSE
	CAUSE_COUNT
};

/* How well the compiler's own result could be read as choices; the account of the space has the rest. */
struct fusion_report {
	uint32_t sites, matched;	 /* sites found again in the compiler's result */
	uint32_t fusions, fusions_equal; /* groups of more than one member; those that the choices say exactly */
};

/*
 * Sets the defaults of the space from the module just after the compiler's fusion pass. The parts that the account
 * counts are the compiler's groups.
 */
void fusion_decode(struct space *s, const struct graph *after, struct fusion_report *report);
/* Appends the report as one sentence for people. */
void fusion_report_text(const struct space *s, const struct fusion_report *r, struct buf *out);

/*
 * If the compiler treats copies of one instruction differently, which no choice can say, writes the program anew with
 * an instruction for each way (copies.c). Returns how many instructions that adds; if 0, nothing is written. A space
 * opened over the new program decodes without such differences.
 */
uint32_t fusion_restate(struct space *s, const struct graph *after, struct buf *module);

/*
 * If the compiler made or changed kernels that no choice can say, because it computes them in tiles, they give several
 * results of one instruction, or they break our rules on a backend whose kernels are then kept, writes the program anew
 * with these kernels in it, as the compiler left them (tiles.c). Returns how many; if 0, nothing is written.
 */
uint32_t fusion_take_tiles(struct space *s, const struct graph *after, struct buf *module);
/*
 * If the compiler leaves instructions to a library that could be in fusions of its own, writes the program anew with
 * these instructions bare (library.c). Returns how many kernels that were; if 0, nothing is written.
 */
uint32_t fusion_take_apart(const struct space *s, struct buf *module);
/* Is the node a kernel in tiles? */
bool fusion_is_tiled(const struct graph *g, uint32_t v);
/* Is it a kernel that gives the several results of one instruction? */
bool fusion_gives_several(const struct graph *g, uint32_t v);

/* Is it either of the two? */
bool fusion_is_beyond_choices(const struct graph *g, uint32_t v);

/* Counts the groups of a configuration, and those with more than one member (fusions). */
void fusion_count(struct space *s, const uint8_t *config, uint32_t *groups, uint32_t *fusions);

#endif
