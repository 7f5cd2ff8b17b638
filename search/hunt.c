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
#include "ready/foreign.h"
#include "search/hunt.h"
#include "space/part.h"

/*
 * Besides noise, a step's gain in the program differs from what its region says by this share of it (as a standard
 * deviation). What regions leave out is much the same for all steps of a program, so these parts of the errors add up,
 * where noise averages out. (They were once taken for independent; then many steps outweighed the whole program's word,
 * and over 36 searches 0.5% +- 0.3 too much was believed.)
 */
#define STEP_SHARE 0.5

#define LONG_RUN 1.0 /* seconds; the user is told about a longer run */
#define LONG_OPENING 5.0 /* ... and about a longer measurement of the default */
/* If the default dies, the instruction is looked for so many seconds, or so many times as long as compiling took. */
#define CULPRIT_LEAST 60.0
#define CULPRIT_TIMES 3.0

#define NARROWEST 1.0 /* percent of the sites to pick from, at least, if that is by the budget */
#define LATELY 0.2 /* the weight of the last one in a mean of what was lately */
#define LEAST_TRIED 8 /* candidates before time ends what has found nothing */

/* Nothing is left to try after so many evaluations, and so many per site, none of which had to be measured. */
#define KNOWN 1000
#define KNOWN_EACH 20
/*
 * If another kind waits for its turn: after so many per site, and such a share of the time. Or when no single flip
 * that promises a gain is left, and so many candidates drawn at random, and so many per move, were in vain. (A
 * language model's step has 704 places to rewrite, of 32 classes. Rewriting took 540 evaluations and 100 s of a
 * search of four minutes; by this it takes 164, and 18 s.)
 */
#define WAITING_EACH 2
#define WAITING_SHARE 0.05
#define STRAYED 30

void hunt_prepare(struct hunt *h, const struct hunt_options *o, struct lab *lab)
{
	*h = (struct hunt){.o = *o, .lab = lab, .s = lab->space, .started = now_seconds(),
		.quantity = lab->quantity};
	h->focuses = o->alpha == HUNT_AUTO && lab->space->n_sites;
	if (h->focuses)
		h->o.alpha = guide_alpha((double)o->budget, guide_moves(lab->space, o->tied), NARROWEST);
	rng_seed2(&h->rng, o->seed, 0x68756e74);
	h->config = MEM_NEW(h->s->n_sites, uint8_t);
	h->candidate = MEM_NEW(h->s->n_sites, uint8_t);
	h->sure = MEM_NEW(h->s->n_sites, uint8_t);
	h->drawn = MEM_NEW(h->s->n_sites, uint8_t);
	h->confirm = hunt_confirmation();
	h->flips = MEM_NEW(h->s->n_sites, uint32_t);
	h->order = MEM_NEW(h->s->n_sites, uint32_t);
	h->ball = MEM_NEW(h->s->graph->n_nodes, uint32_t);
	h->in_ball = MEM_NEW(h->s->graph->n_nodes, uint8_t);
	h->dear = MEM_NEW(h->s->n_sites, uint8_t);
	h->size = MEM_NEW((size_t)h->s->n_sites * h->s->stride, struct hunt_size);
}

void hunt_stand(struct hunt *h, const struct scorer *scorer)
{
	struct guide_options go = {h->o.alpha, h->o.explore, h->o.adapt, h->o.tied, h->quantity};

	memcpy(h->candidate, h->config, h->s->n_sites);
	h->hash = config_hash(h->s, h->config);
	if (!h->guide)
		h->guide = guide_new(h->s, h->o.strategy == STRATEGY_RANDOM ? NULL : scorer, &go);
	guide_move(h->guide, h->config);
}

/* Measures what the compiler's own program and the default take. If the default dies, says which instruction it is. */
static int measure_default(struct hunt *h, struct err *err)
{
	struct lab *lab = h->lab;
	struct err why = {0};

	if (hunt_weigh_default(h, lab->cost, &h->decoded, err) < 0)
		return -1;
	if (lab->kind == COST_ESTIMATED && h->quantity != QUANTITY_BYTES && h->decoded.value < 0)
		h->decoded = (struct estimate){0}; /* no gain of any decision (verdict.h) */
	if (cost_default_seconds(lab->cost, &h->default_seconds, &h->default_se, err) == 0)
		return 0;
	if (!err)
		return -1;
	why = *err;
	if (!foreign_told(lab->subject.name, why.text, err) && cost_default_died(lab->cost))
		culprit_tell(lab->device, &lab->subject.original,
			fmax(CULPRIT_LEAST, CULPRIT_TIMES * lab->subject.extract_seconds), err);
	return -1;
}

