/*
 * check_store_faults.c - a store meets a full disk, read-only files, damaged pages and other programs. Each gives one
 * sentence, and nothing that was stored is lost.
 */
#include "tests/test.h"
#include "tests/store_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "store/sql.h"

static char *folder;
static char path[300];

static void name_path(void)
{
	snprintf(path, sizeof path, "%s/%s.sqlite", folder, test_name);
}

static struct store *must_open(enum store_mode mode)
{
	struct err err = {0};
	struct store *s = store_open(path, mode, NULL, &err);

	CHECK_STR(err.text, "");
	return s;
}

/* A closed store with one run of n samples. */
static void make_store(uint32_t n)
{
	struct err err = {0};
	struct made m;
	struct store *s;
	struct run *run;

	name_path();
	s = must_open(STORE_CREATE);
	CHECK_INT(made_facts(s, "g", 100, 2, &m, &err), 0);
	run = made_run(s, &m, 1, n, &err);
	CHECK(run != NULL);
	run_free(run);
	store_close(s);
	made_release(&m);
	CHECK_STR(err.text, "");
}

/* Returns how many steps a reader replays from end to end; -1 with a sentence if it cannot. */
static int64_t replayed(struct err *err)
{
	struct store *s = store_open(path, STORE_READ, NULL, err);
	struct replay *p = s ? replay_open(s, 1, err) : NULL;
	struct step t;
	int64_t n = 0;
	int rc = -1;

	while (p && (rc = replay_next(p, &t, err)) == 1)
		n++;
	replay_close(p);
	store_close(s);
	return rc < 0 ? -1 : n;
}

static void check_refused(enum store_mode mode, const struct store_options *o, const char *part)
{
	struct err err = {0};
	struct store *s = store_open(path, mode, o, &err);

	CHECK(s == NULL);
	if (!strstr(err.text, part)) {
		CHECK_STR(err.text, part);
	}
	store_close(s);
}

