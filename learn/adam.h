/*
 * adam.h - the optimiser: Adam with decoupled weight decay, over all parameters as one array.
 *
 * The rate rises linearly over the warm-up and falls on a cosine to a hundredth. Gradients whose norm
 * is above `clip` are scaled down to it. Beside the weights a running average of them is kept, which
 * is smoother and generalises better than where the last step happened to end.
 */
#ifndef LEARN_ADAM_H
#define LEARN_ADAM_H

#include "learn/net.h"

struct adam_options { /* no defaults: train.h has them */
	double rate, decay, clip, average;
	double warmup; /* share of the whole training */
};

struct adam { /* all zero is empty */
	struct adam_options options;
	const struct net *net;
	real *mean, *square;
	real *averaged; /* n_weights: the running average */
	uint64_t steps;
};
void adam_init(struct adam *a, const struct net *net, const struct adam_options *o);
/* One step; `done` in 0..1 is how far the training is. Returns the gradient's norm; scales it in place. */
double adam_step(struct adam *a, real *weight, real *grad, double done);
void adam_release(struct adam *a);

#endif
