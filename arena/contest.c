/*
 * contest.c - see contest.h. Opening follows search/session.c: the store before the device, so that two programs cannot
 * wait for each other's for ever.
 */
#include "arena/contest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/mem.h"
#include "base/progress.h"
#include "device/machine.h"

/* The precision of a confirmation, as in a search. */
static const struct precision again = {.target = 0.001, .max_seconds = 0.3, .instances = 3, .min_pairs = 12};

#define UNLIMITED 2000 /* prices that proposals reckon with where there is no budget, as a search does */

static void identify(const struct contest *c, struct buf *out)
{
	const struct contest_settings *set = c->set;
	struct json j = {.out = out};
	struct buf text = {0};
	char hex[65];

	digest_hex(&c->lab.subject.graph.content, hex);
	for (uint32_t i = 0; i < c->lab.n_limits; i++) {
		buf_adds(&text, i ? "," : "");
		limit_text(&c->lab.limit[i].limit, &text);
	}
	json_object(&j, NULL);
	json_str(&j, "arena", "1");
	json_str(&j, "graph", hex);
	json_str(&j, "space", c->lab.space->kind);
	json_str(&j, "device", set->device);
	json_str(&j, "objective", quantity_name(c->lab.quantity));
	json_str(&j, "limits", text.len ? text.data : NULL);
	json_int(&j, "seed", set->seed);
	json_end(&j);
	buf_release(&text);
}

static int begin_run(struct contest *c, struct err *err)
{
	struct buf settings = {0};
	struct run_spec spec = {.kind = "search", .policy = c->set->measure == POLICY_WHOLE ? "whole" : "region",
		.seed = (uint64_t)c->set->seed, .environment = c->archive.environment, .spaces = &c->lab.space_id,
		.n_spaces = 1};
	struct chain_spec chain = {.space = c->lab.space_id, .config = c->dflt, .base_seconds = c->default_cost,
		.start = "default"};
	int rc;

	identify(c, &settings);
	spec.settings = settings.data;
	rc = run_begin(c->archive.db, &spec, &c->archive.run, err);
	if (rc == 0)
		rc = run_chain(c->archive.run, &chain, &c->chain, err);
	if (rc == 0)
		rc = run_save(c->archive.run, NULL, 0, err);
	buf_release(&settings);
	return rc;
}

static int open_lab(struct contest *c, struct err *err)
{
	const struct contest_settings *set = c->set;
	struct cost_options co = {.policy = (enum cost_policy)set->measure, .seed = (uint64_t)set->seed,
		.ask_wholes = true};
	struct limit limits[LIMITS_MOST];
	uint32_t n_limits = 0;
	int rc = lab_objective(set->objective, &co.quantity, err);

	for (size_t i = 0; i < set->limits.n && rc == 0; i++)
		rc = limits_read(set->limits.item[i], limits, &n_limits, err);
	if (rc < 0 || lab_open(&c->lab, set->graph, set->space, c->device, &co, &c->archive, err) < 0)
		return -1;
	return lab_limits(&c->lab, limits, n_limits, err);
}

int contest_open(struct contest *c, struct err *err)
{
	const struct contest_settings *set = c->set;
	struct store_options so = {.force = set->force, .wait = set->wait};
	uint32_t n;

	c->archive.raw = set->raw;
	c->device_options = (struct device_options){.backend = set->device, .core = (int)set->core + 1,
		.kind = set->space,
		.seed = 1, .wait = set->wait, .deadline = set->deadline};
	if (lab_place(&c->device_options, set->cores, set->replicas, set->partitions, err) < 0 ||
		(set->db && !(c->archive.db = store_open(set->db, STORE_CREATE, &so, err))))
		return -1;
	c->has_device = strcmp(set->device, "none") != 0;
	if (c->has_device) {
		if (!(c->device = device_open(&c->device_options, err)))
			return -1;
		c->info = *device_info(c->device);
	}
	if (open_lab(c, err) < 0)
		return -1;
	n = c->lab.space->n_sites;
	c->dflt = mem_alloc(n + 1);
	c->best = mem_alloc(n + 1);
	c->told = mem_alloc(n + 1);
	space_default(c->lab.space, c->dflt);
	memcpy(c->best, c->dflt, n);
	rng_seed2(&c->rng, (uint64_t)set->seed, 0x6172656e);
	if (n > 0 && cost_default_seconds(c->lab.cost, &c->default_cost, &c->default_se, err) < 0)
		return -1;
	return c->archive.db ? begin_run(c, err) : 0;
}

static void key_of(const struct contest *c, const uint8_t *config, uint64_t key[2])
{
	key[0] = config_hash(c->lab.space, config);
	key[1] = UINT64_MAX; /* a region has two sides; a configuration has one */
}

