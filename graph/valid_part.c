/*
 * valid_part.c - checks what one instruction holds: literals, lists of dimensions, sizes, required messages.
 *
 * Most instructions hold none of these, so each check first tests whether there is anything to check. Fields
 * that tables name are looked up once per process.
 */
#include <pthread.h>
#include <string.h>
#include "hlo/field.h"
#include "graph/valid_own.h"

typedef Hlo__HloInstructionProto instruction;

/* ---- tables, by opcode ---- */

enum dims_of { OF_RESULT, OF_FIRST, OF_SECOND };
enum dims_count { COUNT_ONE, COUNT_ALL, COUNT_ANY };

static const struct dims_row {
	uint16_t opcode;
	const char *path;
	uint8_t of, count;
} dims_rows[] = {
#define DIMS(op, path, of, count) {OP_##op, path, OF_##of, COUNT_##count},
#include "schemas/valid.def"
};
enum { N_DIMS = sizeof(dims_rows) / sizeof(*dims_rows), NEEDS = 4 };

/* For each row, where its list lies: in the instruction, or in a message that it points to. */
static struct {
	const ProtobufCFieldDescriptor *message; /* NULL: in the instruction itself */
	const ProtobufCFieldDescriptor *list;
} dims_at[N_DIMS];

static struct { /* for each opcode */
	uint8_t first_dims, end_dims; /* rows of dims_rows, which stand together */
	uint8_t n;
	const ProtobufCFieldDescriptor *need[NEEDS]; /* required messages */
} facts[OP_COUNT + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The field at the beginning of an attribute's path if that is a message, else NULL. */
static const ProtobufCFieldDescriptor *message_in(const char *path)
{
	char name[64];
	size_t n = strcspn(path, ".");
	BUG_ON(n >= sizeof(name));
	memcpy(name, path, n);
	name[n] = '\0';
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field_by_name(&hlo__hlo_instruction_proto__descriptor, name);
	return f && f->type == PROTOBUF_C_TYPE_MESSAGE && f->label != PROTOBUF_C_LABEL_REPEATED ? f : NULL;
}

static void resolve(int i)
{
	const char *path = dims_rows[i].path, *dot = strchr(path, '.');
	const ProtobufCMessageDescriptor *d = &hlo__hlo_instruction_proto__descriptor;
	dims_at[i].message = dot ? message_in(path) : NULL;
	BUG_ON(dot && !dims_at[i].message);
	if (dot)
		d = dims_at[i].message->descriptor;
	dims_at[i].list = protobuf_c_message_descriptor_get_field_by_name(d, dot ? dot + 1 : path);
	BUG_ON(!dims_at[i].list || dims_at[i].list->type != PROTOBUF_C_TYPE_INT64);
}

static void fill(void)
{
	const struct hlo_words *words = hlo_words();
	for (int i = N_DIMS; i-- > 0;) {
		resolve(i);
		uint16_t op = dims_rows[i].opcode;
		facts[op].first_dims = (uint8_t)i;
		if (!facts[op].end_dims)
			facts[op].end_dims = (uint8_t)(i + 1);
	}
	for (int op = 0; op < OP_COUNT; op++) {
		const struct attr_set *set = &words->op[op].attrs;
		const ProtobufCFieldDescriptor *last = NULL;
		for (int i = 0; i < set->n; i++) {
			const ProtobufCFieldDescriptor *f = message_in(words->attr[set->row[i]].path);
			if (!f || f == last || !(set->required >> i & 1))
				continue;
			BUG_ON(facts[op].n == NEEDS);
			facts[op].need[facts[op].n++] = last = f;
		}
	}
}

static bool has_messages(const instruction *in, uint16_t op)
{
	for (int i = 0; i < facts[op].n; i++) {
		const void *p;
		memcpy(&p, (const char *)in + facts[op].need[i]->offset, sizeof(p));
		if (!p)
			return false;
	}
	return true;
}

/* ---- dimensions ---- */

/* Does the list name each dimension at most once, all of them below the rank? */
static bool lists_dims(const int64_t *v, size_t n, size_t rank)
{
	uint64_t seen = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t d = v[i];
		if (d < 0 || (size_t)d >= rank || seen >> d & 1)
			return false;
		seen |= UINT64_C(1) << d;
	}
	return true;
}

