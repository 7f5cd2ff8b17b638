/*
 * train.h - fitting the network to examples.
 *
 *	struct train_options o = TRAIN_DEFAULTS;
 *	train(&data, held, &o, &net, &result, &err);	// net is set up and filled; release it
 *
 * Labels are log(1 + |advantage| / sigma) of the example's graph; an advantage within its standard error
 * counts as 0, and precise labels weigh more. Three losses are added: Huber of the magnitude, cross-
 * entropy of "improves" against the probability that it does given its error, Huber of the size of the
 * gain where there is one.
 *
 * Draws: first a graph (by the root of its number of examples), then one of its examples; if `top_draws` is set,
 * so many from the largest by |advantage| or from those with a real gain, the rest from all. Wherever that was
 * measured, it made predictions worse, so it is not the default. Nor are more layers than one (bench/log.md,
 * 2026-11-22 and 24).
 *
 * Draws that favour gains teach too high a probability of improving. So at the end the sign's bias is shifted until as
 * many of all training examples are expected to improve as really do.
 *
 * A batch is cut into shards of fixed size, each with its own gradient, added up in order: the result
 * does not depend on how many threads there are, and the same seed gives the same bytes (unless
 * `seconds` ends or paces the training).
 */
#ifndef LEARN_TRAIN_H
#define LEARN_TRAIN_H

#include "learn/adam.h"
#include "learn/advice.h"

struct train_point { /* one point of the learning curve */
	uint64_t step;
	double done, seconds;	/* share of the training; since its start */
	double loss, held_loss; /* mean since the last point; of the held-out graphs, NAN without any */
	double norm;		/* of the gradient, mean */
	bool best;
};

struct train_options {
	struct net_size size;	   /* width, head, layers, blind; the rest is filled in */
	struct adam_options adam;
	double epochs;		   /* draws per example, on average */
	double seconds;		   /* ends the training, and paces it: 0 for no limit */
	uint64_t least_steps;	   /* at least, however few the examples */
	uint32_t ramps;		   /* of each number that is known of a flip (ramps.h), at most; 0: none */
	uint32_t batch, threads;
	uint64_t seed;
	double top_draws, top_part; /* share of draws from the top, and what share of examples that is */
	double gain_draws;	   /* of the draws from the top: share from the gains instead */
	double magnitude_weight, sign_weight, size_weight; /* of the three losses */
	const struct advice *advice; /* what trees say of all flips, which the network corrects, or NULL */
	double unit;		   /* of the labels, for one execution; 0: the sigma of each graph */
	bool linear;		   /* labels without the logarithm: only to show that it matters */
	bool current_only;	   /* no mirrored examples */
	uint32_t evaluations;	   /* of the held-out graphs, evenly over the training */
	uint32_t patience;	   /* stop after so many evaluations without a better one; 0: never */
	/* Called after each evaluation, with the weights as they would be kept; may be NULL. */
	void (*progress)(void *ctx, const struct net *net, const struct train_point *p);
	void *ctx;
};
#define TRAIN_DEFAULTS \
	{.size = {.width = 64, .head = 64, .layers = 1}, .ramps = 16, \
		.adam = {.rate = 2e-3, .decay = 0.02, .clip = 1, .average = 0.998, .warmup = 0.05}, \
		.epochs = 10, .least_steps = 2000, .batch = 256, .threads = 1, .seed = 1, .top_draws = 0, \
		.top_part = 0.1, .gain_draws = 0.5, .magnitude_weight = 1, .sign_weight = 1, .size_weight = 1, \
		.evaluations = 20}

struct train_result { /* all zero is empty */
	struct train_point *point;
	size_t n_points, cap_points;
	uint64_t steps, draws;
	double seconds;		/* training itself, evaluations left out */
	uint64_t n_train, n_held; /* examples */
	bool stopped;		/* told to stop (base/stop.h): what there was is kept */
};
void train_result_release(struct train_result *r);

/*
 * `held`: per graph, true for graphs that are not trained on. They are evaluated, and the weights kept
 * are the best on them if `patience` is set, else the last. Fails with a sentence when nothing is left.
 */
int train(const struct data *d, const bool *held, const struct train_options *o, struct net *net,
	struct train_result *out, struct err *err);

/*
 * Raw outputs (OUT_COUNT each) for every flip of the examples given, in order; `out` has room. `a` NULL: the network
 * takes no advice.
 */
struct team;
void train_predict(const struct net *net, const struct data *d, const struct advice *a, const uint32_t *example,
	size_t n, struct team *team, real *out);

/* Probability that the flip improves, given what was measured: the target of the sign. */
real label_improves(const struct flip_label *l);

/*
 * What is to be learnt of an example's flips is counted in: the model's unit (model.h) for each execution of the site
 * and times the grain of its program (space.h), or where the model has none the graph's sigma.
 */
double label_unit(const struct data *d, const struct example *e, double unit);
/* What units of the example's advantages are: executions of its site per run of the program, times the grain. */
double example_units(const struct data *d, const struct example *e);
/*
 * The unit that the data give: UNIT_SHARE of the median |advantage| of one execution, in grains, over the graphs not
 * held.
 */
double data_unit(const struct data *d, const bool *held);

/* What a label says, in units: its size on the log scale, and how much each of the three losses heeds it. */
struct target {
	double size, improves, weight, sign_weight, size_weight;
};
struct target target_of(const struct flip_label *l, double unit);

/* The loss of one flip and its derivative by its outputs. Exposed for tests. */
double flip_loss(const struct train_options *o, const struct flip_label *l, double unit, const real *out, real *d);

#endif
