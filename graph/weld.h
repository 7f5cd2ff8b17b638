/*
 * weld.h - makes one kernel of small ones that run one after the other.
 *
 * XLA:CPU starts each kernel by itself, which can take longer than a small kernel does. It compiles a call as one
 * kernel, loops and branches included, if the call has a certain frontend attribute. By itself it makes such calls of
 * loops that move less than 1,024 bytes a turn. Here that is decided anew, after fusion, for loops and for rows: small
 * instructions that run one after the other.
 *
 * Instructions are put in an order that makes rows long: all that can be welded and is ready, then all else that is
 * ready, and so on. A row ends where it would move more than so many bytes. A loop that cannot be welded as a whole,
 * such as one with a sort in it, has rows inside.
 *
 * What it computes stays the same; how it is computed does not: the compiler has another generator of code for such
 * calls, and what ran side by side runs one after the other. So it has to be measured.
 */
#ifndef GRAPH_WELD_H
#define GRAPH_WELD_H

#include "base/buf.h"
#include "base/err.h"

struct welding {
	const char *tag; /* the frontend attribute that asks the compiler for one kernel */
	double most;	 /* the bytes that one such kernel may move in one run, a turn for each loop in it */
};
struct welded {
	uint32_t kernels, into; /* so many kernels became so many */
	double starts;		/* so many fewer are started in a run, as far as turns of loops are known */
};

/*
 * Appends the module, a program after fusion, with its small kernels welded; or nothing, with zeros in *w, if there are
 * none to weld. -1 if it cannot be read.
 */
int weld(const void *module, size_t n, const struct welding *how, struct buf *out, struct welded *w, struct err *err);

#endif
