/*
 * child.c - a worker process.
 *
 * It is started by posix_spawn, never by fork, because the caller may have threads. It gets descriptor 3, its end of a
 * socket pair; stdout and stderr, a pipe whose last bytes we keep; and an empty stdin. We use a socket pair, not two
 * pipes, because send need not raise SIGPIPE in the caller when the worker is dead. The worker gets its own process
 * group, so Ctrl-C reaches it only through us.
 *
 * Everything here has an end in time: an exchange polls with the time left, and whatever goes wrong
 * in it ends with SIGKILL and waitpid. What the child prints is read along, so it never blocks on a
 * full pipe.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/child.h"

#define TAIL 16384u
#define HEARD ((size_t)64 << 20) /* of a worker that is listened to, at most */
#define STEP ((size_t)1 << 20) /* a payload's memory grows as it arrives, not as announced */

extern char **environ;

/* Moves a descriptor above those that spawning rearranges, so that none overwrites another. */
static int lift(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	close(fd);
	return high;
}

/* Our environment with the worker's own variables before it: if a name is there twice, the first one counts. */
static char **make_environment(const struct child *c)
{
	size_t n = 0, own = 0;
	while (environ[n])
		n++;
	while (c->environment[own])
		own++;
	char **v = MEM_NEW(own + n + 1, char *);
	for (size_t i = 0; i < own; i++)
		v[i] = (char *)(uintptr_t)c->environment[i];
	memcpy(v + own, environ, n * sizeof *v);
	return v;
}

static int spawn(struct child *c, const char *program, int socket_end, int pipe_end)
{
	char *argv[] = {(char *)(uintptr_t)program, NULL};
	posix_spawn_file_actions_t files;
	char **environment = c->environment ? make_environment(c) : environ;
	posix_spawnattr_t attr;
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, pipe_end, 1);
	posix_spawn_file_actions_adddup2(&files, pipe_end, 2);
	posix_spawn_file_actions_adddup2(&files, socket_end, WIRE_FD);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	int rc = posix_spawn(&c->pid, program, &files, &attr, argv, environment);
	if (environment != environ)
		mem_free(environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

int child_start(struct child *c, const char *program, struct err *err)
{
	int s[2] = {-1, -1}, p[2] = {-1, -1}, rc = 0;
	c->pid = 0;
	buf_reset(&c->tail);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0 || pipe2(p, O_CLOEXEC) < 0)
		rc = err_errno(err, "no pipe to a worker can be made");
	for (int i = 0; i < 2 && rc == 0; i++)
		if ((s[i] = lift(s[i])) < 0 || (p[i] = lift(p[i])) < 0)
			rc = err_errno(err, "no pipe to a worker can be made");
	if (rc == 0) {
		int code = spawn(c, program, s[1], p[1]);
		if (code) {
			errno = code;
			c->pid = 0;
			rc = err_errno(err, "the worker %s cannot be started", program);
		}
	}
	for (int i = rc == 0; i < 2; i++) {
		if (s[i] >= 0)
			close(s[i]);
		if (p[i] >= 0)
			close(p[i]);
	}
	if (rc < 0)
		return -1;
	c->fd = s[0];
	c->stderr_fd = p[0];
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	fcntl(c->stderr_fd, F_SETFL, O_NONBLOCK);
	if (c->watch)
		c->watch(c->watcher, c->pid);
	return 0;
}

