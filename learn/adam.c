/*
 * adam.c - see adam.h. At step t the average keeps a share of 1 - 1/(t + 1) of itself, at most `average`. So it soon
 * forgets the random start.
 */
#include "learn/adam.h"

#include <math.h>
#include <string.h>

#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8
#define LAST 0.01 /* of the rate, at the end */

void adam_init(struct adam *a, const struct net *net, const struct adam_options *o)
{
	*a = (struct adam){.options = *o, .net = net};
	a->mean = MEM_NEW(net->n_weights, real);
	a->square = MEM_NEW(net->n_weights, real);
	a->averaged = MEM_NEW(net->n_weights, real);
	memcpy(a->averaged, net->weight, net->n_weights * sizeof(real));
}

void adam_release(struct adam *a)
{
	mem_free(a->mean);
	mem_free(a->square);
	mem_free(a->averaged);
	*a = (struct adam){0};
}

static double adam_rate(const struct adam_options *o, double done)
{
	if (done < o->warmup)
		return o->rate * (done + 1e-3) / (o->warmup + 1e-3);
	done = (done - o->warmup) / (1 - o->warmup);
	return o->rate * (LAST + (1 - LAST) * (1 + cos(3.141592653589793 * (done < 1 ? done : 1))) / 2);
}

static double clip(real *grad, size_t n, double most)
{
	double norm = 0;

	for (size_t i = 0; i < n; i++)
		norm += (double)grad[i] * (double)grad[i];
	norm = sqrt(norm);
	if (most > 0 && norm > most)
		for (size_t i = 0; i < n; i++)
			grad[i] *= (real)(most / norm);
	return norm;
}

static void update(real *restrict w, real *restrict m, real *restrict v, const real *restrict g, size_t n,
	real rate, real decay, real fix1, real fix2)
{
	for (size_t i = 0; i < n; i++) {
		m[i] = (real)BETA1 * m[i] + (real)(1 - BETA1) * g[i];
		v[i] = (real)BETA2 * v[i] + (real)(1 - BETA2) * g[i] * g[i];
		w[i] -= rate * (m[i] * fix1 / (real_sqrt(v[i] * fix2) + (real)EPSILON) + decay * w[i]);
	}
}

double adam_step(struct adam *a, real *weight, real *grad, double done)
{
	const struct net *net = a->net;
	double norm = clip(grad, net->n_weights, a->options.clip), rate = adam_rate(&a->options, done);
	double keep, t = (double)++a->steps;

	for (uint32_t i = 0; i < net->n_params; i++) {
		const struct param *p = &net->param[i];
		update(weight + p->at, a->mean + p->at, a->square + p->at, grad + p->at, (size_t)p->rows * p->cols,
			(real)rate, p->decays ? (real)a->options.decay : 0, (real)(1 / (1 - pow(BETA1, t))),
			(real)(1 / (1 - pow(BETA2, t))));
	}
	keep = fmin(a->options.average, 1 - 1 / (t / 10 + 1));
	for (size_t i = 0; i < net->n_weights; i++)
		a->averaged[i] += (real)(1 - keep) * (weight[i] - a->averaged[i]);
	return norm;
}
