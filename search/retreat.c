/*
 * retreat.c - where a hunt goes when the whole program refutes what was kept.
 *
 * It goes back to the configuration that was vouched for last. That is sure, and may cost too much: of 83 steps that
 * were kept since, one may be at fault. (In a rigid body simulation it was so, and a gain of a quarter was thrown away
 * with the one step after which the whole program could not be measured.) So the hunt remembers the configuration after
 * each step, and looks for the longest row of steps that stands, by halves: the whole program is measured after the
 * first half of them. If it runs and is faster than what was vouched for, it is vouched for, and half of the rest is
 * tried; if not, half of this half. That is no proof, since steps need not become worse one after the other. But
 * whatever is vouched for was measured.
 *
 * Where the kind goes by rules, what follows one of them is left out first, of that which is believed to gain least: a
 * bad step is mostly not alone, and steps of other rules came between.
 *
 * A try takes as long as a check, so there are few, within the share of the time that checks have, even if the search
 * would be over meanwhile: it would have been for nothing. Where limits are to be kept there are none, because how far
 * each step went from them is not remembered.
 */
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "search/hunt.h"
#include "search/ruled.h"

#define TRIES 5
#define RULES 2 /* of them without what follows one rule */
#define MOST_BYTES ((size_t)256 << 20) /* of configurations; of later steps none is remembered */

void hunt_leave_trail(struct hunt *h)
{
	size_t each = h->s->n_sites;

	if (cost_whole_exact(h->lab->cost) || h->n_limits || (h->n_trail + 1) * each > MOST_BYTES)
		return;
	if (h->n_trail == 0)
		h->trail_from = (uint32_t)h->n_steps - 1;
	if (h->trail_from + h->n_trail + 1 != h->n_steps)
		return;
	MEM_GROW(&h->trail, &h->cap_trail, (h->n_trail + 1) * each);
	memcpy(h->trail + h->n_trail++ * each, h->config, each);
}

/* Each configuration as what differs from the one before it, the first from what was vouched for last. */
void hunt_save_trail(const struct hunt *h, struct buf *out)
{
	size_t each = h->s->n_sites;
	const uint8_t *before = h->sure;

	buf_u32(out, h->trail_from);
	buf_u32(out, (uint32_t)h->n_trail);
	for (const uint8_t *row = h->trail; row && row < h->trail + h->n_trail * each; row += each) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < each; i++)
			n += row[i] != before[i];
		buf_u32(out, n);
		for (uint32_t i = 0; i < each && n; i++)
			if (row[i] != before[i]) {
				buf_u32(out, i);
				buf_u8(out, row[i]);
			}
		before = row;
	}
}

void hunt_load_trail(struct hunt *h, struct cursor *in)
{
	size_t each = h->s->n_sites;
	const uint8_t *before = h->sure;

	h->trail_from = cursor_u32(in);
	h->n_trail = cursor_count(in, FIELD_SIZE_u32);
	in->bad |= h->n_trail && (h->trail_from + h->n_trail != h->n_steps || h->n_trail * each > MOST_BYTES);
	h->n_trail = in->bad ? 0 : h->n_trail;
	MEM_GROW(&h->trail, &h->cap_trail, h->n_trail * each);
	for (size_t k = 0; k < h->n_trail; k++) {
		uint8_t *row = h->trail + k * each;
		memcpy(row, before, each);
		for (uint32_t n = cursor_count(in, FIELD_SIZE_u32 + FIELD_SIZE_u8); n > 0; n--) {
			uint32_t site = cursor_u32(in);
			uint8_t choice = cursor_u8(in);
			if (site < each && choice < h->s->site[site].choices)
				row[site] = choice;
			else
				in->bad = true;
		}
		before = row;
	}
}

/* Stands at a configuration, after so many steps, of this cost. */
static void stand_at(struct hunt *h, const uint8_t *config, uint32_t steps, const struct estimate *cost)
{
	memcpy(h->config, config, h->s->n_sites);
	memcpy(h->candidate, config, h->s->n_sites);
	h->parts = 0;
	h->hash = config_hash(h->s, h->config);
	h->running = *cost;
	h->n_steps = steps;
	h->n_refused = 0;
}

/* Measures the whole program after so many steps. If it is faster than what was vouched for, it is vouched for. */
static int try_row(struct hunt *h, const uint8_t *config, uint32_t steps, bool *stands, struct err *err)
{
	struct estimate whole = {0};
	struct timing t = {0};
	int rc;

	stand_at(h, config, steps, &h->sure_cost);
	rc = hunt_weigh_whole(h, &t, &whole, err);
	*stands = rc == 0 && t.outcome == OUTCOME_OK && whole.value < h->sure_cost.value;
	timing_release(&t);
	if (*stands) {
		h->running = whole;
		hunt_vouch(h, &whole);
	}
	return rc;
}

