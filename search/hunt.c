/*
 * hunt.c - the loop.
 *
 * Proposals differ by strategy; pricing, confirming, keeping and telling the guide are common. The
 * candidate always differs from the configuration in `flips`, so undoing it costs what it changed.
 *
 * In a store every evaluation is one trial, committed with the state after it: a search resumed after
 * a kill goes on with the evaluation it was killed in. A whole-program check comes before the
 * evaluation it is stored with, for so the store reads it; killed in between, it is made again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/progress.h"
#include "graph/fusion.h"
#include "search/hunt.h"

#define KEEP_SIGMAS 1.0 /* a confirmed gain must exceed so many of its standard errors */

#define PATIENCE 4	/* evaluations per site without success before the radius grows */
#define RADIUS 16	/* ... at most to this */
#define LEAST_IDLE 50	/* evaluations without success that say nothing yet */

/* By the budget: the places to pick from get so many evaluations each; the radius may grow so often. */
#define AUTO_EACH 4
#define AUTO_WIDEST 25.0 /* percent of the places; beyond it a choice is none */
#define AUTO_NARROWEST 1.0
#define AUTO_GROWTHS 8

/* Seconds that whole-program checks may take: so many in any case, and then a share of the search. */
#define CHECK_FREE 1.0
#define CHECK_SHARE 0.3

static const struct precision confirm = {.target = 0.001, .max_seconds = 0.6, .instances = 4, .min_pairs = 12};
static const struct precision drift = {.target = 0.001, .max_seconds = 3, .instances = 4, .give_up = -1};

double hunt_seconds(const struct hunt *h)
{
	return h->before + (h->ended > 0 ? h->ended : now_seconds()) - h->started;
}

double hunt_gain(const struct hunt *h)
{
	return h->default_seconds > 0 ? -h->running.value / h->default_seconds : 0;
}

static void add_point(struct hunt *h)
{
	MEM_GROW(&h->curve, &h->cap_curve, h->n_curve + 1);
	h->curve[h->n_curve++] =
		(struct hunt_point){h->evaluations, hunt_seconds(h), h->running.value, h->running.se};
}

static void vouch(struct hunt *h, const struct estimate *cost)
{
	memcpy(h->sure, h->config, h->s->n_sites);
	h->sure_cost = *cost;
	h->sure_together = h->steps_cost;
	h->sure_steps = (uint32_t)h->n_steps;
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
	if (h->o.start == HUNT_GREEDY && fusion_is(h->s)) {
		fusion_greedy(h->s);
		space_default(h->s, h->config);
		for (uint32_t i = 0; i < h->s->n_sites; i++)
			h->s->site[i].dflt = dflt[i];
	}
	if (memcmp(h->config, dflt, h->s->n_sites) != 0) {
		rc = cost_whole(h->lab->cost, dflt, h->config, &drift, &t, err);
		if (rc == 0 && t.outcome != OUTCOME_OK)
			rc = err_set(err, "the start cannot be run (%s); choose another --start or --seed",
				outcome_name(t.outcome));
		h->running = (struct estimate){t.delta, t.delta_se, 1};
	}
	timing_release(&t);
	mem_free(dflt);
	return rc;
}

int hunt_begin(struct hunt *h, const struct hunt_options *o, struct lab *lab, const struct scorer *scorer,
	struct err *err)
{
	struct guide_options go = {o->alpha, o->explore, o->adapt, o->tied};

	if (o->alpha == HUNT_AUTO && lab->space->n_sites)
		go.alpha = auto_alpha(o->budget, guide_moves(lab->space, o->tied));
	*h = (struct hunt){.o = *o, .lab = lab, .s = lab->space, .started = now_seconds()};
	h->o.alpha = go.alpha;
	rng_seed2(&h->rng, o->seed, 0x68756e74);
	h->config = MEM_NEW(h->s->n_sites, uint8_t);
	h->candidate = MEM_NEW(h->s->n_sites, uint8_t);
	h->sure = MEM_NEW(h->s->n_sites, uint8_t);
	h->base = MEM_NEW(h->s->n_sites, uint8_t);
	h->flips = MEM_NEW(h->s->n_sites, uint32_t);
	h->order = MEM_NEW(h->s->n_sites, uint32_t);
	h->ball = MEM_NEW(h->s->graph->n_nodes, uint32_t);
	h->in_ball = MEM_NEW(h->s->graph->n_nodes, uint8_t);
	if (h->s->n_sites == 0)
		return 0;
	if (cost_default_seconds(lab->cost, &h->default_seconds, &h->default_se, err) < 0 || set_start(h, err) < 0)
		return -1;
	memcpy(h->candidate, h->config, h->s->n_sites);
	memcpy(h->base, h->config, h->s->n_sites);
	h->offset = h->running;
	vouch(h, &h->running);
	h->hash = config_hash(h->s, h->config);
	h->guide = guide_new(h->s, o->strategy == STRATEGY_RANDOM ? NULL : scorer, &go);
	guide_move(h->guide, h->config);
	add_point(h);
	return 0;
}

