/*
 * expr.c - the conditions and promises of rules: arithmetic over the measures of a place.
 *
 *	or     := and { "or" and }
 *	and    := test { "and" test }
 *	test   := sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
 *	sum    := product { ("+" | "-") product }
 *	product:= atom { ("*" | "/") atom }
 *	atom   := number | name | "(" or ")"
 *
 * The parser makes a list in the order of evaluation, so evaluation needs a small stack and no recursion.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "space/rewrite/rule.h"

#define STEPS 64
#define DEPTH 16

enum step_kind { PUSH, LOAD, ADD, SUBTRACT, MULTIPLY, DIVIDE, LESS, LESS_EQUAL, MORE, MORE_EQUAL, EQUAL, UNEQUAL, AND,
	OR };

struct expr {
	struct {
		enum step_kind kind;
		double number;
		uint32_t measure;
	} step[STEPS];
	uint32_t n;
};

struct reader {
	const char *p;
	const char *const *names;
	struct expr *e;
	struct err *err;
	int depth; /* of parentheses */
	bool bad;
};

static void fail(struct reader *r, const char *what)
{
	if (!r->bad)
		err_set(r->err, "%s at \"%.40s\"", what, r->p);
	r->bad = true;
}

static void step(struct reader *r, enum step_kind kind, double number, uint32_t measure)
{
	if (r->e->n == STEPS) {
		fail(r, "the expression is too long");
		return;
	}
	r->e->step[r->e->n].kind = kind;
	r->e->step[r->e->n].number = number;
	r->e->step[r->e->n++].measure = measure;
}

/* Takes a symbol or a word if it comes next. */
static bool take(struct reader *r, const char *what)
{
	size_t n = strlen(what);

	while (*r->p == ' ' || *r->p == '\t')
		r->p++;
	if (strncmp(r->p, what, n) != 0 || (isalpha((unsigned char)*what) && (isalnum((unsigned char)r->p[n]) ||
		r->p[n] == '_')))
		return false;
	r->p += n;
	return true;
}

static void read_or(struct reader *r);

static void read_atom(struct reader *r)
{
	size_t n = 0;
	char *end;

	if (take(r, "(")) {
		if (++r->depth > DEPTH)
			fail(r, "parentheses are too deep");
		if (!r->bad)
			read_or(r);
		r->depth--;
		if (!take(r, ")"))
			fail(r, "a parenthesis is not closed");
		return;
	}
	if (isdigit((unsigned char)*r->p)) {
		step(r, PUSH, strtod(r->p, &end), 0);
		r->p = end;
		return;
	}
	while (isalnum((unsigned char)r->p[n]) || r->p[n] == '_')
		n++;
	for (uint32_t i = 0; n && r->names[i]; i++)
		if (strlen(r->names[i]) == n && strncmp(r->names[i], r->p, n) == 0) {
			step(r, LOAD, 0, i);
			r->p += n;
			return;
		}
	fail(r, "a number or the name of a measure was expected");
}

static void read_product(struct reader *r)
{
	read_atom(r);
	while (!r->bad) {
		enum step_kind k = take(r, "*") ? MULTIPLY : take(r, "/") ? DIVIDE : PUSH;
		if (k == PUSH)
			return;
		read_atom(r);
		step(r, k, 0, 0);
	}
}

static void read_sum(struct reader *r)
{
	read_product(r);
	while (!r->bad) {
		enum step_kind k = take(r, "+") ? ADD : take(r, "-") ? SUBTRACT : PUSH;
		if (k == PUSH)
			return;
		read_product(r);
		step(r, k, 0, 0);
	}
}

static void read_test(struct reader *r)
{
	static const struct {
		const char *symbol;
		enum step_kind kind;
	} tests[] = {{"<=", LESS_EQUAL}, {"<", LESS}, {">=", MORE_EQUAL}, {">", MORE}, {"==", EQUAL}, {"!=", UNEQUAL}};

	read_sum(r);
	for (size_t i = 0; i < sizeof tests / sizeof *tests && !r->bad; i++)
		if (take(r, tests[i].symbol)) {
			read_sum(r);
			step(r, tests[i].kind, 0, 0);
			return;
		}
}

static void read_and(struct reader *r)
{
	read_test(r);
	while (!r->bad && take(r, "and")) {
		read_test(r);
		step(r, AND, 0, 0);
	}
}

static void read_or(struct reader *r)
{
	read_and(r);
	while (!r->bad && take(r, "or")) {
		read_and(r);
		step(r, OR, 0, 0);
	}
}

struct expr *expr_parse(struct arena *mem, const char *text, const char *const *names, struct err *err)
{
	struct reader r = {.p = text, .names = names, .err = err, .e = ARENA_NEW(mem, 1, struct expr)};

	read_or(&r);
	take(&r, "");
	if (!r.bad && *r.p)
		fail(&r, "nothing more was expected");
	return r.bad ? NULL : r.e;
}

static double apply(enum step_kind kind, double a, double b)
{
	switch (kind) {
	case ADD: return a + b;
	case SUBTRACT: return a - b;
	case MULTIPLY: return a * b;
	case DIVIDE: return b != 0 ? a / b : 0;
	case LESS: return a < b;
	case LESS_EQUAL: return a <= b;
	case MORE: return a > b;
	case MORE_EQUAL: return a >= b;
	case EQUAL: return a >= b && a <= b;
	case UNEQUAL: return a < b || a > b;
	case AND: return a > 0 && b > 0;
	case OR: return a > 0 || b > 0;
	case PUSH:
	case LOAD: break;
	}
	return 0;
}

double expr_value(const struct expr *e, const double *measure)
{
	double stack[STEPS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		enum step_kind k = e->step[i].kind;
		if (k == PUSH || k == LOAD) {
			stack[n++] = k == PUSH ? e->step[i].number : measure[e->step[i].measure];
			continue;
		}
		n--;
		stack[n - 1] = apply(k, stack[n - 1], stack[n]);
	}
	return stack[0];
}
