/*
 * stopper.h - a program that a compiler optimises, schedules and lays out in memory, and then gives up on.
 *
 * Generating code is most of compiling. Whoever only wants to know how the compiler arranges a program in memory adds a call
 * of something that nobody implements: XLA writes its dump of the arranged program, and fails at that call. The call takes
 * nothing, is read by nobody, has a side effect so that it stays, and makes 4 bytes.
 */
#ifndef HLO_STOPPER_H
#define HLO_STOPPER_H

#include <stddef.h>
#include "base/buf.h"
#include "base/err.h"

/* Appends the module (any form that hlo_unpack reads) with the call, or without it. -1 with a sentence that has `name`. */
int stopper_add(const void *p, size_t n, const char *name, struct buf *out, struct err *err);
int stopper_drop(const void *p, size_t n, const char *name, struct buf *out, struct err *err);

#endif
