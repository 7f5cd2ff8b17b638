/*
 * expect.c - foresees what pricing a move would compile, and how long that would take.
 *
 * Helpers compile and measure ahead what is foreseen. Only regions are worth that: whole programs are few, and kept
 * (spare.h). The list leaves out what is priced already. The same calls make it that make the modules when the move is
 * priced, so both are equal byte by byte.
 */
#include <math.h>
#include <string.h>
#include "cost/own.h"

/*
 * A pair that takes longer to compile is nearly all compiling. Then two helpers have it sooner, one side each, and the
 * search, which cannot go on without it, waits half as long. So it is with the first pairs, of which nobody knows. (Not
 * by the pace: that is of the time that a pair took here, which is short for what was compiled ahead, and so the rule
 * would undo itself.)
 */
#define DEAR 2.0 /* seconds */

static bool in_one(const struct cost *c)
{
	return device_info(c->device)->helpers == 1 || (c->compiling > 0 && c->compiling < DEAR);
}

bool cost_known(const struct cost *c, const uint64_t key[2], double *seconds)
{
	uint64_t kept[2];
	bool turn = price_turn(key, kept);
	const struct price *p = key[0] == key[1] ? NULL : prices_get(&c->prices, kept);

	if (!p)
		return key[0] == key[1];
	*seconds += p->outcome != OUTCOME_OK ? INFINITY : turn ? -p->delta : p->delta;
	return true;
}

/* Appends the modules of a region, and the pair, as far as `e` and `modules` say. */
static void add_items(struct region *r, struct errand *e, bool pair, bool modules, uint32_t copies,
	struct agenda *agenda)
{
	size_t from = agenda->n;

	if (pair) {
		buf_add(&e->module[0], r->a.data, r->a.len);
		buf_add(&e->module[1], r->b.data, r->b.len);
	}
	if (modules) {
		agenda_add(agenda, &r->a, copies);
		agenda_add(agenda, &r->b, copies);
	}
	if (pair) {
		agenda->measure = cost_measure_ahead;
		agenda_add_pair(agenda, e);
	}
	for (size_t i = from; i < agenda->n; i++) {
		memcpy(agenda->v[i].price, r->key, sizeof r->key);
		agenda->v[i].of.times = e->times;
		agenda->v[i].of.charge = e->charge;
	}
}

/* Was what measuring it again takes kept from the first time? */
static bool has_sides(struct cost *c, const struct region *r)
{
	return spare_get(&c->sides, COMPILE_REGION, &r->a) && spare_get(&c->sides, COMPILE_REGION, &r->b);
}

/*
 * Takes a region that would be measured: as a pair, where helpers measure; one that is dear also as its modules.
 * Confirmations are measured by whoever is asked, and only compiled ahead.
 */
static int expect_region(struct cost *c, struct region *r, size_t regions, uint32_t copies, struct agenda *agenda,
	struct err *err)
{
	struct price known = {0};
	int found = r->key[0] == r->key[1] ? 1 : copies ? 0 : cost_find(c, r->key, &known, err);
	bool pair = !copies && device_measures_ahead(c->device), one = pair && in_one(c);
	double charge = r->copies * ((double)r->parts[1] - (double)r->parts[0]) * c->part;
	struct errand e = {.alike = r->alike, .apart = !one, .times = r->times, .charge = charge / fmax(r->times, 1),
		.alone = regions == 1, .precision = cost_region_precision(c, r, regions, NULL)};

	if (found == 0 && copies == 1 && has_sides(c, r))
		return 0;
	if (found == 0)
		add_items(r, &e, pair, !one, copies ? copies : 1, agenda);
	else if (found > 0)
		agenda->settled += known.outcome == OUTCOME_OK ? r->times * known.delta + charge : INFINITY;
	return found < 0 ? -1 : 0;
}

/*
 * The regions that pricing this move would compile; none where it is not priced by regions. *instead: the whole program
 * is asked about.
 */
static int regions_to_price(struct cost *c, const uint8_t *a, const uint8_t *b, size_t affordable,
	struct regions *r, bool *instead, struct err *err)
{
	*instead = false;
	if (!c->device || c->how != PRICING_REGION || memcmp(a, b, c->space->n_sites) == 0)
		return 0;
	if (cost_regions(c, a, b, affordable, r, err) < 0 || (!r->beyond && cost_asks_instead(c, r, instead, err) < 0))
		return -1;
	if (*instead)
		regions_release(r);
	return 0;
}

int cost_expect(struct cost *c, const uint8_t *a, const uint8_t *b, uint32_t copies, struct agenda *agenda,
	struct err *err)
{
	struct regions r = {0};
	bool instead;
	int rc = regions_to_price(c, a, b, 0, &r, &instead, err);

	for (size_t i = 0; i < r.n && rc == 0; i++)
		if (!r.v[i].whole && (!copies || !r.v[i].screen))
			rc = expect_region(c, &r.v[i], r.n, copies, agenda, err);
	regions_release(&r);
	return rc;
}

int cost_takes(struct cost *c, const uint8_t *a, const uint8_t *b, double most, double *seconds, size_t *bytes,
	struct err *err)
{
	size_t affordable = pace_bytes(&c->pace, most);
	struct regions r = {0};
	bool instead, guess;
	int rc = regions_to_price(c, a, b, affordable, &r, &instead, err);

	if (rc == 0 && !r.beyond)
		rc = cost_by_places(c, &r, &guess, err);
	*bytes = instead ? c->program : r.beyond ? 2 * affordable : 0;
	*seconds = pace_of(&c->pace, *bytes);
	if (r.beyond)
		regions_release(&r);
	for (size_t i = 0; i < r.n && rc == 0; i++)
		rc = cost_region_takes(c, &r.v[i], seconds, bytes, err);
	regions_release(&r);
	return rc;
}
