/*
 * share.c - how much of its time (--seconds) a search gives to one candidate.
 *
 * The limit of time is kept: what is under way when the time is over is cut (device_until). A cut is no failure. It is
 * not counted and not stored, and a search with more time tries the candidate again. Some time is kept for the last
 * check of the whole program. No candidate gets more than a share of what is left, because nobody knows beforehand what
 * it will take: some modules take a compiler a hundred times as long as others of their size. A cut costs a new worker,
 * so no share is shorter than several starts of a worker, nor than a tenth of the search or 15 seconds.
 *
 * In a large program candidates differ in the time that it takes to price them: a second for one more kernel, minutes
 * for a move of fifty sites around the largest kernels. If they were priced in the order of their promises, the first
 * could use up all the time. So a candidate that is expected (cost_takes) to need more than its share is compared with
 * the next best ones. The one that promises most for each second is tried; if nothing is promised, the cheapest. What
 * is passed over is offered again, and may be tried when cheaper ones are used up. If every candidate fits into its
 * share, the first is always taken.
 *
 * A candidate that is expected to take more than may be planned can still be tried, if it promises a gain. If it
 * promises several times as much for each second as all that is set beside it, it may be expected to take half of what
 * is left, and gets a little more. If nothing else is left that was not tried, it may be expected to take most of it,
 * and is not cut for taking longer. (Of a ConvLSTM's fourteen convolutions the eleven that are worth anything are
 * priced by whole programs of half a second. They were passed over, and a search of 30 s looked at three others for
 * 20 s, 119 times.)
 *
 * A promise is a guess, too, so the time of ten candidates is not spent on one: while cheaper ones can be had, a
 * candidate may be planned to take a few shares and no more, unless it promises several times as much for each second.
 * (The best move of a GPT's training step saves a third of its time, and was to take 3.1 shares where 3 were fair. Half
 * of the search went by before it was tried, and moves that promised a four-thousandth as much came first.) Shares grow
 * by the time that cheap candidates do not use, so dear ones get their turn. A candidate that takes many times what was
 * expected is cut: what it would show comes too late for the others.
 *
 * The clock also decides how many sites there are to pick from. A search that has 80 seconds for 2,646 sites makes
 * thirty evaluations. If it draws them from the best quarter of the sites, it never tries most of the best: one pair of
 * WaveNet's sites saves a third of the time, and finding it was a matter of the seed. So there are a quarter as many
 * sites as evaluations that are left at the present pace, and fewer towards the end.
 *
 * Schemes (space_ops.scheme) move many sites at once. They are tried first, and until they used up their part of the
 * time, because one of them may be worth hundreds of flips. One that is too dear ends them: others are as large.
 */
#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "search/hunt.h"

#define MOST 0.34      /* of what is left may go into one candidate, */
#define PLANNED 0.25   /* ... if it was planned at all */
#define SHARES_EACH 3.0 /* a candidate may be planned to take so many shares, where there are others, */
#define DEAR_TIMES 4.0 /* ... or more if it promises so many times as much for each second */
#define TIMES 4.0      /* a candidate is cut after so many times what was planned for it, or its share */
#define RUNS 3.0       /* ... and so many runs of the program on top of that */
#define LEAST 15.0     /* seconds: but no less than that, while there is time, */
#define LEAST_EACH 0.1 /* ... or than that share of the search, if it is shorter, */
#define STARTS 3.0     /* ... and seconds for several starts of a worker in any case, and */
#define RUNS_LEAST 0.5 /* ... so many runs of the program: one part may be most of it, and is run several times */
#define SHARES 60.0    /* what is left is for so many candidates at most */
#define SMALL 1.0      /* seconds that any candidate may take */
#define OFFERS 12      /* candidates that are set beside each other, */
#define OFFERS_MOST 200 /* ... or more, while none of them can be had */
#define ALONE 0.7      /* of what is left, for a candidate beside which nothing is left to try, */
#define GREAT 0.5      /* ... or that promises so many times as much, */
#define GREAT_MOST 0.7 /* ... and that may go into it */
#define SCHEMES 0.4    /* of the search's time may go into schemes, and be planned of what is left for one */
#define SCHEME_MOST 0.7 /* ... and of what is left into one, which is measured three times if it is kept */
#define FOCUS 4.0	/* sites to pick from, at least */
#define PACE_SURE 4.0	/* evaluations that a pace of one share each counts for, as long as there are few */
#define LOOKING 0.1    /* of what is left may go into looking for one */

