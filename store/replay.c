/*
 * replay.c - reads runs back.
 *
 * Three streams, ordered by step, are merged: keyframes, samples and trials. First come the keyframes up to
 * the next step, then that step. Each chain has its configuration and hash, updated in O(1) per step. We
 * check that step numbers have no gap, that every site and choice exists, and 16 bits of the hash after every
 * step; at every keyframe that is no jump, all 64 bits and every byte. A read that starts in the middle begins
 * at the oldest keyframe that any chain needs, and skips steps of chains that have not met their keyframe yet.
 */
#include "store/replay.h"
#include <string.h>
#include "base/mem.h"
#include "store/code.h"
#include "store/sql.h"

struct walk { /* one chain */
	const struct stored_space *space;
	uint8_t *config;
	uint64_t hash;
	bool live; /* has it met a keyframe? */
};

struct replay {
	struct store *s;
	int64_t run;
	uint32_t from, next;	    /* first step to hand out; next one expected */
	struct stored_space *space; /* distinct ones */
	size_t n_spaces;
	struct walk *chain;
	uint32_t n_chains;
	sqlite3_stmt *keyframe, *sample, *trial;
	int has_keyframe, has_sample, has_trial; /* does the statement stand on a row that is not used yet? */
	struct step last;	 /* the next call applies its draw */
	bool pending;
	struct flip *flip;
	size_t cap_flip;
	struct buf scratch;
};

static int damaged(const struct replay *p, struct err *err, const char *what, int64_t step)
{
	return err_set(err, "%s: run %lld, step %lld: %s: the file is damaged, or the run is not what its hashes say",
		p->s->path, (long long)p->run, (long long)step, what);
}

static int load_spaces(struct replay *p, struct err *err)
{
	int64_t id, last = 0;
	size_t cap = 0;
	int rc;

	while ((rc = sql_int(p->s, err, &id, "SELECT min(space) FROM chain WHERE run = ? AND space > ?", "ii", p->run,
			last)) == 1) {
		MEM_GROW(&p->space, &cap, p->n_spaces + 1);
		if (store_get_space(p->s, id, &p->space[p->n_spaces], err) < 0)
			return -1;
		p->n_spaces++;
		last = id;
	}
	return rc;
}

static const struct stored_space *find_space(const struct replay *p, int64_t id)
{
	for (size_t i = 0; i < p->n_spaces; i++)
		if (p->space[i].id == id)
			return &p->space[i];
	return NULL;
}

static int load_chains(struct replay *p, struct err *err)
{
	sqlite3_stmt *q = sql_query(p->s, err, "SELECT number, space FROM chain WHERE run = ? ORDER BY number", "i",
		p->run);
	size_t cap = 0;
	int rc;

	if (!q)
		return -1;
	while ((rc = sql_step(p->s, q, err)) == 1) {
		const struct stored_space *space = find_space(p, sqlite3_column_int64(q, 1));

		if (sqlite3_column_int64(q, 0) != p->n_chains || !space) {
			sql_done(q);
			return damaged(p, err, "chains are missing", 0);
		}
		MEM_GROW(&p->chain, &cap, (size_t)p->n_chains + 1);
		p->chain[p->n_chains++] = (struct walk){.space = space, .config = mem_alloc(space->n_sites)};
	}
	return rc;
}

/* Finds each chain's last keyframe up to `from`, and returns the oldest of these steps. */
static int first_keyframe(struct replay *p, int64_t *first, struct err *err)
{
	*first = p->from;
	for (uint32_t c = 0; c < p->n_chains && p->from; c++) {
		int64_t step;
		int rc = sql_int(p->s, err, &step, "SELECT step FROM keyframe WHERE run = ? AND chain = ? AND step <= ?"
			" ORDER BY step DESC LIMIT 1", "iii", p->run, (int64_t)c, (int64_t)p->from);

		if (rc < 0)
			return -1;
		if (rc == 1 && step < *first)
			*first = step;
	}
	return 0;
}

static int stream(struct replay *p, const char *sql, int64_t low, sqlite3_stmt **q, struct err *err)
{
	if (sql_prepare(p->s, sql, q, err) < 0)
		return -1;
	sqlite3_bind_int64(*q, 1, low);
	sqlite3_bind_int64(*q, 2, *q == p->keyframe ? p->run : RUN_BASE(p->run + 1));
	return sql_step(p->s, *q, err);
}

static int open_streams(struct replay *p, struct err *err)
{
	int64_t first;

	if (first_keyframe(p, &first, err) < 0)
		return -1;
	p->next = (uint32_t)first;
	p->has_keyframe = stream(p, "SELECT step, chain, jump, hash, config FROM keyframe WHERE step >= ? AND run = ?"
		" ORDER BY step, n", first, &p->keyframe, err);
	p->has_sample = p->has_keyframe < 0 ? -1 : stream(p, "SELECT id, chain, site, chosen, kind, costs FROM sample"
		" WHERE id >= ? AND id < ? ORDER BY id", RUN_BASE(p->run) + first, &p->sample, err);
	p->has_trial = p->has_sample < 0 ? -1
		: stream(p, "SELECT id, chain, flips, delta, se, taken, kind, outcome FROM trial"
		" WHERE id >= ? AND id < ? ORDER BY id", RUN_BASE(p->run) + first, &p->trial, err);
	return p->has_trial < 0 ? -1 : 0;
}

