/* check_store.c - a store returns everything that was put into it, and a run that was interrupted can go on. */
#include "tests/test.h"
#include "tests/store_fixture.h"
#include "store/sql.h"

static char *folder;
static char path[300];

static struct store *fresh(void)
{
	struct err err = {0};
	struct store *s;

	snprintf(path, sizeof path, "%s/%s.sqlite", folder, test_name);
	s = store_open(path, STORE_CREATE, NULL, &err);
	CHECK_STR(err.text, "");
	return s;
}

static struct store *again(enum store_mode mode)
{
	struct err err = {0};
	struct store *s = store_open(path, mode, NULL, &err);

	CHECK_STR(err.text, "");
	return s;
}

static void facts_are_found_again(void)
{
	struct err err = {0};
	struct made a = {0}, b = {0}, c = {0};
	struct store *s = fresh();
	struct stored_space p;
	struct stored_graph g;

	CHECK_INT(made_facts(s, "one", 50, 8, &a, &err), 0);
	CHECK_INT(store_commit(s, &err), 0);
	store_close(s);
	s = again(STORE_WRITE);
	CHECK_INT(made_facts(s, "one", 50, 8, &b, &err), 0);
	CHECK_INT(made_facts(s, "two", 50, 8, &c, &err), 0);
	CHECK(a.environment == b.environment && a.graph == b.graph && a.space == b.space);
	CHECK(a.environment == c.environment && a.graph != c.graph && a.space != c.space);
	CHECK_INT(store_get_space(s, c.space, &p, &err), 0);
	CHECK(p.n_sites == 50 && p.hash == 77 && p.graph == c.graph && memcmp(p.choices, c.choices, 50) == 0 &&
		memcmp(p.dflt, c.dflt, 50) == 0 && memcmp(p.node, c.node, 200) == 0);
	CHECK_INT(store_get_graph(s, c.graph, &g, &err), 0);
	CHECK(g.bytes.len == 3 && memcmp(g.bytes.data, "two", 3) == 0 && strcmp(g.name, "two") == 0 &&
		g.n_nodes == 150);
	CHECK_STR(err.text, "");
	stored_space_release(&p);
	stored_graph_release(&g);
	CHECK_INT(store_get_graph(s, 99, &g, &err), -1);
	store_close(s);
	made_release(&a);
	made_release(&b);
	made_release(&c);
}

static void the_newest_region_counts(void)
{
	struct err err = {0};
	struct store *s = fresh();
	struct made m;
	struct region_cost a = {1e-6, 1e-8, 2e-6, 3e-6, OUTCOME_OK, COST_MEASURED, 20, {0, 0, 0}}, b = a, c;
	uint64_t key[2] = {UINT64_MAX, 5}, other[2] = {UINT64_MAX, 6};

	CHECK_INT(made_facts(s, "g", 4, 2, &m, &err), 0);
	CHECK_INT(store_region_get(s, m.environment, key, &c, &err), 0);
	CHECK_INT(store_region_put(s, m.environment, key, &a, &err), 0);
	b.delta = 5e-6;
	CHECK_INT(store_region_put(s, m.environment, key, &b, &err), 0);
	CHECK_INT(store_region_get(s, m.environment, key, &c, &err), 1);
	CHECK(memcmp(&b, &c, sizeof b) == 0 || (c.delta == 5e-6 && c.pairs == 20 && c.seconds_b == 3e-6));
	CHECK_INT(store_region_get(s, m.environment, other, &c, &err), 0);
	a.outcome = OUTCOME_CRASHED;
	a.delta = a.se = (double)NAN;
	CHECK_INT(store_region_put(s, m.environment, other, &a, &err), 0);
	CHECK_INT(store_region_get(s, m.environment, other, &c, &err), 1);
	CHECK(c.outcome == OUTCOME_CRASHED && isnan(c.delta));
	CHECK(c.effort.deadline == 0 && c.effort.load == 0 && c.effort.memory == 0);
	/* A failure has its effort, and does not hide what was measured before it. */
	a.effort = (struct effort){60, 1.5, 1 << 20};
	CHECK_INT(store_region_put(s, m.environment, other, &a, &err), 0);
	CHECK_INT(store_region_get(s, m.environment, other, &c, &err), 1);
	CHECK(c.effort.deadline == 60 && c.effort.load == 1.5 && c.effort.memory == 1 << 20);
	CHECK_INT(store_region_put(s, m.environment, key, &a, &err), 0);
	CHECK_INT(store_region_get(s, m.environment, key, &c, &err), 1);
	CHECK(c.outcome == OUTCOME_OK && c.delta == 5e-6);
	CHECK_STR(err.text, "");
	store_close(s);
	made_release(&m);
}

