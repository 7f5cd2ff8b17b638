/*
 * cost.c - computes the cost of a move from the prices of its regions.
 *
 * A move changes a few places of the program. The space cuts each out as a region. Its price is looked up in
 * the table of prices, then in the store; otherwise it is measured. To measure, both sides are compiled in
 * random order, because what is loaded first tends to run slower, and run alternately. The cost of the move is
 * the sum of prices times executions. Errors are independent, so their squares add up.
 *
 * Every kernel that a move adds is charged for (space/part.h), once for each place in the program, whatever the turns
 * of its loop. In a graph network, forty more instructions in kernels of their own were +15 to +28 us by regions and
 * +59 to +83 us by whole programs. Prices are kept without the charge, because they are what was measured.
 *
 * A move between equal configurations costs exactly 0, without a measurement. So does a region whose sides
 * are the same module, or which the compiler turns into the same program.
 *
 * If one side of a region fails, the move has an outcome and no cost. The outcome is kept like a price, so
 * that a program that crashes the compiler is not tried again. There are two exceptions. A crash is tried once
 * more at once, because a worker can also die of something else. And a failure that says as much about the
 * machine as about the program is tried again when there is more time or memory for it (base/effort.h).
 *
 * A region of a large program may run for a second. Ten runs of each side, on three loads each, then take longer than
 * all else, and tell more than anybody needs: nobody decides by a thousandth of a program's run. So a search says which
 * error is small enough and how long a measurement may take (struct worth). If runs are long, there are as few of them
 * as that allows.
 *
 * A confirmation measures anew, and its answer is that measurement alone. A move is confirmed because its
 * first measurement looked good, so the average of the two would be too good. The tables keep the more precise
 * of the two.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "cost/own.h"
#include "device/room.h"
#include "space/part.h"

/* A region is not measured precisely if one side is this many times slower. */
#define REGION_GIVE_UP 4
#define GUESS 0.5   /* of what places promise is its error, if the whole program is not asked */
#define CONFIRMED 4 /* the error that is worth reaching is so many times smaller in a confirmation */
/* Of whole programs, compiled to confirm a region: so many seconds of running (or struct worth), and instances. */
#define WHOLE_SECONDS 4
#define WHOLE_INSTANCES 5

/* The charge for a kernel of this program. */
static double charge(const struct cost *c)
{
	const struct device_info *i = c->device ? device_info(c->device) : NULL;
	double each = c->o.part_seconds, own = c->space->ops->part_seconds;

	if (own > 0)
		return each >= 0 && i && i->quantity == QUANTITY_SECONDS && i->kind == COST_MEASURED ? own : 0;
	if (each == 0 && i && i->quantity == QUANTITY_SECONDS)
		each = part_seconds(i->backend, i->kind);
	return each > 0 ? each * part_share(c->space) : 0;
}

/* Can it be read off a compiled program there? Seconds only where the compiler, or a model, says them. */
static bool is_compiled_in(const struct device *d, enum quantity q)
{
	return quantity_deterministic(q) || !d || device_info(d)->kind != COST_MEASURED;
}

/*
 * Finds the first of the kind's ways of pricing that gives the wanted quantity. Running gives the device's own
 * quantity.
 */
static int set_pricing(struct cost *c, struct err *err)
{
	const struct space_kind *k = c->space->ops->kind;

	for (const struct space_price *p = space_prices(k); p->how != PRICING_NONE; p++) {
		bool run = p->how == PRICING_REGION || p->how == PRICING_WHOLE;

		if (p->how == PRICING_COMPILED && !is_compiled_in(c->device, p->quantity))
			continue;
		c->how = p->how == PRICING_REGION && c->o.policy == POLICY_WHOLE ? PRICING_WHOLE : p->how;
		c->quantity = run && c->device ? device_info(c->device)->quantity : p->quantity;
		c->said = p->how == PRICING_REGION && c->quantity == QUANTITY_SECONDS && c->device &&
			device_info(c->device)->kind == COST_ESTIMATED;
		if (c->o.quantity && c->quantity != (enum quantity)(c->o.quantity - 1))
			continue;
		if (p->how == PRICING_FORMULA)
			c->device = NULL;
		else if (!c->device)
			return err_set(err, "a space of kind %s cannot be measured without a device", c->space->kind);
		return 0;
	}
	return err_set(err, "decisions of the kind %s cannot be priced in %s on this device; elsewhere they can in %s",
		k->name, quantity_name((enum quantity)(c->o.quantity - 1)), space_priced(k));
}

