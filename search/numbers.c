/*
 * numbers.c - see the header. The two programs of the yardstick "plain" are compiled only if "nudged" is not enough.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "search/numbers.h"

#define YARDSTICKS 10
#define LEAST_UNITS 4	   /* in the last place */
#define COARSE_UNIT 1e-4   /* relative; a float of 16 bits or fewer has a larger one */
#define TELLING 0.5	   /* a kind of input that allows so much tells nothing */

/* The programs that are compared. */
enum side { OWN, TUNED, READ_BACK, PLAIN, SIDES };

struct check {
	const struct numbers_job *job;
	bool fresh;
	struct compiled more[2]; /* READ_BACK, PLAIN: compiled when first wanted */
};

/* The comparisons on one kind of input. */
struct trial {
	struct comparison tuned;    /* against the compiler's own */
	struct comparison nudged;   /* the compiler's own against itself on nudged inputs */
	struct comparison plain;    /* the default as read back against choice 0 everywhere; empty until wanted */
};

static struct compiled *program_of(struct check *c, enum side side)
{
	return side == OWN ? c->job->own : side == TUNED ? c->job->tuned : &c->more[side - READ_BACK];
}

/* The configuration of one of our programs; freed by the caller. */
static uint8_t *config_of(const struct check *c, enum side side)
{
	struct space *s = c->job->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);

	if (side == TUNED)
		memcpy(config, c->job->config, s->n_sites);
	if (side == READ_BACK)
		space_default(s, config);
	return config;
}

static int compile(struct check *c, enum side side, struct err *err)
{
	const struct numbers_job *job = c->job;
	const struct space_ops *ops = job->space->ops;
	struct compiled *p = program_of(c, side);
	struct buf module = {0};
	uint8_t *config;
	int rc;

	compiled_release(p);
	if (side == OWN)
		return device_compile(job->device, COMPILE_DEFAULT, "hlo", job->original->data, job->original->len, 0,
			p, err);
	config = config_of(c, side);
	rc = (ops->apply_whole ? ops->apply_whole : ops->apply)(job->space, config, &module, err);
	if (rc == 0)
		rc = device_compile(job->device, COMPILE_APPLIED, "hlo", module.data, module.len, 0, p, err);
	mem_free(config);
	buf_release(&module);
	return rc;
}

/* Makes sure that a program is on the device: one that was lost with its worker is compiled again. */
static int ensure(struct check *c, enum side side, struct err *err)
{
	struct compiled *p = program_of(c, side);

	if (p->outcome == OUTCOME_OK && p->handle && p->generation == device_generation(c->job->device))
		return 0;
	return compile(c, side, err);
}

static int compare(struct check *c, enum side a, enum side b, enum inputs inputs, bool nudged, struct comparison *out,
	struct err *err)
{
	struct compare_options o = {.inputs = inputs, .nudged = nudged, .fresh = c->fresh};
	struct compiled *x = program_of(c, a), *y = program_of(c, b);

	*out = (struct comparison){0};
	if (ensure(c, a, err) < 0 || ensure(c, b, err) < 0)
		return -1;
	if (x->outcome == OUTCOME_OK && y->outcome == OUTCOME_OK)
		return device_compare(c->job->device, x, y, &o, out, err);
	out->outcome = x->outcome != OUTCOME_OK ? x->outcome : y->outcome;
	snprintf(out->detail, sizeof out->detail, "%s", x->outcome != OUTCOME_OK ? x->detail : y->detail);
	return 0;
}

static const struct difference *output_of(const struct comparison *c, uint32_t k)
{
	static const struct difference none;

	return c->outcome == OUTCOME_OK && k < c->n_outputs ? &c->output[k] : &none;
}

/* How an output differs, compared with what is allowed for it. */
struct judged {
	double allowed;
	uint64_t unlike_allowed;
	double share; /* of what is allowed; above 1: too far */
	bool told;
};

static struct judged judge_output(const struct trial *t, uint32_t k)
{
	const struct difference *d = &t->tuned.output[k], *n = output_of(&t->nudged, k), *f = output_of(&t->plain, k);
	double least = LEAST_UNITS * d->unit * (d->unit < COARSE_UNIT ? YARDSTICKS : 1);
	struct judged j = {.allowed = fmax(least, YARDSTICKS * fmax(n->max_rel, f->max_rel)),
		.unlike_allowed = YARDSTICKS * (n->unlike > f->unlike ? n->unlike : f->unlike)};

	j.told = d->unit > 0 ? d->finite > 0 && j.allowed < TELLING : d->elements > j.unlike_allowed;
	j.share = d->unit > 0 ? d->max_rel / j.allowed : 0;
	if (!(j.share <= 1) || d->unlike > j.unlike_allowed)
		j.share = fmax(2, j.share);
	return j;
}

/* Judges the outputs on one kind of input; true if all differ by no more than is allowed. */
static bool judge(const struct trial *t, struct numbers_on *on)
{
	double worst = -1;

	*on = (struct numbers_on){.compared = true, .elements = t->tuned.all.elements, .finite = t->tuned.all.finite};
	for (uint32_t k = 0; k < t->tuned.n_outputs; k++) {
		const struct difference *d = &t->tuned.output[k];
		struct judged j = judge_output(t, k);
		on->told |= j.told;
		if (!(j.share > worst))
			continue;
		worst = j.share;
		on->output = k;
		on->difference = d->max_rel;
		on->allowed = j.allowed;
		on->unlike = d->unlike;
		on->unlike_allowed = j.unlike_allowed;
	}
	return worst <= 1 && !t->tuned.layouts_differ;
}

