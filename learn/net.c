/*
 * net.c - see net.h: the table of parameters, and the pass forward and back.
 *
 * The table is made by one function, in the order of the formulas; everything else (random weights,
 * gradients, moments, the model file) runs over it. The pass finds its parameters by walking a
 * `struct view` of pointers into whichever array (weights or gradient) it is given.
 *
 * Tried and dropped: normalising before the neighbours are averaged (more rows to normalise, same
 * result), and a matrix for each of the three parts of a layer (three small products instead of one).
 */
#include "learn/net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "learn/blas.h"

struct norm_view {
	real *w, *b, *gain, *bias; /* linear, then norm; b is NULL: the norm's bias does its work */
};
struct view {
	struct norm_view in, layer[NET_LAYERS], head[2];
	real *opcode, *dtype, *out, *skip, *out_b;
};

static size_t parts(const struct net_size *s)
{
	return s->blind ? 2 : 3;
}

static void row_of(struct net *net, const char *name, size_t rows, size_t cols, bool decays)
{
	struct param *p = &net->param[net->n_params++];

	BUG_ON(net->n_params > NET_PARAMS);
	snprintf(p->name, sizeof p->name, "%s", name);
	p->rows = (uint32_t)rows;
	p->cols = (uint32_t)cols;
	p->at = net->n_weights;
	p->decays = decays;
	net->n_weights += rows * cols;
}

static void norm_rows(struct net *net, const char *name, size_t in, size_t out)
{
	char full[24];

	snprintf(full, sizeof full, "%s.weight", name);
	row_of(net, full, in, out, true);
	snprintf(full, sizeof full, "%s.gain", name);
	row_of(net, full, 1, out, false);
	snprintf(full, sizeof full, "%s.bias", name);
	row_of(net, full, 1, out, false);
}

void net_init(struct net *net, const struct net_size *size)
{
	char name[16];

	BUG_ON(size->layers < 1 || size->layers > NET_LAYERS);
	BUG_ON(size->width < 1 || size->width > LAYER_WIDTH || size->head < 1 || size->head > LAYER_WIDTH);
	*net = (struct net){.size = *size};
	norm_rows(net, "input", size->node_features, size->width);
	row_of(net, "opcode", size->opcodes, size->width, false);
	row_of(net, "dtype", size->dtypes, size->width, false);
	for (uint32_t l = 0; l < size->layers; l++) {
		snprintf(name, sizeof name, "layer%u", l + 1);
		norm_rows(net, name, parts(size) * size->width, size->width);
	}
	norm_rows(net, "head1", size->width + size->flip_features, size->head);
	norm_rows(net, "head2", size->head, size->head);
	row_of(net, "out.weight", size->head, OUT_COUNT, true);
	row_of(net, "out.skip", size->flip_features, OUT_COUNT, true);
	row_of(net, "out.bias", 1, OUT_COUNT, false);
	net->weight = MEM_NEW(net->n_weights, real);
}

void net_release(struct net *net)
{
	mem_free(net->weight);
	ramps_release(&net->ramps);
	*net = (struct net){0};
}

static bool ends_with(const char *name, const char *tail)
{
	size_t n = strlen(name), k = strlen(tail);

	return n >= k && strcmp(name + n - k, tail) == 0;
}

/* What trees say goes straight to the outputs. */
static void begin_with_advice(struct net *net)
{
	real *skip = net_param(net, net->weight, "out.skip") +
		(size_t)(net->size.flip_features - net->size.ramped - net->size.advised) * OUT_COUNT;

	for (uint32_t i = 0; i < net->size.advised; i++)
		for (uint32_t k = 0; k < OUT_COUNT; k++)
			skip[i * OUT_COUNT + k] = i == k;
}