void hunt_release(struct hunt *h)
{
	guide_free(h->guide);
	mem_free(h->config);
	mem_free(h->candidate);
	mem_free(h->sure);
	mem_free(h->base);
	mem_free(h->flips);
	mem_free(h->order);
	mem_free(h->ball);
	mem_free(h->in_ball);
	mem_free(h->curve);
	mem_free(h->steps);
	*h = (struct hunt){0};
}

static void flip(struct hunt *h, uint32_t site, uint8_t choice)
{
	if (h->candidate[site] == h->config[site] && choice != h->config[site])
		h->flips[h->n_flips++] = site;
	h->candidate[site] = choice;
}

/* All copies of a site that stand where it stands. */
static void flip_class(struct hunt *h, uint32_t site, uint8_t choice)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		if (h->s->site[i].tie == h->s->site[site].tie && h->config[i] == h->config[site] &&
			choice < h->s->site[i].choices)
			flip(h, i, choice);
}

static void propose_flip(struct hunt *h, uint32_t site, uint8_t choice)
{
	if (h->o.tied)
		flip_class(h, site, choice);
	else
		flip(h, site, choice);
}

static uint32_t narrowest(const struct hunt *h)
{
	return h->o.hops == HUNT_AUTO ? 1 : (uint32_t)h->o.hops;
}

uint32_t hunt_radius(const struct hunt *h)
{
	uint64_t patience = PATIENCE * (uint64_t)h->s->n_sites + LEAST_IDLE;
	uint64_t share = h->o.budget / AUTO_GROWTHS > LEAST_IDLE ? h->o.budget / AUTO_GROWTHS : LEAST_IDLE, grown;

	if (h->o.hops == HUNT_AUTO && share < patience)
		patience = share;
	grown = narrowest(h) + h->idle / patience;
	return (uint32_t)(grown < RADIUS ? grown : RADIUS);
}

/* Adds the operands and users of ball[i] that are not in the ball yet. */
static void grow_ball(struct hunt *h, size_t i)
{
	const struct graph *g = h->s->graph;
	const struct node *v = &g->node[h->ball[i]];

	for (uint32_t k = 0; k < v->n_operands + v->n_users; k++) {
		uint32_t w = k < v->n_operands ? g->edges[v->operand + k] : g->users[v->user + k - v->n_operands];
		if (h->in_ball[w])
			continue;
		h->in_ball[w] = 1;
		h->ball[h->n_ball++] = w;
	}
}

/* Every site within the radius of one gets a random choice: the paper's mutation. */
static void propose_around(struct hunt *h, uint32_t site)
{
	size_t from = 0;

	h->n_ball = 0;
	h->ball[h->n_ball++] = h->s->site[site].node;
	h->in_ball[h->ball[0]] = 1;
	for (uint32_t hop = 0; hop < hunt_radius(h); hop++)
		for (size_t end = h->n_ball; from < end; from++)
			grow_ball(h, from);
	for (size_t i = 0; i < h->n_ball; i++) {
		uint32_t at = h->s->site_of[h->ball[i]];
		h->in_ball[h->ball[i]] = 0;
		if (at != NONE && h->candidate[at] == h->config[at])
			propose_flip(h, at, (uint8_t)rng_below(&h->rng, h->s->site[at].choices));
	}
}

static bool propose_sweep(struct hunt *h)
{
	while (h->n_flips == 0) {
		uint32_t site = h->order[h->sweep_pos / SPACE_CHOICES];
		uint8_t choice = (uint8_t)(h->sweep_pos % SPACE_CHOICES);
		if (h->sweep_pos == 0) {
			guide_order(h->guide, h->order);
			if (h->o.strategy == STRATEGY_SWEEP && h->o.alpha == 0)
				rng_shuffle(&h->rng, h->order, h->s->n_sites);
			site = h->order[0];
			h->sweep_kept = 0;
		}
		if (choice < h->s->site[site].choices && choice != h->config[site] && guide_leads(h->guide, site))
			propose_flip(h, site, choice);
		if (++h->sweep_pos == h->s->n_sites * SPACE_CHOICES) {
			h->sweep_pos = 0;
			if (h->sweep_kept == 0 && h->n_flips == 0)
				return false; /* a whole sweep found nothing */
		}
	}
	return true;
}

