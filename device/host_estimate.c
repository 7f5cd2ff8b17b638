/*
 * host_estimate.c - compiles for hardware that is not here, and prices the result.
 *
 * The compiler is stopped before it generates code, if that is possible (schemas/estimate.def). That takes a sixth of
 * the time, and it leaves the optimised program with all prices. It then ends with the error that we asked for, so only
 * the file that it left tells whether all went well. A caller who wants the executable, or its memory, gets a whole
 * compile; the price is the same.
 *
 * Nothing of such a program stays in the worker. Its handle is a number of the host's, which keeps the price for it.
 *
 * The compiler always makes the same of a program, and a compile may take a minute. So the last few programs are kept
 * with what came of them; one that is asked for again is not compiled again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "device/dump.h"
#include "device/host.h"
#include "device/module.h"
#include "hlo/exchange.h"
#include "hlo/stopper.h"

#define SMALL ((size_t)128 << 10) /* bytes of a program, of which compiling takes hardly longer than what is left out */
#define OURS 0x80000000u /* a bit in handles that the worker does not know */

/*
 * Runs the compiler until it stops, and reads the optimised module that it left.
 *
 * With a few passes only, XLA:CPU may abort before it reaches what stops it: two constants that a loop carries and
 * exchanges end up in one place, because the pass that copies them did not run. What it left before that is what we
 * wanted. None of our handles is the worker's here, so its death takes none with it.
 */
static int compile_until_priced(struct host *h, const char *format, const char *options, const void *p, size_t n,
	struct compiled *out, struct err *err)
{
	struct dump dump;
	struct buf all = {0}, stopped = {0}, left = {0};
	bool call = h->backend->traits & HERE && strcmp(format, "hlo") == 0; /* what stops it is part of the program */
	uint32_t generation = h->base.generation;
	struct err ignored;

	if ((call && stopper_add(p, n, "the program", &stopped, err) < 0) || dump_begin(&dump, h->estimator->stop,
		err) < 0) {
		buf_release(&stopped);
		return -1;
	}
	buf_addf(&all, "%s%s%s", options, *options ? "," : "", dump.options.data);
	int rc = host_compile_with(h, format, all.data, call ? stopped.data : p, call ? stopped.len : n, 0, false, NULL,
		out, err);
	if (rc == 0 && (out->outcome == OUTCOME_OK || out->outcome == OUTCOME_REFUSED))
		rc = dump_left(&dump, h->estimator->left, &left, err);
	else if (rc == 0 && out->outcome == OUTCOME_CRASHED && call &&
		dump_left(&dump, h->estimator->left, &left, &ignored) < 0)
		buf_reset(&left);
	if (rc == 0 && left.len && call)
		rc = stopper_drop(left.data, left.len, "the program that was left", &out->optimised, err);
	else if (rc == 0)
		buf_add(&out->optimised, left.data, left.len);
	if (rc == 0 && out->optimised.len) {
		out->outcome = OUTCOME_OK;
		out->detail[0] = 0;
		out->signal = 0;
		h->base.generation = generation;
		out->hash = module_hash(out->optimised.data, out->optimised.len);
	}
	dump_end(&dump);
	buf_release(&all);
	buf_release(&stopped);
	buf_release(&left);
	return rc;
}

/* Compiles completely, and keeps the schedule that the compiler leaves. */
static int compile_with_schedule(struct host *h, const char *format, const char *options, const void *p, size_t n,
	unsigned want, struct compiled *out, struct buf *schedule, struct err *err)
{
	struct dump dump;
	struct buf all = {0}, module = {0};
	bool add = strcmp(format, "hlo") == 0;
	int rc;

	if (add && exchange_add(p, n, "the program", spread_devices(h->base.info.spread), &module, err) < 0)
		return -1;
	if (dump_begin(&dump, h->estimator->stop, err) < 0) {
		buf_release(&module);
		return -1;
	}
	host_join(&all, options, dump.options.data);
	rc = host_compile_with(h, format, all.data, add ? module.data : p, add ? module.len : n,
		want | WANT_OPTIMISED | WANT_MEMORY, true, NULL, out, err);
	if (rc == 0 && out->outcome == OUTCOME_OK)
		rc = dump_left_text(&dump, h->estimator->left, schedule, err);
	dump_end(&dump);
	buf_release(&all);
	buf_release(&module);
	return rc;
}

/* The price, with the weights of its parts. Weights of 1 change nothing, not even by rounding. */
static double weighted(const struct host *h, const struct priced *e)
{
	double seconds = e->seconds;

	for (int i = 0; i < ESTIMATE_PARTS; i++)
		seconds += (h->weight[i] - 1) * e->part[i];
	return seconds;
}

/* Prices the optimised module by the reader of the backend's row. Returns how many kernels have no price. */
static uint32_t price(struct host *h, enum compile_how how, const struct buf *schedule, struct compiled *out)
{
	struct priced e = {0};
	struct graph g = {0};
	struct err err = {{0}};

	if (graph_parse(&g, out->optimised.data, out->optimised.len, "the optimised program", &err) < 0) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, "%.500s", err.text);
	} else {
		if (h->estimator->schedule)
			h->estimator->schedule(schedule->data, schedule->len, &g, h->target, h->base.info.spread, &e);
		else
			h->estimator->read(&g, h->target, h->base.info.spread, &e);
		out->optimal_seconds = weighted(h, &e);
		if (e.bytes) {
			out->peak_bytes = out->temp_bytes = e.bytes;
			out->has_temp = true;
		} else if (h->estimator->schedule && out->peak_bytes) { /* what a device of several has to hold */
			out->temp_bytes = out->peak_bytes;
		}
		if (e.outcome != OUTCOME_OK && (how != COMPILE_DEFAULT || e.seconds <= 0)) {
			out->outcome = e.outcome;
			snprintf(out->detail, sizeof out->detail, "%s", e.detail);
		}
	}
	graph_release(&g);
	return e.unpriced;
}

