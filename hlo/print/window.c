/*
 * window.c - prints values that have a part for each dimension: the mirror of hlo/text/window.c.
 */
#include <inttypes.h>
#include <string.h>
#include "hlo/print/print.h"
#include "hlo/shape.h"

void print_slices(struct printer *p, const struct field *v)
{
	Hlo__SliceDimensions *const *list = field_pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < field_count(v); i++) {
		buf_addf(p->out, "%s[%" PRId64 ":%" PRId64, i ? ", " : "", list[i]->start, list[i]->limit);
		if (list[i]->stride != 1)
			buf_addf(p->out, ":%" PRId64, list[i]->stride);
		buf_addch(p->out, ']');
	}
	buf_addch(p->out, '}');
}

void print_padding(struct printer *p, const Hlo__PaddingConfig *c)
{
	for (size_t i = 0; i < c->n_dimensions; i++) {
		const Hlo__PaddingConfigDimension *d = c->dimensions[i];
		buf_addf(p->out, "%s%" PRId64 "_%" PRId64, i ? "x" : "", d->edge_padding_low, d->edge_padding_high);
		if (d->interior_padding)
			buf_addf(p->out, "_%" PRId64, d->interior_padding);
	}
}

static int64_t number_at(const Hlo__WindowDimension *d, size_t offset)
{
	int64_t v;
	memcpy(&v, (const char *)d + offset, sizeof(v));
	return v;
}

/* Prints "name=1x2", one number for each dimension, if any differs from `usual`; `*space` stands before it. */
static void part(struct printer *p, const Hlo__Window *w, const char *name, size_t offset, int64_t usual,
	const char **space)
{
	bool differs = false;
	for (size_t i = 0; i < w->n_dimensions; i++)
		differs |= number_at(w->dimensions[i], offset) != usual;
	if (!differs)
		return;
	buf_addf(p->out, "%s%s=", *space, name);
	for (size_t i = 0; i < w->n_dimensions; i++)
		buf_addf(p->out, "%s%" PRId64, i ? "x" : "", number_at(w->dimensions[i], offset));
	*space = " ";
}

void print_window(struct printer *p, const Hlo__Window *w)
{
	bool pads = false, reversed = false;
	const char *space = "";
	buf_addch(p->out, '{');
#define WINDOW(name, field, usual) part(p, w, name, offsetof(Hlo__WindowDimension, field), usual, &space);
#include "schemas/hlo_window.def"
#undef WINDOW
	for (size_t i = 0; i < w->n_dimensions; i++) {
		pads |= w->dimensions[i]->padding_low || w->dimensions[i]->padding_high;
		reversed |= w->dimensions[i]->window_reversal;
	}
	for (size_t i = 0; pads && i < w->n_dimensions; i++)
		buf_addf(p->out, "%s%" PRId64 "_%" PRId64, i ? "x" : " pad=", w->dimensions[i]->padding_low,
			w->dimensions[i]->padding_high);
	for (size_t i = 0; reversed && i < w->n_dimensions; i++)
		buf_addf(p->out, "%s%d", i ? "x" : " rhs_reversal=", w->dimensions[i]->window_reversal != 0);
	buf_addch(p->out, '}');
}

static void labels(struct printer *p, char a, int64_t at_a, char b, int64_t at_b, const int64_t *spatial, size_t n)
{
	char s[RANK_LIMIT];
	int64_t rank = (at_a > at_b ? at_a : at_b) + 1;
	for (size_t i = 0; i < n; i++)
		if (spatial[i] >= rank)
			rank = spatial[i] + 1;
	memset(s, '?', sizeof(s));
	for (size_t i = 0; i < n; i++)
		s[spatial[i]] = (char)('0' + i);
	s[at_a] = a;
	s[at_b] = b;
	buf_add(p->out, s, (size_t)rank);
}

void print_dim_labels(struct printer *p, const Hlo__ConvolutionDimensionNumbers *d)
{
	labels(p, 'b', d->input_batch_dimension, 'f', d->input_feature_dimension, d->input_spatial_dimensions,
		d->n_input_spatial_dimensions);
	buf_addch(p->out, '_');
	labels(p, 'i', d->kernel_input_feature_dimension, 'o', d->kernel_output_feature_dimension,
		d->kernel_spatial_dimensions, d->n_kernel_spatial_dimensions);
	buf_adds(p->out, "->");
	labels(p, 'b', d->output_batch_dimension, 'f', d->output_feature_dimension, d->output_spatial_dimensions,
		d->n_output_spatial_dimensions);
}

bool sparsity_empty(const Hlo__SparsityConfig *c)
{
	return !c->lhs && !c->rhs;
}

void print_sparsity(struct printer *p, const Hlo__SparsityConfig *c)
{
	buf_addch(p->out, '{');
	for (int i = 0; i < 2; i++) {
		const Hlo__TensorSparsity *s = i ? c->rhs : c->lhs;
		if (s)
			buf_addf(p->out,
				"%s={sparsity=%" PRId64 "x%" PRId64 " dimension=%" PRId64 " stride=%" PRId64 " idx=%d}",
				i ? " rhs" : "lhs", s->num_non_zero, s->block_size, s->dimension, s->stride, s->idx);
	}
	buf_addch(p->out, '}');
}
