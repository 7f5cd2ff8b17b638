/*
 * layer.c - see layer.h. Loops run over rows of 16 to 256 numbers, contiguous and free of aliases, so
 * that the compiler turns them into vector code; sums, which it may not reorder by itself, are written
 * in lanes. Everything sums in a fixed order: the same input gives the same bytes.
 *
 * The matrix products should be most of the time, so what is between them touches each row once: norm
 * and relu are one layer, and neighbours are averaged straight into the matrix that is multiplied next.
 */
#include "learn/layer.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/err.h"
#include "learn/blas.h"

#define NORM_EPSILON REAL(1e-5)
/* Four parallel sums of a few lanes each: what a compiler may not make of one sum by itself. */
typedef real lanes __attribute__((vector_size(16)));
#define LANES (16 / sizeof(real))

static inline lanes load(const real *p)
{
	lanes v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline real total(lanes a, lanes b, lanes c, lanes d)
{
	real sum = 0;

	a += b + (c + d);
	for (size_t i = 0; i < LANES; i++)
		sum += a[i];
	return sum;
}

static real sum(const real *x, size_t n)
{
	lanes a = {0}, b = {0}, c = {0}, d = {0};
	real rest = 0;
	size_t i = 0;

	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		a += load(x + i);
		b += load(x + i + LANES);
		c += load(x + i + 2 * LANES);
		d += load(x + i + 3 * LANES);
	}
	for (; i < n; i++)
		rest += x[i];
	return total(a, b, c, d) + rest;
}

static real dot(const real *x, const real *y, size_t n)
{
	lanes a = {0}, b = {0}, c = {0}, d = {0};
	real rest = 0;
	size_t i = 0;

	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		a += load(x + i) * load(y + i);
		b += load(x + i + LANES) * load(y + i + LANES);
		c += load(x + i + 2 * LANES) * load(y + i + 2 * LANES);
		d += load(x + i + 3 * LANES) * load(y + i + 3 * LANES);
	}
	for (; i < n; i++)
		rest += x[i] * y[i];
	return total(a, b, c, d) + rest;
}

static void add(real *restrict y, const real *restrict x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] += x[i];
}

static void add_scaled(real *restrict y, const real *restrict x, real a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] += a * x[i];
}

void linear_forward(real *y, const real *x, const real *w, const real *b, size_t n, size_t in, size_t out)
{
	if (b)
		for (size_t i = 0; i < n; i++)
			memcpy(y + i * out, b, out * sizeof *y);
	gemm(false, false, n, out, in, 1, x, w, b ? 1 : 0, y);
}

void linear_backward(real *dx, real *dw, real *db, const real *dy, const real *x, const real *w, size_t n,
	size_t in, size_t out)
{
	if (dx)
		gemm(false, true, n, in, out, 1, dy, w, 1, dx);
	gemm(true, false, in, out, n, 1, x, dy, 1, dw);
	if (db)
		for (size_t i = 0; i < n; i++)
			add(db, dy + i * out, out);
}

void embed_forward(real *y, const real *table, const uint16_t *id, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++)
		add(y + i * width, table + id[i] * width, width);
}

void embed_backward(real *dtable, const real *dy, const uint16_t *id, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++)
		add(dtable + id[i] * width, dy + i * width, width);
}

/* y = relu(gain * r x + bias); x becomes r x. */
static void scale_shift_relu(real *restrict y, real *restrict x, real r, const real *restrict gain,
	const real *restrict bias, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		real hat = x[i] * r, z = gain[i] * hat + bias[i];
		x[i] = hat;
		y[i] = z > 0 ? z : 0;
	}
}

void norm_relu_forward(real *y, real *x, real *rstd, const real *gain, const real *bias, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++) {
		real *restrict row = x + i * width;
		real mean = sum(row, width) / (real)width;

		for (size_t k = 0; k < width; k++)
			row[k] -= mean;
		rstd[i] = 1 / real_sqrt(dot(row, row, width) / (real)width + NORM_EPSILON);
		scale_shift_relu(y + i * width, row, rstd[i], gain, bias, width);
	}
}

/* One row: dg = dy where the relu was open; dgain += dg xhat, dbias += dg, t = dg gain. */
static void open_gate(real *restrict t, real *restrict dgain, real *restrict dbias, const real *restrict dy,
	const real *restrict y, const real *restrict hat, const real *restrict gain, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		real given = dy[k], dg = y[k] > 0 ? given : 0; /* loaded either way: so it becomes vector code */
		dgain[k] += dg * hat[k];
		dbias[k] += dg;
		t[k] = dg * gain[k];
	}
}

