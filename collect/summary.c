/*
 * summary.c - writes what the night brought: one line for people, the same as JSON for programs and the store.
 *
 * Shares and rates are of the sampling alone. Opening (compiling every program, learning the noise) is given
 * as a time of its own, because it comes once a night, however long the night is.
 */
#include "base/json.h"
#include "collect/plan_own.h"

static void add(struct cost_totals *sum, const struct cost_totals *t, int sign)
{
	uint64_t s = sign < 0 ? UINT64_MAX : 1; /* modulo 2^64 */

	sum->deltas += s * t->deltas;
	sum->regions += s * t->regions;
	sum->cached += s * t->cached;
	sum->measured += s * t->measured;
	sum->wall += sign * t->wall;
	sum->inside += sign * t->inside;
	for (int o = 0; o < OUTCOME_COUNT; o++)
		sum->failed[o] += s * t->failed[o];
}

void worker_count(const struct worker *w, uint32_t n_programs, struct cost_totals *sum)
{
	*sum = (struct cost_totals){0};
	for (uint32_t i = 0; i < n_programs; i++)
		add(sum, cost_totals(w->lab[i].cost), 1);
}

void plan_totals(const struct plan *p, struct cost_totals *sum)
{
	*sum = (struct cost_totals){0};
	for (uint32_t w = 0; w < p->n_workers; w++) {
		add(sum, &p->worker[w].totals, 1);
		add(sum, &p->worker[w].opening, -1);
	}
}

struct summary {
	struct cost_totals t;
	uint64_t failed[OUTCOME_COUNT]; /* opening included */
	uint64_t samples;
	double wall, rate, cached, device;
	double noise, gain; /* shares of the default: the largest noise, the best seen */
	const char *name;   /* the program of the best; NULL: none was below its default */
};

/* Is the best known? Sums of measured steps drift, so without anchors they say nothing about it. */
static bool knows_best(const struct plan *p)
{
	return p->set->anchors || !p->worker->device;
}

static void best_of(const struct plan *p, struct summary *s)
{
	for (uint32_t k = 0; k < plan_n_chains(p); k++) {
		const struct chain *c = &p->chain[k];
		double gain = c->at.known && c->at.default_seconds > 0 ? -c->at.best / c->at.default_seconds : 0;
		double noise = c->at.default_seconds > 0 ? c->at.noise / c->at.default_seconds : 0;
		s->noise = noise > s->noise ? noise : s->noise;
		if (gain <= s->gain || !knows_best(p))
			continue;
		s->gain = gain;
		s->name = c->lab->subject.name;
	}
}

static struct summary sum_up(const struct plan *p)
{
	struct summary s = {.samples = p->steps - p->before, .wall = now_seconds() - p->running};

	plan_totals(p, &s.t);
	for (uint32_t w = 0; w < p->n_workers; w++)
		for (int o = 0; o < OUTCOME_COUNT; o++)
			s.failed[o] += p->worker[w].totals.failed[o];
	if (s.wall > 0) {
		s.rate = (double)s.samples / s.wall;
		s.device = s.t.inside / s.wall / p->n_workers;
	}
	s.cached = s.t.regions ? (double)s.t.cached / (double)s.t.regions : 0;
	best_of(p, &s);
	return s;
}

/* What went into a program in this stint, and its samples of the whole run. */
static void write_program(const struct plan *p, uint32_t i, struct json *j)
{
	const struct chain *c = plan_chains_of(p, i);
	uint64_t samples = 0, regions = 0, cached = 0;
	double seconds = 0;

	for (uint32_t k = 0; k < p->n_chains; k++) {
		samples += c[k].at.steps;
		seconds += c[k].spent;
	}
	for (uint32_t w = 0; w < p->n_workers; w++) {
		const struct lab *l = p->worker[w].lab ? &p->worker[w].lab[i] : NULL;
		const struct cost_totals *t = l && l->cost ? cost_totals(l->cost) : NULL;
		regions += t ? t->regions : 0;
		cached += t ? t->cached : 0;
	}
	json_object(j, NULL);
	json_str(j, "name", p->worker[0].lab[i].subject.name);
	json_uint(j, "samples_of_run", samples);
	json_num(j, "seconds", seconds);
	json_num(j, "opening_seconds", p->opening[i]);
	json_uint(j, "regions", regions); /* opening included */
	json_uint(j, "cached", cached);
	json_end(j);
}

static void write_json(const struct plan *p, const struct summary *s, struct buf *out)
{
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_str(&j, "run", run_uuid(p->archive.run));
	json_bool(&j, "resumed", p->resumed);
	json_uint(&j, "samples", s->samples);
	json_uint(&j, "samples_of_run", p->steps);
	json_num(&j, "seconds", s->wall);
	json_num(&j, "opening_seconds", p->running - p->started);
	json_num(&j, "samples_per_second", s->rate);
	json_uint(&j, "regions", s->t.regions);
	json_num(&j, "cached_share", s->cached);
	json_num(&j, "device_share", s->device);
	json_bool(&j, "nothing_left", plan_used_up(p));
	json_num(&j, "noise_share_of_default", s->noise);
	json_num(&j, "best_gain", s->gain);
	json_str(&j, "best_graph", s->name);
	json_array(&j, "programs");
	for (uint32_t i = 0; i < p->n_programs; i++)
		write_program(p, i, &j);
	json_end(&j);
	json_object(&j, "failures");
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (s->failed[o])
			json_uint(&j, outcome_name((enum outcome)o), s->failed[o]);
	json_end(&j);
	json_end(&j);
}

static void write_line(const struct plan *p, const struct summary *s, struct buf *out)
{
	buf_addf(out, "%llu samples (%llu in run %.8s%s), %.1f/s, %.0f%% "
		"of regions cached, %.0f%% of time in the device",
		(unsigned long long)s->samples, (unsigned long long)p->steps, run_uuid(p->archive.run),
		p->resumed ? ", resumed" : "", s->rate, 100 * s->cached, 100 * s->device);
	if (p->set->seconds > 0 && p->running - p->started > p->set->seconds / 2)
		buf_addf(out, ", opening and probing took %.3g of the %.3g s", p->running - p->started,
			p->set->seconds);
	if (plan_used_up(p))
		buf_adds(out, ", ended since nothing is left to measure");
	if (s->noise > 0)
		buf_addf(out, ", noise %.3f%% of the default", 100 * s->noise);
	if (s->name)
		buf_addf(out, ", best seen %.2f%% below the default (%s)", 100 * s->gain, s->name);
	else if (knows_best(p))
		buf_adds(out, ", none seen below the default");
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (s->failed[o])
			buf_addf(out, ", %llu %s", (unsigned long long)s->failed[o], outcome_name((enum outcome)o));
	buf_addch(out, '\n');
}

int plan_finish(struct plan *p, struct buf *summary, struct err *err)
{
	struct summary s = sum_up(p);
	struct buf json = {0};
	int rc;

	write_json(p, &s, &json);
	if (p->set->json)
		buf_addf(summary, "%s\n", json.data);
	else
		write_line(p, &s, summary);
	rc = run_end(p->archive.run, RUN_STOPPED, json.data, err);
	buf_release(&json);
	return rc;
}