/* Matrices: normal with the variance that keeps relu's output at 1. The last one starts small. */
void net_randomise(struct net *net, struct rng *r)
{
	for (uint32_t i = 0; i < net->n_params; i++) {
		const struct param *p = &net->param[i];
		double scale = sqrt(2.0 / p->rows);
		bool one = ends_with(p->name, ".gain");

		if (strcmp(p->name, "opcode") == 0 || strcmp(p->name, "dtype") == 0)
			scale = 0.3;
		if (strncmp(p->name, "out.", 4) == 0)
			scale *= 0.1;
		for (size_t k = 0; k < (size_t)p->rows * p->cols; k++)
			net->weight[p->at + k] = one ? 1 : ends_with(p->name, "bias") ? 0
				: (real)(scale * rng_normal(r));
	}
	begin_with_advice(net);
}

real *net_param(const struct net *net, real *weights, const char *name)
{
	for (uint32_t i = 0; i < net->n_params; i++)
		if (strcmp(net->param[i].name, name) == 0)
			return weights + net->param[i].at;
	BUG("no parameter is called %s", name);
}

static struct norm_view next_norm(const struct net *net, real *w, uint32_t *i)
{
	struct norm_view v = {.w = w + net->param[*i].at,
		.gain = w + net->param[*i + 1].at,
		.bias = w + net->param[*i + 2].at};

	*i += 3;
	return v;
}

static struct view view_of(const struct net *net, real *w)
{
	struct view v = {0};
	uint32_t i = 0;

	v.in = next_norm(net, w, &i);
	v.opcode = w + net->param[i++].at;
	v.dtype = w + net->param[i++].at;
	for (uint32_t l = 0; l < net->size.layers; l++)
		v.layer[l] = next_norm(net, w, &i);
	v.head[0] = next_norm(net, w, &i);
	v.head[1] = next_norm(net, w, &i);
	v.out = w + net->param[i++].at;
	v.skip = w + net->param[i++].at;
	v.out_b = w + net->param[i++].at;
	return v;
}

void pass_release(struct pass *p)
{
	arena_release(&p->mem);
	*p = (struct pass){0};
}

static real *room(struct pass *p, size_t rows, size_t cols)
{
	return arena_alloc(&p->mem, (rows * cols + 1) * sizeof(real));
}

/* act = relu(norm(x w)), x n x in; keeps what the way back needs. `z` already holds what to add, if any. */
static void block_forward(real *act, real *z, real *rstd, const real *x, const struct norm_view *v, bool add,
	size_t n, size_t in, size_t out)
{
	gemm(false, false, n, out, in, 1, x, v->w, add ? 1 : 0, z);
	norm_relu_forward(act, z, rstd, v->gain, v->bias, n, out);
}

void net_input(const struct net *net, const uint16_t *opcode, const uint16_t *dtype, const real *x, size_t n,
	real *h, real *xhat, real *rstd)
{
	struct view v = view_of(net, net->weight);
	size_t w = net->size.width;

	memset(xhat, 0, n * w * sizeof *xhat);
	embed_forward(xhat, v.opcode, opcode, n, w);
	embed_forward(xhat, v.dtype, dtype, n, w);
	block_forward(h, xhat, rstd, x, &v.in, true, n, net->size.node_features, w);
}

void net_gather(const struct net *net, real *cat, const real *h, const uint32_t *op_first, const uint32_t *op_to,
	const uint32_t *user_first, const uint32_t *user_to, size_t n)
{
	size_t w = net->size.width, ld = parts(&net->size) * w;

	if (net->size.blind) {
		mean2_forward(cat + w, ld, h, op_first, op_to, user_first, user_to, n, w);
	} else {
		mean_forward(cat + w, ld, h, op_first, op_to, n, w);
		mean_forward(cat + 2 * w, ld, h, user_first, user_to, n, w);
	}
}

void net_layer(const struct net *net, uint32_t l, const real *cat, size_t n, real *act, real *xhat, real *rstd,
	real *h)
{
	struct view v = view_of(net, net->weight);
	size_t w = net->size.width, ld = parts(&net->size) * w;

	block_forward(act, xhat, rstd, cat, &v.layer[l], false, n, ld, w);
	rows_copy(h, w, cat, ld, n, w);
	rows_add(h, w, act, w, n, w);
}

