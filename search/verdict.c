/*
 * verdict.c - see the header; the arithmetic is that of device_pair.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "base/stat.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/prior.h"
#include "search/stations.h"
#include "search/verdict.h"

#define VERDICT_INSTANCES 2 /* of each side, in each of them */
#define LONG_JUDGING 10.0    /* seconds that the user is told about */
#define TIMED_SHARE 0.25     /* both are timed for so much of the time that it took to load them, at least */
#define NUMBERS_SECONDS 30.0 /* ... and comparing numbers on further kinds of input; */
#define NUMBERS_PAIRS 3.0    /* or so many times as long as timing both sides once */

/* What one worker leaves to the next. */
struct kept {
	struct buf side[2]; /* executables of what is too dear to compile in each; empty otherwise */
	bool decided;	    /* whether there are to be any */
	double load;	    /* seconds that loading one took, or compiling what cannot be kept; 0: neither was needed */
	bool swap;	    /* the next worker makes side 1 first: what is loaded first may be faster */
	double pair;	    /* seconds that timing both took, with making their inputs */
	bool compared;	    /* the numbers were, by one of them */
	bool died;	    /* a worker did, and was asked once more */
};

/* What the search compiled and kept. */
static void take_spare(struct spares *spares, enum compile_how how, const struct buf *module, struct buf *out)
{
	const struct spare *p = spare_get(spares, how, module);

	if (p)
		buf_add(out, p->executable.data, p->executable.len);
}

/* Compiles one side, the compiler's own program or ours, or loads it if it was kept. */
static int make_side(struct lab *lab, const uint8_t *config, struct device *d, int side, struct kept *k,
	struct compiled *out, struct err *err)
{
	struct spares *spares = &lab->subject.opened.spares;
	bool own = side == 0 && !lab->reference;
	enum compile_how how = own ? COMPILE_DEFAULT : side ? lab->how : COMPILE_APPLIED;
	struct buf *kept = &k->side[side], module = {0};
	const struct buf *program = own ? &lab->subject.original : &module;
	unsigned want = k->decided ? 0 : WANT_SERIALISED;
	int rc = 0;

	if (side == 0 && lab->reference)
		rc = space_apply_default(lab->space, &module, err);
	else if (side == 1)
		rc = lab_answer(lab, config, &module, err);
	if (rc == 0 && !k->decided)
		take_spare(spares, how, program, kept);
	if (rc == 0 && kept->len) {
		rc = device_compile(d, COMPILE_DEFAULT, FORMAT_EXECUTABLE, kept->data, kept->len, 0, out, err);
		k->load = fmax(k->load, out->seconds);
		if (rc < 0 || out->outcome == OUTCOME_OK)
			goto out;
		compiled_release(out);
		*out = (struct compiled){0};
		buf_release(kept); /* no use to anybody */
	}
	if (rc == 0)
		rc = device_compile(d, how, "hlo", program->data, program->len, want, out, err);
	if (rc == 0 && want && out->outcome == OUTCOME_OK && !out->serialised.len)
		k->load = fmax(k->load, out->seconds);
	if (rc == 0)
		spare_put(spares, how, program, out);
out:
	buf_release(&module);
	return rc;
}

/* Makes both sides, unless they are `ready`. Adds up the seconds that this took. */
static int make_sides(struct lab *lab, const uint8_t *config, struct worker *w, struct kept *k, struct compiled c[2],
	enum outcome *outcome, double *seconds, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		int side = i ^ k->swap;
		if (w->ready && w->ready[side].outcome == OUTCOME_OK) {
			c[side] = w->ready[side];
			w->ready[side] = (struct compiled){0};
		} else {
			rc = make_side(lab, config, w->device, side, k, &c[side], err);
		}
		*seconds += c[side].seconds;
		if (*outcome == OUTCOME_OK)
			*outcome = c[side].outcome;
	}
	k->swap = !k->swap;
	return rc;
}

