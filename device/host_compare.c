/*
 * host_compare.c - reads how far the outputs of two programs are apart from what a worker says of them.
 */
#include <math.h>
#include <stdio.h>
#include "device/host.h"

#define DIFFERENCE(F) \
	F(f64, max_abs) F(f64, max_rel) F(f64, unit) F(u64, elements) F(u64, finite) F(u64, unlike) \
	F(u64, far) F(f64, rest_rel)

static void read_differences(struct cursor *in, struct comparison *out)
{
	out->layouts_differ = cursor_u8(in);
	out->n_outputs = cursor_count(in, 0 DIFFERENCE(FIELD_SIZE));
	out->output = MEM_NEW(out->n_outputs + 1, struct difference);
	for (uint32_t i = 0; i < out->n_outputs; i++) {
		struct difference *at = &out->output[i], *all = &out->all;
		DIFFERENCE(FIELD_LOAD)
		all->max_abs = fmax(all->max_abs, at->max_abs);
		all->max_rel = fmax(all->max_rel, at->max_rel);
		all->unit = fmax(all->unit, at->unit);
		all->elements += at->elements;
		all->finite += at->finite;
		all->unlike += at->unlike;
		all->far += at->far;
		all->rest_rel = fmax(all->rest_rel, at->rest_rel);
	}
}

int host_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o, struct comparison *out,
	struct err *err)
{
	struct host *h = host_of(d);
	struct answer ans = {.detail = out->detail, .detail_size = sizeof out->detail};
	struct cursor c;
	bool over;
	int rc;
	if (*h->target) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail,
			"%s only compiles: there are no outputs to compare", h->base.info.backend);
		return 0;
	}
	h->work = work_of_comparing(h);
	buf_reset(&h->request);
	buf_u32(&h->request, a);
	buf_u32(&h->request, b);
	buf_u32(&h->request, o->inputs);
	buf_u8(&h->request, o->nudged);
	buf_u8(&h->request, o->both);
	buf_u8(&h->request, o->fresh);
	buf_u8(&h->request, o->impatient);
	rc = host_ask(h, WIRE_COMPARE, &ans, &c, err);
	if (rc > 0) {
		read_differences(&c, out);
		over = cursor_u8(&c);
		host_distrust(h, &c, &ans);
		if (over && ans.outcome == OUTCOME_TIMEOUT)
			host_bury(h);
	}
	out->outcome = ans.outcome;
	return rc < 0 ? -1 : 0;
}
