/*
 * apart.h - the decisions that no model of the nightly loop is trained on, kept to judge models by.
 *
 * Two models can only be compared on decisions that neither was trained on, and the two are made on
 * different nights, from stores that grow and programs that change. So what is apart must not depend on
 * the night, the store or the program. It depends on a site's surroundings: the operations and element
 * types within APART_HOPS steps of it, without sizes and names. One in APART_ONE_IN of all surroundings,
 * chosen by their hash, is apart, with every site that has them. It follows that
 *
 *	what is apart tonight was apart in all earlier nights, and will be,
 *	a block that stands in two programs, or twice in one, is apart everywhere or nowhere,
 *	a program that was changed a little keeps its parts apart.
 *
 * A model file names the rule its decisions were chosen by (model.h); models of another rule, or of none,
 * may have been trained on anything.
 */
#ifndef LEARN_APART_H
#define LEARN_APART_H

#include "learn/data.h"

/* Changing what the hash sees, or which hashes are apart, is another rule: it gets another name. */
#define APART_RULE "one in 8 surroundings, 1"
#define APART_ONE_IN 8
#define APART_HOPS 2

/* The hash of every node's surroundings; `out` has n_nodes places. */
void apart_surroundings(const struct graph *g, uint64_t *out);
bool apart_is(uint64_t surroundings);

/* Fills `around` and `apart` of all examples. */
void apart_mark(struct data *d);

#endif
