/*
 * host_extract.c - lets the compiler write a program down at the stage of a device.
 */
#include <stdio.h>
#include <string.h>
#include "device/dump.h"
#include "device/host.h"

int host_extract_at(struct host *h, const char *format, const void *p, size_t n, unsigned more,
	struct compiled *compiled, struct extracted *out, struct err *err)
{
	struct dump dump;
	struct host_veto veto;
	struct buf options = {0};
	const char *stop = h->estimator ? h->estimator->stop : "";

	host_join(&options, h->stage->extract, stop);
	if (dump_begin(&dump, options.data, err) < 0) {
		buf_release(&options);
		return -1;
	}
	host_join(&options, dump.options.data, h->options.data);
	host_veto_begin(&veto, h, &dump);
	int rc = host_compile_with(h, format, options.data, p, n, WANT_SERIALISED | WANT_MEMORY | more, false, NULL,
		compiled, err);
	host_veto_end(&veto);
	if (rc == 0) {
		out->outcome = compiled->outcome;
		out->seconds = compiled->seconds;
		out->peak_bytes = compiled->peak_bytes;
		out->own = compiled->serialised;
		compiled->serialised = (struct buf){0};
		memcpy(out->detail, compiled->detail, sizeof out->detail);
	}
	if (rc == 0 && *stop && out->outcome == OUTCOME_REFUSED && dump_has(&dump, h->estimator->left))
		out->outcome = OUTCOME_OK; /* it stopped where it was asked to */
	/* what was refused while code was generated was shown before that */
	if (rc == 0 && (out->outcome == OUTCOME_OK || (out->outcome == OUTCOME_REFUSED && strcmp(format, "hlo") != 0)))
		rc = dump_read(&dump, h->stage, strcmp(format, "hlo") != 0, out, err);
	dump_end(&dump);
	buf_release(&options);
	return rc;
}