static const Hlo__ShapeProto *operand_shape(const struct graph *g, uint32_t v, uint32_t k)
{
	return g->node[node_operands(g, v)[k]].proto->shape;
}

static bool dims_fit(const struct graph *g, uint32_t v, int i)
{
	const struct dims_row *row = &dims_rows[i];
	const char *in = (const char *)g->node[v].proto;
	const int64_t *list;
	const Hlo__ShapeProto *of = row->of == OF_RESULT ? g->node[v].proto->shape : operand_shape(g, v,
		row->of - OF_FIRST);
	size_t n;
	if (dims_at[i].message)
		memcpy(&in, in + dims_at[i].message->offset, sizeof(in));
	if (!in)
		return true;
	memcpy(&n, in + dims_at[i].list->quantifier_offset, sizeof(n));
	memcpy(&list, in + dims_at[i].list->offset, sizeof(list));
	if (row->count == COUNT_ONE && n != 1)
		return false;
	if (row->count == COUNT_ALL && n != operand_shape(g, v, 0)->n_dimensions)
		return false;
	return lists_dims(list, n, of->n_dimensions);
}

struct numbering { /* of one array of a convolution */
	int64_t own[2]; /* batch and feature, or input and output feature */
	const int64_t *spatial;
	size_t n_spatial;
};

/* Does it name each dimension of the array once? Text names spatial dimensions by a digit, so there are at most ten. */
static bool numbers_dims(const struct numbering *a, size_t rank)
{
	uint64_t seen = 0;
	if (a->n_spatial > VALID_SPATIAL)
		return false;
	for (size_t i = 0; i < a->n_spatial + 2; i++) {
		int64_t d = i < 2 ? a->own[i] : a->spatial[i - 2];
		if (d < 0 || (size_t)d >= rank || seen >> d & 1)
			return false;
		seen |= UINT64_C(1) << d;
	}
	return true;
}

/* Custom calls may have such numbers, too; we do not know what their arrays are, so those are not checked. */
static bool convolution_fits(const struct graph *g, uint32_t v)
{
	const Hlo__ConvolutionDimensionNumbers *d = g->node[v].proto->convolution_dimension_numbers;
	const struct numbering array[] = {
		{{d->input_batch_dimension, d->input_feature_dimension}, d->input_spatial_dimensions,
			d->n_input_spatial_dimensions},
		{{d->kernel_input_feature_dimension, d->kernel_output_feature_dimension}, d->kernel_spatial_dimensions,
			d->n_kernel_spatial_dimensions},
		{{d->output_batch_dimension, d->output_feature_dimension}, d->output_spatial_dimensions,
			d->n_output_spatial_dimensions},
	};
	for (uint32_t k = 0; k < 3; k++) {
		size_t rank = RANK_LIMIT;
		if (g->node[v].opcode == OP_CONVOLUTION)
			rank = (k < 2 ? operand_shape(g, v, k) : g->node[v].proto->shape)->n_dimensions;
		if (!numbers_dims(&array[k], rank))
			return false;
	}
	return true;
}

/* ---- sizes ---- */

static bool multiply(uint64_t *total, int64_t size)
{
	if (size < 0 || (size > 0 && *total > ELEMENT_LIMIT / (uint64_t)size))
		return false;
	*total *= size ? (uint64_t)size : 1;
	return true;
}

static bool is_moderate(int64_t x)
{
	return x >= -(int64_t)ELEMENT_LIMIT && x <= (int64_t)ELEMENT_LIMIT;
}

static bool window_fits(const Hlo__Window *w)
{
	uint64_t total = 1;
	if (w->n_dimensions > RANK_LIMIT)
		return false;
	for (size_t i = 0; i < w->n_dimensions; i++) {
		const Hlo__WindowDimension *d = w->dimensions[i];
		if (!multiply(&total, d->size) || !is_moderate(d->stride) || !is_moderate(d->padding_low) ||
			!is_moderate(d->padding_high) || !is_moderate(d->window_dilation) ||
			!is_moderate(d->base_dilation))
			return false;
	}
	return true;
}