struct cost *cost_new(struct space *s, struct device *d, const struct cost_options *o, struct err *err)
{
	static const struct cost_options dflt;
	struct cost *c;

	c = MEM_NEW(1, struct cost);
	c->space = s;
	c->device = d;
	c->o = o ? *o : dflt;
	if (set_pricing(c, err) < 0) {
		mem_free(c);
		return NULL;
	}
	c->o.region.target = c->o.region.target > 0 ? c->o.region.target : 0.003;
	c->o.region.max_seconds = c->o.region.max_seconds > 0 ? c->o.region.max_seconds : 0.1;
	c->o.region.give_up = c->o.region.give_up != 0 ? c->o.region.give_up : REGION_GIVE_UP;
	c->o.whole.target = c->o.whole.target > 0 ? c->o.whole.target : 0.002;
	c->o.whole.max_seconds = c->o.whole.max_seconds > 0 ? c->o.whole.max_seconds : 1;
	c->part = cost_quantity(c) == QUANTITY_SECONDS ? charge(c) : 0;
	c->sides.sides = true;
	rng_seed2(&c->rng, c->o.seed, 0x636f7374);
	return c;
}

void cost_free(struct cost *c)
{
	if (!c)
		return;
	prices_release(&c->prices);
	prices_release(&c->figures);
	cuttings_release(&c->cuttings);
	spares_release(&c->sides);
	mem_free(c);
}

double cost_part(const struct cost *c)
{
	return c->part;
}

void cost_set_part(struct cost *c, double seconds)
{
	c->part = seconds;
}

void cost_set_worth(struct cost *c, const struct worth *w)
{
	c->worth = *w;
}

void cost_note_compiling(struct cost *c, double seconds)
{
	c->compiling = cost_lately(c->compiling, seconds);
}

/* Keeps what a helper compiled to measure the sides, in case they will be measured again. */
static void keep_sides(struct cost *c, const struct sides *s, struct timing *t)
{
	for (int i = 0; i < 2; i++) {
		struct compiled side = {.serialised = t->executable[i], .seconds = t->took[i]};
		spare_put(&c->sides, COMPILE_REGION, s->module[i], &side);
	}
}

/* Measures a region, or takes what a helper measured. `anew`: whatever was measured before does not count. */
static int measure_region(struct cost *c, struct region *r, const struct precision *p, bool anew, struct price *out,
	struct delta *d, struct err *err)
{
	const struct cost_hooks *h = &c->o.hooks;
	struct sides sides = {.module = {&r->a, &r->b}, .alike = r->alike, .whole = r->whole};
	struct timing t = {0};
	double start = now_seconds(), took;
	int rc = 0;

