/* outcome.c - the names of outcome.h, expanded from the tables in schemas/. */
#include "base/outcome.h"
#include "base/err.h"

static const char *const outcomes[][2] = {
#define OUTCOME(id, name, meaning, retry) {name, meaning},
#include "schemas/outcome.def"
#undef OUTCOME
};

static const char *const kinds[][2] = {
#define COSTKIND(id, name, meaning) {name, meaning},
#include "schemas/costkind.def"
#undef COSTKIND
};

static const char *outcome_word(enum outcome o, int column)
{
	BUG_ON((unsigned)o >= OUTCOME_COUNT);
	return outcomes[o][column];
}

static const char *kind_word(enum cost_kind k, int column)
{
	BUG_ON((unsigned)k >= COST_KIND_COUNT);
	return kinds[k][column];
}

const char *outcome_name(enum outcome o)
{
	return outcome_word(o, 0);
}

const char *outcome_meaning(enum outcome o)
{
	return outcome_word(o, 1);
}

const char *cost_kind_name(enum cost_kind k)
{
	return kind_word(k, 0);
}

const char *cost_kind_meaning(enum cost_kind k)
{
	return kind_word(k, 1);
}
