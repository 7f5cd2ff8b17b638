/*
 * policy.c - draws orders with learnt weights.
 *
 * The steps that can run wait in the order in which they came to wait. If more than SEEN of them wait, only some are
 * looked at: most of those that came last, and a few of those that have waited longest. So a step costs the same in a
 * program of any size.
 *
 * Nearly all of the time went into logarithms and hyperbolic tangents, so both are approximated (to a millionth and to
 * a ten-thousandth, which no score notices), those of whole numbers are looked up, and nothing is computed of zero.
 */
#include "space/order/policy.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "space/order/list.h"

#define SEEN 48	  /* steps that are looked at before each choice, at most ... */
#define OLDEST 12 /* ... of these so many that have waited longest */

const double policy_learnt[POLICY_WEIGHTS] = {
#include "space/order/policy.def"
};

struct policy {
	const struct line *l;
	double unit;	  /* the mean bytes of values that weigh something */
	double *log;	  /* of one more than each number from 0 to the number of steps */
	double *makes;	  /* per step: the bytes that it makes */
	double *height;	  /* per step: on the longest way to an end, as a share */
	uint32_t *deep, *base; /* per step: its place in a depth-first order, and in the base order */
	uint32_t *missing;	/* per step: predecessors that have not run */
	uint32_t *left;		/* per value: readers that have not run */
	uint32_t *since, *last; /* per step: when it could run first; when its latest predecessor ran */
	uint32_t *wait, n_wait; /* the steps that can run */
	uint32_t now;
	uint64_t alive, peak;
};

static uint32_t *places(const struct line *l, const uint32_t *order)
{
	uint32_t *place = MEM_NEW(l->n, uint32_t);

	for (uint32_t i = 0; i < l->n; i++)
		place[order[i]] = i;
	return place;
}

static void set_heights(struct policy *k, const uint32_t *order)
{
	const struct line *l = k->l;
	double most = 1;

	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t v = order[i];
		for (uint32_t a = l->after.first[v]; a < l->after.first[v + 1]; a++)
			k->height[v] = fmax(k->height[v], 1 + k->height[l->after.item[a]]);
		most = fmax(most, k->height[v]);
	}
	for (uint32_t v = 0; v < l->n; v++)
		k->height[v] /= most;
}

struct policy *policy_new(const struct line *l, const uint32_t *base)
{
	struct policy *k = MEM_NEW(1, struct policy);
	uint32_t *order = MEM_NEW(l->n, uint32_t), weighty = 0;

	*k = (struct policy){.l = l, .height = MEM_NEW(l->n, double), .missing = MEM_NEW(l->n, uint32_t),
		.left = MEM_NEW(l->n_values, uint32_t), .since = MEM_NEW(l->n, uint32_t),
		.last = MEM_NEW(l->n, uint32_t), .wait = MEM_NEW(l->n, uint32_t)};
	for (uint32_t i = 0; i < l->n_values; i++) {
		k->unit += (double)l->value[i].bytes;
		weighty += l->value[i].bytes > 0;
	}
	k->unit = weighty ? k->unit / weighty : 1;
	k->log = MEM_NEW((size_t)l->n + 1, double);
	for (uint32_t i = 0; i <= l->n; i++)
		k->log[i] = log1p(i);
	k->makes = MEM_NEW(l->n, double);
	list_depth_first(l, order);
	k->deep = places(l, order);
	k->base = places(l, base);
	set_heights(k, order);
	mem_free(order);
	return k;
}

void policy_free(struct policy *k)
{
	if (!k)
		return;
	mem_free(k->log);
	mem_free(k->makes);
	mem_free(k->height);
	mem_free(k->deep);
	mem_free(k->base);
	mem_free(k->missing);
	mem_free(k->left);
	mem_free(k->since);
	mem_free(k->last);
	mem_free(k->wait);
	mem_free(k);
}

/* The natural logarithm of a number above 0: that of the power of two below it, and a series for the rest. */
static double quick_log(double x)
{
	uint64_t bits;
	double t, u;
	int power;

	memcpy(&bits, &x, sizeof bits);
	power = (int)(bits >> 52) - 1023;
	bits = (bits & 0xfffffffffffff) | UINT64_C(1023) << 52;
	memcpy(&x, &bits, sizeof x);
	t = (x - 1) / (x + 1);
	u = t * t;
	return power * M_LN2 + 2 * t * (1 + u * (1.0 / 3 + u * (1.0 / 5 + u * (1.0 / 7 + u / 9))));
}

