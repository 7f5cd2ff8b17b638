/*
 * eval.h - measures how good predictions are, graph by graph, compared with trivial predictions and with what is
 * possible.
 *
 * Items are the measured flips of a graph (from the choice the configuration stood at). Two questions:
 *
 *	recall@p   of the p% of flips with the largest |advantage|, the share among the first p% by
 *		   predicted magnitude
 *	gain@p	   of all time that single improving flips would save, the share in the first p% of flips
 *		   by predicted gain
 *
 * Equal scores are taken in random order, and the figures are expectations over that order. The rivals are:
 *
 *	opcode mean	the mean of the opcode in the training graphs
 *	elements	the number of elements of the site's result
 *	promise		what the kind itself promises of the choice (space_ops.promise); of others no figure
 *	constant	the same score for all: what random order gives
 *	repeat		the ceiling: the same flips measured a second time, drawn from their errors
 */
#ifndef LEARN_EVAL_H
#define LEARN_EVAL_H

#include "learn/data.h"
#include "learn/model.h"

enum rival { BY_MODEL, BY_OPCODE, BY_ELEMENTS, BY_PROMISE, BY_CONSTANT, BY_REPEAT, RIVALS };
enum share { AT_1, AT_5, AT_10, AT_20, SHARES };
extern const double eval_share[SHARES]; /* 0.01, 0.05, 0.1, 0.2 */
const char *rival_name(enum rival r);	/* "model", "opcode mean" ... */

struct eval_item { /* one measured flip */
	uint32_t example;
	uint8_t flip;	      /* of the example */
	double advantage, se; /* seconds */
	double magnitude, p_improve, gain; /* predicted */
};

/* Seconds it saves: 0 unless it is better by more than its error. */
static inline double eval_gain(const struct eval_item *x)
{
	return x->advantage < -x->se ? -x->advantage : 0;
}

struct eval_graph {
	uint32_t graph;	      /* of the data */
	struct eval_item *item; /* in the arena */
	size_t n, n_significant, n_improving; /* |advantage| > 2 se; of those, better */
	double possible;      /* seconds: sum of all improvements */
	double recall[RIVALS][SHARES], gain[RIVALS][SHARES];
	double gain_by_magnitude[SHARES], gain_by_sign[SHARES]; /* the model's other two orders */
	double recall_by_sign[SHARES]; /* by how sure it is of the sign */
	double spearman[RIVALS]; /* of |advantage| */
	double signs, signs_majority; /* share right of the significant; of always saying the commoner */
	/* Of the significant: what share of those said to improve do, and what share of those that do was said to. */
	double improving_precision, improving_recall; /* NAN: none is said to; none does */
	double gain_spearman; /* of predicted gain with the improvement */
};

struct evaluation { /* all zero is empty */
	struct arena mem;
	struct eval_graph *graph;
	uint32_t n_graphs; /* those of `which` with items */
	struct eval_graph mean; /* of the graphs, each the same weight; no items */
};

struct team;
/* `which`: per graph of the data, true to evaluate; `known`: per graph, true if it may teach the opcode mean. */
void evaluate(const struct data *d, const bool *which, const bool *known, const struct model *m,
	struct team *team, struct evaluation *out);
void evaluation_release(struct evaluation *e);
/* Fills `mean` from the graphs; for callers that put evaluations together. */
void evaluation_average(struct evaluation *e);

/*
 * Share of the sum of `value` that the first `part` of n items by falling score hold; ties on average. Scores that are
 * no numbers come last.
 */
double share_found(const double *score, const double *value, size_t n, double part);

#endif