/* Tells the user what the default's measurement means for the search. */
static void talk_default(const struct hunt *h)
{
	char time[32];

	if (h->default_wall >= LONG_OPENING)
		talk("measuring the default took %s", talk_seconds(h->default_wall, time, sizeof time));
	if (hunt_vague(h))
		talk("the default could only be measured to within %.0f%%: "
		     "the machine is too busy to say how much is gained before the verdict",
			100 * hypot(h->decoded.se, h->default_se) / fmax(hunt_own_seconds(h), 1e-12));
	if (h->default_seconds >= LONG_RUN && h->quantity == QUANTITY_SECONDS)
		talk("one run takes %s: whole programs are compared by few runs, down to one a side, and their "
		     "intervals are wide", talk_seconds(h->default_seconds, time, sizeof time));
}

/* What is charged for a kernel until checks of the whole program say more. */
static void begin_part(struct hunt *h)
{
	double charge = cost_part(h->lab->cost);

	if (!h->o.part_known && charge > 0 && h->default_seconds > 0)
		charge = fmin(charge, part_most(h->s, h->default_seconds));
	cost_set_part(h->lab->cost, charge);
	h->part.value = charge;
	h->part.se = h->o.part_known ? 0 : charge; /* nothing, or twice as much, would be no surprise */
}

int hunt_begin(struct hunt *h, const struct hunt_options *o, struct lab *lab, const struct scorer *scorer,
	struct err *err)
{
	size_t before = lab->subject.bytes.len, after = lab->subject.opened.after.len;
	int rc;

	hunt_prepare(h, o, lab);
	cost_set_pace(lab->cost, lab->subject.extract_seconds, before > after ? before : after);
	if (h->s->n_sites == 0) {
		h->o.start = HUNT_DEFAULT;
		return 0;
	}
	talk_wait("measuring the default", 0, now_seconds());
	rc = lab->parts_only ? 0 : measure_default(h, err);
	talk_waited();
	if (rc < 0)
		return -1;
	if (hunt_begin_limits(h, err) < 0)
		return -1;
	h->default_wall = hunt_seconds(h);
	h->started = now_seconds(); /* opening does not count as time of the search */
	talk_default(h);
	begin_part(h);
	talk_wait("measuring what the search starts from", 0, now_seconds());
	rc = hunt_set_start(h, err);
	talk_waited();
	if (rc < 0)
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
	mem_free(h->drawn);
	hunt_breed_release(h);
	mem_free(h->flips);
	hunt_forget(h);
	hunt_forget_ranking(h);
	mem_free(h->order);
	mem_free(h->ball);
	mem_free(h->in_ball);
	mem_free(h->dear);
	mem_free(h->refused);
	mem_free(h->size);
	mem_free(h->curve);
	mem_free(h->check);
	mem_free(h->steps);
	mem_free(h->trail);
	mem_free(h->trusted);
	*h = (struct hunt){0};
}

/* The error of the sum of steps: of what was vouched for, and of the steps since. */
static double sum_error(const struct hunt *h)
{
	double noise = h->sure_cost.se * h->sure_cost.se, shared = 0;

	for (size_t i = h->sure_steps; i < h->n_steps; i++) {
		double share = cost_exact(h->lab->cost) ? 0 : STEP_SHARE * h->steps[i].delta;
		noise += h->steps[i].se * h->steps[i].se - share * share;
		shared += share;
	}
	return sqrt(fmax(0, noise) + shared * shared);
}

static void keep(struct hunt *h, const struct delta *d)
{
	uint32_t first = h->flips[0];
	uint64_t before = h->hash;
	double se = cost_exact(h->lab->cost) ? d->se : hypot(d->se, STEP_SHARE * d->seconds);

	if (h->s->ops->taken)
		h->s->ops->taken(h->s, h->config, h->candidate, true);
	MEM_GROW(&h->steps, &h->cap_steps, h->n_steps + 1);
	h->steps[h->n_steps++] = (struct hunt_step){h->evaluations, first, h->n_flips, h->config[first],
		h->candidate[first], d->seconds, se};
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->hash = config_flip(h->config, h->hash, h->flips[i], h->candidate[h->flips[i]]);
	h->n_flips = 0;
	hunt_leave_trail(h);
	h->running.value += d->seconds;
	h->running.se = sum_error(h);
	h->parts += d->parts;
	hunt_keep_limits(h);
	h->kept++;
	h->idle = h->known = 0;
	if (!cost_exact(h->lab->cost)) /* what costs more than the last best, costs more than this one */
		h->n_refused = 0;
	MEM_GROW(&h->refused, &h->cap_refused, h->n_refused + 1);
	h->refused[h->n_refused++] = before;
	h->sweep_kept++;
	guide_move(h->guide, h->config);
	hunt_add_point(h);
}

