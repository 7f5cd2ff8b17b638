/*
 * hunt.c - the loop of a search: see hunt.h.
 *
 * Strategies differ in what they propose; pricing, confirming, keeping and telling the guide are the same for
 * all. `flips` lists where the candidate differs from the configuration, so undoing takes as long as changing.
 *
 * In a store every evaluation is one trial, committed with the state after it. So a search that is resumed
 * after a kill goes on with the evaluation in which it was killed. A check of the whole program is stored with
 * the evaluation after it; after a kill between the two it is made again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "ready/culprit.h"
#include "search/hunt.h"

/* A confirmed gain must exceed so many of its standard errors; 8% of candidates without any gain do. */
#define KEEP_SIGMAS 1.0
/*
 * Besides noise, a step's gain in the program differs from what its region says by this share of it (as a standard
 * deviation).
 */
#define STEP_SHARE 0.5

#define LONG_RUN 1.0 /* seconds; the user is told about a longer run */
#define LONG_OPENING 5.0 /* ... and about a longer measurement of the default */
/* Of the time that the search has, measuring the default runs for such a share, but no shorter than that. */
#define WEIGH_SHARE 0.02
#define WEIGH_LEAST 0.3
/* Where the default's run dies, the instruction is looked for as long, or so many times as long as compiling took. */
#define CULPRIT_LEAST 60.0
#define CULPRIT_TIMES 3.0
#define VAGUE 0.25 /* a default that is known no better than this, as a share of it, says nothing of gains */

/*
 * How many seconds are spent on one measurement: until its error is a small share of the program's run, at most a share
 * of the time that is left for each evaluation (compiling and measuring again take the rest), but always some.
 */
#define CONFIRMATIONS 2	  /* of what is kept, the credit among them */
#define WORTH_ERROR 1e-3  /* the error, as a share of the program's run */
#define WORTH_SHARE 0.25  /* of an evaluation's share of the time that is left */
#define WORTH_SECONDS 1.0 /* any candidate gets this much; it decides nothing for regions of less than a tenth of it */

/* With alpha by the budget, each site to pick from gets so many evaluations. */
#define AUTO_EACH 4
#define AUTO_WIDEST 25.0 /* percent of the sites at most: more would be no choice */
#define AUTO_NARROWEST 1.0

/* Nothing is left to try after so many evaluations, and so many per site, none of which had to be measured. */
#define KNOWN 1000
#define KNOWN_EACH 20

static const struct precision confirm = {.target = 0.001, .max_seconds = 0.3, .instances = 3, .min_pairs = 12};

double hunt_seconds(const struct hunt *h)
{
	return h->before + (h->ended > 0 ? h->ended : now_seconds()) - h->started;
}

/* Seconds of the compiler's own program. */
static double own_seconds(const struct hunt *h)
{
	return h->default_seconds - h->decoded.value;
}

bool hunt_vague(const struct hunt *h)
{
	bool known = own_seconds(h) > 0 && isfinite(h->default_se) && isfinite(h->decoded.se);

	return h->default_seconds > 0 && h->lab->kind == COST_MEASURED &&
		(!known || hypot(h->decoded.se, h->default_se) > VAGUE * own_seconds(h));
}

double hunt_gain(const struct hunt *h)
{
	return own_seconds(h) > 0 ? -(h->running.value + h->decoded.value) / own_seconds(h) : 0;
}

double hunt_gain_se(const struct hunt *h)
{
	return own_seconds(h) > 0 ? hypot(h->running.se, h->decoded.se) / own_seconds(h) : 0;
}

void hunt_add_point(struct hunt *h)
{
	MEM_GROW(&h->curve, &h->cap_curve, h->n_curve + 1);
	h->curve[h->n_curve++] =
		(struct hunt_point){h->evaluations, hunt_seconds(h), h->running.value, h->running.se};
}

static double auto_alpha(uint64_t budget, double moves)
{
	double front = 100.0 * (double)budget / AUTO_EACH / moves;

	return fmax(AUTO_NARROWEST, fmin(front, AUTO_WIDEST));
}

