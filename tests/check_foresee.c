/*
 * check_foresee.c - what a hunt expects to try next, for helpers: that it leaves the hunt as it was, and that it
 * supposes what was measured ahead, or what was more frequent lately. The program is small, so that each step changes
 * the region of the next.
 */
#include <sched.h>
#include <stdlib.h>
#include "device/pool_own.h"
#include "search/foresight.h"
#include "tests/device_fixture.h"

#define PROGRAM "examples/graphs/tiny/attention.pb.zst"
#define SEEDS 6 /* some propose steps that are far from each other, where nothing is to be supposed */

/* Was every region of the present candidate planned? (Modules leave the plan when they were used.) */
static bool planned(struct hunt *h, struct device *d)
{
	struct agenda agenda = {0};
	size_t regions = 0, found = 0;

	CHECK(cost_expect(h->lab->cost, h->config, h->candidate, 0, &agenda, NULL) == 0);
	pthread_mutex_lock(&d->pool->lock);
	for (size_t i = 0; i < agenda.n; i++) {
		regions += agenda.v[i].pair;
		for (size_t k = 0; k < d->pool->n_jobs && agenda.v[i].pair; k++)
			found += memcmp(d->pool->job[k]->key, agenda.v[i].key, sizeof agenda.v[i].key) == 0;
	}
	pthread_mutex_unlock(&d->pool->lock);
	agenda_release(&agenda);
	return regions > 0 && found == regions;
}

static void keep(struct hunt *h)
{
	for (uint32_t i = 0; i < h->n_flips; i++)
		h->hash = config_flip(h->config, h->hash, h->flips[i], h->candidate[h->flips[i]]);
	h->n_flips = 0;
	guide_move(h->guide, h->config);
}

/* Waits until helpers have measured the present candidate. Returns what it costs by that. */
static double foretold(struct hunt *h, struct device *d)
{
	struct agenda agenda = {0};
	struct foretold told;
	double seconds = 0;

	CHECK(cost_expect(h->lab->cost, h->config, h->candidate, 0, &agenda, NULL) == 0);
	for (size_t i = 0; i < agenda.n; i++) {
		if (!agenda.v[i].pair)
			continue;
		while (!device_foretells(d, agenda.v[i].key, &told))
			sched_yield();
		seconds += told.seconds;
	}
	agenda_release(&agenda);
	return seconds;
}

/* What is expected of the present candidate. */
static struct odds odds(struct hunt *h)
{
	struct agenda agenda = {0};
	struct odds x;

	CHECK(cost_expect(h->lab->cost, h->config, h->candidate, 0, &agenda, NULL) == 0);
	x = odds_of(h, &agenda);
	agenda_release(&agenda);
	return x;
}

/* Have helpers measured some of what the present candidate needs? */
static bool partly_foretold(struct hunt *h, struct device *d)
{
	struct agenda agenda = {0};
	struct foretold told;
	bool any = false;

	CHECK(cost_expect(h->lab->cost, h->config, h->candidate, 0, &agenda, NULL) == 0);
	for (size_t i = 0; i < agenda.n; i++)
		any |= agenda.v[i].pair && device_foretells(d, agenda.v[i].key, &told);
	agenda_release(&agenda);
	return any;
}

/* Of each kind of candidates, what became of them is what is expected of the next. */
static void odds_are_learnt(struct hunt *h, struct device *d)
{
	struct odds x;

	h->foresight->confirmed = 1;
	for (int kept = 0; kept < 2; kept++) {
		for (int i = 0; i < 20; i++)
			hunt_foresaw(h, kept);
		x = odds(h);
		if (!partly_foretold(h, d)) /* otherwise it may be of another kind by now */
			CHECK(x.kept > 0.8 * kept && x.kept < 0.2 + kept && x.again > 0.8);
	}
}

/* If a candidate was measured ahead and is better, it is supposed to be kept, though no step was. */
static void what_is_foretold_is_supposed(struct hunt *h, struct device *d, int *better)
{
	CHECK(hunt_propose(h) && h->n_flips);
	h->keeping = 0;
	CHECK(hunt_expect(h, 0, NULL) == 0);
	if (foretold(h, d) >= 0) {
		CHECK(odds(h).kept == 0 && odds(h).again == 0);
		return;
	}
	CHECK(odds(h).kept > MOSTLY && odds(h).again == 1 && odds(h).se > 0); /* it takes no time, so it is repeated */
	++*better;
	CHECK(hunt_expect(h, 0, NULL) == 0);
	keep(h);
	CHECK(hunt_propose(h) && planned(h, d));
}

/* The hunt is as it was; and if steps are kept mostly, what comes after this one is planned. */
static void look_ahead(struct hunt *h, struct device *d)
{
	uint32_t n = h->s->n_sites;
	uint8_t *config = MEM_NEW(n, uint8_t), *candidate = MEM_NEW(n, uint8_t);
	struct rng rng;
	uint64_t hash, idle;

	CHECK(hunt_propose(h) && h->n_flips);
	memcpy(config, h->config, n);
	memcpy(candidate, h->candidate, n);
	rng = h->rng;
	hash = h->hash;
	idle = h->idle;
	h->keeping = 1;
	CHECK(hunt_expect(h, 0, NULL) == 0);
	CHECK(memcmp(config, h->config, n) == 0 && memcmp(candidate, h->candidate, n) == 0);
	CHECK(memcmp(&rng, &h->rng, sizeof rng) == 0 && h->hash == hash && h->idle == idle);
	CHECK(planned(h, d));
	keep(h);
	CHECK(hunt_propose(h) && planned(h, d));
	mem_free(config);
	mem_free(candidate);
}

