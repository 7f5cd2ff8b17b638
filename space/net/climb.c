/*
 * climb.c - searches large neighbourhoods, with prices for memory.
 *
 * A step picks some connected variables, a few or all, and finds their best choices while the others stay
 * (area.h). Memory has a price per tick there. If the result does not fit, the price of the tick that is exceeded
 * most rises, much for this step and a little for those to come, and the step is tried again. Prices of ticks that
 * are not exceeded sink. So prices settle: at ticks where memory is scarce, at about what it is worth there.
 *
 * We compare cost plus priced memory. So a change that costs a little and frees dear memory is taken, and later
 * changes use the room. Once the walk has reached an answer that fits, it never leaves such answers.
 *
 * About half of the work goes to sketches (sketch.h): whole answers, written from scratch. The present answer is fused
 * with each: a variable may keep its choice or take that of the sketch, and the best of all combinations is found.
 * Most nets allow that exactly, because an edge has but four costs then. So a walk gets the large decisions from
 * sketches and the small ones from areas. Areas alone cannot make the large ones: where variables are connected too
 * closely for an exact solution, some keep their choice and hold all others. Walks of net M of iopddl ended at 1.2 to
 * 1.7 times its best cost, and most walks of net B at 1.7 times. When sketches have led to nothing better for long,
 * they become rare.
 *
 * The first prices decide how good the answer becomes: they may rise slowly until everything fits, or begin high and
 * sink slowly. No beginning is the best for all nets. So a walk consists of episodes, each with first prices, boldness,
 * sketches and a start of its own; an episode ends when it has found nothing better for a while. The walk's best answer
 * then learns from the episode's last one, which may be better in parts. In large nets the first episode may last as
 * long as there is time.
 *
 * Tried and dropped: picking sizes by what they gained so far (small areas then undo noise for ever and look busy);
 * a segment tree for memory (after thin.c a plain sum over all ticks is as fast); float tables; beginning half of the
 * steps where the cost is (net M of iopddl has a quarter of its cost on two edges, and two of three walks still ended
 * higher by a third); fusing after every pass (net K needs three times as long: fusing costs more than a pass, and
 * prices change with passes); dropping choices that no better answer can have, by the bound of the messages (without
 * memory, which decides most of the cost, it is far too low).
 */
#include "space/net/climb.h"

#include <math.h>
#include <string.h>

#define KEEP 0.1		 /* the share of a surcharge that later steps keep */
#define TRIES 6			 /* tries of a step, each with higher prices than the one before */
#define DEARER 3.0		 /* how many times higher */
#define LEAST_ROOM 300.0 /* table entries */
#define MOST_ROOM 1e7
#define MOST_WORK 3e7	 /* table entries of a step: a third of a second */
#define PATIENCE 1500		 /* an episode ends after so many steps without a better answer */
#define MOST_COMBINATIONS 1000 /* so many at most are tried one by one */
#define MOST_ANSWERS 20000	 /* a net with at most so many answers is decided by trying them all */
#define PASSES 5	/* of a sketch before it is fused, which takes some times as long as a pass */
#define FUSING_ROOM 1e6	/* table entries */
#define VAIN 100	/* when so many sketches led to nothing better, */
#define RARE 0.2	/* they take this share of the work of other steps, instead of as much */
#define SMALL 1000	 /* variables: a step takes a millisecond or so, and an episode seconds */

static void begin_episode(struct climb *c, bool first);

void climb_init(struct climb *c, const struct reduced *m, uint64_t seed, uint64_t stream)
{
	*c = (struct climb){.m = m, .best_cost = INFINITY};
	rng_seed2(&c->rng, seed, stream);
	standing_init(&c->now, m);
	c->solver = area_new(m);
	c->sketch = sketch_new(m);
	c->best = MEM_NEW(m->n_vars + 1, uint16_t);
	c->price = MEM_NEW(m->n_ticks + 1, double);
	c->sum = MEM_NEW(m->n_ticks + 1, double);
	c->trial = MEM_NEW(m->n_vars + 1, uint16_t);
	c->some = MEM_NEW(m->n_vars + 1, uint32_t);
	c->to = MEM_NEW(m->n_vars + 1, uint16_t);
	c->in = MEM_NEW(m->n_vars + 1, uint8_t);
	begin_episode(c, stream == 0);
}