bool contest_known(const struct contest *c, const uint8_t *config, struct estimate *cost)
{
	const struct price *p;
	uint64_t key[2];

	*cost = (struct estimate){0};
	if (memcmp(config, c->dflt, c->lab.space->n_sites) == 0)
		return true;
	key_of(c, config, key);
	if (!(p = prices_get(&c->known, key)))
		return false;
	*cost = (struct estimate){p->delta, p->se, 1};
	return true;
}

/* Keeps the cost of `to`: of two that are known, the more precise one. */
static void learn(struct contest *c, const struct contest_ask *ask, struct contest_price *out)
{
	struct price p = {0};
	struct estimate before, base;
	uint64_t key[2];

	out->known = contest_known(c, ask->from, &base) && out->delta.outcome == OUTCOME_OK && !out->delta.gave_up;
	if (!out->known)
		return;
	out->total = (struct estimate){base.value + out->delta.seconds, hypot(base.se, out->delta.se), 1};
	if (contest_known(c, ask->to, &before) && before.se <= out->total.se)
		out->total = before;
	p.delta = out->total.value;
	p.se = out->total.se;
	key_of(c, ask->to, key);
	prices_put(&c->known, key, &p);
	if (out->total.value < c->best_cost.value || memcmp(ask->to, c->best, c->lab.space->n_sites) == 0) {
		memcpy(c->best, ask->to, c->lab.space->n_sites);
		c->best_cost = out->total;
	}
}

struct cost *contest_cost(const struct contest *c, int quantity)
{
	if (!quantity || (int)c->lab.quantity == quantity - 1)
		return c->lab.cost;
	for (uint32_t i = 0; i < c->lab.n_limits; i++)
		if ((int)c->lab.limit[i].limit.quantity == quantity - 1)
			return c->lab.limit[i].cost;
	return NULL;
}

/* Prices a move by whole programs, and tells it like any other. */
static int price_whole(struct cost *cost, const uint8_t *from, const uint8_t *to, struct delta *d, struct err *err)
{
	struct timing t = {0};
	int rc = cost_whole(cost, from, to, NULL, &t, err);

	*d = (struct delta){.outcome = t.outcome, .signal = t.signal, .kind = t.kind, .quantity = cost_quantity(cost),
		.seconds = t.delta, .se = t.delta_se, .gave_up = t.gave_up, .measured = !t.identical,
		.cached = t.identical,
		.inside = t.inside};
	memcpy(d->detail, t.detail, sizeof d->detail);
	timing_release(&t);
	return rc;
}

/* Writes the move as a trial of the run. The chain jumps first if the move begins elsewhere. */
static int record(struct contest *c, const struct contest_ask *ask, const struct delta *d, struct err *err)
{
	struct run *run = c->archive.run;
	uint32_t n = c->lab.space->n_sites, n_flips = 0;
	struct flip *flips;
	struct trial t = {.chain = c->chain, .delta = d->seconds - d->added, .se = d->se, .outcome = d->outcome,
		.kind = d->kind, .bound = d->gave_up};
	int rc = 0;

	if (!run)
		return 0;
	if (memcmp(run_config(run, c->chain, NULL), ask->from, n) != 0)
		rc = run_jump(run, c->chain, 0, ask->from, err);
	flips = mem_alloc(n * sizeof *flips + 1);
	for (uint32_t i = 0; i < n; i++)
		if (ask->from[i] != ask->to[i])
			flips[n_flips++] = (struct flip){i, ask->to[i]};
	t.flip = flips;
	t.n_flips = n_flips;
	if (rc == 0)
		rc = run_trial(run, &t, NULL, 0, err);
	mem_free(flips);
	return rc;
}

bool contest_spent(const struct contest *c)
{
	const struct contest_settings *set = c->set;

	return c->over || (set->budget && c->priced >= (uint64_t)set->budget) ||
		(set->seconds > 0 && c->spent >= set->seconds);
}

/* May it be priced? -1 with the sentence that says why not. */
static int allow(const struct contest *c, const struct contest_ask *ask, struct err *err)
{
	const struct contest_settings *set = c->set;

	if (c->over)
		return err_set(err, "there was a verdict: nothing is priced any more");
	if (set->budget && c->priced >= (uint64_t)set->budget)
		return err_set(err, "the budget of %lld prices is spent", (long long)set->budget);
	if (contest_spent(c))
		return err_set(err, "the budget of %g seconds is spent", set->seconds);
	if (!contest_cost(c, ask->quantity))
		return err_set(err, "nothing is priced in %s here: the "
			"objective is in %s, the limits in what hello says",
			quantity_name((enum quantity)(ask->quantity - 1)), quantity_name(c->lab.quantity));
	return 0;
}

