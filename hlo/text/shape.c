/*
 * shape.c - reads shapes and layouts.
 *
 *	f32[8,<=16]{1,0:T(8,128)S(1)}	an array; "<=" bounds a dynamic size, "?" is any size
 *	(f32[2], token[])		a tuple
 *	b(f32[2]{0})			a buffer
 *
 * An array without a layout gets the usual one, last dimension first, as XLA's own reader does.
 */
#include <string.h>
#include "hlo/text/own.h"

#define LEAVES_MAX 16384 /* in a tuple that the text does not spell out */

bool text_at_shape(const struct text *p)
{
	return text_is(p, '(') || (text_word_is(p, "b") && text_peek(p) == '(') ||
	       (text_is(p, T_WORD) && dtype_of(p->tok.s, p->tok.n) != DT_INVALID);
}

static bool is_array(const Hlo__ShapeProto *s)
{
	return dtype_bits((uint8_t)s->element_type) != 0;
}

static Hlo__Layout *new_layout(struct text *p)
{
	Hlo__Layout *l = text_message(p, &hlo__layout__descriptor);
	l->tail_padding_alignment_in_elements = 1;
	return l;
}

static void usual_layout(struct text *p, Hlo__ShapeProto *s)
{
	if (!is_array(s))
		return;
	s->layout = new_layout(p);
	s->layout->n_minor_to_major = s->n_dimensions;
	s->layout->minor_to_major = s->n_dimensions ? arena_alloc(p->mem, s->n_dimensions * sizeof(int64_t)) : NULL;
	for (size_t i = 0; i < s->n_dimensions; i++)
		s->layout->minor_to_major[i] = (int64_t)(s->n_dimensions - 1 - i);
}

Hlo__ShapeProto *shape_simple(struct text *p, uint8_t dtype)
{
	Hlo__ShapeProto *s = text_message(p, &hlo__shape_proto__descriptor);
	s->element_type = dtype;
	usual_layout(p, s);
	return s;
}

static void dimensions(struct text *p, Hlo__ShapeProto *s)
{
	int64_t size[RANK_LIMIT];
	bool dynamic[RANK_LIMIT];
	size_t n = 0;
	for (bool more = text_first(p, '[', ']'); more; more = text_again(p, ']')) {
		if (n == RANK_LIMIT) {
			text_wrong_at(p, p->tok.at, "an array has at most %d dimensions", RANK_LIMIT);
			return;
		}
		dynamic[n] = true;
		if (text_accept(p, '?')) {
			size[n++] = INT64_MIN;
			continue;
		}
		dynamic[n] = text_accept(p, T_ATMOST);
		size[n++] = text_int_in(p, 0, INT64_MAX);
	}
	if (n == 0)
		return;
	s->dimensions = arena_dup(p->mem, size, n * sizeof(*size));
	s->is_dynamic_dimension = arena_alloc(p->mem, n * sizeof(*s->is_dynamic_dimension));
	for (size_t i = 0; i < n; i++)
		s->is_dynamic_dimension[i] = dynamic[i];
	s->n_dimensions = s->n_is_dynamic_dimension = n;
}

