/*
 * trust.h - how far whole programs bore out what a rule promised.
 *
 * A region is run alone, and some rules do to a program what no region shows. (On two cores, of which another
 * process took a part of one, a product by a library that splits it between them gained by its region, and lost in
 * the program: ten such products of a model of pictures and texts promised 7%, and the whole program took 4% longer.
 * The hunt went back, and then took the same rule again, place after place: in the end 21% were promised, and the
 * program took 12% longer. With both cores free these products gain 16%, and nothing is taken back.)
 *
 * So where a check disagrees with the sum of the steps, the share of their promise that was kept is remembered for
 * their rules. From then on that share of what a rule promises counts. What whole programs say of a rule is not
 * discounted. Kinds without rules have none of this.
 */
#ifndef SEARCH_TRUST_H
#define SEARCH_TRUST_H

#include "search/hunt.h"

/*
 * What a check says of the steps since something was vouched for, which had `promised` so much; ask when the charge
 * for a kernel was corrected, and before anything is taken back. What such a charge explains is not the rules' fault,
 * unless nothing at all is left of the promise.
 */
struct blame *trust_blame(const struct hunt *h, const struct estimate *whole, double promised);
/* The rules of those steps that are not vouched for now are trusted less. Releases `b`, which may be NULL. */
void trust_less(struct hunt *h, struct blame *b);
/* Of what the candidate promises, what is to be believed. */
void trust_discount(const struct hunt *h, struct delta *d);
void trust_save(const struct hunt *h, struct buf *out);
void trust_load(struct hunt *h, struct cursor *in);

#endif
