/*
 * guess.c - see guess.h. Products are walked in the order of the program, once for a configuration.
 *
 * For each axis of the mesh and each operand we say which dimension the axis splits. A parameter's layout is known. Of
 * a computed value the names of its dimensions are known (names.c): the axis splits the one that data are split along,
 * or else one that an earlier product was split along. So a split of the batch, or of a weight's columns, is followed
 * through the program without looking at what lies between products. Then there are few cases:
 *
 *	both operands split where they are summed	the result is a sum over devices
 *	one of them					likewise, because the other one's part is there already
 *	both in the same dimension of the result	nothing is sent
 *	one of them, in a dimension of the result	nothing is sent
 *	anything else					the smaller operand is gathered
 *
 * If the product has a layout of its own, its result is moved to that; a sum that ends split costs half. A weight whose
 * moment is split further is gathered after its update.
 */
#include "space/shard/guess.h"

#include <math.h>
#include <string.h>

/* Rates of a second; only their ratios matter to a learner. */
#define FLOPS 200e12
#define BYTES 800e9
#define SENT 90e9

#define SUMMED (-1) /* a dimension of an operand that the result does not have */

struct operand {
	uint32_t site; /* of the parameter that it is a part of; NONE: it is computed */
	int8_t dim[VIEW_RANK]; /* of each dimension of the parameter: the operand's, or -1 */
	int8_t out[VIEW_RANK]; /* of each dimension: the result's, or SUMMED */
	int8_t mate[VIEW_RANK]; /* ... the other operand's that it is summed with, or -1 */
	double bytes;
};

struct product {
	uint32_t site;
	struct operand in[2];
	double bytes, flops, times;
};

static bool at(const int64_t *v, size_t n, int64_t x, size_t *i)
{
	for (*i = 0; *i < n; ++*i)
		if (v[*i] == x)
			return true;
	return false;
}

static void read_dot(const struct graph *g, uint32_t v, struct product *p)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	const int64_t *batch[2] = {d->lhs_batch_dimensions, d->rhs_batch_dimensions};
	const int64_t *sum[2] = {d->lhs_contracting_dimensions, d->rhs_contracting_dimensions};
	size_t n_batch = d->n_lhs_batch_dimensions, n_sum = d->n_lhs_contracting_dimensions, i;
	int8_t out = (int8_t)n_batch;

	if (n_batch != d->n_rhs_batch_dimensions || n_sum != d->n_rhs_contracting_dimensions)
		return; /* no compiler takes it */
	for (int k = 0; k < 2; k++)
		for (int8_t x = 0; x < g->node[node_operands(g, v)[k]].rank && x < VIEW_RANK; x++) {
			if (at(batch[k], n_batch, x, &i))
				p->in[k].out[x] = (int8_t)i;
			else if (at(sum[k], n_sum, x, &i))
				p->in[k].mate[x] = (int8_t)sum[!k][i];
			else
				p->in[k].out[x] = out++;
		}
}

static void read_convolution(const struct graph *g, uint32_t v, struct product *p)
{
	const Hlo__ConvolutionDimensionNumbers *c = g->node[v].proto->convolution_dimension_numbers;
	struct operand *x = p->in;

	for (int k = 0; k < 2; k++)
		if (g->node[node_operands(g, v)[k]].rank > VIEW_RANK)
			return;
	x[0].out[c->input_batch_dimension] = (int8_t)c->output_batch_dimension;
	x[1].out[c->kernel_output_feature_dimension] = (int8_t)c->output_feature_dimension;
	x[0].mate[c->input_feature_dimension] = (int8_t)c->kernel_input_feature_dimension;
	x[1].mate[c->kernel_input_feature_dimension] = (int8_t)c->input_feature_dimension;
	for (size_t i = 0; i < c->n_input_spatial_dimensions && i < c->n_output_spatial_dimensions; i++)
		x[0].out[c->input_spatial_dimensions[i]] = (int8_t)c->output_spatial_dimensions[i];
}

