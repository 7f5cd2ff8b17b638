/*
 * conv.c - see conv.h. Numbers that the message leaves out are 1.
 */
#include "space/rewrite/conv.h"

static bool read_windows(const struct graph *g, uint32_t v, struct conv *c)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;

	c->taps = c->positions = 1;
	if (!in->window || in->window->n_dimensions != c->n)
		return c->n == 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const Hlo__WindowDimension *w = in->window->dimensions[i];
		c->w[i] = (struct conv_window){w->size, rule_factor(w->stride), w->padding_low, w->padding_high,
			rule_factor(w->window_dilation), rule_factor(w->base_dilation),
			rule_dim(g, v, c->out.spatial[i]), w->window_reversal};
		c->taps *= w->size;
		c->positions *= c->w[i].out;
		c->spread |= c->w[i].base > 1;
		if (w->size < 1 || c->w[i].out < 1 || rule_dim(g, node_operands(g, v)[0], c->in.spatial[i]) < 1)
			return false;
	}
	return true;
}

bool conv_read(const struct graph *g, uint32_t v, struct conv *c)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	const Hlo__ConvolutionDimensionNumbers *d = in->convolution_dimension_numbers;
	uint32_t x, k;

	if (g->node[v].opcode != OP_CONVOLUTION || !d || d->n_input_spatial_dimensions > CONV_SPATIAL)
		return false;
	x = node_operands(g, v)[0];
	k = node_operands(g, v)[1];
	if (!rule_plain(g, v) || g->node[x].dtype != g->node[v].dtype || g->node[k].dtype != g->node[v].dtype ||
		(in->sparsity_config && (in->sparsity_config->lhs || in->sparsity_config->rhs)))
		return false;
	*c = (struct conv){.n = (uint32_t)d->n_input_spatial_dimensions, .rank = g->node[v].rank};
	c->in = (struct conv_dims){.batch = d->input_batch_dimension, .feature = d->input_feature_dimension};
	c->kernel = (struct conv_dims){.batch = d->kernel_output_feature_dimension,
		.feature = d->kernel_input_feature_dimension};
	c->out = (struct conv_dims){.batch = d->output_batch_dimension, .feature = d->output_feature_dimension};
	if (c->rank != c->n + 2 || g->node[x].rank != c->rank || g->node[k].rank != c->rank)
		return false;
	for (uint32_t i = 0; i < c->n; i++) {
		c->in.spatial[i] = d->input_spatial_dimensions[i];
		c->kernel.spatial[i] = d->kernel_spatial_dimensions[i];
		c->out.spatial[i] = d->output_spatial_dimensions[i];
	}
	c->batch = rule_dim(g, x, c->in.batch);
	c->features = rule_dim(g, x, c->in.feature);
	c->inner = rule_dim(g, k, c->kernel.feature);
	c->outputs = rule_dim(g, k, c->kernel.batch);
	c->feature_groups = rule_factor(in->feature_group_count);
	c->batch_groups = rule_factor(in->batch_group_count);
	return c->features == c->inner * c->feature_groups && c->outputs % (c->feature_groups * c->batch_groups) == 0 &&
		g->node[v].elements > 0 && c->inner > 0 && read_windows(g, v, c);
}

struct conv conv_exchanged(const struct graph *g, uint32_t v, const struct conv *c)
{
	struct conv e = *c;

	BUG_ON(c->feature_groups != 1 || c->batch_groups != 1);
	e.in = c->kernel;
	e.kernel = c->in;
	e.out.batch = c->out.feature;
	e.out.feature = c->out.batch;
	e.batch = c->outputs;
	e.outputs = c->batch;
	e.taps = 1;
	e.spread = false;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct conv_window *w = &c->w[i];
		int64_t size = rule_dim(g, node_operands(g, v)[0], c->in.spatial[i]);
		BUG_ON(w->reversed);
		e.w[i] = (struct conv_window){.size = size, .stride = w->stride, .dilation = w->base,
			.base = w->dilation, .out = w->out, .low = (w->out - 1) * w->stride - w->low,
			.high = (size - 1) * w->base + w->low - (w->size - 1) * w->dilation};
		e.taps *= size;
		e.spread |= e.w[i].base > 1;
	}
	return e;
}

Hlo__HloInstructionProto *conv_padded(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *x)
{
	int64_t low[DRAFT_RANK] = {0}, high[DRAFT_RANK] = {0}, inner[DRAFT_RANK] = {0};

	for (uint32_t i = 0; i < c->n; i++) {
		low[c->in.spatial[i]] = c->w[i].low;
		high[c->in.spatial[i]] = c->w[i].high;
		inner[c->in.spatial[i]] = c->w[i].base - 1;
	}
	return draft_pad(d, x, low, high, inner, NULL);
}

bool conv_step(const struct conv *c, int64_t *index, bool of_output)
{
	for (uint32_t i = c->n; i-- > 0;) {
		if (++index[i] < (of_output ? c->w[i].out : c->w[i].size))
			return true;
		index[i] = 0;
	}
	return false;
}

void conv_order(const struct conv *c, const struct conv_dims *from, const struct conv_dims *to, int64_t *perm)
{
	perm[to->batch] = from->batch;
	perm[to->feature] = from->feature;
	for (uint32_t i = 0; i < c->n; i++)
		perm[to->spatial[i]] = from->spatial[i];
}

Hlo__ConvolutionDimensionNumbers *conv_numbers(struct draft *d, const struct conv *c)
{
	Hlo__ConvolutionDimensionNumbers *n = arena_alloc(d->mem, sizeof *n);
	size_t bytes = c->n * sizeof *c->in.spatial;

	hlo__convolution_dimension_numbers__init(n);
	n->input_batch_dimension = c->in.batch;
	n->input_feature_dimension = c->in.feature;
	n->kernel_output_feature_dimension = c->kernel.batch;
	n->kernel_input_feature_dimension = c->kernel.feature;
	n->output_batch_dimension = c->out.batch;
	n->output_feature_dimension = c->out.feature;
	n->n_input_spatial_dimensions = n->n_kernel_spatial_dimensions = n->n_output_spatial_dimensions = c->n;
	n->input_spatial_dimensions = arena_dup(d->mem, c->in.spatial, bytes);
	n->kernel_spatial_dimensions = arena_dup(d->mem, c->kernel.spatial, bytes);
	n->output_spatial_dimensions = arena_dup(d->mem, c->out.spatial, bytes);
	return n;
}
