/*
 * rewrite_patterns.h - small programs that the patterns of space/rewrite/ match, made from the patterns themselves.
 *
 * Each letter becomes zero, one or two dimensions of size two or three. Parameters have their dimensions in any order;
 * now and then a value is transposed before it is used.
 */
#ifndef TESTS_REWRITE_PATTERNS_H
#define TESTS_REWRITE_PATTERNS_H

#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/rng.h"
#include "space/rewrite/pattern.h"
#include "tests/rewrite_cases.h"

#define PATTERN_CASES 60u /* of each rule */

struct pattern_value {
	char name[16];
	uint32_t axis[16], n;
};

struct pattern_text {
	struct buf out;
	struct rng r;
	const struct pattern *p;
	int size[64]; /* per axis: 2 * letter, 2 * letter + 1 */
	uint32_t dims[26], n_names;
	struct pattern_value value[PATTERN_VALUES];
};

static void pt_shape(struct pattern_text *t, const struct pattern_value *v)
{
	buf_adds(&t->out, "f32[");
	for (uint32_t i = 0; i < v->n; i++)
		buf_addf(&t->out, "%s%d", i ? "," : "", t->size[v->axis[i]]);
	buf_adds(&t->out, "]");
}

static uint32_t pt_place(const struct pattern_value *v, uint32_t axis)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->axis[i] == axis)
			return i;
	return NONE;
}

static void pt_begin(struct pattern_text *t, struct pattern_value *v)
{
	snprintf(v->name, sizeof v->name, "v%u", t->n_names++);
	buf_addf(&t->out, "  %s = ", v->name);
	pt_shape(t, v);
}

/* The value with its dimensions in this order. */
static struct pattern_value pt_ordered(struct pattern_text *t, const struct pattern_value *v, const uint32_t *order)
{
	struct pattern_value y = {.n = v->n};

	memcpy(y.axis, order, v->n * sizeof *order);
	pt_begin(t, &y);
	buf_addf(&t->out, " transpose(%s), dimensions={", v->name);
	for (uint32_t i = 0; i < v->n; i++)
		buf_addf(&t->out, "%s%u", i ? "," : "", pt_place(v, order[i]));
	buf_adds(&t->out, "}\n");
	return y;
}

static bool pt_has(const struct pattern_text *t, uint32_t value, uint32_t axis)
{
	return t->p->value[value].letters >> (axis / 2) & 1;
}

static void pt_list(struct pattern_text *t, const char *key, const struct pattern_value *v, const uint32_t *axis,
	uint32_t n)
{
	buf_addf(&t->out, ", %s={", key);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&t->out, "%s%u", i ? "," : "", pt_place(v, axis[i]));
	buf_adds(&t->out, "}");
}

static struct pattern_value pt_dot(struct pattern_text *t, uint32_t value, const struct pattern_value *a,
	const struct pattern_value *b)
{
	uint32_t batch[16], sum[16], n_batch = 0, n_sum = 0;
	struct pattern_value y = {.n = 0};

	for (uint32_t i = 0; i < a->n; i++)
		if (pt_place(b, a->axis[i]) != NONE) {
			if (pt_has(t, value, a->axis[i]))
				batch[n_batch++] = a->axis[i];
			else
				sum[n_sum++] = a->axis[i];
		}
	if (n_sum > 1)
		rng_shuffle(&t->r, sum, n_sum);
	for (uint32_t i = 0; i < n_batch; i++)
		y.axis[y.n++] = batch[i];
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < (s ? b : a)->n; i++)
			if (pt_place(s ? a : b, (s ? b : a)->axis[i]) == NONE)
				y.axis[y.n++] = (s ? b : a)->axis[i];
	pt_begin(t, &y);
	buf_addf(&t->out, " dot(%s, %s)", a->name, b->name);
	pt_list(t, "lhs_batch_dims", a, batch, n_batch);
	pt_list(t, "lhs_contracting_dims", a, sum, n_sum);
	pt_list(t, "rhs_batch_dims", b, batch, n_batch);
	pt_list(t, "rhs_contracting_dims", b, sum, n_sum);
	buf_adds(&t->out, "\n");
	return y;
}

static struct pattern_value pt_sum(struct pattern_text *t, uint32_t value, const struct pattern_value *a)
{
	struct pattern_value y = {.n = 0};
	uint32_t gone[16], n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		if (pt_has(t, value, a->axis[i]))
			y.axis[y.n++] = a->axis[i];
		else
			gone[n++] = a->axis[i];
	pt_begin(t, &y);
	buf_addf(&t->out, " reduce(%s, zero), to_apply=add", a->name);
	pt_list(t, "dimensions", a, gone, n);
	buf_adds(&t->out, "\n");
	return y;
}

