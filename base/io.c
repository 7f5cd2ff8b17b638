/*
 * io.c - files, whole or not at all.
 *
 * Every system call goes through a wrapper that first asks `fails()`: it counts the call and, for
 * the one that io_fail_at picked, pretends the system refused it. The price otherwise is one atomic
 * addition, nothing beside a system call. close() after writing is checked, because a full disk
 * may only be reported there; close() after reading is not, because nothing can be lost.
 *
 * io_write_file writes into a neighbour named *.tmp, syncs it, renames it over the path and syncs
 * the folder: after a power cut there is the old file or the new one. What is not a regular file
 * (/dev/stdout, a pipe) cannot be replaced by renaming, so it is written in place.
 *
 * Packed data is unpacked in pieces, so the memory follows the data that is really there, not the
 * size that a header claims.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "base/gzip.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/taken.h"

static atomic_long calls, fail_call = -1;
static atomic_int fail_code;

long io_fail_at(long n, int code)
{
	atomic_store(&fail_call, -1);
	long counted = atomic_exchange(&calls, 0);
	atomic_store(&fail_code, code);
	atomic_store(&fail_call, n);
	return counted;
}

static bool fails(void)
{
	if (atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) != atomic_load(&fail_call))
		return false;
	errno = atomic_load(&fail_code);
	return true;
}

/* open(), tried again when a signal interrupts it. */
static int open_file(const char *path, int flags, mode_t mode)
{
	int fd;
	do
		fd = fails() ? -1 : open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

static int close_file(int fd)
{
	int rc = close(fd); /* closed even when it reports an error */
	return fails() ? -1 : rc;
}

static ssize_t read_some(int fd, void *p, size_t n)
{
	ssize_t got;
	do
		got = fails() ? -1 : read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static ssize_t write_some(int fd, const void *p, size_t n)
{
	ssize_t put;
	do
		put = fails() ? -1 : write(fd, p, n);
	while (put < 0 && errno == EINTR);
	return put;
}

int io_read_full(int fd, void *p, size_t n, struct err *err)
{
	size_t done = 0;
	while (done < n) {
		ssize_t got = read_some(fd, (char *)p + done, n - done);
		if (got < 0)
			return err_errno(err, "reading failed");
		if (got == 0 && done == 0)
			return 0;
		if (got == 0)
			return err_set(err, "ended after %zu of %zu bytes", done, n);
		done += (size_t)got;
	}
	return 1;
}

int io_write_full(int fd, const void *p, size_t n, struct err *err)
{
	size_t done = 0;
	while (done < n) {
		ssize_t put = write_some(fd, (const char *)p + done, n - done);
		if (put < 0)
			return err_errno(err, "writing failed after %zu of %zu bytes", done, n);
		done += (size_t)put;
	}
	return 0;
}

/* Reads to the end of fd, in pieces that double; `expect` is a first guess at the size. */
static int read_all(int fd, size_t expect, size_t limit, struct buf *out, struct err *err)
{
	size_t start = out->len;
	if (expect > limit)
		return err_set(err, "has %zu bytes, more than the limit of %zu", expect, limit);
	for (size_t piece = expect + 1;; piece = out->len - start < 65536 ? 65536 : out->len - start) {
		if (out->cap - out->len < 2)
			buf_reserve(out, piece);
		ssize_t got = read_some(fd, out->data + out->len, out->cap - out->len - 1);
		if (got < 0)
			return err_errno(err, "cannot be read");
		if (got == 0)
			break;
		out->len += (size_t)got;
		if (out->len - start > limit)
			return err_set(err, "is longer than the limit of %zu bytes", limit);
	}
	buf_reserve(out, 0);
	return 0;
}

static int read_fd(int fd, size_t limit, struct buf *out, struct err *err)
{
	struct stat st;
	if (fails() || fstat(fd, &st) < 0)
		return err_errno(err, "cannot be examined");
	if (S_ISDIR(st.st_mode))
		return err_set(err, "is a directory, not a file");
	size_t expect = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
	return read_all(fd, expect, limit, out, err);
}

/* Replaces the bytes from `start` on with what they unpack to. */
static int unpack_tail(struct buf *out, size_t start, size_t limit, struct err *err)
{
	struct buf packed = {0};
	buf_add(&packed, out->data + start, out->len - start);
	out->len = start;
	int rc = io_unpack(packed.data, packed.len, limit, out, err);
	buf_release(&packed);
	return rc;
}

int io_read_file(const char *path, size_t limit, struct buf *out, struct err *err)
{
	bool in = strcmp(path, "-") == 0;
	const char *name = in ? "standard input" : path;
	size_t start = out->len;
	int fd = in ? STDIN_FILENO : open_file(path, O_RDONLY, 0);
	if (fd < 0)
		return err_errno(err, "%s: cannot be opened", name);
	struct taken *known = taken_find(fd);
	int rc = in && known ? 0 : read_fd(fd, limit, out, err);
	if (rc == 0 && out->len > start && io_is_packed(out->data + start, out->len - start))
		rc = unpack_tail(out, start, limit, err);
	if (rc == 0 && out->len == start && known)
		buf_add(out, known->bytes.data, known->bytes.len);
	else if (rc == 0)
		taken_keep(known, fd, out->data + start, out->len - start);
	if (!in)
		close(fd);
	if (rc < 0) {
		out->len = start;
		if (out->data)
			out->data[start] = '\0';
		return err_prefix(err, "%s", name);
	}
	return 0;
}

/* Syncs the folder that holds `path`: a rename lasts only once its folder is on disk. */
static int sync_folder(const char *path)
{
	char *folder = mem_strdup(path), *slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	int fd = open_file(slash ? folder : ".", O_RDONLY | O_DIRECTORY, 0);
	mem_free(folder);
	if (fd < 0)
		return -1;
	int rc = fails() ? -1 : fsync(fd);
	int code = errno;
	close(fd);
	errno = code;
	/* Some file systems cannot sync a folder; then there is nothing more to do. */
	return rc < 0 && code != EINVAL && code != ENOTSUP ? -1 : 0;
}

static int write_and_close(int fd, const void *p, size_t n, bool sync, struct err *err)
{
	if (io_write_full(fd, p, n, err) < 0) {
		close(fd);
		return -1;
	}
	if (sync && (fails() || fsync(fd) < 0)) {
		err_errno(err, "cannot be brought to disk");
		close(fd);
		return -1;
	}
	return close_file(fd) < 0 ? err_errno(err, "cannot be closed") : 0;
}

static int write_in_place(const char *path, const void *p, size_t n, struct err *err)
{
	int fd = open_file(path, O_WRONLY, 0);
	if (fd < 0)
		return err_errno(err, "%s: cannot be opened for writing", path);
	return write_and_close(fd, p, n, false, err) < 0 ? err_prefix(err, "%s", path) : 0;
}

int io_open_neighbour(const char *path, char **name, struct err *err)
{
	static atomic_uint serial;
	for (;;) {
		struct buf b = {0};
		buf_addf(&b, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&serial, 1));
		int fd = open_file(b.data, O_WRONLY | O_CREAT | O_EXCL, 0666);
		*name = buf_detach(&b, NULL);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			err_errno(err, "%s: cannot be written", path);
		mem_free(*name);
		*name = NULL;
		if (errno != EEXIST)
			return -1;
	}
}

int io_in_place(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return err_set(err, "%s: is a directory, so no file can be written there", path);
	return !S_ISREG(st.st_mode);
}

int io_may_write(const char *path, struct err *err)
{
	char *name = NULL;
	int fd, in_place = io_in_place(path, err);

	if (in_place < 0)
		return -1;
	if (in_place)
		return access(path, W_OK) == 0 ? 0 : err_errno(err, "%s: cannot be opened for writing", path);
	if ((fd = io_open_neighbour(path, &name, err)) < 0)
		return -1;
	close(fd);
	unlink(name);
	mem_free(name);
	return 0;
}

int io_write_file(const char *path, const void *p, size_t n, struct err *err)
{
	int in_place = io_in_place(path, err);
	if (in_place)
		return in_place < 0 ? -1 : write_in_place(path, p, n, err);
	char *name = NULL;
	int rc = -1, fd = io_open_neighbour(path, &name, err);
	if (fd < 0)
		return -1;
	if (write_and_close(fd, p, n, true, err) < 0) {
		err_prefix(err, "%s", path);
		goto out;
	}
	if (fails() || rename(name, path) < 0) {
		err_errno(err, "%s: cannot be replaced", path);
		goto out;
	}
	rc = sync_folder(path) < 0 ? err_errno(err, "%s: its folder cannot be brought to disk", path) : 0;
out:
	if (rc < 0)
		unlink(name);
	mem_free(name);
	return rc;
}

static char *path_in(const char *folder, const char *name)
{
	size_t room = strlen(folder) + strlen(name) + 2;
	char *path = mem_alloc(room);

	snprintf(path, room, "%s/%s", folder, name);
	return path;
}

int io_write_in(const char *folder, const char *name, const void *p, size_t n, struct err *err)
{
	char *path = path_in(folder, name);
	int rc = io_write_file(path, p, n, err);

	mem_free(path);
	return rc;
}

int io_print(const struct buf *text, struct err *err)
{
	if (fwrite(text->data ? text->data : "", 1, text->len, stdout) != text->len || fflush(stdout) != 0)
		return err_errno(err, "standard output cannot be written");
	return 0;
}

int io_remove_in(const char *folder, const char *name, struct err *err)
{
	char *path = path_in(folder, name);
	int rc = 0;

	if (fails() || (unlink(path) < 0 && errno != ENOENT))
		rc = err_errno(err, "%s cannot be removed", path);
	mem_free(path);
	return rc;
}

static int make_one(const char *path, struct err *err)
{
	struct stat st;
	if (!fails() && mkdir(path, 0777) == 0)
		return 0;
	int code = errno;
	if (code == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		return err_set(err, "%s is a file, but a folder is wanted: name another one, or move the file", path);
	}
	errno = code;
	return err_errno(err, "folder %s cannot be made", path);
}

int io_make_dir(const char *path, struct err *err)
{
	char *part = mem_strdup(path);
	int rc = 0;
	for (char *s = part; rc == 0 && *s; s++) {
		if (*s != '/' || s == part)
			continue;
		*s = '\0';
		rc = make_one(part, err);
		*s = '/';
	}
	if (rc == 0)
		rc = make_one(part, err);
	mem_free(part);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	return fails() || remove(path) < 0 ? -1 : 0;
}

int io_remove_tree(const char *path, struct err *err)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
		return 0;
	return err_errno(err, "%s cannot be removed", path);
}

