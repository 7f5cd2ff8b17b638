/*
 * propose.c - what a hunt tries next.
 *
 * A candidate goes into h->candidate, and the sites in which it differs into h->flips. There are three ways: the
 * flip with the highest score of the guide; a random choice for every site around one (the paper's mutation, whose
 * radius grows while nothing is found); and the next flip of a sweep. (For brkga see breed.c.) If the kind says that
 * some flips may pay only together with the first, they are added to it in every second candidate, and so both are
 * tried. A kind that draws schemes (space_ops.scheme) has them tried first: each is priced against the best so far,
 * which they may become. With a model that can rate them (ranking.c), schemes and flips take turns by what they
 * promise, and all schemes are rated anew when something was kept. (If the search is short of time, share.c asks for
 * schemes, and decides which it can afford.) While hardly anything is worse, flips are tried in bundles
 * (bundle.c).
 */
#include "search/hunt.h"

#define PATIENCE 4	/* evaluations per site without success before the radius grows */
#define RADIUS 16	/* ... at most to this */
#define LEAST_IDLE 50	/* evaluations without success that say nothing yet */
#define TOGETHER 16	/* flips that are added to one, as they may pay only with it */
#define AUTO_GROWTHS 8	/* by the budget, the radius may grow so often */

static void flip(struct hunt *h, uint32_t site, uint8_t choice)
{
	if (h->candidate[site] == h->config[site] && choice != h->config[site])
		h->flips[h->n_flips++] = site;
	h->candidate[site] = choice;
}

/* Flips all sites of the class that have the same choice as this one. */
static void flip_class(struct hunt *h, uint32_t site, uint8_t choice)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		if (h->s->site[i].tie == h->s->site[site].tie && h->config[i] == h->config[site] &&
			choice < h->s->site[i].choices && space_matters(h->s, i, h->quantity))
			flip(h, i, choice);
}

static void propose_flip(struct hunt *h, uint32_t site, uint8_t choice)
{
	if (h->o.tied)
		flip_class(h, site, choice);
	else
		flip(h, site, choice);
}

/* Adds the flips that may pay only together with those proposed, and those that may pay only with them. */
static void add_together(struct hunt *h)
{
	uint32_t site[TOGETHER], was = h->n_flips;
	uint8_t choice[TOGETHER];

	for (uint32_t i = 0; i < h->n_flips && i < was + TOGETHER; i++) {
		uint32_t n = h->s->ops->together(h->s, h->candidate, h->flips[i], h->candidate[h->flips[i]], site,
			choice, TOGETHER);
		for (uint32_t k = 0; k < n; k++)
			flip(h, site[k], choice[k]);
	}
}

bool hunt_is_flip(const struct hunt *h)
{
	const struct site *first = &h->s->site[h->flips[0]];

	for (uint32_t i = 1; i < h->n_flips; i++)
		if (!h->o.tied || h->s->site[h->flips[i]].tie != first->tie ||
			h->candidate[h->flips[i]] != h->candidate[h->flips[0]])
			return false;
	return h->n_flips > 0;
}

void hunt_refuse(struct hunt *h)
{
	if (hunt_is_flip(h))
		return;
	MEM_GROW(&h->refused, &h->cap_refused, h->n_refused + 1);
	h->refused[h->n_refused++] = config_hash(h->s, h->candidate);
}

static bool was_refused(const struct hunt *h)
{
	uint64_t hash = config_hash(h->s, h->candidate);

	for (size_t i = 0; i < h->n_refused; i++)
		if (h->refused[i] == hash)
			return true;
	return false;
}

/* Proposes a flip, or with it those that may pay only with it, if these were not refused together. */
static void propose_with(struct hunt *h, uint32_t site, uint8_t choice)
{
	propose_flip(h, site, choice);
	if (!h->s->ops->together || rng_below(&h->rng, 2))
		return;
	add_together(h);
	if (hunt_is_flip(h) || !was_refused(h))
		return;
	hunt_undo(h);
	propose_flip(h, site, choice);
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
		uint32_t site = h->order[h->sweep_pos / h->s->stride];
		uint8_t choice = (uint8_t)(h->sweep_pos % h->s->stride);
		if (h->sweep_pos == 0) {
			guide_order(h->guide, h->order);
			if (h->o.strategy == STRATEGY_SWEEP && h->o.alpha == 0)
				rng_shuffle(&h->rng, h->order, h->s->n_sites);
			site = h->order[0];
			h->sweep_kept = 0;
		}
		if (choice < h->s->site[site].choices && choice != h->config[site] && guide_leads(h->guide, site))
			propose_flip(h, site, choice);
		if (++h->sweep_pos == h->s->n_sites * h->s->stride) {
			h->sweep_pos = 0;
			if (h->sweep_kept == 0 && h->n_flips == 0)
				return false; /* a whole sweep found nothing */
		}
	}
	return true;
}

