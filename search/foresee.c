/*
 * foresee.c - what a hunt will try next, for helpers that compile and measure it ahead.
 *
 * The hunt supposes of this candidate and of those that follow that they will be kept, or that they will not, whichever
 * is likelier (odds.c). It proposes the next ones to itself, with its own generator and guide, and takes all of that
 * back. What they need becomes the plan of the helpers, the most urgent first (wishes.c). If it then comes otherwise,
 * or a measurement changes what is expected of others, some of the guesses were wrong. The result of the search does
 * not depend on them: the hunt takes from the helpers only what it would have compiled itself.
 *
 * A candidate that touches nothing which another one would change needs the same, whatever becomes of the other. So
 * what a candidate needs is remembered by its flips and the choices around them, and is not cut out again.
 *
 * (When nothing was ever supposed to be kept, a search that kept three of four steps compiled a fifth of its modules in
 * vain. To go through eight courses that events may take, each candidate kept as often as its chance says, and to make
 * first what most of them need, was worse than the likeliest alone, with 16 helpers and with 64: an outcome that is
 * open now is known before helpers come to what hangs on it. A kept step is also a new start for the guide, which is
 * not foreseen.)
 *
 * A sweep is foreseen to the end of its order, which it makes anew after that. Nothing is foreseen beyond the budget.
 */
#include <string.h>
#include "base/hash.h"
#include "search/foresight.h"

#define AHEAD_EACH 2 /* candidates ahead, by helper, */
#define AHEAD_LEAST 2
#define AHEAD_MOST 128

static void release(struct foreseen *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		agenda_release(&v[i].needs);
	mem_free(v);
}

void hunt_forget(struct hunt *h)
{
	if (h->foresight)
		release(h->foresight->v, h->foresight->n);
	mem_free(h->foresight);
	h->foresight = NULL;
}

/* Of the candidate's flips, and of the choices that decide what they change. */
static uint64_t tag_of(const struct hunt *h)
{
	uint32_t *node = NULL;
	size_t n = 0, cap = 0;
	uint64_t tag = h->n_flips;

	for (uint32_t i = 0; i < h->n_flips; i++)
		tag ^= hash_mix(h->flips[i], h->candidate[h->flips[i]]);
	h->s->ops->touched(h->s, h->config, h->candidate, h->flips, h->n_flips, &node, &n, &cap);
	for (size_t i = 0; i < n; i++) {
		uint32_t site = h->s->site_of[node[i]];
		tag = hash_mix(tag, (uint64_t)node[i] << 8 | (site == NONE ? 0 : h->config[site]));
	}
	mem_free(node);
	return tag;
}

/* What was foreseen before this time, and is foreseen now. */
struct look {
	struct foreseen *before;
	size_t n_before;
	struct wishes wishes;
};

