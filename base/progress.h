/*
 * progress.h - tells people how a long run goes: on stderr, never on stdout.
 *
 * On a terminal one status line, redrawn at most 10 times a second, with rate and time left. Under
 * cron plain lines, at most one a minute. With PROGRESS_QUIET nothing.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum progress_mode { PROGRESS_AUTO, PROGRESS_TTY, PROGRESS_PLAIN, PROGRESS_QUIET };

struct progress {
	FILE *out; /* stderr unless set */
	enum progress_mode mode;
	double (*clock)(void); /* now_seconds unless set */
	const char *label;
	uint64_t done, total; /* total 0: unknown */
	double started, drawn;
	bool shown;
};

void progress_start(struct progress *p, const char *label, uint64_t total, enum progress_mode mode);
/* `detail` may be NULL; it follows the counts, e.g. "best -2.1% +- 0.3, cached 62%". */
void progress_update(struct progress *p, uint64_t done, const char *detail);
void progress_end(struct progress *p);

/* Seconds on the monotonic clock; the one clock everything uses. */
double now_seconds(void);

#endif
