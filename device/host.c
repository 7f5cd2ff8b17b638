/*
 * host.c - a device that is a worker process holding a plugin.
 *
 * Every request has a deadline. A worker that does not answer in time, dies, or sends nonsense is killed and
 * reaped. The outcome of the request says what happened, with the signal and the last words of the plugin. The
 * generation grows, which makes all handles given out so far invalid. The next request starts a new worker, so
 * closing after a crash costs nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/progress.h"
#include "device/host.h"
#include "device/last_words.h"
#include "device/target.h"

/* Appends to the detail what the worker printed of the cause. */
static void add_last_words(const struct child *c, char *detail, size_t size)
{
	size_t used = strlen(detail);

	if (!c->tail.len || size < used + 40)
		return;
	last_words(c->tail.data, c->tail.len, detail + used + 2, size - used - 2);
	if (detail[used + 2])
		memcpy(detail + used, ": ", 2);
}

/*
 * Did the worker end because memory ran out? Its last words may say so. A process that the kernel ends by SIGKILL has
 * no last words, but the kernel counts it. A worker that we killed ourselves is not asked about here.
 */
static bool out_of_memory(const struct host *h)
{
	const struct child *c = &h->child;
	static const char *const words[] = {"bad_alloc", "RESOURCE_EXHAUSTED", "out of memory",
		"Out of memory", "not enough memory"};
	for (size_t i = 0; c->tail.len && i < sizeof words / sizeof *words; i++)
		if (strstr(c->tail.data, words[i]))
			return true;
	return WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGKILL && machine_memory_kills() > h->memory_kills;
}

/* Turns the end of the worker into an outcome. `deadline` is the deadline of this answer, or 0 if it had none. */
static void judge(struct host *h, enum exchange e, double deadline, struct answer *a)
{
	int status = h->child.status;
	if (e == EXCHANGE_TIMEOUT) {
		a->outcome = OUTCOME_TIMEOUT;
		snprintf(a->detail, a->detail_size, "no answer within %.3g s; the worker was killed",
			deadline > 0 ? deadline : now_seconds() - h->asked);
	} else if (e == EXCHANGE_BROKEN) {
		a->outcome = OUTCOME_CRASHED;
		snprintf(a->detail, a->detail_size, "the worker sent nonsense and was killed");
	} else if (WIFSIGNALED(status)) {
		a->outcome = out_of_memory(h) ? OUTCOME_OOM : OUTCOME_CRASHED;
		if (a->signal)
			*a->signal = WTERMSIG(status);
		snprintf(a->detail, a->detail_size, "the worker died of signal %d (%s)%s",
			WTERMSIG(status), strsignal(WTERMSIG(status)),
			a->outcome == OUTCOME_OOM && WTERMSIG(status) == SIGKILL
			? ": the kernel ended it, memory had run out" : "");
	} else {
		a->outcome = out_of_memory(h) ? OUTCOME_OOM : OUTCOME_CRASHED;
		snprintf(a->detail, a->detail_size, "the worker ended by itself with status %d",
			WEXITSTATUS(status));
	}
	add_last_words(&h->child, a->detail, a->detail_size);
	h->base.generation++;
	h->n_known = 0;
}

/*
 * Returns the limit of the worker's data in bytes, 0 for none. With a limit a leak ends the worker and not the machine.
 * Accelerator runtimes reserve address space by the terabyte, so only workers that compute in the host's memory have
 * one. VANTAGE_WORKER_MEMORY sets it, in MiB.
 */
static uint64_t memory_limit(const struct host *h)
{
	const char *given = getenv("VANTAGE_WORKER_MEMORY");
	if (given && *given)
		return strtoull(given, NULL, 10) << 20;
	return h->backend->traits & ON_HOST ? machine_memory() / 4 * 3 : 0;
}