	if (anew || r->whole || !device_measured(c->device, sides.module, &t))
		rc = cost_pair(c, &sides, p, &t, err);
	else
		c->totals.inside += t.compiling + t.inside;
	keep_sides(c, &sides, &t);
	d->compiling = fmax(d->compiling, t.compiling);
	if (t.compiling > 0)
		cost_note_compiling(c, t.compiling);
	/* A confirmation takes its own time, and how long a part runs has little to do with its size. */
	took = (t.ahead > 0 ? t.ahead : now_seconds() - start) - fmax(t.inside - p->max_seconds, 0);
	if (p->instances < 2 && !r->whole)
		pace_add(&c->pace, r->a.len + r->b.len, took, t.cut);
	if (rc == 0 && t.outcome == OUTCOME_OK) {
		d->gave_up |= t.gave_up;
		if (h->measured)
			rc = h->measured(h->ctx, r, &t, err);
	} else if (rc == 0) {
		d->signal = t.signal;
		d->cut = t.cut;
		memcpy(d->detail, t.detail, sizeof d->detail);
		rc = t.cut ? 0 : cost_failed(c, t.outcome, t.signal, t.detail, err);
	}
	*out = (struct price){.delta = t.delta, .se = t.delta_se, .seconds_a = t.seconds_a,
		.seconds_b = t.seconds_b, .outcome = t.outcome, .kind = t.kind, .pairs = t.pairs};
	if (t.outcome != OUTCOME_OK)
		device_effort(c->device, &out->effort);
	timing_release(&t);
	return rc == 0 && !d->cut ? cost_keep(c, r->key, *out, err) : rc;
}

/* Is a price from the table only a bound? */
static bool is_bound(const struct cost *c, const struct price *p)
{
	double limit = c->o.region.give_up;
	return limit > 0 && p->kind == COST_MEASURED && p->seconds_a > 0 && p->seconds_b > 0 &&
		fabs(log(p->seconds_b / p->seconds_a)) > log(limit);
}

struct precision cost_region_precision(const struct cost *c, const struct region *r, size_t regions,
	const struct precision *p)
{
	struct precision q = p ? *p : r->whole ? c->o.whole : c->o.region;

	if (p && r->whole) { /* compiling took long: what is run after it must be worth it */
		q.target = c->o.whole.target;
		q.max_seconds = fmax(p->max_seconds, c->worth.whole > 0 ? c->worth.whole : WHOLE_SECONDS);
		q.instances = p->instances > WHOLE_INSTANCES ? p->instances : WHOLE_INSTANCES;
	}
	q.enough = c->worth.error / (p ? CONFIRMED : 1) / fmax(r->times, 1);
	q.most = c->worth.seconds / (double)regions;
	q.part = !r->whole;
	return q;
}

/* Adds one of `regions` regions to the sum. If `p` is not NULL, it is measured anew, so precisely. */
static int add_region(struct cost *c, struct region *r, size_t regions, const struct precision *p, struct delta *d,
	struct err *err)
{
	struct precision precision = cost_region_precision(c, r, regions, p);
	struct price price = {.kind = d->kind};
	int found = 1;

	d->regions++;
	c->regions += (double)(r->a.len + r->b.len);
	if (r->key[0] == r->key[1]) /* one module on both sides: nothing to measure */
		found = 1;
	else
		found = p ? 0 : cost_find(c, r->key, &price, err);
	if (found < 0)
		return -1;
	d->cached += found == 1;
	d->measured += found == 0;
	if (found == 1)
		d->gave_up |= is_bound(c, &price);
	else if (measure_region(c, r, &precision, p != NULL, &price, d, err) < 0)
		return -1;
	if (price.outcome != OUTCOME_OK) {
		d->outcome = price.outcome;
		if (!d->detail[0])
			snprintf(d->detail, sizeof d->detail, "%s, when it was tried before",
				outcome_meaning(price.outcome));
		return 0;
	}
	d->parts += r->copies * ((double)r->parts[1] - (double)r->parts[0]);
	d->seconds += r->times * price.delta;
	d->se += r->times * r->times * price.se * price.se; /* a variance until the end */
	return 0;
}

static int by_whole(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct delta *d, struct err *err)
{
	struct timing t = {0};

	if (cost_whole(c, a, b, p, &t, err) < 0)
		return -1;
	d->outcome = t.outcome;
	d->signal = t.signal;
	d->cut = t.cut;
	memcpy(d->detail, t.detail, sizeof d->detail);
	d->seconds = t.delta;
	d->se = t.delta_se;
	d->gave_up = t.gave_up;
	d->regions = d->measured = 1;
	timing_release(&t);
	return 0;
}

