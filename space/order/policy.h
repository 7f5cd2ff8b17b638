/*
 * policy.h - a learnt list scheduler: it makes an order of a line step by step, and a small network says how good each
 * of the steps that can run next is.
 *
 * The network sees a step as it stands now (schemas/order_fact.def): the bytes that it would make and free, whether it
 * would raise the peak, what it would make ready, how long it has waited. Sizes are seen on a log scale, in shares of
 * the line's mean value, so that the same weights serve small and large programs. The network is a linear part plus a
 * hidden layer. The next step is drawn: the better its score, the likelier.
 *
 * Why not learn what single shifts gain? Most shifts do not change the peak at all, and gains of several shifts do not
 * add up. What to run next is a choice that every step of every program teaches.
 *
 * The weights in policy.def are learnt by bench/order_learn.c, whose reward is the peak of the orders drawn.
 */
#ifndef SPACE_ORDER_POLICY_H
#define SPACE_ORDER_POLICY_H

#include "base/rng.h"
#include "space/order/line.h"

enum policy_fact {
#define FACT(id, ...) POLICY_##id,
#include "schemas/order_fact.def"
	POLICY_FACTS
};
#define POLICY_HIDDEN 6
#define POLICY_WEIGHTS (POLICY_FACTS + POLICY_HIDDEN * (POLICY_FACTS + 1))

/* The weights that were learnt. */
extern const double policy_learnt[POLICY_WEIGHTS];

struct policy; /* works on one line */

/* Borrows the line, whose values must keep their bytes as long as the policy is used. `base` is an order to lean on. */
struct policy *policy_new(const struct line *l, const uint32_t *base);
void policy_free(struct policy *k); /* accepts NULL */
/*
 * Makes an order with these weights. `heat` 1 draws each step by its score as learnt; 0 takes the best one. Returns the
 * most bytes that are alive at a step.
 */
uint64_t policy_draw(struct policy *k, const double *weight, double heat, struct rng *r, uint32_t *order);

#endif