static int set_start(struct hunt *h, struct err *err)
{
	uint8_t *dflt = mem_alloc(h->s->n_sites);
	struct timing t = {0};
	int rc = 0;

	space_default(h->s, dflt);
	memcpy(h->config, dflt, h->s->n_sites);
	if (h->o.start == HUNT_RANDOM)
		space_random(h->s, 0.1 + 0.8 * rng_unit(&h->rng), &h->rng, h->config);
	if (h->o.start == HUNT_GIVEN)
		memcpy(h->config, h->o.given, h->s->n_sites);
	if (h->o.start >= HUNT_NAMED)
		h->s->ops->starts[h->o.start - HUNT_NAMED].fill(h->s, h->config);
	if (memcmp(h->config, dflt, h->s->n_sites) != 0) {
		rc = cost_whole(h->lab->cost, dflt, h->config, &hunt_whole, &t, err);
		if (rc == 0 && t.outcome != OUTCOME_OK)
			rc = err_set(err, "the start cannot be run (%s); choose another --start or --seed",
				outcome_name(t.outcome));
		h->running = (struct estimate){t.delta, t.delta_se, 1};
		if (rc == 0)
			rc = hunt_weigh_limits(h, dflt, err);
	}
	timing_release(&t);
	mem_free(dflt);
	return rc;
}

/*
 * Where compiling is dear and every part of the compiler's own program was read back, the default as read back is taken for
 * that program: to compile it once more, and to run both, would double what opening takes and tell next to nothing.
 */
bool hunt_own_stands(const struct hunt *h)
{
	const struct space_account *a = &h->s->account;

	return h->lab->subject.extract_seconds >= SPARE_DEAR && !h->lab->derived && a->parts > 0 && a->equal == a->parts && !a->added;
}

int hunt_weigh_default(struct hunt *h, struct cost *c, struct estimate *out, struct err *err)
{
	bool kept = c == h->lab->cost && h->quantity == QUANTITY_SECONDS; /* may it be known from an earlier opening? */
	const struct opened *o = &h->lab->subject.opened;
	struct precision p = hunt_whole;
	struct timing t = {0};
	int rc;

	if (cost_kind(c) != COST_MEASURED)
		return 0;
	if (!h->s->ops->decode && !h->lab->derived) /* the compiler shows no choices, so the default is its own program */
		return 0;
	if (kept && h->lab->subject.known && !h->lab->derived && o->run > 0) {
		cost_set_default(c, o->run, o->run_se);
		*out = (struct estimate){o->more, o->more_se, 1};
		return 0;
	}
	if (kept && hunt_own_stands(h)) {
		rc = cost_own_alone(c, &t, err);
		goto out; /* where that dies, to run it beside its like would tell nothing */
	}
	p.max_seconds = h->o.seconds > 0 ? fmin(p.max_seconds, fmax(WEIGH_LEAST, WEIGH_SHARE * h->o.seconds)) : p.max_seconds;
	rc = cost_own(c, &p, &t, err);
out:
	if (rc == 0 && t.outcome == OUTCOME_OK)
		*out = (struct estimate){t.delta, t.delta_se, t.pairs};
	if (rc == 0 && kept)
		lab_remember(h->lab, &t);
	timing_release(&t);
	return rc;
}

void hunt_prepare(struct hunt *h, const struct hunt_options *o, struct lab *lab)
{
	*h = (struct hunt){.o = *o, .lab = lab, .s = lab->space, .started = now_seconds(),
		.quantity = lab->quantity};
	if (o->alpha == HUNT_AUTO && lab->space->n_sites)
		h->o.alpha = auto_alpha(o->budget, guide_moves(lab->space, o->tied));
	rng_seed2(&h->rng, o->seed, 0x68756e74);
	h->config = MEM_NEW(h->s->n_sites, uint8_t);
	h->candidate = MEM_NEW(h->s->n_sites, uint8_t);
	h->sure = MEM_NEW(h->s->n_sites, uint8_t);
	h->flips = MEM_NEW(h->s->n_sites, uint32_t);
	h->order = MEM_NEW(h->s->n_sites, uint32_t);
	h->ball = MEM_NEW(h->s->graph->n_nodes, uint32_t);
	h->in_ball = MEM_NEW(h->s->graph->n_nodes, uint8_t);
	h->dear = MEM_NEW(h->s->n_sites, uint8_t);
	h->size = MEM_NEW(h->s->n_sites, struct hunt_size);
}