bool io_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

void io_pack(const void *p, size_t n, int level, struct buf *out)
{
	size_t bound = ZSTD_compressBound(n);
	buf_reserve(out, bound);
	size_t size = ZSTD_compress(out->data + out->len, bound, p, n, level ? level : 3);
	if (ZSTD_isError(size))
		BUG("zstd cannot pack %zu bytes: %s", n, ZSTD_getErrorName(size));
	out->len += size;
	out->data[out->len] = '\0';
}

/* Unpacks piece by piece until the input is used up and the last frame is complete. */
static int unpack_stream(ZSTD_DStream *stream, const void *p, size_t n, size_t limit, struct buf *out,
	struct err *err)
{
	ZSTD_inBuffer in = {p, n, 0};
	size_t start = out->len, hint = 1;
	while (in.pos < in.size || hint) {
		size_t got = out->len - start, piece = got < 65536 ? 65536 : got;
		if (piece > limit - got)
			piece = limit - got + 1; /* one byte beyond tells "full" from "too long" */
		buf_reserve(out, piece);
		ZSTD_outBuffer to = {out->data + out->len, piece, 0};
		size_t before = in.pos;
		hint = ZSTD_decompressStream(stream, &to, &in);
		if (ZSTD_isError(hint))
			return err_set(err, "damaged zstd data: %s", ZSTD_getErrorName(hint));
		out->len += to.pos;
		if (out->len - start > limit)
			return err_set(err, "unpacks to more than the limit of %zu bytes", limit);
		if (hint && to.pos < piece && in.pos == before)
			return err_set(err, "zstd data ends early, after %zu bytes", n);
	}
	buf_reserve(out, 0);
	return 0;
}

