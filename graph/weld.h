/*
 * weld.h - makes one kernel of small ones that run one after the other.
 *
 * A compiler that starts each kernel by itself spends its time on starting where kernels are small: a kernel that adds
 * a hundred numbers takes less time than it takes to start it, and on several cores starting is dearer still. XLA:CPU
 * compiles a call as one function, loops, branches and all, if the call says so in a frontend attribute. By itself it
 * does that to loops that move less than 1,024 bytes a turn. Here it is decided anew, for the program as it is after
 * fusion, and for more than loops: whatever stands in a row and is small enough.
 *
 * Instructions are put in an order with long rows: all that can be welded and is ready, then all else that is ready,
 * and so on. A row ends where it would move more than so many bytes. A loop that cannot be welded as a whole (a sort in
 * it, or a library's kernel) has rows inside.
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
};

/*
 * Appends the module, a program after fusion, with its small kernels welded; or nothing, with zeros in *w, if there are
 * none to weld. -1 if it cannot be read.
 */
int weld(const void *module, size_t n, const struct welding *how, struct buf *out, struct welded *w, struct err *err);

#endif