/* The old dimensions in their order, the new ones anywhere between. */
static struct pattern_value pt_broadcast(struct pattern_text *t, uint32_t value, const struct pattern_value *a)
{
	struct pattern_value y = *a;

	for (uint32_t l = 0; l < 26; l++)
		for (uint32_t k = 0; k < t->dims[l]; k++) {
			uint32_t axis = 2 * l + k, at = (uint32_t)rng_below(&t->r, y.n + 1);
			if (!pt_has(t, value, axis) || pt_place(a, axis) != NONE)
				continue;
			memmove(y.axis + at + 1, y.axis + at, (y.n - at) * sizeof *y.axis);
			y.axis[at] = axis;
			y.n++;
		}
	pt_begin(t, &y);
	buf_addf(&t->out, " broadcast(%s)", a->name);
	pt_list(t, "dimensions", &y, a->axis, a->n);
	buf_adds(&t->out, "\n");
	return y;
}

static struct pattern_value pt_line(struct pattern_text *t, const struct pattern_line *l)
{
	static const char *const name[] = {[PATTERN_ADD] = "add", [PATTERN_SUBTRACT] = "subtract",
		[PATTERN_MULTIPLY] = "multiply"};
	struct pattern_value a = t->value[l->operand[0]], b = t->value[l->operand[1]], y;

	if (l->op == PATTERN_DOT)
		return pt_dot(t, l->value, &a, &b);
	if (l->op == PATTERN_SUM)
		return pt_sum(t, l->value, &a);
	if (l->op == PATTERN_BROADCAST)
		return pt_broadcast(t, l->value, &a);
	b = pt_ordered(t, &b, a.axis);
	y = a;
	pt_begin(t, &y);
	buf_addf(&t->out, " %s(%s, %s)\n", name[l->op], a.name, b.name);
	return y;
}

static void pt_letters(struct pattern_text *t)
{
	int same = (int)rng_below(&t->r, 2);

	for (uint32_t l = 0; l < 26; l++) {
		t->dims[l] = l == 'b' - 'a' ? (uint32_t)rng_below(&t->r, 3) : 1 + (rng_below(&t->r, 4) == 0);
		t->size[2 * l] = same ? 3 : 2 + (int)rng_below(&t->r, 4);
		t->size[2 * l + 1] = same ? 3 : 2;
	}
}

static void pattern_case(const struct pattern *p, uint64_t seed, case_visit *visit, void *ctx)
{
	struct pattern_text t = {.p = p};
	bool made[PATTERN_VALUES] = {false};
	uint32_t parameter = 0;

	rng_seed(&t.r, seed);
	pt_letters(&t);
	buf_adds(&t.out, "HloModule m\n\nadd {\n  x = f32[] parameter(0)\n  y = f32[] "
		"parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n\n"
			 "ENTRY e {\n  zero = f32[] constant(0)\n");
	for (uint32_t i = 0; i < p->n_match; i++) {
		const struct pattern_line *l = &p->match[i];
		for (uint32_t k = 0; k < l->n_operands; k++) {
			struct pattern_value *v = &t.value[l->operand[k]];
			if (made[l->operand[k]])
				continue;
			made[l->operand[k]] = true;
			for (uint32_t a = 0; a < 26; a++)
				for (uint32_t d = 0; d < t.dims[a]; d++)
					if (pt_has(&t, l->operand[k], 2 * a + d))
						v->axis[v->n++] = 2 * a + d;
			if (v->n > 1)
				rng_shuffle(&t.r, v->axis, v->n);
			pt_begin(&t, v);
			buf_addf(&t.out, " parameter(%u)\n", parameter++);
		}
		t.value[l->value] = pt_line(&t, l);
		made[l->value] = true;
		if (i + 1 < p->n_match && t.value[l->value].n > 1 && rng_below(&t.r, 3) == 0) {
			uint32_t order[16];
			memcpy(order, t.value[l->value].axis, sizeof order);
			rng_shuffle(&t.r, order, t.value[l->value].n);
			t.value[l->value] = pt_ordered(&t, &t.value[l->value], order);
		}
	}
	buf_addf(&t.out, "  ROOT root = ");
	pt_shape(&t, &t.value[p->match[p->n_match - 1].value]);
	buf_addf(&t.out, " copy(%s)\n}\n", t.value[p->match[p->n_match - 1].value].name);
	visit(ctx, t.out.data);
	buf_release(&t.out);
}

/* So many programs of each rule that is a pattern. */
static void walk_patterns(case_visit *visit, void *ctx, uint32_t each)
{
	struct rules r = {0};

	if (rules_load(&r, NULL) == 0)
		for (size_t i = 0; i < r.n; i++)
			for (uint32_t k = 0; k < each && r.rule[i].pattern; k++)
				pattern_case(r.rule[i].pattern, 1000 * i + k, visit, ctx);
	rules_release(&r);
}

#endif
