/*
 * whole.c - whole programs: their difference, the default's own time, and whether their numbers
 * agree.
 *
 * This is the truth that sums of regions are held against, and what a final answer rests on; it also
 * proves that the compiler kept the choices, which small modules cannot.
 *
 * Numbers: fusing changes the order of floating-point operations, so outputs differ a little, as they
 * do between the default and the program with no choice made at all. That difference is the yardstick;
 * ten times it is the limit, with a few units in the last place of a float as the least yardstick, for
 * two programs may happen to agree exactly.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "cost/own.h"

#define YARDSTICKS 10
#define LEAST_YARDSTICK (4 * 0x1p-23) /* relative */

static int applied(struct cost *c, const uint8_t *config, struct buf *module, struct err *err)
{
	return c->space->ops->apply(c->space, config, module, err);
}

static void formula_timing(struct cost *c, const uint8_t *a, const uint8_t *b, struct timing *t)
{
	BUG_ON(!a);
	t->seconds_a = c->space->ops->formula(c->space, a);
	t->seconds_b = c->space->ops->formula(c->space, b);
	t->delta = t->seconds_b - t->seconds_a;
	t->ratio = log(t->seconds_b / t->seconds_a);
}

static int whole_on_device(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct timing *out, struct err *err)
{
	const struct cost_hooks *h = &c->o.hooks;
	struct buf module[2] = {{0}, {0}};
	struct sides sides = {{a ? &module[0] : c->o.original, &module[1]}, {a, b}, !a};
	int rc = a ? applied(c, a, &module[0], err) : 0;

	if (rc == 0)
		rc = applied(c, b, &module[1], err);
	if (rc == 0)
		rc = cost_pair(c, &sides, p ? p : &c->o.whole, out, err);
	if (rc == 0 && out->outcome != OUTCOME_OK)
		rc = cost_failed(c, out->outcome, out->signal, out->detail, err);
	else if (rc == 0 && h->measured)
		rc = h->measured(h->ctx, NULL, out, err);
	buf_release(&module[0]);
	buf_release(&module[1]);
	return rc;
}

int cost_whole(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct timing *out, struct err *err)
{
	*out = (struct timing){.kind = cost_kind(c)};
	if (c->space->ops->formula) {
		formula_timing(c, a, b, out);
		return 0;
	}
	return whole_on_device(c, a, b, p, out, err);
}

static int run_default(struct cost *c, const uint8_t *config, struct timing *t, struct err *err)
{
	struct buf module = {0};
	struct compiled p = {0};
	struct fate fate = {0};
	int rc = applied(c, config, &module, err);

	if (rc == 0)
		rc = cost_compile(c, COMPILE_APPLIED, &module, 0, &p, &fate, err);
	if (rc == 0 && fate.outcome == OUTCOME_OK) {
		rc = device_run(c->device, &p, &c->o.whole, t, err);
		c->totals.inside += t->inside;
	} else if (rc == 0) {
		t->outcome = fate.outcome;
		memcpy(t->detail, fate.detail, sizeof t->detail);
	}
	if (cost_drop(c, &p, rc == 0 ? err : NULL) < 0)
		rc = -1;
	buf_release(&module);
	return rc;
}

static int measure_default(struct cost *c, const uint8_t *config, struct err *err)
{
	struct timing t = {0};
	int rc;

	if (c->space->ops->formula) {
		c->default_seconds = c->space->ops->formula(c->space, config);
		return 0;
	}
	rc = run_default(c, config, &t, err);
	if (rc == 0 && t.outcome == OUTCOME_CRASHED)
		rc = run_default(c, config, &t, err);
	if (rc == 0 && t.outcome != OUTCOME_OK)
		rc = err_set(err, "%.200s does not run in its default configuration: %s: %.400s",
			c->space->graph->name, outcome_meaning(t.outcome), t.detail);
	c->default_seconds = t.seconds_a;
	c->default_se = t.delta_se;
	timing_release(&t);
	return rc;
}

int cost_default_seconds(struct cost *c, double *seconds, double *se, struct err *err)
{
	double start = now_seconds();
	int rc = 0;

	if (c->default_seconds <= 0) {
		uint8_t *config = mem_alloc(c->space->n_sites);
		space_default(c->space, config);
		rc = measure_default(c, config, err);
		mem_free(config);
		c->totals.wall += now_seconds() - start;
	}
	if (rc < 0)
		return -1;
	*seconds = c->default_seconds;
	if (se)
		*se = c->default_se;
	return 0;
}

/* Outputs of two configurations side by side. */
static int compare(struct cost *c, const uint8_t *a, const uint8_t *b, struct comparison *out,
	struct err *err)
{
	const uint8_t *config[2] = {a, b};
	struct compiled side[2] = {{0}, {0}};
	struct fate fate = {0};
	int rc = 0;

	*out = (struct comparison){0};
	for (unsigned i = 0; i < 2 && rc == 0 && fate.outcome == OUTCOME_OK; i++) {
		struct buf module = {0};
		rc = applied(c, config[i], &module, err);
		if (rc == 0)
			rc = cost_compile(c, COMPILE_APPLIED, &module, 0, &side[i], &fate, err);
		buf_release(&module);
	}
	if (rc == 0 && fate.outcome == OUTCOME_OK) {
		rc = device_compare(c->device, &side[0], &side[1], out, err);
	} else {
		out->outcome = fate.outcome;
		memcpy(out->detail, fate.detail, sizeof out->detail);
	}
	for (unsigned i = 0; i < 2; i++)
		if (cost_drop(c, &side[i], rc == 0 ? err : NULL) < 0)
			rc = -1;
	return rc;
}

/* How far the program without any choice is from the default; once. */
static int find_yardstick(struct cost *c, const uint8_t *dflt, struct err *err)
{
	uint8_t *plain = MEM_NEW(c->space->n_sites, uint8_t);
	int rc = 0;

	if (!c->yardstick_known)
		rc = compare(c, dflt, plain, &c->yardstick, err);
	c->yardstick_known = rc == 0;
	mem_free(plain);
	return rc;
}

static double limit_of(const struct comparison *yardstick)
{
	bool known = yardstick->outcome == OUTCOME_OK && isfinite(yardstick->max_rel);
	return YARDSTICKS * fmax(known ? yardstick->max_rel : 0, LEAST_YARDSTICK);
}

int cost_numbers(struct cost *c, const uint8_t *config, struct comparison *out, double *limit,
	struct err *err)
{
	double start = now_seconds();
	uint8_t *dflt;
	int rc;

	*out = (struct comparison){0};
	*limit = limit_of(&c->yardstick);
	if (c->space->ops->formula)
		return 0;
	dflt = mem_alloc(c->space->n_sites);
	space_default(c->space, dflt);
	rc = find_yardstick(c, dflt, err);
	if (rc == 0)
		rc = compare(c, dflt, config, out, err);
	*limit = limit_of(&c->yardstick);
	if (rc == 0 && out->outcome == OUTCOME_OK &&
		(!(out->max_rel <= *limit) || (out->nan_differs && !c->yardstick.nan_differs))) {
		out->outcome = OUTCOME_WRONG_NUMBERS;
		snprintf(out->detail, sizeof out->detail, "outputs differ by %.3g relative, the limit is %.3g%s",
			out->max_rel, *limit, out->nan_differs ? "; infinities or NaN in other places" : "");
	}
	if (rc == 0 && out->outcome != OUTCOME_OK)
		rc = cost_failed(c, out->outcome, 0, out->detail, err);
	mem_free(dflt);
	c->totals.wall += now_seconds() - start;
	return rc;
}
