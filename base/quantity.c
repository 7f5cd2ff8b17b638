/*
 * quantity.c - the names of quantity.h, and how figures are written: both by the rows of schemas/quantity.def.
 *
 * A count below the next larger unit is written whole, with commas, because people compare such figures digit by digit.
 */
#include "base/quantity.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"

enum figures { ROUNDED, COUNTED, BARE };

static const struct facts {
	const char *name, *unit, *verb, *noun;
	double one; /* one of `unit`, in the base unit */
	bool deterministic;
	enum figures figures;
} table[] = {
#define QUANTITY(id, name, unit, one, deterministic, figures, verb, noun, meaning) \
	{name, unit, verb, noun, one, deterministic, figures},
#include "schemas/quantity.def"
};

static const struct scale {
	enum quantity quantity;
	const char *unit;
	double one; /* one of this unit, in the base unit */
} scales[] = {
#define SCALE(id, unit, one) {QUANTITY_##id, unit, one},
#include "schemas/quantity.def"
};

#define N_SCALES (sizeof scales / sizeof *scales)

/* Iterates over the units of a quantity, largest first: the one after `last`, the first after NULL, NULL at the end. */
static const struct scale *next_scale(enum quantity q, const struct scale *last)
{
	const struct scale *s = last ? last + 1 : scales;

	while (s < scales + N_SCALES && s->quantity != q)
		s++;
	return s < scales + N_SCALES ? s : NULL;
}

static const struct facts *facts(enum quantity q)
{
	BUG_ON((unsigned)q >= QUANTITY_COUNT);
	return &table[q];
}

const char *quantity_name(enum quantity q)
{
	return facts(q)->name;
}

const char *quantity_verb(enum quantity q)
{
	return facts(q)->verb;
}

const char *quantity_noun(enum quantity q)
{
	return facts(q)->noun;
}

bool quantity_deterministic(enum quantity q)
{
	return facts(q)->deterministic;
}

enum quantity quantity_find(const char *name)
{
	int q = 0;

	while (q < QUANTITY_COUNT && strcmp(table[q].name, name) != 0)
		q++;
	return (enum quantity)q;
}

/* The largest unit of which the value, rounded to three digits, is at least 1, or the smallest; of 0 the base unit. */
static const struct scale *scale_of(enum quantity q, double value)
{
	const struct scale *s = next_scale(q, NULL), *next;

	BUG_ON(!s);
	while ((value == 0 ? s->one != 1 : fabs(value) < s->one * 0.9995) && (next = next_scale(q, s)))
		s = next;
	return s;
}

const char *quantity_unit(enum quantity q)
{
	return facts(q)->unit;
}

double quantity_in_unit(enum quantity q, double value)
{
	return value / facts(q)->one;
}

/* A whole number with commas. */
static void write_count(double value, char *out, size_t n)
{
	char digits[32];
	size_t len, at = 0;

	snprintf(digits, sizeof digits, "%.0f", fabs(value));
	len = strlen(digits);
	if (value < 0)
		out[at++] = '-';
	for (size_t i = 0; i < len && at + 2 < n; i++) {
		out[at++] = digits[i];
		if ((len - i) % 3 == 1 && i + 1 < len)
			out[at++] = ',';
	}
	out[at] = 0;
}

const char *quantity_text(enum quantity q, double value, char out[QUANTITY_TEXT])
{
	const struct scale *s = scale_of(q, value);
	double v = value / s->one;
	char number[QUANTITY_TEXT];

	if (s->one == 1 && facts(q)->figures == COUNTED && isfinite(v))
		write_count(v, number, sizeof number);
	else
		snprintf(number, sizeof number, facts(q)->figures == BARE ? "%.6g" : fabs(v) >= 999.5 && fabs(v) < 1e4
			? "%.0f" : "%.3g", v); /* 1020 MiB, not 1.02e+03 MiB */
	snprintf(out, QUANTITY_TEXT, "%.28s%s%s", number, *s->unit ? " " : "", s->unit);
	return out;
}

int quantity_read(enum quantity q, const char *text, double *value, struct err *err)
{
	struct buf list = {0};
	char *end;
	double v = strtod(text, &end);

	if (end == text || !isfinite(v))
		return err_set(err, "\"%.60s\" does not begin with a number", text);
	end += strspn(end, " ");
	*value = v;
	if (!*end)
		return 0;
	for (const struct scale *s = next_scale(q, NULL); s; s = next_scale(q, s)) {
		if (strcmp(s->unit, end) == 0) {
			*value = v * s->one;
			buf_release(&list);
			return 0;
		}
		if (*s->unit)
			buf_addf(&list, "%s%s", list.len ? ", " : "; they have ", s->unit);
	}
	err_set(err, "%s have no unit \"%.30s\"%s", quantity_name(q), end, list.len ? (char *)list.data : "");
	buf_release(&list);
	return -1;
}

const char *quantity_names(void)
{
	static char text[256];
	size_t n = 0;

	for (int q = 0; q < QUANTITY_COUNT && n < sizeof text; q++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", q ? ", " : "", table[q].name);
	return text;
}