/* Schemes begin anew when something was kept: after the last of them, or at once if a model can tell the best. */
static bool begins_schemes(const struct hunt *h)
{
	return h->kept > h->scheme_kept && (h->scheme == SCHEMES_DONE || guide_rates(h->guide));
}

/* Makes the scheme that was drawn the candidate; false: it is none, or was refused. */
static bool propose_drawn(struct hunt *h)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		flip(h, i, h->drawn[i]);
	if (h->n_flips && (hunt_is_flip(h) || !was_refused(h)))
		return true;
	hunt_undo(h);
	return false;
}

/* Proposes the next scheme that is a candidate and was not refused; false: there is none now. */
static bool propose_scheme(struct hunt *h)
{
	float gain;

	if (begins_schemes(h))
		h->scheme = 0;
	if (hunt_hedges(h))
		while (hunt_draw_next(h))
			if (propose_drawn(h))
				return true;
	while (h->scheme != SCHEMES_DONE) {
		if (h->scheme == 0)
			h->scheme_kept = (uint32_t)h->kept;
		if (!hunt_draw_scheme(h, h->scheme, &gain)) {
			h->scheme = SCHEMES_DONE;
			break;
		}
		if (gain < guide_best(h->guide))
			return false; /* a flip promises more */
		h->scheme++;
		if (propose_drawn(h))
			return true;
	}
	return false;
}

/*
 * Is it time for a scheme? A search begins with them, but they take at most half of its budget. After that, when a step
 * was kept, they take turns with flips. With a model that rates both, what promises most comes first.
 */
static bool wants_scheme(struct hunt *h)
{
	bool first = h->scheme_kept == 0 && h->scheme != SCHEMES_DONE && 2 * h->evaluations < h->o.budget;

	first |= guide_rates(h->guide); /* then they take turns by what they promise */
	return h->s->ops->scheme && h->o.strategy == STRATEGY_GUIDED && h->o.propose == PROPOSE_SIGNED &&
	       (first || rng_below(&h->rng, 2));
}

bool hunt_propose_scheme(struct hunt *h)
{
	return wants_scheme(h) && propose_scheme(h);
}

bool hunt_propose_bundle(struct hunt *h, uint32_t most)
{
	uint32_t want = hunt_bundle(h), *site;
	uint8_t *choice;

	want = want < most ? want : most;
	if (want < 2)
		return false;
	site = MEM_NEW(want, uint32_t);
	choice = MEM_NEW(want, uint8_t);
	want = guide_pick_many(h->guide, &h->rng, want, site, choice);
	for (uint32_t i = 0; i < want; i++)
		propose_flip(h, site[i], choice[i]);
	mem_free(site);
	mem_free(choice);
	if (want > 1)
		return true;
	hunt_undo(h);
	return false;
}

bool hunt_propose(struct hunt *h)
{
	uint32_t site;
	uint8_t choice;

	if (h->o.strategy == STRATEGY_SWEEP)
		return propose_sweep(h);
	if (h->o.strategy == STRATEGY_BRKGA)
		return hunt_breed(h);
	if (!hunt_is_timed(h) && (hunt_propose_scheme(h) || hunt_propose_bundle(h, UINT32_MAX)))
		return true;
	for (int tries = 0; tries < 100; tries++) {
		bool any = guide_pick(h->guide, &h->rng, &site, &choice);
		bool alone = h->o.strategy == STRATEGY_GUIDED && h->o.propose == PROPOSE_SIGNED;
		bool near = any && alone &&
			(h->o.adapt || hunt_radius(h) == narrowest(h) || rng_below(&h->rng, 2));
		h->around = alone && !near;
		if (near)
			propose_with(h, site, choice);
		else /* the paper's; and when all single flips were tried: further away */
			propose_around(h, any ? site : (uint32_t)rng_below(&h->rng, h->s->n_sites));
		if (h->n_flips)
			return true;
	}
	return false;
}

void hunt_undo(struct hunt *h)
{
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->candidate[h->flips[i]] = h->config[h->flips[i]];
	h->n_flips = 0;
}

struct flip *hunt_flips(const struct hunt *h)
{
	struct flip *v = mem_alloc((h->n_flips + 1) * sizeof *v);

	for (uint32_t i = 0; i < h->n_flips; i++)
		v[i] = (struct flip){h->flips[i], h->candidate[h->flips[i]]};
	return v;
}

void hunt_take(struct hunt *h, const struct flip *v, uint32_t n)
{
	hunt_undo(h);
	h->n_flips = n;
	for (uint32_t i = 0; i < n; i++) {
		h->flips[i] = v[i].site;
		h->candidate[v[i].site] = v[i].choice;
	}
}
