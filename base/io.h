/*
 * io.h - files and pipes, whole or not at all.
 *
 * Every system call that can be short or interrupted is finished here, and every one of them can be
 * made to fail on purpose: io_fail_at(n, code) makes the n-th call counted from now (0 is the next)
 * fail with that errno, which is how tests walk through all error paths.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"
#include "base/err.h"

/* n bytes exactly: 1 when read, 0 at a clean end before the first byte, -1 on error or a short end. */
int io_read_full(int fd, void *p, size_t n, struct err *err);
int io_write_full(int fd, const void *p, size_t n, struct err *err);

/*
 * A whole regular file (or "-", standard input) appended to `out`. A zstd or gzip file, told by
 * its first bytes, is opened transparently. Refuses directories and what is, unpacked, above `limit` bytes.
 */
int io_read_file(const char *path, size_t limit, struct buf *out, struct err *err);
/* The limit for programs (graphs, models) from disk: 1 GiB. */
#define IO_FILE_LIMIT ((size_t)1 << 30)

/* Writes beside the path, syncs, renames over it: readers see the old file or the new one. */
int io_write_file(const char *path, const void *p, size_t n, struct err *err);

/* mkdir -p. */
int io_make_dir(const char *path, struct err *err);
/* rm -r of a folder we made; silently fine when absent. */
int io_remove_tree(const char *path, struct err *err);
bool io_exists(const char *path);

/* zstd at `level` (0: the default, 3); unpack takes gzip too, and never makes more than `limit` bytes. */
void io_pack(const void *p, size_t n, int level, struct buf *out);
/*
 * A hash that tells files apart without reading them whole: of their size and of parts spread over them. For large
 * files that are made anew as a whole (libraries), not for those that are edited in places.
 */
int io_fingerprint(const char *path, uint64_t *hash, struct err *err);
int io_unpack(const void *p, size_t n, size_t limit, struct buf *out, struct err *err);
bool io_is_packed(const void *p, size_t n);

/* Failure injection for tests; n < 0 turns it off. Returns how many calls were counted so far. */
long io_fail_at(long n, int code);

#endif
