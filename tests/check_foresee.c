/*
 * check_foresee.c - what a hunt expects to try next, for helpers: that it leaves the hunt as it was, and that it
 * supposes what was measured ahead, or what was more frequent lately. The program is small, so that each step changes
 * the region of the next.
 */
#include <sched.h>
#include <stdlib.h>
#include "device/pool_own.h"
#include "search/hunt.h"
#include "tests/device_fixture.h"

#define PROGRAM "examples/graphs/tiny/attention.pb.zst"
#define SEEDS 6 /* some propose steps that are far from each other, where nothing is to be supposed */

/* Was every region of the present candidate planned? (Modules leave the plan when they were used.) */
static bool planned(struct hunt *h, struct device *d)
{
	struct agenda agenda = {0};
	size_t regions = 0, found = 0;

	CHECK(cost_expect(h->lab->cost, h->config, h->candidate, 1, &agenda, NULL) == 0);
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
	double seconds = 0;

	CHECK(cost_expect(h->lab->cost, h->config, h->candidate, 1, &agenda, NULL) == 0);
	for (size_t i = 0; i < agenda.n; i++)
		while (agenda.v[i].pair && !device_foretells(d, agenda.v[i].key, &seconds))
			sched_yield();
	agenda_release(&agenda);
	return seconds;
}

/* If a candidate was measured ahead and is better, it is supposed to be kept, though no step was. */
static void what_is_foretold_is_supposed(struct hunt *h, struct device *d, int *better)
{
	CHECK(hunt_propose(h) && h->n_flips);
	h->keeping = 0;
	CHECK(hunt_expect(h, 1, NULL) == 0);
	if (foretold(h, d) >= 0)
		return;
	++*better;
	CHECK(hunt_expect(h, 1, NULL) == 0);
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
	CHECK(hunt_expect(h, 1, NULL) == 0);
	CHECK(memcmp(config, h->config, n) == 0 && memcmp(candidate, h->candidate, n) == 0);
	CHECK(memcmp(&rng, &h->rng, sizeof rng) == 0 && h->hash == hash && h->idle == idle);
	CHECK(planned(h, d));
	keep(h);
	CHECK(hunt_propose(h) && planned(h, d));
	mem_free(config);
	mem_free(candidate);
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
		hunt_release(&h);
		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		what_is_foretold_is_supposed(&h, d, &better);
		hunt_release(&h);
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
