/*
 * check_lock.c - locks in a folder into which others write, too.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/io.h"
#include "device/lock.h"
#include "tests/test.h"

static char folder[64], file[128], victim[128];

static void clean(void)
{
	unlink(file);
	rmdir(file);
	unlink(victim);
}

static void one_has_it(void)
{
	struct lock a, b;
	struct err err = {0};

	clean();
	CHECK_INT(lock_take(&a, "x", "x", false, &err), 1);
	CHECK_STR(a.path, file);
	CHECK_INT(lock_take(&b, "x", "x", false, &err), 0);
	CHECK_INT(lock_holder(&b), getpid());
	lock_release(&b); /* which it has not */
	lock_release(&a);
	CHECK(access(file, F_OK) < 0);
	CHECK_INT(lock_take(&b, "x", "x", true, &err), 1);
	lock_release(&b);
	lock_release(&b);
	CHECK_STR(err.text, "");
}

/* When the process that has a lock dies, in whatever way, the lock is free at once, and a waiting process gets it. */
static void it_goes_with_its_holder(void)
{
	struct lock a;
	struct err err = {0};
	int pipes[2];
	char byte = 0;
	pid_t pid;

	clean();
	if (!CHECK_INT(pipe(pipes), 0) || (pid = fork()) < 0)
		return;
	if (pid == 0) {
		lock_take(&a, "x", "x", false, &err);
		(void)!write(pipes[1], "!", 1);
		for (;;)
			pause();
	}
	CHECK_INT(read(pipes[0], &byte, 1), 1);
	CHECK_INT(lock_take(&a, "x", "x", false, &err), 0);
	CHECK_INT(lock_holder(&a), pid);
	CHECK(lock_claimed("x") && lock_claimed("") && !lock_claimed("y"));
	kill(pid, SIGKILL);
	CHECK_INT(lock_take(&a, "x", "x", true, &err), 1);
	CHECK(!lock_claimed("x")); /* our own */
	lock_release(&a);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
}

/* A process says what it waits for before it waits. We read that, and only then release the lock. */
static void waiting_is_said(void)
{
	int go[2], says[2], status = -1;
	char text[200] = "", want[200];
	struct lock l;
	struct err err = {0};
	pid_t waiter;

	clean();
	CHECK(pipe(go) == 0 && pipe(says) == 0);
	if ((waiter = fork()) == 0) {
		dup2(says[1], STDERR_FILENO);
		_exit(read(go[0], text, 1) == 1 && lock_take(&l, "x", "core 7", true, &err) == 1 ? 0 : 1);
	}
	CHECK_INT(lock_take(&l, "x", "core 7", false, &err), 1);
	CHECK_INT(write(go[1], "g", 1), 1);
	CHECK(read(says[0], text, sizeof text - 1) > 0);
	snprintf(want, sizeof want, "waiting for core 7, where process %ld measures, until that ends; "
		"Ctrl-C gives up\n", (long)getpid());
	CHECK_STR(text, want);
	lock_release(&l);
	CHECK_INT(waitpid(waiter, &status, 0), waiter);
	CHECK_INT(status, 0);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(says[i]);
	}
	clean();
}

static int link_to_it(void) { return symlink(victim, file); }
static int second_name(void) { return link(victim, file); }
static int link_to_nothing(void) { return symlink("/nowhere/at/all", file); }
static int make_pipe(void) { return mkfifo(file, 0666); }
static int make_folder(void) { return mkdir(file, 0755); }

static void what_lies_there_is_not_followed(void)
{
	static int (*const put[])(void) = {link_to_it, second_name, link_to_nothing, make_pipe, make_folder};

	for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
		struct err err = {0};
		struct lock l;
		struct buf b = {0};

		clean();
		CHECK_INT(io_write_file(victim, "precious", 8, &err), 0);
		CHECK_INT(put[i](), 0);
		CHECK_INT(lock_take(&l, "x", "x", false, &err), -1);
		if (!CHECK(strstr(err.text, "somebody put it there") != NULL))
			printf("  of case %zu: %s\n", i, err.text);
		CHECK_INT(lock_holder(&l), 0);
		CHECK(io_read_file(victim, 100, &b, &err) == 0 && b.len == 8 && memcmp(b.data, "precious", 8) == 0);
		lock_release(&l);
		buf_release(&b);
	}
	clean();
}

/* A name that is cut off would be another file's, or a folder that is not there. */
static void a_long_name_is_not_cut(void)
{
	char far[250];
	struct lock l;
	struct err err = {0};

	memset(far, '/', sizeof far);
	memcpy(far, folder, strlen(folder));
	far[sizeof far - 1] = 0;
	setenv("VANTAGE_LOCK_DIR", far, 1);
	CHECK_INT(lock_take(&l, "x", "the core", false, &err), -1);
	CHECK(strstr(err.text, "lock file of the core would be longer than 255 bytes"));
	setenv("VANTAGE_LOCK_DIR", folder, 1);
}

/* Where standard input is closed, the lock gets its descriptor. */
static void a_lock_may_have_the_first_descriptor(void)
{
	struct lock l;
	struct err err = {0};
	int kept = dup(0);

	clean();
	close(0);
	CHECK_INT(lock_take(&l, "x", "x", false, &err), 1);
	CHECK_INT(l.fd, 0);
	lock_release(&l);
	CHECK(access(file, F_OK) < 0);
	if (kept > 0) {
		dup2(kept, 0);
		close(kept);
	}
}

int main(void)
{
	snprintf(folder, sizeof folder, "/tmp/vantage-test-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	setenv("VANTAGE_LOCK_DIR", folder, 1);
	snprintf(file, sizeof file, "%s/vantage-x.lock", folder);
	snprintf(victim, sizeof victim, "%s/victim", folder);
	RUN(one_has_it);
	RUN(it_goes_with_its_holder);
	RUN(waiting_is_said);
	RUN(what_lies_there_is_not_followed);
	RUN(a_long_name_is_not_cut);
	RUN(a_lock_may_have_the_first_descriptor);
	rmdir(folder);
	return test_done();
}
