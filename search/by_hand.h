/*
 * by_hand.h - prices what people would have decided by hand, before a search begins.
 *
 * The starts of some kinds are what people do by hand (space_ops.by_hand). Each is compiled and priced. The best of
 * them that keeps the limits becomes the default: the search begins there and must beat it. The table has the price of
 * each start, the bytes that a device holds, and the bytes that devices send each other. If none of them fits on the
 * device, the search begins at the first scheme that does (fits.h).
 */
#ifndef SEARCH_BY_HAND_H
#define SEARCH_BY_HAND_H

#include "base/json.h"
#include "graph/collective.h"
#include "lab/lab.h"
#include "search/strip.h"

#define BY_HAND_MOST 16

struct by_hand_row {
	const char *name;
	enum outcome outcome;
	double cost;	/* of the objective */
	double bytes;	/* that a device needs; 0: not known */
	double excess;	/* how far it is beyond the limits, 0: within */
	struct exchanges exchanges;
	struct strip strip; /* what it does when */
};

struct by_hand { /* all zero: the kind has none */
	enum quantity quantity;
	const char *called; /* one of them */
	uint32_t n, best;
	struct by_hand_row row[BY_HAND_MOST];
	bool found;		 /* the last row is what the search found */
	uint32_t labels;
};

/* Prices the starts, and makes the best the default. Does nothing if the kind's starts are not made by hand. */
int by_hand_price(struct by_hand *l, struct lab *lab, struct device *d, struct err *err);
/* Prices one configuration; the row's name is set already. */
int by_hand_row_price(struct by_hand_row *r, struct lab *lab, struct device *d, const uint8_t *config, struct err *err);
/* Does it run where the other does not, or come nearer to the limits, or cost less? */
bool by_hand_is_better(const struct by_hand_row *a, const struct by_hand_row *b);
/* Adds what was found. */
int by_hand_add_found(struct by_hand *l, struct lab *lab, struct device *d, const uint8_t *config, double cost,
	struct err *err);

void by_hand_json(const struct by_hand *l, struct json *j);
void by_hand_text(const struct by_hand *l, struct buf *out);
void by_hand_page(const struct by_hand *l, struct buf *out);

#endif
