/*
 * stopper.h - makes a compiler stop before it generates code, after it has arranged the program in memory.
 *
 * Most of the time of compiling goes into generating code. To learn only how the compiler arranges a program in memory,
 * we add a call that nobody implements: XLA dumps the arranged program and then fails at the call. The call has no
 * operands and no readers, makes 4 bytes, and has a side effect, so that it is not dropped.
 */
#ifndef HLO_STOPPER_H
#define HLO_STOPPER_H

#include <stddef.h>
#include "base/buf.h"
#include "base/err.h"

/*
 * Appends the module (any form that hlo_unpack reads) with the call, or without it. -1 with a sentence that has `name`.
 */
int stopper_add(const void *p, size_t n, const char *name, struct buf *out, struct err *err);
int stopper_drop(const void *p, size_t n, const char *name, struct buf *out, struct err *err);

#endif
