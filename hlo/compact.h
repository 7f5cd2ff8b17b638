/*
 * compact.h - smaller ids, for a compiler that makes a list as long as the largest one.
 *
 * XLA keeps the instructions of a computation in a list in which an instruction's place is the low half of its id
 * (ids.h), and every pass walks all places. In older programs ids count through the module: a computation of three
 * instructions near its end gets a list of thirty thousand places, all empty but three, and there are a thousand such
 * computations. Then most of the time of compiling such a program, and of loading what was compiled, goes into empty
 * places.
 *
 * Here the low half of each id becomes its rank among those of its computation. The order of instructions stays
 * what it was, and nothing else in a module depends on ids, so the compiler makes the same decisions.
 *
 * Nothing moves: a smaller number is written into the bytes of the larger one, which protobuf allows.
 */
#ifndef HLO_COMPACT_H
#define HLO_COMPACT_H

#include <stdbool.h>
#include <stddef.h>

/* Is at least every other place empty, and can the gaps be closed? False for broken modules. */
bool compact_pays(const void *module, size_t n);
/* Changes the module in place. Only where it pays. */
void compact_ids(void *module, size_t n);

#endif
