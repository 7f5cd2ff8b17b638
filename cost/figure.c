/*
 * figure.c - the cost of a whole program that is an exact figure: the value of a formula, or a figure in the compiled
 * program.
 *
 * A figure is always the same, so each program is compiled only once for it. It is kept like the price of a region
 * whose one side is empty, under the key {0, hash of the module}, in the table and in the store; the store keeps each
 * quantity apart. A hash of the configuration would be cheaper than writing the module, but it does not identify the
 * program. So a table by configuration, which is not stored, is used only within a run.
 *
 * What a compiler for hardware that is not here says of a whole program's seconds is such a figure, too, although moves
 * are priced by regions there. It needs neither code nor the bytes of memory, so these are not asked for: on XLA:GPU
 * that is a sixth of the time.
 */
#include <stdio.h>
#include <string.h>
#include "cost/own.h"

#define OWN 1	   /* first half of the key of the compiler's own program in `figures` */
#define DECIDED 2  /* first half of the key of a configuration in `figures` */

/* Reads the figure from the compiled program; false if it has none of that quantity. */
static bool read_off(const struct compiled *p, enum quantity q, double *value)
{
	if (q == QUANTITY_BYTES && p->has_temp) {
		*value = (double)p->temp_bytes;
		return true;
	}
	*value = q == QUANTITY_SECONDS ? p->optimal_seconds : 0;
	return *value > 0;
}

/* Asks the compiler. A crash is tried once more, because a worker can also die of something else. */
static int ask(struct cost *c, const uint8_t *config, const struct buf *module, double *value, struct fate *fate,
	struct err *err)
{
	enum compile_how how = config ? COMPILE_APPLIED : COMPILE_DEFAULT;
	unsigned want = c->said ? 0 : WANT_MEMORY | (config ? WANT_OPTIMISED : 0);
	int rc = 0;

	for (int tries = 0; tries < 2 && rc == 0; tries++) {
		struct compiled p = {0};
		*fate = (struct fate){0};
		rc = cost_compile(c, how, module, want, &p, fate, err);
		if (rc == 0 && fate->outcome == OUTCOME_OK && config && p.optimised.len)
			rc = cost_check(c, config, &p, fate, err);
		if (rc == 0 && fate->outcome == OUTCOME_OK && !read_off(&p, c->quantity, value)) {
			fate->outcome = OUTCOME_REFUSED;
			snprintf(fate->detail, sizeof fate->detail, "the compiler does not say its %s",
				quantity_name(c->quantity));
		}
		if (cost_drop(c, &p, rc == 0 ? err : NULL) < 0)
			rc = -1;
		if (rc == 0 && fate->outcome != OUTCOME_OK && !cost_cut(c, fate->outcome))
			rc = cost_failed(c, fate->outcome, fate->signal, fate->detail, err);
		if (fate->outcome != OUTCOME_CRASHED)
			break;
	}
	return rc;
}

/* Finds the figure by the hash of the module in the table or the store; otherwise asks the compiler. */
static int figure_of(struct cost *c, const uint8_t *config, const struct buf *module, struct price *out, bool *asked,
	struct fate *fate, struct err *err)
{
	uint64_t key[2] = {0, hash64(module->data, module->len, config ? DECIDED : OWN)};
	int found = cost_find(c, key, out, err);

	if (found != 0)
		return found < 0 ? -1 : 0;
	*asked = true;
	c->totals.asked++;
	*out = (struct price){.kind = cost_kind(c)};
	if (ask(c, config, module, &out->delta, fate, err) < 0)
		return -1;
	out->outcome = fate->outcome;
	out->seconds_b = out->delta;
	if (out->outcome != OUTCOME_OK)
		device_effort(c->device, &out->effort);
	return cost_cut(c, out->outcome) ? 0 : cost_keep(c, key, *out, err);
}

static void key_of(const struct cost *c, const uint8_t *config, uint64_t key[2])
{
	key[0] = config ? DECIDED : OWN;
	key[1] = config ? config_hash(c->space, config) : 0;
}

bool cost_knows_figure(const struct cost *c, const uint8_t *config)
{
	uint64_t key[2];

	key_of(c, config, key);
	return prices_get(&c->figures, key);
}

int cost_figure(struct cost *c, const uint8_t *config, double *value, bool *asked, struct fate *fate, struct err *err)
{
	struct space *s = c->space;
	const struct price *known;
	uint64_t key[2];
	struct buf module = {0};
	struct price p = {0};
	int rc = 0;

	key_of(c, config, key);
	known = prices_get(&c->figures, key);
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
