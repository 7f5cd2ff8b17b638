/*
 * window.c - reads values that have a part for each dimension.
 *
 *	{[0:8:2], [1:2]}	     slices		0_1x2_3_1	  padding
 *	{size=2x2 stride=1x2 pad=0_1x1_1 lhs_dilate=1x1 rhs_dilate=2x2 rhs_reversal=0x1}	windows
 *	bf01_oi01->bf01		     labels		{lhs={sparsity=2x4 dimension=1}}	  sparsity
 *
 * Numbers joined by "x" and "_" are one token; they are taken apart here.
 */
#include <string.h>
#include "hlo/text/own.h"

void text_slices(struct text *p, const struct field *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__SliceDimensions *d = text_add(p, &list, &hlo__slice_dimensions__descriptor);
		text_expect(p, '[');
		d->start = text_int(p);
		text_expect(p, ':');
		d->limit = text_int(p);
		d->stride = text_accept(p, ':') ? text_int(p) : 1;
		text_expect(p, ']');
	}
	text_set_list(p, w, &list);
}

/* Reads up to `max` numbers of a token such as "1_2x3_4", up to the next "x"; returns how many. */
static size_t numbers(struct text *p, const char **s, const char *end, int64_t *v, size_t max)
{
	size_t n = 0;
	while (*s < end && n < max) {
		bool minus = **s == '-';
		int64_t x = 0;
		for (*s += minus; *s < end && **s >= '0' && **s <= '9'; ++*s)
			if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, **s - '0', &x)) {
				text_wrong_at(p, *s, "this number does not fit in 64 bits");
				return 0;
			}
		v[n++] = minus ? -x : x;
		if (*s == end || *(*s)++ == 'x')
			break;
	}
	return n;
}

