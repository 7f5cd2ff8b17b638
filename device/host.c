/*
 * host.c - a device that is a worker process holding a plugin.
 *
 * Every request has a deadline. When the worker does not answer in time, dies, or sends nonsense,
 * it is killed and reaped, the result's outcome says what became of it (with the signal and the
 * last words of the plugin), and the generation grows, which makes all handles given out so far
 * invalid. A new worker is started by the next request, so closing after a crash costs nothing.
 *
 * A compile-only backend has no worker that runs: a pair is then the compiler's own estimates of
 * both.
 *
 * Single pairs of instances carry a prior for what one load differs from the next (measure.h). It
 * is kept up to date here: after a measurement now and then the same program is loaded a second
 * time and measured against itself, the first few of every duration and later a twentieth of the
 * time spent.
 */
#include <errno.h>
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
#include "device/backend.h"
#include "device/child.h"
#include "device/dump.h"
#include "device/machine.h"
#include "device/measure.h"
#include "device/ops.h"

#define DEADLINE 120.0
#define AA_BEFORE 3.0 /* observations of a duration before the first interval is given */
#define AA_FIRST 6.0  /* ... before A/A pairs become rare; */
#define AA_LUCKY 16.0 /* ... the same where luck is large, which few observations tell badly */
#define LARGE_LUCK 0.02
#define AA_SHARE 0.05  /* of the measuring time, after that */
#define AA_SECONDS 0.1 /* of one A/A pair */
#define AA_COMPILE 1.0 /* seconds of compiling above which its second load is not compiled anew */
/* Of the log ratio between two compilations, where not measured: 0.3%. */
#define COMPILE_VARIANCE 9e-6

struct known { /* what compiling told of a handle */
	uint32_t handle;
	double compile, optimal; /* seconds it took; seconds it estimates for a run, or 0 */
};

struct host {
	struct device base;
	const struct backend *backend;
	struct buf plugin, worker, options;
	uint64_t seed;
	double deadline;
	struct child child;
	struct core_lock lock;
	struct frame reply;
	struct buf request;
	struct rng rng;
	struct prior prior;
	double measured, measured_aa; /* seconds */
	struct known *known;
	size_t n_known, cap_known;
};

/* What became of a request: filled by ask, or read from the reply. */
struct answer {
	enum outcome outcome;
	char *detail;
	size_t detail_size;
	int *signal; /* may be NULL */
};

static struct host *host_of(struct device *d)
{
	return (struct host *)d;
}

/* The worker's file: by VANTAGE_WORKER, beside this program, in the build tree, or on the path. */
static int find_worker(struct buf *out, struct err *err)
{
	static const char *const places[] = {"", "/../bin", "/../../bin", "/../../../bin"};
	const char *given = getenv("VANTAGE_WORKER"), *path = getenv("PATH");
	char self[600];
	buf_reset(out);
	if (given && *given) {
		buf_adds(out, given);
		return access(given, X_OK) == 0
			       ? 0
			       : err_errno(err, "VANTAGE_WORKER names %s, which cannot be run",
					 given);
	}
	program_folder(self, sizeof self);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		buf_reset(out);
		buf_addf(out, "%s%s/vantage-worker", self, places[i]);
		if (access(out->data, X_OK) == 0)
			return 0;
	}
	for (; path && *path; path += path[strcspn(path, ":")] == ':' ? strcspn(path, ":") + 1
								      : strcspn(path, ":")) {
		buf_reset(out);
		buf_addf(out, "%.*s/vantage-worker", (int)strcspn(path, ":"), path);
		if (access(out->data, X_OK) == 0)
			return 0;
	}
	return err_set(err,
		"vantage-worker is neither beside this program (%s) nor on the path; build it with "
		"\"make\" "
		"or name it in VANTAGE_WORKER",
		self);
}

/* Where the plugin says what broke: its fatal log line if there is one, else the last that fits. */
static const char *last_words(const char *text, const char *stop, size_t room)
{
	static const char *const marks[] = {
		"Check failed", "\nF0000", "terminate called", "ERROR: "};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *at = strstr(text, marks[i]);
		if (at)
			return at;
	}
	return (size_t)(stop - text) > room ? stop - room : text;
}