struct offer { /* all zero: none */
	struct flip *flip;
	uint32_t n;
	double seconds, worth;
};

/* Seconds that are left for candidates. */
static double left(const struct hunt *h)
{
	return hunt_end(h) - hunt_last_check(h) - now_seconds();
}

void hunt_allow_check(struct hunt *h)
{
	if (h->lab->device)
		device_until(h->lab->device, h->o.handed ? 0 : hunt_end(h));
}

void hunt_allow_all(struct hunt *h)
{
	if (!h->lab->device)
		return;
	device_until(h->lab->device, 0);
	device_heed_stop(h->lab->device, false);
}

/* Seconds that the next candidate should take, and that it may. */
static double share_of(const struct hunt *h)
{
	double candidates = fmin(SHARES, (double)(h->o.budget - h->evaluations));

	return fmax(SMALL, left(h) / fmax(1, candidates));
}

/* What a candidate may be planned to take if it is the only one; and if there are others. */
static double most_of(const struct hunt *h)
{
	return fmax(share_of(h), PLANNED * left(h));
}

static double fair_of(const struct hunt *h)
{
	return fmin(SHARES_EACH * share_of(h), most_of(h));
}

/*
 * Returns the seconds after which the candidate that was offered last is cut. The plan follows from the size of
 * modules, which does not tell how long they run. A part of the program runs at most as long as all of it, and a part
 * that runs long has more to gain.
 */
static double patience(const struct hunt *h)
{
	double planned = TIMES * fmax(h->planned, share_of(h)) + RUNS * h->default_seconds;
	double least = fmin(LEAST, fmax(STARTS + RUNS_LEAST * h->default_seconds, LEAST_EACH * h->o.seconds));

	if (h->alone)
		return left(h);
	if (h->scheme_began > 0)
		return fmin(left(h), fmax(least, SCHEME_MOST * left(h)));
	return fmin(left(h), fmax(least, fmin(planned, (h->great ? GREAT_MOST : MOST) * left(h))));
}

void hunt_allow(struct hunt *h)
{
	if (h->lab->device)
		device_until(h->lab->device, h->o.seconds > 0 ? now_seconds() + patience(h) : 0);
}

/* Is the candidate one flip to the guide? */
static bool of_one_site(const struct hunt *h)
{
	return h->n_flips == 1 || h->o.tied;
}

/*
 * Finds the seconds that the candidate is expected to take. Cutting out many regions, or one that is nearly the whole
 * program, takes long by itself (seconds, in a program of 30,000 instructions). So their size is remembered until a
 * step is kept. The size of what was too large for a fair part of the time is remembered after that as well, because
 * hardly any step makes it small.
 */
static int expected(struct hunt *h, double *seconds, struct err *err)
{
	struct hunt_size *known = &h->size[(size_t)h->flips[0] * h->s->stride + h->candidate[h->flips[0]]];
	size_t bytes;

	if (of_one_site(h) && known->bytes) {
		*seconds = cost_takes_of(h->lab->cost, known->bytes);
		if (known->kept == h->kept || *seconds > fair_of(h))
			return 0;
	}
	if (cost_takes(h->lab->cost, h->config, h->candidate, most_of(h), seconds, &bytes, err) < 0)
		return -1;
	if (of_one_site(h))
		*known = (struct hunt_size){bytes, h->kept};
	return 0;
}

int hunt_affords(struct hunt *h, struct err *err)
{
	double seconds;

	if (!hunt_is_timed(h))
		return 1;
	return expected(h, &seconds, err) < 0 ? -1 : seconds <= most_of(h);
}