static int by_site(const void *a, const void *b)
{
	const struct flip *x = a, *y = b;

	return (x->site > y->site) - (x->site < y->site);
}

/* The candidate as a trial for the store, with what was measured, without charges. The caller frees its flips. */
static struct trial to_trial(const struct hunt *h, const struct delta *d, bool taken)
{
	struct flip *flips = hunt_flips(h);

	qsort(flips, h->n_flips, sizeof *flips, by_site);
	return (struct trial){.chain = h->chain, .n_flips = h->n_flips, .flip = flips, .delta = d->seconds - d->added,
		.se = d->se, .outcome = d->outcome, .kind = d->kind, .bound = d->gave_up, .taken = taken};
}

/*
 * Was nothing kept for longer than it may last? Time alone does not tell: of a Swin transformer the first two
 * candidates, which whole programs priced, took 14 of 27 s, and with 20 rewriting takes 6% off it.
 */
static bool lost_patience(const struct hunt *h)
{
	double share = h->o.patience;

	return share > 0 && h->kept == 0 && ((double)h->evaluations >= share * (double)h->o.budget ||
		(h->o.seconds > 0 && h->evaluations >= LEAST_TRIED && hunt_seconds(h) >= share * h->o.seconds));
}

static bool over(const struct hunt *h)
{
	return h->s->n_sites == 0 || h->evaluations >= h->o.budget || stop_asked() || lost_patience(h) ||
	       (h->o.seconds > 0 && now_seconds() + hunt_last_check(h) >= hunt_end(h));
}

/* The search is over: the whole program has the last word. */
static int end(struct hunt *h, struct err *err)
{
	int rc = 0;

	if (h->ended > 0)
		return 0;
	hunt_undo(h); /* what was offered last, if nothing was left to try */
	hunt_allow_check(h);
	if (h->s->n_sites > 0 && !stop_asked())
		rc = hunt_check(h, true, err);
	h->ended = now_seconds();
	if (h->lab->device)
		device_helped(h->lab->device, &h->helped);
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

/* Is nothing left to try, as far as one can say? */
static bool knows_all(const struct hunt *h)
{
	bool waiting = h->o.patience > 0 && hunt_is_timed(h);

	if (waiting && (double)h->strayed > STRAYED + WAITING_EACH * guide_moves(h->s, h->o.tied))
		return true;
	return h->known > KNOWN + KNOWN_EACH * (uint64_t)h->s->n_sites ||
	       (waiting && h->known > WAITING_EACH * (uint64_t)h->s->n_sites &&
		hunt_seconds(h) > h->fresh + WAITING_SHARE * h->o.seconds);
}

int hunt_next(struct hunt *h, struct err *err)
{
	struct trial trial;
	struct delta d;
	uint64_t beyond;
	bool single, better, good;
	uint32_t site, n;
	struct rng rng;
	int offered, rc;

	if (!over(h)) {
		hunt_allow_check(h);
		if (hunt_check(h, false, err) < 0)
			return -1;
		rng = h->rng;
		hunt_say_worth(h);
		if ((offered = hunt_offer(h, err)) < 0)
			return -1;
		if (hunt_take_early(h)) /* what it would have been comes next */
			h->rng = rng;
		h->used_up = knows_all(h) || (!offered && !h->too_dear);
	}
	if (h->used_up || h->n_flips == 0)
		return end(h, err);
	n = h->n_flips;
	beyond = h->beyond;
	single = hunt_is_flip(h);
	site = h->flips[0];
	hunt_allow(h);
	if (hunt_price(h, &d, &better, err) < 0)
		return -1;
	if (d.cut) {
		cut(h, single);
		return 1;
	}
	h->keeping += LATELY * (better - h->keeping);
	hunt_foresaw(h, better);
	hunt_bundled(h, &d, better);
	trial = to_trial(h, &d, better);
	good = d.outcome == OUTCOME_OK && h->beyond == beyond; /* one that breaks a limit counts as one that failed */
	if (single)
		guide_tell(h->guide, site, h->candidate[site], good ? d.seconds / n : NAN);
	hunt_bred(h, good ? h->running.value + d.seconds : INFINITY);
	h->strayed = better ? 0 : h->strayed + h->around;
	if (better) {
		keep(h, &d);
	} else {
		hunt_refuse(h);
		hunt_undo(h);
	}
	rc = hunt_store(h, &trial, err);
	mem_free((void *)trial.flip);
	return rc < 0 ? -1 : 1;
}