void climb_release(struct climb *c)
{
	standing_release(&c->now);
	area_free(c->solver);
	sketch_free(c->sketch);
	mem_free(c->best);
	mem_free(c->price);
	mem_free(c->sum);
	mem_free(c->trial);
	mem_free(c->some);
	mem_free(c->to);
	mem_free(c->in);
	*c = (struct climb){0};
}

/* Running sums of the prices, with a surcharge at one tick. */
static void sum_prices(struct climb *c, uint32_t tick, double surcharge)
{
	double sum = 0;

	for (uint32_t t = 0; t < c->m->n_ticks; t++) {
		sum += c->price[t] + (t == tick ? surcharge : 0);
		c->sum[t + 1] = sum;
	}
}

static uint32_t any_free(struct climb *c)
{
	uint32_t n = c->m->n_vars, v = (uint32_t)rng_below(&c->rng, n);

	for (uint32_t i = 0; i < n && (c->in[v]); i++)
		v = v + 1 < n ? v + 1 : 0;
	return v;
}

/* Picks up to n connected variables: in waves from one of them, or at random along the border. */
static uint32_t pick_some(struct climb *c, uint32_t n)
{
	const struct reduced *m = c->m;
	uint32_t k = 0, head = 0;
	bool waves = rng_below(&c->rng, 2);

	while (k < n) {
		if (head == k) { /* the first variable, or a new one when no more are connected */
			uint32_t v = any_free(c);
			if (c->in[v])
				break;
			c->some[k++] = v;
			c->in[v] = 1;
		}
		if (!waves) {
			uint32_t j = head + (uint32_t)rng_below(&c->rng, k - head), v = c->some[j];
			c->some[j] = c->some[head];
			c->some[head] = v;
		}
		const struct var *v = &m->var[c->some[head++]];
		uint32_t first = v->n_links ? (uint32_t)rng_below(&c->rng, v->n_links) : 0;
		for (uint32_t i = 0; i < v->n_links && k < n; i++) {
			uint32_t o = v->link[(first + i) % v->n_links].other;
			if (c->in[o])
				continue;
			c->some[k++] = o;
			c->in[o] = 1;
		}
	}
	for (uint32_t i = 0; i < k; i++)
		c->in[c->some[i]] = 0;
	return k;
}

/* Picks the number of variables, uniform in its logarithm; one step in nine takes all. */
static uint32_t pick_size(struct climb *c)
{
	double n = pow(c->m->n_vars, 0.2 + 0.9 * rng_unit(&c->rng));

	return n >= c->m->n_vars ? c->m->n_vars : (uint32_t)ceil(n);
}

struct plan { /* what one step does */
	uint32_t n;
	uint32_t forced; /* the last of some[] is forced, or there is none */
	struct area_task task;
};

static void plan_step(struct climb *c, struct plan *p)
{
	uint32_t size = pick_size(c);
	double unit = fabs(c->now.cost) / c->m->n_vars;
	bool allowed = c->now.cost < REDUCED_NEVER / 2;

	*p = (struct plan){.n = pick_some(c, size)};
	p->task = (struct area_task){.x = c->now.x, .some = c->some, .price = c->sum, .rng = &c->rng};
	p->task.room = LEAST_ROOM * pow(MOST_ROOM / LEAST_ROOM, rng_unit(&c->rng));
	p->task.work = fmin(MOST_WORK, 30 * p->task.room);
	if (allowed && rng_below(&c->rng, 3) == 0)
		p->task.noise = unit * pow(rng_unit(&c->rng), 4);
	if (allowed && c->force && p->n > 1 && rng_below(&c->rng, 6) == 0) {
		uint32_t v = c->some[0], choices = c->m->var[v].choices;
		c->some[0] = c->some[p->n - 1];
		c->some[p->n - 1] = v;
		memcpy(c->trial, c->now.x, c->m->n_vars * sizeof *c->trial);
		c->trial[v] = (uint16_t)((c->trial[v] + 1 + rng_below(&c->rng, choices - 1)) % choices);
		c->to[p->n - 1] = c->trial[v];
		p->forced = 1;
		p->task.x = c->trial;
	}
	p->task.n = p->n - p->forced;
}

