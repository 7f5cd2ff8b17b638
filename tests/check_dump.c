/*
 * check_dump.c - the folder for a compiler's dumps: what is said when it cannot be had, and that none stays behind.
 */
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/io.h"
#include "device/dump.h"
#include "tests/test.h"

static char tmp[] = "/tmp/check_dump-XXXXXX";

static size_t folders(void)
{
	char pattern[80];
	glob_t g;

	snprintf(pattern, sizeof pattern, "%s/vantage-*", tmp);
	size_t n = glob(pattern, 0, NULL, &g) == 0 ? g.gl_pathc : 0;
	globfree(&g);
	return n;
}

/* Forks a process that begins a dump, says so, and ends when `hold` is closed, without removing anything. */
static pid_t fork_one(int said, int hold)
{
	pid_t pid = fork();
	struct dump d;
	char byte = 0;

	if (pid != 0)
		return pid;
	if (dump_begin(&d, "", NULL) == 0 && write(said, &byte, 1) == 1)
		(void)!read(hold, &byte, 1);
	_exit(0);
}

/* This comes first, as a process sweeps once. */
static void what_the_dead_left_is_swept(void)
{
	int said[2], hold[2];
	struct dump d;
	char byte;

	CHECK(pipe(said) == 0 && pipe(hold) == 0);
	pid_t dead = fork_one(said[1], hold[0]), living = fork_one(said[1], hold[0]);
	CHECK(read(said[0], &byte, 1) == 1 && read(said[0], &byte, 1) == 1);
	kill(dead, SIGKILL);
	waitpid(dead, NULL, 0);
	CHECK_INT(folders(), 2);
	CHECK_INT(dump_begin(&d, "", NULL), 0);
	CHECK_INT(folders(), 2); /* of the living, and our own */
	dump_end(&d);
	CHECK_INT(folders(), 1);
	kill(living, SIGKILL);
	waitpid(living, NULL, 0);
}

static void says_why_there_is_no_folder(void)
{
	char far[400];
	const struct {
		const char *tmpdir, *says;
	} table[] = {{"/tmp/a,b", "no folder with a comma in its name"}, {far, "TMPDIR is too long"},
		{"/proc/nowhere", "no folder for the compiler's dumps can be made in /proc/nowhere: No such file"}};
	size_t before = folders();
	struct err err = {{0}};
	struct dump d;

	memset(far, '/', sizeof far);
	far[sizeof far - 1] = 0;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		setenv("TMPDIR", table[i].tmpdir, 1);
		CHECK_INT(dump_begin(&d, "", &err), -1);
		if (!CHECK(strstr(err.text, table[i].says)))
			printf("it says: %s\n", err.text);
	}
	setenv("TMPDIR", tmp, 1);
	for (long n = 0; n < 3; n++) { /* what stops the compiler cannot be written */
		io_fail_at(n, 28 /* no space */);
		CHECK_INT(dump_begin(&d, "xla_cache=DIR/stop", &err), -1);
		io_fail_at(-1, 0);
		CHECK(!d.options.data && !d.folder[0]);
	}
	CHECK_INT(folders(), before);
}

/* A compiler that could write nothing is not one that lacks the pass. */
static void a_full_disk_is_named(void)
{
	static const struct stage stage = {.pass = "^fusion$"};
	struct rlimit all, none;
	struct extracted e = {0};
	struct err err = {{0}};
	struct dump d;

	CHECK_INT(dump_begin(&d, "", &err), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &all);
	none = (struct rlimit){0, all.rlim_max};
	setrlimit(RLIMIT_FSIZE, &none);
	int rc = dump_read(&d, &stage, false, &e, &err);
	setrlimit(RLIMIT_FSIZE, &all);
	CHECK_INT(rc, -1);
	if (!CHECK(strstr(err.text, "dumps cannot be written") && strstr(err.text, "File too large")))
		printf("it says: %s\n", err.text);
	CHECK_INT(dump_read(&d, &stage, false, &e, &err), 0);
	CHECK(e.outcome == OUTCOME_REFUSED && strstr(e.detail, "did not run its pass fusion"));
	dump_end(&d);
}

int main(void)
{
	if (!mkdtemp(tmp))
		return 1;
	setenv("TMPDIR", tmp, 1);
	RUN(what_the_dead_left_is_swept);
	RUN(says_why_there_is_no_folder);
	RUN(a_full_disk_is_named);
	io_remove_tree(tmp, NULL);
	return test_done();
}