/* A quotient of polynomials that is near the hyperbolic tangent up to 5, where both are nearly 1. */
static double quick_tanh(double x)
{
	double u = x * x;

	if (u > 25)
		return x < 0 ? -1 : 1;
	return x * (135135 + u * (17325 + u * (378 + u))) / (135135 + u * (62370 + u * (3150 + u * 28)));
}

/* Bytes on a log scale, with their sign. */
static double scaled(const struct policy *k, double bytes)
{
	if (bytes > 0)
		return quick_log(1 + bytes / k->unit);
	return bytes < 0 ? -quick_log(1 - bytes / k->unit) : 0;
}

/* Bytes of values that a step reads and that no other step will read after it. */
static double freed(const struct policy *k, uint32_t step)
{
	const struct line *l = k->l;
	double bytes = 0;

	for (uint32_t i = l->reads.first[step]; i < l->reads.first[step + 1]; i++)
		if (k->left[l->reads.item[i]] == 1)
			bytes += (double)l->value[l->reads.item[i]].bytes;
	return bytes;
}

/* Bytes that a step does not need because what it makes takes the place of what it frees. */
static double saved(const struct policy *k, uint32_t step)
{
	const struct line *l = k->l;
	double bytes = 0;

	for (uint32_t i = l->makes.first[step]; i < l->makes.first[step + 1]; i++) {
		uint32_t x = l->makes.item[i];
		for (uint32_t t = l->twins.first[x]; t < l->twins.first[x + 1]; t++)
			if (k->left[l->twins.item[t]] == 1) {
				bytes += fmin((double)l->value[x].bytes,
					(double)l->value[l->twins.item[t]].bytes);
				break;
			}
	}
	return bytes;
}

/* Facts about what a step reads. */
static void see_reads(const struct policy *k, uint32_t v, double *f)
{
	const struct line *l = k->l;
	double partly = 0, fewest = 0;

	for (uint32_t i = l->reads.first[v]; i < l->reads.first[v + 1]; i++) {
		uint32_t x = l->reads.item[i];
		fewest = fmax(fewest, 1.0 / k->left[x]);
		if (k->left[x] > 1)
			partly += (double)l->value[x].bytes / k->left[x];
	}
	f[POLICY_PARTLY] = scaled(k, partly);
	f[POLICY_LAST] = fewest;
}

/* Bytes that are alive already and that a step reads. */
static double held(const struct policy *k, uint32_t step)
{
	const struct line *l = k->l;
	double bytes = 0;

	for (uint32_t i = l->reads.first[step]; i < l->reads.first[step + 1]; i++) {
		uint32_t x = l->reads.item[i];
		if (k->since[l->value[x].maker] == UINT32_MAX)
			bytes += (double)l->value[x].bytes;
	}
	return bytes;
}

#define FOLLOWED 8 /* successors of a step that are looked at */

/* Facts about what comes after a step. */
static void see_after(const struct policy *k, uint32_t v, double *f)
{
	const struct line *l = k->l;
	double best = 0, misses = 0, most = 0;
	uint32_t readied = 0, n = l->after.first[v + 1] - l->after.first[v];

	for (uint32_t i = 0; i < n && i < FOLLOWED; i++) {
		uint32_t u = l->after.item[l->after.first[v] + i];
		double adds;
		misses = fmax(misses, 1.0 / k->missing[u]);
		most = fmax(most, held(k, u));
		if (k->missing[u] > 1)
			continue;
		adds = k->makes[u] - freed(k, u);
		best = readied++ == 0 || adds < best ? adds : best;
	}
	f[POLICY_READIES] = k->log[readied];
	f[POLICY_NEXT] = scaled(k, best);
	f[POLICY_MISSES] = misses;
	f[POLICY_HELD] = scaled(k, most);
	f[POLICY_READERS] = k->log[n];
}

static void see(const struct policy *k, uint32_t v, double *f)
{
	const struct line *l = k->l;
	double makes = k->makes[v], frees = freed(k, v), n = l->n;
	double then = (double)k->alive + makes + (double)l->inside[v] - saved(k, v);

	f[POLICY_GROWS] = scaled(k, makes - frees);
	f[POLICY_MAKES] = scaled(k, makes);
	f[POLICY_FREES] = scaled(k, frees);
	f[POLICY_OVER] = then > (double)k->peak ? scaled(k, then - (double)k->peak) : 0;
	f[POLICY_LATELY] = 1.0 / (1 + k->now - k->last[v]);
	f[POLICY_WAITS] = k->log[k->now - k->since[v]] / k->log[l->n];
	f[POLICY_DEPTH_FIRST] = ((double)k->deep[v] - k->now) / n;
	f[POLICY_BASE] = ((double)k->base[v] - k->now) / n;
	f[POLICY_HEIGHT] = k->height[v];
	see_reads(k, v, f);
	see_after(k, v, f);
}

