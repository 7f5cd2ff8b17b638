/*
 * progress.c - one status line for a person at a terminal, a line a minute for a log.
 *
 * The status line is drawn over itself (carriage return, text, erase to the end) and cut to the
 * window's width, because a wrapped line cannot be drawn over.
 */
#include "base/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"

#define TTY_INTERVAL 0.1
#define PLAIN_INTERVAL 60.0

double now_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, const char *label, uint64_t total, enum progress_mode mode)
{
	if (!p->out)
		p->out = stderr;
	if (!p->clock)
		p->clock = now_seconds;
	if (mode == PROGRESS_AUTO)
		mode = isatty(fileno(p->out)) ? PROGRESS_TTY : PROGRESS_PLAIN;
	p->mode = mode;
	p->label = label;
	p->total = total;
	p->done = 0;
	p->started = p->clock();
	p->drawn = mode == PROGRESS_TTY ? p->started - TTY_INTERVAL : p->started;
	p->shown = false;
}

static void add_duration(struct buf *b, double s)
{
	if (s < 100)
		buf_addf(b, "%.0f s", s);
	else if (s < 6000)
		buf_addf(b, "%.0f min", s / 60);
	else
		buf_addf(b, "%.1f h", s / 3600);
}

static void compose(const struct progress *p, double now, const char *detail, struct buf *b)
{
	double spent = now - p->started, rate = spent > 0 ? (double)p->done / spent : 0;
	buf_addf(b, "%s: %llu", p->label, (unsigned long long)p->done);
	if (p->total)
		buf_addf(b, " of %llu", (unsigned long long)p->total);
	if (rate > 0) {
		buf_addf(b, rate < 10 ? ", %.2g/s" : ", %.0f/s", rate);
		if (p->total > p->done) {
			buf_adds(b, ", ");
			add_duration(b, (double)(p->total - p->done) / rate);
			buf_adds(b, " left");
		}
	}
	if (detail && *detail)
		buf_addf(b, ", %s", detail);
}

static int width(FILE *out)
{
	struct winsize w;
	return ioctl(fileno(out), TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1 : 79;
}

static void draw(struct progress *p, double now, const char *detail)
{
	struct buf b = {0};
	compose(p, now, detail, &b);
	if (p->mode == PROGRESS_TTY)
		fprintf(p->out, "\r%.*s\033[K", width(p->out), b.data);
	else
		fprintf(p->out, "%s\n", b.data);
	fflush(p->out);
	buf_release(&b);
	p->drawn = now;
	p->shown = true;
}

void progress_update(struct progress *p, uint64_t done, const char *detail)
{
	double now = p->clock();
	p->done = done;
	if (p->mode == PROGRESS_QUIET)
		return;
	if (now - p->drawn >= (p->mode == PROGRESS_TTY ? TTY_INTERVAL : PLAIN_INTERVAL))
		draw(p, now, detail);
}

static void erase(struct progress *p)
{
	if (p->mode == PROGRESS_TTY && p->shown)
		fputs("\r\033[K", p->out);
}

void progress_end(struct progress *p)
{
	if (p->mode == PROGRESS_QUIET || !p->label)
		return;
	struct buf b = {0};
	erase(p);
	buf_addf(&b, "%s: %llu in ", p->label, (unsigned long long)p->done);
	add_duration(&b, p->clock() - p->started);
	fprintf(p->out, "%s\n", b.data);
	fflush(p->out);
	buf_release(&b);
	p->shown = false;
}