static void read_operand(const struct space *s, uint32_t v, struct operand *o)
{
	struct view w;

	o->site = NONE;
	memset(o->dim, -1, sizeof o->dim);
	memset(o->out, SUMMED, sizeof o->out);
	memset(o->mate, -1, sizeof o->mate);
	o->bytes = (double)s->graph->node[v].bytes;
	if (!behind(s->graph, v, &w) || s->site_of[w.node] == NONE)
		return;
	o->site = s->site_of[w.node];
	for (int8_t d = 0; d < VIEW_RANK; d++)
		if (w.dim[d] >= 0)
			o->dim[w.dim[d]] = d;
}

void shard_read_products(struct space *s)
{
	struct shard *h = shard_of(s);
	const struct graph *g = s->graph;

	h->product = ARENA_NEW(&s->mem, s->n_sites + 1, struct product);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct product *p = &h->product[h->n_products];
		uint32_t v = s->site[i].node;
		uint16_t op = g->node[v].opcode;
		if (op != OP_DOT && op != OP_CONVOLUTION)
			continue;
		*p = (struct product){.site = i, .bytes = (double)g->node[v].bytes, .flops = (double)g->node[v].flops,
			.times = (double)h->place[i].n * g->comp[g->node[v].comp].trips};
		for (int k = 0; k < 2; k++)
			read_operand(s, node_operands(g, v)[k], &p->in[k]);
		if (op == OP_DOT)
			read_dot(g, v, p);
		else
			read_convolution(g, v, p);
		h->n_products++;
	}
}

struct walk {
	const struct space *s;
	const struct layout *layout; /* per site */
	uint8_t *strength; /* per axis and name: how surely values are split along it */
	struct loads *out;
};
enum { BY_PRODUCT = 1, BY_LAYOUT, BY_DATA };

static void strengthen(struct walk *w, uint32_t axis, uint32_t name, uint8_t by)
{
	uint8_t *at = &w->strength[axis * (shard_of(w->s)->n_names + 1) + name];

	if (name != NONE && *at < by)
		*at = by;
}

/* Which dimension of an operand the axis splits, or -1. */
static int8_t split_of(const struct walk *w, const struct product *p, int k, uint32_t axis)
{
	const struct operand *o = &p->in[k];
	const struct shard *h = shard_of(w->s);
	const uint32_t *name = h->operand_name + (2 * (size_t)p->site + (unsigned)k) * VIEW_RANK;
	uint8_t best = 0, now;
	int8_t dim = -1;

	if (o->site != NONE) {
		int8_t d = w->layout[o->site].dim[axis];
		return d >= 0 && d < VIEW_RANK ? o->dim[d] : -1;
	}
	for (int8_t d = 0; d < VIEW_RANK; d++) {
		if (name[d] == NONE || (now = w->strength[axis * (h->n_names + 1) + name[d]]) <= best)
			continue;
		best = now;
		dim = d;
	}
	return dim;
}

struct cut { /* of a product by one axis */
	int8_t out; /* the dimension of the result that is split, or -1 */
	int gather; /* the operand that is gathered, or -1 */
	bool divides, sums;
};

static struct cut cut_by(const struct product *p, int8_t l, int8_t r)
{
	int8_t lo = l >= 0 ? p->in[0].out[l] : SUMMED, ro = r >= 0 ? p->in[1].out[r] : SUMMED;
	int smaller = p->in[0].bytes > p->in[1].bytes;

	if (l < 0 && r < 0)
		return (struct cut){-1, -1, false, false};
	if (l >= 0 && r >= 0 && lo != ro) { /* they disagree */
		if (lo == SUMMED || ro == SUMMED)
			smaller = lo == SUMMED ? 0 : 1;
		return (struct cut){smaller == 0 ? ro : lo, smaller, true, false};
	}
	if (lo == SUMMED && ro == SUMMED)
		return (struct cut){-1, l >= 0 && r >= 0 && p->in[0].mate[l] != r ? smaller : -1, true, true};
	return (struct cut){lo > ro ? lo : ro, -1, true, false};
}

static double sent(double bytes, uint32_t size)
{
	return bytes * (1 - 1.0 / size) / SENT;
}