void text_padding(struct text *p, const struct field *w)
{
	Hlo__PaddingConfig *config = text_message(p, &hlo__padding_config__descriptor);
	struct ptr_list list = {0};
	const char *s = p->tok.s, *end = s + p->tok.n;
	if (!text_is(p, T_PADS))
		text_expected(p, "padding, such as 0_1x2_3_1 (low_high or low_high_interior, x between dimensions)");
	while (!p->bad && s < end) {
		int64_t v[3] = {0};
		Hlo__PaddingConfigDimension *d = text_add(p, &list, &hlo__padding_config_dimension__descriptor);
		numbers(p, &s, end, v, 3);
		d->edge_padding_low = v[0];
		d->edge_padding_high = v[1];
		d->interior_padding = v[2];
	}
	text_next(p);
	config->n_dimensions = list.n;
	config->dimensions = (Hlo__PaddingConfigDimension **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	field_set_pointer(w, config);
}

/* Reads 3x4, or a single number, into p->ints. */
static void sizes(struct text *p)
{
	const char *s = p->tok.s, *end = s + p->tok.n;
	p->ints.n = 0;
	if (text_is(p, T_INT)) {
		int_list_add(&p->ints, text_int(p));
		return;
	}
	if (!text_is(p, T_SIZES))
		text_expected(p, "sizes, such as 3x4");
	while (!p->bad && s < end) {
		int64_t v = 0;
		numbers(p, &s, end, &v, 1);
		int_list_add(&p->ints, v);
	}
	text_next(p);
}

/* The parts that have one number for each dimension, and the field where it goes. */
static const struct {
	const char *name;
	size_t offset;
} parts[] = {
#define WINDOW(name, field, usual) {name, offsetof(Hlo__WindowDimension, field)},
#include "schemas/hlo_window.def"
#undef WINDOW
};

static void window_sizes(struct text *p, const Hlo__Window *w)
{
	const char *at = p->tok.at;
	text_next(p);
	sizes(p);
	if (p->ints.n != w->n_dimensions)
		text_wrong_at(p, at, "size= has %zu dimensions, and so must this", w->n_dimensions);
}

static void window_part(struct text *p, Hlo__Window *w)
{
	size_t i = 0;
	while (i < sizeof(parts) / sizeof(*parts) && !text_attr_is(p, parts[i].name))
		i++;
	if (i == sizeof(parts) / sizeof(*parts)) {
		text_wrong_at(p, p->tok.at, "expected size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal");
		return;
	}
	window_sizes(p, w);
	for (size_t d = 0; !p->bad && d < w->n_dimensions; d++)
		memcpy((char *)w->dimensions[d] + parts[i].offset, &p->ints.v[d], sizeof(int64_t));
}

static void window_reversal(struct text *p, Hlo__Window *w)
{
	window_sizes(p, w);
	for (size_t d = 0; !p->bad && d < w->n_dimensions; d++)
		w->dimensions[d]->window_reversal = p->ints.v[d] == 1;
}

static void window_pad(struct text *p, Hlo__Window *w)
{
	const char *s, *end, *at = p->tok.at;
	text_next(p);
	s = p->tok.s;
	end = s + p->tok.n;
	if (!text_is(p, T_PADS))
		text_expected(p, "padding, such as 0_1x2_3");
	for (size_t d = 0; !p->bad && (d < w->n_dimensions || s < end); d++) {
		int64_t v[3];
		if (d >= w->n_dimensions || s >= end || numbers(p, &s, end, v, 3) != 2) {
			text_wrong_at(p, at, "pad= must have low_high for each of the %zu dimensions", w->n_dimensions);
			break;
		}
		w->dimensions[d]->padding_low = v[0];
		w->dimensions[d]->padding_high = v[1];
	}
	text_next(p);
}

/* Makes the dimensions from size=, with the defaults of all other parts. */
static void window_size(struct text *p, Hlo__Window *w)
{
	struct ptr_list list = {0};
	text_next(p);
	sizes(p);
	for (size_t i = 0; i < p->ints.n; i++) {
		Hlo__WindowDimension *d = text_add(p, &list, &hlo__window_dimension__descriptor);
#define WINDOW(name, field, usual) d->field = usual;
#include "schemas/hlo_window.def"
#undef WINDOW
		d->size = p->ints.v[i];
	}
	w->n_dimensions = list.n;
	w->dimensions = (Hlo__WindowDimension **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

/* The parts may stand in any order, but all depend on size=, so we look for that first. */
void text_window(struct text *p, const struct field *w)
{
	Hlo__Window *out = text_message(p, &hlo__window__descriptor);
	field_set_pointer(w, out);
	text_expect(p, '{');
	struct token tok = p->tok;
	const char *at = p->at;
	while (!p->bad && !text_is(p, '}') && !text_attr_is(p, "size") && !text_is(p, T_END))
		text_next(p);
	if (text_is(p, T_ATTR))
		window_size(p, out);
	if (p->bad)
		return;
	p->tok = tok;
	p->at = at;
	while (!p->bad && !text_is(p, '}')) {
		if (!text_is(p, T_ATTR))
			text_expected(p, "size=, stride=, pad= or another part of a window");
		else if (text_attr_is(p, "pad"))
			window_pad(p, out);
		else if (text_attr_is(p, "rhs_reversal"))
			window_reversal(p, out);
		else
			window_part(p, out);
	}
	text_expect(p, '}');
}

/*
 * Reads one of the three groups of dim_labels: digits are spatial dimensions, `a` and `b` the others, "?" is
 * none. The positions of `a` and `b` go to *first and *second, those of the digits into p->ints.
 */
static void labels(struct text *p, const char *s, const char *end, char a, char b, int64_t *first,
	int64_t *second)
{
	size_t spatial = 0;
	unsigned seen = 0;
	for (const char *c = s; c < end; c++)
		spatial += *c != a && *c != b && *c != '?';
	p->ints.n = 0;
	for (size_t i = 0; i < spatial; i++)
		int_list_add(&p->ints, -1);
	for (const char *c = s; c < end; c++) {
		bool digit = *c >= '0' && *c <= '9';
		unsigned bit = *c == a ? 1 : *c == b ? 2 : digit ? 4u << (*c - '0') : 0;
		if (*c == '?')
			continue;
		if (!bit || seen & bit || (digit && (size_t)(*c - '0') >= spatial)) {
			text_wrong_at(p, c, "each of %c, %c and the digits below %zu stands here once", a, b, spatial);
			return;
		}
		seen |= bit;
		if (digit)
			p->ints.v[*c - '0'] = c - s;
		else
			*(*c == a ? first : second) = c - s;
	}
}

void text_dim_labels(struct text *p, const struct field *w)
{
	Hlo__ConvolutionDimensionNumbers *d = text_message(p, &hlo__convolution_dimension_numbers__descriptor);
	field_set_pointer(w, d);
	if (!text_is(p, T_LABELS)) {
		text_expected(p, "dimension labels, such as bf01_oi01->bf01");
		return;
	}
	const char *s = p->tok.s, *end = s + p->tok.n;
	const char *rhs = memchr(s, '_', p->tok.n), *out = memchr(s, '>', p->tok.n);
	labels(p, s, rhs, 'b', 'f', &d->input_batch_dimension, &d->input_feature_dimension);
	d->n_input_spatial_dimensions = p->ints.n;
	d->input_spatial_dimensions = text_keep_ints(p, &p->ints);
	labels(p, rhs + 1, out - 1, 'i', 'o', &d->kernel_input_feature_dimension,
		&d->kernel_output_feature_dimension);
	d->n_kernel_spatial_dimensions = p->ints.n;
	d->kernel_spatial_dimensions = text_keep_ints(p, &p->ints);
	labels(p, out + 1, end, 'b', 'f', &d->output_batch_dimension, &d->output_feature_dimension);
	d->n_output_spatial_dimensions = p->ints.n;
	d->output_spatial_dimensions = text_keep_ints(p, &p->ints);
	if (d->n_input_spatial_dimensions != d->n_kernel_spatial_dimensions ||
		d->n_input_spatial_dimensions != d->n_output_spatial_dimensions)
		text_wrong_at(p, s, "input, kernel and output must have as many spatial dimensions");
	text_next(p);
}

static Hlo__TensorSparsity *sparsity_of(struct text *p)
{
	Hlo__TensorSparsity *s = text_message(p, &hlo__tensor_sparsity__descriptor);
	text_expect(p, '{');
	while (!p->bad && !text_is(p, '}')) {
		const char *at = p->tok.at;
		if (text_accept_attr(p, "sparsity")) {
			sizes(p);
			if (p->ints.n != 2)
				text_wrong_at(p, at, "sparsity is two numbers, such as 2x4");
			else
				s->num_non_zero = p->ints.v[0], s->block_size = p->ints.v[1];
		} else if (text_accept_attr(p, "dimension"))
			s->dimension = text_int(p);
		else if (text_accept_attr(p, "stride"))
			s->stride = text_int(p);
		else if (text_accept_attr(p, "idx"))
			s->idx = (int32_t)text_int_in(p, INT32_MIN, INT32_MAX);
		else
			text_expected(p, "sparsity=, dimension=, stride= or idx=");
	}
	text_expect(p, '}');
	return s;
}

void text_sparsity(struct text *p, const struct field *w)
{
	Hlo__SparsityConfig *s = text_message(p, &hlo__sparsity_config__descriptor);
	field_set_pointer(w, s);
	text_expect(p, '{');
	while (!p->bad && !text_is(p, '}')) {
		if (text_accept_attr(p, "lhs"))
			s->lhs = sparsity_of(p);
		else if (text_accept_attr(p, "rhs"))
			s->rhs = sparsity_of(p);
		else
			text_expected(p, "lhs= or rhs=");
	}
	text_expect(p, '}');
}