static bool transform_fits(const instruction *in)
{
	uint64_t total = 1;
	if (in->n_fft_length > RANK_LIMIT)
		return false;
	for (size_t i = 0; i < in->n_fft_length; i++)
		if (!multiply(&total, in->fft_length[i]))
			return false;
	return true;
}

/* ---- literals ---- */

/* Does it have as many values as elements, or none? Types of less than a byte may be packed. */
static bool has_values(const Hlo__Literal *l, uint8_t dtype, uint64_t elements)
{
	struct field w = field_of_literal(l, dtype);
	uint32_t bits = dtype_bits(dtype);
	size_t n = 0;
	if (!w.f)
		return true;
	if (w.count)
		n = field_count(&w);
	else
		field_string(&w, &n);
	if (n == 0 || (bits < 8 && n == (elements * bits + 7) / 8))
		return true;
	if (dtype == DT_C64 || dtype == DT_C128)
		return n == 2 * elements;
	return n == elements * (w.count ? 1 : literal_width(dtype));
}

static bool literal_fits(const Hlo__Literal *l, const Hlo__ShapeProto *shape)
{
	uint64_t elements = 0, bytes = 0;
	if (!l->shape || !shape_same(l->shape, shape) || shape_offence(l->shape))
		return false;
	if (l->n_tuple_literals != (shape->element_type == DT_TUPLE ? shape->n_tuple_shapes : 0))
		return false;
	for (size_t i = 0; i < l->n_tuple_literals; i++)
		if (!literal_fits(l->tuple_literals[i], shape->tuple_shapes[i]))
			return false;
	shape_size(l->shape, &elements, &bytes);
	return has_values(l, (uint8_t)l->shape->element_type, elements);
}

/* Checks the literal: a constant's has the instruction's shape, any other has a shape of its own. */
static bool literal_of(const instruction *in, uint16_t op)
{
	const Hlo__ShapeProto *own = in->literal->shape;
	return own && literal_fits(in->literal, op == OP_CONSTANT ? in->shape : own);
}

/* ---- other shapes, and origins ---- */

static const char *further_shapes(const instruction *in)
{
	const char *what = in->outfeed_shape ? shape_offence(in->outfeed_shape) : NULL;
	for (size_t i = 0; !what && i < in->n_operand_shapes_with_layout; i++)
		what = shape_offence(in->operand_shapes_with_layout[i]);
	return what;
}

static bool count_origins(struct valid *a, const Hlo__OriginalValue *value)
{
	for (size_t i = 0; i < value->n_elements; i++)
		for (size_t k = 0; k < value->elements[i]->n_shape_index; k++) {
			int64_t x = value->elements[i]->shape_index[k];
			if (x < 0 || (uint64_t)x > VALID_ORIGINS - a->origins)
				return false;
			a->origins += (uint64_t)x;
		}
	return true;
}

const char *valid_parts(struct valid *a, uint32_t v)
{
	const struct node *n = &a->g->node[v];
	const instruction *in = n->proto;
	pthread_once(&once, fill);
	if (!has_messages(in, n->opcode))
		return "lacks an attribute that its operation needs";
	for (int i = facts[n->opcode].first_dims; i < facts[n->opcode].end_dims; i++)
		if (!dims_fit(a->g, v, i))
			return "names dimensions that its arrays do not have";
	if (in->convolution_dimension_numbers && !convolution_fits(a->g, v))
		return "names dimensions that its arrays do not have";
	if (in->window && !window_fits(in->window))
		return "has a window that no machine moves";
	if (in->n_fft_length && !transform_fits(in))
		return "transforms more than a machine holds";
	if (in->literal && !literal_of(in, n->opcode))
		return "has a value that is not as its shape says";
	if (in->original_value && !count_origins(a, in->original_value))
		return "has an origin that no text can say";
	return further_shapes(in);
}