/* Is x to be tried before y? */
static bool better(const struct offer *x, const struct offer *y)
{
	if (x->worth > 0 && y->worth > 0)
		return x->worth / x->seconds > y->worth / y->seconds;
	if (x->worth > 0 || y->worth > 0)
		return x->worth > 0;
	return x->seconds < y->seconds;
}

/* Does x promise so much more than y, if there is any, that it may take more than a fair part of the time? */
static bool outweighs(const struct offer *x, const struct offer *y)
{
	return x->n && x->worth > 0 &&
	       (!y->n || x->worth / x->seconds > DEAR_TIMES * fmax(y->worth, 0) / y->seconds);
}

/* What the candidate promises; its flips are not copied. */
static struct offer offer_of(const struct hunt *h, double seconds)
{
	return (struct offer){NULL, h->n_flips, seconds, of_one_site(h) ? guide_worth(h->guide, h->flips[0]) : 0};
}

/* Notes the candidate in place of *o. */
static void note(const struct hunt *h, struct offer *o, const struct offer *now)
{
	mem_free(o->flip);
	*o = *now;
	o->flip = hunt_flips(h);
}

/* The candidate is as good as tried, until guide_recall. */
static void set_aside(struct hunt *h)
{
	if (of_one_site(h))
		guide_suppose(h->guide, h->flips[0], h->candidate[h->flips[0]]);
	hunt_undo(h);
}

/* The best candidates that do not fit: within a fair part of the time, within more of it, and the cheapest of all. */
struct offers {
	struct offer fair, dear, cheapest;
	/* the best of those that promise a gain and fit into what is left, for when nothing else is left to try */
	struct offer last;
	bool alone;	   /* ... which is so */
};

/* Weighs one candidate that does not fit, and sets it aside. */
static void weigh(struct hunt *h, double seconds, struct offers *o)
{
	struct offer now = offer_of(h, seconds), *best = seconds <= fair_of(h) ? &o->fair : &o->dear;

	h->dear[h->flips[0]] = 1;
	h->dearest = fmax(h->dearest, seconds);
	if (seconds > most_of(h))
		h->too_dear = true;
	else if (!best->n || better(&now, best))
		note(h, best, &now);
	if (!o->cheapest.n || seconds < o->cheapest.seconds)
		note(h, &o->cheapest, &now);
	if (now.worth > 0 && seconds <= ALONE * left(h) && (!o->last.n || better(&now, &o->last)))
		note(h, &o->last, &now);
	set_aside(h);
}

/* What takes more than may be planned, if it may be tried for what it promises. */
static const struct offer *great_of(const struct hunt *h, const struct offers *o)
{
	static const struct offer none;

	return o->last.seconds <= GREAT * left(h) ? &o->last : &none;
}

/* Looks for a candidate that fits into its share: 1 there is one, of h->planned seconds; 0 none, *o has the others. */
static int look(struct hunt *h, struct offers *o, struct err *err)
{
	double until = now_seconds() + LOOKING * left(h), seconds;

	for (int n = 0; n < (o->fair.n ? OFFERS : OFFERS_MOST) && hunt_propose(h); n++) {
		if (expected(h, &seconds, err) < 0)
			return -1;
		if (guide_knows_all(h->guide)) { /* it is drawn around what was tried */
			o->alone = o->last.n > 0;
			if (o->alone || hunt_is_flip(h))
				hunt_undo(h);
			if (o->alone)
				return 0;
		}
		if (h->n_flips > 0 && seconds <= share_of(h)) {
			struct offer now = offer_of(h, seconds);
			h->planned = seconds;
			if ((!o->fair.n || better(&now, &o->fair)) && !outweighs(&o->dear, &now) &&
				!outweighs(great_of(h, o), &now))
				return 1;
			set_aside(h);
			return 0;
		}
		if (h->n_flips > 0)
			weigh(h, seconds, o);
		if (((o->fair.n || o->dear.n) && now_seconds() > until) || left(h) <= 0 || stop_asked())
			break;
	}
	return 0;
}

