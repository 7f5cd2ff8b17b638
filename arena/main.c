/*
 * main.c - `arena`: other optimisers decide, we measure.
 *
 * It opens a program as `search` does, and then answers requests, one line of JSON each, on standard input and output
 * or on a Unix socket. A socket serves one client after the other. The server keeps the budget, the prices and the
 * answer so far, so a client that died may come again. A client that does not read its answers is dropped when another
 * one waits (send.h). The server ends when standard input ends, at "quit", or at SIGINT or SIGTERM.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "arena/answer.h"
#include "arena/send.h"
#include "base/io.h"
#include "base/stop.h"
#include "base/talk.h"
#include "lab/options.h"

static int parse(struct contest_settings *s, int argc, char **argv, struct err *err)
{
	const struct opt table[] = {
		OPT_SECTION("What to decide"),
		OPT_STR('g', "graph", &s->graph, "FILE",
			"the program: HLO (proto or text), StableHLO, or a folder of XLA's dumps"),
		LAB_OPT_SPACE(*s),
		OPT_SECTION("Where"),
		OPT_STR('d', "db", &s->db, "FILE", "keep every price in this store, and use those that it has; "
			"default: none, and nothing is kept"),
		LAB_OPTS_WHERE(*s),
		OPT_SECTION("How long"),
		OPT_INT('b', "budget", &s->budget, 0, INT64_C(1) << 40, "how many prices are answered; 0: no limit"),
		OPT_NUM(0, "seconds", &s->seconds, 0, 1e9, "how many seconds are spent on prices; 0: no limit"),
		OPT_NUM(0, "verdict-seconds", &s->verdict_seconds, 0, 1e6,
			"seconds for which the verdict runs the two programs; 0: 20, or more if one run takes seconds"),
		OPT_SECTION("How"),
		LAB_OPTS_HOW(*s),
		OPT_STR('m', "model", &s->model, "FILE",
			"the model that guided proposals are made with; default: the one that a search would take"),
		OPT_LIST(0, "limit", &s->limits, "QUANTITY:BOUND",
			"what the answer must keep to in the verdict, against the default or absolute: seconds:+2%, "
			"bytes:+0%, bytes:16GiB; may be repeated"),
		OPT_SECTION("Clients"),
		OPT_STR(0, "socket", &s->socket, "PATH", "serve clients on this Unix socket, one after the "
			"other; default: one client, on standard input and output"),
		OPT_NUM(0, "patience", &s->patience, 0, 1e6,
			"after how many seconds a client that does not read its answers is dropped, if another waits"),
		OPT_STR('o', "out", &s->out, "DIR",
			"the folder into which clients may have programs written; default: they may not"),
		OPT_FLAG('q', "quiet", &s->quiet, "say nothing on standard error"),
		OPT_END};
	const struct opt_program prog = {"arena", "[OPTIONS] --graph FILE",
		"Lets another optimiser decide about a program, and prices what it decides. "
		"Requests and answers are lines of JSON (schemas/arena.md). The budget is counted here, "
		"every price can be kept in a store, and the verdict is that of "
		"search: measured anew against the compiler's own program.", table};
	const char *usual;
	int n_words = 0, rc;

	*s = (struct contest_settings){LAB_DEFAULTS, .patience = 10};
	usual = s->device;
	rc = opt_parse(&prog, argc, argv, &n_words, err);
	if (rc != 0)
		return rc;
	if (!s->graph && n_words == 1)
		s->graph = argv[0];
	else if (n_words)
		return err_set(err, "\"%s\" is no option; the program is named with --graph", argv[0]);
	if (s->graph && s->device == usual && space_needs_no_device(s->graph, s->space))
		s->device = "none";
	return s->graph ? 0 : err_set(err, "no program to decide about: name one with --graph FILE");
}

/* Serves one client until it ends: 1 where it asked the server to end, 0 where it is gone. */
static int serve(struct contest *c, int in, const struct sender *to, struct err *err)
{
	struct lines lines = {.fd = in};
	struct request request = {0};
	struct buf line = {0};
	enum sent sent = SENT;
	const char *text;
	bool quit = false;
	size_t n;
	int rc = 0;

	while (!quit && sent == SENT && (rc = lines_next(&lines, &text, &n, err)) > 0) {
		struct err why = {0};
		buf_reset(&line);
		rc = answer(c, &request, rc == LINE_GOT ? text : NULL, n, &line, &quit, &why);
		if (rc < 0)
			*err = why;
		/* what it asked for was done, whether it hears of it or not */
		sent = send_line(to, line.data, line.len);
		if (rc < 0)
			break;
	}
	if (sent == SENT_TOO_SLOW && !c->set->quiet)
		fprintf(stderr, "arena: a client that did not read its answers for "
			"%g s was dropped, because another one waits\n", c->set->patience);
	lines_release(&lines);
	request_release(&request);
	buf_release(&line);
	return rc < 0 ? -1 : quit;
}

