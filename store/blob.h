/*
 * blob.h - keeps large bytes by their content (SHA-256), packed with zstd, each once. Only for store/.
 */
#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include "base/hash.h"
#include "store/sql.h"

#define BLOB_LIMIT ((size_t)900 << 20) /* SQLite's own limit is 10^9 bytes a row */

/* Adds the bytes unless they are there, and reads back what was written. */
int blob_put(struct store *s, const void *p, size_t n, int level, int64_t *id, struct err *err);
/* Appends the bytes to out, checked against their hash; `hash` may be NULL. */
int blob_get(struct store *s, int64_t id, struct buf *out, struct digest *hash, struct err *err);

#endif