static void walk_product(struct walk *w, const struct product *p)
{
	const struct shard *h = shard_of(w->s);
	const struct layout *own = &w->layout[p->site];
	bool laid = layout_parts(&h->mesh, own) > 1;
	double parts = 1, of[2] = {1, 1}, summed = 0, moved = 0, result = 1;
	struct cut cut[MESH_AXES];

	for (uint32_t a = 0; a < h->mesh.n; a++) {
		int8_t split[2] = {split_of(w, p, 0, a), split_of(w, p, 1, a)};
		cut[a] = cut_by(p, split[0], split[1]);
		for (int k = 0; k < 2; k++)
			of[k] *= split[k] >= 0 ? h->mesh.axis[a].size : 1;
		parts *= cut[a].divides || (laid && own->dim[a] >= 0) ? h->mesh.axis[a].size : 1;
		result *= cut[a].out >= 0 ? h->mesh.axis[a].size : 1;
	}
	for (uint32_t a = 0; a < h->mesh.n; a++) {
		uint32_t size = h->mesh.axis[a].size;
		int8_t out = laid ? own->dim[a] : cut[a].out;
		if (cut[a].gather >= 0)
			moved += sent(p->in[cut[a].gather].bytes / of[cut[a].gather] * size, size);
		if (cut[a].sums)
			summed += sent((out >= 0 ? 1 : 2) * p->bytes / result, size);
		else if (cut[a].divides && out != cut[a].out)
			moved += sent(p->bytes / result, size);
		if (out >= 0 && out < VIEW_RANK)
			strengthen(w, a, h->name[(size_t)p->site * VIEW_RANK + (uint8_t)out],
				laid ? BY_LAYOUT : BY_PRODUCT);
	}
	w->out->of[LOAD_WORK] += p->times * fmax(p->flops / FLOPS, (p->bytes + p->in[0].bytes + p->in[1].bytes) /
		BYTES) / parts;
	w->out->of[LOAD_SUMMED] += p->times * summed;
	w->out->of[LOAD_MOVED] += p->times * moved;
	w->out->laid += laid ? p->times * p->flops / FLOPS : 0;
}

/* What a moment is split in and its weight is not has to be gathered after each update. */
static double regathered(const struct walk *w, uint32_t weight, const struct layout *moment)
{
	const struct mesh *m = &shard_of(w->s)->mesh;
	double bytes = (double)w->s->graph->node[w->s->site[weight].node].bytes, seconds = 0;

	for (uint32_t a = 0; a < m->n; a++)
		if (moment->dim[a] >= 0 && w->layout[weight].dim[a] < 0)
			seconds += sent(bytes / layout_parts(m, &w->layout[weight]), m->axis[a].size);
	return seconds;
}

static void walk_parameter(struct walk *w, uint32_t i)
{
	const struct shard *h = shard_of(w->s);
	const struct purpose *p = purpose_of(w->s, w->s->site[i].node);
	const struct layout *l = &w->layout[i];
	double n = h->place[i].n, bytes = n * (double)w->s->graph->node[w->s->site[i].node].bytes;
	enum load load = p->table ? LOAD_TABLES : p->role == FOR_DATA ? LOAD_DATA
		: p->role == FOR_MOMENT ? LOAD_MOMENTS : LOAD_WEIGHTS;

	w->out->of[load] += (load == LOAD_DATA ? 1 : 2) * bytes / layout_parts(&h->mesh, l) / BYTES;
	if (p->role == FOR_MOMENT && p->owner != NONE && w->s->site_of[p->owner] != NONE)
		w->out->of[LOAD_MOVED] += n * regathered(w, w->s->site_of[p->owner], l) / 2;
	for (uint32_t a = 0; a < h->mesh.n && p->role == FOR_DATA; a++)
		if (l->dim[a] >= 0 && l->dim[a] < VIEW_RANK)
			strengthen(w, a, h->name[(size_t)i * VIEW_RANK + (uint8_t)l->dim[a]], BY_DATA);
}

void shard_guess(const struct space *s, const uint8_t *config, struct loads *out)
{
	const struct shard *h = shard_of(s);
	struct layout *layout = MEM_NEW(s->n_sites + 1, struct layout);
	struct walk w = {s, layout, MEM_NEW(MESH_AXES * ((size_t)h->n_names + 1), uint8_t), out};

	*out = (struct loads){0};
	for (uint32_t i = 0; i < s->n_sites; i++)
		shard_layout(s, i, config[i], &layout[i]);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (h->place[i].parameter)
			walk_parameter(&w, i);
	for (uint32_t k = 0; k < h->n_products; k++)
		walk_product(&w, &h->product[k]);
	mem_free(w.strength);
	mem_free(layout);
}
