/*
 * course.h - one order of a line, with the bytes alive at every step, and what moving a few steps would change.
 *
 * A move takes the steps of a window of the order and puts them in another sequence. What is alive before and after the
 * window stays as it is, so it costs what the window holds, not what the program holds. The window is walked from its
 * end to its beginning: the first reader of a value that is met is its last one.
 *
 * Two figures. The peak is what is wanted, but it is flat: most moves do not touch the worst step. `heat` is what a
 * search goes down instead: the sum over all steps of (bytes / scale) ^ COURSE_POWER. The worst steps make most of it,
 * the others little, so that lowering one of several equal peaks is progress.
 *
 *	course_init(&c, line, order)
 *	course_try(&c, first, n, sequence)	the window order[first ... first+n-1] in that sequence: c.trial
 *	course_take(&c)				makes the last trial the order
 */
#ifndef SPACE_ORDER_COURSE_H
#define SPACE_ORDER_COURSE_H

#include "space/order/line.h"

#define COURSE_POWER 16

struct course {
	const struct line *line;
	uint32_t *order, *place;      /* steps in order; per step its position */
	uint64_t *bytes;	      /* per position */
	uint32_t *last;		      /* per value: its last reader, or its maker where there is none */
	double *warm;		      /* per position: its share of heat */
	double heat, scale;
	uint64_t *block;	      /* per COURSE_BLOCK positions: the largest bytes */
	uint32_t n_blocks;
	struct {
		uint32_t first, n;
		uint32_t *step;	  /* the sequence tried */
		uint64_t *bytes;
		double *warm;
		double heat;	  /* of the whole order after it */
		uint64_t peak;	  /* of the window after it */
	} trial;
	uint32_t *met, turn;	      /* per value: the walk that met it last */
	struct line_pair *undo;	      /* values and the last readers they had before the trial */
	uint32_t n_undo;
	uint64_t taken;		      /* since the sum was made anew */
};
#define COURSE_BLOCK 64

void course_init(struct course *c, const struct line *l, const uint32_t *order);
void course_release(struct course *c);
/* Another order from the beginning; `scale` of heat is its peak. */
void course_set(struct course *c, const uint32_t *order);
/* `sequence`: the same steps as in the window, each after those it must; it may not be in the course's own arrays. */
void course_try(struct course *c, uint32_t first, uint32_t n, const uint32_t *sequence);
void course_take(struct course *c);
uint64_t course_peak(const struct course *c);
/* The peak, and a little more the more steps come near it: the root of heat. */
double course_soft(const struct course *c);
/* The first position at which that much is alive; the number of steps where none is. */
uint32_t course_where(const struct course *c, uint64_t bytes);

#endif
