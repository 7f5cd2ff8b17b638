/*
 * drift.c - checks a hunt against the whole program, now and then.
 *
 * Sums of regions leave out what a program does as a whole, so a hunt that follows them can drift away from the truth.
 * A check measures the whole program against the default. If it agrees with the sum, within the errors of both, their
 * weighted mean is believed, and the configuration is vouched for. If it does not agree, the sum is forgotten. If the
 * whole says that the configuration which was vouched for last was better, or both together say that this is likelier,
 * or it cannot be measured, the hunt goes back (retreat.c). Then the whole is measured once more, and that alone is
 * believed: a figure that decided where to go is too good on average. What rules promise later is believed as far as
 * the whole bore it out (trust.h).
 *
 * The whole is believed as a ratio to the default, which ran beside it. A machine that has become slower since the
 * default was measured slows down both.
 *
 * Limits that are measured are measured then, too. Figures that are exact are never checked, because they cannot drift.
 *
 * Compiling a large program takes longer than a hundred regions, so a check waits until it fits into its share of the
 * time. The last check does not wait: it comes when the search is over, if anything was kept since the check before. It
 * is left out if all checks together would then take more than a quarter of the search's time, unless the search ended
 * so early that there is time all the same: a check that is cut tells nothing, and the verdict weighs the whole program
 * anyway. If costs are modelled no check waits, so what a search finds does not depend on the speed of this machine.
 *
 * Where another kind of decision goes on from what was found, the last check is made in any case, and beyond the time
 * of the search, as long as any; once something was kept, up to half of the search's time is set aside for it, and the
 * less, the faster the program is believed to be. Nothing later could tell a bad beginning from a bad end. In a rigid
 * body simulation 57 products were merged, for which regions promised 54% +- 27; the whole program took 4 to 10%
 * longer. (A radiance field's step was 15% faster by regions, and 15% slower by five runs in one second. Both were so
 * vague that neither refuted the other, and fusion went on from a program that took 27% longer: hence what is
 * likelier.)
 *
 * A check also corrects the charge for a kernel of this program (space/part.h), of which only the order of magnitude is
 * known beforehand. If the steps made or saved kernels, what their regions leave unexplained is charged to those. In a
 * program of 7 us in 105 kernels, regions alone promised a gain of 40%, and there was none.
 */
#include <math.h>
#include "base/progress.h"
#include "base/talk.h"
#include "search/hunt.h"
#include "search/trust.h"

/* Seconds that whole-program checks may take: so many in any case, and then a share of the search. */
#define CHECK_FREE 1.0
#define CHECK_SHARE 0.15
#define HANDED_MOST 0.5	 /* of the search's time is set aside for the last check, where another kind goes on */
#define LAST_SPARE 1.25	 /* the last check has so many times what it is expected to take, so that it is not cut */
#define ROUNDING 1e-12	 /* of the default: a sum of exact prices is that far from the whole */

static int note_anchor(struct hunt *h, const struct timing *t, bool reanchored, struct err *err)
{
	struct archive *a = h->lab->archive;
	struct anchor x = {.chain = h->chain, .outcome = t->outcome, .kind = t->kind,
		.default_seconds = h->default_seconds, .whole = t->delta, .whole_se = t->delta_se,
		.running = h->running.value, .running_se = h->running.se, .reanchored = reanchored};
	int rc;

	if (!a || !a->run)
		return 0;
	archive_lock(a);
	rc = run_anchor(a->run, &x, err);
	archive_unlock(a);
	return rc;
}

/*
 * Corrects the charge for a kernel, from what the whole says and the steps since the last correction said: the mean of
 * the old value and the new one, weighted by their errors. The running sum becomes what it would have been with it.
 */
