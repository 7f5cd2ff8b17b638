/*
 * anneal.h - annealing of one order: steps are pulled forward or pushed back, with what must come along.
 *
 * A pull takes a step and puts it some places earlier; its ancestors on the way go with it. A push puts it later, and
 * its descendants go with it. So every move is legal, and a move changes only the window between the two places.
 *
 * Half of the moves are of any step, and how far is drawn so that every scale is as likely as another. The others are
 * aimed at the peak: of the values that are alive at one of the worst positions, a large one is more likely than a
 * small one to be made only after it (its maker is pushed), or to be gone before it (its last reader is pulled). A move
 * costs what it spans, so those that span more than some hundred steps are drawn the less often the more they span.
 *
 * A move is taken if it lowers the heat (course.h), and with a probability that falls with what it costs and with time
 * if it does not.
 */
#ifndef SPACE_ORDER_ANNEAL_H
#define SPACE_ORDER_ANNEAL_H

#include "base/rng.h"
#include "space/order/course.h"

#define ANNEAL_HOT 3e-3 /* temperatures at the beginning and the end, as a share of the peak */
#define ANNEAL_COLD 1e-5

struct anneal {
	struct course *course;
	struct rng *rng;
	uint8_t *mark;
	uint32_t *sequence, widest;
	uint32_t *free_step, n_free; /* steps that make or read something */
	struct {
		uint32_t at;	 /* the position that moves are aimed at */
		uint32_t *value; /* what is alive there */
		uint32_t n;	 /* moves: two for each, of its maker and of its last reader */
		double *up_to;	 /* what these are worth, summed */
		double share;	 /* of the moves that are to be such */
	} aim;
	uint64_t moves, taken;
};

/* Borrows both. */
void anneal_init(struct anneal *k, struct course *c, struct rng *r);
void anneal_release(struct anneal *k);
/* `warmth`: the temperature. */
void anneal_moves(struct anneal *k, uint32_t moves, double warmth);
/* Takes aim at one of the worst positions of the order as it is. */
void anneal_aim(struct anneal *k);
/* Draws a move: its window as anneal_move gives it, in k->sequence. Counts it. */
uint32_t anneal_next(struct anneal *k, uint32_t *first);

/* Places that a step is to be moved, negative to the front. */
int64_t anneal_distance(struct anneal *k);

/*
 * The window that moving a step by `far` places (to the front where negative) changes: its first position, its length,
 * and its new sequence in `out` (room for as many). 0: nothing would change. `mark`: n bytes, all zero, left so.
 */
uint32_t anneal_move(const struct course *c, uint32_t step, int64_t far, uint8_t *mark, uint32_t *out, uint32_t *first);

#endif
