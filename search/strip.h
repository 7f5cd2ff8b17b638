/*
 * strip.h - what a program on several devices does at which time: a strip for the page of a search.
 *
 * Time goes by our model of the machine, which does one thing after another, in the order of the program. The strip is
 * cut into equal pieces of time, and each piece shows what takes most of it.
 */
#ifndef SEARCH_STRIP_H
#define SEARCH_STRIP_H

#include "base/buf.h"
#include "device/device.h"
#include "graph/graph.h"

#define STRIP_PIECES 256
enum strip_what { STRIP_PRODUCT, STRIP_EXCHANGE, STRIP_REST, STRIP_WHATS };

struct strip { /* all zero: nothing is known */
	double sum[STRIP_WHATS]; /* seconds */
	uint8_t piece[STRIP_PIECES];
};

/* Leaves it empty if the device's estimator does not say what each instruction takes. */
void strip_read(struct strip *s, const struct graph *g, const struct device_info *device);
double strip_seconds(const struct strip *s);
/* Appends a row of a table: the name, and the strip, as wide as its time is of `longest`. Nothing for an empty one. */
void strip_draw(const struct strip *s, const char *name, double longest, struct buf *out);

#endif