/* Its last words on one line, as far as they fit. */
static void add_tail(const struct child *c, char *detail, size_t size)
{
	size_t used = strlen(detail), room = size - used - 4, n = c->tail.len;
	while (n && strchr(" \n\r\t", c->tail.data[n - 1]))
		n--;
	if (!n || size < used + 40)
		return;
	const char *stop = c->tail.data + n, *from = last_words(c->tail.data, stop, room);
	used += (size_t)snprintf(detail + used, size - used, "; ");
	for (; from < stop && used + 1 < size; from++)
		detail[used++] = (unsigned char)*from < ' ' ? ' ' : *from;
	detail[used] = 0;
}

static bool out_of_memory(const struct child *c)
{
	static const char *const words[] = {"bad_alloc", "RESOURCE_EXHAUSTED", "out of memory",
		"Out of memory", "not enough memory"};
	for (size_t i = 0; c->tail.len && i < sizeof words / sizeof *words; i++)
		if (strstr(c->tail.data, words[i]))
			return true;
	return false;
}

/* Turns the end of the worker into an outcome. */
static void judge(struct host *h, enum exchange e, struct answer *a)
{
	int status = h->child.status;
	if (e == EXCHANGE_TIMEOUT) {
		a->outcome = OUTCOME_TIMEOUT;
		snprintf(a->detail, a->detail_size, "no answer within %g s; the worker was killed",
			h->deadline);
	} else if (e == EXCHANGE_BROKEN) {
		a->outcome = OUTCOME_CRASHED;
		snprintf(a->detail, a->detail_size, "the worker sent nonsense and was killed");
	} else if (WIFSIGNALED(status)) {
		a->outcome = out_of_memory(&h->child) ? OUTCOME_OOM : OUTCOME_CRASHED;
		if (a->signal)
			*a->signal = WTERMSIG(status);
		snprintf(a->detail, a->detail_size, "the worker died of signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else {
		a->outcome = out_of_memory(&h->child) ? OUTCOME_OOM : OUTCOME_CRASHED;
		snprintf(a->detail, a->detail_size, "the worker ended by itself with status %d",
			WEXITSTATUS(status));
	}
	add_tail(&h->child, a->detail, a->detail_size);
	h->base.generation++;
	h->n_known = 0;
}

/*
 * Of the worker's data. A leak then ends the worker and not the machine. Accelerator runtimes
 * reserve address space by the terabyte, so only cpu is limited. VANTAGE_WORKER_MEMORY: in MiB.
 */
static uint64_t memory_limit(const struct host *h)
{
	const char *given = getenv("VANTAGE_WORKER_MEMORY");
	if (given && *given)
		return strtoull(given, NULL, 10) << 20;
	return strcmp(h->backend->name, "cpu") == 0 ? machine_memory() / 4 * 3 : 0;
}

static int set_up(struct host *h, struct err *err)
{
	struct buf *q = &h->request;
	char text[512] = "", platform[512], version[160];
	struct answer a = {.detail = text, .detail_size = sizeof text};
	if (child_start(&h->child, h->worker.data, err) < 0)
		return -1;
	buf_reset(q);
	buf_u32(q, WIRE_PROTOCOL);
	buf_str(q, h->backend->name);
	buf_blob(q, h->plugin.data, h->plugin.len);
	buf_u64(q, h->seed);
	buf_u32(q, (uint32_t)(h->base.info.core + 1));
	buf_u64(q, memory_limit(h));
	enum exchange e = child_exchange(&h->child, WIRE_SETUP, q, h->deadline, &h->reply);
	if (e != EXCHANGE_OK) {
		judge(h, e, &a);
		return err_set(err, "the plugin %s does not start: %s", h->plugin.data, text);
	}
	struct cursor c = cursor_of(h->reply.payload.data, h->reply.payload.len);
	bool ok = cursor_u8(&c);
	wire_text(&c, platform, sizeof platform);
	wire_text(&c, version, sizeof version);
	if (!ok || !cursor_done(&c)) {
		child_stop(&h->child);
		return err_set(
			err, "%s", ok ? "the worker's first answer makes no sense" : platform);
	}
	snprintf(h->base.info.platform, sizeof h->base.info.platform, "%.60s", platform);
	snprintf(h->base.info.version, sizeof h->base.info.version, "%s", version);
	return 0;
}

/*
 * Sends h->request; 1 with the reply's body in *c, 0 when there is none because the outcome says
 * all, -1 when no worker can be had. The outcome and detail of a reply are read here.
 */
static int ask(
	struct host *h, enum wire_type type, struct answer *a, struct cursor *c, struct err *err)
{
	if (!h->child.pid) {
		struct buf kept = h->request;
		h->request = (struct buf){0};
		int rc = set_up(h, err);
		buf_release(&h->request);
		h->request = kept;
		if (rc < 0)
			return -1;
	}
	enum exchange e = child_exchange(&h->child, type, &h->request, h->deadline, &h->reply);
	if (e != EXCHANGE_OK) {
		judge(h, e, a);
		return 0;
	}
	*c = cursor_of(h->reply.payload.data, h->reply.payload.len);
	uint8_t outcome = cursor_u8(c);
	wire_text(c, a->detail, a->detail_size);
	if (c->bad || outcome >= OUTCOME_COUNT) {
		child_stop(&h->child);
		judge(h, EXCHANGE_BROKEN, a);
		return 0;
	}
	a->outcome = outcome;
	return 1;
}

/* A reply that did not end where it should: the worker is not to be trusted any more. */
static void distrust(struct host *h, const struct cursor *c, struct answer *a)
{
	if (cursor_done(c))
		return;
	child_stop(&h->child);
	judge(h, EXCHANGE_BROKEN, a);
}

static int compile(struct host *h, const char *format, const char *options, const void *p, size_t n,
	unsigned want, bool keep, struct compiled *out, struct err *err)
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
	int rc = ask(h, WIRE_COMPILE, &a, &c, err);
	if (rc > 0) {
		out->handle = cursor_u32(&c);
		out->hash = cursor_u64(&c);
		out->seconds = cursor_f64(&c);
		out->peak_bytes = cursor_u64(&c);
		out->code_bytes = cursor_u64(&c);
		out->flops = cursor_f64(&c);
		out->optimal_seconds = cursor_f64(&c);
		wire_blob(&c, &out->optimised);
		wire_blob(&c, &out->serialised);
		distrust(h, &c, &a);
	}
	out->outcome = a.outcome;
	if (out->outcome != OUTCOME_OK)
		out->handle = 0;
	return rc < 0 ? -1 : 0;
}