static double score(const double *w, const double *f)
{
	double sum = 0;

	for (int i = 0; i < POLICY_FACTS; i++)
		sum += w[i] * f[i];
	w += POLICY_FACTS;
	for (int h = 0; h < POLICY_HIDDEN; h++, w += POLICY_FACTS + 1) {
		double x = 0;
		for (int i = 0; i < POLICY_FACTS; i++)
			x += w[i] * f[i];
		if (w[POLICY_FACTS] < 0 || w[POLICY_FACTS] > 0)
			sum += w[POLICY_FACTS] * quick_tanh(x);
	}
	return sum;
}

/* Chooses a waiting step; returns its index. Adding noise of this shape draws by the exponential of scores. */
static uint32_t choose(const struct policy *k, const double *weight, double heat, struct rng *r)
{
	uint32_t seen = k->n_wait < SEEN ? k->n_wait : SEEN, best = 0;
	double most = -INFINITY;

	for (uint32_t i = 0; i < seen && k->n_wait > 1; i++) {
		uint32_t at = k->n_wait <= SEEN || i < OLDEST ? i : k->n_wait - SEEN + i;
		double f[POLICY_FACTS], s;
		see(k, k->wait[at], f);
		s = score(weight, f);
		if (heat > 0)
			s -= heat * quick_log(fmax(-quick_log(rng_unit(r) + 1e-12), 1e-12));
		if (s > most) {
			most = s;
			best = at;
		}
	}
	return best;
}

/* Runs a step: counts what is alive, and finds what can run now. */
static void advance(struct policy *k, uint32_t v)
{
	const struct line *l = k->l;
	double then = (double)k->alive + k->makes[v] + (double)l->inside[v] - saved(k, v);

	k->peak = then > (double)k->peak ? (uint64_t)then : k->peak;
	k->since[v] = UINT32_MAX;
	for (uint32_t i = l->makes.first[v]; i < l->makes.first[v + 1]; i++)
		if (k->left[l->makes.item[i]])
			k->alive += l->value[l->makes.item[i]].bytes;
	for (uint32_t i = l->reads.first[v]; i < l->reads.first[v + 1]; i++)
		if (--k->left[l->reads.item[i]] == 0)
			k->alive -= l->value[l->reads.item[i]].bytes;
	for (uint32_t i = l->after.first[v]; i < l->after.first[v + 1]; i++) {
		uint32_t u = l->after.item[i];
		k->last[u] = k->now;
		if (--k->missing[u] == 0) {
			k->since[u] = k->now;
			k->wait[k->n_wait++] = u;
		}
	}
	k->now++;
}

/* Begins an order with the pinned steps. */
static void begin(struct policy *k, uint32_t *order)
{
	const struct line *l = k->l;

	k->n_wait = k->now = 0;
	k->alive = k->peak = 0;
	memset(k->last, 0, l->n * sizeof *k->last);
	memset(k->since, 0, l->n * sizeof *k->since);
	memset(k->makes, 0, l->n * sizeof *k->makes);
	for (uint32_t i = 0; i < l->n_values; i++) {
		k->left[i] = l->readers.first[i + 1] - l->readers.first[i];
		k->makes[l->value[i].maker] += (double)l->value[i].bytes;
	}
	for (uint32_t v = 0; v < l->n; v++) {
		k->missing[v] = l->before.first[v + 1] - l->before.first[v];
		if (k->missing[v] == 0 && !l->pinned[v])
			k->wait[k->n_wait++] = v;
	}
	for (uint32_t v = 0; v < l->n; v++)
		if (l->pinned[v]) {
			order[k->now] = v;
			advance(k, v);
		}
}

uint64_t policy_draw(struct policy *k, const double *weight, double heat, struct rng *r, uint32_t *order)
{
	begin(k, order);
	while (k->n_wait) {
		uint32_t at = choose(k, weight, heat, r), v = k->wait[at];
		k->n_wait--;
		memmove(k->wait + at, k->wait + at + 1, (k->n_wait - at) * sizeof *k->wait);
		order[k->now] = v;
		advance(k, v);
	}
	return k->peak;
}
