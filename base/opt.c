/*
 * opt.c - parsing a command line by a table.
 *
 * We look for --help, --version and the like before parsing anything. So --help shows the defaults, not what the
 * options left of it set. Words that are no options are collected at the front of argv while we read on; the front
 * never overtakes the reader, because every word in it was read before.
 */
#include "base/opt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/opt_text.h"

void opt_list_release(struct opt_list *list)
{
	mem_free(list->item);
	*list = (struct opt_list){0};
}

const char *opt_beside(const struct opt_list *given, const char *const *allowed)
{
	for (size_t i = 0; i < given->n; i++) {
		const char *const *a = allowed;
		while (*a && strcmp(*a, given->item[i]) != 0)
			a++;
		if (!*a)
			return given->item[i];
	}
	return NULL;
}

const char *opt_in_section(const struct opt *table, const char *title, const struct opt_list *given)
{
	for (size_t i = 0; i < given->n; i++) {
		const char *section = "";
		for (const struct opt *o = table; o->type != OPT_T_END; o++) {
			if (o->type == OPT_T_SECTION)
				section = o->help;
			else if (strcmp(o->name, given->item[i]) == 0 && strcmp(section, title) == 0)
				return given->item[i];
		}
	}
	return NULL;
}

static void append(struct opt_list *list, const char *item)
{
	MEM_GROW(&list->item, &list->cap, list->n + 1);
	list->item[list->n++] = item;
}

/* Notes that the option is on the command line, if the end of the table has a list for that. */
static void note_given(const struct opt *table, const struct opt *o)
{
	while (table->type != OPT_T_END)
		table++;
	if (table->value)
		append(table->value, o->name);
}

/* Edit distance; swapping two neighbours counts as one edit, as it is one slip of the fingers. */
static size_t distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t *row = MEM_NEW(3 * (nb + 1), size_t), *before = row + nb + 1, *older = before + nb + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		memcpy(older, before, (nb + 1) * sizeof(*row));
		memcpy(before, row, (nb + 1) * sizeof(*row));
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
			if (swapped && older[j - 2] + 1 < best)
				best = older[j - 2] + 1;
			row[j] = best;
		}
	}
	size_t result = row[nb];
	mem_free(row);
	return result;
}

const char *opt_nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *nearest = NULL;
	size_t best = 1 + strlen(word) / 3; /* one slip, and one more per three letters */
	if (strlen(word) > 64)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, candidates[i]);
		if (d < best || (d == best && !nearest)) {
			best = d;
			nearest = candidates[i];
		}
	}
	return nearest;
}

