/*
 * script_device.h - a device whose answers are scripted, for tests of costs, and a space to try it on.
 */
#ifndef TESTS_SCRIPT_DEVICE_H
#define TESTS_SCRIPT_DEVICE_H

#include "cost/cost.h"
#include "cost/price.h"
#include "device/ops.h"
#include "space/toy/toy.h"
#include "tests/test.h"

/*
 * On this device a module costs what its hash says. It fails at chosen calls, and refuses unknown handles, as a real
 * device does.
 */
#define HANDLES 64
struct script {
	struct device d;
	uint64_t module[HANDLES]; /* by handle; 0: free */
	uint32_t compiles, pairs, live;
	uint32_t fail_compile, fail_pair; /* the n-th from 1; 0: never */
	enum outcome failure;
	bool again;			 /* fail at all later ones as well */
	uint64_t first;			 /* module compiled first since it was last zeroed */
	double se;
	struct precision asked; /* of the last pair */
	const struct buf *always; /* if given, what every program comes to when it is compiled */
};

static inline double hashed_seconds(uint64_t module)
{
	return 1e-6 * (1 + (double)(module >> 40) / (1 << 24));
}

static inline bool fails(const struct script *s, uint32_t at, uint32_t n)
{
	return n && (at == n || (s->again && at > n));
}

static inline void die(struct script *s, enum outcome o, enum outcome *out, char *detail)
{
	*out = o;
	strcpy(detail, "scripted");
	if (o == OUTCOME_CRASHED || o == OUTCOME_TIMEOUT) {
		s->d.generation++;
		memset(s->module, 0, sizeof s->module);
		s->live = 0;
	}
}

static inline int script_compile(struct device *d, enum compile_how how, const char *format, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	struct script *s = (struct script *)d;
	uint32_t h = 1;
	(void)format;
	(void)err;
	CHECK(how != COMPILE_DEFAULT);
	if (fails(s, ++s->compiles, s->fail_compile)) {
		die(s, s->failure, &out->outcome, out->detail);
		return 0;
	}
	while (s->module[h])
		h++;
	s->module[h] = out->hash = hash64(p, n, 0);
	if (!s->first)
		s->first = s->module[h];
	out->handle = h;
	out->optimal_seconds = hashed_seconds(s->module[h]);
	if (s->always && (want & WANT_OPTIMISED))
		buf_add(&out->optimised, s->always->data, s->always->len);
	s->live++;
	return 0;
}

static inline int script_drop(struct device *d, uint32_t handle, struct err *err)
{
	struct script *s = (struct script *)d;
	(void)err;
	CHECK(handle < HANDLES && s->module[handle]);
	s->module[handle] = 0;
	s->live--;
	return 0;
}

static inline int script_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p,
	struct timing *out, struct err *err)
{
	struct script *s = (struct script *)d;
	(void)err;
	CHECK(s->module[a] && s->module[b]);
	s->asked = *p;
	if (fails(s, ++s->pairs, s->fail_pair)) {
		die(s, s->failure, &out->outcome, out->detail);
		return 0;
	}
	out->seconds_a = hashed_seconds(s->module[a]);
	out->seconds_b = hashed_seconds(s->module[b]);
	out->delta = out->seconds_b - out->seconds_a;
	out->delta_se = s->se * (p->target > 0 ? p->target : 0.01);
	out->pairs = 10;
	return 0;
}

static inline int script_run(struct device *d, uint32_t a, const struct precision *p, struct timing *out,
	struct err *err)
{
	(void)p;
	(void)err;
	out->seconds_a = hashed_seconds(((struct script *)d)->module[a]);
	return 0;
}

static struct effort script_now;
static inline void script_effort(const struct device *d, struct effort *out)
{
	(void)d;
	*out = script_now;
}

static const struct device_ops script_ops = {NULL, script_compile, script_drop, NULL, script_pair,
	script_run, NULL, script_effort, NULL, NULL, NULL};

static inline struct script new_script(void)
{
	struct script s = {.d = {.ops = &script_ops, .generation = 1}, .se = 1e-7};
	s.d.info.kind = COST_MEASURED;
	return s;
}

/* A space of fusions over a toy's graph: region and apply are real. */
static struct buf module;
static struct graph graph;
static struct space *space;
static uint8_t dflt[256], flip[256];

/* Opens the space, or ends the program with a sentence; script_close releases it. */
static inline void script_open(void)
{
	struct toy_spec spec = {100, 3, 7};
	struct err err = {0};

	toy_graph(&spec, &module);
	if (graph_parse(&graph, module.data, module.len, "toy", &err) < 0 ||
		!(space = space_open("fusion", "cpu", &graph, NULL, 0, &err)))
		exit(err_exit(&err));
}

static inline void script_close(void)
{
	space_free(space);
	graph_release(&graph);
	buf_release(&module);
}

/* A flip that changes the program, at the k-th site for which that is so. */
static inline void flipped(uint32_t k)
{
	space_default(space, dflt);
	memcpy(flip, dflt, space->n_sites);
	flip[k % space->n_sites] ^= 1;
}

static inline struct cost *script_cost(struct script *s, enum cost_policy policy, struct cost_hooks *h)
{
	struct cost_options o = {.policy = policy, .seed = 5};
	if (h)
		o.hooks = *h;
	return cost_new(space, &s->d, &o, NULL);
}

/* A store in memory. */
struct kept {
	struct prices prices;
	int lookups, inserts, measured, failed, fail_at;
};

static inline int keep_lookup(void *ctx, const uint64_t key[2], struct price *out, struct err *err)
{
	struct kept *k = ctx;
	const struct price *p = prices_get(&k->prices, key);
	CHECK(key[0] < key[1]);
	if (k->fail_at && ++k->lookups >= k->fail_at)
		return err_set(err, "the store is gone");
	if (p)
		*out = *p;
	return p != NULL;
}

static inline int keep_insert(void *ctx, const uint64_t key[2], const struct price *p, struct err *err)
{
	struct kept *k = ctx;
	(void)err;
	k->inserts++;
	prices_put(&k->prices, key, p);
	return 0;
}

static inline int keep_measured(void *ctx, const struct region *r, const struct timing *t, struct err *err)
{
	(void)err;
	CHECK(r && t->outcome == OUTCOME_OK);
	((struct kept *)ctx)->measured++;
	return 0;
}

static inline int keep_failed(void *ctx, enum outcome o, int signal, const char *detail, struct err *err)
{
	(void)signal;
	(void)err;
	CHECK(o != OUTCOME_OK && detail[0]);
	((struct kept *)ctx)->failed++;
	return 0;
}

#endif