/* Prices, label scales and bests are kept by environment, so no two quantities can meet there. */
static void quantities_are_environments(void)
{
	struct err err = {0};
	struct store *s = fresh();
	struct made m, other;
	struct environment e = {"a machine", "toy", "formula", "1", "", COST_MODELLED, NULL, NULL, QUANTITY_BYTES};
	uint64_t key[2] = {1, 2};
	struct region_cost c = {4096, 0, 8192, 12288, OUTCOME_OK, COST_MODELLED, 1, {0, 0, 0}};
	struct run *run;
	struct run_info *v;
	size_t n = 0;

	CHECK_INT(made_facts(s, "g", 8, 2, &m, &err), 0);
	other = m;
	CHECK_INT(store_environment(s, &e, &other.environment, &err), 0);
	CHECK(other.environment != m.environment);
	CHECK_INT(store_region_put(s, other.environment, key, &c, &err), 0);
	CHECK_INT(store_region_get(s, m.environment, key, &c, &err), 0);
	run = made_run(s, &m, 1, 3, &err);
	run_free(run);
	run = made_run(s, &other, 1, 3, &err);
	run_free(run);
	CHECK_INT(store_runs(s, &v, &n, &err), 0);
	CHECK(n == 2 && v[0].quantity == QUANTITY_SECONDS && v[1].quantity == QUANTITY_BYTES);
	run_infos_free(v, n);
	/* A quantity of a newer program is not taken for one of ours. */
	CHECK_INT(sql_exec(s, "UPDATE environment SET quantity = 'joules' WHERE quantity = 'bytes'", &err), 0);
	CHECK_INT(store_runs(s, &v, &n, &err), -1);
	CHECK(strstr(err.text, "\"joules\", which this program does not know") != NULL);
	store_close(s);
	made_release(&m);
}

/* Any mixture of steps over any spaces is read back as it was written. */
struct written { /* a step as it must be read back */
	bool is_trial;
	struct sample sample;
	struct trial trial;
	struct flip flip[6];
	uint8_t config[64];
	uint64_t hash;
};

static bool same_choice(const struct choice_cost *a, const struct choice_cost *b)
{
	if (a->outcome != OUTCOME_OK)
		return a->outcome == b->outcome;
	return b->outcome == OUTCOME_OK && (float)a->delta == (float)b->delta && a->bound == b->bound &&
		fabs(a->se - b->se) <= a->se * 0.004;
}

static bool same_step(const struct written *w, const struct step *t)
{
	if (w->is_trial != t->is_trial || t->hash != w->hash || memcmp(t->config, w->config, t->n_sites) != 0)
		return false;
	if (!w->is_trial) {
		bool same = w->sample.chain == t->chain && w->sample.site == t->sample.site &&
			w->sample.chosen == t->sample.chosen && w->sample.n_choices == t->sample.n_choices &&
			w->sample.kind == t->sample.kind;
		for (int i = 0; i < w->sample.n_choices; i++)
			same = same && same_choice(&w->sample.choice[i], &t->sample.choice[i]);
		return same;
	}
	if (w->trial.n_flips != t->trial.n_flips || w->trial.taken != t->trial.taken ||
		w->trial.outcome != t->trial.outcome || w->trial.bound != t->trial.bound)
		return false;
	for (uint32_t i = 0; i < w->trial.n_flips; i++)
		if (w->flip[i].site != t->trial.flip[i].site || w->flip[i].choice != t->trial.flip[i].choice)
			return false;
	return w->trial.outcome != OUTCOME_OK || (w->trial.delta == t->trial.delta && w->trial.se == t->trial.se);
}

