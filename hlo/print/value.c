/*
 * value.c - prints shapes, constants and strings, exactly.
 *
 * A floating-point number gets as many digits as it takes to read it back equal. A NaN gets its
 * payload where that is not the usual one. Minus zero gets a point: "-0" would be read as an integer.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "hlo/float.h"
#include "hlo/print/print.h"
#include "hlo/shape.h"

#define EMPTY_BRACES 64

/* ---- strings ---- */

void print_string(struct buf *out, const char *s, size_t n)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)s[i];
		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c == '\n')
			buf_adds(out, "\\n");
		else if (c < ' ' || c >= 127)
			buf_addf(out, "\\%03o", c);
		else
			buf_addch(out, c);
	}
	buf_addch(out, '"');
}

/* Does the first brace close at the last character? Braces in strings do not count; a NUL anywhere makes it false. */
static bool is_braced(const char *s, size_t n)
{
	int depth = 0;
	if (n < 2 || s[0] != '{' || memchr(s, 0, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"') {
			for (i++; i < n && s[i] != '"'; i++)
				i += s[i] == '\\';
			if (i >= n)
				return false;
		}
		depth += (s[i] == '{') - (s[i] == '}');
		if (depth == 0)
			return i == n - 1;
	}
	return false;
}

void print_string_or_json(struct buf *out, const char *s, size_t n)
{
	if (is_braced(s, n))
		buf_add(out, s, n);
	else
		print_string(out, s, n);
}

void print_ints(struct buf *out, const int64_t *v, size_t n, const char *open, const char *close)
{
	buf_adds(out, open);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%" PRId64, i ? "," : "", v[i]);
	buf_adds(out, close);
}

/* ---- shapes ---- */

static bool says_more(const Hlo__Layout *l)
{
	return l->n_tiles || l->memory_space || l->element_size_in_bits || l->n_split_configs ||
	       l->index_primitive_type || l->pointer_primitive_type || l->dynamic_shape_metadata_prefix_bytes ||
	       l->tail_padding_alignment_in_elements > 1;
}

static void tile(struct buf *out, const Hlo__Tile *t)
{
	buf_addch(out, '(');
	for (size_t i = 0; i < t->n_dimensions; i++)
		if (t->dimensions[i] == INT64_MIN)
			buf_adds(out, i ? ",*" : "*");
		else
			buf_addf(out, "%s%" PRId64, i ? "," : "", t->dimensions[i]);
	buf_addch(out, ')');
}

static void print_layout(struct buf *out, const Hlo__Layout *l)
{
	print_ints(out, l->minor_to_major, l->n_minor_to_major, "{", "");
	if (says_more(l))
		buf_addch(out, ':');
	for (size_t i = 0; i < l->n_tiles; i++) {
		buf_adds(out, i ? "" : "T");
		tile(out, l->tiles[i]);
	}
	if (l->tail_padding_alignment_in_elements > 1)
		buf_addf(out, "L(%" PRId64 ")", l->tail_padding_alignment_in_elements);
	if (l->index_primitive_type)
		buf_addf(out, "#(%s)", dtype_name((uint8_t)l->index_primitive_type));
	if (l->pointer_primitive_type)
		buf_addf(out, "*(%s)", dtype_name((uint8_t)l->pointer_primitive_type));
	if (l->element_size_in_bits)
		buf_addf(out, "E(%" PRId64 ")", l->element_size_in_bits);
	if (l->memory_space)
		buf_addf(out, "S(%" PRId64 ")", l->memory_space);
	for (size_t i = 0; i < l->n_split_configs; i++) {
		buf_addf(out, "%s(%" PRId64, i ? "" : "SC", l->split_configs[i]->dimension);
		print_ints(out, l->split_configs[i]->split_indices, l->split_configs[i]->n_split_indices, ":", ")");
	}
	if (l->dynamic_shape_metadata_prefix_bytes)
		buf_addf(out, "M(%" PRId64 ")", l->dynamic_shape_metadata_prefix_bytes);
	buf_addch(out, '}');
}

void print_shape(struct buf *out, const Hlo__ShapeProto *s, bool with_layout)
{
	if (s->element_type == DT_TUPLE || s->element_type == DT_BUFFER) {
		buf_adds(out, s->element_type == DT_TUPLE ? "(" : "b(");
		for (size_t i = 0; i < s->n_tuple_shapes; i++) {
			buf_adds(out, i ? ", " : "");
			print_shape(out, s->tuple_shapes[i], with_layout);
		}
		buf_addch(out, ')');
		return;
	}
	buf_adds(out, dtype_name((uint8_t)s->element_type));
	buf_addch(out, '[');
	for (size_t i = 0; i < s->n_dimensions; i++) {
		bool dynamic = i < s->n_is_dynamic_dimension && s->is_dynamic_dimension[i];
		buf_adds(out, i ? "," : "");
		if (dynamic && s->dimensions[i] == INT64_MIN)
			buf_addch(out, '?');
		else
			buf_addf(out, "%s%" PRId64, dynamic ? "<=" : "", s->dimensions[i]);
	}
	buf_addch(out, ']');
	if (with_layout && s->layout && (s->n_dimensions || says_more(s->layout)))
		print_layout(out, s->layout);
}

/* ---- constants ---- */

void print_real(struct buf *out, double v, int digits)
{
	if (isinf(v))
		buf_adds(out, v < 0 ? "-inf" : "inf");
	else if (isnan(v))
		buf_adds(out, signbit(v) ? "-nan" : "nan");
	else if (v == 0)
		buf_adds(out, signbit(v) ? "-0.0" : "0");
	else
		buf_addf(out, "%.*g", digits, v);
}