static void learn_part(struct hunt *h, const struct estimate *whole)
{
	double noise = hypot(whole->se, h->running.se), var = h->part.se * h->part.se;
	double weight = h->parts != 0 && var > 0 ? var * h->parts / (var * h->parts * h->parts + noise * noise) : 0;
	double value = fmax(0, h->part.value + weight * (whole->value - h->running.value));

	h->running.value += h->parts * (value - h->part.value);
	h->part.value = value;
	h->part.se *= sqrt(fmax(0, 1 - weight * h->parts));
	cost_set_part(h->lab->cost, value);
}

/* Sum and whole are two estimates of one thing: believes their mean, weighted by their errors. */
static double weight_of(const struct hunt *h, const struct estimate *whole)
{
	double sum_var = h->running.se * h->running.se, whole_var = whole->se * whole->se;

	return sum_var + whole_var > 0 ? sum_var / (sum_var + whole_var) : 0;
}

static void weigh(struct hunt *h, const struct estimate *whole)
{
	double whole_var = whole->se * whole->se, weight = weight_of(h, whole);

	h->running.value += weight * (whole->value - h->running.value);
	h->running.se = sqrt(weight * whole_var);
	h->parts *= 1 - weight;
}

/* Believes the whole alone: `whole`, unless it can be measured once more. */
static int believe_anew(struct hunt *h, const struct estimate *whole, struct err *err)
{
	struct estimate anew = *whole;
	struct timing t = {0};
	int rc = hunt_weigh_whole(h, &t, &anew, err);

	h->running = anew;
	h->parts = 0;
	hunt_vouch(h, &anew);
	timing_release(&t);
	return rc;
}

/* Was it better when it was vouched for? That is likelier, by sum and whole together, or the whole is sure of it. */
static bool is_worse(const struct hunt *h, const struct estimate *whole)
{
	double believed = h->running.value + weight_of(h, whole) * (whole->value - h->running.value);

	return believed > h->sure_cost.value ||
	       whole->value - h->sure_cost.value > 2 * hypot(whole->se, h->sure_cost.se);
}

/* Believes the whole program's cost from now on, or goes back if it was better before. */
static int correct(struct hunt *h, const struct estimate *whole, bool drifted, struct err *err)
{
	bool worse = is_worse(h, whole);
	double promised = h->sure_cost.value - h->running.value;
	struct blame *blame;
	int rc = 0;

	learn_part(h, whole);
	blame = trust_blame(h, whole, promised);
	if (!drifted && !worse) {
		trust_less(h, blame);
		weigh(h, whole);
		hunt_vouch(h, &h->running);
		hunt_add_point(h);
		return 0;
	}
	h->drifts++;
	if (worse)
		rc = hunt_retreat(h, err);
	trust_less(h, blame);
	if (rc == 0)
		rc = believe_anew(h, worse ? &h->sure_cost : whole, err);
	hunt_add_point(h);
	return rc;
}

/* Notes what a check found, for the report. */
static struct hunt_check *note_check(struct hunt *h, const struct estimate *whole, bool drifted)
{
	MEM_GROW(&h->check, &h->cap_check, h->n_check + 1);
	h->check[h->n_check] = (struct hunt_check){.evaluation = h->evaluations, .seconds = hunt_seconds(h),
		.believed = h->running.value, .whole = whole->value, .se = whole->se, .parts = h->parts,
		.drifted = drifted};
	return &h->check[h->n_check++];
}

/* Was something kept that the last check has not seen, and can there be another? */
static bool unchecked(const struct hunt *h)
{
	return !h->lab->parts_only && h->o.drift_checks && h->kept != h->checked_kept;
}

/*
 * Is there to be a check at the end, and time for it? One that weighs limits is always tried. If costs are modelled,
 * the speed of this machine decides nothing.
 */
static bool fits_at_last(const struct hunt *h)
{
	return hunt_inexact_limits(h) || hunt_check_fits(h, 0);
}

/* Is there time for it because the search had nothing left to try? */
static bool fits_what_is_left(const struct hunt *h)
{
	return now_seconds() + LAST_SPARE * hunt_check_seconds(h) <= hunt_end(h);
}