static void read_stderr(struct child *c)
{
	size_t most = c->listen ? HEARD : TAIL;
	char block[4096];
	ssize_t n;
	while (c->stderr_fd >= 0 && (n = read(c->stderr_fd, block, sizeof block)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		buf_add(&c->tail, block, (size_t)n);
		if (c->tail.len > most) {
			size_t cut = c->tail.len - most;
			const char *line = memchr(c->tail.data + cut, '\n', most);
			if (line && line + 1 < c->tail.data + c->tail.len) /* whole lines only */
				cut = (size_t)(line + 1 - c->tail.data);
			c->tail.len -= cut;
			memmove(c->tail.data, c->tail.data + cut, c->tail.len + 1);
		}
	}
	if (c->stderr_fd >= 0)
		close(c->stderr_fd);
	c->stderr_fd = -1;
}

/* Waits up to `patience` seconds for the child to end by itself, then kills it; reaps it in any case. */
static void end(struct child *c, double patience)
{
	double until = now_seconds() + patience;
	const struct timespec nap = {0, 2000000};
	if (!c->pid)
		return;
	if (c->watch) /* from when it is reaped, another process may have its number */
		c->watch(c->watcher, 0);
	close(c->fd);
	for (;;) {
		pid_t got = waitpid(c->pid, &c->status, WNOHANG);
		if (got == c->pid ||
			(got < 0 && errno != EINTR)) /* ECHILD: the program ignores SIGCHLD */
			break;
		read_stderr(c);
		if (now_seconds() >= until) {
			kill(c->pid, SIGKILL);
			while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
				;
			break;
		}
		nanosleep(&nap, NULL);
	}
	read_stderr(c);
	if (c->stderr_fd >= 0)
		close(c->stderr_fd);
	c->stderr_fd = -1;
	c->pid = 0;
}

/* One exchange in flight. */
struct traffic {
	uint8_t header[WIRE_HEADER], in[WIRE_HEADER];
	const struct buf *request;
	size_t sent, got; /* bytes of header and payload */
	struct frame *reply;
	uint32_t id;
	bool have_header;
};

/* Sends what fits: -1 when the other end is gone. */
static int push(struct child *c, struct traffic *t)
{
	size_t body = t->request ? t->request->len : 0;
	while (t->sent < WIRE_HEADER + body) {
		bool head = t->sent < WIRE_HEADER;
		const void *p = head ? (const char *)t->header + t->sent
				     : t->request->data + (t->sent - WIRE_HEADER);
		size_t n = head ? WIRE_HEADER - t->sent : WIRE_HEADER + body - t->sent;
		ssize_t k = send(c->fd, p, n, MSG_NOSIGNAL);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return errno == EAGAIN ? 0 : -1;
		t->sent += (size_t)k;
	}
	return 0;
}

/* Receives what is there: 1 when the reply is whole, 0 not yet, -1 the end, -2 nonsense. */
static int pull(struct child *c, struct traffic *t)
{
	struct frame *f = t->reply;
	for (;;) {
		if (t->have_header && t->got == f->length)
			return 1;
		void *p = t->in + t->got;
		size_t n = WIRE_HEADER - t->got;
		if (t->have_header) {
			n = f->length - t->got < STEP ? f->length - t->got : STEP;
			buf_reserve(&f->payload, n);
			p = f->payload.data + t->got;
		}
		ssize_t k = recv(c->fd, p, n, 0);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN)
			return 0;
		if (k <= 0)
			return -1;
		t->got += (size_t)k;
		if (t->have_header) {
			f->payload.len = t->got;
		} else if (t->got == WIRE_HEADER) {
			if (wire_parse_header(t->in, f, NULL) < 0 || f->id != t->id)
				return -2;
			t->have_header = true;
			t->got = 0;
		}
	}
}