void norm_relu_backward(real *dx, real *dgain, real *dbias, const real *dy, const real *y, const real *xhat,
	const real *rstd, const real *gain, size_t n, size_t width)
{
	real t[LAYER_WIDTH];

	BUG_ON(width > LAYER_WIDTH);
	for (size_t i = 0; i < n; i++) {
		size_t at = i * width;
		real *restrict out = dx + at;
		const real *restrict hat = xhat + at;
		real mean, along;

		open_gate(t, dgain, dbias, dy + at, y + at, hat, gain, width);
		mean = sum(t, width) / (real)width;
		along = dot(t, hat, width) / (real)width;
		for (size_t k = 0; k < width; k++)
			out[k] = rstd[i] * (t[k] - mean - hat[k] * along);
	}
}

void mean_forward(real *y, size_t ldy, const real *x, const uint32_t *first, const uint32_t *to, size_t n,
	size_t width)
{
	mean2_forward(y, ldy, x, first, to, NULL, NULL, n, width);
}

void mean_backward(real *dx, const real *dy, size_t ldy, const uint32_t *first, const uint32_t *to, size_t n,
	size_t width)
{
	mean2_backward(dx, dy, ldy, first, to, NULL, NULL, n, width);
}

static uint32_t degree(const uint32_t *first, size_t i)
{
	return first ? first[i + 1] - first[i] : 0;
}

/* Adds the neighbours' rows; the first one of an empty sum is copied instead. */
static void gather(real *y, bool *empty, const real *x, const uint32_t *first, const uint32_t *to, size_t i,
	size_t width)
{
	if (!first)
		return;
	for (uint32_t e = first[i]; e < first[i + 1]; e++) {
		if (*empty)
			memcpy(y, x + to[e] * width, width * sizeof *y);
		else
			add(y, x + to[e] * width, width);
		*empty = false;
	}
}

void mean2_forward(real *y, size_t ldy, const real *x, const uint32_t *first_a, const uint32_t *to_a,
	const uint32_t *first_b, const uint32_t *to_b, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++) {
		real *restrict row = y + i * ldy;
		uint32_t deg = degree(first_a, i) + degree(first_b, i);
		bool empty = true;

		gather(row, &empty, x, first_a, to_a, i, width);
		gather(row, &empty, x, first_b, to_b, i, width);
		if (deg == 0)
			memset(row, 0, width * sizeof *row);
		if (deg < 2)
			continue;
		for (size_t k = 0; k < width; k++)
			row[k] *= 1 / (real)deg;
	}
}

void mean2_backward(real *dx, const real *dy, size_t ldy, const uint32_t *first_a, const uint32_t *to_a,
	const uint32_t *first_b, const uint32_t *to_b, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t deg = degree(first_a, i) + degree(first_b, i);
		real share = 1 / (real)(deg ? deg : 1);

		for (uint32_t e = first_a[i]; e < first_a[i + 1]; e++)
			add_scaled(dx + to_a[e] * width, dy + i * ldy, share, width);
		for (uint32_t e = first_b ? first_b[i] : 0; first_b && e < first_b[i + 1]; e++)
			add_scaled(dx + to_b[e] * width, dy + i * ldy, share, width);
	}
}

void rows_copy(real *y, size_t ldy, const real *x, size_t ldx, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++)
		memcpy(y + i * ldy, x + i * ldx, width * sizeof *y);
}

void rows_add(real *y, size_t ldy, const real *x, size_t ldx, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++)
		add(y + i * ldy, x + i * ldx, width);
}

real huber(real value, real target, real delta, real *d)
{
	real r = value - target;

	if (r > delta || r < -delta) {
		*d = r > 0 ? delta : -delta;
		return delta * (r > 0 ? r : -r) - delta * delta / 2;
	}
	*d = r;
	return r * r / 2;
}

real logistic(real z)
{
	return 1 / (1 + (real)exp((double)-z));
}

real cross_entropy(real logit, real p, real *d)
{
	*d = logistic(logit) - p;
	/* log(1 + e^z) without overflow */
	return (logit > 0 ? logit : 0) + (real)log1p(exp(-fabs((double)logit))) - p * logit;
}
