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

/* Reads exactly n bytes. Returns 1, or 0 when the file ends before the first byte, or -1 on error or an early end. */
int io_read_full(int fd, void *p, size_t n, struct err *err);
int io_write_full(int fd, const void *p, size_t n, struct err *err);

/*
 * Appends a whole file (or "-", standard input) to `out`. A pipe that was read is remembered (taken.h). A zstd or gzip
 * file, told by its first bytes, is unpacked. Refuses directories, and files of more than `limit` bytes, packed or
 * unpacked.
 */
int io_read_file(const char *path, size_t limit, struct buf *out, struct err *err);
/* The limit for programs (graphs, models) from disk: 1 GiB. */
#define IO_FILE_LIMIT ((size_t)1 << 30)

/* Writes a new file beside `path`, syncs it and renames it to `path`: readers see the old file or the new one. */
int io_write_file(const char *path, const void *p, size_t n, struct err *err);
/*
 * Makes an empty file beside `path`, of a name that no file has, for what is renamed to `path` when it is whole, or is
 * not kept. Returns its descriptor, to write only, and its name, which the caller frees; -1 with a sentence.
 */
int io_open_neighbour(const char *path, char **name, struct err *err);
/* Could io_write_file write there? -1 with its sentence: for what would be known only after hours. Leaves no file. */
int io_may_write(const char *path, struct err *err);
/* Is there something that is no file, and is written in place (a pipe, /dev/null)? 1 yes, 0 no, -1 it is a folder. */
int io_in_place(const char *path, struct err *err);
int io_write_in(const char *folder, const char *name, const void *p, size_t n, struct err *err); /* FOLDER/NAME */

/* Writes the text to standard output, all of it or -1 with a sentence: the disk may be full, or the reader gone. */
int io_print(const struct buf *text, struct err *err);

int io_remove_in(const char *folder, const char *name, struct err *err); /* no error when there is none */

/* mkdir -p. */
int io_make_dir(const char *path, struct err *err);
/* rm -r of a folder that we made; no error when there is none. */
int io_remove_tree(const char *path, struct err *err);
bool io_exists(const char *path);

/*
 * A hash of a file's size and of parts spread over it: it tells files apart without reading them whole. It is meant for
 * large files that are always written as a whole (libraries), not for files that are edited in places.
 */
int io_fingerprint(const char *path, uint64_t *hash, struct err *err);

/* Packs with zstd at `level` (0: the default, 3). io_unpack takes gzip too, and never makes more than `limit` bytes. */
void io_pack(const void *p, size_t n, int level, struct buf *out);
int io_unpack(const void *p, size_t n, size_t limit, struct buf *out, struct err *err);
bool io_is_packed(const void *p, size_t n);

/* Failure injection for tests; n < 0 turns it off. Returns how many calls were counted so far. */
long io_fail_at(long n, int code);

#endif
