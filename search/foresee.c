/*
 * foresee.c - what a hunt will try next, for helpers that compile it ahead.
 *
 * The hunt supposes of this candidate and of those that follow that they will be kept, or that they will not: by what
 * helpers have measured of them by now, or else by what was more frequent lately; and of one that is confirmed that it
 * will be. It proposes the next ones to itself, with its own generator and guide, and takes all of that back. If it
 * then comes otherwise, or a measurement changes what is expected of others, some of the guesses were wrong. The result
 * of the search does not depend on them: the hunt takes from the helpers only what it would have compiled itself.
 *
 * (When nothing was ever supposed to be kept, a search that kept three of four steps compiled a fifth of its modules in
 * vain. A kept step is also a new start for the guide, which is not foreseen.)
 *
 * A sweep is foreseen to the end of its order, which it makes anew after that. Nothing is foreseen beyond the budget.
 */
#include <string.h>
#include "search/hunt.h"

#define AHEAD_EACH 2 /* candidates ahead, by helper, */
#define AHEAD_LEAST 2
#define AHEAD_MOST 128
#define MOSTLY 0.5

/* The modules of a candidate that was foreseen before, so that its regions are not cut out again. */
struct foreseen {
	uint64_t tag; /* of the move */
	uint64_t (*key)[2];
	size_t n;
};

struct foresight {
	struct foreseen *v;
	size_t n, cap;
};

static void forget(struct foresight *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_free(f->v[i].key);
	mem_free(f->v);
	*f = (struct foresight){0};
}

void hunt_forget(struct hunt *h)
{
	if (h->foresight)
		forget(h->foresight);
	mem_free(h->foresight);
	h->foresight = NULL;
}

static uint64_t tag_of(const struct hunt *h)
{
	uint64_t tag = h->hash;

	for (uint32_t i = 0; i < h->n_flips; i++)
		tag = hash_mix(tag, (uint64_t)h->flips[i] << 8 | h->candidate[h->flips[i]]);
	return tag;
}

static void note(struct foresight *f, uint64_t tag, const struct agenda *agenda, size_t from)
{
	struct foreseen x = {tag, mem_alloc((agenda->n - from + 1) * sizeof *x.key), agenda->n - from};

	for (size_t i = 0; i < x.n; i++)
		memcpy(x.key[i], agenda->v[from + i].key, sizeof *x.key);
	MEM_GROW(&f->v, &f->cap, f->n + 1);
	f->v[f->n++] = x;
}

/* Will it be kept, as far as what it needs, from item `from` of the plan on, was measured ahead? If not, as lately. */
static bool likely(const struct hunt *h, const struct agenda *agenda, size_t from)
{
	double seconds = 0;
	bool known = false;

	for (size_t i = from; i < agenda->n; i++)
		known |= device_foretells(h->lab->device, agenda->v[i].key, &seconds);
	return known ? seconds < 0 : h->keeping > MOSTLY;
}

/* What the present candidate needs, from memory or from its regions. */
static int add_candidate(struct hunt *h, const struct foresight *before, struct foresight *now, struct agenda *agenda,
	struct err *err)
{
	uint64_t tag = tag_of(h);
	size_t from = agenda->n;
	int rc = 0;

	for (size_t i = 0; i < before->n && agenda->n == from; i++)
		if (before->v[i].tag == tag) {
			for (size_t k = 0; k < before->v[i].n; k++)
				agenda_add_known(agenda, before->v[i].key[k], 1);
			note(now, tag, agenda, from);
			return 0;
		}
	rc = hunt_affords(h, err);
	if (rc <= 0)
		return rc; /* it will be passed over */
	rc = cost_expect(h->lab->cost, h->config, h->candidate, 1, agenda, err);
	if (rc == 0)
		note(now, tag, agenda, from);
	return rc;
}

/* May the next proposal be made and taken back? A population is not copied for it. */
static bool foreseeable(const struct hunt *h)
{
	return h->o.strategy != STRATEGY_BRKGA && (h->o.strategy != STRATEGY_SWEEP || h->sweep_pos != 0);
}