/*
 * Compiles until the compiler stops, and prices what it left. A small program is first tried in the brief manner. Calls
 * of a library are what has no price then, so that is not tried with one.
 */
static int compile_and_price(struct host *h, enum compile_how how, const char *format, const char *options,
	const void *p, size_t n, struct compiled *out, struct err *err)
{
	static const char call[] = "custom-call";
	const char *brief = h->estimator->brief;
	bool try = *brief && how != COMPILE_DEFAULT && n < SMALL && !strstr(options, brief) && !memmem(p, n, call,
		sizeof call - 1);
	const struct buf none = {0};
	struct buf all = {0};
	int rc;

	host_join(&all, options, try ? brief : "");
	rc = compile_until_priced(h, format, all.len ? all.data : "", p, n, out, err);
	if (rc == 0 && out->outcome == OUTCOME_OK && price(h, how, &none, out) && try) {
		compiled_release(out);
		*out = (struct compiled){0};
		rc = compile_until_priced(h, format, options, p, n, out, err);
		if (rc == 0 && out->outcome == OUTCOME_OK)
			price(h, how, &none, out);
	}
	buf_release(&all);
	return rc;
}

static int compile_new(struct host *h, enum compile_how how, const char *format, const char *options, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	const struct estimator *e = h->estimator;
	bool reads = e && (e->read || e->schedule), here = h->backend->traits & HERE;
	bool stops = reads && e->read && *e->stop && (here || !(want & (WANT_SERIALISED | WANT_MEMORY)));
	struct buf schedule = {0};
	int rc;

	if (stops)
		rc = compile_and_price(h, how, format, options, p, n, out, err);
	else if (reads && e->schedule)
		rc = compile_with_schedule(h, format, options, p, n, want, out, &schedule, err);
	else
		rc = host_compile_with(h, format, options, p, n, want | (reads ? WANT_OPTIMISED : WANT_MEMORY), true,
			NULL, out, err);
	if (rc == 0 && out->outcome == OUTCOME_OK && reads && !stops)
		price(h, how, &schedule, out);
	buf_release(&schedule);
	if (!(want & WANT_OPTIMISED))
		buf_release(&out->optimised);
	if (rc == 0 && out->outcome == OUTCOME_OK && stops)
		out->handle = OURS | ++h->last_handle;
	return rc;
}

/* Copies what came of a program; the copy has texts of its own, and a handle of the host's. */
static void copy_compiled(struct host *h, const struct compiled *from, struct compiled *out)
{
	*out = *from;
	out->optimised = out->serialised = (struct buf){0};
	buf_add(&out->optimised, from->optimised.data, from->optimised.len);
	buf_add(&out->serialised, from->serialised.data, from->serialised.len);
	if (out->handle)
		out->handle = OURS | ++h->last_handle;
}

static void remember(struct host *h, const uint64_t key[2], const struct compiled *c)
{
	struct remembered *r = &h->remembered[h->n_remembered++ % REMEMBERED];

	compiled_release(&r->compiled);
	memcpy(r->key, key, sizeof r->key);
	copy_compiled(h, c, &r->compiled);
}

void host_forget(struct host *h)
{
	for (uint32_t i = 0; i < REMEMBERED; i++)
		compiled_release(&h->remembered[i].compiled);
	h->n_remembered = 0;
}

int host_compile_for(struct host *h, enum compile_how how, const char *format, const char *options, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	bool all = h->estimator && (h->estimator->schedule || h->backend->traits & HERE); /* whatever is wanted */
	uint64_t what = hash_mix(hash64(format, strlen(format), how), all ? 0 : want);
	uint64_t asked = hash64(options, strlen(options), what);
	uint64_t key[2] = {hash64(p, n, asked), hash64(p, n, ~asked)};
	int rc;

	want |= all ? WANT_OPTIMISED : 0;
	for (uint32_t i = 0; i < REMEMBERED && i < h->n_remembered; i++)
		if (memcmp(h->remembered[i].key, key, sizeof key) == 0 && !(want & WANT_SERIALISED)) {
			copy_compiled(h, &h->remembered[i].compiled, out);
			return 0;
		}
	rc = compile_new(h, how, format, options, p, n, want, out, err);
	if (rc == 0 && out->outcome == OUTCOME_OK)
		remember(h, key, out);
	return rc;
}

bool host_handle_is_ours(uint32_t handle)
{
	return handle & OURS;
}

int host_estimate(struct host *h, uint32_t a, uint32_t b, struct timing *out)
{
	struct known *ka = host_known(h, a), *kb = b ? host_known(h, b) : ka;
	out->seconds_a = ka ? ka->optimal : 0;
	out->seconds_b = b && kb ? kb->optimal : 0;
	if (out->seconds_a <= 0 || (b && out->seconds_b <= 0)) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, "the compiler gives no estimate for this program");
	} else if (b) {
		out->delta = out->seconds_b - out->seconds_a;
		out->ratio = log(out->seconds_b / out->seconds_a);
	}
	return 0;
}
