/*
 * begin.c - starts a run, or finds the one to go on with.
 *
 * Resuming: the settings that decide the course of a run (not its budget) are written as JSON, with the
 * content hash of every program. The store finds the unfinished run with the same text and the same spaces.
 * Its chains go on from the configuration of their last sample, with the state that was saved beside it. A
 * version of vantage with another form of state (CHAIN_FORMAT) starts a run of its own. So does one that sees
 * other decisions in the same programs, and says so.
 *
 * Temperature: when a run begins, a few random flips of each program are priced. The median of their errors
 * is the noise that gibbs_tau gets. It is kept with the chain, so that a resumed night samples the same
 * distribution.
 *
 * A random start is measured whole at once, because nothing else tells its cost relative to the default. If it
 * does not run, every move from it would fail too, and the chain would never leave it. So another start is
 * drawn, closer to the plain program each time.
 *
 * A new run is committed once all its chains have begun, so that what opening measured is kept even if the
 * budget ends before the first sample.
 */
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "base/stop.h"
#include "collect/plan_own.h"

#define PROBES 12 /* random flips priced to learn the noise */
#define STARTS 8  /* random starts tried before the chain starts plain */
#define RELAXED 1 /* seconds between two commits, if all prices are exact */

static const char *const start_name[] = {"default", "random", "mixed"};

/* Writes what decides the course of the run as one text. */
static void describe(const struct plan *p, struct buf *out)
{
	const struct settings *set = p->set;
	struct json j = {.out = out};
	char hex[65];

	json_object(&j, NULL);
	json_int(&j, "format", CHAIN_FORMAT);
	json_str(&j, "space", set->space);
	json_str(&j, "start", start_name[set->start]);
	json_num(&j, "tau", set->tau);
	json_int(&j, "chains", p->n_chains);
	json_bool(&j, "anchors", set->anchors);
	json_str(&j, "nodes", set->nodes);
	json_array(&j, "graphs");
	for (uint32_t i = 0; i < p->n_programs; i++) {
		digest_hex(&p->worker[0].lab[i].subject.graph.content, hex);
		json_str(&j, NULL, hex);
	}
	json_end(&j);
	json_end(&j);
}

/* Finds the median error of the price of a flip, by which tau is chosen. */
static int probe_noise(const struct plan *p, const struct chain *c, double *noise, struct err *err)
{
	const struct space *s = c->lab->space;
	uint8_t *a = mem_alloc(s->n_sites), *b = mem_alloc(s->n_sites);
	double se[PROBES];
	size_t n = 0;
	struct rng r;
	int rc = 0;

	rng_seed2(&r, (uint64_t)p->set->seed, 0x70726f6265);
	space_default(s, a);
	for (int i = 0; i < PROBES && rc == 0; i++) {
		uint32_t site = c->visited[rng_below(&r, c->n_sites)];
		struct delta d;
		if (stop_asked()) {
			rc = err_set(err, "told to stop before the first sample");
			break;
		}
		memcpy(b, a, s->n_sites);
		b[site] = (uint8_t)((b[site] + 1) % s->site[site].choices);
		rc = cost_delta(c->lab->cost, a, b, &d, err);
		if (rc == 0 && d.outcome == OUTCOME_OK)
			se[n++] = d.se;
	}
	*noise = n ? stat_median(se, n) : 0;
	mem_free(a);
	mem_free(b);
	return rc;
}

/* Draws a random start that runs, and finds what it costs; `a` is the measurement. */
static int draw_start(const struct plan *p, struct chain *c, struct anchor *a, struct err *err)
{
	struct space *s = c->lab->space;
	double density;
	bool cut; /* nothing is here: the plan has not begun */
	struct rng r;

	rng_seed2(&r, (uint64_t)p->set->seed, 0x7374617274ULL + c->number);
	density = 0.1 + 0.8 * rng_unit(&r);
	for (int i = 0; i < STARTS; i++, density /= 2) {
		space_random(s, density, &r, c->config);
		if (!p->set->anchors)
			return 0;
		if (stop_asked())
			return err_set(err, "told to stop before the first sample");
		if (chain_anchor(c, &c->at, a, &cut, err) < 0)
			return -1;
		if (a->outcome == OUTCOME_OK)
			return 0;
	}
	memset(c->config, 0, s->n_sites);
	return chain_anchor(c, &c->at, a, &cut, err);
}

