/*
 * scan.c - reads JSON in one pass.
 *
 * Files of tens of millions of numbers are read here. Almost all of these are short whole numbers, so those have a
 * quick path; the others are read digit by digit. scan_i64 takes only numbers that are whole and fit: 1e18 does, 1.5
 * and 1e30 are errors, never rounded.
 */
#include "base/scan.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_ROOM 400 /* characters of the longest number that is taken */

void scan_open(struct scan *s, const void *text, size_t n, struct err *err)
{
	*s = (struct scan){.text = text, .p = text, .end = (const char *)text + n, .err = err};
}

int scan_fail(struct scan *s, const char *fmt, ...)
{
	char text[800];
	size_t line = 1;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (const char *p = s->text; p < s->p; p++)
		line += *p == '\n';
	return err_set(s->err, "line %zu, byte %zu: %s", line, (size_t)(s->p - s->text) + 1, text);
}

static int peek(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
		s->p++;
	return s->p < s->end ? (unsigned char)*s->p : -1;
}

static int unexpected(struct scan *s, const char *wanted)
{
	int c = peek(s);

	if (c < 0)
		return scan_fail(s, "the text ends where %s should be", wanted);
	if (c < ' ' || c > '~')
		return scan_fail(s, "byte 0x%02x stands where %s should be", c, wanted);
	return scan_fail(s, "'%c' stands where %s should be", c, wanted);
}

int scan_end(struct scan *s)
{
	return peek(s) < 0 ? 0 : unexpected(s, "the end");
}

static int enter(struct scan *s, char bracket, const char *wanted)
{
	if (peek(s) != bracket)
		return unexpected(s, wanted);
	if (s->depth == SCAN_DEPTH)
		return scan_fail(s, "nested more than %d deep", SCAN_DEPTH);
	s->p++;
	s->nonempty &= ~((uint64_t)1 << ++s->depth);
	return 0;
}

int scan_object(struct scan *s)
{
	return enter(s, '{', "an object");
}

int scan_array(struct scan *s)
{
	return enter(s, '[', "an array");
}

/* Moves past the comma to the next member and returns 1, or past the closing bracket and returns 0. */
static int next_member(struct scan *s, char bracket)
{
	uint64_t bit = (uint64_t)1 << s->depth;
	int c = peek(s);

	if (c == bracket) {
		s->p++;
		s->depth--;
		return 0;
	}
	if (s->nonempty & bit) {
		if (c != ',')
			return unexpected(s, bracket == '}' ? "',' or '}'" : "',' or ']'");
		s->p++;
		if (peek(s) == bracket)
			return unexpected(s, "a value");
	}
	s->nonempty |= bit;
	return 1;
}

int scan_item(struct scan *s)
{
	return next_member(s, ']');
}

int scan_key(struct scan *s, char *key, size_t room)
{
	struct buf name = {0};
	int rc = next_member(s, '}');

	if (rc < 1)
		return rc;
	if (scan_str(s, &name) < 0) {
		buf_release(&name);
		return -1;
	}
	snprintf(key, room, "%s", name.data ? name.data : "");
	buf_release(&name);
	if (peek(s) != ':')
		return unexpected(s, "':'");
	s->p++;
	return 1;
}

bool scan_is(struct scan *s, char kind)
{
	int c = peek(s);
	return kind ? c == kind : c == '-' || (c >= '0' && c <= '9');
}

/* Checks a number against the grammar; returns the byte after it, or NULL. */
static const char *number_end(const char *p, const char *end)
{
	const char *digits;

	p += p < end && *p == '-';
	digits = p;
	while (p < end && isdigit((unsigned char)*p))
		p++;
	if (p == digits || (*digits == '0' && p > digits + 1))
		return NULL;
	if (p < end && *p == '.') {
		digits = ++p;
		while (p < end && isdigit((unsigned char)*p))
			p++;
		if (p == digits)
			return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		digits = p;
		while (p < end && isdigit((unsigned char)*p))
			p++;
		if (p == digits)
			return NULL;
	}
	return p;
}

/*
 * Reads an exponent: perhaps a sign, then digits up to the end. It stops growing when it is too large for any number.
 */
static long power_of_ten(const char *p, const char *end)
{
	bool negative = *p == '-';
	long power = 0;

	for (p += *p == '-' || *p == '+'; p < end && power < NUMBER_ROOM * 2; p++)
		power = 10 * power + (*p - '0');
	return negative ? -power : power;
}

/* Reads digits times a power of ten as a whole number of 64 bits; false when it is not one. */
static bool whole(const char *p, const char *end, int64_t *v)
{
	char digits[NUMBER_ROOM];
	bool negative = *p == '-';
	long shift = 0;
	size_t n = 0;
	uint64_t sum = 0;

	for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
		const char *dot = *p == '.' ? p : NULL;
		if (dot) {
			while (p + 1 < end && isdigit((unsigned char)p[1])) {
				digits[n++] = *++p;
				shift--;
			}
			continue;
		}
		digits[n++] = *p;
	}
	if (p < end)
		shift += power_of_ten(p + 1, end);
	while (n > 0 && digits[n - 1] == '0') {
		n--;
		shift++;
	}
	if (n == 0)
		return *v = 0, true;
	if (shift < 0 || shift > 18)
		return false;
	for (size_t i = 0; i < n + (size_t)shift; i++) {
		uint64_t d = i < n ? (uint64_t)(digits[i] - '0') : 0;
		if (sum > (UINT64_MAX - d) / 10)
			return false;
		sum = sum * 10 + d;
	}
	if (sum > (uint64_t)INT64_MAX + negative)
		return false;
	*v = negative ? (int64_t)(0 - sum) : (int64_t)sum;
	return true;
}

