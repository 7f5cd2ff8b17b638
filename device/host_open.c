/*
 * host_open.c - opens a worker as a device, and describes it: plugin, cores, locks, options; and closes it.
 *
 * The worker is started at once, because only it knows which hardware there is. Its cores are locked before that, an
 * accelerator after it. Where nothing is timed, no core is locked, and programs that measure need not be waited for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "device/codegen.h"
#include "device/given.h"
#include "device/host.h"
#include "device/target.h"

static int host_compile(struct device *d, enum compile_how how, const char *format, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	struct host *h = host_of(d);
	const char *options;
	bool loaded = strcmp(format, FORMAT_EXECUTABLE) == 0;
	if (host_apply_options(h, how, &options, err) < 0)
		return -1;
	int rc = *h->target ? host_compile_for(h, how, format, options, p, n, want, out, err)
			    : host_compile_with(h, format, options, p, n, want, true, NULL, out, err);
	if (rc == 0)
		host_note(h, out, &(struct known){.compile = loaded ? INFINITY : out->seconds,
			.load = loaded ? out->seconds : 0, .optimal = out->optimal_seconds});
	return rc;
}

/* Takes over the executables that helpers compiled ahead. */
static int host_load(struct device *d, const void *p, size_t n, const struct ahead *ahead, struct compiled *out,
	struct err *err)
{
	struct host *h = host_of(d);
	const char *options;

	if (host_apply_options(h, COMPILE_REGION, &options, err) < 0 ||
		host_compile_with(h, "hlo", options, p, n, 0, true, ahead, out, err) < 0)
		return -1;
	host_note(h, out, &(struct known){.ready = ahead->n, .compile = out->seconds});
	return 0;
}

static int host_drop(struct device *d, uint32_t handle, struct err *err)
{
	struct host *h = host_of(d);
	char text[512];
	struct answer a = {.detail = text, .detail_size = sizeof text};
	struct cursor c;
	struct known *k = host_known(h, handle);
	if (k)
		*k = h->known[--h->n_known];
	if (!h->child.pid || host_handle_is_ours(handle))
		return 0;
	buf_reset(&h->request);
	buf_u32(&h->request, handle);
	return host_ask(h, WIRE_DROP, &a, &c, err) < 0 ? -1 : 0;
}

static void host_close(struct device *d)
{
	struct host *h = host_of(d);
	child_release(&h->child);
	core_set_release(&h->cores);
	mem_free(h->base.core);
	mem_free(h->borrowed);
	mem_free(h->crew);
	lock_release(&h->device_lock);
	buf_release(&h->plugin);
	buf_release(&h->worker);
	buf_release(&h->options);
	host_stage_close(h);
	host_forget(h);
	buf_release(&h->request);
	buf_release(&h->reply.payload);
	mem_free(h->known);
	mem_free(h->inputs);
	given_close(h->base.given);
	mem_free(h);
}

/* Writes the name of the device for its lock file. A plugin that we do not know is a device of its own. */
static void lock_name(const struct host *h, const char *name, char *out, size_t n)
{
	if (!name || strcmp(h->base.info.backend, h->backend->name) == 0)
		snprintf(out, n, "%s", h->backend->name);
	else
		snprintf(out, n, "%016llx", (unsigned long long)hash64(name, strlen(name), 0));
}

/* Reads the hash of the plugin's file: two builds may have the same version, but not the same file. */
static int fill_build(struct host *h, struct err *err)
{
	uint64_t hash;

	if (io_fingerprint(h->plugin.data, &hash, err) < 0)
		return -1;
	snprintf(h->base.info.build, sizeof h->base.info.build, "%016llx", (unsigned long long)hash);
	return 0;
}

