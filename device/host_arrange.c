/*
 * host_arrange.c - asks the compiler how it arranges a program in memory: stops a compilation before it generates code
 * (hlo/stopper.h), and reads the dump that it leaves.
 */
#include <stdio.h>
#include <string.h>
#include "device/dump.h"
#include "device/host.h"
#include "hlo/stopper.h"

static void add_options(struct buf *out, const char *more)
{
	if (more && *more)
		buf_addf(out, ",%s", more);
}

/* The compiler has to fail, but not before it has written how it arranged the program. */
int host_arrange(struct device *d, enum compile_how how, const char *further, const void *p, size_t n,
	struct arranged *out, struct err *err)
{
	struct host *h = host_of(d);
	struct dump dump = {0};
	struct buf options = {0}, stopped = {0};
	struct compiled compiled = {0};
	const char *stop = h->estimator && !(h->backend->traits & HERE) ? h->estimator->stop : "";
	int rc = 0;

	if (!h->stage || !h->stage->arranged)
		return err_set(err, "%s was not opened for a kind of decision about memory", h->base.info.backend);
	if (!*stop)
		rc = stopper_add(p, n, "the program", &stopped, err);
	host_join(&options, h->stage->extract, stop);
	if (rc == 0)
		rc = dump_begin(&dump, options.data, err);
	if (rc == 0) {
		buf_reset(&options);
		buf_adds(&options, dump.options.data);
		add_options(&options, how == COMPILE_DEFAULT ? NULL : h->stage->apply);
		add_options(&options, h->options.data);
		add_options(&options, further);
		rc = host_compile_with(h, "hlo", options.data, *stop ? p : stopped.data, *stop ? n : stopped.len, 0,
			false, NULL, &compiled, err);
	}
	if (rc == 0)
		rc = dump_read_arranged(&dump, h->stage, &out->proto, err);
	out->seconds = compiled.seconds;
	if (rc == 0 && !out->proto.len) {
		out->outcome = compiled.outcome == OUTCOME_OK ? OUTCOME_REFUSED : compiled.outcome;
		memcpy(out->detail, compiled.detail, sizeof out->detail);
		if (compiled.outcome == OUTCOME_OK)
			snprintf(out->detail, sizeof out->detail,
				"the compiler did not write how it arranged the program");
		rc = dump_room(&dump, err);
	}
	dump_end(&dump);
	compiled_release(&compiled);
	buf_release(&options);
	buf_release(&stopped);
	return rc;
}

/* `before` gets the optimised module, `after` all that the compiler wrote about it. */
int host_extract_arranged(struct device *d, const void *p, size_t n, struct extracted *out, struct err *err)
{
	struct arranged a = {0};
	int rc = host_arrange(d, COMPILE_DEFAULT, host_of(d)->base.info.made_by, p, n, &a, err);

	out->outcome = a.outcome;
	out->seconds = a.seconds;
	memcpy(out->detail, a.detail, sizeof out->detail);
	if (rc == 0 && a.outcome == OUTCOME_OK)
		rc = stopper_drop(a.proto.data, a.proto.len, "the optimised program", &out->before, err);
	if (rc == 0 && a.outcome == OUTCOME_OK) {
		out->after = a.proto;
		a.proto = (struct buf){0};
	}
	arranged_release(&a);
	return rc;
}
