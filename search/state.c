/*
 * state.c - saves a search as bytes, to go on from after a kill.
 *
 * A search that goes on takes exactly the steps that it would have taken, if the device measures the same. So
 * everything that decides a later step is saved, also the random generator and what the guide knows. Only the
 * model's predictions are made anew; they are the same to 1e-6.
 *
 * A search without limits saves nothing about them, so states from before there were limits can still be read. So can
 * those from before a state began with LATER and ended with what save_later writes. What they lack, a search finds out
 * anew: it may try again what was refused, and goes back further where the whole program refutes it.
 *
 * The fields of each struct are listed once and expanded both ways (base/buf.h). What is read is checked
 * against the program: a state of another one, or a damaged one, is refused.
 */
#include <string.h>
#include "search/hunt.h"
#include "search/trust.h"

#define LATER UINT64_MAX /* where older states have the number of evaluations */
#define REFUSED_SAVED 1000 /* the last ones: with a store, a state is written for each evaluation */

#define POINT(F) F(u64, evaluation) F(f64, seconds) F(f64, best) F(f64, se)
#define STEP(F) F(u64, evaluation) F(u32, site) F(u32, n_flips) F(u8, from) F(u8, to) F(f64, delta) F(f64, se)
#define CHECK(F) \
	F(u64, evaluation) F(f64, seconds) F(f64, believed) F(f64, whole) F(f64, se) F(f64, parts) F(f64, part) \
		F(u32, drifted)
#define HUNT(F) \
	F(u64, evaluations) F(u64, idle) F(u64, known) F(u64, cached) F(u64, measured) F(u64, kept) F(u64, refuted) \
		F(u64, drifts) \
	F(u64, checked) F(u64, checked_kept) F(f64, checking) F(f64, before) F(f64, default_seconds) \
	F(f64, default_se) F(f64, running.value) F(f64, running.se) F(u64, rng.s[0]) F(u64, rng.s[1]) F(u64, rng.s[2]) \
	F(u64, rng.s[3]) F(u64, hash) F(u32, sweep_pos) F(u32, sweep_kept) F(f64, sure_cost.value) \
		F(f64, sure_cost.se) \
	F(u32, sure_steps) F(f64, part.value) F(f64, part.se) F(f64, parts)

#define LIMIT(F) F(f64, base) F(f64, own) F(f64, running.value) F(f64, running.se) F(f64, sure.value) F(f64, sure.se)

static void save_limits(const struct hunt *h, struct buf *out)
{
	for (uint32_t i = 0; i < h->n_limits; i++) {
		const struct hunt_limit *at = &h->limit[i];
		LIMIT(FIELD_SAVE)
	}
	if (h->n_limits)
		buf_u64(out, h->beyond);
}

static void load_limits(struct hunt *h, struct cursor *in)
{
	for (uint32_t i = 0; i < h->n_limits; i++) {
		struct hunt_limit *at = &h->limit[i];
		LIMIT(FIELD_LOAD)
	}
	if (h->n_limits)
		h->beyond = cursor_u64(in);
}

static void save_hunt(const struct hunt *at, struct buf *out)
{
	HUNT(FIELD_SAVE)
	for (int i = 0; i < OUTCOME_COUNT; i++)
		buf_u64(out, at->failed[i]);
}

static void load_hunt(struct hunt *at, struct cursor *in)
{
	HUNT(FIELD_LOAD)
	for (int i = 0; i < OUTCOME_COUNT; i++)
		at->failed[i] = cursor_u64(in);
}

