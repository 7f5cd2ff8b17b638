/*
 * foresight.h - what the files that look ahead for helpers share; nobody else includes it.
 *
 *	foresee.c  what the hunt will try	odds.c  how likely a candidate is to be kept, or measured again
 *	wishes.c   what all of that needs, the most urgent first
 *	early.c    candidates that helpers measured and the hunt did not come to
 */
#ifndef SEARCH_FORESIGHT_H
#define SEARCH_FORESIGHT_H

#include "search/hunt.h"

#define LATELY 0.2 /* the weight of the last one in a mean of what was lately */
#define MOSTLY 0.5 /* what was so more often is supposed to be so */

/* A candidate that was foreseen, with what pricing it needs; modules leave its list when they become a plan. */
struct foreseen {
	uint64_t tag; /* of its flips, and of the choices around them */
	struct flip *flip;
	uint32_t n_flips;
	struct agenda needs;
};
uint64_t foreseen_tag(const struct hunt *h); /* of the present candidate */
void foreseen_release(struct foreseen *v, size_t n);

/* Candidates that are alike in what is known of them before they are priced. */
enum odds_kind {
	ODDS_CLEAR, /* by the charge for kernels, and by what is known of their regions, they gain beyond doubt, */
	ODDS_FEWER, /* ... gain, */
	ODDS_EVEN,  /* ... cost nothing, */
	ODDS_MORE,  /* ... or lose */
	ODDS_AGAIN, /* their first measurement shows a gain, which is to be confirmed */
	ODDS_KINDS
};

struct foresight { /* all zero is empty */
	struct foreseen *v;
	size_t n, all, cap; /* the first n are foreseen now, the others were before; */
	size_t early;	    /* ... and the first of all, which are measured, come before what is proposed */
	struct {
		double kept, again, seen; /* how many, the older ones counting less and less */
	} odds[ODDS_KINDS];
	double se;	     /* of a candidate that was measured ahead, seconds, on the mean of late; 0: not known */
	enum odds_kind kind; /* of the present candidate */
	uint32_t confirmed;  /* how often it is measured again by now; */
	uint32_t times;	     /* ... how often it was expected to be when that began */
	double credited;     /* the share of those that were so twice */
};

/* What is to be expected of a candidate which needs this. */
struct odds {
	enum odds_kind kind; /* by what was known before helpers measured it */
	double kept, again;  /* the chances that it will be kept, and that it will be measured again */
	double se;	     /* of what helpers measured; 0: they have not measured all of it */
};
struct odds odds_of(const struct hunt *h, const struct agenda *needs);

bool hunt_takes_early(const struct hunt *h); /* is the order of its candidates nothing that must be kept? */
/* Makes it the candidate, if helpers have measured all that is not known of it, and their figures still hold. */
bool foreseen_take(struct hunt *h, const struct foreseen *x);
/* Keeps what was foreseen before and is not now, in case that helpers have measured it. */
void foresight_keep(struct hunt *h, struct foreseen *before, size_t n);

double odds_of_confirmed(const struct hunt *h); /* of one whose first measurement shows a gain */
uint32_t odds_times(const struct hunt *h); /* how often will such a candidate be measured again? */

/*
 * The regions that candidates need, each once; and once more for its executables, beside the first, that it takes to
 * measure it again.
 */
struct wishes { /* all zero is empty */
	struct wish {
		uint64_t price[2]; /* which region */
		bool spare;	   /* is it to measure it again? */
		size_t of, from;   /* the candidate's number in the foresight, and its first item of this region */
		double at;	   /* how many candidates come before, by the chance that it is needed */
	} *v;
	size_t n, cap;
};
/* The candidate with this number needs its regions, `at` candidates from now, and with this chance once more. */
void wishes_add(struct wishes *w, const struct hunt *h, size_t of, uint32_t at, double again);
/* Appends what is wished for, the most urgent first; modules go over. */
void wishes_plan(struct wishes *w, struct hunt *h, struct agenda *out);
void wishes_release(struct wishes *w);

#endif
