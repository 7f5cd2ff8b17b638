/*
 * hunt.h - the search: propose, price, confirm, keep.
 *
 * A hunt has a configuration, the best that it knows, and tries candidates against it. There are four strategies:
 *
 *	guided	predict all sites; pick one at random among the best alpha percent; propose; keep the
 *		better; predict again what the change can have touched. There are two ways to propose:
 *			signed		only the flip with the largest predicted gain at that site
 *			magnitude	as in the paper: each site within `hops` of it gets a random choice
 *	random	the same with the site picked uniformly: the baseline that guidance must beat
 *	sweep	single flips, site by site, in predicted order with a model, at random without. Cheap regions
 *		make this baseline strong: each flip is priced against the present configuration, so flips
 *		whose regions do not touch add up as if taken together
 *	brkga	breeds whole configurations (breed.c)
 *
 * If nothing is found for long, the radius of mutations grows, hop by hop, until something is found: some flips pay
 * only together with another one further away, which no fixed radius reaches. "Long" is a few evaluations per site, so
 * all single flips come first. With hops by the budget it is at most an eighth of the budget, so that a program with
 * more sites than evaluations gets larger mutations, too. With alpha by the budget, there are so many sites to pick
 * from that the budget allows a few flips of each, or the seconds, if these end the search first (share.c).
 *
 * Each step is priced against the present configuration, so steps add up. (Pricing all steps as one move from the
 * start, after every step, was tried: it costs as much as all else together and tells less, because one large region
 * has the noise of all its kernels.)
 *
 * A program of a few sites is used up before the budget is: when nothing had to be measured for long, the search is
 * over.
 *
 * An evaluation is one candidate whose cost was asked for, whether it was measured, came from a cache, or failed.
 *
 * What the search believes is the gain that it reckons with. A measurement that decided something is never believed,
 * because candidates are chosen when it happens to be too good. So there are three:
 *
 * first	 a candidate that looks better by it is measured again, with more pairs and instances;
 * confirmation the candidate is kept if it is better by this one;
 * credit	 what goes into the running sum: a third measurement, or the confirmation if that is so far beyond its
 *		 error that keeping it says nothing of its luck.
 *
 * If asking twice gives the same (estimates, models, bytes), the first answer is all three. Limits (within.c) are
 * looked at when the objective already says that a candidate is better; a candidate that breaks a limit is not kept.
 *
 * Now and then, and at the end, a check measures the whole program against the default (drift.c). The sum and the whole
 * are two estimates of one thing, and their weighted mean is believed. A configuration is vouched for if its check
 * agreed with the sum. After a check that did not agree, the whole is measured anew, and that alone is believed; if
 * the check was also worse than what was vouched for, the search goes back to that one first.
 *
 * The running sum is relative to the default as it was read back. How much that differs from the compiler's own program
 * is measured once, at the start. So what is believed is about the same two programs as the verdict.
 */
#ifndef SEARCH_HUNT_H
#define SEARCH_HUNT_H

#include "base/stat.h"
#include "lab/lab.h"
#include "search/guide.h"

#define HUNT_AUTO (-1)
#define HUNT_FORMAT 9 /* of the saved state */
#define SCHEMES_DONE UINT32_MAX

/*
 * The last four choose before the hunt, which then only measures: by sums of operators (rival.h), and in the kind's
 * own way (space_kind.solve). From STRATEGY_OWN on: of kinds that look for arrangements (space/arranging.h).
 */
enum strategy {
	STRATEGY_GUIDED,
	STRATEGY_RANDOM,
	STRATEGY_SWEEP,
	STRATEGY_BRKGA,
	STRATEGY_TASO,
	STRATEGY_GREEDY,
	STRATEGY_TENSAT,
	STRATEGY_SELF,
	STRATEGY_OWN
};
enum propose { PROPOSE_SIGNED, PROPOSE_MAGNITUDE };
/*
 * From HUNT_NAMED on: the starts of the space, in their order. A saved search names its start by this number. Better is
 * one of these starts if it is much faster than the default, else the default; once that is known, the hunt has that
 * one instead.
 */
enum hunt_start { HUNT_BETTER = -2, HUNT_GIVEN, HUNT_DEFAULT, HUNT_RANDOM, HUNT_NAMED };