static void random_trial(struct rng *r, const struct made *m, struct written *w)
{
	struct trial *t = &w->trial;

	w->is_trial = true;
	t->delta = 1e-6 * rng_normal(r);
	t->se = 1e-9;
	t->bound = rng_below(r, 10) == 0;
	t->outcome = rng_below(r, 5) ? OUTCOME_OK : OUTCOME_TIMEOUT;
	t->bound = t->bound && t->outcome == OUTCOME_OK;
	t->taken = t->outcome == OUTCOME_OK && rng_below(r, 2);
	for (uint32_t site = 0; site < m->n_sites && t->n_flips < 6; site++)
		if (rng_below(r, 10) == 0)
			w->flip[t->n_flips++] = (struct flip){site, (uint8_t)rng_below(r, m->choices[site])};
	t->flip = w->flip;
}

/* Makes one random action: mostly a step, sometimes a keyframe, a jump, or a fact that goes with a step. */
static int random_action(struct run *run, const struct made *m, struct rng *r, struct written *w, bool *stepped,
	struct err *err)
{
	uint32_t chain = (uint32_t)rng_below(r, 3), what = (uint32_t)rng_below(r, 20);
	uint8_t jump[64];
	struct failure f = {OUTCOME_CRASHED, 11, "stack\nof woes", {1, 2}};
	float raw[4] = {1e-6f, 2e-6f, 1e-6f, (float)rng_unit(r)};
	struct measurement q = {.key = {3, 4}, .pairs = 2, .raw = raw, .n_raw = sizeof raw, .se = (double)NAN};
	struct anchor a = {.chain = chain, .default_seconds = 1e-3, .whole = 1e-6, .running = 2e-6};

	*stepped = false;
	if (what == 0)
		return run_keyframe(run, chain, 1, err);
	if (what == 1) {
		for (uint32_t i = 0; i < m[chain].n_sites; i++)
			jump[i] = (uint8_t)rng_below(r, m[chain].choices[i]);
		return run_jump(run, chain, 1, jump, err);
	}
	if (what == 2)
		return run_failed(run, &f, err) < 0 || run_measured(run, &q, err) < 0 || run_anchor(run, &a, err) < 0
			? -1 : 0;
	memset(w, 0, sizeof *w);
	*stepped = true;
	memcpy(w->config, run_config(run, chain, &w->hash), m[chain].n_sites);
	if (what < 7) {
		random_trial(r, &m[chain], w);
		w->trial.chain = chain;
		return run_trial(run, &w->trial, r, sizeof *r, err);
	}
	w->sample = made_sample(r, &m[chain], chain, true);
	return run_sample(run, &w->sample, r, sizeof *r, err);
}

static void check_replay(struct store *s, int64_t run, uint32_t from, const struct written *w, uint32_t n)
{
	struct err err = {0};
	struct replay *p = replay_open_at(s, run, from, &err);
	struct step t;
	uint32_t i = from;

	while (CHECK(p != NULL) && replay_next(p, &t, &err) == 1) {
		if (!CHECK_INT(t.step, i) || !CHECK(same_step(&w[i], &t)))
			break;
		i++;
	}
	CHECK_INT(i, n);
	CHECK_STR(err.text, "");
	replay_close(p);
}

#define STEPS 600

static void replay_equals_what_was_appended(void)
{
	struct written *w = MEM_NEW(STEPS, struct written);

	for (uint64_t seed = 1; seed <= 3 && !test_failed; seed++) {
		struct err err = {0};
		struct made m[3];
		struct run_spec spec;
		struct run *run;
		struct rng r;
		uint32_t chain, n = 0;
		int64_t id;
		bool stepped;
		struct store *s;

		remove(path);
		s = fresh();
		rng_seed(&r, seed);
		CHECK_INT(made_facts(s, "a", 64, 8, &m[0], &err), 0);
		CHECK_INT(made_facts(s, "b", 1, 2, &m[1], &err), 0);
		CHECK_INT(made_facts(s, "c", 30, 2, &m[2], &err), 0);
		spec = made_spec(&m[0], seed);
		CHECK_INT(run_begin(s, &spec, &run, &err), 0);
		for (int c = 0; c < 3; c++) {
			struct chain_spec cs = {.space = m[c].space, .start = "default", .config = m[c].dflt};
			CHECK_INT(run_chain(run, &cs, &chain, &err), 0);
		}
		while (n < STEPS && CHECK_INT(random_action(run, m, &r, &w[n], &stepped, &err), 0)) {
			w[n].trial.flip = w[n].flip;
			n += stepped;
		}
		CHECK_INT(sql_int(s, &err, &id, "SELECT id FROM run WHERE uuid = ?", "t", run_uuid(run)), 1);
		CHECK_INT(run_end(run, RUN_FINISHED, "{}", &err), 0);
		CHECK_STR(err.text, "");
		run_free(run);
		store_close(s);
		s = again(STORE_READ);
		check_replay(s, id, 0, w, n);
		check_replay(s, id, 1, w, n);
		check_replay(s, id, n / 2, w, n);
		check_replay(s, id, n - 1, w, n);
		store_close(s);
		for (int c = 0; c < 3; c++)
			made_release(&m[c]);
	}
	mem_free(w);
}

