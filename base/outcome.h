/*
 * outcome.h - the two words that go with every cost, from the device through the store to learning and search.
 *
 * The outcome says what the device did with the program (schemas/outcome.def). The cost kind says where the number
 * comes from: hardware measured it, the target's compiler estimated it, or a model of ours computed it
 * (schemas/costkind.def). The order of both tables is fixed, so the numbers may be stored. Whoever reads one from a
 * file compares it with OUTCOME_COUNT or COST_KIND_COUNT before using it.
 */
#ifndef BASE_OUTCOME_H
#define BASE_OUTCOME_H

enum outcome {
#define OUTCOME(id, ...) OUTCOME_##id,
#include "schemas/outcome.def"
#undef OUTCOME
	OUTCOME_COUNT
};

enum cost_kind {
#define COSTKIND(id, ...) COST_##id,
#include "schemas/costkind.def"
#undef COSTKIND
	COST_KIND_COUNT
};

const char *outcome_name(enum outcome o);
const char *outcome_meaning(enum outcome o);
const char *cost_kind_name(enum cost_kind k);
const char *cost_kind_meaning(enum cost_kind k);

#endif