struct hunt_options {
	int strategy, propose, start; /* of the enums above */
	const uint8_t *given;	      /* of HUNT_GIVEN: the choices to start from; read by hunt_begin only */
	uint64_t budget, seed;
	double seconds; /* of the hunt itself, without hunt_begin; 0: no limit */
	double alpha; /* percent of sites to pick from; HUNT_AUTO: by the budget */
	double explore;
	int32_t hops; /* radius of a mutation; HUNT_AUTO: by the budget */
	bool tied, adapt;
	bool bundles; /* of flips, while hardly anything that is tried is worse (bundle.c) */
	uint32_t drift_checks; /* how many, spread over the budget, if they cost little beside it */
	double patience;       /* the share of budget and seconds after which it ends if nothing was kept; 0: all */
	bool part_known;       /* the charge for a kernel is right; otherwise the checks correct it */
	bool handed;	       /* others go on from what it finds, so the whole program has the last word in any case */
};

struct hunt_point { /* the best so far, whenever it changed */
	uint64_t evaluation;
	double seconds, best, se; /* best: relative to the default, in the objective's base unit */
};

struct hunt_step { /* a candidate that was kept */
	uint64_t evaluation;
	uint32_t site, n_flips;
	uint8_t from, to;
	double delta, se; /* what it is credited with, seconds of the program, and how far that may be off */
};

struct hunt_withdrawn { /* what was taken back because it made the program compute other numbers (mend.h) */
	uint32_t places;	    /* 0: nothing was */
	char what[200], why[400]; /* clauses: "follows the rule ..."; what the numbers were like with it */
};

struct hunt_check { /* of the whole program against the default */
	uint64_t evaluation;
	double seconds, believed, whole, se; /* cost relative to the default, by the steps and by the whole program */
	double parts;	  /* kernels more than at the last correction */
	double part;	  /* what each costs, after this check */
	uint32_t drifted; /* did the whole disagree? Then it was believed */
};

struct hunt_size { /* of the modules that would price a flip; all zero: not known */
	size_t bytes;
	uint64_t kept; /* steps, when that was so */
};

struct hunt_limit { /* a limit, and how far the search is from it */
	const struct lab_limit *of;
	double base, own; /* the cost of the default as read back, and of the compiler's own program */
	struct estimate running; /* change from the default to now ... */
	struct estimate sure;	 /* ... from the default to what was last vouched for ... */
	struct estimate next;	 /* ... from now to the candidate */
};

