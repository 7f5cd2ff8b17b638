/*
 * whole.c - measures whole programs: their difference, and the default's own time.
 *
 * Sums of regions are compared with this, and a final answer rests on it. It also proves that the compiler honoured the
 * choices, which small modules cannot.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "cost/own.h"

/* Two compilations of the same decisions may differ by this share of a run. */
#define ALIKE 0.01

static int applied(struct cost *c, const uint8_t *config, struct buf *module, struct err *err)
{
	return c->space->ops->apply(c->space, config, module, err);
}

static void set_fate(struct timing *t, const struct fate *f)
{
	t->outcome = f->outcome;
	t->signal = f->signal;
	memcpy(t->detail, f->detail, sizeof t->detail);
}

/* Compares two figures, in the form of a timing with one pair and no error. */
static int compare_figures(struct cost *c, const uint8_t *a, const uint8_t *b, struct timing *t, struct err *err)
{
	struct fate fate = {0};
	bool asked;

	if (cost_figure(c, a, &t->seconds_a, &asked, &fate, err) < 0 ||
		(fate.outcome == OUTCOME_OK && cost_figure(c, b, &t->seconds_b, &asked, &fate, err) < 0))
		return -1;
	set_fate(t, &fate);
	t->cut = cost_cut(c, fate.outcome);
	if (fate.outcome != OUTCOME_OK)
		return 0;
	t->delta = t->seconds_b - t->seconds_a;
	t->ratio = t->delta == 0 ? 0 : log(t->seconds_b / t->seconds_a);
	return 0;
}

static int whole_on_device(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct timing *out, struct err *err)
{
	const struct cost_hooks *h = &c->o.hooks;
	struct buf module[2] = {{0}, {0}};
	struct sides sides = {{a ? &module[0] : c->o.original, &module[1]}, {a, b}, !a, false, false};
	int rc = a ? applied(c, a, &module[0], err) : 0;

	if (rc == 0)
		rc = applied(c, b, &module[1], err);
	if (rc == 0)
		rc = cost_pair(c, &sides, p ? p : &c->o.whole, out, err);
	if (rc == 0 && out->outcome != OUTCOME_OK && !out->cut)
		rc = cost_failed(c, out->outcome, out->signal, out->detail, err);
	else if (rc == 0 && out->outcome == OUTCOME_OK && h->measured)
		rc = h->measured(h->ctx, NULL, out, err);
	buf_release(&module[0]);
	buf_release(&module[1]);
	return rc;
}

int cost_whole(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct timing *out, struct err *err)
{
	*out = (struct timing){.kind = cost_kind(c)};
	if (cost_whole_exact(c) || c->said)
		return compare_figures(c, a, b, out, err);
	return whole_on_device(c, a, b, p, out, err);
}

void cost_set_default(struct cost *c, double seconds, double se)
{
	c->default_seconds = seconds;
	c->default_se = se;
}

int cost_own(struct cost *c, const struct precision *p, struct timing *out, struct err *err)
{
	struct precision patient = p ? *p : c->o.whole;
	uint8_t *config = mem_alloc(c->space->n_sites);
	int rc;

	patient.patient = true;
	space_default(c->space, config);
	rc = cost_whole(c, NULL, config, &patient, out, err);
	if (rc == 0 && out->outcome == OUTCOME_OK && out->seconds_b > 0) {
		/* Where runs are disturbed, a difference can exceed both sides; the ratio of pairs cannot. */
		if (out->ratio_se > 0) {
			out->delta = -out->seconds_b * expm1(-out->ratio);
			out->delta_se = out->seconds_b * exp(-out->ratio) * out->ratio_se;
		}
		c->default_seconds = out->seconds_b;
		c->default_se = out->seconds_b * out->ratio_se * M_SQRT1_2; /* a ratio has the error of two sides */
	}
	mem_free(config);
	return rc;
}

int cost_alone(struct cost *c, const uint8_t *config, struct timing *t, struct err *err)
{
	struct buf module = {0};
	struct compiled p = {0};
	struct fate fate = {0};
	struct precision whole = c->o.whole;
	enum compile_how how = config ? COMPILE_APPLIED : COMPILE_DEFAULT;
	const struct buf *program = config ? &module : c->o.original;
	int rc = config ? applied(c, config, &module, err) : 0;

	whole.patient = true;
	if (rc == 0)
		rc = cost_compile_whole(c, how, program, 0, &p, &fate, err);
	if (p.seconds < SPARE_DEAR) /* others are kept already; moves that are priced by whole programs begin with it */
		spare_put(&c->sides, how, program, &p);
	if (rc == 0 && fate.outcome == OUTCOME_OK) {
		rc = device_run(c->device, &p, &whole, t, err);
		c->totals.inside += t->inside;
	} else if (rc == 0) {
		set_fate(t, &fate);
	}
	if (cost_drop(c, &p, rc == 0 ? err : NULL) < 0)
		rc = -1;
	buf_release(&module);
	return rc;
}

/*
 * Where a kind reads nothing back, the compiler's own program stands for the default as applied. The default is a side
 * of the first pairs of whole programs, so the executable is kept as the default's, too. (The first such pair of a
 * state space model's training step was to take 14 s of the 15 that were left. Half of that was for the default.)
 */
static int keep_for_default(struct cost *c, struct err *err)
{
	struct buf module = {0};
	int rc;

	if (!c->o.spares || c->space->ops->decode)
		return 0;
	rc = space_apply_default(c->space, &module, err);
	if (rc == 0)
		spare_share_as(c->o.spares, COMPILE_DEFAULT, c->o.original, &c->sides, COMPILE_APPLIED, &module);
	buf_release(&module);
	return rc;
}

int cost_own_alone(struct cost *c, struct timing *out, struct err *err)
{
	int rc = c->said ? compare_figures(c, NULL, NULL, out, err) : cost_alone(c, NULL, out, err);

	out->cut = cost_cut(c, out->outcome);
	if (rc < 0 || out->outcome != OUTCOME_OK || out->seconds_a <= 0)
		return rc;
	out->seconds_b = out->seconds_a;
	out->delta = out->ratio = 0;
	out->ratio_se = out->delta_se / out->seconds_a * M_SQRT2;
	out->delta_se = ALIKE * out->seconds_a;
	cost_set_default(c, out->seconds_a, out->ratio_se * M_SQRT1_2 * out->seconds_a);
	return keep_for_default(c, err);
}

static int measure_default(struct cost *c, const uint8_t *config, struct err *err)
{
	bool figure = cost_whole_exact(c) || c->said;
	struct timing t = {0};
	int rc;

	rc = figure ? compare_figures(c, config, config, &t, err) : cost_alone(c, config, &t, err);
	if (rc == 0 && t.outcome == OUTCOME_CRASHED && !figure)
		rc = cost_alone(c, config, &t, err);
	c->default_died = rc == 0 && (t.outcome == OUTCOME_CRASHED || t.outcome == OUTCOME_REFUSED);
	if (rc == 0 && t.outcome != OUTCOME_OK)
		rc = err_set(err,
			"%.200s does not run in its default configuration: %s: %.400s; search --unverified goes by its "
			"parts alone",
			c->space->graph->name, outcome_meaning(t.outcome), t.detail);
	c->default_seconds = t.seconds_a;
	c->default_se = t.delta_se;
	timing_release(&t);
	return rc;
}

bool cost_default_died(const struct cost *c)
{
	return c->default_died;
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
