/*
 * device.c - one door for all kinds of device.
 *
 * It opens the device that the backend's row names, and passes calls on through its ops table. What is the same for
 * every kind of device is done here: emptying results, refusing handles that died with an earlier worker, and not
 * running two programs that the compiler made the same.
 */
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "device/backend.h"
#include "device/given.h"
#include "device/machine.h"
#include "device/ops.h"
#include "device/prior.h"

/* Which code opens the devices of a backend. */
static const struct {
	const char *backend;
	struct device *(*open)(const struct device_options *o, struct err *err);
} openers[] = {
#define BACKEND(opener, name, ...) {name, opener##_open},
#include "schemas/backend.def"
#undef BACKEND
};

static struct device *open_backend(const struct backend *b, const struct device_options *o, struct err *err)
{
	size_t i = 0;

	while (strcmp(openers[i].backend, b->name) != 0)
		i++;
	return openers[i].open(o, err);
}

struct device *device_open(const struct device_options *o, struct err *err)
{
	static const struct device_options dflt;
	const struct backend *b;
	struct device *d;
	if (!o)
		o = &dflt;
	b = backend_find(o->backend, err);
	d = b ? open_backend(b, o, err) : NULL;
	if (d && o->jobs && d->info.can_run) {
		d->pool = pool_open(o, d->core, d->n_cores, d->alone);
		d->info.helpers = pool_helpers(d->pool);
	}
	return d;
}

void device_close(struct device *d)
{
	if (!d)
		return;
	pool_close(d->pool);
	d->ops->close(d);
}

void device_keep_cores(const struct device *d)
{
	cores_keep(d->core, d->n_cores);
}

const struct device_info *device_info(const struct device *d)
{
	return &d->info;
}

const struct device_passes *device_passes(const struct device *d)
{
	return &d->passes;
}

const char *device_source(const struct device_info *i, char *out, size_t n)
{
	snprintf(out, n, "%s%s%s", cost_kind_name(i->kind), *i->estimator ? " by " : "", i->estimator);
	return out;
}

uint32_t device_generation(const struct device *d)
{
	return d->generation;
}

void device_renew(struct device *d)
{
	if (d->ops->renew)
		d->ops->renew(d);
}

void device_effort(const struct device *d, struct effort *out)
{
	*out = (struct effort){0};
	if (d->ops->effort)
		d->ops->effort(d, out);
}

/* Is the program still in the device? If not, `detail` says so. */
static bool alive(const struct device *d, const struct compiled *c, char *detail, size_t n)
{
	if (c->handle && c->generation == d->generation)
		return true;
	snprintf(detail, n,
		c->handle ? "the program was lost when its worker died (generation %u, now %u)"
			  : "the program was never compiled (generation %u, now %u)",
		c->generation, d->generation);
	return false;
}

int device_compile(struct device *d, enum compile_how how, const char *format, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	*out = (struct compiled){0};
	if (d->ops->compile(d, how, format, p, n, want, out, err) < 0) {
		compiled_release(out);
		return -1;
	}
	out->generation = d->generation;
	return 0;
}

bool device_has_helpers(const struct device *d)
{
	return pool_helpers(d->pool) > 0;
}

bool device_measures_ahead(const struct device *d)
{
	return pool_measures(d->pool);
}

void device_expect(struct device *d, struct agenda *agenda)
{
	if (!d->pool)
		return;
	d->planned |= agenda->n > 0;
	pool_expect(d->pool, agenda);
}

/* Returns how many executables to compile for so many instances: one each, up to AGENDA_COPIES. */
static uint32_t copies_of(uint32_t instances)
{
	return instances < 1 ? 1 : instances > AGENDA_COPIES ? AGENDA_COPIES : instances;
}

void device_gather(struct device *d, const struct buf *const module[2], uint32_t instances)
{
	if (d->pool && d->ops->load)
		pool_gather(d->pool, d, module, 2, copies_of(instances));
}

bool device_measured(struct device *d, const struct buf *const module[2], struct timing *out)
{
	uint64_t key[2];

	if (!pool_measures(d->pool))
		return false;
	agenda_pair_key(module[0], module[1], key);
	return pool_measured(d->pool, d, key, out);
}

bool device_foretells(const struct device *d, const uint64_t key[2], struct foretold *out)
{
	return d->pool && pool_foretells(d->pool, key, out);
}

bool device_is_ahead(const struct device *d, const uint64_t key[2])
{
	return d->pool && pool_is_ahead(d->pool, key);
}

void device_helped(const struct device *d, struct helped *out)
{
	*out = (struct helped){0};
	if (d->pool)
		pool_account(d->pool, out);
}

uint32_t device_copies(const struct precision *p, double compiling)
{
	return p->instances * compiling <= COMPILE_SHARE * p->max_seconds ? p->instances : 1;
}

/* Loads executables of a module that were compiled elsewhere; takes them. */
static int load_ahead(struct device *d, const void *p, size_t n, struct ahead *ahead, struct compiled *out,
	struct err *err)
{
	int rc;