/* Writes the cores to pin the worker to: the locked ones, or of a probe (probe.c) the core of its device. */
static void put_cores(const struct host *h, struct buf *q)
{
	bool borrowed = h->cores.n == 0 && h->n_borrowed == 0 && h->base.info.core >= 0;

	buf_u32(q, borrowed ? 1 : (uint32_t)(h->cores.n + h->n_borrowed));
	if (borrowed)
		buf_u32(q, (uint32_t)h->base.info.core);
	for (size_t i = 0; i < h->cores.n; i++)
		buf_u32(q, (uint32_t)h->cores.at[i].core);
	for (size_t i = 0; i < h->n_borrowed; i++)
		buf_u32(q, (uint32_t)h->borrowed[i]);
}

static int set_up(struct host *h, struct err *err)
{
	struct buf *q = &h->request;
	char text[512] = "", platform[512], version[160];
	struct answer a = {.detail = text, .detail_size = sizeof text};
	const struct plugin *known;
	if (child_start(&h->child, h->worker.data, err) < 0)
		return -1;
	h->memory_kills = machine_memory_kills();
	buf_reset(q);
	buf_u32(q, WIRE_PROTOCOL);
	buf_str(q, *h->target ? h->base.info.backend : h->backend->name);
	buf_blob(q, h->plugin.data, h->plugin.len);
	buf_u64(q, h->seed);
	put_cores(h, q);
	buf_u64(q, memory_limit(h));
	buf_u32(q, spread_replicas(h->base.info.spread)); /* a probe's worker is for one device */
	buf_u32(q, spread_partitions(h->base.info.spread));
	h->asked = now_seconds();
	enum exchange e = child_exchange(&h->child, WIRE_SETUP, q, patience_to_start(), &h->reply);
	if (e != EXCHANGE_OK) {
		judge(h, e, patience_to_start().most > 0 ? 0 : patience_to_start().seconds, &a);
		return err_set(err, "the plugin %s does not start: %s", h->plugin.data, text);
	}
	struct cursor c = cursor_of(h->reply.payload.data, h->reply.payload.len);
	bool ok = cursor_u8(&c);
	wire_text(&c, platform, sizeof platform);
	wire_text(&c, version, sizeof version);
	accelerator_load(&h->accelerator, &c);
	if (!ok || !cursor_done(&c)) {
		child_stop(&h->child);
		return err_set(
			err, "%s", ok ? "the worker's first answer makes no sense" : platform);
	}
	snprintf(h->base.info.platform, sizeof h->base.info.platform, "%.60s", platform);
	known = backend_known(h->backend, h->base.info.build);
	snprintf(h->base.info.version, sizeof h->base.info.version, "%.100s%s%s%s%s", version, known ? ", " : "",
		known ? known->package : "", known ? " " : "", known ? known->package_version : "");
	accelerator_describe(&h->accelerator, h->base.info.platform, h->base.info.device, sizeof h->base.info.device);
	return 0;
}

int host_ask(
	struct host *h, enum wire_type type, struct answer *a, struct cursor *c, struct err *err)
{
	if (type != WIRE_DROP && device_late(&h->base)) {
		a->outcome = OUTCOME_TIMEOUT;
		snprintf(a->detail, a->detail_size, "the time was over before it was begun");
		return 0;
	}
	if (!h->child.pid) {
		struct buf kept = h->request;
		h->request = (struct buf){0};
		int rc = set_up(h, err);
		buf_release(&h->request);
		h->request = kept;
		if (rc < 0)
			return -1;
	}
	h->asked = now_seconds();
	struct patience patience = host_patience(h);
	if (type == WIRE_DROP)
		patience.until = 0; /* it takes no time, and a search that is late has to tidy up as well */
	enum exchange e = child_exchange(&h->child, type, &h->request, patience, &h->reply);
	h->work = 0;
	if (e != EXCHANGE_OK) {
		judge(h, e, h->deadline, a);
		return 0;
	}
	*c = cursor_of(h->reply.payload.data, h->reply.payload.len);
	uint8_t outcome = cursor_u8(c);
	wire_text(c, a->detail, a->detail_size);
	if (c->bad || outcome >= OUTCOME_COUNT) {
		child_stop(&h->child);
		judge(h, EXCHANGE_BROKEN, 0, a);
		return 0;
	}
	a->outcome = outcome;
	return 1;
}

