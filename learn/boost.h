/*
 * boost.h - fitting forests to examples: the learner that sees no graph, only rows (row.h).
 *
 *	struct boost_options o = BOOST_DEFAULTS;
 *	boost(&data, held, unit, &o, &trees, &result, &err);	// trees_release
 *
 * Three forests stand for the network's three outputs (net.h). They are fitted to the same labels with the same weights
 * (train.h): the magnitude and the size of gains by squared error, the sign by cross-entropy against the probability
 * that the flip improves, given its error. Each tree is fitted to the slope of the loss at the prediction of the trees
 * before it, on a random part of the rows and columns.
 *
 * A flip is an example only from the choice at which it was measured. Showing it from every choice, as the network
 * does, was tried: the forests became no better and took twice as long.
 *
 * A program's weight is the root of its number of examples, as in the draws of the network. The three forests are
 * independent, so threads grow them side by side. The same seed gives the same bytes, however many threads there are,
 * unless `seconds` ends the growing. Even then each forest has a tree.
 */
#ifndef LEARN_BOOST_H
#define LEARN_BOOST_H

#include "learn/data.h"
#include "learn/trees.h"

struct boost_options {
	uint32_t rounds;     /* trees of a forest */
	uint32_t leaves;     /* of a tree */
	uint32_t least;	     /* rows of a leaf */
	double rate, lambda; /* see grow.h */
	double columns, rows; /* share of them that a tree sees */
	uint32_t threads;
	double seconds; /* ends the growing, each forest having its share; 0: no limit */
	uint64_t seed;
};
#define BOOST_DEFAULTS \
	{.rounds = 200, .leaves = 16, .least = 20, .rate = 0.05, .lambda = 1, .columns = 0.5, .rows = 0.8, \
	.threads = 1, .seed = 1}

struct boost_result {
	uint64_t rows;
	double seconds;
	bool stopped; /* told to stop (base/stop.h): what there was is kept */
};

/* `held`: per graph, true for graphs that are not trained on. Fails with a sentence when nothing is left. */
int boost(const struct data *d, const bool *held, double unit, const struct boost_options *o, struct trees *trees,
	struct boost_result *out, struct err *err);

#endif