static void join(struct buf *out, const char *a, const char *b)
{
	buf_reset(out);
	buf_adds(out, a);
	if (b && *b)
		buf_addf(out, "%s%s", *a ? "," : "", b);
}

static struct known *known(struct host *h, uint32_t handle)
{
	for (size_t i = 0; i < h->n_known; i++)
		if (h->known[i].handle == handle)
			return &h->known[i];
	return NULL;
}

static int host_compile(struct device *d, enum compile_how how, const char *format, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	struct host *h = host_of(d);
	struct buf options = {0};
	join(&options, how == COMPILE_APPLIED ? h->backend->apply : "", h->options.data);
	if (!h->backend->can_run)
		want |= WANT_MEMORY;
	int rc = compile(h, format, options.data, p, n, want, true, out, err);
	buf_release(&options);
	if (rc == 0 && out->handle) {
		MEM_GROW(&h->known, &h->cap_known, h->n_known + 1);
		h->known[h->n_known++] =
			(struct known){out->handle, out->seconds, out->optimal_seconds};
	}
	return rc;
}

static int host_drop(struct device *d, uint32_t handle, struct err *err)
{
	struct host *h = host_of(d);
	char text[512];
	struct answer a = {.detail = text, .detail_size = sizeof text};
	struct cursor c;
	struct known *k = known(h, handle);
	if (k)
		*k = h->known[--h->n_known];
	if (!h->child.pid)
		return 0;
	buf_reset(&h->request);
	buf_u32(&h->request, handle);
	return ask(h, WIRE_DROP, &a, &c, err) < 0 ? -1 : 0;
}