/* The one to try of what does not fit; the very first may be any, for nobody knows yet what takes long here. */
static const struct offer *choose(const struct hunt *h, const struct offers *o)
{
	const struct offer *great = great_of(h, o);

	if (outweighs(great, &o->fair) && outweighs(great, &o->dear))
		return great;
	if (o->fair.n && !outweighs(&o->dear, &o->fair))
		return &o->fair;
	if (o->dear.n == 0 && o->alone)
		return &o->last;
	return o->dear.n || h->evaluations + h->cut > 0 ? &o->dear : &o->cheapest;
}

/*
 * Makes the next scheme the candidate, if it can be had: 1, 0 if not, -1 error. Schemes come first, and they are dear,
 * so all of them together get no more than a part of the search's time.
 */
static int offer_scheme(struct hunt *h, struct err *err)
{
	double seconds, most;
	size_t bytes;

	if (h->scheme_began > 0)
		h->scheme_seconds += now_seconds() - h->scheme_began;
	h->scheme_began = 0;
	if (!h->s->ops->scheme || h->scheme_seconds >= SCHEMES * h->o.seconds || !hunt_propose_scheme(h))
		return 0;
	most = fmax(most_of(h), SCHEMES * left(h));
	if (cost_takes(h->lab->cost, h->config, h->candidate, most, &seconds, &bytes, err) < 0)
		return -1;
	if (seconds > most) { /* the others are of the same size */
		hunt_undo(h);
		h->scheme = SCHEMES_DONE;
		return 0;
	}
	h->planned = seconds;
	h->scheme_began = now_seconds();
	return 1;
}

/*
 * Makes a bundle the candidate, as large as its share of the time allows: 1, 0 if none is, -1 error. What is measured
 * by regions takes as long in a bundle as flip after flip, and tells less, so there is none.
 */
static int offer_bundle(struct hunt *h, struct err *err)
{
	double seconds;
	size_t bytes;

	if (!cost_exact(h->lab->cost))
		return 0;
	for (uint32_t most = hunt_bundle(h); most > 1; most /= 2) {
		if (!hunt_propose_bundle(h, most))
			return 0;
		if (cost_takes(h->lab->cost, h->config, h->candidate, fair_of(h), &seconds, &bytes, err) < 0)
			return -1;
		if (seconds <= fair_of(h)) {
			h->planned = seconds;
			return 1;
		}
		hunt_undo(h);
	}
	return 0;
}

/* Picks from as many sites as the evaluations allow that are left, by the clock or by the budget. */
static void focus(struct hunt *h)
{
	double moves = guide_moves(h->s, h->o.tied), known = PACE_SURE + (double)(h->evaluations + h->cut);
	double pace = (hunt_seconds(h) + PACE_SURE * h->o.seconds / SHARES) / known;
	double evaluations = fmin(left(h) / pace, (double)(h->o.budget - h->evaluations));

	if (h->focuses)
		guide_focus(h->guide, guide_alpha(evaluations, moves, fmin(100, 100 * FOCUS / moves)));
}

int hunt_offer(struct hunt *h, struct err *err)
{
	struct offers o = {0};
	const struct offer *taken;
	int rc;

	if (!hunt_is_timed(h))
		return hunt_propose(h);
	h->too_dear = h->alone = h->great = false;
	focus(h);
	if ((rc = offer_scheme(h, err)) != 0 || (rc = offer_bundle(h, err)) != 0)
		return rc;
	rc = look(h, &o, err);
	guide_recall(h->guide);
	taken = choose(h, &o);
	if (rc == 0 && taken->n) {
		hunt_take(h, taken->flip, taken->n);
		h->around = false;
		h->planned = taken->seconds;
		h->alone = taken == &o.last && o.alone;
		h->great = taken == &o.last && !o.alone;
		rc = 1;
	}
	if (rc == 1)
		h->dear[h->flips[0]] = 0;
	mem_free(o.fair.flip);
	mem_free(o.dear.flip);
	mem_free(o.cheapest.flip);
	mem_free(o.last.flip);
	return rc;
}

uint32_t hunt_passed_over(const struct hunt *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->s->n_sites && h->dear; i++)
		n += h->dear[i];
	return n;
}
