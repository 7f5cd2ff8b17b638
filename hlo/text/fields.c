/*
 * fields.c - see fields.h. There are two kinds of brackets around messages and of quotes around strings.
 */
#include "hlo/text/fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int fields_fail(struct fields *f, int line, const char *what, const char *word)
{
	return err_set(f->err, "%s, line %d: %s%s", f->name, line, what, word);
}

void fields_blank(struct fields *f)
{
	for (; f->p < f->end; f->p++) {
		if (*f->p == '#')
			while (f->p + 1 < f->end && f->p[1] != '\n')
				f->p++;
		else if (*f->p == '\n')
			f->line++;
		else if (!isspace((unsigned char)*f->p) && *f->p != ',' && *f->p != ';')
			return;
	}
}

bool fields_take(struct fields *f, char c)
{
	fields_blank(f);
	if (f->p >= f->end || *f->p != c)
		return false;
	f->p++;
	return true;
}

void fields_word(struct fields *f, char out[FIELDS_WORD])
{
	size_t n = 0;

	fields_blank(f);
	for (; f->p < f->end && (isalnum((unsigned char)*f->p) || memchr("_.+-/", *f->p, 5)); f->p++)
		if (n + 1 < FIELDS_WORD)
			out[n++] = *f->p;
	out[n] = 0;
}

int fields_string(struct fields *f, char out[FIELDS_WORD])
{
	char quote;
	size_t n = 0;

	fields_blank(f);
	if (f->p >= f->end || (*f->p != '"' && *f->p != '\''))
		return fields_fail(f, f->line, "a string in quotes is missing", "");
	for (quote = *f->p++; f->p < f->end && *f->p != quote && *f->p != '\n'; f->p++) {
		if (*f->p == '\\' && f->p + 1 < f->end)
			f->p++;
		if (n + 1 < FIELDS_WORD)
			out[n++] = isalnum((unsigned char)*f->p) || memchr("_./-", *f->p, 4) ? *f->p : '_';
	}
	out[n] = 0;
	if (f->p >= f->end || *f->p != quote)
		return fields_fail(f, f->line, "a string has no end", "");
	f->p++;
	return 0;
}

int fields_integer(struct fields *f, int64_t *out)
{
	char word[FIELDS_WORD], *end;

	fields_word(f, word);
	*out = strtoll(word, &end, 0);
	if (!*word || *end)
		return fields_fail(f, f->line, "a whole number is missing, there is ", *word ? word : "something else");
	return 0;
}

int fields_name(struct fields *f, char out[FIELDS_WORD])
{
	if (!fields_take(f, '[')) {
		fields_word(f, out);
		return *out ? 0 : fields_fail(f, f->line, "a field is missing", "");
	}
	strcpy(out, "[");
	while (f->p < f->end && *f->p != ']' && *f->p != '\n')
		f->p++;
	return fields_take(f, ']') ? 0 : fields_fail(f, f->line, "a name in brackets has no end", "");
}

/* All fields up to the bracket that closes them. */
static int skip_message(struct fields *f, char close)
{
	char word[FIELDS_WORD];

	if (++f->depth > FIELDS_DEPTH)
		return fields_fail(f, f->line, "messages are nested too deep", "");
	while (!fields_take(f, close))
		if (fields_name(f, word) < 0 || fields_skip(f) < 0)
			return -1;
	f->depth--;
	return 0;
}

static int skip_scalar(struct fields *f)
{
	char word[FIELDS_WORD];

	fields_blank(f);
	if (f->p < f->end && (*f->p == '"' || *f->p == '\'')) {
		do { /* strings side by side are one */
			if (fields_string(f, word) < 0)
				return -1;
			fields_blank(f);
		} while (f->p < f->end && (*f->p == '"' || *f->p == '\''));
		return 0;
	}
	if (fields_take(f, '{'))
		return skip_message(f, '}');
	if (fields_take(f, '<'))
		return skip_message(f, '>');
	fields_word(f, word);
	return *word ? 0 : fields_fail(f, f->line, "a value is missing", "");
}

int fields_skip(struct fields *f)
{
	fields_take(f, ':');
	if (!fields_take(f, '['))
		return skip_scalar(f);
	while (!fields_take(f, ']'))
		if (skip_scalar(f) < 0)
			return -1;
	return 0;
}

int fields_number(struct fields *f, int64_t *out)
{
	if (!fields_take(f, ':'))
		return fields_fail(f, f->line, "a \":\" is missing", "");
	return fields_integer(f, out);
}

char fields_open(struct fields *f)
{
	fields_take(f, ':');
	if (fields_take(f, '{'))
		return '}';
	if (fields_take(f, '<'))
		return '>';
	fields_fail(f, f->line, "a \"{\" is missing", "");
	return 0;
}