static void print_nan(struct buf *out, bool minus, uint64_t payload, int bits)
{
	buf_adds(out, minus ? "-nan" : "nan");
	if (payload != UINT64_C(1) << (bits - 1))
		buf_addf(out, "(0x%" PRIx64 ")", payload);
}

static void print_float(struct buf *out, uint8_t dtype, uint64_t raw)
{
	double v = float_decode(dtype, raw);
	int payload = float_payload_bits(dtype);
	if (isnan(v) && payload)
		print_nan(out, raw >> (dtype_bits(dtype) - 1) & 1, raw & ((UINT64_C(1) << payload) - 1), payload);
	else
		print_real(out, v, 9);
}

static void print_double(struct buf *out, double v)
{
	uint64_t raw;
	memcpy(&raw, &v, sizeof(raw));
	if (isnan(v))
		print_nan(out, raw >> 63, raw & ((UINT64_C(1) << 52) - 1), 52);
	else
		print_real(out, v, 17);
}

struct element {
	struct buf *out;
	uint8_t dtype;
	const char *v;
	size_t n, bytes;
};

static bool is_complex(uint8_t dtype)
{
	return dtype == DT_C64 || dtype == DT_C128;
}

/* Finds the values of a literal; the values of a complex one are its parts. */
static struct element values(struct buf *out, const Hlo__Literal *l)
{
	struct element e = {.out = out, .dtype = (uint8_t)l->shape->element_type};
	struct field w = field_of_literal(l, e.dtype);
	if (!w.f)
		return e;
	e.bytes = literal_width(e.dtype) / (is_complex(e.dtype) ? 2 : 1);
	e.v = w.count ? field_pointer(&w) : field_string(&w, &e.n);
	e.n = w.count ? field_count(&w) : e.n / e.bytes;
	return e;
}

static uint64_t raw_of(const struct element *e, size_t i)
{
	uint64_t raw = 0;
	memcpy(&raw, e->v + i * e->bytes, e->bytes); /* little-endian, as the bytes fields are */
	return raw;
}

static void print_element(const struct element *e, size_t i)
{
	uint32_t bits = dtype_bits(e->dtype);
	if (is_complex(e->dtype)) {
		for (size_t k = 0; k < 2; k++) {
			double d;
			buf_adds(e->out, k ? ", " : "(");
			uint64_t raw = raw_of(e, 2 * i + k);
			memcpy(&d, &raw, sizeof(d));
			if (e->dtype == DT_C64)
				print_float(e->out, DT_F32, raw);
			else
				print_double(e->out, d);
		}
		buf_addch(e->out, ')');
		return;
	}
	uint64_t raw = raw_of(e, i);
	double d;
	if (e->dtype == DT_PRED) {
		buf_adds(e->out, raw ? "true" : "false");
	} else if (e->dtype == DT_F64) {
		memcpy(&d, &raw, sizeof(d));
		print_double(e->out, d);
	} else if (float_known(e->dtype)) {
		print_float(e->out, e->dtype, raw);
	} else if (*dtype_name(e->dtype) == 's') {
		int64_t v = (int64_t)(raw << (64 - bits)) >> (64 - bits);
		buf_addf(e->out, "%" PRId64, v);
	} else {
		buf_addf(e->out, "%" PRIu64, bits < 64 ? raw & ((UINT64_C(1) << bits) - 1) : raw);
	}
}

static void print_level(const struct element *e, const Hlo__ShapeProto *s, const size_t *stride, size_t d,
	size_t offset)
{
	if (d == s->n_dimensions) {
		print_element(e, offset);
		return;
	}
	buf_addch(e->out, '{');
	for (int64_t i = 0; i < s->dimensions[d]; i++) {
		buf_adds(e->out, i ? ", " : "");
		print_level(e, s, stride, d + 1, offset + (size_t)i * stride[d]);
	}
	buf_addch(e->out, '}');
}

void print_literal(struct buf *out, const Hlo__Literal *l)
{
	size_t stride[RANK_LIMIT], total = 1, braces = 1;
	const Hlo__ShapeProto *s = l->shape;
	if (s->element_type == DT_TUPLE) {
		buf_addch(out, '(');
		for (size_t i = 0; i < l->n_tuple_literals; i++) {
			buf_adds(out, i ? ", " : "");
			print_literal(out, l->tuple_literals[i]);
		}
		buf_addch(out, ')');
		return;
	}
	struct element e = values(out, l);
	for (size_t i = 0; i < s->n_dimensions; i++) {
		size_t d = s->layout ? (size_t)s->layout->minor_to_major[i] : s->n_dimensions - 1 - i;
		stride[d] = total;
		total *= (size_t)s->dimensions[d];
	}
	for (size_t i = 0; i < s->n_dimensions && s->dimensions[i]; i++)
		braces *= (size_t)s->dimensions[i];
	/* "{...}" for values that were left out or packed, and for an empty array of a million braces. */
	if (total != e.n / (is_complex(e.dtype) ? 2 : 1) || (total == 0 && braces > EMPTY_BRACES)) {
		buf_adds(out, s->n_dimensions ? "{...}" : "0");
		return;
	}
	print_level(&e, s, stride, 0, 0);
}

void print_shaped_literal(struct buf *out, const Hlo__Literal *l)
{
	if (l->shape->element_type != DT_TUPLE) {
		print_shape(out, l->shape, true);
		buf_addch(out, ' ');
		print_literal(out, l);
		return;
	}
	buf_addch(out, '(');
	for (size_t i = 0; i < l->n_tuple_literals; i++) {
		buf_adds(out, i ? ", " : "");
		print_shaped_literal(out, l->tuple_literals[i]);
	}
	buf_addch(out, ')');
}
