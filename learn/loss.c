/*
 * loss.c - the loss of the prediction of one flip. A part of train.h.
 *
 * A label's own error tells how far it can be trusted. On the logarithmic scale it is e = se / (sigma + |advantage|),
 * and the label has the weight 1 / (1 + (e / 0.25)^2). The sign's target is not 0 or 1, but the probability that the
 * flip improves, given what was measured.
 *
 * A bound (so slow that measuring was given up) can only raise a predicted magnitude, never lower it.
 */
#include <math.h>
#include "base/stat.h"
#include "learn/layer.h"
#include "learn/train.h"

#define TRUSTED 0.25 /* error of a label on the log scale that halves its weight */
#define HUBER REAL(1.0)

#define LEAST_UNITS 1e-18
#define UNIT_SHARE 0.4	/* of the median: below it sizes are nearly linear, above it nearly logarithmic */

double example_units(const struct data *d, const struct example *e)
{
	const struct data_graph *g = &d->graph[e->graph];
	const struct space *s = g->scene.space;

	double trips = s->graph->comp[s->graph->node[s->site[e->site].node].comp].trips;

	return g->grain * (trips > 0 ? trips : 1); /* where nothing runs, all advantages are 0 anyhow */
}

double label_unit(const struct data *d, const struct example *e, double unit)
{
	return unit > 0 ? unit * example_units(d, e) : d->graph[e->graph].sigma;
}

double data_unit(const struct data *d, const bool *held)
{
	double *size = NULL, median;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < d->n_examples; i++) {
		const struct example *e = &d->example[i];
		if (e->apart || (held && held[e->graph]))
			continue;
		MEM_GROW(&size, &cap, n + e->n_flips);
		for (uint8_t k = 0; k < e->n_flips; k++)
			size[n++] = fabs(e->label[k].advantage) / fmax(example_units(d, e), LEAST_UNITS);
	}
	median = n ? stat_median(size, n) : 0;
	mem_free(size);
	return median > 0 ? UNIT_SHARE * median : 1e-12; /* all alike: any unit will do */
}

/* Probability that the true advantage is below 0. */
real label_improves(const struct flip_label *l)
{
	if (l->se == 0)
		return l->advantage < 0 ? 1 : l->advantage > 0 ? 0 : REAL(0.5);
	return (real)(erfc(l->advantage / l->se * 0.7071067811865476) / 2);
}

struct target target_of(const struct flip_label *l, double unit)
{
	double spread = l->se / (unit + fabs(l->advantage)) / TRUSTED, weight = 1 / (1 + spread * spread);
	double p = (double)label_improves(l);

	return (struct target){.size = log1p(label_size(l) / unit), .improves = p, .weight = weight,
		.sign_weight = l->advantage == 0 ? 0 : weight, .size_weight = l->advantage < 0 ? weight * p : 0};
}

double flip_loss(const struct train_options *o, const struct flip_label *l, double unit, const real *out, real *d)
{
	struct target t = target_of(l, unit);
	real size = (real)(o->linear ? label_size(l) / unit : t.size),
		magnitude_weight = (real)(o->magnitude_weight * t.weight);
	real sign_weight = (real)(o->sign_weight * t.sign_weight), size_weight = (real)(o->size_weight * t.size_weight);
	double loss;

	loss = (double)(magnitude_weight * huber(out[OUT_MAGNITUDE], size, HUBER, &d[OUT_MAGNITUDE]));
	d[OUT_MAGNITUDE] *= magnitude_weight;
	if (l->bound && out[OUT_MAGNITUDE] > size)
		loss = d[OUT_MAGNITUDE] = 0;
	loss += (double)(sign_weight * cross_entropy(out[OUT_SIGN], (real)t.improves, &d[OUT_SIGN]));
	d[OUT_SIGN] *= sign_weight;
	loss += (double)(size_weight * huber(out[OUT_SIZE], size, HUBER, &d[OUT_SIZE]));
	d[OUT_SIZE] *= size_weight;
	return loss;
}
