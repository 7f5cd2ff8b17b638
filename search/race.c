/*
 * race.c - see race.h.
 */
#include "search/race.h"

#include <math.h>
#include "base/progress.h"
#include "base/stop.h"
#include "device/room.h"

/* A race takes so much of the search's time; what is under way then is cut. */
#define TIME_SHARE 0.5
#define TIME_MOST 2.0 /* ... or up to so much, where forms promise much */
#define TIME_LEAST 60.0 /* seconds, of a search that has no time limit */
/* Two programs run side by side for so much of the search's time, within bounds in seconds. */
#define RUN_SHARE 0.05
#define RUN_LEAST 0.5
#define RUN_MOST 3.0
/* ... or for so many runs of the answer, but no longer than so many seconds. Fewer runs seldom show a difference. */
#define RUNS 60
#define RUNS_MOST 10.0
#define WORTH 0.005 /* share of a run; for less no form is taken */
#define SURE 3.0    /* standard errors */

bool race_possible(const struct hunt *h)
{
	const struct lab *lab = h->lab;
	const struct device_info *i = lab->device ? device_info(lab->device) : NULL;

	return i && i->can_run && i->kind == COST_MEASURED && h->quantity == QUANTITY_SECONDS && h->n_limits == 0 &&
	       !lab->reference && !lab->parts_only && !lab->space->ops->prepares;
}

static int drop(struct race *x, struct compiled *c, struct err *err)
{
	int rc = device_drop(x->h->lab->device, c, err);

	compiled_release(c);
	*c = (struct compiled){0};
	return rc;
}

/* How long two forms run side by side, at the most. */
static double run_for(const struct hunt *h)
{
	double share = h->o.seconds > 0 ? RUN_SHARE * h->o.seconds : RUN_MOST;

	return fmax(fmin(RUN_MOST, fmax(RUN_LEAST, share)), fmin(RUNS_MOST, RUNS * hunt_own_seconds(h)));
}

static double time_for(const struct hunt *h, unsigned forms)
{
	double usual = h->o.seconds > 0 ? TIME_SHARE * h->o.seconds : fmax(TIME_SHARE * hunt_seconds(h), TIME_LEAST);
	double wanted = forms ? (1 + forms) * h->lab->subject.extract_seconds + forms * run_for(h) : 0;

	return fmax(usual, h->o.seconds > 0 ? fmin(wanted, TIME_MOST * h->o.seconds) : wanted);
}

/* Is there time to compile one more form, and to run it for so many seconds, as far as one can say? */
static bool affordable(const struct race *x, double run)
{
	double takes = x->takes > 0 ? x->takes : x->h->lab->subject.extract_seconds;

	return !stop_asked() && now_seconds() + takes + run <= x->ends;
}

void race_allow(struct race *x, unsigned forms)
{
	x->ends = fmax(x->ends, x->began + time_for(x->h, forms));
	device_until(x->h->lab->device, x->ends);
}

/* Compiles the answer as it is, or loads it. */
static int open_answer(struct race *x, struct err *err)
{
	struct lab *lab = x->h->lab;
	enum compile_how usual = lab->how == COMPILE_CODEGEN_OWN ? COMPILE_DEFAULT : COMPILE_APPLIED;

	return spare_compile(&lab->subject.opened.spares, lab->device, usual, &x->module, WANT_MEMORY, &x->best, err);
}

int race_begin(struct race *x, struct hunt *h, unsigned forms, struct err *err)
{
	struct lab *lab = h->lab;
	int rc;

	*x = (struct race){.h = h, .how = lab->how, .began = now_seconds()};
	race_allow(x, forms);
	device_heed_stop(lab->device, true);
	rc = lab_answer(lab, h->config, &x->module, err);
	if (rc == 0 && affordable(x, 0)) /* only the answer tells whether forms get more time */
		rc = open_answer(x, err);
	x->takes = x->best.seconds;
	return rc;
}

int race_afresh(struct race *x, struct err *err)
{
	if (drop(x, &x->best, err) < 0)
		return -1;
	device_renew(x->h->lab->device);
	return open_answer(x, err);
}

static bool has_best(const struct race *x)
{
	return x->best.handle && x->best.generation == device_generation(x->h->lab->device);
}

bool race_goes_on(const struct race *x)
{
	return has_best(x) && affordable(x, run_for(x->h));
}

int race_recover(struct race *x, struct err *err)
{
	const struct buf *m = &x->module;
	unsigned want = WANT_SERIALISED | WANT_MEMORY;

	if (!x->best.handle || has_best(x) || !affordable(x, run_for(x->h)))
		return 0;
	if (drop(x, &x->best, err) < 0)
		return -1;
	return device_compile(x->h->lab->device, x->how, "hlo", m->data, m->len, want, &x->best, err);
}

/* Runs x->next beside x->best. Returns 1 if it is faster, else 0. */
static int is_faster(struct race *x, struct lap *lap, struct err *err)
{
	struct precision p = {.target = 0.002, .max_seconds = run_for(x->h), .instances = 4, .give_up = -1,
		.even_identical = true};
	struct timing t = {0};
	int rc = device_pair(x->h->lab->device, &x->best, &x->next, &p, &t, err);

	if (rc == 0 && t.outcome == OUTCOME_OK && t.seconds_a > 0) {
		*lap = (struct lap){true, -t.delta / t.seconds_a, t.delta_se / t.seconds_a};
		rc = lap->gain > WORTH && lap->gain > SURE * lap->se;
	}
	timing_release(&t);
	return rc;
}

int race_enter(struct race *x, enum compile_how how, const struct buf *module, struct lap *lap, struct err *err)
{
	struct device *d = x->h->lab->device;
	struct compiled other;
	char ignored[160];
	int rc = device_compile(d, how, "hlo", module->data, module->len, WANT_SERIALISED | WANT_MEMORY, &x->next, err);

	*lap = (struct lap){0};
	x->takes = fmax(x->takes, x->next.seconds);
	if (rc == 0 && x->next.outcome == OUTCOME_OK &&
		room_for(d, 2 * x->next.peak_bytes, "it", ROOM_OF_ALL, ignored, sizeof ignored))
		rc = is_faster(x, lap, err);
	if (rc == 1) {
		other = x->best;
		x->best = x->next;
		x->next = other;
		x->how = how;
		x->won = true;
		if (module != &x->module) {
			buf_reset(&x->module);
			buf_add(&x->module, module->data, module->len);
		}
	}
	return drop(x, &x->next, rc < 0 ? NULL : err) < 0 || rc < 0 ? -1 : rc;
}

int race_end(struct race *x, struct err *err)
{
	struct lab *lab = x->h->lab;
	int rc;

	if (x->won)
		spare_put(&lab->subject.opened.spares, x->how, &x->module, &x->best);
	rc = drop(x, &x->best, err);
	device_until(lab->device, 0);
	device_heed_stop(lab->device, false);
	buf_release(&x->module);
	return rc;
}
