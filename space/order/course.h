/*
 * course.h - keeps one order of a line (line.h) with the bytes that are alive at every step, and computes what moving a
 * few steps would change.
 *
 * A move puts the steps of a window of the order in another sequence. What is alive before and after the window stays
 * the same, so a move takes as long as its window, not as long as the program. The window is walked from its end to its
 * beginning: the first reader of a value that we meet is its last reader.
 *
 * There are two figures. The peak, the most bytes that are alive at a step, is what should become small. But most moves
 * do not touch the worst step, so the peak does not tell a search where to go. `heat` does: it is the sum over all
 * steps of (bytes / scale) ^ COURSE_POWER. The worst steps make most of it and the others little, so a move that lowers
 * one of several equal peaks lowers the heat.
 *
 *	course_init(&c, line, order)
 *	course_try(&c, first, n, sequence)	tries the window order[first ... first+n-1] in that sequence: c.trial
 *	course_take(&c)				keeps the last trial
 */
#ifndef SPACE_ORDER_COURSE_H
#define SPACE_ORDER_COURSE_H

#include "space/order/line.h"

#define COURSE_POWER 16

struct course {
	const struct line *line;
	uint32_t *order, *place;      /* the steps in order; per step its position */
	uint64_t *bytes;	      /* per position: the bytes alive */
	uint32_t *last;		      /* per value: its last reader, or its maker if there is none */
	double *warm;		      /* per position: its summand of heat */
	double heat, scale;
	uint64_t *block;	      /* per COURSE_BLOCK positions: the most bytes at one of them */
	uint32_t n_blocks;
	struct {
		uint32_t first, n;
		uint32_t *step;	  /* the sequence tried */
		uint64_t *bytes;
		double *warm;
		double heat;	  /* of the whole order with this window */
		uint64_t peak;	  /* of the window alone */
	} trial;
	uint32_t *met, walk;	      /* per value: the last walk that met it; the number of the present walk */
	struct line_pair *undo;	      /* values, and their last readers before the trial */
	uint32_t n_undo;
	uint64_t taken;		      /* trials taken since heat was last summed anew */
};
#define COURSE_BLOCK 64

void course_init(struct course *c, const struct line *l, const uint32_t *order);
void course_release(struct course *c);
/* Takes another order, and computes everything anew. `scale` becomes its peak. */
void course_set(struct course *c, const uint32_t *order);
/*
 * Tries a window in another sequence; the result is in c->trial. `sequence` has the same steps as the window, each
 * after those it must come after. It may not lie in the course's own arrays.
 */
void course_try(struct course *c, uint32_t first, uint32_t n, const uint32_t *sequence);
/* Makes the last trial the order. */
void course_take(struct course *c);
/* The most bytes that are alive at a step. */
uint64_t course_peak(const struct course *c);
/* Forgets the last trial, unless it was taken. */
void course_forget(struct course *c);
/* The bytes that live on behind a position. No trial may be open: it was taken or forgotten. */
uint64_t course_behind(const struct course *c, uint32_t p);
/* A smooth stand-in for the peak, a little above it if many steps come near it: the root of heat. */
double course_soft(const struct course *c);
/* Returns the first position at which so many bytes are alive; the number of steps if there is none. */
uint32_t course_where(const struct course *c, uint64_t bytes);

#endif
