/*
 * shape.c - see the header.
 *
 * We limit the product of the sizes that are not 0, not the number of elements. An array without
 * elements may still be 2^62 wide, and code that walks its other dimensions would walk that far.
 */
#include "hlo/shape.h"

#include "hlo/op.h"

#define ELEMENT_BITS_LIMIT 128

static bool holds_others(const Hlo__ShapeProto *s)
{
	return s->element_type == DT_TUPLE || s->element_type == DT_BUFFER;
}

static bool is_layout(const Hlo__ShapeProto *s)
{
	const Hlo__Layout *l = s->layout;
	uint64_t seen = 0;
	if (!l || holds_others(s))
		return true;
	if (l->n_minor_to_major != s->n_dimensions)
		return false;
	for (size_t i = 0; i < l->n_minor_to_major; i++) {
		int64_t d = l->minor_to_major[i];
		if (d < 0 || (size_t)d >= s->n_dimensions || seen >> d & 1)
			return false;
		seen |= UINT64_C(1) << d;
	}
	return true;
}

static bool is_size(const Hlo__ShapeProto *s, uint64_t *total)
{
	uint64_t n = 1;
	for (size_t i = 0; i < s->n_dimensions; i++) {
		int64_t d = s->dimensions[i];
		if (d < 0 || __builtin_mul_overflow(n, d ? (uint64_t)d : 1, &n) || n > ELEMENT_LIMIT)
			return false;
	}
	if (!holds_others(s))
		*total += n;
	return *total <= ELEMENT_LIMIT;
}

static const char *offence(const Hlo__ShapeProto *s, uint64_t *total)
{
	if (s->element_type <= 0 || s->element_type > UINT8_MAX)
		return "has a shape without a type";
	if (holds_others(s) ? s->n_dimensions > 0 : s->n_tuple_shapes > 0)
		return "has a shape that is an array and a tuple at once";
	if (s->n_dimensions > RANK_LIMIT || !is_size(s, total))
		return "has a shape that no machine holds";
	if (s->n_is_dynamic_dimension && s->n_is_dynamic_dimension != s->n_dimensions)
		return "has a shape that does not say of each dimension whether it is dynamic";
	if (!is_layout(s))
		return "has a layout that does not list each dimension once";
	for (size_t i = 0; i < s->n_tuple_shapes; i++) {
		const char *inside = offence(s->tuple_shapes[i], total);
		if (inside)
			return inside;
	}
	return NULL;
}

const char *shape_offence(const Hlo__ShapeProto *s)
{
	uint64_t total = 0;
	return s ? offence(s, &total) : "has no shape";
}

void shape_size(const Hlo__ShapeProto *s, uint64_t *elements, uint64_t *bytes)
{
	uint64_t n = 1, bits = dtype_bits((uint8_t)s->element_type);
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		shape_size(s->tuple_shapes[i], elements, bytes);
	if (holds_others(s) || s->element_type == DT_TOKEN || s->element_type == DT_OPAQUE)
		return;
	for (size_t i = 0; i < s->n_dimensions; i++)
		n *= (uint64_t)s->dimensions[i];
	if (s->layout && s->layout->element_size_in_bits > 0 && s->layout->element_size_in_bits <= ELEMENT_BITS_LIMIT)
		bits = (uint64_t)s->layout->element_size_in_bits;
	*elements += n;
	*bytes += (n * bits + 7) / 8;
}

size_t shape_leaves(const Hlo__ShapeProto *s)
{
	size_t n = 0;
	if (s->element_type != DT_TUPLE)
		return 1;
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		n += shape_leaves(s->tuple_shapes[i]);
	return n;
}

uint32_t shape_tuples(const Hlo__ShapeProto *s)
{
	uint32_t n = s->element_type == DT_TUPLE;

	for (size_t i = 0; n && i < s->n_tuple_shapes; i++)
		n += shape_tuples(s->tuple_shapes[i]);
	return n;
}

bool shape_same(const Hlo__ShapeProto *a, const Hlo__ShapeProto *b)
{
	if (a == b)
		return true;
	if (a->element_type != b->element_type || a->n_dimensions != b->n_dimensions ||
		a->n_tuple_shapes != b->n_tuple_shapes)
		return false;
	for (size_t i = 0; i < a->n_dimensions; i++)
		if (a->dimensions[i] != b->dimensions[i])
			return false;
	for (size_t i = 0; i < a->n_tuple_shapes; i++)
		if (!shape_same(a->tuple_shapes[i], b->tuple_shapes[i]))
			return false;
	return true;
}