static int host_extract(struct device *d, const char *format, const void *p, size_t n,
	struct extracted *out, struct err *err)
{
	struct host *h = host_of(d);
	struct dump dump;
	struct buf options = {0};
	struct compiled compiled = {0};
	if (dump_begin(&dump, h->backend, err) < 0)
		return -1;
	join(&options, dump.options.data, h->options.data);
	int rc = compile(h, format, options.data, p, n, 0, false, &compiled, err);
	if (rc == 0) {
		out->outcome = compiled.outcome;
		out->seconds = compiled.seconds;
		memcpy(out->detail, compiled.detail, sizeof out->detail);
	}
	if (rc == 0 && out->outcome == OUTCOME_OK)
		rc = dump_read(&dump, strcmp(format, "hlo") != 0, out, err);
	dump_end(&dump);
	compiled_release(&compiled);
	buf_release(&options);
	return rc;
}

/* The worker's measurement: estimates of a, b, ratio, delta without any prior. */
struct raw_timing {
	struct estimate a, b, ratio, delta;
	double between;
};

static int measure_request(struct host *h, uint32_t a, uint32_t b, const struct precision *p,
	bool anew, struct timing *out, struct raw_timing *raw, struct err *err)
{
	struct answer ans = {
		.detail = out->detail, .detail_size = sizeof out->detail, .signal = &out->signal};
	struct estimate *each[] = {&raw->a, &raw->b, &raw->ratio, &raw->delta};
	struct buf *q = &h->request;
	struct cursor c;
	double start = now_seconds();
	buf_reset(q);
	buf_u32(q, a);
	buf_u32(q, b);
	buf_f64(q, p->target);
	buf_f64(q, p->max_seconds);
	buf_u32(q, p->min_pairs);
	buf_u32(q, p->instances);
	buf_f64(q, p->give_up);
	buf_u8(q, p->raw);
	buf_u8(q, anew);
	buf_u64(q, rng_u64(&h->rng));
	int rc = ask(h, WIRE_MEASURE, &ans, &c, err);
	if (rc > 0) {
		out->gave_up = cursor_u8(&c);
		for (int i = 0; i < 4; i++) {
			each[i]->value = cursor_f64(&c);
			each[i]->se = cursor_f64(&c);
		}
		raw->between = cursor_f64(&c);
		out->pairs = cursor_u32(&c);
		out->dropped = cursor_u32(&c);
		out->instances = cursor_u32(&c);
		out->batch = cursor_u32(&c);
		out->inside = cursor_f64(&c);
		wire_blob(&c, &out->raw);
		distrust(h, &c, &ans);
	}
	out->outcome = ans.outcome;
	out->wall = now_seconds() - start;
	return rc < 0 ? -1 : 0;
}

static double compile_seconds(struct host *h, uint32_t handle)
{
	struct known *k = handle ? known(h, handle) : NULL;
	return k ? k->compile : 0;
}

/*
 * Learns what loads differ by: a against another load of a. What goes wrong with it is no concern
 * of the caller's.
 */
static void learn_prior(struct host *h, uint32_t a, double seconds)
{
	struct precision p = {.target = 0.002, .max_seconds = AA_SECONDS, .give_up = -1};
	struct timing t = {0};
	struct raw_timing raw = {0};
	struct err ignored;
	bool anew = compile_seconds(h, a) <= AA_COMPILE;
	if (measure_request(h, a, a, &p, anew, &t, &raw, &ignored) == 0 &&
		t.outcome == OUTCOME_OK && isfinite(raw.ratio.se))
		prior_add(&h->prior, seconds,
			raw.ratio.value * raw.ratio.value - raw.ratio.se * raw.ratio.se, 1);
	h->measured_aa += t.wall;
	timing_release(&t);
}