/* flips x [h | f] */
static void join_flips(const struct net *net, real *to, const real *h, const uint32_t *row, const real *f, size_t n)
{
	size_t w = net->size.width, nf = net->size.flip_features;

	for (size_t i = 0; i < n; i++) {
		memcpy(to + i * (w + nf), h + row[i] * w, w * sizeof *to);
		memcpy(to + i * (w + nf) + w, f + i * nf, nf * sizeof *to);
	}
}

void net_head(const struct net *net, const real *h, const uint32_t *row, const real *f, size_t n, struct pass *p)
{
	struct view v = view_of(net, net->weight);
	size_t w = net->size.width, nf = net->size.flip_features, hw = net->size.head;

	p->head_in = room(p, n, w + nf);
	p->u1 = room(p, n, hw);
	p->x1 = room(p, n, hw);
	p->r1 = room(p, n, 1);
	p->a2 = room(p, n, hw);
	p->x2 = room(p, n, hw);
	p->r2 = room(p, n, 1);
	p->u2 = room(p, n, hw);
	p->out = room(p, n, OUT_COUNT);
	join_flips(net, p->head_in, h, row, f, n);
	block_forward(p->u1, p->x1, p->r1, p->head_in, &v.head[0], false, n, w + nf, hw);
	block_forward(p->a2, p->x2, p->r2, p->u1, &v.head[1], false, n, hw, hw);
	rows_copy(p->u2, hw, p->u1, hw, n, hw);
	rows_add(p->u2, hw, p->a2, hw, n, hw);
	linear_forward(p->out, p->u2, v.out, v.out_b, n, hw, OUT_COUNT);
	gemm(false, false, n, OUT_COUNT, nf, 1, f, v.skip, 1, p->out);
}

void net_forward(const struct net *net, const struct batch *b, struct pass *p)
{
	uint32_t layers = net->size.layers;
	size_t w = net->size.width, ld = parts(&net->size) * w, n = b->n[layers];

	arena_reset(&p->mem);
	p->h[0] = room(p, n, w);
	p->xhat[0] = room(p, n, w);
	p->rstd[0] = room(p, n, 1);
	net_input(net, b->opcode, b->dtype, b->x, n, p->h[0], p->xhat[0], p->rstd[0]);
	for (uint32_t l = 1; l <= layers; l++) {
		n = b->n[layers - l];
		p->cat[l] = room(p, n, ld);
		p->act[l] = room(p, n, w);
		p->xhat[l] = room(p, n, w);
		p->rstd[l] = room(p, n, 1);
		p->h[l] = room(p, n, w);
		rows_copy(p->cat[l], ld, p->h[l - 1], w, n, w);
		net_gather(net, p->cat[l], p->h[l - 1], b->op_first, b->op_to, b->user_first, b->user_to, n);
		net_layer(net, l - 1, p->cat[l], n, p->act[l], p->xhat[l], p->rstd[l], p->h[l]);
	}
	net_head(net, p->h[layers], b->flip_row, b->f, b->n_flips, p);
}

/* A size that the head says, without its logarithm. */
static double size_of(real x)
{
	double size = (double)x;

	return expm1(size < 0 ? 0 : size > 20 ? 20 : size);
}

struct guess guess_of(const real *out, double times)
{
	double p = (double)logistic(out[OUT_SIGN]);
	real m = out[OUT_MAGNITUDE];

	return (struct guess){
		.magnitude = times == 1 ? (m > 0 ? (float)m : 0) : (float)log1p(times * size_of(m)),
		.p_improve = (float)p,
		.gain = (float)(p * (times * size_of(out[OUT_SIZE]))),
	};
}

