/*
 * placing.c - searches for a placement.
 *
 * Annealing runs in cycles, each from warm to cold; every third cycle is followed by cycles of twice the length. A move
 * takes one group to another device (mostly one that holds a neighbour), or moves several connected groups together, or
 * exchanges two groups. Half of the moves look for a group on the busiest device.
 *
 * Loads are updated move by move. Moves are compared by a smooth stand-in for the largest load, because most moves do
 * not change the largest load itself. Latency is computed anew for each move. Which placement is kept as the best is
 * always decided by the true cost.
 *
 * Half of the cycles begin at the best placement so far, one in three where the last cycle ended, and one in six at
 * contiguous stretches of a new order. Before the first cycle some descents start at random placements, because a
 * search that begins with everything on one device hardly leaves it.
 */
#include "space/place/placing.h"

#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "space/place/breed.h"
#include "space/place/placing_quick.h"
#include "space/place/standing_load.h"

#define FIRST_CYCLE 20000  /* moves of the first cycle if the goal is load; if not, a fiftieth of that */
#define WARMEST 0.5	   /* a share of the cost; a cycle begins at it, or up to WARM_RANGE powers of ten below */
#define WARM_RANGE 4
#define COLDEST 1e-6
#define BRANCH_ORDERS 20  /* how many orders the contiguous strategy tries */
#define MOST_CLUSTER 300 /* the largest number of groups that move together */
#define MOST_DESCENTS 1000 /* groups; in larger programs a descent from a random placement is not worth its time */

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
	uint32_t *some, *to, *from; /* [n_groups + 2] the groups of a move, their new and their old devices */
	bool *in;		    /* [n_groups] scratch, all false between calls */
	uint32_t n_devices; /* devices to choose from; by latency all processors are alike, and count as one */
	bool over;
};

static bool time_is_up(struct hunting *h)
{
	if ((h->o->stop && h->o->stop()) || (h->o->steps && h->r->steps >= h->o->steps))
		h->over = true;
	else if (h->r->steps % 64 == 0 || h->o->goal != PLACE_LOAD)
		h->over |= now_seconds() >= h->limit;
	return h->over;
}

static double true_cost(struct hunting *h)
{
	place_spread(h->p, h->now.device, h->by_node);
	return place_cost(h->p, h->o->goal, h->by_node);
}

/* The figure that annealing compares. */
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

/* Picks a group, in half of the calls one on the busiest device. */
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

/* Picks a device: mostly one with a neighbour of the group. */
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
	return (uint32_t)rng_below(&h->rng, h->n_devices);
}

static bool accept(struct hunting *h, double old, double new, double heat)
{
	return new <= old || (isfinite(new) && rng_unit(&h->rng) < exp((old - new) / (heat * old + 1e-300)));
}

/* Collects in some[] up to n groups on g's device that are connected to g, beginning with g; returns how many. */
static uint32_t pick_cluster(struct hunting *h, uint32_t g, uint32_t n)
{
	const struct place *p = h->p;
	uint32_t k = 0, head = 0, from = h->now.device[g];

	h->some[k++] = g;
	h->in[g] = true;
	while (head < k && k < n) {
		uint32_t at = h->some[head++];
		for (uint32_t m = p->group_first[at]; m < p->group_first[at + 1]; m++) {
			uint32_t v = p->member[m], ins = p->in_first[v + 1] - p->in_first[v];
			uint32_t all = ins + p->out_first[v + 1] - p->out_first[v];
			for (uint32_t e = 0; e < all && k < n; e++) {
				uint32_t o = e < ins ? p->in[p->in_first[v] + e] : p->out[p->out_first[v] + e - ins];
				if (h->in[p->group[o]] || h->now.device[p->group[o]] != from)
					continue;
				h->in[p->group[o]] = true;
				h->some[k++] = p->group[o];
			}
		}
	}
	for (uint32_t i = 0; i < k; i++)
		h->in[h->some[i]] = false;
	return k;
}

/*
 * Proposes a move: one group, several connected groups, or two that change places. Fills some[] and to[], and returns
 * how many groups would move, which may be 0.
 */
static uint32_t propose(struct hunting *h)
{
	const struct standing_load *s = &h->now;
	uint32_t g = pick_group(h), from = s->device[g], to = pick_device(h, g), kind = (uint32_t)rng_below(&h->rng, 8);
	uint32_t n = 1;

	h->some[0] = g;
	if (kind < 2 || (kind < 6 && from != to && !standing_load_fits(s, g, to))) {
		uint32_t other = (uint32_t)rng_below(&h->rng, h->p->n_groups);
		h->some[1] = other;
		h->to[1] = from;
		to = s->device[other];
		h->to[0] = to;
		return from == to ? 0 : 2;
	}
	if (kind >= 6)
		n = pick_cluster(h, g, (uint32_t)pow(fmin(h->p->n_groups, MOST_CLUSTER), rng_unit(&h->rng)) + 1);
	for (uint32_t i = 0; i < n; i++)
		h->to[i] = to;
	return from == to ? 0 : n;
}