int io_fingerprint(const char *path, uint64_t *hash, struct err *err)
{
	enum { PLACES = 64, SIZE = 4096 };
	uint8_t *part = mem_alloc(SIZE);
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = fd < 0 || fstat(fd, &st) < 0 ? -1 : 0;
	uint64_t h = 0;

	for (off_t i = 0; i < PLACES && rc == 0; i++) {
		off_t at = st.st_size > SIZE ? (st.st_size - SIZE) / (PLACES - 1) * i : 0;
		ssize_t n = pread(fd, part, SIZE, at);

		rc = n < 0 ? -1 : 0;
		h = n < 0 ? h : hash64(part, (size_t)n, h);
	}
	if (rc < 0)
		err_errno(err, "%s cannot be read", path);
	else
		*hash = hash_mix(h, (uint64_t)st.st_size);
	if (fd >= 0)
		close(fd);
	mem_free(part);
	return rc;
}

static int unpack_zstd(const void *p, size_t n, size_t limit, struct buf *out, struct err *err)
{
	unsigned long long stated = ZSTD_getFrameContentSize(p, n);
	if (stated == ZSTD_CONTENTSIZE_ERROR)
		return err_set(err, "is not zstd data, or is cut off in its first bytes");
	if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated > limit)
		return err_set(err, "unpacks to %llu bytes, more than the limit of %zu", stated, limit);
	ZSTD_DStream *stream = ZSTD_createDStream();
	if (!stream)
		BUG("zstd gave no stream");
	int rc = unpack_stream(stream, p, n, limit, out, err);
	ZSTD_freeDStream(stream);
	return rc;
}

int io_unpack(const void *p, size_t n, size_t limit, struct buf *out, struct err *err)
{
	size_t start = out->len;
	int rc = gzip_is(p, n) ? gzip_unpack(p, n, limit, out, err) : unpack_zstd(p, n, limit, out, err);
	if (rc < 0) {
		out->len = start;
		if (out->data)
			out->data[start] = '\0';
	}
	return rc;
}

bool io_is_packed(const void *p, size_t n)
{
	return gzip_is(p, n) || (n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0);
}
