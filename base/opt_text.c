/*
 * opt_text.c - help, man page and completion, all printed from the one table.
 *
 * Help puts options in a left column and wraps their text in a right one, 80 columns in all; an
 * option too long for the left column has its text start on the next line.
 */
#include "base/opt_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifndef VANTAGE_VERSION
#define VANTAGE_VERSION "0.0.0"
#endif

/* The commit. It is linked into programs only, so a new commit relinks them and rebuilds nothing else. */
extern const char version_commit[] __attribute__((weak));

#define LEFT 28
#define WIDTH 80

/* Adds text wrapped at words. The first line goes on from `column`, the others begin at `indent`. */
static void add_wrapped(struct buf *out, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t gap = strspn(text, " "), n = strcspn(text + gap, " \n");
		if (column > indent && column + gap + n > WIDTH) {
			buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
			gap = 0;
			text += strspn(text, " ");
		}
		buf_add(out, text, gap + n);
		column += gap + n;
		text += gap + n;
		if (*text == '\n') {
			buf_addf(out, "\n%*s", text[1] && text[1] != '\n' ? (int)indent : 0, "");
			column = indent;
			text++;
		}
	}
}

bool opt_takes_auto(const struct opt *o)
{
	return o->arg && strstr(o->arg, "|auto");
}

/* Adds what the variable holds now, unless that would tell the reader nothing. */
static void add_default(struct buf *out, const struct opt *o)
{
	switch (o->type) {
	case OPT_T_FLAG:
		if (*(const bool *)o->value)
			buf_adds(out, "on");
		break;
	case OPT_T_INT:
		if (opt_takes_auto(o) && *(const int64_t *)o->value == OPT_AUTO)
			buf_adds(out, "auto");
		else
			buf_addf(out, "%" PRId64, *(const int64_t *)o->value);
		break;
	case OPT_T_NUM:
		if (opt_takes_auto(o) && *(const double *)o->value < 0)
			buf_adds(out, "auto");
		else
			buf_addf(out, "%g", *(const double *)o->value);
		break;
	case OPT_T_STR:
		if (*(const char *const *)o->value)
			buf_adds(out, *(const char *const *)o->value);
		break;
	case OPT_T_LIST:
		for (size_t i = 0; i < ((const struct opt_list *)o->value)->n; i++)
			buf_addf(out, "%s%s", i ? " " : "", ((const struct opt_list *)o->value)->item[i]);
		break;
	case OPT_T_ENUM: {
		const char *word = o->arg;
		for (int k = *(const int *)o->value; k > 0 && strchr(word, '|'); k--)
			word = strchr(word, '|') + 1;
		buf_add(out, word, strcspn(word, "|"));
		break;
	}
	default:
		break;
	}
}

static void add_text(struct buf *out, const struct opt *o)
{
	struct buf value = {0};
	buf_adds(out, o->help);
	add_default(&value, o);
	if (value.len)
		buf_addf(out, o->type == OPT_T_FLAG ? " (default %s; --no-%s)" : " (default %s)", value.data,
			o->name);
	buf_release(&value);
}

static void add_option_help(struct buf *out, const struct opt *o)
{
	struct buf left = {0}, text = {0};
	if (o->letter)
		buf_addf(&left, "  -%c, ", o->letter);
	else
		buf_adds(&left, "      ");
	buf_addf(&left, "--%s", o->name);
	if (o->arg)
		buf_addf(&left, " %s", o->arg);
	add_text(&text, o);
	if (left.len + 2 > LEFT)
		buf_addf(out, "%s\n%*s", left.data, LEFT, "");
	else
		buf_addf(out, "%-*s", LEFT, left.data);
	add_wrapped(out, text.data, LEFT, LEFT);
	buf_addch(out, '\n');
	buf_release(&left);
	buf_release(&text);
}

