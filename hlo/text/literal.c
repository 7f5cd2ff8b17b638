/*
 * literal.c - reads constants.
 *
 *	3.5    {1, 2}    {{1, 2}, {3, 4}}    {(1, -2), (0, nan)}    (1, {2, 3})    {...}
 *
 * Braces nest as the dimensions do, whatever the layout. The message lists elements as they lie in
 * memory, so each level of braces has its own stride. Elements go directly into the message's field
 * for their type: small types as bytes, others as numbers.
 *
 * XLA's reader turns (nan, 1) into (nan, nan), and -0 into 0; this one does not.
 */
#include <math.h>
#include <string.h>
#include "hlo/float.h"
#include "hlo/text/own.h"

struct literal {
	struct text *p;
	const Hlo__ShapeProto *shape;
	uint8_t dtype;
	size_t width; /* bytes of an element in `data` */
	size_t count;
	size_t stride[64]; /* in elements */
	char *data;	   /* NULL until the first element is there */
};

static bool is_signed(uint8_t dtype)
{
	return dtype == DT_S1 || dtype == DT_S2 || dtype == DT_S4 || dtype == DT_S8 || dtype == DT_S16 ||
	       dtype == DT_S32 || dtype == DT_S64;
}

static bool is_complex(uint8_t dtype)
{
	return dtype == DT_C64 || dtype == DT_C128;
}

static void put(char *to, uint64_t bits, size_t width)
{
	for (size_t i = 0; i < width; i++)
		to[i] = (char)(bits >> 8 * i);
}

static void integer(struct literal *l, char *to)
{
	const char *at = l->p->tok.at;
	uint32_t bits = dtype_bits(l->dtype);
	int64_t v = text_int(l->p);
	bool fits = bits == 64;
	if (is_signed(l->dtype) && bits < 64)
		fits = v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
	else if (bits < 64)
		fits = v >= 0 && v < INT64_C(1) << bits;
	if (!fits)
		text_wrong_at(l->p, at, "this number does not fit into %s", dtype_name(l->dtype));
	uint64_t mask = bits < 8 ? (UINT64_C(1) << bits) - 1 : ~UINT64_C(0);
	put(to, (uint64_t)v & mask, l->width);
}

static void truth(struct literal *l, char *to)
{
	protobuf_c_boolean v = text_is(l->p, T_INT) ? text_int(l->p) != 0 : text_bool(l->p);
	memcpy(to, &v, sizeof(v));
}

/* Puts the payload of nan(0x...) into the NaN; float_encode gave it the usual one. */
static uint64_t with_payload(struct literal *l, const char *at, double v, uint64_t bits, int payload_bits)
{
	uint64_t raw, payload;
	memcpy(&raw, &v, sizeof(raw));
	payload = raw & ((UINT64_C(1) << 52) - 1);
	if (!isnan(v) || payload == UINT64_C(1) << 51)
		return bits;
	if (payload >> payload_bits)
		text_wrong_at(l->p, at, "this payload does not fit into a NaN of type %s", dtype_name(l->dtype));
	return (bits & ~((UINT64_C(1) << payload_bits) - 1)) | payload;
}

/* Reads one floating-point number of the type, or one part of a complex number. */
static void real(struct literal *l, char *to, uint8_t dtype)
{
	const char *at = l->p->tok.at;
	bool fits = true;
	double v = text_real(l->p);
	if (dtype == DT_F64) {
		memcpy(to, &v, sizeof(v));
		return;
	}
	uint64_t bits = float_encode(dtype, v, &fits);
	bits = with_payload(l, at, v, bits, float_payload_bits(dtype));
	if (!fits)
		text_wrong_at(l->p, at, "this number does not fit into %s", dtype_name(dtype));
	put(to, bits, literal_width(dtype));
}

static void element(struct literal *l, size_t index)
{
	struct text *p = l->p;
	if (!l->data) {
		/* Each element takes at least a character, and all but the last a comma. */
		if (l->count > (size_t)(p->end - p->tok.at)) {
			text_wrong_at(p, p->tok.at, "there are fewer than %zu elements in the rest of the text",
				l->count);
			return;
		}
		l->data = arena_zalloc(p->mem, l->count, l->width);
	}
	char *to = l->data + index * l->width;
	if (is_complex(l->dtype)) {
		uint8_t half = l->dtype == DT_C64 ? DT_F32 : DT_F64;
		text_expect(p, '(');
		real(l, to, half);
		text_expect(p, ',');
		real(l, to + l->width / 2, half);
		text_expect(p, ')');
	} else if (l->dtype == DT_PRED) {
		truth(l, to);
	} else if (l->dtype == DT_F64 || float_known(l->dtype)) {
		real(l, to, l->dtype);
	} else {
		integer(l, to);
	}
}

