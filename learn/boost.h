/*
 * boost.h - fitting forests to examples: the learner that sees no graph, only rows (row.h).
 *
 *	struct boost_options o = BOOST_DEFAULTS;
 *	boost(&data, held, unit, &o, &trees, &result, &err);	// trees_release
 *
 * Three forests stand for the network's three outputs (net.h) and are fitted to the same labels with the same weights
 * (train.h): the magnitude and the size of gains by squared error, the sign by cross-entropy against the probability
 * that the flip improves given its error. Each tree is grown on the slope of the loss at what the ones before it
 * predict, on a part of the rows and of the columns drawn at random.
 *
 * Flips count from the choice at which they were measured: to see each from every choice, as the network does, taught
 * no more and took twice the time.
 *
 * Programs weigh the root of their number of examples, as in the draws of the network. The three forests are
 * independent, so threads grow them at once; same seed, same bytes, however many threads.
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
	uint64_t seed;
};
#define BOOST_DEFAULTS \
	{.rounds = 200, .leaves = 16, .least = 20, .rate = 0.05, .lambda = 1, .columns = 0.5, .rows = 0.8, .threads = 1, .seed = 1}

struct boost_result {
	uint64_t rows;
	double seconds;
	bool stopped; /* told to stop (base/stop.h): what there was is kept */
};

/* `held`: per graph, true for graphs that are not trained on. Fails with a sentence when nothing is left. */
int boost(const struct data *d, const bool *held, double unit, const struct boost_options *o, struct trees *trees,
	struct boost_result *out, struct err *err);

#endif
