/*
 * apart.h - chooses the decisions that are kept apart: no model of the nightly loop is trained on them, so models can
 * be judged by them.
 *
 * Two models can only be compared on decisions that neither was trained on. But they are made on different nights, from
 * stores that grow and programs that change. So what is apart must not depend on the night, the store or the program.
 * It depends on a site's surroundings: the operations and element types within APART_HOPS steps of it, without sizes
 * and names. One in APART_ONE_IN of all surroundings, chosen by their hash, is apart, with every site that has them. So
 *
 * what is apart tonight was apart in all earlier nights, and will be,
 * a block that stands in two programs, or twice in one, is apart everywhere or nowhere,
 * in a program that was changed a little, the same decisions are still apart.
 *
 * A model file names the rule that chose its decisions (model.h). A model with another rule, or none, may have been
 * trained on anything.
 */
#ifndef LEARN_APART_H
#define LEARN_APART_H

#include "learn/data.h"

/* Changing what the hash sees, or which hashes are apart, is another rule: it gets another name. */
#define APART_RULE "one in 8 surroundings, 1"
#define APART_ONE_IN 8
#define APART_HOPS 2

bool apart_is(uint64_t surroundings);

/* Fills `around` and `apart` of all examples. */
void apart_mark(struct data *d);

#endif
