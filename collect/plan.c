/*
 * plan.c - opening, sharing out and closing a night's work.
 *
 * Resuming: the settings that decide the course of a run (not its budget) are written as JSON, with
 * the content hash of every program; the store finds the unfinished run with the same text. Its
 * chains come back at the configuration of their last sample, and their states from the blob saved
 * with that sample.
 *
 * Temperature: the first time, a few random flips of each program are priced; the median of their
 * errors is the noise that gibbs_tau is told. It is kept with the chain, so that a resumed night does
 * not sample another distribution.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/re.h"
#include "collect/plan.h"

#define PROBES 12 /* random flips priced to learn the noise */

static const char *const start_name[] = {"default", "random", "mixed"};

static int add_path(struct plan *p, const char *path)
{
	p->path = mem_realloc(p->path, p->n_programs + 1, sizeof *p->path);
	p->path[p->n_programs++] = mem_strdup(path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* --graph in order, then everything in --graphs by name. */
static int find_programs(struct plan *p, struct err *err)
{
	uint32_t named;
	struct dirent *e;
	struct buf path = {0};
	DIR *d;

	for (size_t i = 0; i < p->set->graphs.n; i++)
		add_path(p, p->set->graphs.item[i]);
	named = p->n_programs;
	if (p->set->graph_dir) {
		d = opendir(p->set->graph_dir);
		if (!d)
			return err_errno(err, "cannot read the folder %s", p->set->graph_dir);
		while ((e = readdir(d))) {
			if (e->d_name[0] == '.' || !strstr(e->d_name, ".pb"))
				continue;
			buf_reset(&path);
			buf_addf(&path, "%s/%s", p->set->graph_dir, e->d_name);
			add_path(p, path.data);
		}
		closedir(d);
		buf_release(&path);
		if (p->n_programs > named)
			qsort(p->path + named, p->n_programs - named, sizeof *p->path, by_name);
	}
	if (p->n_programs == 0)
		return err_set(err, "no program to measure: name one with --graph FILE or a folder with --graphs DIR");
	return 0;
}

static int open_worker(struct plan *p, uint32_t w, struct err *err)
{
	const struct settings *set = p->set;
	struct worker *k = &p->worker[w];
	struct device_options o = {.backend = set->device, .wait = set->wait, .seed = (uint64_t)set->seed,
		.core = set->core < 0 ? 0 : (int)set->core + 1 + (int)w};
	struct cost_options co = {.policy = (enum cost_policy)set->measure, .seed = (uint64_t)set->seed + w};

	if (strcmp(set->device, "none") != 0 && !(k->device = device_open(&o, err)))
		return -1;
	if (w == 0 && archive_environment(&p->archive, k->device, err) < 0)
		return -1;
	k->lab = MEM_NEW(p->n_programs, struct lab);
	for (uint32_t i = 0; i < p->n_programs; i++)
		if (lab_open(&k->lab[i], p->path[i], set->space, k->device, &co, &p->archive, err) < 0)
			return err_prefix(err, "%s", p->path[i]);
	return 0;
}

/* What decides the course of the run, in one text. */
static void describe(const struct plan *p, struct buf *out)
{
	const struct settings *set = p->set;
	struct json j = {.out = out};
	char hex[65];

	json_object(&j, NULL);
	json_str(&j, "space", set->space);
	json_str(&j, "start", start_name[set->start]);
	json_num(&j, "tau", set->tau);
	json_int(&j, "chains", p->n_chains);
	json_str(&j, "nodes", set->nodes);
	json_array(&j, "graphs");
	for (uint32_t i = 0; i < p->n_programs; i++) {
		digest_hex(&p->worker[0].lab[i].subject.graph.content, hex);
		json_str(&j, NULL, hex);
	}
	json_end(&j);
	json_end(&j);
}

/* Sites whose instruction name or op_name matches --nodes; all without it. */
static int choose_sites(const struct plan *p, const struct space *s, uint32_t **out, uint32_t *n, struct err *err)
{
	struct re *re = NULL;

	*n = 0;
	*out = mem_alloc((s->n_sites + 1) * sizeof **out);
	if (p->set->nodes && !(re = re_new(p->set->nodes, err)))
		return err_prefix(err, "--nodes");
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const Hlo__HloInstructionProto *in = s->graph->node[s->site[i].node].proto;
		const char *op = in->metadata ? in->metadata->op_name : "";
		if (!re || re_match(re, in->name, strlen(in->name)) || re_match(re, op, strlen(op)))
			(*out)[(*n)++] = i;
	}
	re_free(re);
	return 0;
}

static int init_chains(struct plan *p, struct err *err)
{
	p->chain = MEM_NEW(p->n_programs * p->n_chains, struct chain);
	for (uint32_t i = 0; i < p->n_programs; i++) {
		struct lab *lab = &p->worker[0].lab[i];
		uint32_t *sites = NULL, n;
		int rc = choose_sites(p, lab->space, &sites, &n, err);
		if (rc == 0 && n == 0)
			rc = err_set(err, "%s has no site%s", p->path[i],
				p->set->nodes ? " that --nodes matches" : ": nothing to decide");
		for (uint32_t k = 0; k < p->n_chains && rc == 0; k++)
			chain_init(&p->chain[i * p->n_chains + k], lab, (uint64_t)p->set->seed,
				i * p->n_chains + k, sites, n);
		mem_free(sites);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* The median error of the price of a flip: what tau must be above. */
static int probe_noise(struct plan *p, struct lab *lab, double *noise, struct err *err)
{
	const struct space *s = lab->space;
	uint8_t *a = mem_alloc(s->n_sites), *b = mem_alloc(s->n_sites);
	double se[PROBES];
	size_t n = 0;
	struct rng r;
	int rc = 0;

	rng_seed2(&r, (uint64_t)p->set->seed, 0x70726f6265);
	for (int i = 0; i < PROBES && rc == 0; i++) {
		uint32_t site = (uint32_t)rng_below(&r, s->n_sites);
		struct delta d;
		space_default(s, a);
		space_default(s, b);
		b[site] = (uint8_t)((b[site] + 1) % s->site[site].choices);
		rc = cost_delta(lab->cost, a, b, &d, err);
		if (rc == 0 && d.outcome == OUTCOME_OK)
			se[n++] = d.se;
	}
	*noise = n ? stat_median(se, n) : 0;
	mem_free(a);
	mem_free(b);
	return rc;
}

static bool starts_random(const struct plan *p, uint32_t k)
{
	return p->set->start == START_RANDOM || (p->set->start == START_MIXED && k % 2 == 1);
}

/* A new chain: its start, its temperature, its first keyframe. */
static int begin_chain(struct plan *p, uint32_t k, double noise, double seconds, struct err *err)
{
	struct chain *c = &p->chain[k];
	bool random = starts_random(p, k % p->n_chains);
	struct chain_spec spec = {.space = c->lab->space_id, .start = random ? "random" : "default",
		.config = c->config, .base_seconds = seconds};
	uint32_t number;
	struct rng r;

	rng_seed2(&r, (uint64_t)p->set->seed, 0x7374617274ULL + k);
	if (random)
		space_random(c->lab->space, 0.1 + 0.8 * rng_unit(&r), &r, c->config);
	else
		space_default(c->lab->space, c->config);
	c->at.default_seconds = seconds;
	c->at.tau = p->set->tau > 0 ? p->set->tau : gibbs_tau(noise, seconds);
	spec.tau = c->at.tau;
	if (run_chain(p->archive.run, &spec, &number, err) < 0)
		return -1;
	if (number != c->number)
		BUG("chain %u became number %u", c->number, number);
	chain_order(c);
	return 0;
}

static int begin_run(struct plan *p, const struct run_spec *spec, struct err *err)
{
	if (run_begin(p->archive.db, spec, &p->archive.run, err) < 0)
		return -1;
	for (uint32_t i = 0; i < p->n_programs; i++) {
		struct lab *lab = &p->worker[0].lab[i];
		double noise, seconds, se;
		if (cost_default_seconds(lab->cost, &seconds, &se, err) < 0 || probe_noise(p, lab, &noise, err) < 0)
			return err_prefix(err, "%s", p->path[i]);
		if (seconds > 0 && noise / seconds > p->noise)
			p->noise = noise / seconds;
		for (uint32_t k = 0; k < p->n_chains; k++)
			if (begin_chain(p, i * p->n_chains + k, noise, seconds, err) < 0)
				return -1;
	}
	return 0;
}

static int load_chains(struct plan *p, struct err *err)
{
	size_t n;
	const void *blob = run_state(p->archive.run, &n);
	struct cursor in = cursor_of(blob, n);

	if (run_chains(p->archive.run) != p->n_programs * p->n_chains)
		return err_set(err, "run %s has %u chains and not %u", run_uuid(p->archive.run),
			run_chains(p->archive.run), p->n_programs * p->n_chains);
	for (uint32_t k = 0; k < p->n_programs * p->n_chains; k++) {
		struct chain *c = &p->chain[k];
		uint64_t hash;
		memcpy(c->config, run_config(p->archive.run, k, &hash), c->lab->space->n_sites);
		if (chain_load(c, &in, err) < 0)
			return err_prefix(err, "run %s", run_uuid(p->archive.run));
	}
	return 0;
}

int plan_open(struct plan *p, const struct settings *set, struct err *err)
{
	struct store_options so = {.force = set->force, .wait = set->wait};
	struct run_spec spec = {.kind = "collect", .policy = set->measure == POLICY_WHOLE ? "whole" : "region",
		.seed = (uint64_t)set->seed};
	struct buf text = {0};
	int rc = -1;

	*p = (struct plan){.set = set, .n_workers = (uint32_t)set->workers,
		.n_chains = (uint32_t)(set->chains ? set->chains : set->start == START_MIXED ? 2 : 1)};
	pthread_mutex_init(&p->lock, NULL);
	p->worker = MEM_NEW(p->n_workers, struct worker);
	p->archive.raw = set->raw;
	p->archive.lock = &p->lock;
	if (find_programs(p, err) < 0 || !(p->archive.db = store_open(set->db, STORE_CREATE, &so, err)))
		return -1;
	for (uint32_t w = 0; w < p->n_workers; w++)
		if (open_worker(p, w, err) < 0)
			return -1;
	if (init_chains(p, err) < 0)
		return -1;
	describe(p, &text);
	spec.settings = text.data;
	spec.environment = p->archive.environment;
	rc = set->resume ? run_resume(p->archive.db, &spec, &p->archive.run, err) : 0;
	p->resumed = rc == 1;
	if (rc >= 0)
		rc = rc == 1 ? load_chains(p, err) : begin_run(p, &spec, err);
	if (rc == 0)
		p->steps = p->before = run_steps(p->archive.run);
	buf_release(&text);
	return rc;
}

static uint64_t program_steps(const struct plan *p, uint32_t i)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->n_chains; k++)
		n += p->chain[i * p->n_chains + k].at.steps;
	return n;
}

/* The idle chain with the fewest steps of the program with the fewest; NULL when all are busy. */
static struct chain *next_chain(struct plan *p)
{
	struct chain *best = NULL;
	uint64_t best_program = 0;

	for (uint32_t i = 0; i < p->n_programs; i++) {
		uint64_t steps = program_steps(p, i);
		for (uint32_t k = 0; k < p->n_chains; k++) {
			struct chain *c = &p->chain[i * p->n_chains + k];
			if (c->busy || (best && (steps > best_program ||
						(steps == best_program && c->at.steps >= best->at.steps))))
				continue;
			best = c;
			best_program = steps;
		}
	}
	return best;
}

static void show(struct plan *p)
{
	char detail[120];
	struct cost_totals sum = {0};

	for (uint32_t w = 0; w < p->n_workers; w++)
		for (uint32_t i = 0; i < p->n_programs; i++) {
			sum.regions += cost_totals(p->worker[w].lab[i].cost)->regions;
			sum.cached += cost_totals(p->worker[w].lab[i].cost)->cached;
		}
	snprintf(detail, sizeof detail, "cached %.0f%%",
		sum.regions ? 100.0 * (double)sum.cached / (double)sum.regions : 0.0);
	progress_update(&p->progress, p->steps - p->before, detail);
}

/* Saves a finished step: the store's own copy of the chain moves on with it. Called with the lock. */
static int keep(struct plan *p, const struct sample *x, struct err *err)
{
	struct buf state = {0};
	int rc;

	for (uint32_t k = 0; k < p->n_programs * p->n_chains; k++)
		chain_save(&p->chain[k], &state);
	rc = run_sample(p->archive.run, x, state.data, state.len, err);
	buf_release(&state);
	if (rc == 0)
		p->steps++;
	return rc;
}

/* One turn of a worker with a chain. Takes the lock where it touches the store or the plan. */
static int turn(struct plan *p, struct worker *w, struct chain *c, struct err *err)
{
	struct lab *mine = &w->lab[c->number / p->n_chains];
	struct chain_state before;
	struct sample x;
	struct anchor a;
	bool swept;
	int rc;

	c->lab = mine;
	before = c->at;
	if (chain_step(c, &x, &swept, err) < 0)
		return -1;
	archive_lock(&p->archive);
	rc = before.pos == 0 && before.steps > 0 ? run_keyframe(p->archive.run, c->number, before.sweep, err) : 0;
	if (rc == 0)
		rc = keep(p, &x, err);
	archive_unlock(&p->archive);
	if (rc < 0 || !swept || !p->set->anchors)
		return rc;
	if (chain_anchor(c, &a, err) < 0)
		return -1;
	archive_lock(&p->archive);
	rc = run_anchor(p->archive.run, &a, err);
	archive_unlock(&p->archive);
	return rc;
}

struct job {
	struct plan *p;
	struct worker *w;
	volatile int *interrupted;
};

static bool over(const struct plan *p, volatile int *interrupted)
{
	return *interrupted || p->stop ||
	       (p->set->samples && p->steps - p->before >= (uint64_t)p->set->samples) ||
	       (p->deadline > 0 && now_seconds() > p->deadline);
}

static void *work(void *arg)
{
	struct job *job = arg;
	struct plan *p = job->p;
	struct err err = {0};

	for (;;) {
		struct chain *c;
		int rc;
		archive_lock(&p->archive);
		c = over(p, job->interrupted) ? NULL : next_chain(p);
		if (c)
			c->busy = true;
		archive_unlock(&p->archive);
		if (!c)
			break;
		rc = turn(p, job->w, c, &err);
		archive_lock(&p->archive);
		c->busy = false;
		if (rc < 0 && !p->stop)
			p->err = err;
		p->stop |= rc < 0;
		show(p);
		archive_unlock(&p->archive);
	}
	return NULL;
}

int plan_run(struct plan *p, volatile int *interrupted, struct err *err)
{
	struct job *job = MEM_NEW(p->n_workers, struct job);
	pthread_t *thread = MEM_NEW(p->n_workers, pthread_t);

	p->started = now_seconds();
	p->deadline = p->set->seconds > 0 ? p->started + p->set->seconds : 0;
	progress_start(&p->progress, "collect", (uint64_t)p->set->samples,
		p->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	for (uint32_t w = 0; w < p->n_workers; w++) {
		job[w] = (struct job){p, &p->worker[w], interrupted};
		if (p->n_workers == 1)
			work(&job[w]);
		else if (pthread_create(&thread[w], NULL, work, &job[w]) != 0)
			BUG("cannot start a thread");
	}
	for (uint32_t w = 0; w < p->n_workers && p->n_workers > 1; w++)
		pthread_join(thread[w], NULL);
	progress_end(&p->progress);
	mem_free(job);
	mem_free(thread);
	if (!p->stop)
		return 0;
	*err = p->err;
	return -1;
}

static void total(const struct plan *p, struct cost_totals *sum)
{
	*sum = (struct cost_totals){0};
	for (uint32_t w = 0; w < p->n_workers; w++)
		for (uint32_t i = 0; i < p->n_programs; i++) {
			const struct cost_totals *t = cost_totals(p->worker[w].lab[i].cost);
			sum->deltas += t->deltas;
			sum->regions += t->regions;
			sum->cached += t->cached;
			sum->measured += t->measured;
			sum->wall += t->wall;
			sum->inside += t->inside;
			for (int o = 0; o < OUTCOME_COUNT; o++)
				sum->failed[o] += t->failed[o];
		}
}

static void best_chain(const struct plan *p, double *gain, const char **name)
{
	*gain = 0;
	*name = NULL;
	for (uint32_t k = 0; k < p->n_programs * p->n_chains; k++) {
		const struct chain *c = &p->chain[k];
		double g = c->at.default_seconds > 0 ? -c->best / c->at.default_seconds : 0;
		if (starts_random(p, k % p->n_chains) || g <= *gain)
			continue;
		*gain = g;
		*name = c->lab->subject.name;
	}
}

static void summary_json(const struct plan *p, struct buf *out)
{
	double wall = now_seconds() - p->started, gain;
	struct cost_totals t;
	struct json j = {.out = out};
	const char *name;

	total(p, &t);
	best_chain(p, &gain, &name);
	json_object(&j, NULL);
	json_str(&j, "run", run_uuid(p->archive.run));
	json_bool(&j, "resumed", p->resumed);
	json_uint(&j, "samples", p->steps - p->before);
	json_uint(&j, "samples_of_run", p->steps);
	json_num(&j, "seconds", wall);
	json_num(&j, "samples_per_second", wall > 0 ? (double)(p->steps - p->before) / wall : 0);
	json_num(&j, "cached_share", t.regions ? (double)t.cached / (double)t.regions : 0);
	json_num(&j, "device_share", wall > 0 ? t.inside / wall / p->n_workers : 0);
	json_num(&j, "noise_share_of_default", p->noise);
	json_num(&j, "best_gain", gain);
	json_str(&j, "best_graph", name);
	json_object(&j, "failures");
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (t.failed[o])
			json_uint(&j, outcome_name((enum outcome)o), t.failed[o]);
	json_end(&j);
	json_end(&j);
}

static void summary_line(const struct plan *p, struct buf *out)
{
	double wall = now_seconds() - p->started, gain;
	struct cost_totals t;
	const char *name;
	uint64_t n = p->steps - p->before;

	total(p, &t);
	best_chain(p, &gain, &name);
	buf_addf(out, "%llu samples (%llu in run %.8s%s), %.1f/s, %.0f%% of regions cached, %.0f%% of time in the device",
		(unsigned long long)n, (unsigned long long)p->steps, run_uuid(p->archive.run),
		p->resumed ? ", resumed" : "", wall > 0 ? (double)n / wall : 0,
		t.regions ? 100.0 * (double)t.cached / (double)t.regions : 0,
		wall > 0 ? 100 * t.inside / wall / p->n_workers : 0);
	if (p->noise > 0)
		buf_addf(out, ", noise %.3f%% of the default", 100 * p->noise);
	if (name)
		buf_addf(out, ", best seen %.2f%% below the default (%s)", 100 * gain, name);
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (t.failed[o])
			buf_addf(out, ", %llu %s", (unsigned long long)t.failed[o], outcome_name((enum outcome)o));
	buf_addch(out, '\n');
}

int plan_finish(struct plan *p, struct buf *summary, struct err *err)
{
	struct buf json = {0};
	int rc;

	summary_json(p, &json);
	if (p->set->json)
		buf_addf(summary, "%s\n", json.data);
	else
		summary_line(p, summary);
	rc = run_end(p->archive.run, RUN_STOPPED, json.data, err);
	buf_release(&json);
	return rc;
}

void plan_close(struct plan *p)
{
	for (uint32_t k = 0; p->chain && k < p->n_programs * p->n_chains; k++)
		chain_release(&p->chain[k]);
	for (uint32_t w = 0; p->worker && w < p->n_workers; w++) {
		for (uint32_t i = 0; p->worker[w].lab && i < p->n_programs; i++)
			lab_release(&p->worker[w].lab[i]);
		mem_free(p->worker[w].lab);
		device_close(p->worker[w].device);
	}
	run_free(p->archive.run);
	store_close(p->archive.db);
	for (uint32_t i = 0; i < p->n_programs; i++)
		mem_free(p->path[i]);
	mem_free(p->path);
	mem_free(p->chain);
	mem_free(p->worker);
	pthread_mutex_destroy(&p->lock);
}
