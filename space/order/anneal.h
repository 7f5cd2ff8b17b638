/*
 * anneal.h - improves one order by annealing: moves pull steps to the front or push them to the back.
 *
 * A pull puts a step some places earlier, and takes along those of its ancestors that it would pass. A push puts a step
 * later, and takes along those of its descendants that it would pass. So every order stays legal, and a move changes
 * only the window between the two places.
 *
 * At least half of the moves take any step. The distance is drawn so that every scale is equally likely. The others are
 * aimed at the peak. Such a move picks one of the positions where most bytes are alive, and one of the values that are
 * alive there, a large one more likely than a small one. It pushes the value's maker behind that position, or pulls the
 * value's last reader in front of it. A move takes as long as its window, so moves of more than some hundred steps are
 * drawn less often, in proportion to their length.
 *
 * A move that lowers the heat (course.h) is taken. Another move is taken with a probability that falls with the heat
 * that it adds, and with time.
 *
 * Who looks at an order sees the bytes at each of its steps. Moves whose windows do not overlap say nothing of each
 * other: all of them can be made in one order, and each is judged by the steps of its own window, as if it had been
 * made alone. So where orders are counted (`apart`), as many such moves as are soon found are one order looked at.
 */
#ifndef SPACE_ORDER_ANNEAL_H
#define SPACE_ORDER_ANNEAL_H

#include <stdbool.h>
#include "base/rng.h"
#include "space/order/course.h"

#define ANNEAL_HOT 3e-3 /* temperatures at the beginning and at the end, as a share of the peak */
#define ANNEAL_COLD 1e-5

struct anneal {
	struct course *course;
	struct rng *rng;
	uint8_t *mark;		/* scratch for anneal_move */
	uint32_t *sequence, widest; /* the window of the last move; the longest distance of a move that is not aimed */
	uint32_t *free_step, n_free; /* steps that make or read something */
	struct {
		uint32_t at;	 /* the position that moves are aimed at */
		uint32_t *value; /* the values that are alive there */
		uint32_t n;	 /* aimed moves: two for each value, of its maker and of its last reader */
		double *up_to;	 /* the weights with which moves are drawn, as running sums */
		double share;	 /* the share of all moves that are aimed */
	} aim;
	uint64_t moves, taken;
	bool apart;		/* orders are counted, so moves that lie apart share one */
	uint64_t orders;	/* orders looked at; without `apart`, one for each move */
	uint32_t most;		/* the most moves in one order; 0: no limit */
	uint32_t *seen, now;	/* per position: the last order with a move there; the number of the present order */
};

/* Borrows both: they must live as long as the struct. */
void anneal_init(struct anneal *k, struct course *c, struct rng *r);
/* Is there a step whose position matters? If not, there is no move to draw. */
bool anneal_can(const struct line *l);
void anneal_release(struct anneal *k);
/* Looks at so many orders at a temperature (`warmth`, a share of the peak). The course then has the new order. */
void anneal_moves(struct anneal *k, uint32_t orders, double warmth);
/* Counts an order, and forgets which moves it had: the next move is one of another order. */
void anneal_fresh(struct anneal *k);
/* Picks one of the worst positions of the present order, at which anneal_next aims from now on. */
void anneal_aim(struct anneal *k);
/* Draws a move and counts it, but does not make it. The result is anneal_move's; the sequence is in k->sequence. */
uint32_t anneal_next(struct anneal *k, uint32_t *first);

/* Draws by how many places a step is to move; negative: to the front. */
int64_t anneal_distance(struct anneal *k);

/*
 * Computes what moving a step by `far` places (negative: to the front) would change: the window's first position in
 * *first, and its new sequence in `out`, which needs room for all steps. Returns the length of the window; 0: nothing
 * would change. `mark` has a byte for each step, all zero before and after.
 */
uint32_t anneal_move(const struct course *c, uint32_t step, int64_t far, uint8_t *mark, uint32_t *out, uint32_t *first);

#endif