/* Runs the compiler's own program against ours: two modules, two ways of compiling. `p` NULL: they are not timed. */
static int time_against_compiler(struct verdict *v, struct lab *lab, const uint8_t *config, struct worker *w,
	const struct precision *p, struct kept *k, struct timing *t, struct err *err)
{
	struct compiled c[2] = {{0}, {0}};
	struct device *d = w->device;
	double seconds = 0, start;
	int rc = make_sides(lab, config, w, k, c, &t->outcome, &seconds, err);

	start = now_seconds();
	if (rc == 0 && t->outcome == OUTCOME_OK && p) {
		struct precision q = *p;
		q.max_seconds = fmax(q.max_seconds, TIMED_SHARE * 2 * k->load);
		if (2 * k->load > q.max_seconds)
			q.instances = 1; /* further loads would take longer than the timing */
		rc = device_pair(d, &c[0], &c[1], &q, t, err);
	}
	k->pair = now_seconds() - start;
	if (rc == 0 && t->outcome == OUTCOME_OK && !k->compared &&
		(!lab->space->ops->apply_whole || lab->space->ops->prepares)) { /* parts.h does it for the others */
		struct compiled whole = {0};
		struct buf module = {0};
		struct numbers_job job = {.device = d, .space = lab->space, .original = &lab->subject.original,
			.config = config, .own = &c[0], .tuned = lab->space->ops->prepares ? &whole : &c[1],
			.seconds = fmax(NUMBERS_SECONDS, NUMBERS_PAIRS * k->pair), .how = lab->how};
		k->compared = true;
		if (lab->how >= COMPILE_CODEGEN)
			rc = lab_answer(lab, config, &module, err);
		job.module = lab->how >= COMPILE_CODEGEN ? &module : NULL;
		if (rc == 0)
			rc = numbers_check(&v->numbers, &job, err);
		buf_release(&module);
		compiled_release(&whole);
	}
	v->compiled += k->side[0].len == 0 && k->side[1].len == 0;
	for (int side = 0; side < 2; side++) {
		if (p && !k->decided && !k->side[side].len && seconds > COMPILE_SHARE * p->max_seconds)
			buf_add(&k->side[side], c[side].serialised.data, c[side].serialised.len);
		compiled_release(&c[side]);
	}
	k->decided = true;
	return rc;
}

/* Sets the gain from the objective's figures, as shares saved. */
static void set_gain(struct verdict *v, const struct weighed *w)
{
	v->default_seconds = w->dflt;
	v->tuned_seconds = w->tuned;
	v->gain = 0 - w->change; /* never -0, which people would read as "-0.00%" */
	v->low = 0 - w->high;
	v->high = 0 - w->low;
}

void verdict_interval(struct verdict *v, const struct timing *t, size_t n, size_t wanted)
{
	struct weighed w = verdict_weigh(v, t, n, wanted);

	v->few = n < wanted;
	set_gain(v, &w);
}

static void count_runs(struct verdict *v, const struct timing *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		v->mapped_in.dflt += t[i].faults_a / (double)n;
		v->mapped_in.tuned += t[i].faults_b / (double)n;
		v->instances += t[i].instances;
		v->pairs += t[i].pairs;
	}
}

/* On which inputs the numbers were compared, and how near they were. */
static void tell_numbers(struct verdict *v)
{
	struct buf kinds = {0};
	double difference, allowed;

	numbers_kinds(&v->numbers, &kinds);
	numbers_worst(&v->numbers, &difference, &allowed);
	if (v->numbers.outcome == OUTCOME_OK && kinds.len)
		snprintf(v->compared, sizeof v->compared,
			"Its numbers are those of the compiler's own program on %s inputs: at most %.2g apart, "
			"relative, where rounding allows %.2g.",
			kinds.data, difference, allowed);
	buf_release(&kinds);
}

/* Is the verdict about this quantity? */
static bool asked_about(const struct lab *lab, enum quantity q)
{
	bool any = lab->quantity == q;

	for (uint32_t i = 0; i < lab->n_limits; i++)
		any |= lab->limit[i].limit.quantity == q;
	return any;
}