void opt_text_help(const struct opt_program *prog, struct buf *out)
{
	static const char *const always[][2] = {{"help", "this text"}, {"version", "the version of this program"}};
	buf_addf(out, "usage: %s %s\n\n", prog->name, prog->usage);
	add_wrapped(out, prog->about, 0, 0);
	buf_addch(out, '\n');
	if (prog->table[0].type != OPT_T_SECTION)
		buf_adds(out, "\nOptions:\n");
	for (const struct opt *o = prog->table; o->type != OPT_T_END; o++) {
		if (o->type == OPT_T_SECTION)
			buf_addf(out, "\n%s:\n", o->help);
		else
			add_option_help(out, o);
	}
	buf_addch(out, '\n');
	for (size_t i = 0; i < 2; i++)
		buf_addf(out, "      --%-*s%s\n", LEFT - 8, always[i][0], always[i][1]);
}

/* Adds text for troff, where a backslash, a dash, and a dot or quote at the start of a line must be escaped. */
static void add_roff(struct buf *out, const char *text)
{
	bool line_start = true;
	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			buf_adds(out, "\\&");
		if (*text == '\\')
			buf_adds(out, "\\e");
		else if (*text == '-')
			buf_adds(out, "\\-");
		else if (*text == '\n' && text[1] == '\n')
			buf_adds(out, "\n.PP");
		else
			buf_addch(out, *text);
		line_start = *text == '\n';
	}
	buf_addch(out, '\n');
}

static void add_option_man(struct buf *out, const struct opt *o)
{
	struct buf text = {0};
	buf_adds(out, ".TP\n.B ");
	if (o->letter)
		buf_addf(out, "\\-%c, ", o->letter);
	buf_addf(&text, "--%s", o->name);
	if (o->arg)
		buf_addf(&text, " %s", o->arg);
	add_roff(out, text.data);
	buf_reset(&text);
	add_text(&text, o);
	add_roff(out, text.data);
	buf_release(&text);
}

void opt_text_man(const struct opt_program *prog, struct buf *out)
{
	const char *end = strpbrk(prog->about, ".\n");
	struct buf line = {0};
	buf_addf(out, ".TH VANTAGE-%s 1 \"\" \"%s\"\n.SH NAME\n", prog->name, opt_version());
	buf_addf(&line, "vantage-%s - %.*s", prog->name, (int)(end ? end - prog->about : 60), prog->about);
	add_roff(out, line.data);
	buf_addf(out, ".SH SYNOPSIS\n.B vantage %s\n", prog->name);
	add_roff(out, prog->usage);
	buf_adds(out, ".SH DESCRIPTION\n");
	add_roff(out, prog->about);
	if (prog->table[0].type != OPT_T_SECTION)
		buf_adds(out, ".SH OPTIONS\n");
	for (const struct opt *o = prog->table; o->type != OPT_T_END; o++) {
		if (o->type == OPT_T_SECTION)
			buf_addf(out, ".SH \"%s\"\n", o->help);
		else
			add_option_man(out, o);
	}
	buf_adds(out, ".SH SEE ALSO\n.BR vantage (1)\n");
	buf_release(&line);
}

void opt_text_completion(const struct opt_program *prog, struct buf *out)
{
	for (const struct opt *o = prog->table; o->type != OPT_T_END; o++) {
		if (!o->name)
			continue;
		buf_addf(out, "--%s%s\n", o->name, o->type == OPT_T_FLAG || o->type == OPT_T_ENUM ? "" : "=");
		for (const char *w = o->type == OPT_T_ENUM ? o->arg : ""; *w; w += w[strcspn(w, "|")] == '|') {
			size_t n = strcspn(w, "|");
			buf_addf(out, "--%s=%.*s\n", o->name, (int)n, w);
			w += n;
		}
	}
	buf_adds(out, "--help\n--version\n");
}

const char *opt_version(void)
{
	static char text[128];
	if (!text[0]) {
		const char *commit = version_commit ? version_commit : "";
		snprintf(text, sizeof(text), "vantage " VANTAGE_VERSION "%s%s%s", *commit ? " (" : "", commit,
			*commit ? ")" : "");
	}
	return text;
}
