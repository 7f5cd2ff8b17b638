/*
 * layouts.h - what people would have done by hand, priced before a search begins.
 *
 * For kinds whose starts are such (space_ops.by_hand) each start is compiled and priced. The best of them that keeps the
 * limits becomes the default: the search begins there, and what it finds must beat that, not the program with nothing
 * decided. Beside the price stands what each device holds, and what devices send each other, by kind of exchange.
 */
#ifndef SEARCH_LAYOUTS_H
#define SEARCH_LAYOUTS_H

#include "base/json.h"
#include "graph/collective.h"
#include "lab/lab.h"

#define LAYOUTS_MOST 16

struct layout_row {
	const char *name;
	enum outcome outcome;
	double cost;	/* of the objective */
	double bytes;	/* that a device needs; 0: not known */
	double excess;	/* how far it is beyond the limits, 0: within */
	struct exchanges exchanges;
};

struct layouts { /* all zero: the kind has none */
	enum quantity quantity;
	const char *called; /* one of them */
	uint32_t n, best;
	struct layout_row row[LAYOUTS_MOST];
	bool found;		 /* the last row is what the search found */
	uint32_t labels;
};

/* Prices the starts, and makes the best the default. Nothing where the space's starts are not made by hand. */
int layouts_price(struct layouts *l, struct lab *lab, struct device *d, struct err *err);
/* Adds what was found. */
int layouts_add_found(struct layouts *l, struct lab *lab, struct device *d, const uint8_t *config, double cost, struct err *err);

void layouts_json(const struct layouts *l, struct json *j);
void layouts_text(const struct layouts *l, struct buf *out);
void layouts_page(const struct layouts *l, struct buf *out);

#endif
