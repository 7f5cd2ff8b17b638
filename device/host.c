/*
 * host.c - a device that is a worker process holding a plugin.
 *
 * Every request has a deadline. A worker that does not answer in time, dies, or sends nonsense is killed and
 * reaped. The outcome of the request says what happened, with the signal and the last words of the plugin. The
 * generation grows, which makes all handles given out so far invalid. The next request starts a new worker, so
 * closing after a crash costs nothing. host_open.c makes a device of it.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/mem.h"
#include "base/progress.h"
#include "base/talk.h"
#include "device/codegen.h"
#include "device/host.h"
#include "device/last_words.h"

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

void host_bury(struct host *h)
{
	child_stop(&h->child);
	h->base.generation++;
	h->n_known = 0;
}

/* Turns the end of the worker into an outcome. `deadline` is the deadline of this answer, or 0 if it had none. */
static void judge(struct host *h, enum exchange e, double deadline, struct answer *a)
{
	int status = h->child.status;
	if (e == EXCHANGE_UNWANTED) {
		a->outcome = OUTCOME_OOM;
		snprintf(a->detail, a->detail_size, "%s", h->unwanted);
		host_bury(h);
		return;
	}
	if (e == EXCHANGE_TIMEOUT) {
		a->outcome = OUTCOME_TIMEOUT;
		snprintf(a->detail, a->detail_size, "no answer within %.3g s; the worker was killed",
			deadline > 0 ? deadline : now_seconds() - h->asked);
	} else if (e == EXCHANGE_STALLED) {
		a->outcome = OUTCOME_CRASHED;
		snprintf(a->detail, a->detail_size, "its threads waited for each other; the worker was killed");
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
		snprintf(a->detail, a->detail_size, "the worker ended by itself with status %d", WEXITSTATUS(status));
	}
	add_last_words(&h->child, a->detail, a->detail_size);
	host_bury(h);
}

/*
 * Returns the limit of the worker's data in bytes, 0 for none. With a limit a leak ends the worker and not the machine.
 * Accelerator runtimes reserve address space by the terabyte, so only workers that compute in the host's memory have
 * one. VANTAGE_WORKER_MEMORY sets it, in MiB.
 */
uint64_t host_memory_limit(const struct host *h)
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

static void put_crew(const struct host *h, struct buf *q)
{
	buf_u32(q, (uint32_t)h->n_crew);
	for (size_t i = 0; i < h->n_crew; i++)
		buf_u32(q, (uint32_t)h->crew[i]);
}

int host_set_up(struct host *h, struct err *err)
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
	buf_str(q, h->inputs ? h->inputs : "");
	put_cores(h, q);
	put_crew(h, q);
	buf_u64(q, host_memory_limit(h));
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

/* Is it a request to run programs, on this machine's cores? */
static bool runs_here(const struct host *h, enum wire_type type)
{
	return (type == WIRE_MEASURE || type == WIRE_COMPARE) && h->backend->traits & ON_HOST &&
	       h->base.info.kind == COST_MEASURED;
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
		int rc = host_set_up(h, err);
		buf_release(&h->request);
		h->request = kept;
		if (rc < 0)
			return -1;
	}
	h->asked = now_seconds();
	struct patience patience = host_patience(h);
	if (type == WIRE_DROP) { /* it takes no time, and a search that is late has to tidy up as well */
		patience.until = 0;
		patience.heeds_stop = false;
	}
	if (runs_here(h, type))
		patience.asleep = patience_asleep();
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
		judge(h, EXCHANGE_BROKEN, 0, a);
		return 0;
	}
	a->outcome = outcome;
	return 1;
}

void host_distrust(struct host *h, const struct cursor *c, struct answer *a)
{
	if (!cursor_done(c))
		judge(h, EXCHANGE_BROKEN, 0, a);
}

#define LARGE ((size_t)128 << 10) /* bytes of a program; smaller ones are compiled before other cores have woken up */

void host_join(struct buf *out, const char *a, const char *b)
{
	buf_reset(out);
	buf_adds(out, a);
	if (b && *b)
		buf_addf(out, "%s%s", *a ? "," : "", b);
}

/* The options that are asked for, and what this program needs so that it ends. It is said once what that is. */
static void join_needed(const struct host *h, const char *format, const char *options, const void *p, size_t n,
	struct buf *out)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *needed = strcmp(format, "hlo") == 0 ? codegen_needed(h->backend->name, p, n) : "";

	host_join(out, options, needed);
	if (*needed && !atomic_flag_test_and_set(&said))
		talk("Fourier transforms of this program may run at once: each is computed by one thread (%s), for the "
			"compiler's threads could wait for each other for ever", needed);
}

/* Without `keep` the program is a user's own, which is compiled to be looked at and not run. */
int host_compile_with(struct host *h, const char *format, const char *options, const void *p, size_t n,
	unsigned want, bool keep, const struct ahead *ahead, struct compiled *out, struct err *err)
{
	struct answer a = {
		.detail = out->detail, .detail_size = sizeof out->detail, .signal = &out->signal};
	struct buf *q = &h->request, all = {0};
	struct cursor c;
	if (n > WIRE_LIMIT - 65536)
		return err_set(err, "a program of %zu bytes is too large", n);
	buf_reset(q);
	join_needed(h, format, options, p, n, &all);
	buf_str(q, format);
	buf_str(q, all.len ? all.data : "");
	buf_release(&all);
	buf_u32(q, want | (n >= LARGE && !h->base.planned ? WANT_CREW : 0u));
	buf_u8(q, keep || want & WANT_RESIDENT);
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

void host_note(struct host *h, const struct compiled *c, const struct known *k)
{
	if (!c->handle)
		return;
	MEM_GROW(&h->known, &h->cap_known, h->n_known + 1);
	h->known[h->n_known] = *k;
	h->known[h->n_known++].handle = c->handle;
}
