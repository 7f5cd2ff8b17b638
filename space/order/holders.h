/*
 * holders.h - what lives in temporary memory where a program needs most of it: what people ask first.
 */
#ifndef SPACE_ORDER_HOLDERS_H
#define SPACE_ORDER_HOLDERS_H

#include "space/order/program.h"

struct holder {
	const char *name;  /* of the instruction that makes it; for what a call needs inside, of the call */
	const char *shape; /* "f32[8,128]"; "" for the inside of a call */
	const char *op;	   /* what the user's program calls it; "" if it does not say */
	const char *file;  /* and where it says so; "" */
	int line;
	uint64_t bytes;
	bool inside;
};

struct holders { /* all zero is empty */
	struct holder *v;
	uint32_t n;
	uint64_t bytes, at, steps; /* of the peak; its step in the entry, of how many */
	const char *step;	   /* the instruction that runs there */
	struct arena mem;
};

/* Of the entry of a settled program, the largest first. */
void holders_find(struct holders *h, struct program *p);
void holders_release(struct holders *h);
/* For people: a line for each of the first `most`. */
void holders_text(const struct holders *h, uint32_t most, struct buf *out);

#endif