/* Fills in "{...}" as XLA does: the bytes of the array, in the usual order, count up. */
static void fill(struct literal *l)
{
	struct text *p = l->p;
	size_t width = l->dtype == DT_PRED ? 1 : l->width, size = l->count * width;
	uint32_t mask = l->dtype == DT_PRED ? 0x01010101 : UINT32_MAX;
	if (size > HLO_TEXT_FILL_LIMIT - p->filled) {
		text_wrong_at(p, p->tok.at, "the constants left out of this text would take more than %zu MiB",
			HLO_TEXT_FILL_LIMIT >> 20);
		return;
	}
	p->filled += size;
	char *raw = arena_zalloc(p->mem, size + 4, 1);
	for (size_t i = 0; i < size / 4; i++)
		put(raw + 4 * i, p->count32++ & mask, 4);
	for (size_t i = 0; i < size % 4; i++)
		raw[size / 4 + i] = (char)(p->count8++ & mask);
	l->data = arena_zalloc(p->mem, l->count, l->width);
	size_t index[64] = {0}, rank = l->shape->n_dimensions;
	for (size_t i = 0; i < l->count; i++) {
		size_t to = 0;
		for (size_t d = 0; d < rank; d++)
			to += index[d] * l->stride[d];
		memcpy(l->data + to * l->width, raw + i * width, width);
		for (size_t d = rank; d-- > 0;) {
			if (++index[d] < (size_t)l->shape->dimensions[d])
				break;
			index[d] = 0;
		}
	}
}

static void level(struct literal *l, size_t d, size_t offset)
{
	struct text *p = l->p;
	const char *at = p->tok.at;
	size_t want, n = 0;
	if (d == l->shape->n_dimensions) {
		element(l, offset);
		return;
	}
	want = (size_t)l->shape->dimensions[d];
	if (d == 0 && text_is(p, '{') && p->end - p->at >= 3 && memcmp(p->at, "...", 3) == 0) {
		text_next(p);
		fill(l);
		text_next(p);
		text_expect(p, '}');
		return;
	}
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		if (n == want) {
			text_wrong_at(p, p->tok.at, "there are %zu elements in this dimension, and here is one more",
				want);
			return;
		}
		level(l, d + 1, offset + n++ * l->stride[d]);
	}
	if (!p->bad && n != want)
		text_wrong_at(p, at, "this should hold %zu elements, but holds %zu", want, n);
}

/* Finds the strides and the number of elements. More elements than memory could hold are an offence. */
static bool measure(struct literal *l)
{
	const Hlo__ShapeProto *s = l->shape;
	size_t total = 1, rank = s->n_dimensions;
	bool empty = false;
	for (size_t d = 0; d < rank; d++)
		empty |= s->dimensions[d] == 0;
	for (size_t i = 0; i < rank; i++) {
		size_t d = (size_t)s->layout->minor_to_major[i];
		if (s->dimensions[d] < 0)
			return text_wrong_at(l->p, l->p->tok.at, "a constant cannot have an unknown size");
		l->stride[d] = empty ? 0 : total;
		if (!empty && __builtin_mul_overflow(total, (size_t)s->dimensions[d], &total))
			return text_wrong_at(l->p, l->p->tok.at, "no memory could hold such a constant");
	}
	l->count = empty ? 0 : total;
	if (l->count > SIZE_MAX / 64)
		return text_wrong_at(l->p, l->p->tok.at, "no memory could hold such a constant");
	return true;
}

static void finish(struct literal *l, const struct field *w)
{
	if (l->count == 0)
		return;
	if (w->count) {
		*w->count = l->count * (is_complex(l->dtype) ? 2 : 1);
		field_set_pointer(w, l->data);
	} else {
		field_set_string(w, l->data, l->count * l->width);
	}
}

static void tuple(struct text *p, Hlo__ShapeProto *shape, Hlo__Literal *out)
{
	size_t n = 0;
	struct ptr_list list = {0};
	const char *at = p->tok.at;
	for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')')) {
		if (n == shape->n_tuple_shapes) {
			text_wrong_at(p, p->tok.at, "this tuple has %zu parts, and here is one more", n);
			break;
		}
		ptr_list_add(&list, text_literal(p, shape->tuple_shapes[n++]));
	}
	if (!p->bad && n != shape->n_tuple_shapes)
		text_wrong_at(p, at, "this tuple should have %zu parts, but has %zu", shape->n_tuple_shapes, n);
	out->n_tuple_literals = list.n;
	out->tuple_literals = (Hlo__Literal **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

Hlo__Literal *text_literal(struct text *p, Hlo__ShapeProto *shape)
{
	Hlo__Literal *out = text_message(p, &hlo__literal__descriptor);
	struct literal l = {.p = p, .shape = shape, .dtype = (uint8_t)shape->element_type};
	struct field w = field_of_literal(out, l.dtype);
	out->shape = shape;
	if (p->bad)
		return out;
	if (l.dtype == DT_TUPLE) {
		tuple(p, shape, out);
		return out;
	}
	if (!w.f) {
		text_wrong_at(p, p->tok.at, "there are no constants of type %s", dtype_name(l.dtype));
		return out;
	}
	l.width = literal_width(l.dtype);
	if (measure(&l))
		level(&l, 0, 0);
	if (!p->bad)
		finish(&l, &w);
	return out;
}

Hlo__Literal *text_shaped_literal(struct text *p)
{
	struct ptr_list parts = {0}, shapes = {0};
	Hlo__Literal *out = NULL;
	const char *at = p->tok.at;
	if (!text_is(p, '('))
		return text_literal(p, text_shape(p));
	if (text_enter(p))
		for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')')) {
			Hlo__Literal *l = text_shaped_literal(p);
			ptr_list_add(&parts, l);
			ptr_list_add(&shapes, l->shape);
		}
	text_leave(p);
	out = text_message(p, &hlo__literal__descriptor);
	out->shape = shape_tuple(p, (Hlo__ShapeProto **)shapes.v, shapes.n, at);
	out->n_tuple_literals = parts.n;
	out->tuple_literals = (Hlo__Literal **)text_keep_ptrs(p, &parts);
	mem_free(parts.v);
	mem_free(shapes.v);
	return out;
}