static void fill_info(struct host *h, const char *name)
{
	struct device_info *i = &h->base.info;
	const struct plugin *known = backend_known(h->backend, i->build);
	const char *slash = strrchr(h->plugin.data, '/');
	bool by_path = name && strcmp(name, h->plugin.data) == 0;
	i->release = known ? known->version : NULL;
	if (*h->target)
		snprintf(i->backend, sizeof i->backend, "%.11s:%.19s", h->backend->name, h->target);
	else
		snprintf(i->backend, sizeof i->backend, "%.31s", known || !by_path ? h->backend->name : slash
			? slash + 1 : name);
	machine_describe(i->machine, sizeof i->machine);
	i->family = h->backend->name;
	i->kind = *h->target && !(h->backend->traits & HERE) ? COST_ESTIMATED : h->backend->kind;
	i->joins = !(h->backend->traits & ON_HOST);
	i->can_run = !*h->target && !h->parts_only;
	i->compiles = h->backend->traits & COMPILES;
	i->core = -1;
}

static void host_effort(const struct device *d, struct effort *out)
{
	const struct host *h = (const struct host *)d;
	uint64_t limit = host_memory_limit(h), available = machine_available();

	if (available)
		available += machine_resident(h->child.pid);

	out->deadline = host_patience(h).seconds;
	out->load = machine_load();
	out->memory = limit && (limit < available || !available) ? limit : available;
	if (!h->accelerator.on_host && h->accelerator.memory)
		out->memory = h->accelerator.memory;
}

/*
 * Locks the accelerator, which is known only after its plugin has started. If somebody else measures on it, our worker
 * is ended before we wait, because it holds memory there. The next request starts it anew. A helper of the one that has
 * the lock needs none.
 */
static int take_accelerator(struct host *h, bool wait, bool assists, struct err *err)
{
	const char *platform = h->base.info.platform;
	int rc;

	if (*h->target || h->accelerator.on_host || assists)
		return 0;
	rc = accelerator_lock(&h->accelerator, platform, false, &h->device_lock, wait ? NULL : err);
	if (rc != 1 && wait) {
		child_stop(&h->child);
		rc = accelerator_lock(&h->accelerator, platform, true, &h->device_lock, err);
	}
	h->base.alone = rc == 1;
	return rc == 1 ? 0 : -1;
}

static int check_option(void *ctx, const char *name, const char *value)
{
	(void)ctx;
	(void)name;
	(void)value;
	return 0;
}

/* What runs on several cores is measured apart from what runs on one: it is part of the machine's name. */
static void note_cores(struct host *h)
{
	struct device_info *i = &h->base.info;
	size_t used = strlen(i->machine);

	h->base.core = MEM_NEW(h->cores.n, int);
	for (h->base.n_cores = 0; h->base.n_cores < h->cores.n; h->base.n_cores++)
		h->base.core[h->base.n_cores] = h->cores.at[h->base.n_cores].core;
	i->core = h->cores.at[0].core;
	i->cores = (uint32_t)h->cores.n;
	if (i->cores > 1)
		snprintf(i->machine + used, sizeof i->machine - used, ", run on %u of them", i->cores);
}

/* `core`: the worker's own. */
static void find_crew(struct host *h, const int *core, size_t n, int most)
{
	if (!most)
		return;
	h->crew = cores_beside(core, n, &h->n_crew);
	if (most > 0 && h->n_crew > (size_t)most)
		h->n_crew = (size_t)most;
}

/* What runs on several devices is priced apart from what runs on one, as another machine's. */
static void note_devices(struct host *h)
{
	struct device_info *i = &h->base.info;
	size_t used = strlen(i->machine);

	if (i->spread.replicas > 1)
		snprintf(i->machine + used, sizeof i->machine - used, ", for %u replicas on %u devices",
			i->spread.replicas, spread_devices(i->spread));
	else if (i->spread.partitions > 1)
		snprintf(i->machine + used, sizeof i->machine - used, ", for %u devices", i->spread.partitions);
}

/*
 * Collects the options of every compilation: those of the backend and the target, those that make the compiler write
 * its prices, the user's.
 */
