/*
 * value.c - reads numbers, strings and names, and builds messages and lists.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "hlo/text/own.h"

/* ---- values ---- */

int64_t text_int_in(struct text *p, int64_t low, int64_t high)
{
	const char *at = p->tok.at;
	int64_t v = text_int(p);
	if (!p->bad && (v < low || v > high)) {
		text_wrong_at(p, at, "expected a number between %lld and %lld", (long long)low, (long long)high);
		return low;
	}
	return p->bad ? low : v;
}

/* A whole number up to 2^64 - 1, kept as the bits of an int64, as in XLA. */
int64_t text_int(struct text *p)
{
	if (p->tok.kind != T_INT) {
		text_expected(p, "an integer");
		return 0;
	}
	const char *s = p->tok.s, *end = s + p->tok.n;
	bool minus = *s == '-';
	uint64_t v = 0;
	for (s += minus; s < end; s++) {
		uint64_t digit = (uint64_t)(*s - '0'), limit = minus ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
		if (v > (limit - digit) / 10) {
			text_wrong_at(p, p->tok.at, "this integer does not fit in 64 bits");
			return 0;
		}
		v = v * 10 + digit;
	}
	text_next(p);
	return (int64_t)(minus ? 0 - v : v);
}

static double nan_of(bool minus, const char *s, const char *end)
{
	uint64_t payload = UINT64_C(1) << 51, bits;
	const char *hex = memchr(s, '(', (size_t)(end - s));
	double v;
	if (hex)
		payload = strtoull(hex + 3, NULL, 16) & ((UINT64_C(1) << 52) - 1);
	bits = (uint64_t)minus << 63 | UINT64_C(0x7ff) << 52 | payload;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/*
 * nan, inf, or digits, perhaps with point and exponent, which strtod reads from a copy with a NUL. Not by way of an
 * integer: XLA writes -0, and its own reader takes that for +0.
 */
static double real_of(struct text *p)
{
	const char *s = p->tok.s, *end = s + p->tok.n;
	bool minus = *s == '-';
	if (s[minus] == 'n')
		return nan_of(minus, s, end);
	if (s[minus] == 'i')
		return minus ? -HUGE_VAL : HUGE_VAL;
	char small[64], *copy = p->tok.n < sizeof(small) ? small : mem_alloc(p->tok.n + 1);
	memcpy(copy, s, p->tok.n);
	copy[p->tok.n] = '\0';
	double v = strtod(copy, NULL);
	if (copy != small)
		mem_free(copy);
	if (isinf(v))
		text_wrong_at(p, p->tok.at, "this number does not fit in 64 bits of floating point");
	return v;
}

double text_real(struct text *p)
{
	double v;
	if (p->tok.kind != T_INT && p->tok.kind != T_REAL) {
		text_expected(p, "a number");
		return 0;
	}
	v = real_of(p);
	text_next(p);
	return v;
}

bool text_bool(struct text *p)
{
	bool v = text_word_is(p, "true");
	if (v || text_word_is(p, "false"))
		text_next(p);
	else
		text_expected(p, "true or false");
	return v;
}

char *text_keep(struct text *p, const char *s, size_t n)
{
	char *copy = arena_alloc(p->mem, n + 1);
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *text_name(struct text *p, const char *what)
{
	if (p->tok.kind != T_NAME && p->tok.kind != T_WORD) {
		text_expected(p, what);
		return text_keep(p, "", 0);
	}
	char *name = text_keep(p, p->tok.s, p->tok.n);
	text_next(p);
	return name;
}

char *text_braces(struct text *p, size_t *n)
{
	const char *begin = p->tok.at, *s = begin, *end = p->end;
	int depth = 0;
	if (p->tok.kind != '{') {
		text_expected(p, "\"{\"");
		return NULL;
	}
	for (; s && s < end; s++) {
		if (*s == '"') {
			const char *after = text_string_end(s, end);
			s = after ? after - 1 : NULL;
			if (!s)
				break;
		}
		depth += (*s == '{') - (*s == '}');
		if (depth == 0)
			break;
	}
	if (!s || s >= end || memchr(begin, 0, (size_t)(s - begin))) {
		text_wrong_at(p, begin, "this \"{\" has no partner");
		return NULL;
	}
	*n = (size_t)(s + 1 - begin);
	p->at = s + 1;
	text_next(p);
	return text_keep(p, begin, *n);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Reads an escape from the character after its backslash on; returns its end, or NULL if there is no such escape. */
static const char *escape(const char *s, const char *end, struct buf *out)
{
	static const char from[] = "ntrabfv\\?'\"", to[] = "\n\t\r\a\b\f\v\\?'\"";
	const char *known = *s ? strchr(from, *s) : NULL;
	unsigned v = 0, digits = 0;
	if (known) {
		buf_addch(out, to[known - from]);
		return s + 1;
	}
	if (*s >= '0' && *s <= '7') {
		for (; s < end && digits < 3 && *s >= '0' && *s <= '7'; digits++)
			v = v * 8 + (unsigned)(*s++ - '0');
	} else if (*s == 'x' || *s == 'X') {
		for (s++; s < end && hex_digit(*s) >= 0; digits++)
			v = v < 4096 ? v * 16 + (unsigned)hex_digit(*s++) : 4096;
	}
	if (!digits || v > 255)
		return NULL;
	buf_addch(out, (int)v);
	return s;
}

char *text_string(struct text *p, size_t *n)
{
	if (p->tok.kind != T_STRING) {
		text_expected(p, "a string in quotes");
		if (n)
			*n = 0;
		return text_keep(p, "", 0);
	}
	const char *s = p->tok.s + 1, *end = p->tok.s + p->tok.n - 1;
	buf_reset(&p->scratch);
	while (s < end) {
		const char *run = s;
		while (s < end && *s != '\\')
			s++;
		buf_add(&p->scratch, run, (size_t)(s - run));
		if (s == end)
			break;
		const char *after = escape(s + 1, end, &p->scratch);
		if (!after) {
			text_wrong_at(p, s, "there is no such escape in a string");
			break;
		}
		s = after;
	}
	if (!n && memchr(p->scratch.len ? p->scratch.data : "", 0, p->scratch.len))
		text_wrong_at(p, p->tok.at, "this string holds a NUL character");
	if (n)
		*n = p->scratch.len;
	text_next(p);
	return text_keep(p, p->scratch.len ? p->scratch.data : "", p->scratch.len);
}

/* ---- messages and lists ---- */

void *text_message(struct text *p, const ProtobufCMessageDescriptor *d)
{
	return message_new(p->mem, d);
}

void *text_add(struct text *p, struct ptr_list *l, const ProtobufCMessageDescriptor *d)
{
	void *m = text_message(p, d);
	ptr_list_add(l, m);
	return m;
}

void int_list_add(struct int_list *l, int64_t x)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = x;
}

void ptr_list_add(struct ptr_list *l, void *x)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = x;
}

void **text_keep_ptrs(struct text *p, const struct ptr_list *l)
{
	return l->n ? arena_dup(p->mem, l->v, l->n * sizeof(*l->v)) : NULL;
}

int64_t *text_keep_ints(struct text *p, const struct int_list *l)
{
	return l->n ? arena_dup(p->mem, l->v, l->n * sizeof(*l->v)) : NULL;
}

void text_set_list(struct text *p, const struct field *w, struct ptr_list *l)
{
	*w->count = l->n;
	field_set_pointer(w, text_keep_ptrs(p, l));
	mem_free(l->v);
}

int text_word_of(struct text *p, enum word_kind kind)
{
	int v = text_is(p, T_WORD) || text_is(p, T_NAME) ? hlo_word_number(kind, p->tok.s, p->tok.n) : -1;
	if (v < 0) {
		char list[400];
		hlo_word_list(kind, list, sizeof(list));
		text_expected(p, list);
		return 0;
	}
	text_next(p);
	return v;
}

void text_ints(struct text *p, int open, int close)
{
	p->ints.n = 0;
	for (bool more = text_first(p, open, close); more; more = text_again(p, close))
		int_list_add(&p->ints, text_int(p));
}