void host_distrust(struct host *h, const struct cursor *c, struct answer *a)
{
	if (cursor_done(c))
		return;
	child_stop(&h->child);
	judge(h, EXCHANGE_BROKEN, 0, a);
}

/* Compiles. Without `keep` the program is a user's own, which is compiled to be looked at and not run. */
int host_compile_with(struct host *h, const char *format, const char *options, const void *p, size_t n,
	unsigned want, bool keep, const struct ahead *ahead, struct compiled *out, struct err *err)
{
	struct answer a = {
		.detail = out->detail, .detail_size = sizeof out->detail, .signal = &out->signal};
	struct buf *q = &h->request;
	struct cursor c;
	if (n > WIRE_LIMIT - 65536)
		return err_set(err, "a program of %zu bytes is too large", n);
	buf_reset(q);
	buf_str(q, format);
	buf_str(q, options);
	buf_u32(q, want);
	buf_u8(q, keep);
	buf_blob(q, p, n);
	buf_u32(q, ahead ? ahead->n : 0);
	for (uint32_t i = 0; ahead && i < ahead->n; i++)
		buf_blob(q, ahead->executable[i].data, ahead->executable[i].len);
	h->work = work_of_compiling(h, !keep);
	int rc = host_ask(h, WIRE_COMPILE, &a, &c, err);
	if (rc > 0) {
		out->handle = cursor_u32(&c);
		out->hash = cursor_u64(&c);
		out->seconds = cursor_f64(&c);
		out->seconds = ahead && ahead->n ? ahead->seconds : out->seconds;
		out->peak_bytes = cursor_u64(&c);
		out->code_bytes = cursor_u64(&c);
		out->has_temp = cursor_u8(&c);
		out->temp_bytes = cursor_u64(&c);
		out->flops = cursor_f64(&c);
		out->optimal_seconds = cursor_f64(&c);
		wire_blob(&c, &out->optimised);
		wire_blob(&c, &out->serialised);
		host_distrust(h, &c, &a);
	}
	out->outcome = a.outcome;
	if (out->outcome != OUTCOME_OK)
		out->handle = 0;
	else
		h->longest_compile = fmax(h->longest_compile, out->seconds);
	return rc < 0 ? -1 : 0;
}

struct known *host_known(struct host *h, uint32_t handle)
{
	for (size_t i = 0; i < h->n_known; i++)
		if (h->known[i].handle == handle)
			return &h->known[i];
	return NULL;
}

static void note_known(struct host *h, const struct compiled *c, const struct known *k)
{
	if (!c->handle)
		return;
	MEM_GROW(&h->known, &h->cap_known, h->n_known + 1);
	h->known[h->n_known] = *k;
	h->known[h->n_known++].handle = c->handle;
}

static int host_compile(struct device *d, enum compile_how how, const char *format, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	struct host *h = host_of(d);
	const char *options = h->options.len ? h->options.data : "";
	if (how == COMPILE_APPLIED && host_apply_options(h, &options, err) < 0)
		return -1;
	int rc = *h->target ? host_compile_for(h, how, format, options, p, n, want, out, err)
			    : host_compile_with(h, format, options, p, n, want, true, NULL, out, err);
	if (rc == 0)
		note_known(h, out, &(struct known){.compile = strcmp(format, FORMAT_EXECUTABLE) == 0 ? INFINITY
			: out->seconds,
			.optimal = out->optimal_seconds});
	return rc;
}