static const struct opt *find_name(const struct opt *table, const char *name, size_t n)
{
	for (const struct opt *o = table; o->type != OPT_T_END; o++)
		if (o->name && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
			return o;
	return NULL;
}

static const struct opt *find_letter(const struct opt *table, int letter)
{
	for (const struct opt *o = table; o->type != OPT_T_END; o++)
		if (o->name && o->letter == letter)
			return o;
	return NULL;
}

static int unknown(const struct opt_program *prog, const char *name, size_t n, struct err *err)
{
	static const char *const always[] = {"help", "version"};
	const char **names = NULL;
	size_t count = 0, cap = 0;
	for (const struct opt *o = prog->table; o->type != OPT_T_END; o++) {
		if (!o->name)
			continue;
		MEM_GROW(&names, &cap, count + 1);
		names[count++] = o->name;
	}
	MEM_GROW(&names, &cap, count + 2);
	names[count++] = always[0];
	names[count++] = always[1];
	struct buf word = {0};
	buf_add(&word, name, n);
	const char *near = opt_nearest(word.data, names, count);
	int rc = near ? err_set(err, "unknown option --%s; did you mean --%s?", word.data, near)
		      : err_set(err, "unknown option --%s; %s --help lists them all", word.data, prog->name);
	buf_release(&word);
	mem_free(names);
	return rc;
}

/* Sets the sentence for a number out of bounds; it leaves out a bound that no number reaches. */
static int out_of_bounds(const struct opt *o, const char *text, struct err *err)
{
	bool low = o->low > -0x1p63, high = o->high < 0x1p63;
	if (low && high)
		return err_set(err, "--%s must lie between %.15g and %.15g; it is %s", o->name, o->low, o->high, text);
	if (low)
		return err_set(err, "--%s must be at least %.15g; it is %s", o->name, o->low, text);
	if (high)
		return err_set(err, "--%s must be at most %.15g; it is %s", o->name, o->high, text);
	return err_set(err, "--%s is too large a number: %s", o->name, text);
}

static int set_int(const struct opt *o, const char *text, struct err *err)
{
	char *end;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	if (end == text || *end)
		return err_set(err, "--%s wants a whole number, not \"%s\"", o->name, text);
	if (errno || (double)v < o->low || (double)v > o->high)
		return out_of_bounds(o, text, err);
	*(int64_t *)o->value = v;
	return 0;
}

static int set_num(const struct opt *o, const char *text, struct err *err)
{
	char *end;
	double v = strtod(text, &end);
	if (end == text || *end || isnan(v))
		return err_set(err, "--%s wants a number, not \"%s\"", o->name, text);
	if (v < o->low || v > o->high)
		return out_of_bounds(o, text, err);
	*(double *)o->value = v;
	return 0;
}

/* The words of an enum stand in `arg` with bars between them; the value stored is the word's position. */
static int set_enum(const struct opt *o, const char *text, struct err *err)
{
	char *words = mem_strdup(o->arg), *rest = words;
	const char *list[64];
	size_t n = 0;
	int rc = 0;
	for (char *w; (w = strsep(&rest, "|")) && n < 64; n++) {
		list[n] = w;
		if (strcmp(w, text) == 0) {
			*(int *)o->value = (int)n;
			goto out;
		}
	}
	const char *near = opt_nearest(text, list, n);
	if (near)
		rc = err_set(err, "--%s %s: did you mean %s?", o->name, text, near);
	else
		rc = err_set(err, "--%s wants one of %s, not \"%s\"", o->name, o->arg, text);
out:
	mem_free(words);
	return rc;
}

static int set_value(const struct opt *o, const char *text, struct err *err)
{
	bool is_auto = opt_takes_auto(o) && strcmp(text, "auto") == 0;

	switch (o->type) {
	case OPT_T_INT:
		return is_auto ? *(int64_t *)o->value = OPT_AUTO, 0 : set_int(o, text, err);
	case OPT_T_NUM:
		return is_auto ? *(double *)o->value = OPT_AUTO, 0 : set_num(o, text, err);
	case OPT_T_ENUM:
		return set_enum(o, text, err);
	case OPT_T_STR:
		*(const char **)o->value = text;
		return 0;
	case OPT_T_LIST:
		append(o->value, text);
		return 0;
	default:
		BUG("option --%s of type %d has no value", o->name, (int)o->type);
	}
}

struct reader {
	const struct opt_program *prog;
	char **argv;
	int argc, at; /* at: the next word to read */
	struct err *err;
};

static int next_value(struct reader *r, const struct opt *o)
{
	if (r->at >= r->argc)
		return err_set(r->err, "--%s needs a value (%s)", o->name, o->arg);
	return set_value(o, r->argv[r->at++], r->err);
}

static int read_long(struct reader *r, const char *name)
{
	size_t n = strcspn(name, "=");
	const char *value = name[n] ? name + n + 1 : NULL;
	const struct opt *o = find_name(r->prog->table, name, n);
	bool on = true;
	if (!o && n > 3 && strncmp(name, "no-", 3) == 0) {
		o = find_name(r->prog->table, name + 3, n - 3);
		if (o && o->type != OPT_T_FLAG)
			return err_set(r->err, "--%s takes a value and cannot be switched off by --%.*s", o->name,
				(int)n, name);
		on = false;
	}
	if (!o)
		return unknown(r->prog, name, n, r->err);
	note_given(r->prog->table, o);
	if (o->type != OPT_T_FLAG)
		return value ? set_value(o, value, r->err) : next_value(r, o);
	if (value)
		return err_set(r->err, "--%.*s takes no value (\"%s\"); --no-%s switches it off", (int)n, name,
			value, o->name);
	*(bool *)o->value = on;
	return 0;
}

/* Reads options of one letter. Flags may stand together (-xj); a value follows at once (-b5) or as the next word. */
static int read_letters(struct reader *r, const char *letters)
{
	for (const char *s = letters; *s; s++) {
		const struct opt *o = find_letter(r->prog->table, (unsigned char)*s);
		if (!o)
			return err_set(r->err, "unknown option -%c; %s --help lists them all", *s, r->prog->name);
		note_given(r->prog->table, o);
		if (o->type != OPT_T_FLAG)
			return s[1] ? set_value(o, s + 1, r->err) : next_value(r, o);
		*(bool *)o->value = true;
	}
	return 0;
}

/* Prints what --help, --version and the like ask for; returns 1 if one of them was there, -1 if it cannot print. */
static int print_texts(const struct opt_program *prog, int argc, char **argv, struct err *err)
{
	struct buf out = {0};
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && !out.len; i++) {
		if (strcmp(argv[i], "--help") == 0)
			opt_text_help(prog, &out);
		else if (strcmp(argv[i], "--version") == 0)
			buf_addf(&out, "%s\n", opt_version());
		else if (strcmp(argv[i], "--help-man") == 0)
			opt_text_man(prog, &out);
		else if (strcmp(argv[i], "--help-completion") == 0)
			opt_text_completion(prog, &out);
	}
	int rc = out.len > 0;
	if (rc && io_print(&out, err) < 0)
		rc = -1;
	buf_release(&out);
	return rc;
}

int opt_parse(const struct opt_program *prog, int argc, char **argv, int *n_words, struct err *err)
{
	struct reader r = {.prog = prog, .argv = argv, .argc = argc, .at = 1, .err = err};
	int words = 0, printed = print_texts(prog, argc, argv, err);
	*n_words = 0;
	if (printed)
		return printed;
	while (r.at < argc) {
		char *word = argv[r.at++];
		if (word[0] != '-' || !word[1]) {
			argv[words++] = word;
		} else if (strcmp(word, "--") == 0) {
			while (r.at < argc)
				argv[words++] = argv[r.at++];
		} else if ((word[1] == '-' ? read_long(&r, word + 2) : read_letters(&r, word + 1)) < 0) {
			return -1;
		}
	}
	*n_words = words;
	return 0;
}
