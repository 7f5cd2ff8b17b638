/*
 * odds.c - how likely a candidate is to be kept, for helpers that work ahead of the outcome.
 *
 * If all its regions have been measured by now, here or by helpers, the sum says that it is refused, or that it is kept
 * unless it is to be confirmed. Otherwise the charge for kernels that it makes or saves is known, and so are some of
 * its regions, perhaps; by the sum of these there are four kinds. Those that are confirmed are a fifth one. Of each
 * kind, the share that was kept lately is its chance, and so with the share that was measured again.
 */
#include <math.h>
#include <string.h>
#include "search/foresight.h"

#define MEMORY 0.9	  /* the weight of what was, for each new one */
#define ODDS_KEPT 0.6	  /* what one that seems to gain has for its chance, as long as there was none; it counts */
#define ODDS_REPEATED 0.3 /* ... as one of them; and for being measured again */

/* Does one of this kind look as if it were better? */
static bool gains(enum odds_kind kind)
{
	return kind == ODDS_CLEAR || kind == ODDS_FEWER || kind == ODDS_AGAIN;
}

static double share_kept(const struct hunt *h, enum odds_kind kind)
{
	const struct foresight *f = h->foresight;

	return (f->odds[kind].kept + (gains(kind) ? ODDS_KEPT : h->keeping)) / (f->odds[kind].seen + 1);
}

static double share_again(const struct foresight *f, enum odds_kind kind)
{
	return (f->odds[kind].again + (gains(kind) ? ODDS_REPEATED : 0)) / (f->odds[kind].seen + 1);
}

/* What is known of a candidate's regions, and what is charged for those that are not. */
struct outlook {
	double before, now; /* seconds without what helpers measured, and with it */
	double variance, inside; /* of what they measured */
	bool open, priced;  /* is a region not known yet? was one priced, and not only measured ahead? */
};

static void look_at(const struct hunt *h, const struct agenda_item *item, struct outlook *o)
{
	double seconds = 0, charge = item->of.times * item->of.charge;
	struct foretold told;

	if (cost_known(h->lab->cost, item->price, &seconds)) {
		o->before += item->of.times * seconds + charge;
		o->now += item->of.times * seconds + charge;
		o->priced = true;
		return;
	}
	o->before += charge;
	if (item->pair && device_foretells(h->lab->device, item->key, &told)) {
		o->now += told.seconds;
		o->variance += told.se * told.se;
		o->inside += told.inside;
		return;
	}
	o->now += charge;
	o->open = true;
}

static enum odds_kind kind_of(const struct foresight *f, double seconds)
{
	if (seconds < 0)
		return f->se > 0 && -seconds > CERTAIN_SIGMAS * f->se ? ODDS_CLEAR : ODDS_FEWER;
	return seconds > 0 ? ODDS_MORE : ODDS_EVEN;
}

struct odds odds_of(const struct hunt *h, const struct agenda *needs)
{
	struct outlook o = {.before = needs->settled, .now = needs->settled, .priced = needs->n == 0};
	const struct foresight *f = h->foresight;
	struct odds x = {0};
	enum odds_kind now;

	for (size_t i = 0; i < needs->n; i++) /* the last item of each region */
		if (i + 1 == needs->n || memcmp(needs->v[i + 1].price, needs->v[i].price, sizeof needs->v->price) != 0)
			look_at(h, &needs->v[i], &o);
	x.kind = kind_of(f, o.before);
	if (o.open) {
		now = kind_of(f, o.now);
		x.kept = share_kept(h, now);
		x.again = share_again(f, now);
		return x;
	}
	x.se = sqrt(o.variance);
	if (o.now < 0 && !o.priced && hunt_certain(o.now, x.se, o.inside)) {
		x.kept = 1;
	} else if (o.now < 0) {
		x.kept = share_kept(h, ODDS_AGAIN);
		x.again = 1;
	}
	return x;
}

double odds_of_confirmed(const struct hunt *h)
{
	return share_kept(h, ODDS_AGAIN);
}

static void count(struct foresight *f, enum odds_kind kind, bool kept)
{
	f->odds[kind].kept = MEMORY * f->odds[kind].kept + kept;
	f->odds[kind].again = MEMORY * f->odds[kind].again + (f->confirmed > 0);
	f->odds[kind].seen = MEMORY * f->odds[kind].seen + 1;
}

void hunt_foresaw(struct hunt *h, bool kept)
{
	struct foresight *f = h->foresight;

	if (!f)
		return;
	count(f, f->kind, kept);
	if (f->confirmed) {
		count(f, ODDS_AGAIN, kept);
		f->credited += LATELY * ((f->confirmed > 1) - f->credited);
	}
}

/*
 * A gain that is beyond doubt once it is confirmed is not measured a third time, nor is one that is refuted. So it is
 * compiled for a third time only if there mostly was one.
 */
uint32_t odds_times(const struct hunt *h)
{
	return h->foresight->credited < MOSTLY ? 1 : CONFIRMATIONS;
}
