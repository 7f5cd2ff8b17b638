/*
 * run.c - writes a run.
 *
 * A run in memory (its chains' configurations, the number of the next step) changes only after the commit,
 * so after any failure it still agrees with the file.
 *
 * Failures, measurements and other rows that belong to a step have the key (run, step, n), where n counts
 * within the table. So a row has the same name in every file, and merging is "insert or ignore".
 */
#include "store/run.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/progress.h"
#include "store/blob.h"
#include "store/code.h"
#include "store/replay.h"
#include "store/sql.h"

struct live { /* a chain as it stands now */
	uint32_t n_sites, steps;
	uint8_t *choices, *config;
	uint64_t hash;
	uint32_t keyframe; /* step of the last one */
};

struct run {
	struct store *s;
	int64_t id, stint;
	char uuid[37];
	uint32_t steps, n_chains;
	struct live *chain;
	size_t cap;
	struct buf state, code, pack;
	double every, committed; /* seconds between two commits of steps; when the last one was */
};

static int begin_stint(struct run *r, const struct run_spec *spec, struct err *err)
{
	char host[256] = "";

	if (!spec->host && gethostname(host, sizeof host - 1) < 0)
		strcpy(host, "?");
	if (sql_int(r->s, err, &r->stint, "SELECT count(*) FROM stint WHERE run = ?", "i", r->id) < 0)
		return -1;
	return sql_run(r->s, err, "INSERT INTO stint VALUES (?, ?, ?, ?, ?, ?, NULL, 'running', NULL)", "iiitti", r->id,
		r->stint, (int64_t)r->steps, spec->program ? spec->program : opt_version(),
		spec->host ? spec->host : host, sql_now());
}

static struct run *new_run(struct store *s)
{
	struct run *r = MEM_NEW(1, struct run);

	r->s = s;
	return r;
}

