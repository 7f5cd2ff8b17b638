/*
 * check_io.c - a file is written whole or not at all, also if the n-th system call fails, for every n.
 *
 * `walk` makes call 0 fail, then call 1, and so on, until the operation ends without reaching the call that would fail.
 * After each failure everything must be as if nothing had been tried: the old file is whole, no temporary file is left,
 * the output buffer is unchanged. Only the sentence is there.
 */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>
#include "base/mem.h"
#include "base/rng.h"
#include "tests/test.h"

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[4][256];
	static int turn;
	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static int files_in_folder(void)
{
	int n = 0;
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static bool file_holds(const char *path, const char *text)
{
	struct buf b = {0};
	bool same = io_read_file(path, 1000000, &b, NULL) == 0 && b.len == strlen(text) &&
		memcmp(b.data, text, b.len) == 0;
	buf_release(&b);
	return same;
}

static void writes_and_reads(void)
{
	struct err err = {0};
	struct buf b = {0};
	const char *path = in_folder("plain");
	static const size_t size[] = {0, 1, 4095, 4096, 65535, 65536, 65537, 1000000};
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		char *bytes = mem_zalloc(size[i] + 1, 1);
		for (size_t k = 0; k < size[i]; k++)
			bytes[k] = (char)(k * k >> 3);
		CHECK_INT(io_write_file(path, bytes, size[i], &err), 0);
		buf_reset(&b);
		buf_adds(&b, "kept");
		CHECK_INT(io_read_file(path, 1000000, &b, &err), 0);
		CHECK_INT(b.len, 4 + size[i]);
		CHECK(memcmp(b.data, "kept", 4) == 0 && memcmp(b.data + 4, bytes, size[i]) == 0);
		mem_free(bytes);
	}
	CHECK_STR(err.text, "");
	CHECK_INT(files_in_folder(), 1);
	unlink(path);
	buf_release(&b);
}

