/*
 * pattern_read.c - reads the lines of a pattern (pattern.h).
 */
#include "space/rewrite/pattern.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t operands;
} ops[] = {[PATTERN_DOT] = {"dot", 2}, [PATTERN_ADD] = {"add", 2}, [PATTERN_SUBTRACT] = {"subtract", 2},
	[PATTERN_MULTIPLY] = {"multiply", 2}, [PATTERN_SUM] = {"sum", 1}, [PATTERN_BROADCAST] = {"broadcast", 1}};

static void skip(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
}

static uint32_t find_value(struct pattern *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_values; i++)
		if (strcmp(p->value[i].name, name) == 0)
			return i;
	return NONE;
}

static size_t read_word(const char **at, char *out, size_t room)
{
	size_t n = 0;

	skip(at);
	while (isalnum((unsigned char)**at) && n + 1 < room)
		out[n++] = *(*at)++;
	out[n] = 0;
	return n;
}

/* Reads "name" or "name[letters]"; a new name is a new value. */
static int read_value(struct pattern *p, const char **at, uint32_t *out, struct err *err)
{
	char name[8];
	uint32_t letters = 0;

	if (!read_word(at, name, sizeof name))
		return err_set(err, "the name of a value was expected at \"%.30s\"", *at);
	if ((*out = find_value(p, name)) == NONE) {
		if (p->n_values == PATTERN_VALUES)
			return err_set(err, "too many values: %s", name);
		*out = p->n_values++;
		memcpy(p->value[*out].name, name, sizeof name);
	}
	if (**at != '[')
		return 0;
	for ((*at)++; **at && **at != ']'; (*at)++)
		if (islower((unsigned char)**at))
			letters |= 1u << (**at - 'a');
		else if (**at != ' ')
			return err_set(err, "a letter was expected at \"%.30s\"", *at);
	if (*(*at) != ']')
		return err_set(err, "the letters of %s do not end", name);
	(*at)++;
	if (p->value[*out].known && p->value[*out].letters != letters)
		return err_set(err, "%s has other letters than before", name);
	p->value[*out].letters = letters;
	p->value[*out].known = true;
	return 0;
}

int pattern_line(struct pattern *p, struct arena *mem, const char *text, bool write, struct err *err)
{
	struct pattern_line l = {.n_operands = 0};
	uint32_t *n = write ? &p->n_write : &p->n_match, letters = 0, measures = 0;
	char word[16];
	size_t op = 0;

	if (*n == PATTERN_LINES)
		return err_set(err, "a pattern has at most %d lines", PATTERN_LINES);
	if (read_value(p, &text, &l.value, err) < 0)
		return -1;
	skip(&text);
	if (*text++ != '=')
		return err_set(err, "\"=\" was expected at \"%.30s\"", text - 1);
	read_word(&text, word, sizeof word);
	while (op < sizeof ops / sizeof *ops && strcmp(ops[op].name, word) != 0)
		op++;
	if (op == sizeof ops / sizeof *ops)
		return err_set(err, "there is no operation %s", word);
	l.op = (enum pattern_op)op;
	for (; l.n_operands < ops[op].operands; l.n_operands++)
		if (read_value(p, &text, &l.operand[l.n_operands], err) < 0)
			return -1;
	skip(&text);
	if (*text)
		return err_set(err, "nothing more was expected at \"%.30s\"", text);
	for (uint32_t i = 0; i < p->n_values; i++) {
		letters |= p->value[i].letters;
		if (!p->value[i].known)
			return err_set(err, "the letters of %s are not known", p->value[i].name);
	}
	for (uint32_t i = 0; i < 26; i++)
		if (letters >> i & 1 && measures < FOUND_MEASURES - 1)
			p->measures[measures++] = arena_printf(mem, "%c", (int)('a' + i));
	p->measures[measures] = PATTERN_COMPLEX;
	(write ? p->write : p->match)[(*n)++] = l;
	return 0;
}

static bool computed(const struct pattern_line *l, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		if (l[i].value == value)
			return true;
	return false;
}

int pattern_check(const struct pattern *p, struct err *err)
{
	uint32_t root;

	if (p->n_match == 0 || p->n_write == 0)
		return err_set(err, "a pattern matches something and writes something");
	root = p->match[p->n_match - 1].value;
	if (p->write[p->n_write - 1].value != root)
		return err_set(err, "what is written last is not %s, which is matched last", p->value[root].name);
	for (uint32_t i = 0; i < p->n_write; i++)
		for (uint32_t k = 0; k < p->write[i].n_operands; k++) {
			uint32_t v = p->write[i].operand[k];
			bool read = false;
			for (uint32_t j = 0; j < p->n_match; j++)
				for (uint32_t o = 0; o < p->match[j].n_operands; o++)
					read |= p->match[j].operand[o] == v && !computed(p->match, p->n_match, v);
			if (!read && !computed(p->write, i, v))
				return err_set(err, "%s is neither read by the pattern nor written before",
					p->value[v].name);
		}
	return 0;
}