void hunt_stand(struct hunt *h, const struct scorer *scorer)
{
	struct guide_options go = {h->o.alpha, h->o.explore, h->o.adapt, h->o.tied};

	memcpy(h->candidate, h->config, h->s->n_sites);
	h->hash = config_hash(h->s, h->config);
	if (!h->guide)
		h->guide = guide_new(h->s, h->o.strategy == STRATEGY_RANDOM ? NULL : scorer, &go);
	guide_move(h->guide, h->config);
}

int hunt_begin(struct hunt *h, const struct hunt_options *o, struct lab *lab, const struct scorer *scorer,
	struct err *err)
{
	char time[32];

	hunt_prepare(h, o, lab);
	cost_set_pace(lab->cost, lab->subject.extract_seconds,
		lab->subject.bytes.len > lab->subject.opened.after.len ? lab->subject.bytes.len : lab->subject.opened.after.len);
	if (h->s->n_sites == 0)
		return 0;
	if (!lab->parts_only && hunt_weigh_default(h, lab->cost, &h->decoded, err) < 0)
		return -1;
	if (!lab->parts_only && cost_default_seconds(lab->cost, &h->default_seconds, &h->default_se, err) < 0) {
		if (cost_default_died(lab->cost) && err)
			culprit_tell(lab->device, &lab->subject.original, fmax(CULPRIT_LEAST, CULPRIT_TIMES * lab->subject.extract_seconds), err);
		return -1;
	}
	if (hunt_begin_limits(h, err) < 0)
		return -1;
	h->default_wall = hunt_seconds(h);
	h->started = now_seconds(); /* opening does not count as time of the search */
	if (h->default_wall >= LONG_OPENING)
		talk("measuring the default took %s", talk_seconds(h->default_wall, time, sizeof time));
	if (hunt_vague(h))
		talk("the default could only be measured to within %.0f%%: the machine is too busy to say how much is gained before the verdict",
			100 * hypot(h->decoded.se, h->default_se) / fmax(own_seconds(h), 1e-12));
	if (h->default_seconds >= LONG_RUN && h->quantity == QUANTITY_SECONDS)
		talk("one run takes %s: whole programs are compared by few runs, down to one a side, and their intervals are wide",
			talk_seconds(h->default_seconds, time, sizeof time));
	h->part.value = cost_part(lab->cost);
	h->part.se = o->part_known ? 0 : h->part.value; /* nothing, or twice as much, would be no surprise */
	if (set_start(h, err) < 0)
		return -1;
	hunt_vouch(h, &h->running);
	hunt_stand(h, scorer);
	hunt_add_point(h);
	return 0;
}

void hunt_release(struct hunt *h)
{
	guide_free(h->guide);
	mem_free(h->config);
	mem_free(h->candidate);
	mem_free(h->sure);
	mem_free(h->flips);
	hunt_forget(h);
	mem_free(h->order);
	mem_free(h->ball);
	mem_free(h->in_ball);
	mem_free(h->dear);
	mem_free(h->size);
	mem_free(h->curve);
	mem_free(h->check);
	mem_free(h->steps);
	*h = (struct hunt){0};
}