static void fill_options(struct host *h, const char *given)
{
	const struct target *t = *h->target ? target_find(h->backend->name, h->target) : NULL;
	const char *each[] = {codegen_always(h->backend->name), t ? t->options : "", "", given ? given : ""};

	h->estimator = *h->target ? estimator_find(h->backend->name, h->base.info.spread) : NULL;
	if (h->estimator) {
		each[2] = h->estimator->options;
		snprintf(h->base.info.estimator, sizeof h->base.info.estimator, "%s for %.40s", h->estimator->whose,
			t ? t->words : h->target);
	}
	for (size_t i = 0; i < sizeof each / sizeof *each; i++)
		buf_addf(&h->options, "%s%s", h->options.len && *each[i] ? "," : "", each[i]);
}

static void host_renew(struct device *d)
{
	host_bury(host_of(d));
}

static const struct device_ops host_ops = {
	host_close, host_compile, host_drop, host_extract, host_pair, host_run, host_compare,
	host_effort, host_arrange, host_load, host_renew};

/* Opens the user's inputs, which the worker opens again by itself. */
static int take_inputs(struct host *h, const char *path, struct err *err)
{
	if (!path)
		return 0;
	if (!h->base.info.can_run)
		return err_set(err, "%s: whole programs are not run here, so no inputs are needed", path);
	if (!(h->base.given = given_open(path, err)))
		return -1;
	h->inputs = mem_strdup(path);
	h->base.info.inputs = given_hash(h->base.given) | 1;
	return 0;
}

/* Are programs timed on this machine's cores? */
static bool times(const struct host *h, const struct device_options *o)
{
	return h->backend->traits & ON_HOST && h->base.info.kind == COST_MEASURED && !o->untimed;
}

struct device *host_open(const struct device_options *o, struct err *err)
{
	struct host *h = MEM_NEW(1, struct host);
	char name[64];
	h->base.ops = &host_ops;
	h->base.generation = 1;
	h->seed = o->seed;
	h->base.codegen = o->codegen;
	snprintf(h->base.info.made_by, sizeof h->base.info.made_by, "%s", o->made_by ? o->made_by : "");
	h->base.info.spread = (struct spread){spread_replicas(o->spread), spread_partitions(o->spread)};
	h->deadline = o->deadline;
	h->child.watch = o->watch;
	h->child.watcher = o->watcher;
	h->child.environment = o->environment;
	h->parts_only = o->parts_only;
	for (int i = 0; i < ESTIMATE_PARTS; i++)
		h->weight[i] = o->weights ? o->weights[i] : 1;
	rng_seed2(&h->rng, o->seed, hash64("host", 4, 0));
	h->backend = backend_find(o->backend, err);
	if (!h->backend || backend_target(h->backend, o->backend, h->target, sizeof h->target, err) < 0 ||
		backend_plugin(h->backend, o->backend, &h->plugin, err) < 0 ||
		host_find_worker(&h->worker, err) < 0 ||
		options_each(o->options, check_option, NULL, err) < 0)
		goto fail;
	fill_options(h, o->options);
	if (fill_build(h, err) < 0)
		goto fail;
	fill_info(h, o->backend);
	if (take_inputs(h, o->inputs, err) < 0)
		goto fail;
	lock_name(h, o->backend, name, sizeof name);
	if (o->n_beside) {
		h->borrowed = MEM_NEW(o->n_beside, int);
		memcpy(h->borrowed, o->beside, o->n_beside * sizeof *h->borrowed);
		h->n_borrowed = o->n_beside;
		find_crew(h, h->borrowed, h->n_borrowed, o->crew);
	} else if (times(h, o) || (!*h->target && o->core)) {
		if (core_set_take(&h->cores, name, o->core, o->cores, o->wait, err) < 0)
			goto fail;
		note_cores(h);
		find_crew(h, h->base.core, h->base.n_cores, o->crew);
	}
	note_devices(h);
	if (host_set_up(h, err) < 0 || take_accelerator(h, o->wait, o->assists, err) < 0)
		goto fail;
	host_stage_open(h, o->kind);
	h->base.generation = 1;
	return &h->base;
fail:
	host_close(&h->base);
	return NULL;
}