/* Puts the compiler's decisions as we apply them in the place of its own program in *t, if their estimate is lower. */
static int against_restated(struct verdict *v, struct cost *c, const uint8_t *dflt, const uint8_t *config,
	struct timing *t, struct err *err)
{
	struct timing ours = {0};
	int rc = cost_whole(c, dflt, config, NULL, &ours, err);

	if (rc == 0 && ours.outcome == OUTCOME_OK && ours.seconds_a < t->seconds_a) {
		v->restated = 1 - ours.seconds_a / t->seconds_a;
		timing_release(t);
		*t = ours;
	} else {
		timing_release(&ours);
	}
	return rc;
}

/* Asks one worker for a figure that is exact. If the quantity is not exact, sets *timed: it has to be timed instead. */
static int ask_figure(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d, enum quantity q,
	struct weighed *w, bool *timed, struct err *err)
{
	bool measured = d && device_info(d)->kind == COST_MEASURED, own;
	const char *estimator = d ? device_info(d)->estimator : "";
	struct cost_options co = {.policy = POLICY_WHOLE, .quantity = 1 + (int)q, .original = &lab->subject.original};
	struct cost *c = cost_new(lab->space, d, &co, err);
	uint8_t *dflt = mem_alloc(lab->space->n_sites);
	struct timing t = {0};
	int rc = c ? 0 : -1;

	snprintf(v->estimator, sizeof v->estimator, "%s", estimator);
	space_default(lab->space, dflt);
	own = !lab->reference && (measured || *estimator);
	if (c && !cost_exact(c)) {
		*timed = true;
	} else if (c) { /* NULL stands for the compiler's own program */
		rc = cost_whole(c, own ? NULL : dflt, config, NULL, &t, err);
		if (rc == 0 && own && *estimator && q == lab->quantity && q != QUANTITY_BYTES &&
			t.outcome == OUTCOME_OK)
			rc = against_restated(v, c, dflt, config, &t, err);
		if (t.outcome != OUTCOME_OK)
			v->outcome = t.outcome;
		*w = verdict_weigh(v, &t, 1, 1);
		v->kind = t.kind;
		v->cores = d ? device_info(d)->cores : 0;
		timing_release(&t);
	}
	cost_free(c);
	mem_free(dflt);
	return rc;
}

/* Asks one worker for all exact figures. */
static int ask_figures(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d, struct weighed *w,
	bool *timed, struct err *err)
{
	int rc = 0;

	for (int q = 0; q < QUANTITY_COUNT && rc == 0 && v->outcome == OUTCOME_OK; q++)
		if (asked_about(lab, (enum quantity)q))
			rc = ask_figure(v, lab, config, d, (enum quantity)q, &w[q], timed, err);
	return rc;
}

/*
 * Runs both programs on one worker: times them if `timed`; the first worker also compares their numbers. A process that
 * dies is asked once more, because it can also die of what else the machine does.
 */
static int weigh(struct verdict *v, struct lab *lab, const uint8_t *config, struct worker *w, bool timed,
	double seconds, struct kept *k, struct timing *t, struct err *err)
{
	const struct device *d = w->device;
	struct precision p = {.target = 0.0005, .max_seconds = seconds / VERDICT_WORKERS,
		.instances = VERDICT_INSTANCES, .min_pairs = 20, .give_up = -1, .patient = true,
		.even_identical = lab->how >= COMPILE_CODEGEN}; /* then the same program may have other code */
	int rc;

	if (!d || device_info(d)->kind != COST_MEASURED)
		return 0;
	rc = time_against_compiler(v, lab, config, w, timed ? &p : NULL, k, t, err);
	if (rc == 0 && t->outcome == OUTCOME_CRASHED && !k->died) {
		k->died = true;
		timing_release(t);
		*t = (struct timing){0};
		rc = time_against_compiler(v, lab, config, w, timed ? &p : NULL, k, t, err);
	}
	if (rc == 0) {
		v->outcome = t->outcome;
		v->kind = t->kind;
		v->cores = v->cores ? v->cores : device_info(d)->cores;
	}
	return rc;
}

