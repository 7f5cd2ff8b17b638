/*
 * judge.h - tells which of two models is better, on decisions that neither was trained on.
 *
 * The score of a model on a program is its DEPTH. Put the program's flips in a list with the largest predicted gain
 * first, as a search tries them. The depth is how far down this list the measured gain stands, on average over every
 * second (or byte) of it: 0 is the top, 1 the bottom. A random order has depth 0.5; less is better. Programs are
 * averaged with the weight that they have in training, the root of their number of flips.
 *
 * Flips with the same surroundings (apart.h) resemble each other, and so do measurements of one flip. So we count
 * surroundings, not flips, as independent: the interval of the difference comes from a bootstrap over surroundings,
 * with the same draws for both models.
 *
 * THE RULE: one model is better than another if the 95% interval of the difference of their depths does not contain 0.
 * Otherwise they are alike: the difference is within noise. With fewer than JUDGE_LEAST surroundings that have a gain,
 * two models are always alike.
 */
#ifndef LEARN_JUDGE_H
#define LEARN_JUDGE_H

#include "learn/data.h"
#include "learn/model.h"

#define JUDGE_LEAST 10

struct judge_list {	   /* the examples to judge on; example is freed by who filled it */
	uint32_t *example; /* numbers of the data's */
	size_t n, n_flips; /* examples; flips of all of them */
};

enum judgement { JUDGED_BETTER, JUDGED_WORSE, JUDGED_ALIKE };
const char *judgement_name(enum judgement j); /* "better", "worse", "within noise" */

struct judged {
	enum judgement verdict;	    /* of the new one */
	double depth[2];	    /* of the new, of the old; NAN where nothing improves */
	double low, high;	    /* 95% interval of old - new; NAN where there is none */
	uint32_t surroundings, gaining; /* different ones; those with a gain in them */
	uint32_t graphs;	    /* in which something improves */
	size_t flips;
};

struct team;
/* The predicted gain of every flip of the list, for the caller to free. A network has `radius` layers. */
float *judge_predict(const struct data *d, const struct judge_list *list, const struct model *m, struct team *team);
/* Compares what two models predicted; `old` NULL is no model, any order. */
void judge(const struct data *d, const struct judge_list *list, const float *fresh, const float *old,
	struct judged *out);

#endif
