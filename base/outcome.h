/*
 * outcome.h - what a device did with a program, and where a cost comes from: the two words that
 * travel with every number, from the device through the store to learning and search.
 *
 * Both are tables in schemas/; their order is fixed, so the numbers may be stored. A number from a
 * file is compared with OUTCOME_COUNT or COST_KIND_COUNT before it is used.
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