/* T(8,128)(2,1): "*" combines a dimension with the next; the message has -2^63 for it. */
static void tiles(struct text *p, Hlo__Layout *l)
{
	struct ptr_list list = {0};
	do {
		Hlo__Tile *t = text_message(p, &hlo__tile__descriptor);
		p->ints.n = 0;
		for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')'))
			int_list_add(&p->ints, text_accept(p, '*') ? INT64_MIN : text_int(p));
		t->n_dimensions = p->ints.n;
		t->dimensions = text_keep_ints(p, &p->ints);
		ptr_list_add(&list, t);
	} while (text_is(p, '('));
	l->n_tiles = list.n;
	l->tiles = (Hlo__Tile **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

static void splits(struct text *p, Hlo__Layout *l)
{
	struct ptr_list list = {0};
	do {
		Hlo__SplitConfig *c = text_message(p, &hlo__split_config__descriptor);
		text_expect(p, '(');
		c->dimension = text_int(p);
		p->ints.n = 0;
		for (bool more = text_first(p, ':', ')'); more; more = text_again(p, ')'))
			int_list_add(&p->ints, text_int(p));
		c->n_split_indices = p->ints.n;
		c->split_indices = text_keep_ints(p, &p->ints);
		ptr_list_add(&list, c);
	} while (text_is(p, '('));
	l->n_split_configs = list.n;
	l->split_configs = (Hlo__SplitConfig **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

static int64_t in_parens(struct text *p)
{
	text_expect(p, '(');
	int64_t v = text_int(p);
	text_expect(p, ')');
	return v;
}

static int32_t type_in_parens(struct text *p)
{
	text_expect(p, '(');
	uint8_t t = dtype_of(p->tok.s, p->tok.n);
	if (!text_is(p, T_WORD) || *p->tok.s != 'u' || t == DT_INVALID)
		text_expected(p, "an unsigned integer type");
	text_next(p);
	text_expect(p, ')');
	return t;
}

/* D(D,C+~) says how dimensions are stored; like XLA, we read it and keep nothing. */
static void storage(struct text *p)
{
	for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')')) {
		if (!text_is(p, T_WORD) || p->tok.n != 1 || !strchr("DCSH", *p->tok.s))
			text_expected(p, "D, C, S or H");
		text_next(p);
		text_accept(p, '+');
		text_accept(p, '~');
	}
}

static bool part(struct text *p, const char *word)
{
	if (!text_word_is(p, word))
		return false;
	text_next(p);
	return true;
}

/* Reads what follows the colon: each part at most once, in this order. */
static void layout_parts(struct text *p, Hlo__Layout *l)
{
	if (part(p, "D"))
		storage(p);
	if (part(p, "T"))
		tiles(p, l);
	if (part(p, "L"))
		l->tail_padding_alignment_in_elements = in_parens(p);
	if (text_accept(p, '#'))
		l->index_primitive_type = type_in_parens(p);
	if (text_accept(p, '*'))
		l->pointer_primitive_type = type_in_parens(p);
	if (part(p, "E"))
		l->element_size_in_bits = in_parens(p);
	if (part(p, "S"))
		l->memory_space = in_parens(p);
	if (part(p, "SC"))
		splits(p, l);
	if (text_word_is(p, "P"))
		text_wrong_at(p, p->tok.at, "physical shapes belong to sparse arrays, which XLA no longer has");
	if (part(p, "M"))
		l->dynamic_shape_metadata_prefix_bytes = in_parens(p);
}

static void layout(struct text *p, Hlo__ShapeProto *s)
{
	const char *at = p->tok.at;
	Hlo__Layout *l = new_layout(p);
	text_expect(p, '{');
	p->ints.n = 0;
	if (text_is(p, T_INT))
		do
			int_list_add(&p->ints, text_int(p));
		while (text_accept(p, ','));
	if (p->ints.n != s->n_dimensions)
		text_wrong_at(p, at, "this layout has %zu dimensions, but the array has %zu", p->ints.n,
			s->n_dimensions);
	uint64_t seen = 0;
	for (size_t i = 0; i < p->ints.n && !p->bad; i++) {
		if (p->ints.v[i] < 0 || (size_t)p->ints.v[i] >= s->n_dimensions || seen >> p->ints.v[i] & 1)
			text_wrong_at(p, at, "a layout names each dimension, from 0 to %zu, once", s->n_dimensions - 1);
		else
			seen |= UINT64_C(1) << p->ints.v[i];
	}
	l->n_minor_to_major = p->ints.n;
	l->minor_to_major = text_keep_ints(p, &p->ints);
	if (text_accept(p, ':'))
		layout_parts(p, l);
	text_expect(p, '}');
	s->layout = l;
}

/* A brace after an array opens a layout if a digit or colon follows; otherwise it opens a computation or a literal. */
static bool at_layout(const struct text *p)
{
	char c = text_is(p, '{') ? text_peek(p) : 0;
	return (c >= '0' && c <= '9') || c == ':';
}

static void array(struct text *p, Hlo__ShapeProto *s)
{
	uint8_t dtype = text_is(p, T_WORD) ? dtype_of(p->tok.s, p->tok.n) : DT_INVALID;
	if (dtype == DT_INVALID) {
		text_expected(p, "a shape, such as f32[2,3] or (f32[], s32[4])");
		return;
	}
	s->element_type = dtype;
	text_next(p);
	const char *at = p->tok.at;
	dimensions(p, s);
	if (s->n_dimensions && !is_array(s))
		text_wrong_at(p, at, "%s has no dimensions", dtype_name(dtype));
	if (at_layout(p))
		layout(p, s);
	else
		usual_layout(p, s);
}

Hlo__ShapeProto *text_shape(struct text *p)
{
	Hlo__ShapeProto *s = text_message(p, &hlo__shape_proto__descriptor);
	struct ptr_list inside = {0};
	if (!text_enter(p)) {
		text_leave(p);
		return s;
	}
	if (text_is(p, '(')) {
		s->element_type = DT_TUPLE;
		for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')'))
			ptr_list_add(&inside, text_shape(p));
	} else if (text_word_is(p, "b") && text_peek(p) == '(') {
		s->element_type = DT_BUFFER;
		text_next(p);
		text_expect(p, '(');
		const char *at = p->tok.at;
		ptr_list_add(&inside, text_shape(p));
		if (!is_array(inside.v[0]))
			text_wrong_at(p, at, "a buffer holds an array");
		text_expect(p, ')');
	} else {
		array(p, s);
	}
	s->n_tuple_shapes = inside.n;
	s->tuple_shapes = (Hlo__ShapeProto **)text_keep_ptrs(p, &inside);
	mem_free(inside.v);
	text_leave(p);
	return s;
}

/* Counts leaves, up to `limit`; SIZE_MAX when nested too deep. */
static size_t count(const Hlo__ShapeProto *s, size_t limit, int depth)
{
	size_t n = 0;
	if (depth > HLO_TEXT_DEPTH)
		return SIZE_MAX / 2;
	if (s->element_type != DT_TUPLE)
		return 1;
	for (size_t i = 0; i < s->n_tuple_shapes && n <= limit; i++)
		n += 1 + count(s->tuple_shapes[i], limit, depth + 1);
	return n;
}

Hlo__ShapeProto *shape_tuple(struct text *p, Hlo__ShapeProto **v, size_t n, const char *at)
{
	Hlo__ShapeProto *s = text_message(p, &hlo__shape_proto__descriptor);
	s->element_type = DT_TUPLE;
	s->n_tuple_shapes = n;
	s->tuple_shapes = n ? arena_dup(p->mem, v, n * sizeof(*v)) : NULL;
	if (count(s, LEAVES_MAX, 0) > LEAVES_MAX) {
		text_wrong_at(p, at, "this would be a tuple of more than %d parts; no program needs that", LEAVES_MAX);
		s->n_tuple_shapes = 0;
	}
	return s;
}
