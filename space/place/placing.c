/*
 * placing.c - searching for a placement.
 *
 * Annealing goes in cycles, growing longer, from warm to cold. A move takes a group to another
 * device, mostly one where a neighbour is, or exchanges two groups; half of them take a group off the busiest device.
 * Loads are kept up move by move, and what is compared is a smooth stand-in for the largest load, since most moves do
 * not touch the largest. Latency is computed anew for each move. A cycle begins from the best so far or, one in three,
 * from where the last one ended; what is kept is always by the true cost. Some descents from chance come first: what
 * begins with everything on one device hardly leaves it.
 */
#include "space/place/placing.h"

#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "space/place/placing_quick.h"
#include "space/place/standing_load.h"

#define FIRST_CYCLE 20000 /* moves by load; a fiftieth by latency */
#define WARMEST 0.5	  /* of the cost; a cycle begins there or up to WARM_RANGE powers of ten below */
#define WARM_RANGE 4
#define COLDEST 1e-6
#define MOST_DESCENTS 1000 /* groups: in larger programs a descent from chance takes longer than it is worth */

static const char *const names[] = {
#define STRATEGY(id, name, ...) name,
#include "schemas/placing.def"
#undef STRATEGY
};

const char *placing_name(enum placing_strategy s)
{
	return names[s];
}

struct hunting {
	const struct place *p;
	const struct placing_options *o;
	struct placing_result *r;
	struct standing_load now;
	struct rng rng;
	uint32_t *best; /* [n_groups] */
	double best_cost, started, limit;
	uint32_t *by_node;
	bool over;
};

static bool time_is_up(struct hunting *h)
{
	if ((h->o->stop && h->o->stop()) || (h->o->steps && h->r->steps >= h->o->steps))
		h->over = true;
	else if (h->r->steps % 64 == 0 || h->o->goal == PLACE_LATENCY)
		h->over |= now_seconds() >= h->limit;
	return h->over;
}

static double true_cost(struct hunting *h)
{
	place_spread(h->p, h->now.device, h->by_node);
	return place_cost(h->p, h->o->goal, h->by_node);
}

/* What annealing compares. */
static double energy(struct hunting *h)
{
	return h->o->goal == PLACE_LOAD ? standing_load_energy(&h->now) : true_cost(h);
}

static void keep_best(struct hunting *h)
{
	double cost;

	if (h->o->goal == PLACE_LOAD && standing_load_most(&h->now) >= h->best_cost * (1 - 1e-12))
		return;
	cost = true_cost(h);
	if (!(cost < h->best_cost))
		return;
	h->best_cost = cost;
	memcpy(h->best, h->now.device, h->p->n_groups * sizeof *h->best);
	h->r->best_seconds = now_seconds() - h->started;
	if (h->o->progress)
		h->o->progress(h->o->with, h->r->steps, cost);
}

static void try_start(struct hunting *h, const uint32_t *device)
{
	standing_load_set(&h->now, device);
	keep_best(h);
}

static uint32_t busiest(const struct hunting *h)
{
	uint32_t best = 0;

	for (uint32_t d = 1; d < h->p->n_devices; d++)
		best = h->now.load[d] > h->now.load[best] ? d : best;
	return best;
}

/* A group, at half of the calls one of the busiest device. */
static uint32_t pick_group(struct hunting *h)
{
	uint32_t g = (uint32_t)rng_below(&h->rng, h->p->n_groups);

	if (rng_below(&h->rng, 2)) {
		uint32_t d = busiest(h);
		for (int i = 0; i < 12 && h->now.device[g] != d; i++)
			g = (uint32_t)rng_below(&h->rng, h->p->n_groups);
	}
	return g;
}

/* Where a neighbour of the group is, or anywhere. */
static uint32_t pick_device(struct hunting *h, uint32_t g)
{
	const struct place *p = h->p;
	uint32_t members = p->group_first[g + 1] - p->group_first[g];
	uint32_t v = p->member[p->group_first[g] + rng_below(&h->rng, members)];
	uint32_t ins = p->in_first[v + 1] - p->in_first[v], outs = p->out_first[v + 1] - p->out_first[v];

	if (ins + outs && rng_below(&h->rng, 4)) {
		uint32_t k = (uint32_t)rng_below(&h->rng, ins + outs);
		return h->now.device[p->group[k < ins ? p->in[p->in_first[v] + k] : p->out[p->out_first[v] + k - ins]]];
	}
	return (uint32_t)rng_below(&h->rng, p->n_devices);
}

static bool accept(struct hunting *h, double old, double new, double heat)
{
	return new <= old || (isfinite(new) && rng_unit(&h->rng) < exp((old - new) / (heat * old + 1e-300)));
}

/* One group elsewhere, or two exchanged. Returns the energy after it. */
static double step(struct hunting *h, double old, double heat)
{
	struct standing_load *s = &h->now;
	uint32_t g = pick_group(h), from = s->device[g], to = pick_device(h, g), other = UINT32_MAX;
	double new;

	h->r->steps++;
	if (from == to)
		return old;
	if (rng_below(&h->rng, 4) == 0 || !standing_load_fits(s, g, to)) {
		other = (uint32_t)rng_below(&h->rng, h->p->n_groups);
		to = s->device[other];
		if (to == from)
			return old;
		standing_load_move(s, other, from);
	}
	standing_load_move(s, g, to);
	bool fits = (from >= h->p->n_accelerators || s->used[from] <= h->p->memory) &&
		(to >= h->p->n_accelerators || s->used[to] <= h->p->memory) &&
		(to >= h->p->n_accelerators || s->accelerates[g]) &&
		(other == UINT32_MAX || from >= h->p->n_accelerators || s->accelerates[other]);
	new = fits ? energy(h) : INFINITY;
	if (fits && accept(h, old, new, heat)) {
		keep_best(h);
		return new;
	}
	standing_load_move(s, g, from);
	if (other != UINT32_MAX)
		standing_load_move(s, other, to);
	return old;
}