static void run_sql(const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void what_is_no_store_is_refused(void)
{
	struct err err = {0};

	name_path();
	check_refused(STORE_READ, NULL, "does not exist");
	check_refused(STORE_WRITE, NULL, "does not exist");
	CHECK_INT(io_write_file(path, "", 0, &err), 0);
	check_refused(STORE_READ, NULL, "is empty");
	CHECK_INT(io_write_file(path, "certainly no database, but long enough to be read as a header of one, or is it?"
		" no, it is a hundred bytes of prose and nothing else", 120, &err), 0);
	check_refused(STORE_READ, NULL, "not an SQLite file");
	check_refused(STORE_CREATE, NULL, "not an SQLite file");
	remove(path);
	run_sql("CREATE TABLE t (x)");
	check_refused(STORE_READ, NULL, "of another program");
	check_refused(STORE_CREATE, NULL, "of another program");
	snprintf(path, sizeof path, "%s", folder);
	check_refused(STORE_READ, NULL, "not a regular file");
	snprintf(path, sizeof path, "%s/no/such/folder", folder);
	check_refused(STORE_CREATE, NULL, "cannot be used");
}

static void a_newer_store_is_refused(void)
{
	make_store(3);
	run_sql("PRAGMA user_version = 1000");
	check_refused(STORE_READ, NULL, "newer than this program");
	check_refused(STORE_CREATE, NULL, "newer than this program");
}

static void network_file_systems_are_told(void)
{
	CHECK_STR(store_network_name(0x6969), "NFS");
	CHECK_STR(store_network_name((long)(int)0xff534d42), "CIFS"); /* as a 32-bit statfs gives it */
	CHECK(store_network_name(0xef53) == NULL);		      /* ext4 */
	CHECK(store_network_name(0x01021994) == NULL);		      /* tmpfs */
}

static void there_is_one_writer(void)
{
	struct store *s;
	int64_t n;
	struct err err = {0};

	make_store(10);
	s = must_open(STORE_WRITE);
	check_refused(STORE_WRITE, NULL, "being written by another program");
	n = replayed(&err);
	CHECK_INT(n, 10);
	store_close(s);
	store_close(must_open(STORE_WRITE));
}

static void a_reader_never_blocks_the_writer(void)
{
	struct err err = {0};
	struct made m;
	struct store *w, *r;
	struct run *run;
	struct run_info *v;
	size_t n;

	make_store(10);
	r = must_open(STORE_READ);
	w = must_open(STORE_WRITE);
	CHECK_INT(made_facts(w, "g", 100, 2, &m, &err), 0);
	run = made_run(w, &m, 2, 500, &err);
	CHECK_STR(err.text, "");
	CHECK_INT(store_runs(r, &v, &n, &err), 0);
	CHECK_INT(n, 1); /* as it was when opened */
	run_infos_free(v, n);
	store_close(r);
	r = must_open(STORE_READ);
	CHECK_INT(store_runs(r, &v, &n, &err), 0);
	CHECK(n == 2 && v[1].steps == 500);
	run_infos_free(v, n);
	store_close(r);
	run_free(run);
	store_close(w);
	made_release(&m);
	CHECK_STR(err.text, "");
}

static void a_lock_of_another_program_is_a_sentence(void)
{
	struct store_options o = {.busy = 0.05};
	sqlite3 *db;

	make_store(10);
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM failure", NULL, NULL, NULL), SQLITE_OK);
	struct err err = {0};
	struct store *s = store_open(path, STORE_WRITE, &o, &err);
	struct made m = {0};
	CHECK(s != NULL);
	CHECK_INT(made_facts(s, "h", 5, 2, &m, &err), -1);
	CHECK(strstr(err.text, "locked by another program") != NULL);
	store_close(s);
	made_release(&m);
	sqlite3_exec(db, "ROLLBACK; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL);
	sqlite3_close(db);
	err.text[0] = 0;
	CHECK_INT(replayed(&err), 10);
}

/* Runs fn in a child, because limits and users cannot be changed back. Exit status 0: as expected. */
static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(fn());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static rlim_t limit;

/* Appends until the limit of a file's size is reached. Returns 0 if a sentence says so. */
static int write_until_full(void)
{
	struct rlimit rl = {limit, limit};
	struct err err = {0};
	struct store *s;
	struct made m;
	struct run *run = NULL;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &rl);
	s = store_open(path, STORE_CREATE, NULL, &err);
	if (s && made_facts(s, "g", 100, 2, &m, &err) == 0)
		run = made_run(s, &m, 7, 100000, &err);
	if (run)
		return 2;
	store_close(s);
	if (strstr(err.text, "cannot grow") || strstr(err.text, "read or written") || strstr(err.text, "file sizes"))
		return 0;
	fprintf(stderr, "limit %ld: %s\n", (long)limit, err.text);
	return 1;
}

static void a_full_disk_loses_nothing_stored(void)
{
	for (int i = 0; i < 6; i++) {
		struct err err = {0};
		struct store *s;
		struct run_info *v;
		size_t n;

		remove(path);
		make_store(200);
		/* The -wal file is cut at odd places. */
		limit = (rlim_t)(200000 + 51113 * i);
		CHECK_INT(in_child(write_until_full), 0);
		s = must_open(STORE_WRITE);
		CHECK_INT(store_runs(s, &v, &n, &err), 0);
		CHECK(n == 2 && v[0].steps == 200 && v[1].steps > 0);
		run_infos_free(v, n);
		store_close(s);
		CHECK_INT(replayed(&err), 200);
		CHECK_STR(err.text, "");
	}
}

/* Fills a tmpfs of its own, in a namespace of its own. Returns 0: as expected; 77: that is not allowed here. */
static int fill_a_disk(void)
{
	struct err err = {0};
	struct made m;
	struct store *s;
	struct run *run = NULL;
	int64_t n;

	if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE,
		NULL) < 0 || mount("tmpfs", folder, "tmpfs", 0, "size=1500k") < 0)
		return 77;
	s = store_open(path, STORE_CREATE, NULL, &err);
	if (s && made_facts(s, "g", 100, 2, &m, &err) == 0)
		run = made_run(s, &m, 1, 100000, &err);
	if (run || !strstr(err.text, "no space is left")) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	store_close(s);
	err.text[0] = 0;
	n = replayed(&err);
	if (n < 100)
		fprintf(stderr, "%lld steps: %s\n", (long long)n, err.text);
	return n < 100 ? 3 : 0;
}

static void a_full_tmpfs_loses_nothing_stored(void)
{
	int rc;

	name_path();
	rc = in_child(fill_a_disk);
	if (rc == 77)
		SKIP("a tmpfs cannot be mounted here");
	CHECK_INT(rc, 0);
}

static void no_room_for_a_new_store_is_a_sentence(void)
{
	for (limit = 0; limit < 60000; limit += 8192) {
		name_path();
		CHECK_INT(in_child(write_until_full), 0);
	}
}

static int as_nobody(void)
{
	struct err err = {0};

	if (geteuid() == 0 && (setegid(65534) < 0 || seteuid(65534) < 0))
		return 3;
	if (store_open(path, STORE_WRITE, NULL, &err) || !strstr(err.text, "read-only")) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	err.text[0] = 0;
	if (replayed(&err) != 50) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	return 0;
}

static void a_read_only_file_can_be_read(void)
{
	make_store(50);
	CHECK_INT(chmod(path, 0444), 0);
	CHECK_INT(chmod(folder, 0555), 0);
	CHECK_INT(in_child(as_nobody), 0);
	CHECK_INT(chmod(folder, 0777), 0);
	CHECK_INT(in_child(as_nobody), 0);
}