/* How much worse a change may be. */
static double tolerance(struct climb *c)
{
	return c->bold > 0 ? -log(1 - rng_unit(&c->rng)) * fabs(c->now.cost) * c->bold : 0;
}

/* Draws first prices and boldness of an episode. The first walk's first episode has those that do well most often. */
static void begin_episode(struct climb *c, bool first)
{
	const struct reduced *m = c->m;
	double heat = fabs(c->now.cost) * pow(10, -1 + 2.5 * rng_unit(&c->rng)), sum = 0;

	c->since = 0;
	c->episode_best = INFINITY;
	c->unit = 0;
	c->start = first ? 0.1 : pow(10, -3.5 + 5 * rng_unit(&c->rng));
	c->sink = first || m->n_vars >= SMALL ? 0.99 : 1 - pow(10, -2 - rng_unit(&c->rng));
	c->bold = pow(10, -4 + 3 * (first ? 2.0 / 3 : rng_unit(&c->rng)));
	if (m->n_vars >= SMALL && first)
		c->bold = 0; /* the fastest descent, for nets where the time ends before the patience does */
	c->force = !first && rng_below(&c->rng, 2);
	sketch_begin(c->sketch, first ? 0.05 : 0.2 * pow(10, -rng_unit(&c->rng)));
	c->sketching = c->stepping = c->vain = 0;
	for (uint32_t t = 0; t < m->n_ticks; t++)
		sum += c->price[t] * fabs(m->limit);
	if (c->found && rng_below(&c->rng, 3) < (m->n_vars >= SMALL ? 2 : 1) && sum > 0) {
		standing_set(&c->now, c->best);
		for (uint32_t t = 0; t < m->n_ticks; t++)
			c->price[t] *= heat / sum;
		return;
	}
	for (uint32_t v = 0; v < m->n_vars; v++)
		c->trial[v] = first ? 0 : (uint16_t)rng_below(&c->rng, m->var[v].choices);
	standing_set(&c->now, c->trial);
	memset(c->price, 0, m->n_ticks * sizeof *c->price);
}

/* Tries the plan with rising prices until its result fits; returns true if the result is to be taken. */
static bool try_plan(struct climb *c, const struct plan *p)
{
	uint32_t tick = UINT32_MAX;
	double surcharge = 0;
	bool take = false;

	for (int i = 0; i < TRIES; i++) {
		sum_prices(c, tick, surcharge);
		area_solve(c->solver, &p->task, c->to);
		sum_prices(c, UINT32_MAX, 0);
		struct change change = standing_try(&c->now, c->some, c->to, p->n, c->sum);
		double merit = change.cost + change.priced;
		if (change.cost < -REDUCED_NEVER / 2) {
			take = true;
			break;
		}
		if (change.cost > REDUCED_NEVER / 2)
			break;
		if (change.over <= 0 || change.over <= c->now.over) {
			take = change.over < c->now.over || merit <= tolerance(c);
			break;
		}
		if (change.worst != tick) {
			if (tick != UINT32_MAX)
				c->price[tick] += KEEP * surcharge;
			tick = change.worst;
		}
		surcharge = i ? surcharge * DEARER : fmax(fabs(merit) / change.excess, c->unit / 100);
	}
	if (tick != UINT32_MAX)
		c->price[tick] += KEEP * surcharge * (take ? 1 : 0.3);
	return take;
}