struct replay *replay_open_at(struct store *s, int64_t run, uint32_t step, struct err *err)
{
	struct replay *p = MEM_NEW(1, struct replay);

	p->s = s;
	p->run = run;
	p->from = step;
	if (load_spaces(p, err) == 0 && load_chains(p, err) == 0 && open_streams(p, err) == 0)
		return p;
	replay_close(p);
	return NULL;
}

struct replay *replay_open(struct store *s, int64_t run, struct err *err)
{
	return replay_open_at(s, run, 0, err);
}

void replay_close(struct replay *p)
{
	if (!p)
		return;
	sqlite3_finalize(p->keyframe);
	sqlite3_finalize(p->sample);
	sqlite3_finalize(p->trial);
	for (uint32_t i = 0; i < p->n_chains; i++)
		mem_free(p->chain[i].config);
	for (size_t i = 0; i < p->n_spaces; i++)
		stored_space_release(&p->space[i]);
	mem_free(p->chain);
	mem_free(p->space);
	mem_free(p->flip);
	buf_release(&p->scratch);
	mem_free(p);
}

static void set_choice(struct walk *w, uint32_t site, uint8_t choice)
{
	w->hash = hash_change(w->hash, site, w->config[site], choice);
	w->config[site] = choice;
}

/* The hash the chain will have after the step. */
static uint64_t hash_after(const struct walk *w, const struct step *t)
{
	uint64_t h = w->hash;

	if (!t->is_trial)
		return hash_change(h, t->sample.site, w->config[t->sample.site], t->sample.chosen);
	for (uint32_t i = 0; t->trial.taken && i < t->trial.n_flips; i++)
		h = hash_change(h, t->trial.flip[i].site, w->config[t->trial.flip[i].site], t->trial.flip[i].choice);
	return h;
}

static void apply_pending(struct replay *p)
{
	const struct step *t = &p->last;
	struct walk *w = &p->chain[t->chain];

	if (!p->pending)
		return;
	p->pending = false;
	if (!t->is_trial)
		set_choice(w, t->sample.site, t->sample.chosen);
	for (uint32_t i = 0; t->is_trial && t->trial.taken && i < t->trial.n_flips; i++)
		set_choice(w, t->trial.flip[i].site, t->trial.flip[i].choice);
}

/* Unpacks a keyframe's configuration and checks it against the keyframe's hash. */
static int unpack_config(struct replay *p, const struct walk *w, int64_t step, uint64_t hash, struct err *err)
{
	uint32_t n = w->space->n_sites;
	const uint8_t *config;

	buf_reset(&p->scratch);
	if (sql_unpack(p->s, p->keyframe, 4, n, "a keyframe", &p->scratch, err) < 0)
		return -1;
	config = (const uint8_t *)p->scratch.data;
	for (uint32_t i = 0; i < n; i++)
		if (config[i] >= w->space->choices[i])
			return damaged(p, err, "a keyframe has a choice that does not exist", step);
	if (hash_choices(config, n) != hash)
		return damaged(p, err, "a keyframe does not have its hash", step);
	return 0;
}

static int take_keyframe(struct replay *p, struct err *err)
{
	int64_t step = sqlite3_column_int64(p->keyframe, 0), number = sqlite3_column_int64(p->keyframe, 1);
	bool jump = sqlite3_column_int(p->keyframe, 2);
	uint64_t hash = (uint64_t)sqlite3_column_int64(p->keyframe, 3);
	struct walk *w;

	if (number < 0 || number >= p->n_chains)
		return damaged(p, err, "a keyframe is of a chain that does not exist", step);
	w = &p->chain[number];
	if (unpack_config(p, w, step, hash, err) < 0)
		return -1;
	if (w->live && !jump && (w->hash != hash || memcmp(w->config, p->scratch.data, w->space->n_sites) != 0))
		return damaged(p, err, "the steps before do not lead to the keyframe's configuration", step);
	if (!w->live && !jump && p->from == 0)
		return damaged(p, err, "a chain begins without its first configuration", step);
	if (w->space->n_sites)
		memcpy(w->config, p->scratch.data, w->space->n_sites);
	w->hash = hash;
	w->live = true;
	p->has_keyframe = sql_step(p->s, p->keyframe, err);
	return p->has_keyframe < 0 ? -1 : 0;
}

static int keyframes_until(struct replay *p, uint64_t step, struct err *err)
{
	while (p->has_keyframe && (uint64_t)sqlite3_column_int64(p->keyframe, 0) <= step)
		if (take_keyframe(p, err) < 0)
			return -1;
	return 0;
}

