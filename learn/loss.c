/*
 * loss.c - what a prediction of one flip costs. A part of train.h.
 *
 * Noise: a label's own error tells how much it can be trusted. On the logarithmic scale the error of a
 * label is se / (sigma + |advantage|); labels weigh 1 / (1 + (that / 0.25)^2). The sign's target is not
 * 0 or 1 but the probability that the flip improves given what was measured.
 *
 * A bound (so slow that measuring was given up) only pulls a magnitude up, never down.
 */
#include <math.h>
#include "learn/layer.h"
#include "learn/train.h"

#define TRUSTED 0.25 /* error of a label on the log scale that halves its weight */
#define HUBER REAL(1.0)

static real sized(const struct train_options *o, double x, double sigma)
{
	return (real)(o->linear ? x / sigma : log1p(x / sigma));
}

/* Probability that the true advantage is below 0. */
real label_improves(const struct flip_label *l)
{
	if (l->se == 0)
		return l->advantage < 0 ? 1 : l->advantage > 0 ? 0 : REAL(0.5);
	return (real)(erfc(l->advantage / l->se * 0.7071067811865476) / 2);
}

double flip_loss(const struct train_options *o, const struct flip_label *l, double sigma, const real *out, real *d)
{
	double spread = l->se / (sigma + fabs(l->advantage)) / TRUSTED, loss;
	real weight = (real)(1 / (1 + spread * spread)), p = label_improves(l), target = sized(o, label_size(l), sigma);
	real magnitude_weight = (real)o->magnitude_weight * weight, size_weight;
	real sign_weight = (real)o->sign_weight * (l->advantage == 0 ? 0 : weight);

	loss = (double)(magnitude_weight * huber(out[OUT_MAGNITUDE], target, HUBER, &d[OUT_MAGNITUDE]));
	d[OUT_MAGNITUDE] *= magnitude_weight;
	if (l->bound && out[OUT_MAGNITUDE] > target)
		loss = d[OUT_MAGNITUDE] = 0;
	loss += (double)(sign_weight * cross_entropy(out[OUT_SIGN], p, &d[OUT_SIGN]));
	d[OUT_SIGN] *= sign_weight;
	size_weight = (real)o->size_weight * weight * (l->advantage < 0 ? p : 0);
	loss += (double)(size_weight * huber(out[OUT_SIZE], target, HUBER, &d[OUT_SIZE]));
	d[OUT_SIZE] *= size_weight;
	return loss;
}