static void refuses(void)
{
	struct err err;
	struct buf b = {0};
	const char *plain = in_folder("plain"), *locked = in_folder("locked");
	io_write_file(plain, "12345", 5, NULL);
	CHECK_INT(io_read_file(plain, 5, &b, &err), 0);
	struct {
		const char *path;
		size_t limit;
		const char *says;
	} table[] = {
		{in_folder("absent"), 100, "absent: cannot be opened: No such file"},
		{folder, 100, ": is a directory, not a file"},
		{plain, 4, "plain: has 5 bytes, more than the limit of 4"},
		{"/dev/zero", 100000, "/dev/zero: is longer than the limit of 100000 bytes"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		b.len = 3;
		CHECK_INT(io_read_file(table[i].path, table[i].limit, &b, &err), -1);
		if (!CHECK(strstr(err.text, table[i].says)))
			printf("it says: %s\n", err.text);
		CHECK_INT(b.len, 3);
	}
	if (geteuid() != 0) { /* root may read everything */
		io_write_file(locked, "x", 1, NULL);
		chmod(locked, 0);
		CHECK_INT(io_read_file(locked, 100, &b, &err), -1);
		CHECK(strstr(err.text, "locked: cannot be opened: Permission denied"));
		unlink(locked);
	}
	CHECK_INT(io_write_file(folder, "x", 1, &err), -1);
	CHECK(strstr(err.text, "is a directory"));
	CHECK_INT(io_write_file(in_folder("no/such"), "x", 1, &err), -1);
	CHECK(strstr(err.text, "no/such: cannot be written"));
	CHECK_INT(io_write_file("/dev/null", "x", 1, &err), 0);
	unlink(plain);
	buf_release(&b);
}

/* Makes call n fail, for n = 0, 1, ..., until `act` makes fewer calls. Returns how many calls failed. */
static long walk(int (*act)(struct err *), void (*before)(void), void (*after)(bool failed))
{
	long n = 0;
	for (;; n++) {
		struct err err = {0};
		before();
		io_fail_at(n, EIO);
		int rc = act(&err);
		bool reached = io_fail_at(-1, 0) > n;
		if (!reached) {
			CHECK_INT(rc, 0);
			CHECK_STR(err.text, "");
			after(false);
			return n;
		}
		CHECK_INT(rc, -1);
		if (!CHECK(strstr(err.text, strerror(EIO))))
			printf("it says: %s\n", err.text);
		after(true);
	}
}

static char target[256];

static void old_file(void)
{
	CHECK_INT(io_write_file(target, "old", 3, NULL), 0);
}

static int write_new(struct err *err)
{
	return io_write_file(target, "newer", 5, err);
}

/* The last step, syncing the folder, comes after the rename: then the new file is there, whole. */
static void old_or_new(bool failed)
{
	CHECK(file_holds(target, "newer") || (failed && file_holds(target, "old")));
	CHECK_INT(files_in_folder(), 1);
}

static void writing_fails_cleanly(void)
{
	snprintf(target, sizeof(target), "%s", in_folder("target"));
	CHECK(walk(write_new, old_file, old_or_new) >= 6); /* open write fsync close rename ... */
	unlink(target);
}

static struct buf into;

static void packed_file(void)
{
	char text[100000];
	struct buf packed = {0};
	memset(text, 'z', sizeof(text));
	io_pack(text, sizeof(text), 0, &packed);
	CHECK_INT(io_write_file(target, packed.data, packed.len, NULL), 0);
	buf_release(&packed);
	buf_reset(&into);
	buf_adds(&into, "kept");
}

static int read_it(struct err *err)
{
	return io_read_file(target, 100000, &into, err);
}

static void read_or_untouched(bool failed)
{
	CHECK_INT(into.len, failed ? 4 : 100004);
	CHECK(strncmp(into.data, "keptzzz", failed ? 4 : 7) == 0);
}

static void reading_fails_cleanly(void)
{
	snprintf(target, sizeof(target), "%s", in_folder("target.zst"));
	CHECK(walk(read_it, packed_file, read_or_untouched) >= 4); /* open fstat read read */
	buf_release(&into);
	unlink(target);
}

static void no_folder(void)
{
	CHECK_INT(io_remove_tree(target, NULL), 0);
}

static int make_folders(struct err *err)
{
	return io_make_dir(in_folder("a/b//c/"), err);
}

static void folders_when_done(bool failed)
{
	CHECK(failed || io_exists(in_folder("a/b/c")));
}

static void full_folder(void)
{
	CHECK_INT(make_folders(NULL), 0);
	CHECK_INT(io_write_file(in_folder("a/b/x"), "", 0, NULL), 0);
	CHECK(symlink("/", in_folder("a/b/c/root")) == 0 || errno == EEXIST);
}

static int remove_folders(struct err *err)
{
	return io_remove_tree(target, err);
}

static void gone_when_done(bool failed)
{
	CHECK(io_exists(target) == failed);
}

static void folders_fail_cleanly(void)
{
	struct err err = {0};
	snprintf(target, sizeof(target), "%s", in_folder("a"));
	CHECK(walk(make_folders, no_folder, folders_when_done) >= 3);
	CHECK_INT(make_folders(&err), 0); /* what exists is fine */
	CHECK_INT(walk(remove_folders, full_folder, gone_when_done), 5);
	CHECK_INT(io_remove_tree(target, &err), 0); /* what is absent, too */
	CHECK(io_exists("/"));
	io_write_file(target, "x", 1, NULL);
	CHECK_INT(io_make_dir(in_folder("a/b"), &err), -1);
	CHECK(strstr(err.text, "/a is a file, but a folder is wanted"));
	CHECK_INT(io_make_dir(target, &err), -1);
	CHECK_INT(io_remove_tree(target, &err), 0);
}

static void one_file(void)
{
	CHECK_INT(io_write_in(folder, "one", "", 0, NULL), 0);
}

static int remove_file(struct err *err)
{
	return io_remove_in(folder, "one", err);
}

static void removing_fails_cleanly(void)
{
	snprintf(target, sizeof(target), "%s", in_folder("one"));
	CHECK_INT(walk(remove_file, one_file, gone_when_done), 1);
	CHECK_INT(remove_file(NULL), 0); /* what is absent, too */
}

/* A writer in another process writes a few bytes at a time; reading must put them together. */
static void pipes_in_drips(void)
{
	int fd[2];
	char got[1000];
	struct err err = {0};
	if (!CHECK(pipe(fd) == 0))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 1500; i++) {
			char c = (char)i;
			if (i % 100 == 0)
				usleep(200);
			if (write(fd[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(fd[1]);
	CHECK_INT(io_read_full(fd[0], got, 1000, &err), 1);
	for (int i = 0; i < 1000; i++)
		CHECK_INT(got[i], (char)i);
	CHECK_INT(io_read_full(fd[0], got, 1000, &err), -1);
	CHECK_STR(err.text, "ended after 500 of 1000 bytes");
	CHECK_INT(io_read_full(fd[0], got, 1000, &err), 0);
	CHECK_INT(io_read_full(fd[0], got, 0, &err), 1);
	close(fd[0]);
	waitpid(pid, NULL, 0);
}

static void signals_are_ridden_out(void)
{
	int fd[2];
	char got[5] = "";
	struct err err = {0};
	if (!CHECK(pipe(fd) == 0))
		return;
	for (long n = 0; n < 2; n++) {
		io_fail_at(0, EINTR);
		CHECK_INT(io_write_full(fd[1], "four", 4, &err), 0);
		CHECK_INT(io_fail_at(0, EINTR), 2); /* the one that failed, and the one that did it */
		CHECK_INT(io_read_full(fd[0], got, 4, &err), 1);
		io_fail_at(-1, 0);
		CHECK_STR(got, "four");
	}
	signal(SIGPIPE, SIG_IGN);
	close(fd[0]);
	CHECK_INT(io_write_full(fd[1], "four", 4, &err), -1);
	CHECK_STR(err.text, "writing failed after 0 of 4 bytes: Broken pipe");
	close(fd[1]);
}

static void packs_and_unpacks(void)
{
	struct rng r;
	struct err err = {0};
	rng_seed(&r, 1);
	for (int i = 0; i < 60; i++) {
		struct buf plain = {0}, packed = {0}, again = {0};
		for (uint64_t n = rng_below(&r, (uint64_t)1 << rng_below(&r, 19)); n > 0; n--)
			buf_u8(&plain, (uint8_t)rng_below(&r, 4));
		buf_reserve(&plain, 0);
		buf_adds(&again, "kept");
		io_pack(plain.data, plain.len, i % 5, &packed);
		CHECK(io_is_packed(packed.data, packed.len));
		CHECK_INT(io_unpack(packed.data, packed.len, plain.len, &again, &err), 0);
		CHECK_INT(again.len, 4 + plain.len);
		CHECK(memcmp(again.data + 4, plain.data, plain.len) == 0);
		if (plain.len)
			CHECK_INT(io_unpack(packed.data, packed.len, plain.len - 1, &again, &err), -1);
		CHECK_INT(again.len, 4 + plain.len);
		buf_release(&plain);
		buf_release(&packed);
		buf_release(&again);
	}
}

/* Two members, as `gzip -c a b` leaves them: "hello, " and "world". */
static const uint8_t gzipped[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9,
	0xc9, 0xd7, 0x51, 0x00, 0x00, 0x99, 0x56, 0xea, 0x11, 0x07, 0x00, 0x00, 0x00, 0x1f, 0x8b, 0x08, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0x03, 0x2b, 0xcf, 0x2f, 0xca, 0x49, 0x01, 0x00, 0x43, 0x11, 0x77, 0x3a,
	0x05, 0x00, 0x00, 0x00};

static void gzip_members(void)
{
	struct buf out = {0};
	struct err err = {0};
	uint8_t damaged[sizeof gzipped];

	CHECK(io_is_packed(gzipped, sizeof gzipped));
	buf_adds(&out, "kept ");
	CHECK_INT(io_unpack(gzipped, sizeof gzipped, 12, &out, &err), 0);
	CHECK_STR(out.data, "kept hello, world");
	CHECK_INT(io_unpack(gzipped, sizeof gzipped, 11, &out, &err), -1);
	CHECK_STR(err.text, "unpacks to more than the limit of 11 bytes");
	CHECK_STR(out.data, "kept hello, world");
	for (size_t n = 3; n < sizeof gzipped; n++)
		if (n != 27) /* where the first member ends */
			CHECK_INT(io_unpack(gzipped, n, 100, &out, &err), -1);
	for (size_t i = 27 - 8; i < 27; i++) { /* its checksum and its length */
		memcpy(damaged, gzipped, sizeof gzipped);
		damaged[i] ^= 0x10;
		CHECK_INT(io_unpack(damaged, sizeof damaged, 100, &out, &err), -1);
	}
	CHECK_STR(out.data, "kept hello, world");
	buf_release(&out);
}

/* Two frames, neither stating its size: what a pipe through a packer gives. */
static void sizeless_frames(void)
{
	struct buf packed = {0}, out = {0};
	struct err err = {0};
	char text[300000], room[4096];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * i >> 7);
	for (size_t part = 0; part < 2; part++) {
		ZSTD_CStream *s = ZSTD_createCStream();
		ZSTD_inBuffer in = {text + part * 150000, 150000, 0};
		for (size_t left = 1; left;) {
			ZSTD_outBuffer to = {room, sizeof(room), 0};
			left = ZSTD_compressStream2(s, &to, &in, in.pos < 100000 ? ZSTD_e_flush : ZSTD_e_end);
			if (in.pos < in.size)
				left = 1;
			buf_add(&packed, room, to.pos);
		}
		ZSTD_freeCStream(s);
	}
	CHECK(ZSTD_getFrameContentSize(packed.data, packed.len) == ZSTD_CONTENTSIZE_UNKNOWN);
	CHECK_INT(io_unpack(packed.data, packed.len, sizeof(text), &out, &err), 0);
	CHECK_INT(out.len, sizeof(text));
	CHECK(memcmp(out.data, text, sizeof(text)) == 0);
	CHECK_INT(io_unpack(packed.data, packed.len, sizeof(text) - 1, &out, &err), -1);
	CHECK_STR(err.text, "unpacks to more than the limit of 299999 bytes");
	buf_release(&packed);
	buf_release(&out);
}

/* Packed data is cut at every length, and every byte is changed: that is an error, or gives other bytes. */
static void damaged_packing(void)
{
	struct buf plain = {0}, packed = {0}, out = {0};
	struct err err;
	for (int i = 0; i < 300; i++)
		buf_addf(&plain, "%d ", i * i);
	io_pack(plain.data, plain.len, 0, &packed);
	for (size_t n = 0; n < packed.len; n++) {
		uint8_t *exact = mem_alloc(n);
		memcpy(exact, packed.data, n);
		err.text[0] = '\0';
		CHECK_INT(io_unpack(exact, n, 1000000, &out, &err), -1);
		CHECK(err.text[0] != '\0');
		CHECK_INT(out.len, 0);
		mem_free(exact);
	}
	for (size_t n = 0; n < packed.len; n++) {
		packed.data[n] ^= 0x55;
		if (io_unpack(packed.data, packed.len, 1000000, &out, &err) == 0)
			CHECK(out.len <= 1000000);
		packed.data[n] ^= 0x55;
		out.len = 0;
	}
	buf_release(&plain);
	buf_release(&packed);
	buf_release(&out);
}

/* 200 MB of zeros pack into a few kB; refusing them must not cost what they unpack to. */
static void bombs_are_refused_early(void)
{
	size_t size = 200000000;
	struct buf packed = {0}, out = {0};
	struct err err;
	struct rusage before, after;
	char *zeros = mem_zalloc(size, 1);
	io_pack(zeros, size, 0, &packed);
	mem_free(zeros);
	CHECK(packed.len < 50000);
	CHECK_INT(io_unpack(packed.data, packed.len, 1000000, &out, &err), -1);
	CHECK(strstr(err.text, "unpacks to 200000000 bytes, more than the limit of 1000000"));
	/* The same cut off: the stated size is allowed now, but little of it is there. */
	getrusage(RUSAGE_SELF, &before);
	CHECK_INT(io_unpack(packed.data, packed.len / 100, IO_FILE_LIMIT, &out, &err), -1);
	getrusage(RUSAGE_SELF, &after);
	CHECK(out.cap < 10000000);
	CHECK(after.ru_maxrss - before.ru_maxrss < 20000);
	buf_release(&packed);
	buf_release(&out);
}

/* Standard input can be read once; whoever asks for it again gets what it was. */
static void standard_input_is_remembered(void)
{
	FILE *f = tmpfile();
	struct err err = {0};

	if (!CHECK(f && fputs("once", f) >= 0 && fflush(f) == 0 && fseek(f, 0, SEEK_SET) == 0 &&
		dup2(fileno(f), STDIN_FILENO) >= 0))
		return;
	for (int i = 0; i < 2; i++) {
		struct buf b = {0};
		CHECK_INT(io_read_file("-", 100, &b, &err), 0);
		CHECK_STR(b.data ? b.data : "", "once");
		buf_release(&b);
	}
	fclose(f);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/check_io.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	RUN(writes_and_reads);
	RUN(refuses);
	RUN(writing_fails_cleanly);
	RUN(reading_fails_cleanly);
	RUN(folders_fail_cleanly);
	RUN(removing_fails_cleanly);
	RUN(pipes_in_drips);
	RUN(signals_are_ridden_out);
	RUN(packs_and_unpacks);
	RUN(gzip_members);
	RUN(sizeless_frames);
	RUN(damaged_packing);
	RUN(bombs_are_refused_early);
	test_name = "cleanup";
	CHECK_INT(io_remove_tree(folder, NULL), 0);
	RUN(standard_input_is_remembered);
	return test_done();
}
