/*
 * hunt.c - the loop.
 *
 * Proposals differ by strategy; pricing, confirming, keeping and telling the guide are common. The
 * candidate always differs from the configuration in `flips`, so undoing it costs what it changed.
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
	struct guide_options go = {o->alpha, o->explore, o->adapt};

	*h = (struct hunt){.o = *o, .lab = lab, .s = lab->space, .started = now_seconds()};
	rng_seed2(&h->rng, o->seed, 0x68756e74);
	h->config = MEM_NEW(h->s->n_sites, uint8_t);
	h->candidate = MEM_NEW(h->s->n_sites, uint8_t);
	h->flips = MEM_NEW(h->s->n_sites, uint32_t);
	h->order = MEM_NEW(h->s->n_sites, uint32_t);
	h->ball = MEM_NEW(h->s->graph->n_nodes, uint32_t);
	h->in_ball = MEM_NEW(h->s->graph->n_nodes, uint8_t);
	if (h->s->n_sites == 0)
		return 0;
	if (cost_default_seconds(lab->cost, &h->default_seconds, &h->default_se, err) < 0 || set_start(h, err) < 0)
		return -1;
	memcpy(h->candidate, h->config, h->s->n_sites);
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

static uint32_t radius(const struct hunt *h)
{
	uint64_t grown = h->o.hops + h->idle / (PATIENCE * (uint64_t)h->s->n_sites + 50);

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
	for (uint32_t hop = 0; hop < radius(h); hop++)
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
		if (choice < h->s->site[site].choices && choice != h->config[site])
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
		if (any && alone && (h->o.adapt || radius(h) == h->o.hops || rng_below(&h->rng, 2)))
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

static void keep(struct hunt *h, const struct delta *d)
{
	uint32_t first = h->flips[0];

	MEM_GROW(&h->steps, &h->cap_steps, h->n_steps + 1);
	h->steps[h->n_steps++] = (struct hunt_step){h->evaluations, first, h->n_flips, h->config[first],
		h->candidate[first], d->seconds, d->se};
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->hash = config_flip(h->config, h->hash, h->flips[i], h->candidate[h->flips[i]]);
	h->n_flips = 0;
	h->running.value += d->seconds;
	h->running.se = hypot(h->running.se, d->se);
	h->kept++;
	h->idle = 0;
	h->sweep_kept++;
	guide_move(h->guide, h->config);
	add_point(h);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int record(struct hunt *h, const struct delta *d, bool taken, struct err *err)
{
	struct archive *a = h->lab->archive;
	struct flip *flips;
	struct trial t = {.chain = h->chain, .n_flips = h->n_flips, .delta = d->seconds, .se = d->se,
		.outcome = d->outcome, .kind = d->kind, .bound = d->gave_up, .taken = taken};
	int rc;

	if (!a || !a->run)
		return 0;
	qsort(h->flips, h->n_flips, sizeof *h->flips, by_number);
	flips = mem_alloc(h->n_flips * sizeof *flips);
	for (uint32_t i = 0; i < h->n_flips; i++)
		flips[i] = (struct flip){h->flips[i], h->candidate[h->flips[i]]};
	t.flip = flips;
	archive_lock(a);
	rc = run_trial(a->run, &t, NULL, 0, err);
	archive_unlock(a);
	mem_free(flips);
	return rc;
}

/* Measures the whole program against the default and corrects the running sum. */
static int check_drift(struct hunt *h, struct err *err)
{
	uint64_t every = h->o.drift_checks ? h->o.budget / (h->o.drift_checks + 1) : 0;
	uint8_t *dflt;
	struct timing t = {0};
	int rc;

	if (every == 0 || h->evaluations % every != 0 || h->evaluations >= h->o.budget || h->kept == 0)
		return 0;
	dflt = mem_alloc(h->s->n_sites);
	space_default(h->s, dflt);
	rc = cost_whole(h->lab->cost, dflt, h->config, &drift, &t, err);
	mem_free(dflt);
	if (rc == 0 && t.outcome == OUTCOME_OK &&
		fabs(t.delta - h->running.value) > 3 * hypot(t.delta_se, h->running.se)) {
		h->running = (struct estimate){t.delta, t.delta_se, t.pairs};
		h->drifts++;
		add_point(h);
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

int hunt_next(struct hunt *h, struct err *err)
{
	struct delta d, sure;
	bool single, better;
	uint32_t site;
	uint8_t choice;

	if (h->s->n_sites == 0 || h->evaluations >= h->o.budget || (h->interrupted && *h->interrupted) ||
		(h->o.seconds > 0 && hunt_seconds(h) > h->o.seconds) || !propose(h)) {
		h->ended = now_seconds();
		return 0;
	}
	single = h->n_flips == 1 || h->o.tied;
	site = h->flips[0];
	choice = h->candidate[site];
	if (cost_delta(h->lab->cost, h->config, h->candidate, &d, err) < 0)
		return -1;
	count(h, &d);
	better = d.outcome == OUTCOME_OK && d.seconds < 0;
	if (better) {
		if (cost_confirm(h->lab->cost, h->config, h->candidate, &confirm, &sure, err) < 0)
			return -1;
		d = sure;
		better = d.outcome == OUTCOME_OK && d.seconds < -KEEP_SIGMAS * d.se && d.seconds < 0;
		h->refuted += !better;
	}
	if (record(h, &d, better, err) < 0)
		return -1;
	if (single)
		guide_tell(h->guide, site, choice, d.outcome == OUTCOME_OK ? d.seconds / h->n_flips : NAN);
	if (better)
		keep(h, &d);
	else
		undo(h);
	return check_drift(h, err) < 0 ? -1 : 1;
}

void hunt_save(const struct hunt *h, struct buf *out)
{
	buf_u64(out, h->evaluations);
	buf_u64(out, h->idle);
	buf_u64(out, h->cached);
	buf_u64(out, h->measured);
	buf_u64(out, h->kept);
	buf_u64(out, h->refuted);
	buf_u64(out, h->drifts);
	for (int i = 0; i < OUTCOME_COUNT; i++)
		buf_u64(out, h->failed[i]);
	for (int i = 0; i < 4; i++)
		buf_u64(out, h->rng.s[i]);
	buf_f64(out, hunt_seconds(h));
	buf_f64(out, h->default_seconds);
	buf_f64(out, h->default_se);
	buf_f64(out, h->running.value);
	buf_f64(out, h->running.se);
	buf_blob(out, h->config, h->s->n_sites);
	buf_u64(out, h->hash);
	buf_u32(out, (uint32_t)h->n_curve);
	for (size_t i = 0; i < h->n_curve; i++) {
		buf_u64(out, h->curve[i].evaluation);
		buf_f64(out, h->curve[i].seconds);
		buf_f64(out, h->curve[i].best);
		buf_f64(out, h->curve[i].se);
	}
	buf_u32(out, (uint32_t)h->n_steps);
	for (size_t i = 0; i < h->n_steps; i++) {
		buf_u64(out, h->steps[i].evaluation);
		buf_u32(out, h->steps[i].site);
		buf_u32(out, h->steps[i].n_flips);
		buf_u8(out, h->steps[i].from);
		buf_u8(out, h->steps[i].to);
		buf_f64(out, h->steps[i].delta);
		buf_f64(out, h->steps[i].se);
	}
}

static void load_lists(struct hunt *h, struct cursor *in)
{
	uint32_t n = cursor_count(in, 32);

	h->n_curve = 0;
	for (uint32_t i = 0; i < n; i++) {
		MEM_GROW(&h->curve, &h->cap_curve, h->n_curve + 1);
		struct hunt_point *p = &h->curve[h->n_curve++];
		p->evaluation = cursor_u64(in);
		p->seconds = cursor_f64(in);
		p->best = cursor_f64(in);
		p->se = cursor_f64(in);
	}
	n = cursor_count(in, 34);
	for (uint32_t i = 0; i < n; i++) {
		MEM_GROW(&h->steps, &h->cap_steps, h->n_steps + 1);
		struct hunt_step *t = &h->steps[h->n_steps++];
		t->evaluation = cursor_u64(in);
		t->site = cursor_u32(in);
		t->n_flips = cursor_u32(in);
		t->from = cursor_u8(in);
		t->to = cursor_u8(in);
		t->delta = cursor_f64(in);
		t->se = cursor_f64(in);
		in->bad |= t->site >= h->s->n_sites;
	}
}

int hunt_load(struct hunt *h, const void *p, size_t n, struct err *err)
{
	struct cursor in = cursor_of(p, n);
	const uint8_t *config;
	size_t size;

	h->evaluations = cursor_u64(&in);
	h->idle = cursor_u64(&in);
	h->cached = cursor_u64(&in);
	h->measured = cursor_u64(&in);
	h->kept = cursor_u64(&in);
	h->refuted = cursor_u64(&in);
	h->drifts = cursor_u64(&in);
	for (int i = 0; i < OUTCOME_COUNT; i++)
		h->failed[i] = cursor_u64(&in);
	for (int i = 0; i < 4; i++)
		h->rng.s[i] = cursor_u64(&in);
	h->before = cursor_f64(&in);
	h->default_seconds = cursor_f64(&in);
	h->default_se = cursor_f64(&in);
	h->running.value = cursor_f64(&in);
	h->running.se = cursor_f64(&in);
	config = cursor_blob(&in, &size);
	if (in.bad || config_valid(h->s, config, size, err) < 0)
		return err_set(err, "the saved state does not fit this program");
	memcpy(h->config, config, size);
	memcpy(h->candidate, config, size);
	h->hash = cursor_u64(&in);
	load_lists(h, &in);
	if (!cursor_done(&in) || h->hash != config_hash(h->s, h->config))
		return err_set(err, "the saved state is damaged");
	guide_move(h->guide, h->config);
	return 0;
}