/* Processor time of a process and all its threads; 0 where the system does not say. */
static double processor_seconds(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * For tests, which must not depend on time: a worker that prints the text in VANTAGE_HANGS has had all its time.
 * Without that variable nothing it prints counts.
 */
static bool says_it_hangs(struct child *c)
{
	const char *text = getenv("VANTAGE_HANGS");

	return text && *text && c->tail.len && strstr(c->tail.data, text);
}

/* Does any thread of the process want to run, or is it stopped? If the system does not say, it may. */
static bool wants_to_run(pid_t pid)
{
	char name[64], line[512];
	const struct dirent *e;
	DIR *tasks;
	bool wants = false;

	snprintf(name, sizeof name, "/proc/%ld/task", (long)pid);
	tasks = opendir(name);
	while (tasks && !wants && (e = readdir(tasks))) {
		const char *state = NULL;
		FILE *f;
		if (*e->d_name == '.')
			continue;
		snprintf(name, sizeof name, "/proc/%ld/task/%.20s/stat", (long)pid, e->d_name);
		f = fopen(name, "re");
		if (f && fgets(line, sizeof line, f))
			state = strrchr(line, ')'); /* after the name, which may hold anything */
		wants = f && (!state || strncmp(state, ") S", 3) != 0);
		if (f)
			fclose(f);
	}
	if (!tasks)
		return true;
	closedir(tasks);
	return wants;
}

#define ASK_AGAIN 0.5	 /* seconds after which it is asked again whether a reply is wanted */
#define LOOKS 8		 /* a child that is waited for longer is looked at so often in as long as it had at first */
#define AT_WORK 0.01	 /* of a processor, since the last look: it computes */
#define LOOK 2.0	 /* seconds at most between two looks whether it sleeps */

/* What is left of the time that an answer is waited for. */
struct waiting {
	struct patience patience;
	double started, until; /* on the wall's clock */
	double used, looked;   /* processor seconds at the start and when last looked at */
	double look, seen;     /* seconds between two looks whether it sleeps, and the clock at the last one */
	double idle, awake;    /* for how long it had slept then, and its processor seconds */
	pid_t pid;
};

static struct waiting wait_begin(const struct child *c, struct patience patience)
{
	double now = now_seconds(), used = processor_seconds(c->pid);

	return (struct waiting){patience, now, now + patience.seconds, used, used,
		fmin(LOOK, patience.asleep / LOOKS), now, 0, used, c->pid};
}

/* Seconds until the next look; 0: it had its time. */
static double wait_left(struct waiting *w)
{
	double now = now_seconds(), step = w->patience.seconds / LOOKS, end = w->patience.until > 0 ? w->patience.until
		: INFINITY, used;

	if (now >= end || (w->patience.heeds_stop && stop_asked()))
		return 0;
	if (now < w->until)
		return fmin(w->until, end) - now;
	used = processor_seconds(w->pid);
	if (now >= w->started + w->patience.most || used - w->used >= w->patience.seconds ||
		used - w->looked < AT_WORK * step)
		return 0;
	w->looked = used;
	w->until = now + step;
	return fmin(step, end - now);
}

/*
 * Has the child been asleep for too long? Two threads of a plugin that wait for each other's help would wait
 * for ever. Looks that come late, as after the machine itself slept, count as one.
 */
static bool is_stalled(struct waiting *w)
{
	double now = now_seconds(), used;

	if (w->patience.asleep <= 0 || now < w->seen + w->look)
		return false;
	used = processor_seconds(w->pid);
	w->idle = used > w->awake || wants_to_run(w->pid) ? 0 : w->idle + fmin(now - w->seen, 2 * w->look);
	w->seen = now;
	w->awake = used;
	return w->idle >= w->patience.asleep;
}

enum exchange child_exchange(struct child *c, enum wire_type type, const struct buf *request,
	struct patience patience, struct frame *reply)
{
	struct traffic t = {.request = request, .reply = reply, .id = ++c->next_id};
	struct waiting w = wait_begin(c, patience);
	bool unwanted = false, stalled = false;
	int got = 0;
	wire_header(t.header, type, t.id, request ? request->len : 0);
	buf_reset(&reply->payload);
	while (got == 0) {
		if (push(c, &t) < 0)
			t.sent = SIZE_MAX; /* it may have answered before it died; receiving tells */
		double left = wait_left(&w);
		if (left <= 0)
			break;
		size_t whole = WIRE_HEADER + (request ? request->len : 0);
		struct pollfd fds[2] = {
			{c->fd, (short)(POLLIN | (t.sent < whole ? POLLOUT : 0)), 0},
			{c->stderr_fd, POLLIN, 0}};
		if (c->unwanted || patience.heeds_stop) /* another thread may have got the signal */
			left = fmin(left, ASK_AGAIN);
		if (patience.asleep > 0)
			left = fmin(left, w.look);
		left = fmin(left, talk_due(now_seconds()));
		int ms = left > 1000 ? 1000000 : (int)(left * 1000) + 1;
		if (poll(fds, 2, ms) < 0 && errno != EINTR)
			break;
		talk_still(now_seconds());
		if (stop_asked() && !patience.heeds_stop)
			talk_insist();
		read_stderr(c);
		if (says_it_hangs(c))
			break;
		got = pull(c, &t);
		unwanted = got == 0 && c->unwanted && c->unwanted(c->ctx);
		stalled = got == 0 && is_stalled(&w);
		if (unwanted || stalled)
			break;
	}
	if (got == 1 && reply->type == (uint32_t)type) {
		if (c->listen)
			read_stderr(c); /* what was printed before the answer is here by now */
		else
			buf_reset(&c->tail); /* what it printed before a good answer does not explain a later failure */
		return EXCHANGE_OK;
	}
	end(c, got == -1 ? 0.3 : 0);
	if (unwanted || stalled)
		return unwanted ? EXCHANGE_UNWANTED : EXCHANGE_STALLED;
	return got == 0 ? EXCHANGE_TIMEOUT : got == -1 ? EXCHANGE_DIED : EXCHANGE_BROKEN;
}

void child_stop(struct child *c)
{
	uint8_t header[WIRE_HEADER];
	if (!c->pid)
		return;
	wire_header(header, WIRE_QUIT, ++c->next_id, 0);
	(void)!send(c->fd, header, sizeof header, MSG_NOSIGNAL);
	end(c, 0.3);
}

void child_release(struct child *c)
{
	child_stop(c);
	buf_release(&c->tail);
}