struct hunt {
	struct hunt_options o;
	struct hunt_limit limit[LIMITS_MOST];
	uint32_t n_limits;
	uint64_t beyond;	/* candidates that were better but broke a limit */
	uint64_t cut;		/* candidates whose share of the time was over before they were priced (share.c) */
	uint8_t *dear;		/* sites whose flip was passed over and not tried since */
	double dearest;		/* the most seconds that one of them was expected to take */
	struct hunt_size *size; /* per site and choice */
	bool too_dear;		/* all that was offered last was beyond what is left */
	double planned;		/* seconds that the candidate is expected to take */
	bool alone;		/* nothing else is left to try, so it may take longer (share.c) */
	bool great;		/* it promises several times as much as the others, so likewise */
	struct lab *lab;
	struct space *s;
	struct guide *guide;
	struct rng rng;
	uint32_t chain;		/* in the store's run, if any */
	enum quantity quantity; /* of all costs below */
	uint8_t *config, *candidate;
	uint64_t hash;
	double default_seconds, default_se, default_wall; /* ... and how long it took to measure and weigh that */
	struct estimate decoded; /* seconds that the default as read back takes more than the compiler's own program */
	struct estimate running; /* cost of config relative to the default: sum of the steps, or what the whole said */
	uint8_t *sure;		/* what the whole program vouched for last, its cost, and the steps kept until then */
	struct estimate sure_cost;
	uint32_t sure_steps;
	uint8_t *trail;		/* configurations after each step since then, one after the other */
	size_t n_trail, cap_trail; /* configurations; bytes */
	uint32_t trail_from;	/* steps before the first of them */
	struct estimate part;	/* what a kernel of this program costs beyond its region, as far as is known */
	double parts;		/* kernels that the steps since the last correction made */
	uint64_t checked, checked_kept; /* evaluations and steps kept at the last check of the whole program */
	double checking;	/* seconds they took */
	struct trusted *trusted; /* rules of which not all is believed (trust.h) */
	size_t n_trusted, cap_trusted;
	bool deciding;		/* the one under way has the last word on what is handed on */
	uint64_t *refused;	/* hashes: where the last step came from, candidates of several flips refused since */
	size_t n_refused, cap_refused;
	uint64_t idle;		/* evaluations since something was kept */
	double keeping;		/* the share of candidates that were kept lately; it changes no result */
	uint64_t known;		/* ... since something was kept or had to be measured */
	bool around;		/* what was proposed last was drawn at random around a site, for want of a flip */
	uint64_t strayed;	/* how many of these were evaluated since something was kept */
	double fresh;		/* hunt_seconds when something had to be measured last */
	uint64_t evaluations, cached, measured, failed[OUTCOME_COUNT], kept, refuted, drifts;
	double started, before; /* clock at start; seconds spent in earlier stretches */
	double ended;		/* clock when hunt_next said it was over; 0: it is not */
	struct helped helped;	/* where helpers' time went until then */
	bool used_up;		/* nothing is left to try */
	bool focuses;		/* the sites to pick from follow from the evaluations that are left */
	bool told_lost;		/* of a candidate that could not be measured again */
	struct hunt_point *curve;
	size_t n_curve, cap_curve;
	struct hunt_check *check;
	size_t n_check, cap_check;
	struct hunt_step *steps;
	size_t n_steps, cap_steps;
	struct hunt_withdrawn withdrawn; /* not saved */
	uint32_t *order;	/* sweep */
	uint32_t sweep_pos, sweep_kept;
	uint32_t scheme, scheme_kept; /* the next one; steps kept when they began anew */
	uint32_t schemes; /* how often one was asked for */
	uint8_t *drawn;		/* a scheme */
	struct ranking *ranking; /* schemes in the model's order (ranking.c); NULL: there was none yet */
	uint32_t bundle;	/* flips of the next candidate; 0: there was none yet */
	bool bundle_kept;	/* since the last that was kept none was worse */
	double scheme_seconds;	/* that schemes took, if the time matters */
	double scheme_began;	/* when the one under way began; 0: none is */
	struct breed *breed;	/* brkga's population (breed.c); NULL: there is none yet */
	uint32_t *ball;		/* nodes around a site */
	uint8_t *in_ball;
	size_t n_ball;
	struct foresight *foresight; /* what was foreseen last (foresee.c); NULL: nothing */
	uint32_t *flips, n_flips; /* sites in which candidate differs */
	struct precision confirm; /* of the present candidate */
};

/*
 * For a hunt that only proposes (search/counsel.h). hunt_prepare takes the options. The caller then sets h->config and
 * calls hunt_stand, any number of times; proposals go from there. The scorer of the first call stays.
 */
void hunt_prepare(struct hunt *h, const struct hunt_options *o, struct lab *lab);
void hunt_stand(struct hunt *h, const struct scorer *scorer);
/* Both, and measures the default and sets the start. `scorer` may be NULL. */
int hunt_begin(struct hunt *h, const struct hunt_options *o, struct lab *lab, const struct scorer *scorer,
	struct err *err);
/* Makes one evaluation: 1 done, 0 when budget, time or flips are used up, -1 error. */
int hunt_next(struct hunt *h, struct err *err);
void hunt_release(struct hunt *h);
double hunt_seconds(const struct hunt *h);
/* The believed gain: the share of the compiler's own program's time that the configuration saves. */
double hunt_gain(const struct hunt *h);
double hunt_gain_se(const struct hunt *h);     /* its standard error */
double hunt_own_seconds(const struct hunt *h); /* of the compiler's own program */
/* Is the default known so badly that nothing can be said of gains before the verdict? */
bool hunt_vague(const struct hunt *h);

/* Is it a search whose options.bundles may be set? */
bool hunt_bundles(const struct space *s, int strategy, int propose);
/* The present radius of mutations. */
uint32_t hunt_radius(const struct hunt *h);
/* Is there budget left, and something to try, because time or a signal ended the search? */
bool hunt_could_go_on(const struct hunt *h);