/* Supposes that the candidate is kept, or that it is not. */
static void suppose(struct hunt *h, bool kept)
{
	if (hunt_is_flip(h))
		guide_suppose(h->guide, h->flips[0], h->candidate[h->flips[0]]);
	for (uint32_t i = 0; i < h->n_flips && kept; i++) {
		uint32_t site = h->flips[i];
		h->hash = config_flip(h->config, h->hash, site, h->candidate[site]);
	}
	if (kept)
		h->n_flips = 0;
	h->idle = kept ? 0 : h->idle + 1;
	hunt_undo(h);
}

/* Proposes what would come now, the present candidate being kept or not, and takes it all back. */
static int add_next(struct hunt *h, bool keep, uint32_t many, const struct foresight *before, struct foresight *now,
	struct agenda *agenda, struct err *err)
{
	struct rng rng = h->rng;
	uint64_t idle = h->idle, hash = h->hash;
	uint32_t pos = h->sweep_pos, kept = h->sweep_kept, scheme = h->scheme, scheme_kept = h->scheme_kept;
	uint8_t *config = mem_alloc(h->s->n_sites);
	int rc = 0;

	memcpy(config, h->config, h->s->n_sites);
	suppose(h, keep);
	for (uint32_t i = 0; i < many && rc == 0 && foreseeable(h) && hunt_propose(h); i++) {
		size_t from = agenda->n;
		rc = add_candidate(h, before, now, agenda, err);
		suppose(h, likely(h, agenda, from));
	}
	hunt_undo(h);
	guide_recall(h->guide);
	memcpy(h->config, config, h->s->n_sites);
	memcpy(h->candidate, config, h->s->n_sites);
	mem_free(config);
	h->rng = rng;
	h->idle = idle;
	h->hash = hash;
	h->sweep_pos = pos;
	h->sweep_kept = kept;
	h->scheme = scheme;
	h->scheme_kept = scheme_kept;
	return rc;
}

/* How many executables of each side do the confirmations of a region need that was measured so? */
static uint32_t again(const struct errand *e, const struct timing *t)
{
	double change = t->delta + e->charge;
	struct precision p = hunt_confirmation();

	if (change >= 0 || hunt_certain(change, t->delta_se, t->compiling + t->inside))
		return 0;
	return CONFIRMATIONS * device_copies(&p, t->compiling);
}

int hunt_expect(struct hunt *h, uint32_t copies, struct err *err)
{
	uint32_t helpers = h->lab->device ? device_info(h->lab->device)->helpers : 0, n = h->n_flips;
	uint32_t wanted = AHEAD_LEAST + AHEAD_EACH * helpers, most = wanted < AHEAD_MOST ? wanted : AHEAD_MOST;
	uint64_t counted = h->evaluations + (copies == 1); /* with the candidate */
	uint64_t left = h->o.budget > counted ? h->o.budget - counted : 0;
	uint32_t many = left < most ? (uint32_t)left : most;
	struct foresight now = {0};
	struct agenda agenda = {0};
	struct flip *flips;
	int rc;

	if (!helpers)
		return 0;
	if (!h->foresight)
		h->foresight = MEM_NEW(1, struct foresight);
	rc = cost_expect(h->lab->cost, h->config, h->candidate, copies, &agenda, err);
	flips = mem_alloc((n + 1) * sizeof *flips);
	for (uint32_t i = 0; i < n; i++)
		flips[i] = (struct flip){h->flips[i], h->candidate[h->flips[i]]};
	if (rc == 0)
		rc = add_next(h, copies > 1 || likely(h, &agenda, 0), many, h->foresight, &now, &agenda, err);
	for (uint32_t i = 0; i < n; i++) { /* the candidate stands again */
		h->flips[i] = flips[i].site;
		h->candidate[flips[i].site] = flips[i].choice;
	}
	h->n_flips = n;
	forget(h->foresight);
	*h->foresight = now;
	agenda.again = cost_exact(h->lab->cost) ? NULL : again;
	device_expect(h->lab->device, &agenda);
	agenda_release(&agenda);
	mem_free(flips);
	return rc;
}
