/*
 * pjrt_compare.c - measures how far apart the outputs of two programs on the same inputs are.
 *
 * For floats, the difference of two elements is divided by their magnitude plus the usual magnitude of the output, so
 * that elements near 0 among large numbers do not count as far apart. The usual magnitude is the mean, but a few huge
 * numbers, such as masks, shall not hide what becomes of all others: it is no more than a thousand times what three
 * quarters of those that are not 0 stay below. (The lower quartile would not do: where much should be 0, such as beside
 * a triangle, most of what is not is rounding.) Elements that are not finite on both sides must be the same on both; if
 * not, they are counted. Integers that are not equal are counted, and their difference is given, too.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "device/worker/pjrt_own.h"

#define USUAL_MOST 1000.0 /* times the upper quartile */
#define EXPONENTS 2200	  /* of numbers of 64 bits, all of them */

/* A power of 2 that three quarters of the counted numbers are below. */
static double upper_quartile(const size_t *with_exponent, size_t n)
{
	size_t below = 0;

	for (int e = 0; e < EXPONENTS; e++)
		if ((below += with_exponent[e]) * 4 >= 3 * n)
			return ldexp(1, e - EXPONENTS / 2);
	return 0;
}

/* What the numbers that are not 0 are usually like; 0: all are 0. */
static double usual_magnitude(const struct values *x, size_t parts)
{
	size_t bytes = dtype_host_bytes(x->dtype), n = x->elements * parts, finite = 0, some = 0;
	size_t with_exponent[EXPONENTS] = {0};
	double mean = 0;

	for (size_t i = 0; i < n; i++) {
		double v = fabs(dtype_read(x->dtype, x->data + i / parts * bytes, (int)(i % parts)));
		int e;
		if (!isfinite(v))
			continue;
		finite++;
		mean += v / (double)n;
		if (v > 0) {
			frexp(v, &e);
			with_exponent[e + EXPONENTS / 2]++;
			some++;
		}
	}
	if (some == 0)
		return 0;
	return fmin(mean * (double)n / (double)finite, USUAL_MOST * upper_quartile(with_exponent, some));
}

/* Puts a number among the largest, which are in descending order, if it is one. */
static void keep_largest(double *largest, double x)
{
	for (int i = 0; i <= DIFFERENCE_FEW; i++)
		if (x > largest[i]) {
			double less = largest[i];
			largest[i] = x;
			x = less;
		}
}

static void compare_floats(const struct values *x, const struct values *y, struct difference *out)
{
	size_t bytes = dtype_host_bytes(x->dtype), parts = dtype_complex(x->dtype) ? 2 : 1;
	double usual = usual_magnitude(x, parts), largest[DIFFERENCE_FEW + 1] = {0};

	out->elements = x->elements * parts;
	for (size_t i = 0; i < out->elements; i++) {
		double a = dtype_read(x->dtype, x->data + i / parts * bytes, (int)(i % parts));
		double b = dtype_read(y->dtype, y->data + i / parts * bytes, (int)(i % parts));
		double apart = fabs(a / 2 - b / 2), scale = fabs(a) / 2 + usual / 2, share;
		if (!isfinite(a) || !isfinite(b)) {
			out->unlike += !(isnan(a) && isnan(b)) && a != b;
			continue;
		}
		out->finite++;
		share = apart > 0 ? scale > 0 ? apart / scale : 1 : 0;
		out->max_abs = fmax(out->max_abs, 2 * apart);
		out->far += share > DIFFERENCE_FAR;
		if (share > largest[DIFFERENCE_FEW])
			keep_largest(largest, share);
	}
	out->max_rel = largest[0];
	out->rest_rel = largest[DIFFERENCE_FEW];
}

static void compare_integers(const struct values *x, const struct values *y, struct difference *out)
{
	size_t bytes = dtype_host_bytes(x->dtype);

	out->elements = out->finite = x->elements;
	for (size_t i = 0; i < x->elements; i++) {
		const uint8_t *a = x->data + i * bytes, *b = y->data + i * bytes;
		if (memcmp(a, b, bytes) == 0)
			continue;
		out->unlike++;
		out->max_abs = fmax(out->max_abs, fabs(dtype_read(x->dtype, a, 0) - dtype_read(y->dtype, b, 0)));
	}
}

static int refuse(struct refusal *v, uint32_t k, const char *why)
{
	v->outcome = OUTCOME_REFUSED;
	snprintf(v->detail, sizeof v->detail, "output %u %s", k, why);
	return -1;
}

static int compare_values(const struct values *x, const struct values *y, uint32_t k, struct difference *out,
	struct refusal *v)
{
	if (!x->data && !y->data)
		return 0;
	if (!x->data || !y->data || x->dtype != y->dtype)
		return refuse(v, k, "is of another type in the other program");
	if (x->rank != y->rank || memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) != 0)
		return refuse(v, k, "is of another size in the other program");
	out->unit = dtype_unit(x->dtype);
	if (out->unit > 0)
		compare_floats(x, y, out);
	else
		compare_integers(x, y, out);
	return 0;
}