/* Begins a new chain: its start, its temperature, its first keyframe. */
static int begin_chain(struct plan *p, struct chain *c, double noise, double seconds, struct err *err)
{
	struct run *run = p->archive.run;
	struct chain_spec spec = {.space = c->lab->space_id, .start = c->random ? "random" : "default",
		.config = c->config, .base_seconds = seconds};
	struct anchor a = {0};
	uint32_t number;

	c->at = (struct chain_state){.default_seconds = seconds, .noise = noise, .known = !c->random,
		.tau = p->set->tau > 0 ? p->set->tau : gibbs_tau(noise, seconds)};
	space_default(c->lab->space, c->config);
	if (c->random && draw_start(p, c, &a, err) < 0)
		return -1;
	spec.tau = c->at.tau;
	if (run_chain(run, &spec, &number, err) < 0)
		return -1;
	if (number != c->number)
		BUG("chain %u became number %u", c->number, number);
	chain_order(c);
	return c->random && p->set->anchors ? run_anchor(run, &a, err) : 0;
}

static int begin_program(struct plan *p, uint32_t i, struct err *err)
{
	struct chain *c = plan_chains_of(p, i);
	double noise, seconds, start = now_seconds();

	if (cost_default_seconds(c->lab->cost, &seconds, NULL, err) < 0 || probe_noise(p, c, &noise, err) < 0)
		return -1;
	for (uint32_t k = 0; k < p->n_chains; k++)
		if (begin_chain(p, &c[k], noise, seconds, err) < 0)
			return -1;
	p->opening[i] += now_seconds() - start;
	progress_update(&p->progress, i + 1, NULL);
	return 0;
}

void plan_state(const struct plan *p, const struct chain *moving, const struct chain_state *at, struct buf *out)
{
	for (uint32_t k = 0; k < plan_n_chains(p); k++)
		chain_save(&p->chain[k] == moving ? at : &p->chain[k].at, out);
}

static int begin_run(struct plan *p, const struct run_spec *spec, struct err *err)
{
	struct buf state = {0};
	int rc;

	if (run_begin(p->archive.db, spec, &p->archive.run, err) < 0)
		return -1;
	for (uint32_t i = 0; i < p->n_programs; i++)
		if (begin_program(p, i, err) < 0)
			return err_prefix(err, "%s", p->path[i]);
	plan_state(p, NULL, NULL, &state);
	rc = run_save(p->archive.run, state.data, state.len, err);
	buf_release(&state);
	return rc;
}

static int load_chains(struct plan *p, struct err *err)
{
	struct run *run = p->archive.run;
	size_t n;
	const void *blob = run_state(run, &n);
	struct cursor in = cursor_of(blob, n);

	for (uint32_t k = 0; k < plan_n_chains(p); k++) {
		struct chain *c = &p->chain[k];
		memcpy(c->config, run_config(run, k, NULL), c->lab->space->n_sites);
		if (chain_load(c, &in, err) < 0)
			return err_prefix(err, "run %s", run_uuid(run));
		if (c->at.steps != run_chain_steps(run, k))
			return err_set(err, "run %s: chain %u has %u samples but a state after %u", run_uuid(run), k,
				run_chain_steps(run, k), c->at.steps);
	}
	return cursor_done(&in) ? 0 : err_set(err, "run %s: the saved state is too long", run_uuid(run));
}

int plan_begin(struct plan *p, struct err *err)
{
	struct run_spec spec = {.kind = "collect", .policy = p->set->measure == POLICY_WHOLE ? "whole" : "region",
		.seed = (uint64_t)p->set->seed, .environment = p->archive.environment};
	int64_t *spaces = MEM_NEW(plan_n_chains(p), int64_t);
	struct buf text = {0};
	char other[37];
	bool exact = true;
	int rc = 0;

	for (uint32_t k = 0; k < plan_n_chains(p); k++)
		spaces[k] = p->chain[k].lab->space_id;
	spec.spaces = spaces;
	spec.n_spaces = plan_n_chains(p);
	for (uint32_t k = 0; k < plan_n_chains(p); k++)
		p->chain[k].random = p->set->start == START_RANDOM ||
			(p->set->start == START_MIXED && k % p->n_chains % 2 == 1);
	describe(p, &text);
	spec.settings = text.data;
	if (p->set->resume)
		rc = run_resume(p->archive.db, &spec, &p->archive.run, other, err);
	p->resumed = rc == 1;
	if (rc == 0 && p->set->resume && other[0])
		fprintf(stderr, "collect: run %s made other decisions in the same "
			"programs, or started from another default; a new run begins\n", other);
	if (rc >= 0)
		rc = rc == 1 ? load_chains(p, err) : begin_run(p, &spec, err);
	if (rc == 0)
		p->steps = p->before = run_steps(p->archive.run);
	for (uint32_t k = 0; k < plan_n_chains(p); k++)
		exact &= cost_exact(p->chain[k].lab->cost);
	if (rc == 0 && exact)
		run_relax(p->archive.run, RELAXED);
	buf_release(&text);
	mem_free(spaces);
	return rc;
}
