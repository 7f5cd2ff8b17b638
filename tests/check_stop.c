/*
 * check_stop.c - a signal to stop reaches a program, in any thread; a second one ends it, if it asked for that; the end
 * of the parent is such a signal, if the environment names it; and a file that grows beyond the limit is an error and
 * does not end the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/stop.h"
#include "tests/test.h"

/* Runs `child` in a process of its own; returns its wait status. */
static int status_of(int (*child)(void))
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(child());
	waitpid(pid, &status, 0);
	return status;
}

static void *ask(void *heard)
{
	*(bool *)heard = stop_asked();
	return NULL;
}

static int asked_once(void)
{
	pthread_t thread;
	bool heard = false;
	stop_on_signals(STOP_WHEN_ASKED);
	if (stop_asked())
		return 1;
	raise(SIGTERM);
	raise(SIGINT);
	pthread_create(&thread, NULL, ask, &heard);
	pthread_join(thread, NULL);
	return heard ? 0 : 2;
}

static int asked_twice(void)
{
	stop_on_signals(STOP_AT_SECOND);
	raise(SIGINT);
	if (!stop_asked())
		return 1;
	raise(SIGINT);
	return 2;
}

static int asked_by_default(void)
{
	stop_on_signals(STOP_BY_DEFAULT);
	raise(SIGTERM);
	return 1;
}

static int too_large(void)
{
	struct rlimit limit = {100, 100};
	char bytes[200] = {0}, path[] = "/tmp/vantage-check-stop-XXXXXX";
	int fd = mkstemp(path);
	unlink(path);
	stop_on_signals(STOP_BY_DEFAULT);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (write(fd, bytes, sizeof bytes) != 100)
		return 1;
	return write(fd, bytes, sizeof bytes) < 0 && errno == EFBIG ? 0 : 2;
}

static void signals_are_heard(void)
{
	int status = status_of(asked_once);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	status = status_of(asked_twice);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 130);
	status = status_of(asked_by_default);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGTERM);
}

static void name_parent(pid_t pid)
{
	char text[24];

	snprintf(text, sizeof text, "%d", (int)pid);
	setenv(STOP_PARENT, text, 1);
}

static int of_this_parent(void)
{
	name_parent(getppid());
	stop_on_signals(STOP_WHEN_ASKED);
	return !stop_asked() && !getenv(STOP_PARENT) ? 0 : 1;
}

static int of_a_parent_that_is_gone(void)
{
	name_parent(getpid());
	stop_on_signals(STOP_WHEN_ASKED);
	return stop_asked() ? 0 : 1;
}

/* Starts a child that waits for good, and ends without it. Only the child has an end of the pipe then. */
static int leave_a_child(void)
{
	int ready[2];
	pid_t parent = getpid();
	char byte;

	if (pipe(ready) < 0)
		return 1;
	if (fork() == 0) {
		name_parent(parent);
		stop_on_signals(STOP_BY_DEFAULT);
		close(ready[0]);
		if (write(ready[1], "r", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}

/* The pipe is at its end when the child of the child has ended. */
static void a_program_ends_with_its_parent(void)
{
	int alive[2], status;
	char byte;

	CHECK_INT(status_of(of_this_parent), 0);
	CHECK_INT(status_of(of_a_parent_that_is_gone), 0);
	CHECK_INT(pipe(alive), 0);
	status = status_of(leave_a_child);
	close(alive[1]);
	CHECK_INT(status, 0);
	CHECK_INT(read(alive[0], &byte, 1), 0);
	close(alive[0]);
}

static void a_large_file_is_an_error(void)
{
	int status = status_of(too_large);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

int main(void)
{
	RUN(signals_are_heard);
	RUN(a_program_ends_with_its_parent);
	RUN(a_large_file_is_an_error);
	return test_done();
}
