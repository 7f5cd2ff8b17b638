/*
 * widen.h - a program that computes in 64 bits what another one computes in fewer.
 */
#ifndef HLO_WIDEN_H
#define HLO_WIDEN_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Appends the module (any form that hlo_unpack reads) with all floats inside it widened. It takes what the program
 * takes and gives results of the same types. -1 with a sentence that has `name`.
 */
int hlo_widen(const void *p, size_t n, const char *name, struct buf *out, struct err *err);

#endif