static bool propose(struct hunt *h)
{
	uint32_t site;
	uint8_t choice;

	if (h->o.strategy == STRATEGY_SWEEP)
		return propose_sweep(h);
	for (int tries = 0; tries < 100; tries++) {
		bool any = guide_pick(h->guide, &h->rng, &site, &choice);
		bool alone = h->o.strategy == STRATEGY_GUIDED && h->o.propose == PROPOSE_SIGNED;
		if (any && alone && (h->o.adapt || hunt_radius(h) == narrowest(h) || rng_below(&h->rng, 2)))
			propose_flip(h, site, choice);
		else /* the paper's; and when all single flips were tried: further away */
			propose_around(h, any ? site : (uint32_t)rng_below(&h->rng, h->s->n_sites));
		if (h->n_flips)
			return true;
	}
	return false;
}

static void undo(struct hunt *h)
{
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->candidate[h->flips[i]] = h->config[h->flips[i]];
	h->n_flips = 0;
}

/* What the start and all steps cost together, the whole program's corrections included. */
static void add_up(struct hunt *h, const struct estimate *steps)
{
	h->steps_cost = *steps;
	h->running = (struct estimate){h->offset.value + steps->value, hypot(h->offset.se, steps->se), 1};
}

static void keep(struct hunt *h, const struct delta *d, const struct estimate *together)
{
	uint32_t first = h->flips[0];

	MEM_GROW(&h->steps, &h->cap_steps, h->n_steps + 1);
	h->steps[h->n_steps++] = (struct hunt_step){h->evaluations, first, h->n_flips, h->config[first],
		h->candidate[first], d->seconds, d->se};
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->hash = config_flip(h->config, h->hash, h->flips[i], h->candidate[h->flips[i]]);
	h->n_flips = 0;
	add_up(h, together);
	h->kept++;
	h->idle = 0;
	h->sweep_kept++;
	guide_move(h->guide, h->config);
	add_point(h);
}

static int by_site(const void *a, const void *b)
{
	const struct flip *x = a, *y = b;

	return (x->site > y->site) - (x->site < y->site);
}

/* The candidate as the store wants it, while it is one: with what was measured alone. Freed by record. */
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

static int note_anchor(struct hunt *h, const struct timing *t, bool reanchored, struct err *err)
{
	struct archive *a = h->lab->archive;
	struct anchor x = {.chain = h->chain, .outcome = t->outcome, .kind = t->kind,
		.default_seconds = h->default_seconds, .whole = t->delta, .whole_se = t->delta_se,
		.running = h->running.value, .running_se = h->running.se, .reanchored = reanchored};
	int rc;

	if (!a || !a->run)
		return 0;
	archive_lock(a);
	rc = run_anchor(a->run, &x, err);
	archive_unlock(a);
	return rc;
}

/* Puts the search back to where the whole program last agreed. */
static int go_back(struct hunt *h, struct err *err)
{
	struct archive *a = h->lab->archive;
	int rc = 0;

	memcpy(h->config, h->sure, h->s->n_sites);
	memcpy(h->candidate, h->sure, h->s->n_sites);
	h->hash = config_hash(h->s, h->config);
	h->steps_cost = h->sure_together;
	h->offset.value = h->sure_cost.value - h->steps_cost.value;
	h->running = h->sure_cost;
	h->n_steps = h->sure_steps;
	guide_move(h->guide, h->config);
	if (a && a->run) {
		archive_lock(a);
		rc = run_jump(a->run, h->chain, 0, h->config, err);
		archive_unlock(a);
	}
	return rc;
}

/* What the whole program costs is what counts from now on, unless it was better before. */
static int correct(struct hunt *h, const struct estimate *whole, bool drifted, struct err *err)
{
	bool worse = whole->value - h->sure_cost.value > 2 * hypot(whole->se, h->sure_cost.se);
	int rc = 0;

	if (!drifted) { /* agreed with, as closely as the whole can tell */
		vouch(h, &(struct estimate){h->running.value, whole->se, whole->n});
		return 0;
	}
	h->drifts++;
	if (worse) {
		rc = go_back(h, err);
	} else {
		h->offset = (struct estimate){whole->value - h->steps_cost.value, whole->se, 1};
		h->running = *whole;
		vouch(h, whole);
	}
	add_point(h);
	return rc;
}

/* Is it time for one? By evaluations, if something was kept since, and if it costs no more than its share. */
static bool check_due(const struct hunt *h)
{
	uint64_t every = h->o.drift_checks ? h->o.budget / (h->o.drift_checks + 1) : 0;
	double expected = h->checks ? h->checking / (double)h->checks
				    : 2 * drift.instances * h->lab->subject.extract_seconds;

	return every && h->evaluations >= h->checked + every && h->kept > h->checked_kept &&
	       h->checking + expected <= CHECK_FREE + CHECK_SHARE * hunt_seconds(h);
}