int run_begin(struct store *s, const struct run_spec *spec, struct run **out, struct err *err)
{
	struct run *r = new_run(s);

	if (spec->uuid)
		strncpy(r->uuid, spec->uuid, sizeof r->uuid - 1);
	else
		store_uuid(r->uuid);
	if (sql_write(s, err) < 0 || sql_int(s, err, &r->id, "SELECT coalesce(max(id), 0) + 1 FROM run", "") < 0 ||
		sql_run(s, err, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "itttttii", r->id, r->uuid,
		spec->kind,
			spec->program ? spec->program : opt_version(), spec->settings, spec->policy,
			(int64_t)spec->seed, spec->environment) < 0 ||
		sql_run(s, err, "INSERT INTO resume VALUES (?, NULL)", "i", r->id) < 0 ||
		begin_stint(r, spec, err) < 0) {
		run_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

/* Makes room for a chain's data; its configuration is not set yet. */
static int add_live(struct run *r, int64_t space, struct err *err)
{
	struct stored_space p;
	struct live *c;

	if (r->n_chains == STORE_CHAINS)
		return err_set(err, "a run has %d chains at most", STORE_CHAINS);
	if (store_get_space(r->s, space, &p, err) < 0)
		return -1;
	MEM_GROW(&r->chain, &r->cap, (size_t)r->n_chains + 1);
	c = &r->chain[r->n_chains++];
	*c = (struct live){.n_sites = p.n_sites, .choices = p.choices,
		.config = mem_zalloc(p.n_sites, 1)};
	p.choices = NULL;
	stored_space_release(&p);
	return 0;
}

static int resume_chains(struct run *r, struct err *err)
{
	sqlite3_stmt *q;
	int64_t space;
	int rc;

	while ((rc = sql_int(r->s, err, &space, "SELECT space FROM chain WHERE run = ? AND number = ?", "ii", r->id,
			(int64_t)r->n_chains)) == 1)
		if (add_live(r, space, err) < 0)
			return -1;
	if (rc < 0)
		return -1;
	q = sql_query(r->s, err, "SELECT chain, count(*) FROM (SELECT chain FROM sample WHERE id >= ?1 AND id < ?2"
		" UNION ALL SELECT chain FROM trial WHERE id >= ?1 AND id < ?2) GROUP BY chain", "ii", RUN_BASE(r->id),
		RUN_BASE(r->id + 1));
	if (!q)
		return -1;
	while ((rc = sql_step(r->s, q, err)) == 1) {
		int64_t c = sqlite3_column_int64(q, 0);
		if (c >= 0 && c < (int64_t)r->n_chains)
			r->chain[c].steps = (uint32_t)sqlite3_column_int64(q, 1);
	}
	return rc;
}

/* Brings the chains to where they stood, from their last keyframes on. */
static int resume_configs(struct run *r, struct err *err)
{
	struct replay *p = replay_open_at(r->s, r->id, r->steps, err);
	struct step t;
	int rc;

	if (!p)
		return -1;
	while ((rc = replay_next(p, &t, err)) == 1)
		;
	for (uint32_t c = 0; rc == 0 && c < r->n_chains; c++) {
		const uint8_t *config = replay_config(p, c, &r->chain[c].hash);

		if (!config)
			rc = err_set(err, "%s: chain %u of run %s has no configuration", r->s->path, c, r->uuid);
		else
			memcpy(r->chain[c].config, config, r->chain[c].n_sites);
		r->chain[c].keyframe = UINT32_MAX;
	}
	replay_close(p);
	return rc;
}

static int count_steps(struct run *r, struct err *err)
{
	int64_t steps;

	if (sql_int(r->s, err, &steps, "SELECT 1 + max(coalesce((SELECT "
		"max(id) FROM sample WHERE id >= ?1 AND id < ?2),"
		" ?1 - 1), coalesce((SELECT max(id) FROM trial WHERE id >= ?1 AND id < ?2), ?1 - 1)) - ?1", "ii",
		RUN_BASE(r->id), RUN_BASE(r->id + 1)) < 0)
		return -1;
	r->steps = (uint32_t)steps;
	return 0;
}

/* Do the run's chains walk the expected spaces? 1 yes, 0 no, -1 error. */
static int same_spaces(struct store *s, int64_t run, const struct run_spec *spec, struct err *err)
{
	int64_t n, space;

	if (sql_int(s, err, &n, "SELECT count(*) FROM chain WHERE run = ?", "i", run) < 0)
		return -1;
	for (uint32_t c = 0; n == spec->n_spaces && c < spec->n_spaces; c++) {
		int rc = sql_int(s, err, &space, "SELECT space FROM chain WHERE run = ? AND number = ?", "ii", run,
			(int64_t)c);

		if (rc < 0)
			return -1;
		if (rc == 0 || space != spec->spaces[c])
			return 0;
	}
	return n == spec->n_spaces;
}

/* Finds the run to go on with: 1 with its id and uuid, 0 none, -1. The newest run with other spaces goes to `other`. */
static int find_unfinished(struct run *r, const struct run_spec *spec, char other[37], struct err *err)
{
	int64_t below = INT64_MAX;
	int rc = 0;

	other[0] = 0;
	while (rc == 0) {
		sqlite3_stmt *q = sql_query(r->s, err, "SELECT r.id, r.uuid, "
			"u.state FROM run r JOIN resume u ON u.run = r.id WHERE r.kind = ? AND r.settings = ? AND "
			"r.policy = ? AND r.seed = ? AND r.environment = ? AND r.id < ?"
			" ORDER BY r.id DESC LIMIT 1", "tttiii", spec->kind, spec->settings, spec->policy,
			(int64_t)spec->seed, spec->environment, below);

		if (!q || (rc = sql_step(r->s, q, err)) <= 0)
			return q ? rc : -1;
		r->id = below = sqlite3_column_int64(q, 0);
		snprintf(r->uuid, sizeof r->uuid, "%s", sql_text(q, 1));
		buf_reset(&r->state);
		buf_add(&r->state, sqlite3_column_blob(q, 2), (size_t)sqlite3_column_bytes(q, 2));
		sql_done(q);
		rc = same_spaces(r->s, r->id, spec, err);
		if (rc == 0 && !other[0])
			memcpy(other, r->uuid, sizeof r->uuid);
	}
	return rc;
}

int run_resume(struct store *s, const struct run_spec *spec, struct run **out, char other[37], struct err *err)
{
	struct run *r = new_run(s);
	int rc = find_unfinished(r, spec, other, err);

	if (rc <= 0) {
		run_free(r);
		return rc;
	}
	if (count_steps(r, err) < 0 || resume_chains(r, err) < 0 || resume_configs(r, err) < 0 ||
		sql_write(s, err) < 0 || begin_stint(r, spec, err) < 0) {
		run_free(r);
		return -1;
	}
	*out = r;
	return 1;
}

int run_end(struct run *r, enum run_state state, const char *summary_json, struct err *err)
{
	BUG_ON(state == RUN_RUNNING);
	if (sql_write(r->s, err) < 0 ||
		sql_run(r->s, err, "UPDATE stint SET ended = ?, state = ?, summary = ? WHERE run = ? AND n = ?",
		"ittii",
			sql_now(), run_state_name(state), summary_json, r->id, r->stint) < 0)
		return -1;
	if (state != RUN_STOPPED && sql_run(r->s, err, "DELETE FROM resume WHERE run = ?", "i", r->id) < 0)
		return -1;
	return store_commit(r->s, err);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_chains; i++) {
		mem_free(r->chain[i].choices);
		mem_free(r->chain[i].config);
	}
	mem_free(r->chain);
	buf_release(&r->state);
	buf_release(&r->code);
	buf_release(&r->pack);
	mem_free(r);
}

const char *run_uuid(const struct run *r)
{
	return r->uuid;
}

uint32_t run_steps(const struct run *r)
{
	return r->steps;
}

const void *run_state(const struct run *r, size_t *n)
{
	*n = r->state.len;
	return r->state.data;
}

static struct live *live_of(const struct run *r, uint32_t chain)
{
	BUG_ON(chain >= r->n_chains);
	return &r->chain[chain];
}

uint32_t run_chain_steps(const struct run *r, uint32_t chain)
{
	return live_of(r, chain)->steps;
}

const uint8_t *run_config(const struct run *r, uint32_t chain, uint64_t *hash)
{
	const struct live *c = live_of(r, chain);

	if (hash)
		*hash = c->hash;
	return c->config;
}

static int put_keyframe(struct run *r, uint32_t chain, uint32_t sweep, bool jump, struct err *err)
{
	struct live *c = live_of(r, chain);

	buf_reset(&r->pack);
	io_pack(c->config, c->n_sites, 0, &r->pack);
	if (sql_write(r->s, err) < 0 ||
		sql_run(r->s, err, "INSERT INTO keyframe VALUES (?1, ?2, "
		"(SELECT coalesce(max(n) + 1, 0) FROM keyframe WHERE"
			" run = ?1 AND step = ?2), ?3, ?4, ?5, ?6, ?7)", "iiiiiib", r->id, (int64_t)r->steps,
			(int64_t)chain, (int64_t)sweep, (int64_t)jump, (int64_t)c->hash, r->pack.data, r->pack.len) < 0)
		return -1;
	c->keyframe = r->steps;
	return 0;
}

static void set_config(struct live *c, const uint8_t *config)
{
	for (uint32_t i = 0; i < c->n_sites; i++)
		BUG_ON(config[i] >= c->choices[i]);
	if (c->n_sites)
		memmove(c->config, config, c->n_sites);
	c->hash = hash_choices(c->config, c->n_sites);
}

int run_chain(struct run *r, const struct chain_spec *spec, uint32_t *chain, struct err *err)
{
	uint32_t number = r->n_chains;

	if (sql_write(r->s, err) < 0 || add_live(r, spec->space, err) < 0)
		return -1;
	set_config(&r->chain[number], spec->config);
	if (sql_run(r->s, err, "INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)", "iiitdd", r->id, (int64_t)number,
		spec->space,
		    spec->start, spec->tau, spec->base_seconds) < 0)
		return -1;
	*chain = number;
	return put_keyframe(r, number, 0, true, err);
}

int run_keyframe(struct run *r, uint32_t chain, uint32_t sweep, struct err *err)
{
	return live_of(r, chain)->keyframe == r->steps ? 0 : put_keyframe(r, chain, sweep, false, err);
}

int run_jump(struct run *r, uint32_t chain, uint32_t sweep, const uint8_t *config, struct err *err)
{
	set_config(live_of(r, chain), config);
	return put_keyframe(r, chain, sweep, true, err);
}

static int put_state(struct run *r, const void *state, size_t n, struct err *err)
{
	if (sql_write(r->s, err) < 0)
		return -1;
	return sql_run(r->s, err, "UPDATE resume SET state = ? WHERE run = ?", "bi", state ? state : "", n, r->id);
}

int run_save(struct run *r, const void *state, size_t n, struct err *err)
{
	return put_state(r, state, n, err) < 0 ? -1 : store_commit(r->s, err);
}

void run_relax(struct run *r, double seconds)
{
	r->every = seconds;
}

/* Writes the state after the step, and commits, unless that was done just now. */
static int finish_step(struct run *r, uint32_t chain, const void *state, size_t n, struct err *err)
{
	double now = r->every > 0 ? now_seconds() : 0;

	if (put_state(r, state, n, err) < 0 || (now - r->committed >= r->every && store_commit(r->s, err) < 0))
		return -1;
	if (now - r->committed >= r->every)
		r->committed = now;
	r->steps++;
	r->chain[chain].steps++;
	return 0;
}

static int check_room(const struct run *r, struct err *err)
{
	return r->steps < UINT32_MAX - 1 ? 0 : err_set(err, "a run has 2^32 steps at most: start another");
}

int run_sample(struct run *r, const struct sample *x, const void *state, size_t n_state, struct err *err)
{
	struct live *c = live_of(r, x->chain);
	uint64_t hash;

	BUG_ON(x->site >= c->n_sites || x->n_choices != c->choices[x->site] || x->chosen >= x->n_choices);
	BUG_ON(x->n_choices > STORE_CHOICES);
	for (int i = 0; i < x->n_choices; i++)
		BUG_ON(x->choice[i].outcome == OUTCOME_OK && isnan(x->choice[i].delta));
	hash = hash_change(c->hash, x->site, c->config[x->site], x->chosen);
	buf_reset(&r->code);
	code_costs(x, hash, &r->code);
	if (check_room(r, err) < 0 || sql_write(r->s, err) < 0 ||
		sql_run(r->s, err, "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?)", "iiiiiib",
		RUN_BASE(r->id) + r->steps,
			(int64_t)x->chain, (int64_t)x->site, (int64_t)x->chosen, (int64_t)x->kind,
			(int64_t)code_outcome(x), r->code.data, r->code.len) < 0 ||
		finish_step(r, x->chain, state, n_state, err) < 0)
		return -1;
	c->config[x->site] = x->chosen;
	c->hash = hash;
	return 0;
}

static uint64_t hash_of_trial(const struct live *c, const struct trial *t)
{
	uint64_t h = c->hash;

	for (uint32_t i = 0; i < t->n_flips; i++) {
		const struct flip *f = &t->flip[i];

		BUG_ON(f->site >= c->n_sites || f->choice >= c->choices[f->site]);
		BUG_ON(i && f->site <= f[-1].site);
		if (t->taken)
			h = hash_change(h, f->site, c->config[f->site], f->choice);
	}
	return h;
}

/* The error with a minus sign if the cost is only a bound; even 0 then needs its sign. */
static double signed_se(const struct trial *t)
{
	return !t->bound ? t->se : t->se > 0 ? -t->se : -DBL_MIN;
}

int run_trial(struct run *r, const struct trial *t, const void *state, size_t n_state, struct err *err)
{
	struct live *c = live_of(r, t->chain);
	uint64_t hash = hash_of_trial(c, t);
	bool ok = t->outcome == OUTCOME_OK;
	double nothing = (double)NAN; /* stored as null */

	buf_reset(&r->code);
	code_flips(t->flip, t->n_flips, hash, &r->code);
	if (check_room(r, err) < 0 || sql_write(r->s, err) < 0 ||
		sql_run(r->s, err, "INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "iibddiii",
			RUN_BASE(r->id) + r->steps, (int64_t)t->chain, r->code.data, r->code.len,
			ok ? t->delta : nothing, ok ? signed_se(t) : nothing, (int64_t)t->taken, (int64_t)t->kind,
			(int64_t)t->outcome) < 0 ||
		finish_step(r, t->chain, state, n_state, err) < 0)
		return -1;
	for (uint32_t i = 0; t->taken && i < t->n_flips; i++)
		c->config[t->flip[i].site] = t->flip[i].choice;
	c->hash = hash;
	return 0;
}

int run_anchor(struct run *r, const struct anchor *a, struct err *err)
{
	if (sql_write(r->s, err) < 0)
		return -1;
	return sql_run(r->s, err, "INSERT INTO anchor VALUES (?1, ?2, (SELECT coalesce(max(n) + 1, 0) FROM anchor WHERE"
		" run = ?1 AND step = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)", "iiiidddddiii", r->id,
		(int64_t)r->steps, (int64_t)a->chain, (int64_t)a->sweep, a->default_seconds, a->whole, a->whole_se,
		a->running, a->running_se, (int64_t)a->reanchored, (int64_t)a->kind, (int64_t)a->outcome);
}

int run_measured(struct run *r, const struct measurement *m, struct err *err)
{
	int64_t raw = 0;

	if (sql_write(r->s, err) < 0 || (m->raw && blob_put(r->s, m->raw, m->n_raw, 0, &raw, err) < 0))
		return -1;
	return sql_run(r->s, err, "INSERT INTO measurement VALUES (?1, ?2, "
		"(SELECT coalesce(max(n) + 1, 0) FROM measurement WHERE run = ?1 AND step = ?2), ?3, ?4, ?5, ?6, ?7, "
		"?8, ?9, ?10, ?11, ?12, nullif(?13, 0))",
		"iiiiddddiiiii", r->id, (int64_t)r->steps, (int64_t)m->key[0], (int64_t)m->key[1], m->seconds_a,
		m->seconds_b, m->delta, m->se, (int64_t)m->pairs, (int64_t)m->instances, (int64_t)m->kind,
		(int64_t)m->outcome, raw);
}

int run_failed(struct run *r, const struct failure *f, struct err *err)
{
	if (sql_write(r->s, err) < 0)
		return -1;
	return sql_run(r->s, err, "INSERT INTO failure VALUES (?1, ?2, "
		"(SELECT coalesce(max(n) + 1, 0) FROM failure WHERE"
		" run = ?1 AND step = ?2), ?3, ?4, ?5, ?6, ?7, ?8)", "iiiiiiit", r->id, (int64_t)r->steps, sql_now(),
		(int64_t)f->key[0], (int64_t)f->key[1], (int64_t)f->outcome, (int64_t)f->signal,
		f->detail ? f->detail : "");
}

int run_found(struct run *r, const struct finding *f, struct err *err)
{
	struct live *c = live_of(r, f->chain);

	buf_reset(&r->pack);
	io_pack(f->config, c->n_sites, 0, &r->pack);
	if (sql_write(r->s, err) < 0)
		return -1;
	return sql_run(r->s, err, "INSERT INTO finding VALUES (?1, ?2, "
		"(SELECT coalesce(max(n) + 1, 0) FROM finding WHERE"
		" run = ?1 AND step = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)", "iiiibddditt", r->id,
		(int64_t)r->steps, (int64_t)f->chain, (int64_t)hash_choices(f->config, c->n_sites), r->pack.data,
		r->pack.len, f->delta, f->se, f->default_seconds, (int64_t)f->kind, f->how, f->details);
}
