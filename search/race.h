/*
 * race.h - the answer in several forms, of which the fastest is taken.
 *
 * When all decisions about parts are made, some are left about the whole: how its code is generated (recode.h), and
 * which kernels run as one (welding.h). That is asked once. The answer is compiled in another form and runs beside the
 * best form so far, and takes its place if it is surely faster. The verdict measures the last one anew against the
 * compiler's own program, so what luck there is in the choice does not count as a gain.
 *
 * No form is tried where compiling again would take long beside the search, unless it promises much; and none where a
 * device only estimates. None under limits either: a form moves what lies in memory when, and the search kept its
 * limits without it.
 */
#ifndef SEARCH_RACE_H
#define SEARCH_RACE_H

#include "search/hunt.h"

struct race {
	struct hunt *h;
	struct buf module; /* the best form so far, compiled ... */
	enum compile_how how;
	struct compiled best, next;
	double takes; /* seconds that compiling a form takes; 0: not known yet */
	double began, ends; /* the time, and that by which it has to be over */
	bool won;     /* has another form than the first become the best one? */
};
struct lap { /* how a form did: what it saved, as a share of the best one's time, and its standard error */
	bool run;
	double gain, se;
};

/* Can forms of the answer be told apart by running them? */
bool race_possible(const struct hunt *h);
/*
 * Compiles the answer as it is. The race lasts half as long as the search; or, if so many `forms` promise much, until
 * these can be compiled and run, up to twice as long as the search. race_end has to follow, even if this fails.
 */
int race_begin(struct race *x, struct hunt *h, unsigned forms, struct err *err);
/*
 * Compiles the answer again, in a process that has done nothing before. One that has timed parts gives all free memory
 * back before each run of a large program (device/worker/mapped.h), which processes of users do not.
 */
int race_afresh(struct race *x, struct err *err);
/* Gives the race the time for so many forms, as above, if only what it begins with tells what they promise. */
void race_allow(struct race *x, unsigned forms);
/* Is there something to compare with, and time for one more form, as far as one can say? */
bool race_goes_on(const struct race *x);
/*
 * Compiles a form and runs it beside the best one. Returns 1 if it is faster, and then it is the best one; else 0. What
 * the compiler refuses, or what has no room, is not.
 */
int race_enter(struct race *x, enum compile_how how, const struct buf *module, struct lap *lap, struct err *err);
/*
 * Compiles the best form again if it was lost, as it is when a worker dies of another form. Its code is generated in
 * the device's present ways.
 */
int race_recover(struct race *x, struct err *err);
/* Keeps the best one for the verdict. */
int race_end(struct race *x, struct err *err);

#endif