/* Should one more A/A pair be made for a program of this duration? */
static bool worth_learning(const struct host *h, double seconds)
{
	double n = prior_weight(&h->prior, seconds);
	bool lucky = prior_variance(&h->prior, seconds) > LARGE_LUCK * LARGE_LUCK;
	if (!h->child.pid || seconds > AA_SECONDS)
		return false;
	return n < (lucky ? AA_LUCKY : AA_FIRST) || h->measured_aa < AA_SHARE * h->measured;
}

static int estimate(struct host *h, uint32_t a, uint32_t b, struct timing *out)
{
	struct known *ka = known(h, a), *kb = b ? known(h, b) : ka;
	out->seconds_a = ka ? ka->optimal : 0;
	out->seconds_b = b && kb ? kb->optimal : 0;
	if (out->seconds_a <= 0 || (b && out->seconds_b <= 0)) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail,
			"the compiler gives no estimate for this program");
	} else if (b) {
		out->delta = out->seconds_b - out->seconds_a;
		out->ratio = log(out->seconds_b / out->seconds_a);
	}
	return 0;
}

/*
 * Several instances are compiled anew where that is affordable: compiling the same program twice
 * need not give the same code, and serialised bytes carry one draw of that into all their
 * instances.
 */
static bool affordable(struct host *h, uint32_t a, uint32_t b, const struct precision *p)
{
	double budget = p->max_seconds * 20 > 10 ? p->max_seconds * 20 : 10;
	if (budget > h->deadline / 4)
		budget = h->deadline / 4;
	return p->instances * (compile_seconds(h, a) + compile_seconds(h, b)) <= budget;
}

/* The error that the worker could not see: what instances, or compilations, differ by. */
static double unseen(struct host *h, uint32_t a, const struct timing *t,
	const struct raw_timing *raw, bool anew, double seconds)
{
	if (t->instances < 2) {
		for (int i = 0; i < AA_BEFORE && prior_weight(&h->prior, seconds) < AA_BEFORE &&
				worth_learning(h, seconds);
			i++)
			learn_prior(h, a, seconds);
		return prior_variance(&h->prior, seconds);
	}
	if (!anew)
		return COMPILE_VARIANCE;
	prior_add(&h->prior, seconds, raw->between, t->instances - 1);
	return 0;
}

static int host_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p,
	struct timing *out, struct err *err)
{
	struct host *h = host_of(d);
	struct raw_timing raw = {0};
	if (!h->backend->can_run)
		return estimate(h, a, b, out);
	bool anew = affordable(h, a, b, p);
	if (measure_request(h, a, b, p, anew, out, &raw, err) < 0)
		return -1;
	if (out->outcome != OUTCOME_OK)
		return 0;
	double middle = (raw.a.value + raw.b.value) / 2,
	       more = unseen(h, a, out, &raw, anew, middle);
	out->seconds_a = raw.a.value;
	out->seconds_b = raw.b.value;
	out->ratio = raw.ratio.value;
	out->delta = raw.delta.value;
	out->ratio_se = sqrt(raw.ratio.se * raw.ratio.se + more);
	out->delta_se = sqrt(raw.delta.se * raw.delta.se + more * middle * middle);
	h->measured += out->wall;
	if (out->instances < 2 && !out->gave_up && worth_learning(h, raw.a.value))
		learn_prior(h, a, raw.a.value);
	return 0;
}

static int host_run(struct device *d, uint32_t a, const struct precision *p, struct timing *out,
	struct err *err)
{
	struct host *h = host_of(d);
	struct raw_timing raw = {0};
	if (!h->backend->can_run)
		return estimate(h, a, 0, out);
	bool anew = affordable(h, a, 0, p);
	if (measure_request(h, a, 0, p, anew, out, &raw, err) < 0)
		return -1;
	if (out->outcome != OUTCOME_OK)
		return 0;
	/* Half of the variance between two loads is that of one. */
	double more = out->instances < 2 ? prior_variance(&h->prior, raw.a.value) / 2
		      : anew		 ? 0
					 : COMPILE_VARIANCE / 2;
	out->seconds_a = raw.a.value;
	out->delta_se = sqrt(raw.a.se * raw.a.se + more * raw.a.value * raw.a.value);
	return 0;
}

