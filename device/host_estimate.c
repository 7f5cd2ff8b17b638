/*
 * host_estimate.c - compiles for hardware that is not here, and prices the result.
 *
 * The compiler is stopped before it generates code, if that is possible (schemas/estimate.def). That takes a sixth of
 * the time, and it leaves the optimised program with all prices. It then ends with the error that we asked for, so only
 * the file that it left tells whether all went well. A caller who wants the executable, or its memory, gets a whole
 * compile; the price is the same.
 *
 * Nothing of such a program stays in the worker. Its handle is a number of the host's, which keeps the price for it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "device/dump.h"
#include "device/host.h"
#include "device/module.h"
#include "hlo/stopper.h"

#define OURS 0x80000000u /* a bit in handles that the worker does not know */

/* Runs the compiler until it stops, and reads the optimised module that it left. */
static int compile_until_priced(struct host *h, const char *format, const char *options, const void *p, size_t n,
	struct compiled *out, struct err *err)
{
	struct dump dump;
	struct buf all = {0}, stopped = {0}, left = {0};
	bool call = h->backend->traits & HERE && strcmp(format, "hlo") == 0; /* what stops it is part of the program */

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
	if (rc == 0 && left.len && call)
		rc = stopper_drop(left.data, left.len, "the program that was left", &out->optimised, err);
	else if (rc == 0)
		buf_add(&out->optimised, left.data, left.len);
	if (rc == 0 && out->optimised.len) {
		out->outcome = OUTCOME_OK;
		out->detail[0] = 0;
		out->hash = module_hash(out->optimised.data, out->optimised.len);
	}
	dump_end(&dump);
	buf_release(&all);
	buf_release(&stopped);
	buf_release(&left);
	return rc;
}

/* Prices the optimised module by the reader of the backend's row. */
static void price(struct host *h, enum compile_how how, struct compiled *out)
{
	struct priced e = {0};
	struct graph g = {0};
	struct err err = {{0}};

	if (graph_parse(&g, out->optimised.data, out->optimised.len, "the optimised program", &err) < 0) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, "%.500s", err.text);
	} else {
		h->estimator->read(&g, h->target, h->base.info.spread, &e);
		out->optimal_seconds = e.seconds;
		if (e.bytes) {
			out->peak_bytes = out->temp_bytes = e.bytes;
			out->has_temp = true;
		}
		if (how == COMPILE_APPLIED && e.outcome != OUTCOME_OK) {
			out->outcome = e.outcome;
			snprintf(out->detail, sizeof out->detail, "%s", e.detail);
		}
	}
	graph_release(&g);
}

int host_compile_for(struct host *h, enum compile_how how, const char *format, const char *options, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err)
{
	const struct estimator *e = h->estimator;
	bool reads = e && e->read, here = h->backend->traits & HERE;
	bool stops = reads && *e->stop && (here || !(want & (WANT_SERIALISED | WANT_MEMORY)));
	int rc;

	if (stops)
		rc = compile_until_priced(h, format, options, p, n, out, err);
	else
		rc = host_compile_with(h, format, options, p, n, want | (reads ? WANT_OPTIMISED : WANT_MEMORY), true,
			NULL, out, err);
	if (rc == 0 && out->outcome == OUTCOME_OK && reads)
		price(h, how, out);
	if (!(want & WANT_OPTIMISED))
		buf_release(&out->optimised);
	if (rc == 0 && out->outcome == OUTCOME_OK && stops)
		out->handle = OURS | ++h->last_handle;
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