/* A socket that only this user may connect to. One that a killed server left is replaced; no other file is. */
static int listen_at(const char *path, struct err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct stat st;
	int fd, rc;
	mode_t mask;

	if (strlen(path) >= sizeof at.sun_path)
		return err_set(err, "%s is too long for the path of a socket: %zu bytes at most", path,
			sizeof at.sun_path - 1);
	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return err_set(err, "cannot listen at %s: this is no socket, and stays; name another path", path);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (const struct sockaddr *)&at, sizeof at) == 0) {
		close(fd);
		return err_set(err, "another server listens at %s", path);
	}
	if (errno == ECONNREFUSED)
		unlink(path);
	mask = umask(077);
	rc = bind(fd, (const struct sockaddr *)&at, sizeof at);
	umask(mask);
	if (rc < 0 || listen(fd, 8) < 0) {
		err_errno(err, "cannot listen at %s", path);
		close(fd);
		return -1;
	}
	return fd;
}

static int serve_socket(struct contest *c, int fd, struct err *err)
{
	int rc = 0;

	while (rc == 0 && !stop_asked()) {
		int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (client < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (client < 0)
			return err_errno(err, "no client can be accepted at %s", c->set->socket);
		rc = serve(c, client, &(struct sender){client, fd, c->set->patience}, err);
		close(client);
	}
	return rc < 0 ? -1 : 0;
}

/* Opens the program, and serves whoever comes: at the socket `fd`, or if that is -1 on standard input and output. */
static int open_and_serve(struct contest *c, int fd, struct err *err)
{
	const struct contest_settings *set = c->set;
	struct err later = {0};
	int rc;

	if (contest_open(c, err) < 0)
		return -1;
	if (!set->quiet)
		fprintf(stderr, "arena: %s: %u sites in %u classes; %s\narena: ready%s%s\n", c->lab.subject.name,
			c->lab.space->n_sites, c->lab.space->n_ties, c->lab.subject.decoded, set->socket ? " at " : "",
			set->socket ? set->socket : "");
	rc = fd >= 0 ? serve_socket(c, fd, err)
		: serve(c, STDIN_FILENO, &(struct sender){STDOUT_FILENO, -1, 0}, err);
	if (contest_end(c, rc < 0 ? &later : err) < 0)
		rc = -1;
	return rc < 0 ? -1 : 0;
}

/* Opening may take minutes, so the socket is made before it. A client that comes too early waits in its queue. */
static int run(struct contest *c, struct err *err)
{
	const struct contest_settings *set = c->set;
	int fd = -1, rc = 0;

	if (set->socket && (fd = listen_at(set->socket, err)) < 0)
		return -1;
	if (set->out)
		rc = io_make_dir(set->out, err);
	if (rc == 0)
		rc = open_and_serve(c, fd, err);
	if (fd >= 0) {
		close(fd);
		unlink(set->socket);
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct contest_settings set = {0};
	struct contest c = {.set = &set};
	struct err err = {0};
	int rc;

	err_program("arena");
	stop_on_signals(STOP_AT_SECOND);
	rc = parse(&set, argc, argv, &err);
	signal(SIGPIPE, SIG_IGN); /* a client that is gone is no reason to end */
	talk_on(!set.quiet);
	if (rc == 0)
		rc = run(&c, &err);
	contest_close(&c);
	opt_list_release(&set.limits);
	return rc < 0 ? err_exit(&err) : 0;
}
