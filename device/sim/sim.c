/*
 * sim.c - a device that is a performance model (roofline.c): no plugin, no noise, no worker.
 *
 * It is for tests, and for people without a plugin. Its costs are labelled "modelled" everywhere. It compiles nothing:
 * a program is priced as it stands, with the fusions that it has, so a handle is only a price. A program that cannot be
 * read is refused; there is no other failure.
 *
 * It has no fusion pass either: the module before the pass is the program itself, and there is none after. Nothing is
 * computed, so comparing two programs compares no elements.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "device/sim/live.h"
#include "device/roofline.h"
#include "device/ops.h"

struct sim {
	struct device d;
	struct roofline model;
	struct roofline_scratch scratch;
	double *seconds;	/* by handle - 1; negative: free */
	uint32_t *unused;	/* handles to use again */
	size_t n, cap, n_unused, unused_cap;
};

static double price_of(const struct device *d, uint32_t handle)
{
	const struct sim *s = (const struct sim *)d;

	if (handle == 0 || handle > s->n || s->seconds[handle - 1] < 0)
		BUG("no program has handle %u", handle);
	return s->seconds[handle - 1];
}

static uint32_t new_handle(struct sim *s, double seconds)
{
	uint32_t handle;

	if (s->n_unused) {
		handle = s->unused[--s->n_unused];
	} else {
		MEM_GROW(&s->seconds, &s->cap, s->n + 1);
		handle = (uint32_t)++s->n;
	}
	s->seconds[handle - 1] = seconds;
	return handle;
}

/* Reads a program; what stops that is why it is refused. */
static bool readable(struct graph *g, const char *format, const void *p, size_t n, enum outcome *outcome,
	char *detail, size_t room)
{
	struct err err = {0};

	if (strcmp(format, "hlo") != 0)
		err_set(&err, "the performance model reads HLO only; lowering %s takes a plugin", format);
	else if (graph_parse(g, p, n, "the program", &err) == 0)
		return true;
	*outcome = OUTCOME_REFUSED;
	snprintf(detail, room, "%.*s", (int)room - 1, err.text);
	return false;
}

static int sim_compile(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err)
{
	struct sim *s = (struct sim *)d;
	struct graph g = {0};
	double start = now_seconds();

	(void)how;
	(void)err;
	if (readable(&g, format, p, n, &out->outcome, out->detail, sizeof out->detail)) {
		double seconds = roofline_seconds(&s->model, &g, &s->scratch);
		out->handle = new_handle(s, seconds);
		memcpy(&out->hash, g.content.byte, sizeof out->hash);
		if (want & WANT_OPTIMISED)
			graph_write(&g, &out->optimised);
		if (want & WANT_MEMORY) {
			out->optimal_seconds = seconds;
			out->temp_bytes = live_bytes(&g);
			out->has_temp = true;
		}
	}
	graph_release(&g);
	out->seconds = now_seconds() - start;
	return 0;
}

static int sim_drop(struct device *d, uint32_t handle, struct err *err)
{
	struct sim *s = (struct sim *)d;

	(void)err;
	price_of(d, handle);
	s->seconds[handle - 1] = -1;
	MEM_GROW(&s->unused, &s->unused_cap, s->n_unused + 1);
	s->unused[s->n_unused++] = handle;
	return 0;
}

static int sim_extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out,
	struct err *err)
{
	struct graph g = {0};

	(void)d;
	(void)err;
	if (readable(&g, format, p, n, &out->outcome, out->detail, sizeof out->detail))
		graph_write(&g, &out->before);
	graph_release(&g);
	return 0;
}

static void add_raw(struct timing *out)
{
	float pair[2] = {(float)out->seconds_a, (float)out->seconds_b};
	buf_add(&out->raw, pair, sizeof pair);
}

static int sim_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	(void)err;
	out->seconds_a = price_of(d, a);
	out->seconds_b = price_of(d, b);
	out->delta = out->seconds_b - out->seconds_a;
	out->ratio = log(out->seconds_b / out->seconds_a);
	out->pairs = out->instances = out->batch = 1;
	if (p->raw)
		add_raw(out);
	return 0;
}

static int sim_run(struct device *d, uint32_t a, const struct precision *p, struct timing *out,
	struct err *err)
{
	return sim_pair(d, a, a, p, out, err);
}

static int sim_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
	struct comparison *out, struct err *err)
{
	(void)o;
	(void)err;
	(void)out;
	price_of(d, a);
	price_of(d, b);
	return 0;
}

static void sim_close(struct device *d)
{
	struct sim *s = (struct sim *)d;

	roofline_scratch_release(&s->scratch);
	mem_free(s->seconds);
	mem_free(s->unused);
	mem_free(s);
}

static const struct device_ops sim_ops = {sim_close, sim_compile, sim_drop, sim_extract, sim_pair, sim_run,
	sim_compare, NULL, NULL, NULL, NULL};

/* The description's content is what makes its figures comparable, so its hash is part of the version. */
static void describe(struct sim *s)
{
	struct device_info *i = &s->d.info;

	i->family = "sim";
	snprintf(i->backend, sizeof i->backend, "%s", i->family);
	snprintf(i->platform, sizeof i->platform, "performance model");
	snprintf(i->version, sizeof i->version, "model 1, description %016llx",
		(unsigned long long)hash64(&s->model, sizeof s->model, 1));
	snprintf(i->machine, sizeof i->machine, "modelled core");
	i->kind = COST_MODELLED;
	i->can_run = true;
	i->core = -1;
}

struct device *sim_open(const struct device_options *o, struct err *err)
{
	struct sim *s;

	if (spread_devices(o->spread) > 1) {
		err_set(err, "sim is a model of one device, and this program is for several: choose another --device");
		return NULL;
	}
	s = MEM_NEW(1, struct sim);
	s->d.ops = &sim_ops;
	s->d.generation = 1;
	s->model = roofline_default;
	if (o->model && roofline_read(&s->model, o->model, err) < 0) {
		sim_close(&s->d);
		return NULL;
	}
	describe(s);
	return &s->d;
}