static void cycle(struct hunting *h, uint64_t moves)
{
	double now, heat = WARMEST * pow(10, -WARM_RANGE * rng_unit(&h->rng)), cool = pow(COLDEST / heat, 1 / (double)moves);

	standing_load_set(&h->now, rng_below(&h->rng, 3) ? h->best : h->now.device); /* anew, without rounding */
	now = energy(h);
	for (uint64_t i = 0; i < moves && !time_is_up(h); i++) {
		now = step(h, now, heat);
		heat *= cool;
	}
}

static void anneal(struct hunting *h)
{
	uint64_t moves = FIRST_CYCLE + 20 * (uint64_t)h->p->n_groups;

	if (h->o->goal == PLACE_LATENCY)
		moves /= 50;
	for (int i = 0; !time_is_up(h); i++) {
		cycle(h, moves);
		if (i % 3 == 2)
			moves *= 2;
	}
}

/* The best single move until none helps: the rival of annealing in the paper the problems come from. */
static void descend(struct hunting *h)
{
	const struct place *p = h->p;
	double now = h->o->goal == PLACE_LOAD ? standing_load_most(&h->now) : energy(h);

	for (;;) {
		double least = now;
		uint32_t best = 0, to = UINT32_MAX;
		for (uint32_t g = 0; g < p->n_groups && !time_is_up(h); g++)
			for (uint32_t d = 0, from = h->now.device[g]; d < p->n_devices; d++) {
				if (d == from || !standing_load_fits(&h->now, g, d))
					continue;
				standing_load_move(&h->now, g, d);
				double cost = h->o->goal == PLACE_LOAD ? standing_load_most(&h->now) : energy(h);
				standing_load_move(&h->now, g, from);
				h->r->steps++;
				if (cost < least - 1e-12 * now) {
					least = cost;
					best = g;
					to = d;
				}
			}
		if (to == UINT32_MAX)
			return;
		standing_load_move(&h->now, best, to);
		now = least;
		keep_best(h);
	}
}

static void from_chance(struct hunting *h, bool improve, uint64_t times)
{
	uint32_t *device = MEM_NEW(h->p->n_groups + 1, uint32_t);

	for (; times > 0 && !time_is_up(h); times--) {
		placing_random(h->p, &h->rng, device);
		try_start(h, device);
		h->r->steps++;
		if (improve)
			descend(h);
	}
	mem_free(device);
}

static void quick(struct hunting *h, enum placing_strategy which)
{
	uint32_t *device = MEM_NEW(h->p->n_groups + 1, uint32_t);

	if (which == PLACING_ONE)
		placing_one(h->p, device);
	else if (which == PLACING_CONTIGUOUS)
		placing_contiguous(h->p, device);
	else
		placing_heft(h->p, device);
	try_start(h, device);
	mem_free(device);
}

static void hunt_by(struct hunting *h, enum placing_strategy which)
{
	switch (which) {
	case PLACING_ONE:
	case PLACING_CONTIGUOUS:
	case PLACING_HEFT:
		quick(h, which);
		break;
	case PLACING_RANDOM:
	case PLACING_LOCAL:
		from_chance(h, which == PLACING_LOCAL, UINT64_MAX);
		break;
	case PLACING_ANNEAL:
		for (int q = PLACING_ONE; q <= PLACING_HEFT; q++)
			quick(h, (enum placing_strategy)q);
		if (h->p->n_groups <= MOST_DESCENTS)
			from_chance(h, true, 10);
		if (isfinite(h->best_cost))
			standing_load_set(&h->now, h->best);
		anneal(h);
		break;
	default:
		BUG("strategy %d", which);
	}
}

void placing_solve(const struct place *p, const struct placing_options *o, struct placing_result *r)
{
	struct hunting h = {.p = p, .o = o, .r = r, .best_cost = INFINITY, .started = now_seconds(), .limit = INFINITY};

	*r = (struct placing_result){.device = MEM_NEW(p->n_nodes + 1, uint32_t)};
	if (o->seconds > 0 || !o->steps)
		h.limit = h.started + (o->seconds > 0 ? o->seconds : 1);
	rng_seed(&h.rng, o->seed);
	standing_load_init(&h.now, p);
	h.best = MEM_NEW(p->n_groups + 1, uint32_t);
	h.by_node = MEM_NEW(p->n_nodes + 1, uint32_t);
	if (p->n_groups)
		hunt_by(&h, o->strategy);
	place_spread(p, h.best, r->device);
	r->cost = p->n_groups ? h.best_cost : 0;
	r->seconds = now_seconds() - h.started;
	standing_load_release(&h.now);
	mem_free(h.best);
	mem_free(h.by_node);
}

void placing_result_release(struct placing_result *r)
{
	mem_free(r->device);
	*r = (struct placing_result){0};
}
