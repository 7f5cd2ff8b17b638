/*
 * compact.h - smaller ids, for a compiler that makes a list as long as the largest one.
 *
 * XLA keeps the instructions of a computation in a list. An instruction's place there is the low half of its id
 * (ids.h), and every pass walks all places, also those that are empty. In older programs ids count through the module.
 * So a training step of a T5 that JAX 0.4.35 exported has 29,336 instructions and 29 million places, and XLA:CPU spent
 * more than half of the time of compiling it on empty ones.
 *
 * Here the low half of each id becomes its rank among the ids of its computation. Ranks have the order of the ids, and
 * nothing else in a module depends on ids, so the compiler makes the same decisions.
 *
 * The module keeps its length. A smaller number is written into the bytes of the larger one, which protobuf allows.
 */
#ifndef HLO_COMPACT_H
#define HLO_COMPACT_H

#include "base/buf.h"

/*
 * Appends the module with such ids. False, with nothing appended, if fewer than half of the places are empty, or if the
 * module is broken.
 */
bool compact_ids(const void *module, size_t n, struct buf *out);

#endif
