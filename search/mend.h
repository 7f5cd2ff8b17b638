/*
 * mend.h - takes back what makes an answer's numbers wrong.
 *
 * Some ways to compute a value are right and yet less accurate: a variance from a sum and a sum of squares is bad if
 * the mean is much larger than the spread. The verdict refuses an answer with one such place, however much all others
 * gain. So if numbers are refused, some of the choices are taken back (cure.h says which), and the verdict is asked
 * again. If it refuses that too, it is asked about what the kinds before made. The first answer that it does not refuse
 * stands.
 */
#ifndef SEARCH_MEND_H
#define SEARCH_MEND_H

#include "search/hunt.h"
#include "search/verdict.h"

/* Changes the verdict and h->config, if the numbers were refused and are right without some of the choices. */
int mend_answer(struct verdict *v, struct hunt *h, const struct verdict_options *o, struct err *err);

/* The same before other kinds go on with what this one made, because what is wrong now stays wrong then. */
int mend_before_others(struct hunt *h, struct device *d, struct err *err);

/* "What follows the rule ... was taken back in 3 places: with it, ..."; nothing if nothing was. */
void mend_words(const struct hunt *h, struct buf *out);

#endif
