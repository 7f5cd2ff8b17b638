/*
 * residual.h - what a program's own measurements say about a model's predictions for it.
 *
 * A model has never seen the program that it is asked about, and errs there in its own way: flips that are alike are
 * wrong alike. So each measured flip tells how far the prediction was off, and corrects those of flips like it:
 *
 *	p'    = p + sum k (improved - p) / (1 + sum k)			the probability that it improves
 *	size' = size + sum k (log(1 + gain) - size) / (1 + sum k)		over those that improved
 *
 * with k how alike two flips are: the share of the model's trees that lead both to the same leaf, to the fourth power.
 * The trees know which features matter, so nothing has to be scaled. The 1 is the weight of the model's own word.
 *
 * Tried: distance over all features as they are (85.5% of the gain in the first tenth after five batches, by trees
 * 87.2%, without learning 82.0%); and an upper bound instead of the mean (85.4 against 86.5), which spends its trials on
 * what little is known of. Models without trees learn nothing here, nor do those that count in no unit.
 */
#ifndef LEARN_RESIDUAL_H
#define LEARN_RESIDUAL_H

#include "learn/model.h"

#define RESIDUAL_MOST 512 /* measurements; what comes later is not learnt from */

struct residual_sums { /* of one flip: what alike ones have shown */
	float p, p_weight, size, size_weight;
};

struct residual;
/* NULL for a model that nothing can be learnt with. Borrows it. */
struct residual *residual_new(const struct model *m);
void residual_free(struct residual *r); /* accepts NULL */

/* A flip's leaves in all trees: residual_marks numbers for a row. */
uint32_t residual_marks(const struct residual *r);
void residual_mark(const struct residual *r, const float *row, uint16_t *mark);

/* A flip of this row, for which the model itself said `out`, came out at `advantage` (model.h's unit, of one execution). */
bool residual_tell(struct residual *r, const float *row, const real *out, double advantage);
/* Adds what the measurements from number `from` on say of a flip. */
void residual_add(const struct residual *r, uint32_t from, const uint16_t *mark, struct residual_sums *s);
uint32_t residual_count(const struct residual *r);
/* The model's outputs for a flip, corrected in place. */
void residual_correct(const struct residual_sums *s, real *out);

void residual_save(const struct residual *r, struct buf *out);
void residual_load(struct residual *r, struct cursor *in); /* sets in->bad where it makes no sense */

#endif