	*out = (struct compiled){0};
	rc = d->ops->load(d, p, n, ahead, out, err);
	out->generation = d->generation;
	if (rc < 0)
		compiled_release(out);
	ahead_release(ahead);
	return rc;
}

int device_compile_errand(struct device *d, const struct errand *e, unsigned i, struct compiled *out, struct err *err)
{
	const struct buf *m = &e->module[i];
	struct ahead ahead = {.n = 1, .seconds = e->compiling[i]};
	unsigned want = WANT_MEMORY | (d->info.kind == COST_MEASURED ? WANT_SERIALISED : 0u);

	if (!e->executable[i].len || !d->ops->load)
		return device_compile(d, COMPILE_REGION, "hlo", m->data, m->len, want, out, err);
	buf_add(&ahead.executable[0], e->executable[i].data, e->executable[i].len);
	return load_ahead(d, m->data, m->len, &ahead, out, err);
}

int device_compile_planned(struct device *d, enum compile_how how, const void *p, size_t n, uint32_t instances,
	struct compiled *out, struct err *err)
{
	struct ahead ahead = {0};

	if (d->pool && d->ops->load)
		pool_take(d->pool, p, n, copies_of(instances), &ahead);
	return ahead.n ? load_ahead(d, p, n, &ahead, out, err)
		       : device_compile(d, how, "hlo", p, n, 0, out, err);
}

void device_codegen(struct device *d, uint32_t ways)
{
	d->codegen = ways;
}

int device_drop(struct device *d, struct compiled *c, struct err *err)
{
	int rc = 0;
	if (c->handle && c->generation == d->generation)
		rc = d->ops->drop(d, c->handle, err);
	c->handle = 0;
	return rc;
}

void device_veto(struct device *d, const struct veto *s)
{
	d->veto = s ? *s : (struct veto){0};
}

int device_extract(struct device *d, const char *format, const void *p, size_t n,
	struct extracted *out, struct err *err)
{
	*out = (struct extracted){0};
	if (d->ops->extract(d, format, p, n, out, err) < 0) {
		extracted_release(out);
		return -1;
	}
	return 0;
}

int device_arrange(struct device *d, enum compile_how how, const char *options, const void *p, size_t n,
	struct arranged *out, struct err *err)
{
	*out = (struct arranged){0};
	if (!d->ops->arrange)
		return err_set(err, "%s does not show how it arranges a program in memory", d->info.backend);
	if (d->ops->arrange(d, how, options, p, n, out, err) < 0) {
		arranged_release(out);
		return -1;
	}
	return 0;
}

/* Called before and after something is timed, so that others do not disturb it. */
static void hold(struct device *d, bool on)
{
	if (d->pool)
		pool_hold(d->pool, on);
	if (d->helper)
		helper_hold(d->helper, on);
}

int device_pair(struct device *d, const struct compiled *a, const struct compiled *b,
	const struct precision *p, struct timing *out, struct err *err)
{
	static const struct precision dflt;
	int rc;
	if (!p)
		p = &dflt;
	*out = (struct timing){.kind = d->info.kind};
	if (!alive(d, a, out->detail, sizeof out->detail) ||
		!alive(d, b, out->detail, sizeof out->detail)) {
		out->outcome = OUTCOME_CRASHED;
		return 0;
	}
	if (a->hash && a->hash == b->hash && !p->even_identical) {
		out->identical = true;
		return 0;
	}
	hold(d, true);
	rc = d->ops->pair(d, a->handle, b->handle, p, out, err);
	hold(d, false);
	if (rc < 0)
		timing_release(out);
	return rc;
}

int device_run(struct device *d, const struct compiled *a, const struct precision *p,
	struct timing *out, struct err *err)
{
	static const struct precision dflt;
	int rc;
	*out = (struct timing){.kind = d->info.kind};
	if (!alive(d, a, out->detail, sizeof out->detail)) {
		out->outcome = OUTCOME_CRASHED;
		return 0;
	}
	hold(d, true);
	rc = d->ops->run(d, a->handle, p ? p : &dflt, out, err);
	hold(d, false);
	if (rc < 0)
		timing_release(out);
	return rc;
}

int device_takes(const struct device *d, const struct graph *program, struct err *err)
{
	return d->given ? given_fits(d->given, program, err) : 0;
}

const char *inputs_name(enum inputs i)
{
	static const char *const names[] = {
#define INPUTS(id, name, ...) name,
#include "schemas/inputs.def"
#undef INPUTS
	};
	return names[i];
}

int device_compare(struct device *d, const struct compiled *a, const struct compiled *b,
	const struct compare_options *o, struct comparison *out, struct err *err)
{
	static const struct compare_options dflt;
	*out = (struct comparison){0};
	if (!alive(d, a, out->detail, sizeof out->detail) ||
		!alive(d, b, out->detail, sizeof out->detail)) {
		out->outcome = OUTCOME_CRASHED;
		return 0;
	}
	if (d->ops->compare(d, a->handle, b->handle, o ? o : &dflt, out, err) < 0) {
		comparison_release(out);
		return -1;
	}
	return 0;
}