static void keep(struct hunt *h, const struct delta *d)
{
	uint32_t first = h->flips[0];
	double se = cost_exact(h->lab->cost) ? d->se : hypot(d->se, STEP_SHARE * d->seconds);

	MEM_GROW(&h->steps, &h->cap_steps, h->n_steps + 1);
	h->steps[h->n_steps++] = (struct hunt_step){h->evaluations, first, h->n_flips, h->config[first],
		h->candidate[first], d->seconds, se};
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->hash = config_flip(h->config, h->hash, h->flips[i], h->candidate[h->flips[i]]);
	h->n_flips = 0;
	h->running = stat_sum((struct estimate[]){h->running, {d->seconds, se, 1}}, 2);
	h->parts += d->parts;
	hunt_keep_limits(h);
	h->kept++;
	h->idle = h->known = 0;
	h->sweep_kept++;
	guide_move(h->guide, h->config);
	hunt_add_point(h);
}

static int by_site(const void *a, const void *b)
{
	const struct flip *x = a, *y = b;

	return (x->site > y->site) - (x->site < y->site);
}

/* The candidate as a trial for the store, with what was measured, without charges. record frees it. */
static struct trial to_trial(const struct hunt *h, const struct delta *d, bool taken)
{
	struct flip *flips = mem_alloc(h->n_flips * sizeof *flips);

	for (uint32_t i = 0; i < h->n_flips; i++)
		flips[i] = (struct flip){h->flips[i], h->candidate[h->flips[i]]};
	qsort(flips, h->n_flips, sizeof *flips, by_site);
	return (struct trial){.chain = h->chain, .n_flips = h->n_flips, .flip = flips, .delta = d->seconds - d->added,
		.se = d->se, .outcome = d->outcome, .kind = d->kind, .bound = d->gave_up, .taken = taken};
}

/* Stores the trial with the state after it; without a run there is nothing to do. */
static int record(struct hunt *h, const struct trial *t, struct err *err)
{
	struct archive *a = h->lab->archive;
	struct buf state = {0};
	int rc = 0;

	if (a && a->run) {
		hunt_save(h, &state);
		archive_lock(a);
		rc = run_trial(a->run, t, state.data, state.len, err);
		archive_unlock(a);
	}
	buf_release(&state);
	mem_free((void *)t->flip);
	return rc;
}

static void count(struct hunt *h, const struct delta *d)
{
	h->evaluations++;
	h->idle++;
	h->known = d->measured ? 0 : h->known + 1;
	if (d->outcome != OUTCOME_OK)
		h->failed[d->outcome]++;
	else if (d->measured == 0)
		h->cached++;
	else
		h->measured++;
}

static bool over(const struct hunt *h)
{
	return h->s->n_sites == 0 || h->evaluations >= h->o.budget || stop_asked() ||
	       (h->o.seconds > 0 && now_seconds() + hunt_last_check(h) >= hunt_end(h));
}

/*
 * Says what it is worth to know the candidate's cost. Nobody keeps a step for a thousandth of the program's run. Running
 * regions need not take longer than running the program. If time is short, each candidate gets its share.
 */
static void say_worth(struct hunt *h)
{
	struct worth w = {WORTH_ERROR * h->default_seconds, h->lab->parts_only ? INFINITY : h->default_seconds};
	double left = h->o.seconds - hunt_seconds(h) - hunt_last_check(h);

	if (h->o.seconds > 0)
		w.seconds = fmin(w.seconds, WORTH_SHARE * left / (double)(h->o.budget - h->evaluations));
	w.seconds = fmax(w.seconds, WORTH_SECONDS);
	cost_set_worth(h->lab->cost, &w);
}

/*
 * Measures what a kept candidate is credited with. This measurement had no part in keeping it. `better` becomes false
 * if the candidate does not run this time.
 */
static int credit(struct hunt *h, struct delta *d, bool *better, struct err *err)
{
	if (cost_confirm(h->lab->cost, h->config, h->candidate, &confirm, d, err) < 0)
		return -1;
	*better = d->outcome == OUTCOME_OK;
	return 0;
}