/* A list of the hunt, its length first. */
#define LIST(list, type, FIELDS) \
	static void save_##list(const struct hunt *h, struct buf *out) \
	{ \
		buf_u32(out, (uint32_t)h->n_##list); \
		for (size_t i = 0; i < h->n_##list; i++) { \
			const struct type *at = &h->list[i]; \
			FIELDS(FIELD_SAVE) \
		} \
	} \
	static void load_##list(struct hunt *h, struct cursor *in) \
	{ \
		uint32_t n = cursor_count(in, 0 FIELDS(FIELD_SIZE)); \
		MEM_GROW(&h->list, &h->cap_##list, n); \
		h->n_##list = n; \
		for (uint32_t i = 0; i < n; i++) { \
			struct type *at = &h->list[i]; \
			FIELDS(FIELD_LOAD) \
		} \
	}
LIST(curve, hunt_point, POINT)
LIST(check, hunt_check, CHECK)
LIST(steps, hunt_step, STEP)

static void load_lists(struct hunt *h, struct cursor *in)
{
	load_curve(h, in);
	load_check(h, in);
	load_steps(h, in);
	for (size_t i = 0; i < h->n_steps; i++)
		in->bad |= h->steps[i].site >= h->s->n_sites;
}

/* A sweep under way has an order of its own. */
static uint32_t n_order(const struct hunt *h)
{
	return h->o.strategy == STRATEGY_SWEEP ? h->s->n_sites : 0;
}

static void load_order(struct hunt *h, struct cursor *in)
{
	in->bad |= h->sweep_pos >= h->s->n_sites * h->s->stride;
	for (uint32_t i = 0; i < n_order(h); i++) {
		h->order[i] = cursor_u32(in);
		in->bad |= h->order[i] >= h->s->n_sites;
	}
}

/* Of kinds that draw schemes. Searches of before these were drawn have another identity (session.c). */
static void save_schemes(const struct hunt *h, struct buf *out)
{
	if (h->s->ops->scheme) {
		buf_u32(out, h->scheme);
		buf_u32(out, h->scheme_kept);
	}
}

static void load_schemes(struct hunt *h, struct cursor *in)
{
	if (h->s->ops->scheme) {
		h->scheme = cursor_u32(in);
		h->scheme_kept = cursor_u32(in);
	}
}

/* Searches of before there were bundles have another identity, too. */
static void save_bundle(const struct hunt *h, struct buf *out)
{
	if (h->o.bundles) {
		buf_u32(out, h->bundle);
		buf_u8(out, h->bundle_kept);
	}
}

static void load_bundle(struct hunt *h, struct cursor *in)
{
	if (h->o.bundles) {
		h->bundle = cursor_u32(in);
		h->bundle_kept = cursor_u8(in);
	}
}

#define MORE(F) F(u64, strayed) F(f64, fresh) F(f64, keeping) F(u32, schemes)

static void save_later(const struct hunt *at, struct buf *out)
{
	uint32_t n = at->n_refused < REFUSED_SAVED ? (uint32_t)at->n_refused : REFUSED_SAVED;

	MORE(FIELD_SAVE)
	buf_u32(out, n);
	for (size_t i = at->n_refused - n; i < at->n_refused; i++)
		buf_u64(out, at->refused[i]);
	hunt_save_trail(at, out);
	trust_save(at, out);
}

static void load_later(struct hunt *at, struct cursor *in)
{
	MORE(FIELD_LOAD)
	at->n_refused = cursor_count(in, FIELD_SIZE_u64);
	MEM_GROW(&at->refused, &at->cap_refused, at->n_refused);
	for (size_t i = 0; i < at->n_refused; i++)
		at->refused[i] = cursor_u64(in);
	hunt_load_trail(at, in);
	trust_load(at, in);
}

void hunt_save(const struct hunt *h, struct buf *out)
{
	struct hunt now = *h;

	now.before = hunt_seconds(h);
	buf_u64(out, LATER);
	save_hunt(&now, out);
	buf_blob(out, h->config, h->s->n_sites);
	buf_blob(out, h->sure, h->s->n_sites);
	save_curve(h, out);
	save_check(h, out);
	save_steps(h, out);
	for (uint32_t i = 0; i < n_order(h); i++)
		buf_u32(out, h->order[i]);
	save_limits(h, out);
	save_schemes(h, out);
	save_bundle(h, out);
	if (h->o.strategy == STRATEGY_BRKGA)
		hunt_breed_save(h, out);
	if (h->guide)
		guide_save(h->guide, out);
	save_later(h, out);
}

int hunt_store(const struct hunt *h, const struct trial *t, struct err *err)
{
	struct archive *a = h->lab->archive;
	struct buf state = {0};
	int rc;

	if (!a || !a->run)
		return 0;
	hunt_save(h, &state);
	archive_lock(a);
	rc = t ? run_trial(a->run, t, state.data, state.len, err) : run_save(a->run, state.data, state.len, err);
	archive_unlock(a);
	buf_release(&state);
	return rc;
}

/* Tells the kind what was taken, as if it had been one move. */
static void retake(struct hunt *h)
{
	uint8_t *dflt = h->s->ops->taken ? mem_alloc(h->s->n_sites) : NULL;

	if (!dflt)
		return;
	space_default(h->s, dflt);
	h->s->ops->taken(h->s, dflt, h->config, false);
	mem_free(dflt);
}

int hunt_load(struct hunt *h, const void *p, size_t n, struct err *err)
{
	struct cursor in = cursor_of(p, n), start = in;
	bool later = cursor_u64(&start) == LATER;
	const uint8_t *config, *sure;
	size_t size, size_sure;

	in = later ? start : in;
	load_hunt(h, &in);
	config = cursor_blob(&in, &size);
	sure = cursor_blob(&in, &size_sure);
	if (in.bad || config_valid(h->s, config, size, err) < 0 || config_valid(h->s, sure, size_sure, err) < 0)
		return err_set(err, "the saved state does not fit this program");
	load_lists(h, &in);
	load_order(h, &in);
	load_limits(h, &in);
	load_schemes(h, &in);
	load_bundle(h, &in);
	if (h->o.strategy == STRATEGY_BRKGA)
		hunt_breed_load(h, &in);
	if (in.bad || h->hash != config_hash(h->s, config) || h->sure_steps > h->n_steps)
		return err_set(err, "the saved state is damaged");
	memcpy(h->config, config, size);
	memcpy(h->candidate, config, size);
	memcpy(h->sure, sure, size);
	retake(h);
	cost_set_part(h->lab->cost, h->part.value);
	if (h->guide) {
		guide_move(h->guide, h->config);
		guide_load(h->guide, &in);
	}
	if (later)
		load_later(h, &in);
	return cursor_done(&in) ? 0 : err_set(err, "the saved state is damaged");
}