/* Takes from x what makes the present answer better: any part of it, in any combination. */
static void fuse(struct climb *c, const uint16_t *x)
{
	struct plan p = {.n = 0};

	for (uint32_t v = 0; v < c->m->n_vars; v++)
		if (x[v] != c->now.x[v])
			c->some[p.n++] = v;
	p.task = (struct area_task){.x = c->now.x, .some = c->some, .n = p.n, .also = &x, .n_also = 1,
		.price = c->sum, .rng = &c->rng, .room = FUSING_ROOM, .work = 30 * FUSING_ROOM};
	if (p.n && try_plan(c, &p))
		standing_take(&c->now, c->some, c->to, p.n);
}

/* Picks two or three variables that use memory at one tick, mostly a full one, into some[]. */
static uint32_t pick_rivals(struct climb *c)
{
	const struct reduced *m = c->m;
	uint32_t tick = (uint32_t)rng_below(&c->rng, m->n_ticks), n = 0, want = 2 + (uint32_t)rng_below(&c->rng, 2);

	for (uint32_t i = 0; i < 8; i++) {
		uint32_t t = (uint32_t)rng_below(&c->rng, m->n_ticks);
		tick = c->now.usage[t] > c->now.usage[tick] ? t : tick;
	}
	uint32_t seen = 0;
	for (uint32_t v = 0; v < m->n_vars; v++)
		for (uint32_t i = 0; i < m->var[v].n_uses; i++) {
			if (m->var[v].use[i].from > tick || m->var[v].use[i].to <= tick)
				continue;
			uint64_t at = seen++ < want ? n++ : rng_below(&c->rng, seen); /* each as likely as the others */
			if (at < want)
				c->some[at] = v;
			break;
		}
	return n;
}

/*
 * Prices cannot say "this one or that one, but not both". So some steps try every combination of a few variables that
 * share a full tick, as long as there are not too many.
 */
static void try_rivals(struct climb *c)
{
	uint32_t n = pick_rivals(c), i;
	uint16_t to[3] = {0}, best[3];
	double least = 0;
	size_t all = 1;
	bool found = false;

	for (i = 0; i < n; i++)
		all *= c->m->var[c->some[i]].choices;
	if (all > MOST_COMBINATIONS || n == 0)
		return;
	do {
		struct change change = standing_try(&c->now, c->some, to, n, NULL);
		if (change.over <= c->now.over && change.cost < least) {
			found = true;
			least = change.cost;
			memcpy(best, to, sizeof best);
		}
		for (i = 0; i < n && ++to[i] == c->m->var[c->some[i]].choices; i++)
			to[i] = 0;
	} while (i < n);
	if (found)
		standing_take(&c->now, c->some, best, n);
}

/* While memory is exceeded, the tick where it is most gets dearer with every step. */
static void raise_price(struct climb *c)
{
	uint32_t worst = 0;

	if (!REDUCED_ALLOWED(c->now.cost))
		return;
	if (c->unit <= 0)
		c->unit = c->start * (fabs(c->now.cost) + 1) / (fabs(c->m->limit) + 1);
	for (uint32_t t = 1; t < c->m->n_ticks; t++)
		worst = c->now.usage[t] > c->now.usage[worst] ? t : worst;
	c->unit *= 1.05;
	c->price[worst] += c->unit;
}

static void note_best(struct climb *c)
{
	c->since += c->now.over <= 0;
	if (c->now.over > 0 || !REDUCED_ALLOWED(c->now.cost))
		return;
	if (c->now.cost < c->episode_best - 1e-9 * fabs(c->now.cost)) {
		c->episode_best = c->now.cost;
		c->since = 0;
	} else if (c->since > PATIENCE) {
		memcpy(c->trial, c->now.x, c->m->n_vars * sizeof *c->trial);
		climb_learn(c, c->trial);
		begin_episode(c, false);
		return;
	}
	if (c->found && c->now.cost >= c->best_cost)
		return;
	standing_set(&c->now, c->now.x); /* computed anew, without the accumulated rounding */
	if (c->now.over > 0 || (c->found && c->now.cost >= c->best_cost))
		return;
	memcpy(c->best, c->now.x, c->m->n_vars * sizeof *c->best);
	c->best_cost = c->now.cost;
	c->found = true;
}