/* Finds what the candidate costs in the objective, and whether it is better by that. */
static int price_objective(struct hunt *h, struct delta *d, bool *better, struct err *err)
{
	if (cost_kind(h->lab->cost) == COST_MEASURED && h->quantity == QUANTITY_SECONDS)
		say_worth(h);
	if (hunt_expect(h, 1, err) < 0 || cost_delta(h->lab->cost, h->config, h->candidate, d, err) < 0)
		return -1;
	*better = false;
	if (d->cut)
		return 0;
	count(h, d);
	*better = d->outcome == OUTCOME_OK && d->seconds < 0;
	if (!*better || cost_exact(h->lab->cost))
		return 0;
	if (hunt_expect(h, CONFIRMATIONS * confirm.instances, err) < 0 ||
		cost_confirm(h->lab->cost, h->config, h->candidate, &confirm, d, err) < 0)
		return -1;
	*better = d->outcome == OUTCOME_OK && d->seconds < -KEEP_SIGMAS * d->se && d->seconds < 0;
	h->refuted += !*better && !d->cut;
	return 0;
}

/*
 * Finds what the candidate costs, and whether to keep it. If all limits are kept now, it has to be better. If a limit is
 * broken now, it has to come nearer to the limits, or be as near and better.
 */
static int price(struct hunt *h, struct delta *d, bool *better, struct err *err)
{
	double beyond = hunt_excess(h), then = 0;
	enum outcome outcome = OUTCOME_OK;

	if (price_objective(h, d, better, err) < 0)
		return -1;
	if (d->outcome == OUTCOME_OK && (*better || beyond > 0)) {
		if (hunt_price_limits(h, &then, &outcome, err) < 0)
			return -1;
		d->cut |= outcome == OUTCOME_TIMEOUT && h->lab->device && device_late(h->lab->device);
		if (d->cut) {
			*better = false;
		} else if (*better && (outcome != OUTCOME_OK || then > beyond)) {
			*better = false;
			h->beyond++;
		} else if (outcome == OUTCOME_OK && then < beyond) {
			*better = true;
		}
	}
	return *better && !cost_exact(h->lab->cost) ? credit(h, d, better, err) : 0;
}

/* The search is over: the whole program has the last word. */
static int end(struct hunt *h, struct err *err)
{
	int rc = 0;

	if (h->ended > 0)
		return 0;
	hunt_allow_check(h);
	if (h->s->n_sites > 0 && !stop_asked())
		rc = hunt_check(h, true, err);
	h->ended = now_seconds();
	hunt_allow_all(h);
	return rc;
}

/* The candidate's time was over before its cost was known: nothing is known of it, and it is not offered again here. */
static void cut(struct hunt *h, bool single)
{
	h->cut++;
	if (single)
		guide_tell(h->guide, h->flips[0], h->candidate[h->flips[0]], NAN);
	hunt_undo(h);
}

bool hunt_could_go_on(const struct hunt *h)
{
	return h->s->n_sites > 0 && h->evaluations < h->o.budget && !h->used_up;
}

int hunt_next(struct hunt *h, struct err *err)
{
	struct trial trial;
	struct delta d;
	uint64_t beyond;
	bool single, better, good;
	uint32_t site, n;
	int offered;

	if (!over(h)) {
		hunt_allow_check(h);
		if (hunt_check(h, false, err) < 0)
			return -1;
		if ((offered = hunt_offer(h, err)) < 0)
			return -1;
		h->used_up = h->known > KNOWN + KNOWN_EACH * (uint64_t)h->s->n_sites || (!offered && !h->too_dear);
	}
	if (h->used_up || h->n_flips == 0)
		return end(h, err);
	n = h->n_flips;
	beyond = h->beyond;
	single = n == 1 || h->o.tied;
	site = h->flips[0];
	hunt_allow(h);
	if (price(h, &d, &better, err) < 0)
		return -1;
	if (d.cut) {
		cut(h, single);
		return 1;
	}
	trial = to_trial(h, &d, better);
	good = d.outcome == OUTCOME_OK && h->beyond == beyond; /* a candidate that breaks a limit counts as one that failed */
	if (single)
		guide_tell(h->guide, site, h->candidate[site], good ? d.seconds / n : NAN);
	if (better)
		keep(h, &d);
	else
		hunt_undo(h);
	return record(h, &trial, err) < 0 ? -1 : 1;
}