static void damaged_pages_are_a_sentence(void)
{
	struct stat st;
	uint8_t junk[4096];
	int told = 0;

	make_store(400);
	CHECK_INT(stat(path, &st), 0);
	memset(junk, 0xa5, sizeof junk);
	for (off_t page = 0; page < st.st_size / 4096; page++) {
		uint8_t was[4096];
		struct err err = {0};
		int64_t n;
		int fd = open(path, O_RDWR);

		CHECK_INT(pread(fd, was, 4096, page * 4096), 4096);
		CHECK_INT(pwrite(fd, junk, 4096, page * 4096), 4096);
		n = replayed(&err);
		/* Either the page does not matter for reading the run, or the damage is reported. */
		CHECK(n == 400 || (n == -1 && (strstr(err.text, "damaged") || strstr(err.text, "no store"))));
		told += n == -1;
		CHECK_INT(pwrite(fd, was, 4096, page * 4096), 4096);
		close(fd);
	}
	CHECK(told >= 4);
	struct err err = {0};
	CHECK_INT(replayed(&err), 400);
	CHECK_INT(truncate(path, st.st_size / 2), 0);
	CHECK_INT(replayed(&err), -1);
	CHECK(strstr(err.text, "damaged") != NULL);
}

static void a_changed_fact_does_not_replay(void)
{
	static const char *const lies[] = {
		"UPDATE sample SET chosen = 1 - chosen WHERE id = (1 << 32) + 50",
		"UPDATE sample SET site = (site + 1) % 100, chosen = 1 - chosen WHERE id = (1 << 32) + 50",
		"UPDATE sample SET site = 100 WHERE id = (1 << 32) + 50",
		"UPDATE sample SET site = -1 WHERE id = (1 << 32) + 50",
		"UPDATE sample SET chosen = 2 WHERE id = (1 << 32) + 50",
		"UPDATE sample SET chain = 1 WHERE id = (1 << 32) + 50",
		"UPDATE sample SET costs = x'' WHERE id = (1 << 32) + 50",
		"UPDATE sample SET costs = zeroblob(9) WHERE id = (1 << 32) + 50",
		"UPDATE sample SET kind = 3 WHERE id = (1 << 32) + 50",
		"DELETE FROM sample WHERE id = (1 << 32) + 50",
		"UPDATE keyframe SET hash = hash + 1 WHERE step = 100",
		"UPDATE keyframe SET config = (SELECT config FROM keyframe WHERE step = 0) WHERE step = 100",
		"UPDATE keyframe SET config = x'28b52ffd' WHERE step = 100",
		"DELETE FROM keyframe WHERE step = 0",
		"DELETE FROM chain",
		"UPDATE space SET sites = 99",
		"UPDATE space SET choices = x'00'",
	};

	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		struct err err = {0};

		name_path();
		remove(path);
		make_store(200);
		run_sql(lies[i]);
		if (!CHECK_INT(replayed(&err), -1) || !CHECK(strstr(err.text, "damaged") != NULL))
			printf("  after %s: %s\n", lies[i], err.text);
	}
}

static void migrating_is_all_or_nothing(void)
{
	/* Versions that never were, to try the machinery: from today's two further. */
	enum { NOW = STORE_VERSION, NEXT };
	static const struct migration good[] = {
		{NEXT, "UPDATE later SET x = x + 1"},
		{NOW, "CREATE TABLE later (x INTEGER) STRICT; INSERT INTO later VALUES (41)"}};
	static const struct migration bad[] = {{NOW, "CREATE TABLE later (x INTEGER) STRICT"},
		{NEXT, "UPDATE nowhere SET x = 1"}};
	static const struct migration lossy[] = {{NOW, "DELETE FROM graph"}};
	static const struct migration hole[] = {{NOW, "CREATE TABLE later (x INTEGER) STRICT"}};
	struct { const struct migration *m; size_t n; int target; int rc; const char *text; } t[] = {
		{bad, 2, NEXT + 1, -1, "nowhere"}, {lossy, 1, NEXT, -1, "would lose"},
		{hole, 1, NEXT + 1, -1, "cannot bring"},
		{good, 2, NEXT + 1, 0, ""}};
	int64_t x;

	make_store(20);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct err err = {0};
		struct store *s = must_open(STORE_WRITE);

		CHECK_INT(store_migrate(s, t[i].m, t[i].n, t[i].target, &err), t[i].rc);
		CHECK(strstr(err.text, t[i].text) != NULL);
		store_close(s);
		err.text[0] = 0;
		if (t[i].rc < 0)
			CHECK_INT(replayed(&err), 20); /* untouched */
	}
	check_refused(STORE_READ, NULL, "newer");
	sqlite3 *db;
	sqlite3_stmt *q;
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, "SELECT x FROM later", -1, &q, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_step(q), SQLITE_ROW);
	x = sqlite3_column_int64(q, 0);
	CHECK_INT(x, 42);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	RUN(what_is_no_store_is_refused);
	RUN(a_newer_store_is_refused);
	RUN(network_file_systems_are_told);
	RUN(there_is_one_writer);
	RUN(a_reader_never_blocks_the_writer);
	RUN(a_lock_of_another_program_is_a_sentence);
	RUN(a_full_disk_loses_nothing_stored);
	RUN(a_full_tmpfs_loses_nothing_stored);
	RUN(no_room_for_a_new_store_is_a_sentence);
	RUN(a_read_only_file_can_be_read);
	RUN(damaged_pages_are_a_sentence);
	RUN(a_changed_fact_does_not_replay);
	RUN(migrating_is_all_or_nothing);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