static void add_region(struct agenda *needs, uint64_t price)
{
	for (int side = 0; side < 2; side++) {
		struct buf module = {0};
		buf_addf(&module, "side %d of %d", side, (int)price);
		agenda_add(needs, &module, 1);
		needs->v[needs->n - 1].price[0] = price;
	}
}

/* A region is needed when the first candidate comes that needs it; once more the later, the less likely that is. */
static void what_is_sure_comes_first(struct hunt *h)
{
	static const uint64_t order[] = {1, 2, 2, 1, 3}; /* regions, by their prices */
	struct foresight f = {0}, *was = h->foresight;
	struct foreseen v[3] = {{0}};
	struct agenda plan = {0};
	struct wishes w = {0};

	add_region(&v[0].needs, 1);
	add_region(&v[1].needs, 2);
	add_region(&v[1].needs, 1);
	add_region(&v[2].needs, 3);
	f.v = v;
	f.n = 3;
	h->foresight = &f;
	wishes_add(&w, h, 0, 0, 0.5);
	wishes_add(&w, h, 1, 1, 1);
	wishes_add(&w, h, 2, 20, 0.5);
	wishes_plan(&w, h, &plan);
	for (size_t i = 0; i < sizeof order / sizeof *order && CHECK(2 * i + 1 < plan.n); i++) {
		CHECK_INT(plan.v[2 * i].spare, i == 2 || i == 3);
		if (!plan.v[2 * i].spare)
			CHECK(plan.v[2 * i].price[0] == order[i] && plan.v[2 * i].of.module[0].len);
	}
	h->foresight = was;
	for (int i = 0; i < 3; i++)
		agenda_release(&v[i].needs);
	agenda_release(&plan);
	wishes_release(&w);
}

static void hold_helpers(struct device *d, bool hold)
{
	pthread_mutex_lock(&d->pool->lock);
	d->pool->held = hold;
	pthread_cond_broadcast(&d->pool->more);
	pthread_mutex_unlock(&d->pool->lock);
}

/* Is this site among the flips of what is foreseen? */
static bool foreseen(const struct hunt *h, uint32_t site)
{
	bool found = false;

	for (size_t i = 0; i < h->foresight->n; i++)
		found |= h->foresight->v[i].flip[0].site == site;
	return found;
}

/* Waits until helpers have measured all that is foreseen. */
static void await_foreseen(const struct hunt *h)
{
	for (size_t i = 0; i < h->foresight->n; i++)
		while (h->foresight->v[i].needs.n && odds_of(h, &h->foresight->v[i].needs).se <= 0)
			sched_yield();
}

/*
 * The hunt comes to another candidate than those that helpers measured, and would have to wait for it: a measured one
 * is tried in its place, if nothing changed near it; but not where the order of candidates has to be kept.
 */
static void what_was_measured_is_tried_early(struct hunt *h, struct device *d)
{
	uint32_t next;

	h->keeping = 0;
	CHECK(hunt_propose(h) && hunt_expect(h, 0, NULL) == 0);
	foretold(h, d);
	await_foreseen(h);
	hold_helpers(d, true);
	while (odds(h).kept > MOSTLY) { /* what is foreseen would stand elsewhere */
		hunt_undo(h);
		CHECK(hunt_propose(h) && h->n_flips == 1);
	}
	CHECK(hunt_expect(h, 0, NULL) == 0 && h->foresight->n > 0);
	hold_helpers(d, false);
	await_foreseen(h);
	hold_helpers(d, true);
	do {
		hunt_undo(h);
		CHECK(hunt_propose(h) && h->n_flips == 1);
		next = h->flips[0];
	} while (foreseen(h, next));
	CHECK(hunt_expect(h, 0, NULL) == 0);
	h->o.strategy = STRATEGY_SWEEP;
	CHECK(!hunt_take_early(h) && h->flips[0] == next);
	h->o.strategy = STRATEGY_GUIDED;
	if (odds(h).se <= 0 && CHECK(hunt_take_early(h)))
		CHECK(h->n_flips == 1 && odds(h).se > 0 && h->candidate[next] == h->config[next]);
	hold_helpers(d, false);
}

static void what_will_be_kept_is_supposed_to_be(void)
{
	struct device_options on = {.backend = fixture_plugin, .jobs = 2, .deadline = 60};
	struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 50, .alpha = 100, .hops = 1};
	struct err err = {{0}};
	struct cost_options co = {.seed = 1};
	struct device *d = device_open(&on, &err);
	struct lab lab = {0};
	struct hunt h;
	int better = 0;

	if (!CHECK(d && lab_open(&lab, PROGRAM, "fusion", d, &co, NULL, &err) == 0)) {
		printf("%s\n", err.text);
		return;
	}
	for (o.seed = 1; o.seed <= SEEDS; o.seed++) {
		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		look_ahead(&h, d);
		odds_are_learnt(&h, d);
		what_is_sure_comes_first(&h);
		hunt_release(&h);
		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		what_is_foretold_is_supposed(&h, d, &better);
		hunt_release(&h);
		o.strategy = STRATEGY_GUIDED;
		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		what_was_measured_is_tried_early(&h, d);
		hunt_release(&h);
		o.strategy = STRATEGY_RANDOM;
	}
	CHECK(better > 0);
	lab_release(&lab);
	device_close(d);
}

int main(void)
{
	if (!fixture_begin()) {
		printf("skip: what a hunt foresees: no fake plugin without the plugin's header\n");
		return test_done();
	}
	setenv("VANTAGE_SHARE_CORES", "1", 1);
	setenv("FAKE_PLUGIN", "fake:any=1;spread=40", 1);
	RUN(what_will_be_kept_is_supposed_to_be);
	fixture_end();
	return test_done();
}