/* Now and then measures the whole program against the default and corrects the running sum. */
static int check_drift(struct hunt *h, struct err *err)
{
	double start = now_seconds();
	struct timing t = {0};
	uint8_t *dflt;
	bool drifted;
	int rc;

	if (!check_due(h))
		return 0;
	dflt = mem_alloc(h->s->n_sites);
	space_default(h->s, dflt);
	rc = cost_whole(h->lab->cost, dflt, h->config, &drift, &t, err);
	mem_free(dflt);
	h->checks++;
	h->checked = h->evaluations;
	h->checked_kept = h->kept;
	h->checking += now_seconds() - start;
	if (rc == 0) {
		struct estimate whole = {t.delta, t.delta_se, t.pairs};
		drifted = t.outcome == OUTCOME_OK &&
			  fabs(t.delta - h->running.value) > 3 * hypot(t.delta_se, h->running.se);
		rc = note_anchor(h, &t, drifted, err);
		if (rc == 0 && t.outcome == OUTCOME_OK)
			rc = correct(h, &whole, drifted, err);
	}
	timing_release(&t);
	return rc;
}

static void count(struct hunt *h, const struct delta *d)
{
	h->evaluations++;
	h->idle++;
	if (d->outcome != OUTCOME_OK)
		h->failed[d->outcome]++;
	else if (d->measured == 0)
		h->cached++;
	else
		h->measured++;
}

static bool over(const struct hunt *h)
{
	return h->s->n_sites == 0 || h->evaluations >= h->o.budget || (h->interrupted && *h->interrupted) ||
	       (h->o.seconds > 0 && hunt_seconds(h) > h->o.seconds);
}

/*
 * All steps and the candidate's together, against the start, in the regions they make then: what a step is worth can
 * depend on the others, and sums of steps drift away from what they cost together (from -60 us to -3 us, once).
 * False if that contradicts the step.
 */
static int hold_together(struct hunt *h, const struct delta *d, struct estimate *together, bool *better, struct err *err)
{
	struct delta all;

	*together = (struct estimate){h->steps_cost.value + d->seconds, hypot(h->steps_cost.se, d->se), 1};
	if (!h->o.together || h->kept == 0)
		return 0;
	if (cost_delta(h->lab->cost, h->base, h->candidate, &all, err) < 0)
		return -1;
	*better = all.outcome == OUTCOME_OK &&
		  all.seconds - h->steps_cost.value < KEEP_SIGMAS * hypot(all.se, h->steps_cost.se);
	*together = (struct estimate){all.seconds, all.se, 1};
	return 0;
}

/* What the candidate costs; what looks better is measured again, and that is what counts. */
static int price(struct hunt *h, struct delta *d, struct estimate *together, bool *better, struct err *err)
{
	if (cost_delta(h->lab->cost, h->config, h->candidate, d, err) < 0)
		return -1;
	count(h, d);
	*better = d->outcome == OUTCOME_OK && d->seconds < 0;
	if (!*better)
		return 0;
	if (cost_confirm(h->lab->cost, h->config, h->candidate, &confirm, d, err) < 0)
		return -1;
	*better = d->outcome == OUTCOME_OK && d->seconds < -KEEP_SIGMAS * d->se && d->seconds < 0;
	if (*better && hold_together(h, d, together, better, err) < 0)
		return -1;
	h->refuted += !*better;
	return 0;
}

bool hunt_could_go_on(const struct hunt *h)
{
	return h->s->n_sites > 0 && h->evaluations < h->o.budget && !h->used_up;
}

int hunt_next(struct hunt *h, struct err *err)
{
	struct estimate together;
	struct trial trial;
	struct delta d;
	bool single, better;
	uint32_t site, n;

	if (!over(h)) {
		if (check_drift(h, err) < 0)
			return -1;
		h->used_up = !propose(h);
	}
	if (h->used_up || h->n_flips == 0) {
		h->ended = now_seconds();
		return 0;
	}
	n = h->n_flips;
	single = n == 1 || h->o.tied;
	site = h->flips[0];
	if (price(h, &d, &together, &better, err) < 0)
		return -1;
	trial = to_trial(h, &d, better);
	if (single)
		guide_tell(h->guide, site, h->candidate[site], d.outcome == OUTCOME_OK ? d.seconds / n : NAN);
	if (better)
		keep(h, &d, &together);
	else
		undo(h);
	return record(h, &trial, err) < 0 ? -1 : 1;
}