/* Takes over the executables that helpers compiled ahead. */
static int host_load(struct device *d, const void *p, size_t n, const struct ahead *ahead, struct compiled *out,
	struct err *err)
{
	struct host *h = host_of(d);
	const char *options;

	if (host_apply_options(h, &options, err) < 0 ||
		host_compile_with(h, "hlo", options, p, n, 0, true, ahead, out, err) < 0)
		return -1;
	note_known(h, out, &(struct known){.ready = ahead->n, .compile = out->seconds});
	return 0;
}

static long host_process(const struct device *d)
{
	return ((const struct host *)d)->child.pid;
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
	lock_release(&h->device_lock);
	buf_release(&h->plugin);
	buf_release(&h->worker);
	buf_release(&h->options);
	host_stage_close(h);
	buf_release(&h->request);
	buf_release(&h->reply.payload);
	mem_free(h->known);
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
	i->can_run = !*h->target && !h->parts_only;
	i->compiles = h->backend->traits & COMPILES;
	i->core = -1;
}

static void host_effort(const struct device *d, struct effort *out)
{
	const struct host *h = (const struct host *)d;
	uint64_t limit = memory_limit(h), available = machine_available();

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
 * is ended before we wait, because it holds memory there. The next request starts it anew.
 */
static int take_accelerator(struct host *h, bool wait, struct err *err)
{
	const char *platform = h->base.info.platform;
	int rc;

	if (*h->target || h->accelerator.on_host)
		return 0;
	rc = accelerator_lock(&h->accelerator, platform, false, &h->device_lock, wait ? NULL : err);
	if (rc != 1 && wait) {
		child_stop(&h->child);
		rc = accelerator_lock(&h->accelerator, platform, true, &h->device_lock, err);
	}
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
 * Collects the options of every compilation: those of the target, those that make the compiler write its prices, the
 * user's.
 */
static void fill_options(struct host *h, const char *given)
{
	const struct target *t = *h->target ? target_find(h->backend->name, h->target) : NULL;
	const char *each[] = {t ? t->options : "", "", given ? given : ""};

	h->estimator = *h->target ? estimator_find(h->backend->name) : NULL;
	if (h->estimator) {
		each[1] = h->estimator->options;
		snprintf(h->base.info.estimator, sizeof h->base.info.estimator, "%s for %.40s", h->estimator->whose,
			t ? t->words : h->target);
	}
	for (size_t i = 0; i < 3; i++)
		buf_addf(&h->options, "%s%s", h->options.len && *each[i] ? "," : "", each[i]);
}

static const struct device_ops host_ops = {
	host_close, host_compile, host_drop, host_extract, host_pair, host_run, host_compare,
	host_effort, host_arrange, host_load, host_process};

struct device *host_open(const struct device_options *o, struct err *err)
{
	struct host *h = MEM_NEW(1, struct host);
	char name[64];
	h->base.ops = &host_ops;
	h->base.generation = 1;
	h->seed = o->seed;
	h->base.info.spread = (struct spread){spread_replicas(o->spread), spread_partitions(o->spread)};
	h->deadline = o->deadline;
	h->parts_only = o->parts_only;
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
	lock_name(h, o->backend, name, sizeof name);
	if (o->n_beside) {
		h->borrowed = MEM_NEW(o->n_beside, int);
		memcpy(h->borrowed, o->beside, o->n_beside * sizeof *h->borrowed);
		h->n_borrowed = o->n_beside;
	} else if (h->backend->traits & ON_HOST || (!*h->target && o->core)) {
		if (core_set_take(&h->cores, name, o->core, o->cores, o->wait, err) < 0)
			goto fail;
		note_cores(h);
	}
	note_devices(h);
	if (set_up(h, err) < 0 || take_accelerator(h, o->wait, err) < 0)
		goto fail;
	host_stage_open(h, o->kind);
	h->base.generation = 1;
	return &h->base;
fail:
	host_close(&h->base);
	return NULL;
}
