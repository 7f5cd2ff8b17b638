/*
 * quantity.c - the names of quantity.h, and how figures are written.
 *
 * A scaled figure has three digits ("12.3 us"), because no measurement here is better. A count of cycles is written
 * whole, with commas, until it is so large that nobody reads its last digits. A formula's value has no unit, so it is
 * not scaled.
 */
#include "base/quantity.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"

struct scale {
	double one; /* one of this unit, in the base unit */
	const char *unit;
};

static const struct scale seconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
static const struct scale bytes[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "bytes"}};
static const struct scale cycles[] = {{1e12, "Tcycles"}, {1e9, "Gcycles"}, {1, "cycles"}};
static const struct scale formula[] = {{1, ""}};

static const struct facts {
	const char *name, *unit, *verb, *noun;
	double one; /* one of `unit`, in the base unit */
	bool deterministic;
} table[] = {
#define QUANTITY(id, name, unit, one, deterministic, verb, noun, meaning) {name, unit, verb, noun, one, deterministic},
#include "schemas/quantity.def"
#undef QUANTITY
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The units that figures of a quantity are scaled to, largest first. */
static const struct scale *scales(enum quantity q, size_t *n)
{
	switch (q) {
	case QUANTITY_SECONDS:
		*n = LENGTH(seconds);
		return seconds;
	case QUANTITY_BYTES:
		*n = LENGTH(bytes);
		return bytes;
	case QUANTITY_CYCLES:
		*n = LENGTH(cycles);
		return cycles;
	default:
		*n = LENGTH(formula);
		return formula;
	}
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

/* The largest unit of which the value, rounded to three digits, is at least 1; else the smallest unit. */
static const struct scale *scale_of(enum quantity q, double value)
{
	size_t n, i = 0;
	const struct scale *s = scales(q, &n);

	while (i + 1 < n && fabs(value) < s[i].one * 0.9995)
		i++;
	return value == 0 ? &s[q == QUANTITY_SECONDS ? 0 : n - 1] : &s[i];
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

	if (s->one == 1 && (q == QUANTITY_BYTES || q == QUANTITY_CYCLES) && isfinite(v))
		write_count(v, number, sizeof number);
	else
		snprintf(number, sizeof number, q == QUANTITY_FORMULA ? "%.6g" : "%.3g", v);
	snprintf(out, QUANTITY_TEXT, "%.28s%s%s", number, *s->unit ? " " : "", s->unit);
	return out;
}

/* The unit with this name, or NULL. */
static const struct scale *unit_of(enum quantity q, const char *word)
{
	size_t n;
	const struct scale *s = scales(q, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(s[i].unit, word) == 0)
			return &s[i];
	return NULL;
}

int quantity_read(enum quantity q, const char *text, double *value, struct err *err)
{
	static const struct scale base = {1, ""};
	const struct scale *unit, *known;
	struct buf list = {0};
	size_t n;
	char *end;
	double v = strtod(text, &end);

	if (end == text || !isfinite(v))
		return err_set(err, "\"%.60s\" does not begin with a number", text);
	end += strspn(end, " ");
	unit = *end ? unit_of(q, end) : &base;
	if (unit) {
		*value = v * unit->one;
		return 0;
	}
	known = scales(q, &n);
	for (size_t i = 0; i < n && *known[i].unit; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", known[i].unit);
	err_set(err, "%s have no unit \"%.30s\"%s%s", quantity_name(q), end, list.len ? "; they have " : "",
		list.len ? (char *)list.data : "");
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