#define CONFIRMATIONS 2 /* of what is kept, the credit among them */
static inline struct precision hunt_confirmation(void)
{
	return (struct precision){.target = 0.001, .max_seconds = 0.3, .instances = 3, .min_pairs = 12};
}
/*
 * A gain of at least so many standard errors is not luck. If measuring it again takes at least so many seconds, it is
 * not measured again: choosing it can hardly have made its figure too good. Of twice as many errors, half the seconds,
 * down to a least.
 */
#define CERTAIN_SIGMAS 8.0
#define CERTAIN_SECONDS 2.0
#define CERTAIN_LEAST 0.5
/* Is a change of cost such a gain? `inside`: the seconds that the device took for it. */
static inline bool hunt_certain(double change, double se, double inside)
{
	return inside > CERTAIN_LEAST && change < -CERTAIN_SIGMAS * se &&
	       inside * -change > CERTAIN_SECONDS * CERTAIN_SIGMAS * se;
}

/* For hunt.c, appraise.c, propose.c and drift.c only. */
/* appraise.c: finds what the candidate costs, and whether to keep it. */
int hunt_price(struct hunt *h, struct delta *d, bool *better, struct err *err);
void hunt_say_worth(struct hunt *h); /* says what it is worth to know costs from now on */
bool hunt_propose(struct hunt *h); /* sets candidate and flips; false: nothing is left to try */
bool hunt_propose_scheme(struct hunt *h); /* the same with a scheme, if it is time for one */
bool hunt_propose_bundle(struct hunt *h, uint32_t most); /* ... with that many flips at the most, if more than one */
/* bundle.c: how many flips the next candidate has; what became of the last. */
uint32_t hunt_bundle(const struct hunt *h);
void hunt_bundled(struct hunt *h, const struct delta *d, bool kept);
/* Is the candidate one flip to the guide: of one site, or of tied ones to one choice? */
bool hunt_is_flip(const struct hunt *h);
/* The candidate was priced and is not taken. If it is no flip, which the guide would remember, it is noted here. */
void hunt_refuse(struct hunt *h);
void hunt_undo(struct hunt *h);	   /* makes the candidate the configuration again */
struct flip *hunt_flips(const struct hunt *h); /* of the candidate; the caller frees them */
void hunt_take(struct hunt *h, const struct flip *v, uint32_t n); /* makes these the candidate */
int hunt_check(struct hunt *h, bool last, struct err *err); /* of the whole program, if it is time for one */
/* The seconds that the last check is expected to take; 0 if there will be none. */
double hunt_last_check(const struct hunt *h);
int hunt_set_start(struct hunt *h, struct err *err); /* start.c: sets the configuration, and measures it */
const char *hunt_start_name(const struct hunt *h); /* "default", "random", "given", or the name of a rule */
/* weigh.c. The seconds that a check is expected to take. */
#define HUNT_CHECKS 0.25 /* of --seconds: checks get no more, the last one included */
double hunt_check_seconds(const struct hunt *h);
/* Is there time for one more, besides so many seconds that no check has counted yet? */
bool hunt_check_fits(const struct hunt *h, double more);
/* Measures the whole program against the default. `t` says whether it ran; if so, the cost is in `whole`. */
int hunt_weigh_whole(struct hunt *h, struct timing *t, struct estimate *whole, struct err *err);
/* retreat.c: remembers the configuration after a step; goes back to what the whole program vouches for. */
void hunt_leave_trail(struct hunt *h);
void hunt_save_trail(const struct hunt *h, struct buf *out);
void hunt_load_trail(struct hunt *h, struct cursor *in);
int hunt_retreat(struct hunt *h, struct err *err);
/*
 * Tells the device's helpers what pricing the candidate will compile, or, with copies, what measuring it again will,
 * so many of each side each time; and after it what the hunt may propose then. The hunt stays as it is.
 */
int hunt_expect(struct hunt *h, uint32_t copies, struct err *err);
int hunt_expect_credit(struct hunt *h, struct err *err); /* the same before it is measured a third time */
void hunt_foresaw(struct hunt *h, bool kept); /* what became of the candidate that hunt_expect was told of */
void hunt_forget(struct hunt *h); /* releases what was foreseen */
/*
 * ranking.c: the k-th scheme of the present configuration, the most promising first, into `drawn`; `gain` is its
 * score, or INFINITY where nothing rates schemes. false: there are no more.
 */
