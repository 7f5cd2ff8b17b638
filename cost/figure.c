/*
 * figure.c - what a whole program costs in a configuration, where that is a figure and no measurement: a formula's value,
 * or what stands in the compiled program.
 *
 * A figure is the same each time, so each program is compiled for it once. It is kept as the price of the program against
 * nothing: under the key {0, hash of the module}, in the table and in the store, beside the prices of regions; a store
 * keeps those of each quantity apart. (The hash of the configuration would spare writing the module, but says nothing about the
 * program.) A table by configuration, which no store sees, spares it all the same within a run.
 */
#include <stdio.h>
#include <string.h>
#include "cost/own.h"

#define OWN 1	   /* first half of the key of the compiler's own program, in the table */
#define DECIDED 2  /* ... and of a configuration */

/* What stands in the compiled program; false: nothing of that quantity does. */
static bool read_off(const struct compiled *p, enum quantity q, double *value)
{
	if (q != QUANTITY_BYTES || !p->has_temp)
		return false;
	*value = (double)p->temp_bytes;
	return true;
}

/* Asks the compiler; a crash is tried once more, for a worker can die of something else. */
static int ask(struct cost *c, const uint8_t *config, const struct buf *module, double *value, struct fate *fate,
	struct err *err)
{
	enum compile_how how = config ? COMPILE_APPLIED : COMPILE_DEFAULT;
	int rc = 0;

	for (int tries = 0; tries < 2 && rc == 0; tries++) {
		struct compiled p = {0};
		*fate = (struct fate){0};
		rc = cost_compile(c, how, module, WANT_MEMORY | (config ? WANT_OPTIMISED : 0), &p, fate, err);
		if (rc == 0 && fate->outcome == OUTCOME_OK && config && p.optimised.len)
			rc = cost_check(c, config, &p, fate, err);
		if (rc == 0 && fate->outcome == OUTCOME_OK && !read_off(&p, c->quantity, value)) {
			fate->outcome = OUTCOME_REFUSED;
			snprintf(fate->detail, sizeof fate->detail, "the compiler does not say its %s", quantity_name(c->quantity));
		}
		if (cost_drop(c, &p, rc == 0 ? err : NULL) < 0)
			rc = -1;
		if (rc == 0 && fate->outcome != OUTCOME_OK)
			rc = cost_failed(c, fate->outcome, fate->signal, fate->detail, err);
		if (fate->outcome != OUTCOME_CRASHED)
			break;
	}
	return rc;
}

/* By the hash of the module, from the table or the store, or else from the compiler. */
static int figure_of(struct cost *c, const uint8_t *config, const struct buf *module, struct price *out, bool *asked,
	struct fate *fate, struct err *err)
{
	uint64_t key[2] = {0, hash64(module->data, module->len, config ? DECIDED : OWN)};
	int found = cost_find(c, key, out, err);

	if (found != 0)
		return found < 0 ? -1 : 0;
	*asked = true;
	*out = (struct price){.kind = cost_kind(c)};
	if (ask(c, config, module, &out->delta, fate, err) < 0)
		return -1;
	out->outcome = fate->outcome;
	out->seconds_b = out->delta;
	if (out->outcome != OUTCOME_OK)
		device_effort(c->device, &out->effort);
	return cost_keep(c, key, *out, err);
}

int cost_figure(struct cost *c, const uint8_t *config, double *value, bool *asked, struct fate *fate, struct err *err)
{
	struct space *s = c->space;
	uint64_t key[2] = {config ? DECIDED : OWN, config ? config_hash(s, config) : 0};
	const struct price *known = prices_get(&c->figures, key);
	struct buf module = {0};
	struct price p = {0};
	int rc = 0;

	*asked = c->how == PRICING_FORMULA;
	if (c->how == PRICING_FORMULA) {
		BUG_ON(!config);
		*value = s->ops->formula(s, config, c->quantity);
		return 0;
	}
	if (known && known->outcome == OUTCOME_OK) {
		*value = known->delta;
		return 0;
	}
	if (config)
		rc = s->ops->apply(s, config, &module, err);
	if (rc == 0)
		rc = figure_of(c, config, config ? &module : c->o.original, &p, asked, fate, err);
	if (rc == 0)
		prices_put(&c->figures, key, &p);
	if (rc == 0 && p.outcome != OUTCOME_OK && fate->outcome == OUTCOME_OK) {
		fate->outcome = p.outcome;
		snprintf(fate->detail, sizeof fate->detail, "%s, when it was tried before", outcome_meaning(p.outcome));
	}
	*value = p.delta;
	buf_release(&module);
	return rc;
}
