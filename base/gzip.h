/*
 * gzip.h - gzip data, unpacked. Only io.c calls this; programs use io.h.
 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"

bool gzip_is(const void *p, size_t n);
/* Appends what is packed in all members of the file; more than `limit` bytes are refused. */
int gzip_unpack(const void *p, size_t n, size_t limit, struct buf *out, struct err *err);

#endif
