/*
 * send.c - writes an answer piece by piece, and watches for another client while it waits.
 */
#include "arena/send.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/progress.h"
#include "base/stop.h"

#define LOOK_AGAIN 1.0 /* seconds; a signal that comes just before poll does not end it */

/* Writes what goes without waiting, after poll said that something does; of a pipe, that is PIPE_BUF bytes. */
static ssize_t put(const struct sender *s, const char *p, size_t n)
{
	if (s->listens >= 0)
		return send(s->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(s->fd, p, n < PIPE_BUF ? n : PIPE_BUF);
}

enum sent send_line(const struct sender *s, const void *p, size_t n)
{
	struct pollfd at[2] = {{.fd = s->fd, .events = POLLOUT}, {.fd = s->listens, .events = POLLIN}};
	double since = 0; /* when a piece went or, if that is later, another client came */
	size_t done = 0;

	while (done < n) {
		bool waited_for = s->listens >= 0 && at[1].fd < 0;
		double left = stop_asked() ? 0 : waited_for ? since + s->patience - now_seconds() : LOOK_AGAIN;
		int rc;
		at[0].revents = at[1].revents = 0;
		rc = poll(at, 2, (int)ceil(1e3 * fmin(fmax(left, 0), LOOK_AGAIN)));
		if ((rc < 0 && errno != EINTR) || (rc == 0 && stop_asked()))
			return SENT_GONE;
		if (rc > 0 && at[0].revents) {
			ssize_t went = put(s, (const char *)p + done, n - done);
			if (went < 0 && errno != EINTR && errno != EAGAIN)
				return SENT_GONE;
			done += went > 0 ? (size_t)went : 0;
			since = went > 0 ? now_seconds() : since;
			continue;
		}
		if (rc > 0 && at[1].revents) {
			at[1].fd = -1; /* it is known now */
			since = now_seconds();
		} else if (waited_for && left <= 0) {
			return SENT_TOO_SLOW;
		}
	}
	return SENT;
}