int contest_price(struct contest *c, const struct contest_ask *ask, struct contest_price *out, bool *refused,
	struct err *err)
{
	struct contest_ask a = *ask;
	double started = now_seconds();
	struct cost *cost;
	int rc;

	*out = (struct contest_price){0};
	if (!a.from)
		a.from = c->dflt;
	*refused = allow(c, &a, err) < 0;
	if (*refused)
		return -1;
	cost = contest_cost(c, a.quantity);
	if (a.how == PRICE_WHOLE)
		rc = price_whole(cost, a.from, a.to, &out->delta, err);
	else
		rc = a.how == PRICE_AGAIN ? cost_confirm(cost, a.from, a.to, &again, &out->delta, err)
					  : cost_delta(cost, a.from, a.to, &out->delta, err);
	if (rc < 0)
		return -1;
	out->wall = now_seconds() - started;
	c->priced++;
	c->spent += out->wall;
	c->failed += out->delta.outcome != OUTCOME_OK;
	if (cost != c->lab.cost)
		return 0;
	learn(c, &a, out);
	counsel_told(&c->counsel, a.from, a.to, &out->delta);
	return record(c, &a, &out->delta, err);
}

int contest_advise(struct contest *c, uint8_t *config, struct rng *rng, const char **by, struct err *err)
{
	struct counsel_options o = {c->has_device ? c->info.backend : "formula", c->set->model,
		c->set->budget ? (uint64_t)c->set->budget : UNLIMITED};

	if (c->lab.space->n_sites == 0)
		return err_set(err, "there is nothing to flip: the program has no sites");
	if (!c->counsel.open && counsel_open(&c->counsel, &c->lab, &o, err) < 0)
		return -1;
	*by = counsel_by(&c->counsel);
	if (!counsel_propose(&c->counsel, config, rng, config))
		return err_set(err, "there is nothing left to try from this configuration");
	return 0;
}

static int found(struct contest *c, const struct finding *f, struct err *err)
{
	if (!c->archive.run)
		return 0;
	return run_found(c->archive.run, f, err) < 0 ? -1 : run_save(c->archive.run, NULL, 0, err);
}

int contest_tell(struct contest *c, const uint8_t *config, struct estimate *cost, bool *refused, struct err *err)
{
	*refused = !contest_known(c, config, cost);
	if (*refused)
		return err_set(err, "what this configuration costs is not known: "
			"price it first, or a move to it from a known one");
	memcpy(c->told, config, c->lab.space->n_sites);
	c->has_told = true;
	return found(c, &(struct finding){.chain = c->chain, .config = config, .delta = cost->value, .se = cost->se,
		.default_seconds = c->default_cost, .kind = c->lab.kind, .how = "region"}, err);
}

int contest_verdict(struct contest *c, const uint8_t *config, struct verdict *v, struct err *err)
{
	struct verdict_options o = {NULL, c->set->verdict_seconds, c->spent};

	c->over = true;
	if (c->has_device) {
		c->device_options.core = c->info.core + 1;
		o.device = &c->device_options;
	}
	lab_drop_costs(&c->lab);
	device_close(c->device);
	c->device = NULL;
	if (verdict_reach(v, &c->lab, config, &o, err) < 0)
		return -1;
	if (!v->measured || v->outcome != OUTCOME_OK)
		return 0;
	return found(c, &(struct finding){.chain = c->chain, .config = config,
		.delta = v->tuned_seconds - v->default_seconds,
		.se = (v->high - v->low) / 4 * v->default_seconds, .default_seconds = v->default_seconds,
		.kind = v->kind,
		.how = "final"}, err);
}

int contest_end(struct contest *c, struct err *err)
{
	struct buf summary = {0};
	struct json j = {.out = &summary};
	int rc = 0;

	json_object(&j, NULL);
	json_uint(&j, "priced", c->priced);
	json_uint(&j, "failed", c->failed);
	json_num(&j, "seconds", c->spent);
	json_num(&j, "best", c->best_cost.value);
	json_end(&j);
	if (c->archive.run)
		rc = run_end(c->archive.run, RUN_FINISHED, summary.data, err);
	buf_release(&summary);
	return rc;
}

void contest_close(struct contest *c)
{
	feature_release(&c->scene);
	counsel_release(&c->counsel);
	lab_release(&c->lab);
	run_free(c->archive.run);
	store_close(c->archive.db);
	device_close(c->device);
	prices_release(&c->known);
	mem_free(c->dflt);
	mem_free(c->best);
	mem_free(c->told);
	*c = (struct contest){0};
}
