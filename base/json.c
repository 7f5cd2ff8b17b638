/*
 * json.c - writing JSON as it is composed, straight into a buf.
 *
 * The state is two bits per depth: is this an array, and does it hold something yet (then a comma
 * is due). Names in graphs are arbitrary bytes but JSON is UTF-8, so a byte that is not UTF-8 becomes U+FFFD.
 * "</" is written "<\/", so that JSON can stand inside the script element of a report.
 */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"

/* Bytes of the well-formed UTF-8 character at s (which ends in NUL), or 0. */
static size_t utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char low, high, second_low, second_high, length;
	} form[] = {{0x00, 0x7f, 0, 0, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		if (s[0] < form[i].low || s[0] > form[i].high)
			continue;
		if (form[i].length > 1 && (s[1] < form[i].second_low || s[1] > form[i].second_high))
			return 0;
		for (size_t k = 2; k < form[i].length; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return form[i].length;
	}
	return 0;
}

static void add_quoted(struct buf *b, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	buf_addch(b, '"');
	while (*s) {
		size_t n = utf8_length(s);
		if (n == 0)
			buf_adds(b, "\\ufffd");
		else if (*s == '"' || *s == '\\')
			buf_addf(b, "\\%c", *s);
		else if (*s == '\n' || *s == '\t')
			buf_adds(b, *s == '\n' ? "\\n" : "\\t");
		else if (*s < 0x20 || *s == 0x7f)
			buf_addf(b, "\\u%04x", *s);
		else if (*s == '/' && s > (const unsigned char *)text && s[-1] == '<')
			buf_adds(b, "\\/");
		else
			buf_add(b, s, n);
		s += n ? n : 1;
	}
	buf_addch(b, '"');
}

static void new_line(struct json *j)
{
	if (!j->pretty)
		return;
	buf_addch(j->out, '\n');
	for (int i = 0; i < j->depth; i++)
		buf_addch(j->out, '\t');
}

/* Writes what stands before a value: the comma, the line break, the key. */
static void begin(struct json *j, const char *key)
{
	uint64_t bit = (uint64_t)1 << j->depth;
	bool in_object = j->depth && !(j->array & bit);
	if (in_object != (key != NULL))
		BUG("JSON value %s a key %s", key ? "with" : "without", key ? key : "in an object");
	if (j->nonempty & bit)
		buf_addch(j->out, ',');
	j->nonempty |= bit;
	if (j->depth)
		new_line(j);
	if (key) {
		add_quoted(j->out, key);
		buf_adds(j->out, j->pretty ? ": " : ":");
	}
}

static void open_level(struct json *j, const char *key, bool array)
{
	begin(j, key);
	buf_addch(j->out, array ? '[' : '{');
	if (++j->depth >= 64)
		BUG("JSON nested deeper than 63");
	uint64_t bit = (uint64_t)1 << j->depth;
	j->nonempty &= ~bit;
	j->array = array ? j->array | bit : j->array & ~bit;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, false);
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, true);
}

void json_end(struct json *j)
{
	BUG_ON(j->depth == 0);
	uint64_t bit = (uint64_t)1 << j->depth--;
	if (j->nonempty & bit)
		new_line(j);
	buf_addch(j->out, j->array & bit ? ']' : '}');
	if (j->depth == 0 && j->pretty)
		buf_addch(j->out, '\n');
}

void json_str(struct json *j, const char *key, const char *value)
{
	begin(j, key);
	if (value)
		add_quoted(j->out, value);
	else
		buf_adds(j->out, "null");
}

void json_int(struct json *j, const char *key, int64_t value)
{
	begin(j, key);
	buf_addf(j->out, "%" PRId64, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	begin(j, key);
	buf_addf(j->out, "%" PRIu64, value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin(j, key);
	buf_addf(j->out, "\"%016" PRIx64 "\"", value);
}

/* The fewest digits that read back equal: 15 or 16 sometimes do, 17 always do. */
void json_num(struct json *j, const char *key, double value)
{
	char text[40] = "null";
	begin(j, key);
	for (int digits = 15; digits <= 17 && isfinite(value); digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_adds(j->out, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	buf_adds(j->out, value ? "true" : "false");
}