/* Makes a few passes, and fuses the last sketch. A sketch that is better as a whole replaces the present answer. */
static void follow_sketch(struct climb *c)
{
	struct sketch *d = c->sketch;
	double work = area_work(c->solver), had = c->best_cost;
	uint32_t passes = PASSES * d->work < MOST_WORK ? PASSES : 1;

	for (uint32_t i = 0; i < passes; i++) {
		sketch_write(d, c->found ? c->best_cost : INFINITY);
		if (d->made.over <= 0 && REDUCED_ALLOWED(d->made.cost) &&
			(c->now.over > 0 || d->made.cost < c->now.cost))
			standing_set(&c->now, d->made.x);
	}
	fuse(c, d->made.x);
	note_best(c);
	c->vain = c->best_cost < had ? 0 : c->vain + 1;
	c->sketching += passes * d->work + area_work(c->solver) - work;
}

void climb_restart(struct climb *c, const uint16_t *x)
{
	standing_set(&c->now, x);
	c->since = 0;
}

static void change_some(struct climb *c)
{
	struct plan p;
	double work = area_work(c->solver);

	if (c->m->n_ticks && rng_below(&c->rng, 8) == 0)
		try_rivals(c);
	plan_step(c, &p);
	if (try_plan(c, &p))
		standing_take(&c->now, c->some, c->to, p.n);
	note_best(c);
	c->stepping += area_work(c->solver) - work;
}

void climb_step(struct climb *c)
{
	c->steps++;
	for (uint32_t t = 0; t < c->m->n_ticks; t++)
		c->price[t] *= c->sink;
	if (c->now.over > 0)
		raise_price(c);
	if (c->sketching <= c->stepping * (c->vain < VAIN ? 1 : RARE))
		follow_sketch(c);
	else
		change_some(c);
}

/* Finds, from v on, a connected set of variables in which x differs from the present answer; puts it into some[]. */
static uint32_t place_of(struct climb *c, const uint16_t *x, uint32_t v)
{
	uint32_t n = 0;

	c->some[n++] = v;
	c->in[v] = 1;
	for (uint32_t head = 0; head < n; head++) {
		const struct var *a = &c->m->var[c->some[head]];
		c->to[head] = x[c->some[head]];
		for (uint32_t i = 0; i < a->n_links; i++) {
			uint32_t o = a->link[i].other;
			if (!c->in[o] && x[o] != c->now.x[o])
				c->some[n++] = o;
			c->in[o] |= x[o] != c->now.x[o];
		}
	}
	return n;
}

bool climb_learn(struct climb *c, const uint16_t *x)
{
	bool better = false;

	if (c->found)
		climb_restart(c, c->best);
	for (uint32_t v = 0; v < c->m->n_vars && c->found; v++) {
		if (c->in[v] || x[v] == c->now.x[v])
			continue;
		uint32_t n = place_of(c, x, v);
		struct change change = standing_try(&c->now, c->some, c->to, n, NULL);
		if (change.cost < 0 && change.over <= 0) {
			standing_take(&c->now, c->some, c->to, n);
			better = true;
		}
	}
	memset(c->in, 0, c->m->n_vars);
	if (better)
		note_best(c);
	return better;
}

bool climb_exhaust(struct climb *c)
{
	const struct reduced *m = c->m;
	size_t all = 1;
	uint32_t v;

	for (v = 0; v < m->n_vars; v++)
		if ((all *= m->var[v].choices) > MOST_ANSWERS)
			return false;
	memset(c->trial, 0, m->n_vars * sizeof *c->trial);
	do {
		standing_set(&c->now, c->trial);
		if (c->now.over <= 0 && REDUCED_ALLOWED(c->now.cost) && (!c->found || c->now.cost < c->best_cost)) {
			memcpy(c->best, c->trial, m->n_vars * sizeof *c->best);
			c->best_cost = c->now.cost;
			c->found = true;
		}
		for (v = 0; v < m->n_vars && ++c->trial[v] == m->var[v].choices; v++)
			c->trial[v] = 0;
	} while (v < m->n_vars);
	return true;
}