/* Finds what the present candidate needs, from memory or from its regions; *of is its number in the foresight. */
static int need(struct hunt *h, struct look *k, size_t *of, struct err *err)
{
	struct foresight *f = h->foresight;
	struct foreseen x = {.tag = tag_of(h)};
	bool known = false;
	int rc;

	for (*of = 0; *of < f->n; ++*of)
		if (f->v[*of].tag == x.tag)
			return 0;
	for (size_t i = 0; i < k->n_before && !known; i++)
		if (k->before[i].tag == x.tag) {
			x.needs = k->before[i].needs;
			k->before[i].needs = (struct agenda){0};
			known = true;
		}
	rc = known ? 0 : hunt_affords(h, err);
	if (rc > 0) /* if not, it will be passed over */
		rc = cost_expect(h->lab->cost, h->config, h->candidate, 0, &x.needs, err);
	MEM_GROW(&f->v, &f->cap, f->n + 1);
	f->v[f->n++] = x;
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

/* Proposes what would come now, the candidate being kept with this chance, and takes it all back. */
static int look_ahead(struct hunt *h, double chance, uint32_t many, struct look *k, struct err *err)
{
	struct rng rng = h->rng;
	uint64_t idle = h->idle, hash = h->hash;
	uint32_t pos = h->sweep_pos, kept = h->sweep_kept, scheme = h->scheme, scheme_kept = h->scheme_kept;
	uint8_t *config = mem_alloc(h->s->n_sites);
	struct odds x;
	size_t of;
	int rc = 0;

	memcpy(config, h->config, h->s->n_sites);
	suppose(h, chance > MOSTLY);
	for (uint32_t i = 0; i < many && rc == 0 && foreseeable(h) && hunt_propose(h); i++) {
		rc = need(h, k, &of, err);
		x = odds_of(h, &h->foresight->v[of].needs);
		wishes_add(&k->wishes, h, of, i, x.again);
		suppose(h, x.kept > MOSTLY);
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

/* Looks ahead; the candidate stands again after it. */
static int look_beyond(struct hunt *h, double chance, uint32_t many, struct look *k, struct err *err)
{
	uint32_t n = h->n_flips;
	struct flip *flips = mem_alloc((n + 1) * sizeof *flips);
	int rc;

	for (uint32_t i = 0; i < n; i++)
		flips[i] = (struct flip){h->flips[i], h->candidate[h->flips[i]]};
	rc = look_ahead(h, chance, many, k, err);
	for (uint32_t i = 0; i < n; i++) {
		h->flips[i] = flips[i].site;
		h->candidate[flips[i].site] = flips[i].choice;
	}
	h->n_flips = n;
	mem_free(flips);
	return rc;
}

/*
 * How many executables of each side do the confirmations of a region need that was measured so? If there are others,
 * it depends on these, and a plan says it.
 */
static uint32_t again(const struct errand *e, const struct timing *t, uint32_t times)
{
	double change = t->delta + e->charge;
	struct precision p = hunt_confirmation();
	uint32_t copies = device_copies(&p, t->compiling);

	if (!e->alone || change >= 0 || hunt_certain(change, t->delta_se, t->compiling + t->inside))
		return 0;
	return copies * times;
}

/* Appends what the present candidate needs. Returns the chance that it is kept, or -1 with an error. */
static double add_present(struct hunt *h, uint32_t copies, struct agenda *agenda, struct err *err)
{
	struct foresight *f = h->foresight;
	struct odds x;

	if (copies && !f->confirmed)
		f->times = odds_times(h);
	if (cost_expect(h->lab->cost, h->config, h->candidate, f->confirmed ? copies : copies * f->times, agenda,
		err) < 0)
		return -1;
	f->confirmed = copies ? f->confirmed + 1 : 0;
	if (copies)
		return odds_of_confirmed(h);
	x = odds_of(h, agenda);
	f->kind = x.kind;
	if (x.se > 0)
		f->se += (f->se > 0 ? LATELY : 1) * (x.se - f->se);
	return x.kept;
}

int hunt_expect(struct hunt *h, uint32_t copies, struct err *err)
{
	uint32_t helpers = h->lab->device ? device_info(h->lab->device)->helpers : 0;
	uint32_t wanted = AHEAD_LEAST + AHEAD_EACH * helpers, most = wanted < AHEAD_MOST ? wanted : AHEAD_MOST;
	uint64_t counted = h->evaluations + !copies; /* with the candidate */
	uint64_t left = h->o.budget > counted ? h->o.budget - counted : 0;
	uint32_t many = left < most ? (uint32_t)left : most;
	struct agenda agenda = {0};
	struct look k = {0};
	double chance;
	int rc;

	if (!helpers)
		return 0;
	if (!h->foresight)
		h->foresight = MEM_NEW(1, struct foresight);
	k.before = h->foresight->v;
	k.n_before = h->foresight->n;
	h->foresight->v = NULL;
	h->foresight->n = h->foresight->cap = 0;
	chance = add_present(h, copies, &agenda, err);
	rc = chance < 0 ? -1 : look_beyond(h, chance, many, &k, err);
	wishes_plan(&k.wishes, h, &agenda);
	release(k.before, k.n_before);
	wishes_release(&k.wishes);
	agenda.again = cost_exact(h->lab->cost) ? NULL : again;
	agenda.times = odds_times(h);
	device_expect(h->lab->device, &agenda);
	agenda_release(&agenda);
	return rc;
}

int hunt_expect_credit(struct hunt *h, struct err *err)
{
	struct foresight *f = h->foresight;

	if (!f)
		return 0;
	if (f->times < CONFIRMATIONS)
		return hunt_expect(h, h->confirm.copies, err);
	f->confirmed++;
	return 0;
}
