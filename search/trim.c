/*
 * trim.c - see the header. What was refused once may be free when others have gone, so passes are made until one drops
 * nothing; half of a group is asked even if the group was refused.
 */
#include "search/trim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"

#define PART 0.3     /* of the search's seconds, and at least this many: */
#define LEAST 10.0
#define SAME 1e-12   /* of the default's cost: sums of the same terms differ by less */

struct trimmer {
	struct trim *t;
	struct hunt *h;
	uint32_t *site, n; /* that are not plain yet */
	double end;
};

static void list_sites(struct trimmer *x)
{
	struct hunt *h = x->h;

	x->n = 0;
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		if (h->config[i] != 0 && h->s->ops->plain(h->s, h->config, i))
			x->site[x->n++] = i;
}

static void accept(struct trimmer *x, double change)
{
	struct hunt *h = x->h;

	for (uint32_t k = 0; k < h->n_flips; k++)
		h->hash = config_flip(h->config, h->hash, h->flips[k], h->candidate[h->flips[k]]);
	h->n_flips = 0;
	h->running.value += change;
	hunt_keep_limits(h);
	hunt_vouch(h, &h->running);
}

static void flip(struct hunt *h, uint32_t site, uint8_t choice)
{
	BUG_ON(h->n_flips >= h->s->n_sites);
	h->candidate[site] = choice;
	h->flips[h->n_flips++] = site;
}

/* Takes the candidate if it costs at most so much more, and keeps to the limits: 1, 0 if not, -1 error. */
static int try_candidate(struct trimmer *x, double more, struct err *err)
{
	struct hunt *h = x->h;
	enum outcome outcome = OUTCOME_OK;
	double beyond = hunt_excess(h), then = 0;
	struct delta d;
	bool good;

	x->t->prices++;
	if (cost_delta(h->lab->cost, h->config, h->candidate, &d, err) < 0)
		return -1;
	good = d.outcome == OUTCOME_OK && !d.cut && d.seconds <= more;
	if (good && hunt_price_limits(h, &then, &outcome, err) < 0)
		return -1;
	good = good && outcome == OUTCOME_OK && then <= beyond;
	if (good)
		accept(x, fmin(d.seconds, 0));
	hunt_undo(h);
	return good;
}

/* Makes the sites from `from` to before `to` plain, if that costs nothing. */
static int try_group(struct trimmer *x, uint32_t from, uint32_t to, struct err *err)
{
	int rc;

	for (uint32_t k = from; k < to; k++)
		flip(x->h, x->site[k], 0);
	rc = try_candidate(x, SAME * fabs(x->h->default_seconds), err);
	x->t->dropped += rc > 0 ? to - from : 0;
	return rc;
}

/* Leaves each site as the default has it, where that is better. */
static int go_back(struct trimmer *x, struct err *err)
{
	struct hunt *h = x->h;
	int rc = 0;

	for (uint32_t i = 0; i < h->s->n_sites && rc >= 0; i++) {
		if (h->config[i] == h->s->site[i].dflt)
			continue;
		if ((x->t->cut |= now_seconds() > x->end || stop_asked()))
			break;
		flip(h, i, h->s->site[i].dflt);
		rc = try_candidate(x, -SAME * fabs(h->default_seconds), err);
		x->t->back += rc > 0;
	}
	return rc < 0 ? -1 : 0;
}

static int try_halves(struct trimmer *x, uint32_t from, uint32_t to, struct err *err)
{
	uint32_t middle = from + (to - from) / 2;
	int rc;

	if (from == to)
		return 0;
	if (now_seconds() > x->end || stop_asked()) {
		x->t->cut = true;
		return 0;
	}
	rc = try_group(x, from, to, err);
	if (rc != 0 || to - from == 1)
		return rc < 0 ? -1 : 0;
	return try_halves(x, from, middle, err) < 0 ? -1 : try_halves(x, middle, to, err);
}

int trim_answer(struct trim *t, struct hunt *h, struct err *err)
{
	struct trimmer x = {.t = t, .h = h, .end = now_seconds() + fmax(LEAST, PART * hunt_seconds(h))};
	uint32_t before;
	int rc = 0;

	*t = (struct trim){0};
	if (!h->s->ops->plain || h->kept == 0 || !cost_exact(h->lab->cost))
		return 0;
	x.site = MEM_NEW(h->s->n_sites + 1, uint32_t);
	memcpy(h->candidate, h->config, h->s->n_sites);
	list_sites(&x);
	t->asked = x.n;
	do {
		before = t->dropped;
		rc = try_halves(&x, 0, x.n, err);
		list_sites(&x);
	} while (rc == 0 && t->dropped > before && !t->cut);
	do {
		before = t->back;
		rc = rc == 0 ? go_back(&x, err) : rc;
	} while (rc == 0 && t->back > before && !t->cut);
	mem_free(x.site);
	return rc;
}

void trim_json(const struct trim *t, struct json *j)
{
	if (!t->asked)
		return;
	json_object(j, "taken_back");
	json_uint(j, "asked", t->asked);
	json_uint(j, "changed_nothing", t->dropped);
	json_uint(j, "cost_more", t->back);
	json_uint(j, "prices", t->prices);
	json_bool(j, "all_asked", !t->cut);
	json_end(j);
}

void trim_page(const struct trim *t, struct buf *out)
{
	if (t->dropped)
		buf_addf(out, "<p>%u of %u decisions that could be plain changed nothing, and were taken back.%s</p>\n",
			t->dropped, t->asked, t->cut ? " Not all were asked, for want of time." : "");
	if (t->back)
		buf_addf(out, "<p>%u cost more than what the search began with there, and %s taken back, too.</p>\n",
			t->back, t->back == 1 ? "was" : "were");
}
