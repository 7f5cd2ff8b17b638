/*
 * ledger.c - the books of a cost: prices that were found and are kept, failures, and what kind of figures these are.
 *
 * A price is looked up in the table in memory, then, through the hooks, in the store. One that was found in the store
 * goes into the table. A failure is kept like a price, and stands until there is more time or memory to try it again.
 * Nothing here asks the device for work.
 */
#include "cost/own.h"
#include "device/room.h"

const struct cost_totals *cost_totals(const struct cost *c)
{
	return &c->totals;
}

enum quantity cost_quantity(const struct cost *c)
{
	return c->quantity;
}

enum cost_kind cost_kind(const struct cost *c)
{
	return c->device ? device_info(c->device)->kind : COST_MODELLED;
}

bool cost_exact(const struct cost *c)
{
	return cost_kind(c) != COST_MEASURED || quantity_deterministic(cost_quantity(c));
}

bool cost_whole_exact(const struct cost *c)
{
	return c->how == PRICING_COMPILED || c->how == PRICING_FORMULA;
}

int cost_failed(struct cost *c, enum outcome o, int signal, const char *detail, struct err *err)
{
	const struct cost_hooks *h = &c->o.hooks;

	c->totals.failed[o]++;
	return h->failed ? h->failed(h->ctx, o, signal, detail, err) : 0;
}

bool cost_cut(const struct cost *c, enum outcome o)
{
	return o == OUTCOME_TIMEOUT && c->device && device_late(c->device);
}

int cost_keep(struct cost *c, const uint64_t key[2], struct price p, struct err *err)
{
	const struct cost_hooks *h = &c->o.hooks;
	const struct price *old;
	uint64_t kept[2];

	if (price_turn(key, kept))
		p = price_turned(p);
	old = prices_get(&c->prices, kept);
	if (old && old->outcome == OUTCOME_OK && (p.outcome != OUTCOME_OK || old->se < p.se))
		return 0;
	prices_put(&c->prices, kept, &p);
	return h->insert ? h->insert(h->ctx, kept, &p, err) : 0;
}

/* Is a price that was found still good? A failure is not if it is worth another try. */
static bool stands(const struct cost *c, const struct price *p, bool same_run)
{
	struct effort now;

	if (p->outcome == OUTCOME_OK)
		return true;
	device_effort(c->device, &now);
	return !effort_retries(p->outcome, &p->effort, &now, same_run);
}

int cost_find(struct cost *c, const uint64_t key[2], struct price *out, struct err *err)
{
	const struct cost_hooks *h = &c->o.hooks;
	const struct price *p;
	uint64_t kept[2];
	bool turn = price_turn(key, kept);
	int rc = 1;

	p = prices_get(&c->prices, kept);
	if (p) {
		*out = *p;
		rc = stands(c, p, true);
	} else if (h->lookup) {
		rc = h->lookup(h->ctx, kept, out, err);
		if (rc == 1)
			rc = stands(c, out, false);
		if (rc == 1)
			prices_put(&c->prices, kept, out);
	} else {
		rc = 0;
	}
	if (rc == 1 && turn)
		*out = price_turned(*out);
	return rc;
}