static void a_broken_run_goes_on(void)
{
	struct err err = {0};
	struct store *s = fresh();
	struct made m;
	struct run *run;
	struct run_spec spec;
	struct run_info *v;
	struct sample x;
	struct rng r;
	uint8_t before[40];
	char other[37];
	uint64_t hash, hash2;
	size_t n;

	CHECK_INT(made_facts(s, "g", 40, 3, &m, &err), 0);
	spec = made_spec(&m, 9);
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 0);
	run = made_run(s, &m, 9, 101, &err);
	memcpy(before, run_config(run, 0, &hash), 40);
	/* In flight, and lost: */
	struct failure f = {OUTCOME_OOM, 0, "lost", {0, 0}};
	CHECK_INT(run_failed(run, &f, &err), 0);
	run_free(run);
	store_close(s);

	s = again(STORE_WRITE);
	spec.seed = 10;
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 0);
	spec.seed = 9;
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 1);
	CHECK_INT(run_steps(run), 101);
	CHECK_INT(run_chain_steps(run, 0), 101);
	CHECK(memcmp(run_config(run, 0, &hash2), before, 40) == 0 && hash == hash2);
	CHECK(run_state(run, &n) && n == sizeof r);
	memcpy(&r, run_state(run, &n), sizeof r);
	x = made_sample(&r, &m, 0, false);
	CHECK_INT(run_sample(run, &x, &r, sizeof r, &err), 0);
	CHECK_INT(run_end(run, RUN_STOPPED, NULL, &err), 0);
	run_free(run);
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 1);
	CHECK_INT(run_end(run, RUN_FINISHED, NULL, &err), 0);
	run_free(run);
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 0);
	CHECK_INT(store_runs(s, &v, &n, &err), 0);
	CHECK(n == 1 && v[0].steps == 102 && v[0].state == RUN_FINISHED && v[0].cost_kind == COST_MODELLED);
	CHECK_STR(err.text, "");
	run_infos_free(v, n);
	store_close(s);
	made_release(&m);
}

/* Another version of the program may find other sites in the same graph, or other choices at the same sites. */
static void a_run_on_other_decisions_is_passed_over(void)
{
	struct err err = {0};
	struct store *s = fresh();
	struct made m, fewer;
	struct run_spec spec;
	struct run *old = made_facts(s, "g", 40, 3, &m, &err) == 0 ? made_run(s, &m, 9, 7, &err) : NULL, *run = NULL;
	char other[37], uuid[37];

	CHECK(old != NULL);
	memcpy(uuid, run_uuid(old), sizeof uuid);
	run_free(old);
	CHECK_INT(made_facts(s, "g", 40, 2, &fewer, &err), 0);
	CHECK(fewer.graph == m.graph && fewer.space != m.space);
	spec = made_spec(&fewer, 9);
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 0);
	CHECK_STR(other, uuid);
	run = made_run(s, &fewer, 9, 3, &err);
	run_free(run);
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 1);
	CHECK_INT(run_steps(run), 3);
	run_free(run);
	/* A return to the first decisions finds the first run again. */
	spec = made_spec(&m, 9);
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 1);
	CHECK_STR(run_uuid(run), uuid);
	CHECK_INT(run_steps(run), 7);
	run_free(run);
	spec.n_spaces = 0;
	CHECK_INT(run_resume(s, &spec, &run, other, &err), 0);
	CHECK_STR(err.text, "");
	store_close(s);
	made_release(&m);
	made_release(&fewer);
}

