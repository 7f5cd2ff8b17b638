/*
 * last_words.c - see the header. A compiler that aborts has usually printed a lot: what it set up, warnings, then the
 * cause, then a stack trace.
 *
 * We read line by line. Some lines never name a cause: log lines of the levels "info" and "warning", frames of a stack
 * trace, banners. Of the other lines some have a mark of a cause (a fatal log line, what the C library says before it
 * aborts); the first line with the strongest mark is the cause. Without a mark it is the first of the other lines,
 * because what follows a cause is detail. A log line of the level "error" comes last: plugins write such lines about
 * things that they can do without.
 *
 * A cause goes on over the lines behind it until noise, another log line or an empty line. Log lines of
 * absl (and glog) begin with a letter for the level, four digits, time, thread and place:
 *
 *	F0000 00:00:1795351495.074193   22963 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --x
 *
 * Only the place and the message are kept of them.
 */
#include "device/last_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct span {
	const char *at;
	size_t n;
};

/* How much a line says about the cause; a larger one wins, and the first among equals. */
enum weight { NOISE, ERROR_LOG, PLAIN, MARKED, FATAL_LOG };

/* What begins a line that names no cause, after blanks. */
static const char *const noise[] = {"WARNING: All log messages before absl::InitializeLog()", "@ ", "PC: @", "#",
	"*** Check failure stack trace", "*** SIG", "*** Aborted at", "********", "[Compiling module",
	"The operation took", "PLEASE submit a bug report", "Stack dump:", "[failure_signal_handler", "[symbolize_",
	"https://symbolize.", "===="};

/* What a line holds that names the cause. */
static const char *const marks[] = {"Check failed", "CHECK failed", "LLVM ERROR", "terminate called",
	"ERROR: AddressSanitizer", "ERROR: ThreadSanitizer", "runtime error:", "Assertion `", "free(): ", "alloc(): ",
	"munmap_chunk(): ", "malloc_consolidate(): ", "double free or corruption", "corrupted size",
	"corrupted double-linked",
	"*** stack smashing", "*** buffer overflow", "vantage: "};

static bool begins(struct span s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.at, with, n) == 0;
}

static bool holds(struct span s, const char *part)
{
	return memmem(s.at, s.n, part, strlen(part)) != NULL;
}

static struct span trimmed(struct span s)
{
	while (s.n && isspace((unsigned char)*s.at))
		s.at++, s.n--;
	while (s.n && isspace((unsigned char)s.at[s.n - 1]))
		s.n--;
	return s;
}

/* The next line of `rest`, which shrinks, without blanks around it. */
static struct span next_line(struct span *rest)
{
	const char *end = memchr(rest->at, '\n', rest->n);
	struct span line = {rest->at, end ? (size_t)(end - rest->at) : rest->n};
	size_t used = line.n + (end != NULL);

	rest->at += used;
	rest->n -= used;
	return trimmed(line);
}

static struct span behind_word(struct span s)
{
	while (s.n && *s.at != ' ')
		s.at++, s.n--;
	return trimmed(s);
}

/* Of a log line its level, and *message is its place and text; of any other line 0, and *message is all of it. */
static char level(struct span line, struct span *message)
{
	*message = line;
	if (line.n < 6 || !strchr("IWEF", *line.at) || line.at[5] != ' ')
		return 0;
	for (int i = 1; i < 5; i++)
		if (!isdigit((unsigned char)line.at[i]))
			return 0;
	for (int i = 0; i < 3; i++) /* level and date, time, thread */
		*message = behind_word(*message);
	return *line.at;
}

static enum weight weigh(struct span line, struct span *message)
{
	char l = level(line, message);

	if (l == 'F')
		return FATAL_LOG;
	if (l == 'E')
		return holds(*message, "slow_operation_alarm") ? NOISE : ERROR_LOG;
	if (l || !line.n)
		return NOISE;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (holds(line, marks[i]))
			return MARKED;
	for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
		if (begins(line, noise[i]))
			return NOISE;
	return PLAIN;
}

/* Appends, after a blank, with control characters as blanks. */
static size_t append(struct span s, char *out, size_t used, size_t size)
{
	if (used && used + 1 < size)
		out[used++] = ' ';
	for (size_t i = 0; i < s.n && used + 1 < size; i++)
		out[used++] = iscntrl((unsigned char)s.at[i]) ? ' ' : s.at[i];
	return used;
}

void last_words(const char *text, size_t n, char *out, size_t size)
{
	struct span rest = {text, n}, behind = {text, 0}, best = behind, message;
	enum weight most = NOISE, w;
	size_t used = 0;

	while (rest.n) {
		struct span line = next_line(&rest);
		if ((w = weigh(line, &message)) > most) {
			most = w;
			best = message;
			behind = rest;
		}
	}
	if (most != NOISE)
		used = append(best, out, 0, size);
	while (most != NOISE && behind.n) {
		struct span line = next_line(&behind);
		w = weigh(line, &message);
		if (w != PLAIN)
			break;
		used = append(message, out, used, size);
	}
	if (size)
		out[used < size ? used : size - 1] = 0;
}