double hunt_last_check(const struct hunt *h)
{
	bool none = !unchecked(h) || h->lab->kind == COST_MODELLED || (!h->o.handed && !fits_at_last(h));

	return none ? 0 : fmin(LAST_SPARE * hunt_check_seconds(h),
		(h->o.handed ? HANDED_MOST : HUNT_CHECKS) * h->o.seconds);
}

/*
 * Has the search come so far since the last check that the next one is due? Checks are spread over the budget, and over
 * the seconds where these end a search first: people who give it seconds leave the budget as large as it is.
 */
static bool far_enough(const struct hunt *h)
{
	uint32_t spans = h->o.drift_checks + 1;
	uint64_t every = h->o.budget / spans;
	double last = h->n_check ? h->check[h->n_check - 1].seconds : 0;

	return (every && h->evaluations >= h->checked + every) ||
	       (hunt_is_timed(h) && hunt_seconds(h) >= last + h->o.seconds / spans);
}

/* Is a check due? Only if something was kept since the last; after enough evaluations and time, or at the end. */
static bool check_due(const struct hunt *h, bool last)
{
	if (!unchecked(h) || (cost_whole_exact(h->lab->cost) && !hunt_inexact_limits(h)))
		return false;
	if (last)
		return h->o.handed || fits_at_last(h) || fits_what_is_left(h);
	return far_enough(h) && (h->lab->kind == COST_MODELLED ||
		h->checking + hunt_check_seconds(h) <= CHECK_FREE + CHECK_SHARE * hunt_seconds(h));
}

/* Goes back, because what stands now breaks a limit or does not run as a whole. */
static int give_up(struct hunt *h, struct err *err)
{
	int rc = hunt_retreat(h, err);

	h->drifts++;
	hunt_add_point(h);
	return rc;
}

/* Measures the objective on the whole program, and follows the result. */
static int check_objective(struct hunt *h, struct err *err)
{
	struct estimate whole;
	struct timing t = {0};
	bool ok, drifted;
	int rc = hunt_weigh_whole(h, &t, &whole, err);

	ok = rc == 0 && t.outcome == OUTCOME_OK;
	drifted = ok && fabs(whole.value - h->running.value) >
		3 * hypot(whole.se, h->running.se) + ROUNDING * h->default_seconds;
	if (rc == 0 && !t.cut)
		rc = note_anchor(h, &t, drifted, err);
	if (rc == 0 && ok) {
		struct hunt_check *note = note_check(h, &whole, drifted);
		rc = correct(h, &whole, drifted, err);
		note->part = h->part.value;
	} else if (rc == 0 && !t.cut) {
		talk("the whole program with the %zu changes since it was measured last cannot be measured (%s: %s)",
			h->n_steps - h->sure_steps, outcome_name(t.outcome), t.detail);
		rc = give_up(h, err);
	}
	timing_release(&t);
	return rc;
}

/* The limits first: what breaks one is gone back from, however good it is otherwise. */
static int check_all(struct hunt *h, const uint8_t *dflt, struct err *err)
{
	if (hunt_weigh_limits(h, dflt, err) < 0)
		return -1;
	if (hunt_limits_broken(h))
		return give_up(h, err);
	if (!cost_whole_exact(h->lab->cost))
		return check_objective(h, err);
	hunt_vouch(h, &h->running);
	return 0;
}

/* Now and then, and at the end, measures the whole program against the default and corrects the running sums. */
int hunt_check(struct hunt *h, bool last, struct err *err)
{
	double start = now_seconds();
	uint8_t *dflt;
	int rc;

	if (!check_due(h, last))
		return 0;
	dflt = mem_alloc(h->s->n_sites);
	space_default(h->s, dflt);
	h->deciding = last && h->o.handed;
	rc = check_all(h, dflt, err);
	h->deciding = false;
	mem_free(dflt);
	h->checked = h->evaluations;
	h->checked_kept = h->kept;
	h->checking += now_seconds() - start;
	if (rc == 0 && last)
		rc = hunt_store(h, NULL, err); /* no evaluation comes after it that it could be stored with */
	return rc;
}
