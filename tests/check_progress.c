/*
 * check_progress.c - what progress prints on a terminal, into a log, and in a quiet run. The clock is ours: it moves
 * when a test says so.
 */
#include "base/progress.h"
#include "base/talk.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/stop.h"
#include "tests/test.h"

/* Everything printed so far; the caller frees. */
static char *seen(struct progress *p)
{
	struct buf b = {0};
	fflush(p->out);
	rewind(p->out);
	for (int c; (c = fgetc(p->out)) != EOF;)
		buf_addch(&b, c);
	fseek(p->out, 0, SEEK_END);
	return buf_detach(&b, NULL);
}

static int count(const char *text, const char *part)
{
	int n = 0;
	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static double now;

static double clock_of_ours(void)
{
	return now;
}

#define NEW_PROGRESS {.out = tmpfile(), .clock = clock_of_ours}

static void terminal(void)
{
	struct progress p = NEW_PROGRESS;
	progress_start(&p, "tune", 1000, PROGRESS_TTY);
	now += 10;
	progress_update(&p, 100, "best -2.1%");
	char *text = seen(&p);
	CHECK(strstr(text, "\rtune: 100 of 1000, 10/s, 90 s left, best -2.1%\033[K") != NULL);
	CHECK(strchr(text, '\n') == NULL);
	free(text);
	for (int i = 0; i < 10000; i++) { /* ten in a second are drawn */
		now += 1e-4;
		progress_update(&p, 100, NULL);
	}
	text = seen(&p);
	CHECK(count(text, "\033[K") >= 10 && count(text, "\033[K") <= 11);
	free(text);
	progress_end(&p);
	text = seen(&p);
	CHECK(strstr(text, "\r\033[Ktune: 100 in 11 s\n") != NULL);
	free(text);
	fclose(p.out);
}

/* A line that wraps could not be drawn over. */
static void terminal_lines_are_cut(void)
{
	struct progress p = NEW_PROGRESS;
	char detail[500];
	memset(detail, 'x', sizeof(detail) - 1);
	detail[sizeof(detail) - 1] = '\0';
	progress_start(&p, "tune", 0, PROGRESS_TTY);
	now += 1;
	progress_update(&p, 3, detail);
	char *text = seen(&p);
	CHECK_INT(strlen(text), 1 + 79 + strlen("\033[K"));
	free(text);
	fclose(p.out);
}

static void plain(void)
{
	struct progress p = NEW_PROGRESS;
	progress_start(&p, "collect", 0, PROGRESS_AUTO); /* a file is no terminal */
	CHECK_INT(p.mode, PROGRESS_PLAIN);
	for (int second = 0; second < 600; second++) {
		now += 1;
		progress_update(&p, (uint64_t)second * 50, NULL);
	}
	char *text = seen(&p);
	CHECK(count(text, "\n") >= 9 && count(text, "\n") <= 10); /* one a minute */
	CHECK(strstr(text, "collect: 2950, 49/s\n") != NULL);
	CHECK(strchr(text, '\r') == NULL && strchr(text, '\033') == NULL);
	free(text);
	progress_end(&p);
	text = seen(&p);
	CHECK(strstr(text, "\ncollect: 29950 in 10 min\n") != NULL);
	free(text);
	fclose(p.out);
}

static void quiet(void)
{
	struct progress p = NEW_PROGRESS;
	progress_start(&p, "tune", 10, PROGRESS_QUIET);
	now += 100;
	progress_update(&p, 5, "detail");
	progress_end(&p);
	CHECK_INT(ftell(p.out), 0);
	fclose(p.out);
}

static void times_left(void)
{
	static const struct {
		uint64_t done, total;
		double spent;
		const char *says;
	} table[] = {
		{1, 3, 20, "x: 1 of 3, 0.05/s, 40 s left\n"},
		{10, 110, 60, "x: 10 of 110, 0.17/s, 10 min left\n"},
		{100, 100100, 100, "x: 100 of 100100, 1/s, 27.8 h left\n"},
		{0, 5, 100, "x: 0 of 5\n"},
		{5, 5, 100, "x: 5 of 5, 0.05/s\n"},
		{7, 5, 100, "x: 7 of 5, 0.07/s\n"}, /* more than was announced is no reason to lie */
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct progress p = NEW_PROGRESS;
		progress_start(&p, "x", table[i].total, PROGRESS_PLAIN);
		now += table[i].spent;
		p.drawn -= 60;
		progress_update(&p, table[i].done, NULL);
		char *text = seen(&p);
		CHECK_STR(text, table[i].says);
		free(text);
		fclose(p.out);
	}
}

/* Of a wait that began at 1000: said after so many seconds, each time once. */
static void long_waits_are_told(void)
{
	static const struct {
		double foreseen, after[5];
		const char *says[5];
	} table[] = {
		{0, {29, 30, 31, 61, 500}, {NULL, "x takes long: 30 s so far", NULL, "x takes long: 61 s so far",
			"x takes long: 8 min so far"}},
		{48, {60, 95, 96, 100, 192}, {NULL, NULL,
			"x takes longer than the 48 s that were foreseen: 2 min so far", NULL,
			"x takes longer than the 48 s that were foreseen: 3 min so far"}},
	};
	char text[200];

	CHECK(!talk_still_text(1e9, text, sizeof text));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		talk_wait("x", table[i].foreseen, 1000);
		for (int k = 0; k < 5; k++) {
			bool said = talk_still_text(1000 + table[i].after[k], text, sizeof text);
			CHECK_STR(said ? text : "", table[i].says[k] ? table[i].says[k] : "");
		}
		talk_waited();
		CHECK(!talk_still_text(1e9, text, sizeof text));
	}
	CHECK(isinf(talk_due(0))); /* nobody listens, so nobody need wake up */
}

/* What goes on after the user asked to stop is said once for each wait, by programs that another signal ends. */
static void what_goes_on_is_told_once(void)
{
	const char *want = "a goes on, because there is no answer without it; "
		"a second signal ends the program at once\n";
	char text[1000] = "";
	FILE *f = tmpfile();
	int own = dup(STDERR_FILENO);

	if (!CHECK(f && own >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0))
		return;
	talk_on(true);
	talk_wait("a", 0, 0);
	talk_insist();
	stop_on_signals(STOP_AT_SECOND);
	talk_insist();
	talk_insist();
	talk_waited();
	talk_insist();
	talk_on(false);
	dup2(own, STDERR_FILENO);
	close(own);
	rewind(f);
	CHECK(fread(text, 1, sizeof text - 1, f) > 0);
	CHECK_STR(strstr(text, "a goes") ? strstr(text, "a goes") : text, want);
	fclose(f);
}

static void the_clock_runs_forward(void)
{
	double before = now_seconds();
	for (int i = 0; i < 1000; i++) {
		double next = now_seconds();
		CHECK(next >= before);
		before = next;
	}
}

int main(void)
{
	RUN(terminal);
	RUN(terminal_lines_are_cut);
	RUN(plain);
	RUN(quiet);
	RUN(times_left);
	RUN(long_waits_are_told);
	RUN(what_goes_on_is_told_once);
	RUN(the_clock_runs_forward);
	return test_done();
}