/* Asked after a move: does each device that got a group have the memory for it, and may the group run there? */
static bool still_allowed(const struct hunting *h, uint32_t n)
{
	const struct standing_load *s = &h->now;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = h->to[i];
		if (s->used[d] > h->p->room[d] || (d < h->p->n_accelerators && !s->accelerates[h->some[i]]))
			return false;
	}
	return true;
}

/* Tries one move, and keeps it or takes it back. Returns the energy afterwards. */
static double step(struct hunting *h, double old, double heat)
{
	struct standing_load *s = &h->now;
	uint32_t n = propose(h);
	double new = INFINITY;

	h->r->steps++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = s->device[h->some[i]];
		standing_load_move(s, h->some[i], h->to[i]);
		h->from[i] = from;
	}
	if (n == 0)
		return old;
	if (still_allowed(h, n))
		new = energy(h);
	if (isfinite(new) && accept(h, old, new, heat)) {
		keep_best(h);
		return new;
	}
	while (n-- > 0)
		standing_load_move(s, h->some[n], h->from[n]);
	return old;
}

/* Starts from contiguous stretches of a random order that goes through one branch after another. */
static void start_by_branches(struct hunting *h)
{
	placing_contiguous(h->p, &h->rng, h->some);
	try_start(h, h->some);
}

static void cycle(struct hunting *h, uint64_t moves)
{
	double heat = WARMEST * pow(10, -WARM_RANGE * rng_unit(&h->rng)), cool = pow(COLDEST / heat, 1 / (double)moves);

	uint32_t from = (uint32_t)rng_below(&h->rng, 6);
	if (from == 0)
		start_by_branches(h);
	else
		standing_load_set(&h->now, from < 3 ? h->now.device : h->best); /* anew: moves add rounding errors */
	double now = energy(h);
	for (uint64_t i = 0; i < moves && !time_is_up(h); i++) {
		now = step(h, now, heat);
		heat *= cool;
	}
}

static void anneal(struct hunting *h)
{
	uint64_t moves = FIRST_CYCLE + 20 * (uint64_t)h->p->n_groups;

	if (h->o->goal != PLACE_LOAD)
		moves /= 50;
	for (int i = 0; !time_is_up(h); i++) {
		cycle(h, moves);
		if (i % 3 == 2)
			moves *= 2;
	}
}

/* Makes the best single move until no move helps. The paper of the problems compares with this local search. */
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
		placing_contiguous(h->p, NULL, device);
	else
		placing_heft(h->p, device);
	try_start(h, device);
	mem_free(device);
	for (int i = 0; i < BRANCH_ORDERS && which == PLACING_CONTIGUOUS && !time_is_up(h); i++)
		start_by_branches(h);
}

static double cost_of(void *with, const uint32_t *device)
{
	struct hunting *h = with;

	standing_load_set(&h->now, device);
	keep_best(h);
	h->r->steps++;
	if (h->o->goal == PLACE_LOAD) {
		place_spread(h->p, device, h->by_node);
		return place_allowed(h->p, h->by_node) ? standing_load_most(&h->now) : INFINITY;
	}
	return true_cost(h);
}

static bool is_over(void *with)
{
	return time_is_up(with);
}

static void breed(struct hunting *h)
{
	uint32_t *known[3];
	struct standing_load room;
	struct breeding b = {.now = &room, .rng = &h->rng, .cost = cost_of, .over = is_over, .with = h};

	standing_load_init(&room, h->p);
	for (int k = 0; k < 3; k++)
		known[k] = MEM_NEW(h->p->n_groups + 1, uint32_t);
	placing_one(h->p, known[0]);
	placing_contiguous(h->p, NULL, known[1]);
	placing_heft(h->p, known[2]);
	breed_run(&b, known, 3);
	for (int k = 0; k < 3; k++)
		mem_free(known[k]);
	standing_load_release(&room);
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
		if (h->p->n_groups <= MOST_DESCENTS && h->o->goal != PLACE_TIME) /* annealing needs none */
			from_chance(h, true, 10);
		if (isfinite(h->best_cost))
			standing_load_set(&h->now, h->best);
		anneal(h);
		break;
	case PLACING_BRKGA:
		breed(h);
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
	h.n_devices = o->goal == PLACE_LATENCY && p->n_devices > p->n_accelerators ? p->n_accelerators + 1
		: p->n_devices;
	h.best = MEM_NEW(p->n_groups + 1, uint32_t);
	h.by_node = MEM_NEW(p->n_nodes + 1, uint32_t);
	h.some = MEM_NEW(p->n_groups + 2, uint32_t);
	h.to = MEM_NEW(p->n_groups + 2, uint32_t);
	h.from = MEM_NEW(p->n_groups + 2, uint32_t);
	h.in = MEM_NEW(p->n_groups + 1, bool);
	if (p->n_groups)
		hunt_by(&h, o->strategy);
	place_spread(p, h.best, r->device);
	r->cost = p->n_groups ? h.best_cost : 0;
	r->seconds = now_seconds() - h.started;
	standing_load_release(&h.now);
	mem_free(h.best);
	mem_free(h.by_node);
	mem_free(h.some);
	mem_free(h.to);
	mem_free(h.from);
	mem_free(h.in);
}

void placing_result_release(struct placing_result *r)
{
	mem_free(r->device);
	*r = (struct placing_result){0};
}