/* The longest row of remembered steps that stands, as far as there is time to look for it. */
static int find_row(struct hunt *h, const uint8_t *trail, size_t n, double start, int tries, struct err *err)
{
	size_t low = 0, high = n;
	uint32_t from = h->trail_from;
	int rc = 0;

	for (; tries < TRIES && high - low > 1 && rc == 0 && !stop_asked(); tries++) {
		size_t middle = low + (high - low) / 2;
		bool stands;
		if (!hunt_check_fits(h, now_seconds() - start))
			break;
		if (h->lab->device)
			device_until(h->lab->device, 0);
		rc = try_row(h, trail + (middle - 1) * h->s->n_sites, from + (uint32_t)middle, &stands, err);
		if (stands)
			low = middle;
		else
			high = middle;
	}
	if (low)
		talk("the whole program stands with %zu of the %zu changes since it was measured last", low, n);
	else if (n)
		talk("the whole program did not bear out the %zu change%s since it was measured last, so %s dropped",
			n, n == 1 ? "" : "s", n == 1 ? "it is" : "they are");
	return rc;
}

/* Forgets the steps after the first n that took choices of this rule. Returns how many stay. */
static uint32_t steps_without(struct hunt *h, uint32_t rule, uint32_t n)
{
	for (size_t k = n; k < h->n_steps; k++) {
		const struct hunt_step *s = &h->steps[k];
		uint8_t choice = s->to ? s->to : s->from;
		if (!choice || h->s->ops->rule(h->s, s->site, choice) != rule)
			h->steps[n++] = *s;
	}
	return n;
}

/* Tries the configuration without what follows a rule. If it stands, the hunt stands there. */
static int try_without(struct hunt *h, const struct ruled *r, const uint8_t *of, bool *stands, struct err *err)
{
	uint8_t *without = MEM_NEW(h->s->n_sites + 1, uint8_t);
	uint32_t before = h->sure_steps;
	char name[80];
	int rc;

	memcpy(h->config, of, h->s->n_sites);
	ruled_name(h, r, name, sizeof name);
	ruled_without(h, r->rule, of, h->sure, without);
	rc = try_row(h, without, (uint32_t)h->n_steps, stands, err);
	mem_free(without);
	if (!*stands)
		return rc;
	h->sure_steps = steps_without(h, r->rule, before);
	h->n_steps = h->sure_steps;
	talk("the whole program stands without what follows the rule %s in %u place%s", name, r->places,
		r->places == 1 ? "" : "s");
	return rc;
}

/* Tries it without one rule after the other, until it stands. Returns how many were tried, or -1 with an error. */
static int drop_rule(struct hunt *h, double start, bool *stands, struct err *err)
{
	size_t n = 0;
	uint8_t *of = MEM_NEW(h->s->n_sites + 1, uint8_t);
	struct ruled *v = h->s->ops->rule && !h->n_limits ? ruled_list(h, h->sure, &n) : NULL;
	int tries = 0;

	memcpy(of, h->config, h->s->n_sites);
	*stands = false;
	while (n > 1 && tries >= 0 && (size_t)tries < n && tries < RULES && !*stands && !stop_asked() &&
		hunt_check_fits(h, now_seconds() - start)) {
		if (h->lab->device)
			device_until(h->lab->device, 0);
		tries = try_without(h, &v[tries], of, stands, err) < 0 ? -1 : tries + 1;
	}
	mem_free(v);
	mem_free(of);
	return tries;
}

int hunt_retreat(struct hunt *h, struct err *err)
{
	struct archive *a = h->lab->archive;
	uint8_t *trail = h->trail;
	size_t n = h->n_trail;
	double start = now_seconds();
	bool stands;
	int tries, rc = 0;

	h->trail = NULL; /* vouching begins a new one */
	h->n_trail = h->cap_trail = 0;
	tries = drop_rule(h, start, &stands, err);
	if (!stands)
		rc = tries < 0 ? -1 : find_row(h, trail, n, start, tries, err);
	mem_free(trail);
	stand_at(h, h->sure, h->sure_steps, &h->sure_cost);
	hunt_restore_limits(h);
	guide_move(h->guide, h->config);
	if (rc == 0 && a && a->run) {
		archive_lock(a);
		rc = run_jump(a->run, h->chain, 0, h->config, err);
		archive_unlock(a);
	}
	return rc;
}
