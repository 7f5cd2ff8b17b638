/*
 * operators.c - measures operators alone, each once, and adds them up, as the rivals of rival.h do.
 *
 * A run of any program costs some microseconds. So the time of a program that only negates one number is subtracted
 * from each operator; otherwise many small operators would seem dearer than they are inside a program.
 */
#include "search/rival_own.h"

#include <math.h>

#define OPERATOR_SECONDS 0.02 /* that each operator runs, to be measured */

static int run_alone(struct rival *r, const struct buf *module, double *seconds, struct err *err)
{
	struct precision p = {.target = 0.02, .max_seconds = OPERATOR_SECONDS, .min_pairs = 5};
	struct compiled c = {0};
	struct timing t = {0};
	int rc = device_compile(r->d, COMPILE_APPLIED, "hlo", module->data, module->len, 0, &c, err);

	*seconds = NAN;
	if (rc == 0 && c.outcome == OUTCOME_OK)
		rc = device_run(r->d, &c, &p, &t, err);
	if (rc == 0 && c.outcome == OUTCOME_OK && t.outcome == OUTCOME_OK)
		*seconds = t.seconds_a;
	timing_release(&t);
	if (c.handle && device_drop(r->d, &c, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&c);
	return rc;
}

int rival_weigh_nothing(struct rival *r, struct err *err)
{
	static const char nothing[] = "HloModule m\n\nENTRY e {\n  x = f32[1] "
		"parameter(0)\n  ROOT y = f32[1] negate(x)\n}\n";
	struct graph g = {0};
	struct buf module = {0};
	int rc = graph_parse(&g, nothing, sizeof nothing - 1, "nothing", err);

	if (rc == 0)
		graph_write(&g, &module);
	if (rc == 0)
		rc = run_alone(r, &module, &r->nothing, err);
	graph_release(&g);
	buf_release(&module);
	r->nothing = isnan(r->nothing) ? 0 : r->nothing;
	return rc;
}

int rival_add_up(struct rival *r, const struct regions *ops, double *sum, struct err *err)
{
	*sum = 0;
	for (size_t i = 0; i < ops->n; i++) {
		uint64_t key[2] = {ops->v[i].key[0], ~ops->v[i].key[0]};
		const struct price *known = prices_get(&r->known, key);
		struct price p = {.seconds_a = 0};
		if (!known) {
			if (run_alone(r, &ops->v[i].a, &p.seconds_a, err) < 0)
				return -1;
			prices_put(&r->known, key, &p);
			r->a->operators++;
			known = &p;
		}
		*sum += fmax(0, known->seconds_a - r->nothing) + (isnan(known->seconds_a) ? NAN : 0);
	}
	return 0;
}
