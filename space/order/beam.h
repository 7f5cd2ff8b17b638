/*
 * beam.h - puts the steps around the worst place of an order in another sequence, by a search that keeps many partial
 * sequences at once.
 *
 * Annealing makes one move after another. Where several steps must change places together, each move alone makes the
 * order worse, and annealing rarely makes them all. Here all sequences of a window that stay near the present one are
 * looked at together, as far as the width allows. Only what stays below the given bytes is kept, so dead ends cost
 * little.
 */
#ifndef SPACE_ORDER_BEAM_H
#define SPACE_ORDER_BEAM_H

#include <stdbool.h>
#include "space/order/course.h"

#define BEAM_WINDOW 384 /* the most steps of a window */

struct beam_options {
	uint32_t width;	/* partial sequences that are kept */
	uint32_t near;	/* a step may run before others if it is fewer places than this behind the first of them */
	bool backwards;	/* sequences grow from the window's end to its beginning */
	uint64_t below; /* bytes: every step of the window must need fewer */
};

/*
 * Looks for a better sequence of the window around a position of the course's order. If there is one, it is the
 * course's last trial (course_take makes it the order), and the answer is true. Adds what it looked at to *orders: one
 * for as many steps as the line has, run in partial sequences; so never more than the width.
 */
bool beam_search(struct course *c, uint32_t at, const struct beam_options *o, double *orders);
struct beam_press { /* begin with all zero but `widest` */
	uint32_t widest; /* the most partial sequences in a beam, 1 or more; it may change */
	struct beam_options o;
	uint32_t vain; /* searches in vain since the last that found something */
};
/*
 * Makes one search for an order with a smaller peak, and takes what it finds. The next search after one in vain is from
 * the other end, and then with a wider beam. Returns false if there is none left.
 */
bool beam_press(struct course *c, struct beam_press *k, double *orders);

#endif
