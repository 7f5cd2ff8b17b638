/*
 * check_err.c - sentences: set, prefixed, quoted into themselves, cut when too long; bugs abort.
 */
#include "base/err.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/test.h"

static void sets_a_sentence(void)
{
	struct err err = {0};
	CHECK_INT(err_set(&err, "%s has %d legs", "the table", 3), -1);
	CHECK_STR(err.text, "the table has 3 legs");
	CHECK_INT(err_set(NULL, "nobody listens"), -1);
	CHECK_INT(err_prefix(NULL, "nobody"), -1);
}

static void prefixes(void)
{
	struct err err = {0};
	err_set(&err, "ends early");
	CHECK_INT(err_prefix(&err, "file %d", 7), -1);
	CHECK_STR(err.text, "file 7: ends early");
	err_prefix(&err, "file"); /* it says so already, and that is enough */
	CHECK_STR(err.text, "file 7: ends early");
	err_prefix(&err, "fil");
	CHECK_STR(err.text, "fil: file 7: ends early");
}

static void quotes_itself(void)
{
	struct err err = {0};
	err_set(&err, "first");
	err_set(&err, "second after \"%s\"", err.text);
	CHECK_STR(err.text, "second after \"first\"");
	err_prefix(&err, "%s, again", err.text);
	CHECK_STR(err.text, "second after \"first\", again: second after \"first\"");
}

static void names_errno(void)
{
	struct err err = {0};
	errno = ENOENT;
	CHECK_INT(err_errno(&err, "%s", "a.pb"), -1);
	CHECK_STR(err.text, "a.pb: No such file or directory");
	CHECK_INT(errno, ENOENT);
}

/* A sentence that is too long is cut at its end; nothing is written beyond the struct. */
static void cuts_what_is_too_long(void)
{
	char longer[3000];
	struct err err = {0};
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&err, "%s", longer);
	CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
	err_prefix(&err, "front");
	CHECK(strncmp(err.text, "front: xxx", 10) == 0);
	CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
	errno = EIO;
	err_errno(&err, "%s", longer);
	CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
}

static void child_bug(void)
{
	BUG("seven is %d", 7);
}

static void child_bug_on(void)
{
	BUG_ON(errno == errno);
}

static void child_exit(void)
{
	struct err err = {"a.pb: is empty"};
	err_program("inspect");
	exit(err_exit(&err));
}

/* Runs `child` in a process of its own. Returns its wait status; `said` gets what it printed on stderr. */
static int status_of(void (*child)(void), char *said, size_t size)
{
	int pipe_fd[2], status = 0;
	size_t len = 0;
	if (pipe(pipe_fd) < 0)
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(pipe_fd[1], STDERR_FILENO);
		close(pipe_fd[0]);
		child();
		_exit(99);
	}
	close(pipe_fd[1]);
	for (ssize_t n; (n = read(pipe_fd[0], said + len, size - 1 - len)) > 0;)
		len += (size_t)n;
	said[len] = '\0';
	close(pipe_fd[0]);
	waitpid(pid, &status, 0);
	return status;
}

static void bugs_abort(void)
{
	char said[2000];
	int status = status_of(child_bug, said, sizeof(said));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CHECK(strstr(said, "bug at tests/check_err.c:") && strstr(said, "seven is 7\n"));
	status = status_of(child_bug_on, said, sizeof(said));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CHECK(strstr(said, "errno == errno") != NULL);
}

static void mains_exit_with_1(void)
{
	char said[2000];
	int status = status_of(child_exit, said, sizeof(said));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	CHECK_STR(said, "inspect: a.pb: is empty\n");
}

int main(void)
{
	RUN(sets_a_sentence);
	RUN(prefixes);
	RUN(quotes_itself);
	RUN(names_errno);
	RUN(cuts_what_is_too_long);
	RUN(bugs_abort);
	RUN(mains_exit_with_1);
	return test_done();
}