static void a_run_without_a_step_was_never_there(void)
{
	struct err err = {0};
	struct store *s = fresh();
	struct made m;
	struct run *run;
	struct run_info *v;
	size_t n;

	CHECK_INT(made_facts(s, "g", 40, 3, &m, &err), 0);
	CHECK_INT(store_commit(s, &err), 0);
	run = made_run(s, &m, 9, 0, &err);
	run_free(run);
	store_close(s);
	s = again(STORE_READ);
	CHECK_INT(store_runs(s, &v, &n, &err), 0);
	CHECK_INT(n, 0);
	run_infos_free(v, n);
	store_close(s);
	made_release(&m);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Reads the derived sigma. Returns 1: it is there; 0: there are no samples, or it was not rebuilt since; -1: error. */
static int sigma_of(struct store *s, int64_t space, int64_t environment, double *sigma, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT sigma FROM sigma WHERE space = ? AND environment = ?", "ii", space,
		environment);
	int rc = q ? sql_step(s, q, err) : -1;

	if (rc == 1) {
		*sigma = sqlite3_column_double(q, 0);
		sql_done(q);
	}
	return rc;
}

static void sigma_and_best_are_what_they_say(void)
{
	enum { N = 501 };
	struct err err = {0};
	struct store *s = fresh();
	struct made m;
	struct run *run;
	struct rng r;
	double adv[N], sum = 0, best = 0, sigma = 0;
	uint8_t config[20];

	CHECK_INT(made_facts(s, "g", 20, 2, &m, &err), 0);
	run = made_run(s, &m, 4, N, &err);
	memcpy(config, m.dflt, sizeof config);
	rng_seed(&r, 4);
	for (int i = 0; i < N; i++) {
		struct sample x = made_sample(&r, &m, 0, false);

		if (memcmp(config, m.dflt, sizeof config) == 0)
			sum = 0;
		adv[i] = fabs((double)(float)x.choice[1].delta);
		sum += (double)(float)x.choice[x.chosen].delta - (double)(float)x.choice[config[x.site]].delta;
		config[x.site] = x.chosen;
		best = sum < best ? sum : best;
	}
	struct finding f = {.config = config, .how = "final", .delta = -3e-6, .se = 1e-7, .default_seconds = 1e-3};
	CHECK_INT(run_found(run, &f, &err), 0);
	f.delta = -2e-6;
	CHECK_INT(run_found(run, &f, &err), 0);
	CHECK_INT(run_end(run, RUN_FINISHED, NULL, &err), 0);
	run_free(run);
	CHECK_INT(sigma_of(s, m.space, m.environment, &sigma, &err), 0);
	CHECK_INT(store_rebuild(s, &err), 0);
	CHECK_INT(store_rebuild(s, &err), 0);
	qsort(adv, N, sizeof *adv, ascending);
	CHECK_INT(sigma_of(s, m.space, m.environment, &sigma, &err), 1);
	CHECK_NEAR(sigma, adv[N / 2], 0);
	sqlite3_stmt *q = sql_query(s, &err, "SELECT how, delta FROM best ORDER BY how", "");
	CHECK_INT(sql_step(s, q, &err), 1);
	CHECK_STR(sql_text(q, 0), "chain");
	CHECK_NEAR(sql_real(q, 1), best, 1e-15);
	CHECK_INT(sql_step(s, q, &err), 1);
	CHECK_STR(sql_text(q, 0), "final");
	CHECK_NEAR(sql_real(q, 1), -3e-6, 0);
	CHECK_INT(sql_step(s, q, &err), 0);
	CHECK_STR(err.text, "");
	store_close(s);
	made_release(&m);
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	RUN(facts_are_found_again);
	RUN(the_newest_region_counts);
	RUN(quantities_are_environments);
	RUN(replay_equals_what_was_appended);
	RUN(a_broken_run_goes_on);
	RUN(a_run_on_other_decisions_is_passed_over);
	RUN(a_run_without_a_step_was_never_there);
	RUN(sigma_and_best_are_what_they_say);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