static void explain(struct numbers *n, const struct trial *t, enum inputs i)
{
	const struct numbers_on *on = &n->on[i];
	char *s = n->detail;
	size_t room = sizeof n->detail;

	if (t->tuned.outcome != OUTCOME_OK) {
		n->outcome = t->tuned.outcome;
		snprintf(s, room, "on %s inputs it does not run: %s: %.250s", inputs_name(i),
			outcome_meaning(n->outcome), t->tuned.detail);
		return;
	}
	n->outcome = OUTCOME_WRONG_NUMBERS;
	if (t->tuned.layouts_differ)
		snprintf(s, room, "it takes or leaves its values in other layouts than the compiler's own program");
	else if (on->unlike > on->unlike_allowed)
		snprintf(s, room,
			"on %s inputs, %llu elements of output %u are unlike: NaN, "
			"infinite or an integer otherwise, %llu allowed",
			inputs_name(i), (unsigned long long)on->unlike, on->output,
			(unsigned long long)on->unlike_allowed);
	else
		snprintf(s, room, "on %s inputs, output %u differs by %.2g relative, %.2g allowed", inputs_name(i),
			on->output, on->difference, on->allowed);
}

/* Compares on one kind of input. The result goes to n->on[i], and the reason to n if it is not good enough. */
static int check_on(struct check *c, struct numbers *n, enum inputs i, struct trial *t, struct err *err)
{
	bool good = false;

	if (compare(c, OWN, OWN, i, true, &t->nudged, err) < 0)
		return -1;
	n->on[i].own = t->nudged.outcome;
	if (t->nudged.outcome != OUTCOME_OK) /* a program need not run on just any input */
		return 0;
	if (compare(c, OWN, TUNED, i, false, &t->tuned, err) < 0)
		return -1;
	if (t->tuned.outcome == OUTCOME_OK) {
		good = judge(t, &n->on[i]);
		if (!good && compare(c, READ_BACK, PLAIN, i, false, &t->plain, err) < 0)
			return -1;
		good = good || judge(t, &n->on[i]);
	}
	if (!good)
		explain(n, t, i);
	return 0;
}

static bool any_told(const struct numbers *n)
{
	for (int i = 0; i < INPUTS_COUNT; i++)
		if (n->on[i].told)
			return true;
	return false;
}

/* Is there time for one more kind of input, if it takes as long as those before it did on average? */
static bool time_for_another(const struct numbers *n, const struct numbers_job *job, double spent, int kinds)
{
	return job->seconds <= 0 || kinds == 0 || !any_told(n) || spent + spent / kinds <= job->seconds;
}

/* No kind of input told anything: one cause, if it is the same on all, or else what it may be. */
static void say_why_silent(struct numbers *out)
{
	enum outcome own = out->on[0].own;
	bool same = own != OUTCOME_OK;

	for (int i = 1; i < INPUTS_COUNT; i++)
		same = same && out->on[i].own == own;
	if (same)
		snprintf(out->detail, sizeof out->detail,
			"on every kind of input the compiler's own program ends so: %s", outcome_meaning(own));
	else
		snprintf(out->detail, sizeof out->detail,
			"on every kind of input the compiler's own program does not "
			"run, gives no finite number, or changes as much by rounding alone");
}

int numbers_check(struct numbers *out, const struct numbers_job *job, struct err *err)
{
	double start = now_seconds();
	struct check c = {.job = job, .fresh = memmem(job->original->data, job->original->len, "rng", 3)};
	int rc = 0;

	*out = (struct numbers){0};
	for (int i = 0; i < INPUTS_COUNT && rc == 0 && out->outcome == OUTCOME_OK; i++) {
		struct trial t = {0};
		if (!time_for_another(out, job, now_seconds() - start, i))
			break;
		rc = check_on(&c, out, (enum inputs)i, &t, err);
		comparison_release(&t.tuned);
		comparison_release(&t.nudged);
		comparison_release(&t.plain);
	}
	if (rc == 0 && out->outcome == OUTCOME_OK && !any_told(out)) {
		out->outcome = OUTCOME_WRONG_NUMBERS;
		out->silent = true;
		say_why_silent(out);
	}
	for (int i = 0; i < 2; i++) {
		if (rc == 0 && c.more[i].handle)
			rc = device_drop(job->device, &c.more[i], err);
		compiled_release(&c.more[i]);
	}
	return rc;
}

void numbers_kinds(const struct numbers *n, struct buf *out)
{
	for (int i = 0; i < INPUTS_COUNT; i++)
		if (n->on[i].told)
			buf_addf(out, "%s%s", out->len ? ", " : "", inputs_name((enum inputs)i));
}

void numbers_worst(const struct numbers *n, double *difference, double *allowed)
{
	*difference = *allowed = 0;
	for (int i = 0; i < INPUTS_COUNT; i++) {
		const struct numbers_on *on = &n->on[i];
		if (on->told && (*allowed == 0 || on->difference * *allowed > *difference * on->allowed)) {
			*difference = on->difference;
			*allowed = on->allowed;
		}
	}
}