/* Finds whether a limit is kept, after both programs were weighed. */
static void judge_limit(struct verdict_limit *l, const struct weighed *w)
{
	double dflt = w->dflt;

	l->weighed = *w;
	l->default_breaks = limit_excess(&l->limit, dflt, dflt) > 0;
	if (w->exact)
		l->state = limit_excess(&l->limit, dflt, w->tuned) > 0 ? LIMIT_BROKEN : LIMIT_KEPT;
	else if (limit_excess(&l->limit, dflt, dflt * (1 + w->high)) == 0)
		l->state = LIMIT_KEPT;
	else
		l->state = limit_excess(&l->limit, dflt, dflt * (1 + w->low)) > 0 ? LIMIT_BROKEN : LIMIT_UNSURE;
}

/* Reaches the verdict from what both programs cost. */
static void judge(struct verdict *v, const struct lab *lab, const struct weighed *w)
{
	bool kept = true, needed = false;

	set_gain(v, &w[v->quantity]);
	for (uint32_t i = 0; i < lab->n_limits; i++) {
		struct verdict_limit *l = &v->limit[v->n_limits++];
		l->limit = lab->limit[i].limit;
		judge_limit(l, &w[l->limit.quantity]);
		kept &= l->state == LIMIT_KEPT;
		needed |= l->default_breaks;
	}
	v->tuned = v->measured && v->numbers.outcome == OUTCOME_OK && kept && (v->low > 0 || needed);
}

/* Large programs take minutes to judge, in which nothing else is said. */
static void tell_beginning(const struct verdict *v, const struct lab *lab)
{
	if (v->measured && lab->kind == COST_MEASURED && lab->subject.extract_seconds >= SPARE_DEAR)
		talk("judging what was found against the compiler's own program: whole programs, in fresh processes");
}

static void tell_how_long(size_t more, double each)
{
	char time[32];

	if (more && (double)more * each >= LONG_JUDGING)
		talk("%zu more process%s will time both, for about %s", more, more == 1 ? "" : "es",
			talk_seconds((double)more * each, time, sizeof time));
}

/* Is it worth a word that runs map in memory anew? */
static bool maps_much(const struct verdict *v)
{
	return v->quantity == QUANTITY_SECONDS && mapped_in_matters(&v->mapped_in, v->default_seconds);
}

/* Times both programs where memory stays mapped. The verdict does not need this, so a failure is not told. */
static void time_mapped(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	double seconds, struct kept *k)
{
	struct device_options keeping = *o;
	struct verdict aside = *v;
	struct timing t = {0};
	struct worker w = {0};
	struct err ignored;

	keeping.environment = mapped_in_environment;
	if (worker_next(&w, &keeping, NULL, 1, &ignored) == 0 &&
		weigh(&aside, lab, config, &w, true, seconds, k, &t, &ignored) == 0 && t.outcome == OUTCOME_OK) {
		v->mapped_in.kept_dflt = t.seconds_a;
		v->mapped_in.kept_tuned = t.seconds_b;
	}
	timing_release(&t);
	worker_close(&w);
}

/* Asks worker after worker, each a process of its own. Exact figures are asked of the first one only. */
static int weigh_all(struct verdict *v, struct lab *lab, const uint8_t *config, const struct verdict_options *o,
	struct err *err)
{
	struct weighed weighed[QUANTITY_COUNT] = {{0}};
	struct timing t[VERDICT_WORKERS] = {{0}};
	struct kept k = {0};
	struct worker w = {0};
	size_t n = 0, want = 1, wanted = 1, more = 0;
	double seconds = o->seconds > 0 ? o->seconds : VERDICT_SECONDS, each = 0;
	bool timed = false;
	enum quantity run = QUANTITY_SECONDS;
	int rc = 0;