static int host_compare(
	struct device *d, uint32_t a, uint32_t b, struct comparison *out, struct err *err)
{
	struct host *h = host_of(d);
	struct answer ans = {.detail = out->detail, .detail_size = sizeof out->detail};
	struct cursor c;
	if (!h->backend->can_run) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail,
			"%s only compiles: there are no outputs to compare", h->backend->name);
		return 0;
	}
	buf_reset(&h->request);
	buf_u32(&h->request, a);
	buf_u32(&h->request, b);
	int rc = ask(h, WIRE_COMPARE, &ans, &c, err);
	if (rc > 0) {
		out->max_abs = cursor_f64(&c);
		out->max_rel = cursor_f64(&c);
		out->nan_differs = cursor_u8(&c);
		out->elements = cursor_u64(&c);
		distrust(h, &c, &ans);
	}
	out->outcome = ans.outcome;
	return rc < 0 ? -1 : 0;
}

static void host_close(struct device *d)
{
	struct host *h = host_of(d);
	child_release(&h->child);
	core_release(&h->lock);
	buf_release(&h->plugin);
	buf_release(&h->worker);
	buf_release(&h->options);
	buf_release(&h->request);
	buf_release(&h->reply.payload);
	mem_free(h->known);
	mem_free(h);
}

/* How the lock file calls the device: a plugin by its path is its own device. */
static void lock_name(const struct host *h, const char *name, char *out, size_t n)
{
	if (!name || strcmp(name, h->backend->name) == 0)
		snprintf(out, n, "%s", h->backend->name);
	else
		snprintf(out, n, "%016llx", (unsigned long long)hash64(name, strlen(name), 0));
}

static void fill_info(struct host *h, const char *name)
{
	struct device_info *i = &h->base.info;
	const char *slash = name ? strrchr(name, '/') : NULL;
	struct buf options = {0};
	join(&options, h->backend->apply, h->options.data);
	snprintf(i->backend, sizeof i->backend, "%.31s",
		!name	? h->backend->name
		: slash ? slash + 1
			: name);
	snprintf(i->compile_options, sizeof i->compile_options, "%s", options.data);
	machine_describe(i->machine, sizeof i->machine);
	i->kind = h->backend->kind;
	i->can_run = h->backend->can_run;
	i->core = -1;
	buf_release(&options);
}

static int check_option(void *ctx, const char *name, const char *value)
{
	(void)ctx;
	(void)name;
	(void)value;
	return 0;
}

static const struct device_ops host_ops = {
	host_close, host_compile, host_drop, host_extract, host_pair, host_run, host_compare};

struct device *host_open(const struct device_options *o, struct err *err)
{
	struct host *h = MEM_NEW(1, struct host);
	char name[64];
	h->base.ops = &host_ops;
	h->base.generation = 1;
	h->seed = o->seed;
	h->deadline = o->deadline > 0 ? o->deadline : DEADLINE;
	rng_seed2(&h->rng, o->seed, hash64("host", 4, 0));
	prior_init(&h->prior);
	buf_adds(&h->options, o->options ? o->options : "");
	h->backend = backend_find(o->backend, err);
	if (!h->backend || backend_plugin(h->backend, o->backend, &h->plugin, err) < 0 ||
		find_worker(&h->worker, err) < 0 ||
		options_each(o->options, check_option, NULL, err) < 0)
		goto fail;
	fill_info(h, o->backend);
	lock_name(h, o->backend, name, sizeof name);
	if (h->backend->can_run) {
		if (core_take(&h->lock, name, o->core, o->wait, err) < 0)
			goto fail;
		h->base.info.core = h->lock.core;
	}
	if (set_up(h, err) < 0)
		goto fail;
	h->base.generation = 1;
	return &h->base;
fail:
	host_close(&h->base);
	return NULL;
}