/* Returns the end of a number of at most NUMBER_ROOM characters, or NULL with a sentence. */
static const char *number(struct scan *s)
{
	const char *after;

	if (!scan_is(s, 0)) {
		unexpected(s, "a number");
		return NULL;
	}
	after = number_end(s->p, s->end);
	if (!after)
		scan_fail(s, "a damaged number");
	else if (after - s->p >= NUMBER_ROOM) {
		scan_fail(s, "a number of more than %d characters", NUMBER_ROOM);
		after = NULL;
	}
	return after;
}

int scan_i64(struct scan *s, int64_t *v)
{
	const char *p, *after;
	int64_t sum = 0;

	peek(s);
	for (p = s->p; p < s->end && p < s->p + 18 && isdigit((unsigned char)*p); p++)
		sum = sum * 10 + (*p - '0');
	if (p > s->p && p < s->end && (*p == ',' || *p == ']') && (*s->p != '0' || p == s->p + 1)) {
		s->p = p;
		*v = sum;
		return 0;
	}
	if (!(after = number(s)))
		return -1;
	if (!whole(s->p, after, v))
		return scan_fail(s, "%.*s is not a whole number of 64 bits", (int)(after - s->p < 60 ? after - s->p
			: 60), s->p);
	s->p = after;
	return 0;
}

int scan_f64(struct scan *s, double *v)
{
	char text[NUMBER_ROOM];
	const char *after = number(s);

	if (!after)
		return -1;
	memcpy(text, s->p, (size_t)(after - s->p));
	text[after - s->p] = 0;
	*v = strtod(text, NULL);
	if (!isfinite(*v))
		return scan_fail(s, "%.60s is too large", text);
	s->p = after;
	return 0;
}

static bool word(struct scan *s, const char *w)
{
	size_t n = strlen(w);

	peek(s);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n) != 0)
		return false;
	s->p += n;
	return true;
}

int scan_bool(struct scan *s, bool *v)
{
	double number_value;

	if (word(s, "true"))
		return *v = true, 0;
	if (word(s, "false"))
		return *v = false, 0;
	if (!scan_is(s, 0))
		return unexpected(s, "true or false");
	if (scan_f64(s, &number_value) < 0)
		return -1;
	if (number_value != 0 && number_value != 1)
		return scan_fail(s, "%g is neither 0 nor 1", number_value);
	*v = number_value != 0;
	return 0;
}

static void utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_addch(out, (int)c);
	} else if (c < 0x800) {
		buf_addch(out, (int)(0xc0 | c >> 6));
		buf_addch(out, (int)(0x80 | (c & 0x3f)));
	} else {
		buf_addch(out, (int)(0xe0 | c >> 12));
		buf_addch(out, (int)(0x80 | (c >> 6 & 0x3f)));
		buf_addch(out, (int)(0x80 | (c & 0x3f)));
	}
}

static int hex4(struct scan *s, uint32_t *c)
{
	*c = 0;
	for (int i = 0; i < 4; i++) {
		if (s->p == s->end || !isxdigit((unsigned char)*s->p))
			return unexpected(s, "a hexadecimal digit");
		int d = tolower((unsigned char)*s->p++);
		*c = *c << 4 | (uint32_t)(d <= '9' ? d - '0' : d - 'a' + 10);
	}
	return 0;
}

static int escape(struct scan *s, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	uint32_t c;

	if (s->p == s->end)
		return unexpected(s, "the rest of an escape");
	if (*s->p == 'u') {
		s->p++;
		if (hex4(s, &c) < 0)
			return -1;
		utf8(out, c); /* halves of a pair stay halves: names only, which nobody compares */
		return 0;
	}
	at = *s->p ? strchr(from, *s->p) : NULL;
	if (!at)
		return unexpected(s, "an escape");
	buf_addch(out, to[at - from]);
	s->p++;
	return 0;
}

int scan_str(struct scan *s, struct buf *out)
{
	if (peek(s) != '"')
		return unexpected(s, "a string");
	buf_reserve(out, 0);
	for (s->p++; s->p < s->end && *s->p != '"';) {
		if ((unsigned char)*s->p < ' ')
			return scan_fail(s, "byte 0x%02x stands in a string, where it must be an escape",
				(unsigned char)*s->p);
		if (*s->p != '\\') {
			buf_addch(out, *s->p++);
			continue;
		}
		s->p++;
		if (escape(s, out) < 0)
			return -1;
	}
	if (s->p == s->end)
		return unexpected(s, "the end of a string");
	s->p++;
	return 0;
}

static int skip_plain(struct scan *s)
{
	struct buf ignored = {0};
	double v;
	int rc;

	if (scan_is(s, '"')) {
		rc = scan_str(s, &ignored);
		buf_release(&ignored);
		return rc;
	}
	if (word(s, "true") || word(s, "false") || word(s, "null"))
		return 0;
	return scan_is(s, 0) ? scan_f64(s, &v) : unexpected(s, "a value");
}

/* Recurses as deep as the nesting, which SCAN_DEPTH limits. */
int scan_skip(struct scan *s)
{
	char key[4];
	int rc;

	if (scan_is(s, '{')) {
		if ((rc = scan_object(s)) < 0)
			return -1;
		while ((rc = scan_key(s, key, sizeof key)) == 1)
			if (scan_skip(s) < 0)
				return -1;
		return rc;
	}
	if (!scan_is(s, '['))
		return skip_plain(s);
	if ((rc = scan_array(s)) < 0)
		return -1;
	while ((rc = scan_item(s)) == 1)
		if (scan_skip(s) < 0)
			return -1;
	return rc;
}