	tell_beginning(v, lab);
	while (rc == 0 && n < want && v->outcome == OUTCOME_OK && v->numbers.outcome == OUTCOME_OK) {
		rc = worker_next(&w, o->device, k.decided ? k.side : NULL, want - n, err);
		if (rc == 0 && n == 0)
			rc = ask_figures(v, lab, config, w.device, weighed, &timed, err);
		if (w.device && timed) {
			wanted = VERDICT_WORKERS;
			run = device_info(w.device)->quantity;
		}
		if (rc == 0 && v->measured && v->outcome == OUTCOME_OK)
			rc = weigh(v, lab, config, &w, timed, seconds, &k, &t[n], err);
		if (n++ == 0 && timed) {
			each = k.pair + 2 * k.load / (double)(w.room ? w.room : 1);
			want = verdict_workers(o, each);
			tell_how_long(want - 1, each);
		}
		if (n == want && n < wanted && more == 0 && v->outcome == OUTCOME_OK) {
			want = more = verdict_more_workers(v, o, each, t, n);
			tell_how_long(more - n, each);
		}
		worker_close(&w);
	}
	stations_close(w.at);
	if (rc == 0 && v->outcome == OUTCOME_OK && timed) {
		weighed[run] = verdict_weigh(v, t, n, wanted);
		v->few = n < wanted;
		count_runs(v, t, n);
	}
	if (rc == 0 && v->outcome == OUTCOME_OK)
		judge(v, lab, weighed);
	if (rc == 0 && timed && v->outcome == OUTCOME_OK && maps_much(v) && !stop_asked())
		time_mapped(v, lab, config, o->device, seconds, &k);
	for (size_t i = 0; i < n; i++)
		timing_release(&t[i]);
	for (int side = 0; side < 2; side++)
		buf_release(&k.side[side]);
	return rc;
}

/* Nothing was found: is there still an exact limit that the default itself may break? Then it is worth asking. */
static bool worth_asking(const struct lab *lab)
{
	bool any = false;

	for (uint32_t i = 0; i < lab->n_limits; i++)
		any |= quantity_deterministic(lab->limit[i].limit.quantity) && quantity_deterministic(lab->quantity);
	return any;
}

void verdict_tell(struct verdict *v)
{
	v->tuned &= v->numbers.outcome == OUTCOME_OK;
	verdict_words(v);
	tell_numbers(v);
	if (maps_much(v))
		mapped_in_words(&v->mapped_in, v->advice, sizeof v->advice);
}

int verdict_reach(struct verdict *v, struct lab *lab, const uint8_t *config, const struct verdict_options *o,
	struct err *err)
{
	uint8_t *dflt = mem_alloc(lab->space->n_sites + 1);
	int rc = 0;

	*v = (struct verdict){.quantity = lab->quantity, .reference = lab->reference,
		.by_hand = lab->space->ops->by_hand, .prepares = lab->space->ops->prepares};
	space_default(lab->space, dflt);
	v->measured = lab->derived || lab->space->ops->prepares || lab->how >= COMPILE_CODEGEN ||
		      memcmp(dflt, config, lab->space->n_sites) != 0;
	talk_wait("judging what was found", 0, now_seconds());
	if (v->measured || worth_asking(lab))
		rc = weigh_all(v, lab, config, o, err);
	talk_waited();
	mem_free(dflt);
	verdict_tell(v);
	return rc;
}

void verdict_forgo(struct verdict *v, const struct lab *lab, const uint8_t *config, const struct estimate *believed)
{
	uint8_t *dflt = mem_alloc(lab->space->n_sites + 1);

	space_default(lab->space, dflt);
	*v = (struct verdict){.quantity = lab->quantity, .kind = lab->kind, .believed = *believed,
		.forgone = memcmp(dflt, config, lab->space->n_sites) != 0, .prepares = lab->space->ops->prepares};
	mem_free(dflt);
	verdict_words(v);
}