static int read_sample(struct replay *p, const struct walk *w, struct step *t, uint16_t *proof, struct err *err)
{
	int64_t site = sqlite3_column_int64(p->sample, 2), chosen = sqlite3_column_int64(p->sample, 3);
	int64_t kind = sqlite3_column_int64(p->sample, 4);
	const void *costs = sqlite3_column_blob(p->sample, 5);

	if (site < 0 || site >= w->space->n_sites)
		return damaged(p, err, "no such site", t->step);
	if (chosen < 0 || chosen >= w->space->choices[site] || kind < 0 || kind >= COST_KIND_COUNT)
		return damaged(p, err, "no such choice, or no such kind of cost", t->step);
	t->sample.chain = t->chain;
	t->sample.site = (uint32_t)site;
	t->sample.chosen = (uint8_t)chosen;
	t->sample.kind = (enum cost_kind)kind;
	if (decode_costs(costs, (size_t)sqlite3_column_bytes(p->sample, 5), &t->sample, proof) < 0 ||
		t->sample.n_choices != w->space->choices[site])
		return damaged(p, err, "the costs make no sense", t->step);
	return 0;
}

static int read_trial(struct replay *p, const struct walk *w, struct step *t, uint16_t *proof, struct err *err)
{
	int64_t kind = sqlite3_column_int64(p->trial, 6), outcome = sqlite3_column_int64(p->trial, 7);
	const void *flips = sqlite3_column_blob(p->trial, 2);
	struct trial *x = &t->trial;

	if (kind < 0 || kind >= COST_KIND_COUNT || outcome < 0 || outcome >= OUTCOME_COUNT)
		return damaged(p, err, "no such kind of cost or outcome", t->step);
	x->chain = t->chain;
	x->kind = (enum cost_kind)kind;
	x->outcome = (enum outcome)outcome;
	x->delta = sql_real(p->trial, 3);
	x->se = sql_real(p->trial, 4);
	x->bound = x->se < 0;
	if (x->bound)
		x->se = -x->se;
	x->taken = sqlite3_column_int(p->trial, 5);
	if (decode_flips(flips, (size_t)sqlite3_column_bytes(p->trial, 2), w->space->choices, w->space->n_sites,
		    &p->flip, &p->cap_flip, &x->n_flips, proof) < 0)
		return damaged(p, err, "the flips make no sense", t->step);
	x->flip = p->flip;
	return 0;
}

/* Reads the step under the cursors: 1 for the caller, 2 skipped, -1 error. */
static int read_step(struct replay *p, struct step *t, sqlite3_stmt *q, struct err *err)
{
	int64_t number = sqlite3_column_int64(q, 1);
	uint16_t proof;
	struct walk *w;

	if (number < 0 || number >= p->n_chains)
		return damaged(p, err, "no such chain", t->step);
	t->chain = (uint32_t)number;
	w = &p->chain[number];
	if (!w->live && t->step < p->from)
		return 2;
	if (!w->live)
		return damaged(p, err, "its chain has no keyframe yet", t->step);
	if ((t->is_trial ? read_trial(p, w, t, &proof, err) : read_sample(p, w, t, &proof, err)) < 0)
		return -1;
	if ((hash_after(w, t) & 0xffff) != proof)
		return damaged(p, err, "the configuration does not have its hash", t->step);
	t->space = w->space->id;
	t->n_sites = w->space->n_sites;
	t->config = w->config;
	t->hash = w->hash;
	p->last = *t;
	p->pending = true;
	return t->step < p->from ? 2 : 1;
}

static int next_step(struct replay *p, struct step *t, struct err *err)
{
	int64_t a = p->has_sample ? sqlite3_column_int64(p->sample, 0) : INT64_MAX;
	int64_t b = p->has_trial ? sqlite3_column_int64(p->trial, 0) : INT64_MAX;
	sqlite3_stmt *q = a < b ? p->sample : p->trial;
	int *has = a < b ? &p->has_sample : &p->has_trial;
	int rc, more;

	memset(t, 0, sizeof *t);
	apply_pending(p);
	if (!p->has_sample && !p->has_trial)
		return keyframes_until(p, UINT64_MAX, err);
	t->is_trial = q == p->trial;
	t->step = p->next++;
	if (a == b || (a < b ? a : b) != RUN_BASE(p->run) + t->step)
		return damaged(p, err, "a step is missing or doubled", t->step);
	if (keyframes_until(p, t->step, err) < 0 || (rc = read_step(p, t, q, err)) < 0)
		return -1;
	more = sql_step(p->s, q, err);
	if (more < 0)
		return -1;
	*has = more;
	return rc;
}

int replay_next(struct replay *p, struct step *out, struct err *err)
{
	int rc;

	while ((rc = next_step(p, out, err)) == 2)
		;
	return rc;
}

const uint8_t *replay_config(struct replay *p, uint32_t chain, uint64_t *hash)
{
	apply_pending(p);
	if (chain >= p->n_chains || !p->chain[chain].live)
		return NULL;
	if (hash)
		*hash = p->chain[chain].hash;
	return p->chain[chain].config;
}