bool hunt_draw_scheme(struct hunt *h, uint32_t k, float *gain);
/* Is it the turn of the kind's own order, where there is a model? Then draws the next of that; false: no more. */
bool hunt_hedges(struct hunt *h);
bool hunt_draw_next(struct hunt *h);
void hunt_forget_ranking(struct hunt *h);
/* breed.c: sets candidate and flips; takes the cost of the candidate, or INFINITY. */
bool hunt_breed(struct hunt *h);
void hunt_bred(struct hunt *h, double cost);
void hunt_breed_release(struct hunt *h);
void hunt_breed_save(const struct hunt *h, struct buf *out);
void hunt_breed_load(struct hunt *h, struct cursor *in);
void hunt_vouch(struct hunt *h, const struct estimate *cost); /* the whole program agrees */
void hunt_add_point(struct hunt *h);
extern const struct precision hunt_whole; /* of a whole program against the default */
struct precision hunt_in_time(const struct hunt *h); /* the same, for a share of the search's time at the most */
/* Does the compiler's own program stand for the default as it was read back? Then that is not compiled. */
bool hunt_own_stands(const struct hunt *h);
/* Measures how much more the default as read back costs than the compiler's own program; 0: nothing can be measured. */
int hunt_weigh_default(struct hunt *h, struct cost *c, struct estimate *out, struct err *err);

/* The clock at which the hunt has to be over; 0: never. */
static inline double hunt_end(const struct hunt *h)
{
	return h->o.seconds > 0 ? h->started + h->o.seconds - h->before : 0;
}

/* Does it matter how long a candidate takes? What is modelled does not depend on the speed of this machine. */
static inline bool hunt_is_timed(const struct hunt *h)
{
	return h->o.seconds > 0 && h->lab->kind == COST_MEASURED;
}
/* hunt_propose, within the candidate's share of the time: 1, 0 nothing is left or can be had, -1 error. */
int hunt_offer(struct hunt *h, struct err *err);
/* Puts a candidate that helpers have measured in the place of one that would have to be waited for; false: none is. */
bool hunt_take_early(struct hunt *h);
/* Is there time for the candidate, as far as one can say? 1, 0, or -1 with an error. */
int hunt_affords(struct hunt *h, struct err *err);
uint32_t hunt_passed_over(const struct hunt *h); /* how many flips were passed over */
/* Until when the device is asked: for one candidate, for a check, for whatever comes after the hunt. */
void hunt_allow(struct hunt *h);
void hunt_allow_check(struct hunt *h);
void hunt_allow_all(struct hunt *h);

/* within.c. How far the limits are broken now: the sum of shares of what each allows; 0 if all are kept. */
double hunt_excess(const struct hunt *h);
int hunt_begin_limits(struct hunt *h, struct err *err);
/*
 * The same for the candidate; its changes are remembered for hunt_keep_limits. If the outcome is not ok, it has none.
 */
int hunt_price_limits(struct hunt *h, double *excess, enum outcome *outcome, struct err *err);
void hunt_keep_limits(struct hunt *h);	  /* the candidate is now the configuration */
void hunt_vouch_limits(struct hunt *h);	  /* the present changes are vouched for ... */
void hunt_restore_limits(struct hunt *h); /* ... and the hunt goes back to them */
/* Measures the limits that are not exact on the whole program; at the start, all limits. */
int hunt_weigh_limits(struct hunt *h, const uint8_t *dflt, struct err *err);
bool hunt_inexact_limits(const struct hunt *h); /* are there limits that are not exact? */
/* Are limits that were kept when last vouched for broken now, by more than their errors? */
bool hunt_limits_broken(const struct hunt *h);

/* State to go on from after a kill (state.c); load wants the same program, options and a hunt just begun. */
void hunt_save(const struct hunt *h, struct buf *out);
/* Stores the state in the run, with a trial unless that is NULL. Does nothing without a run. */
int hunt_store(const struct hunt *h, const struct trial *t, struct err *err);
int hunt_load(struct hunt *h, const void *p, size_t n, struct err *err);

#endif