static real *zeros(struct pass *p, size_t rows, size_t cols)
{
	return arena_zalloc(&p->mem, rows * cols + 1, sizeof(real));
}

/* The way back through relu(norm(x w)); dx may be NULL. */
static void block_backward(struct pass *p, real *dx, const struct norm_view *d, const struct norm_view *v,
	const real *dact, const real *act, const real *xhat, const real *rstd, const real *x, size_t n, size_t in,
	size_t out)
{
	real *dz = room(p, n, out);

	norm_relu_backward(dz, d->gain, d->bias, dact, act, xhat, rstd, v->gain, n, out);
	linear_backward(dx, d->w, NULL, dz, x, v->w, n, in, out);
}

/* Returns the gradient of h[layers]. */
static real *head_backward(const struct net *net, const struct batch *b, struct pass *p, const real *d_out,
	const struct view *v, const struct view *d)
{
	size_t w = net->size.width, nf = net->size.flip_features, hw = net->size.head, n = b->n_flips;
	real *du1 = zeros(p, n, hw), *du2 = zeros(p, n, hw), *din = zeros(p, n, w + nf);
	real *dh = zeros(p, b->n[0], w);

	linear_backward(NULL, d->skip, d->out_b, d_out, b->f, v->skip, n, nf, OUT_COUNT);
	linear_backward(du2, d->out, NULL, d_out, p->u2, v->out, n, hw, OUT_COUNT);
	rows_copy(du1, hw, du2, hw, n, hw);
	block_backward(p, du1, &d->head[1], &v->head[1], du2, p->a2, p->x2, p->r2, p->u1, n, hw, hw);
	block_backward(p, din, &d->head[0], &v->head[0], du1, p->u1, p->x1, p->r1, p->head_in, n, w + nf, hw);
	for (size_t i = 0; i < n; i++)
		rows_add(dh + b->flip_row[i] * w, w, din + i * (w + nf), w + nf, 1, w);
	return dh;
}

static void gather_backward(const struct net *net, const struct batch *b, real *dh, const real *dcat, size_t n)
{
	size_t w = net->size.width, ld = parts(&net->size) * w;

	rows_add(dh, w, dcat, ld, n, w);
	if (net->size.blind) {
		mean2_backward(dh, dcat + w, ld, b->op_first, b->op_to, b->user_first, b->user_to, n, w);
	} else {
		mean_backward(dh, dcat + w, ld, b->op_first, b->op_to, n, w);
		mean_backward(dh, dcat + 2 * w, ld, b->user_first, b->user_to, n, w);
	}
}

void net_backward(const struct net *net, const struct batch *b, struct pass *p, const real *d_out, real *grad)
{
	struct view v = view_of(net, net->weight), d = view_of(net, grad);
	uint32_t layers = net->size.layers;
	size_t w = net->size.width, ld = parts(&net->size) * w, n = b->n[layers];
	real *dh = head_backward(net, b, p, d_out, &v, &d), *dz;

	for (uint32_t l = layers; l >= 1; l--) {
		size_t rows = b->n[layers - l], below = b->n[layers - l + 1];
		real *dcat = zeros(p, rows, ld), *dprev = zeros(p, below, w);

		block_backward(p, dcat, &d.layer[l - 1], &v.layer[l - 1], dh, p->act[l], p->xhat[l], p->rstd[l],
			p->cat[l], rows, ld, w);
		rows_add(dprev, w, dh, w, rows, w); /* the residual */
		gather_backward(net, b, dprev, dcat, rows);
		dh = dprev;
	}
	dz = room(p, n, w);
	norm_relu_backward(dz, d.in.gain, d.in.bias, dh, p->h[0], p->xhat[0], p->rstd[0], v.in.gain, n, w);
	linear_backward(NULL, d.in.w, NULL, dz, b->x, v.in.w, n, net->size.node_features, w);
	embed_backward(d.opcode, dz, b->opcode, n, w);
	embed_backward(d.dtype, dz, b->dtype, n, w);
}