/* Of output k of the last kept runs. */
static int output_difference(struct instance *a, struct instance *b, uint32_t k, struct difference *out,
	struct refusal *v)
{
	struct values x = {0}, y = {0};
	int rc = output_values(a, k, &x, v);

	*out = (struct difference){0};
	if (rc == 0)
		rc = output_values(b, k, &y, v);
	if (rc == 0)
		rc = compare_values(&x, &y, k, out, v);
	mem_free(x.data);
	mem_free(y.data);
	return rc;
}

static bool inputs_differ(const struct type *x, const struct type *y)
{
	if (x->dtype != y->dtype || x->rank != y->rank)
		return true;
	for (size_t i = 0; i < x->rank; i++) {
		int64_t plain = (int64_t)(x->rank - 1 - i);
		if (x->dims[i] != y->dims[i] || (x->minor_to_major ? x->minor_to_major[i] : plain) !=
							(y->minor_to_major ? y->minor_to_major[i] : plain))
			return true;
	}
	return false;
}

static bool outputs_differ(const struct instance *a, const struct instance *b, uint32_t k)
{
	int64_t x[MODULE_RANK], y[MODULE_RANK];
	struct pjrt *p = a->program->pjrt;
	struct refusal ignored;
	ARGS(Buffer_Dimensions, d);
	d.buffer = a->out[k];

	if (pjrt_check(p, p->api->PJRT_Buffer_Dimensions(&d), "", &ignored) < 0 || d.num_dims > MODULE_RANK)
		return false;
	return output_order(a, k, d.num_dims, x) && output_order(b, k, d.num_dims, y) &&
	       memcmp(x, y, d.num_dims * sizeof *x) != 0;
}

/* Of inputs, and outputs of the last kept runs. */
static bool layouts_differ(const struct instance *a, const struct instance *b)
{
	const struct program *f = a->program, *g = b->program;

	if (f->n_params != g->n_params)
		return true;
	for (size_t i = 0; i < f->n_params; i++)
		if (inputs_differ(&f->param[i], &g->param[i]))
			return true;
	for (uint32_t k = 0; k < f->n_outputs; k++)
		if (outputs_differ(a, b, k))
			return true;
	return false;
}

/*
 * The instances to run: two where one program runs on two inputs, for the outputs of both are wanted. The second is
 * kept for the next inputs, because loading a large program takes longer than running it.
 */
static int choose_instances(const struct program_pair *q, struct instance *x[2], struct refusal *v)
{
	for (int side = 0; side < 2; side++) {
		struct program *g = q->program[side];
		bool twin = side == 1 && q->program[0] == g;
		if (q->fresh)
			x[side] = instance_new(g, false, v);
		else if (twin && !g->twin)
			x[side] = g->twin = instance_new(g, false, v);
		else
			x[side] = twin ? g->twin : program_instance(g);
		if (!x[side])
			return -1;
	}
	return 0;
}

static int run_both(const struct program_pair *q, struct instance *x[2], struct refusal *v)
{
	double took[2] = {0, 0};

	if (choose_instances(q, x, v) < 0)
		return -1;
	for (int side = 0; side < 2; side++) {
		unsigned nudged = side == 1 || q->both ? q->nudged : 0;
		if (side == 0 || q->nudged)
			pjrt_forget_use(q->program[side]->pjrt);
		int rc = program_inputs(q->program[side], (enum inputs)q->inputs, nudged, v);
		if (rc == 0 && side == 1 && q->limit)
			q->limit(q->ctx, took[0]);
		rc = rc == 0 ? instance_run(x[side], 1, true, &took[side], v) : rc;
		if (side == 1 && q->limit)
			q->limit(q->ctx, 0);
		if (rc < 0)
			return -1;
	}
	if (instance_outputs(x[0]) == instance_outputs(x[1]))
		return 0;
	v->outcome = OUTCOME_REFUSED;
	snprintf(v->detail, sizeof v->detail, "the programs have different numbers of outputs");
	return -1;
}

static void put_difference(struct buf *out, const struct difference *d)
{
	buf_f64(out, d->max_abs);
	buf_f64(out, d->max_rel);
	buf_f64(out, d->unit);
	buf_u64(out, d->elements);
	buf_u64(out, d->finite);
	buf_u64(out, d->unlike);
	buf_u64(out, d->far);
	buf_f64(out, d->rest_rel);
}

int program_compare(const struct program_pair *q, struct buf *out, struct refusal *v)
{
	struct instance *x[2] = {NULL, NULL};
	struct difference d;
	int rc = run_both(q, x, v);
	uint32_t n = rc == 0 ? instance_outputs(x[0]) : 0;
	size_t before = out->len;

	if (rc == 0) {
		buf_u8(out, layouts_differ(x[0], x[1]));
		buf_u32(out, n);
	}
	for (uint32_t k = 0; k < n && rc == 0; k++) {
		rc = output_difference(x[0], x[1], k, &d, v);
		put_difference(out, &d);
	}
	if (rc < 0)
		out->len = before;
	for (int side = 0; side < 2; side++)
		if (x[side] && x[side] == q->program[side]->twin)
			instance_drop_outputs(x[side]);
		else if (x[side] && x[side] != program_instance(q->program[side]))
			instance_free(x[side]);
	return rc;
}
#endif