static int by_figure(struct cost *c, const uint8_t *a, const uint8_t *b, struct delta *d, struct err *err)
{
	struct fate fate = {0};
	bool asked[2] = {false, false};
	double from = 0, to = 0;

	if (cost_figure(c, a, &from, &asked[0], &fate, err) < 0 ||
		(fate.outcome == OUTCOME_OK && cost_figure(c, b, &to, &asked[1], &fate, err) < 0))
		return -1;
	d->outcome = fate.outcome;
	d->signal = fate.signal;
	d->cut = cost_cut(c, fate.outcome);
	memcpy(d->detail, fate.detail, sizeof d->detail);
	d->seconds = to - from;
	d->regions = 1;
	d->measured = asked[0] || asked[1];
	d->cached = !d->measured;
	return 0;
}

/* Asks what the whole programs cost, instead of regions or after them (`d` so far). */
static int ask_whole(struct cost *c, const uint8_t *a, const uint8_t *b, struct delta *d, struct err *err)
{
	struct delta before = *d;
	int rc;

	d->parts = d->se = 0;
	rc = by_figure(c, a, b, d, err);
	d->regions += before.regions;
	d->cached += before.cached;
	d->measured += before.measured;
	return rc;
}

static int by_region(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct delta *d, struct err *err)
{
	struct regions r = {0};
	bool instead = false, guess = false;
	int rc = cost_regions(c, a, b, 0, &r, err);

	if (rc == 0)
		rc = cost_asks_instead(c, &r, &instead, err);
	if (rc == 0 && !instead)
		rc = cost_by_places(c, &r, &guess, err);
	for (size_t i = 0; i < r.n && rc == 0 && d->outcome == OUTCOME_OK && !instead; i++) {
		if (r.v[i].whole && i > 0 && d->seconds >= 0)
			break; /* its places promise nothing: what they lose is the answer */
		if (r.v[i].whole)
			d->seconds = d->se = 0;
		rc = add_region(c, &r.v[i], r.n, r.v[i].screen && !guess ? NULL : p, d, err);
	}
	if (guess)
		d->se += pow(GUESS * d->seconds, 2); /* a variance */
	d->se = sqrt(d->se);
	if (rc == 0 && (instead || (d->outcome == OUTCOME_OK && d->seconds < 0 && cost_asks_after(c, a))))
		rc = ask_whole(c, a, b, d, err);
	d->added = d->parts * c->part;
	d->seconds += d->added;
	regions_release(&r);
	return rc;
}

static int by_policy(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct delta *d, struct err *err)
{
	if (memcmp(a, b, c->space->n_sites) == 0)
		return 0;
	switch (c->how) {
	case PRICING_REGION:
		return by_region(c, a, b, p, d, err);
	case PRICING_WHOLE:
		return by_whole(c, a, b, p, d, err);
	default:
		return by_figure(c, a, b, d, err);
	}
}

static int delta(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct delta *out, struct err *err)
{
	double start = now_seconds(), inside = c->totals.inside;
	int rc;

	*out = (struct delta){.kind = cost_kind(c), .quantity = cost_quantity(c)};
	rc = by_policy(c, a, b, p, out, err);
	if (out->outcome != OUTCOME_OK)
		out->seconds = out->se = 0;
	out->inside = c->totals.inside - inside;
	c->totals.wall += now_seconds() - start;
	c->totals.deltas++;
	c->totals.regions += out->regions;
	c->totals.cached += out->cached;
	c->totals.measured += out->measured;
	return rc;
}

int cost_delta(struct cost *c, const uint8_t *a, const uint8_t *b, struct delta *out, struct err *err)
{
	return delta(c, a, b, NULL, out, err);
}

int cost_confirm(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct delta *out, struct err *err)
{
	return delta(c, a, b, p ? p : c->how == PRICING_WHOLE ? &c->o.whole : &c->o.region, out, err);
}
