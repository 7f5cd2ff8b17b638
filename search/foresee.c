/*
 * foresee.c - what a hunt will try next, for helpers that compile and measure it ahead.
 *
 * The hunt supposes of this candidate and of those that follow that they will be kept, or that they will not, whichever
 * is likelier (odds.c). It proposes the next ones to itself, with its own generator and guide, and takes all of that
 * back. What they need becomes the plan of the helpers, the most urgent first (wishes.c). If it then comes otherwise,
 * or a measurement changes what is expected of others, some of the guesses were wrong. The figures of a search do not
 * depend on them. Its order may: what was guessed wrong and is measured by then is tried when there is nothing better
 * to do (early.c).
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
#include "search/foresight.h"

#define AHEAD_EACH 2 /* candidates ahead, by helper, */
#define AHEAD_LEAST 10 /* ... beside some for the time of a check of the whole program */
#define AHEAD_MOST 128

void hunt_forget(struct hunt *h)
{
	if (h->foresight)
		foreseen_release(h->foresight->v, h->foresight->all);
	mem_free(h->foresight);
	h->foresight = NULL;
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
	struct foreseen x = {.tag = foreseen_tag(h)};
	bool known = false;
	int rc;

	for (*of = 0; *of < f->n; ++*of)
		if (f->v[*of].tag == x.tag)
			return 0;
	for (size_t i = 0; i < k->n_before && !known; i++)
		if (k->before[i].tag == x.tag) {
			x = k->before[i];
			k->before[i] = (struct foreseen){0};
			known = true;
		}
	rc = known ? 0 : hunt_affords(h, err);
	if (rc > 0) /* if not, it will be passed over */
		rc = cost_expect(h->lab->cost, h->config, h->candidate, 0, &x.needs, err);
	if (!known) {
		x.flip = hunt_flips(h);
		x.n_flips = h->n_flips;
	}
	MEM_GROW(&f->v, &f->cap, f->n + 1);
	f->v[f->n++] = x;
	f->all = f->n;
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

/* Foresees the candidate that stands now, after so many others, and supposes what will become of it. */
static int foresee(struct hunt *h, uint32_t after, struct look *k, struct err *err)
{
	struct odds x;
	size_t of;
	int rc = need(h, k, &of, err);

	x = odds_of(h, &h->foresight->v[of].needs);
	wishes_add(&k->wishes, h, of, after, x.again);
	suppose(h, x.kept > MOSTLY);
	return rc;
}

/* Those that helpers have measured come first, if they still stand; the present one, with this tag, is none of them. */
static int foresee_early(struct hunt *h, uint64_t present, struct look *k, struct err *err)
{
	int rc = 0;

	if (!hunt_takes_early(h))
		return 0;
	for (size_t i = 0; i < k->n_before && rc == 0; i++)
		if (k->before[i].tag != present && foreseen_take(h, &k->before[i]))
			rc = foresee(h, 0, k, err);
	h->foresight->early = h->foresight->n;
	return rc;
}

/* Proposes what would come now, the candidate being kept with this chance, and takes it all back. */
static int look_ahead(struct hunt *h, double chance, uint32_t many, struct look *k, struct err *err)
{
	uint64_t present = foreseen_tag(h);
	struct rng rng = h->rng;
	uint64_t idle = h->idle, hash = h->hash;
	uint32_t pos = h->sweep_pos, kept = h->sweep_kept;
	uint32_t scheme = h->scheme, scheme_kept = h->scheme_kept, schemes = h->schemes;
	uint8_t *config = mem_alloc(h->s->n_sites);
	uint32_t *order = MEM_NEW(h->s->n_sites, uint32_t); /* of a sweep, which may begin anew here */
	int rc;

	memcpy(config, h->config, h->s->n_sites);
	memcpy(order, h->order, h->s->n_sites * sizeof *order);
	suppose(h, chance > MOSTLY);
	rc = foresee_early(h, present, k, err);
	for (uint32_t i = 0; i < many && rc == 0 && foreseeable(h) && hunt_propose(h); i++)
		rc = foresee(h, i, k, err);
	hunt_undo(h);
	guide_recall(h->guide);
	memcpy(h->config, config, h->s->n_sites);
	memcpy(h->candidate, config, h->s->n_sites);
	memcpy(h->order, order, h->s->n_sites * sizeof *order);
	mem_free(config);
	mem_free(order);
	h->rng = rng;
	h->idle = idle;
	h->hash = hash;
	h->sweep_pos = pos;
	h->sweep_kept = kept;
	h->scheme = scheme;
	h->scheme_kept = scheme_kept;
	h->schemes = schemes;
	return rc;
}

/* Looks ahead; the candidate stands again after it. */
static int look_beyond(struct hunt *h, double chance, uint32_t many, struct look *k, struct err *err)
{
	uint32_t n = h->n_flips;
	struct flip *flips = hunt_flips(h);
	int rc = look_ahead(h, chance, many, k, err);

	hunt_take(h, flips, n);
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
	k.n_before = h->foresight->all;
	h->foresight->v = NULL;
	h->foresight->n = h->foresight->early = h->foresight->all = h->foresight->cap = 0;
	chance = add_present(h, copies, &agenda, err);
	rc = chance < 0 ? -1 : look_beyond(h, chance, many, &k, err);
	wishes_plan(&k.wishes, h, &agenda);
	foresight_keep(h, k.before, k.n_before);
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
