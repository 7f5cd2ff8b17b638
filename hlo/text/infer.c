/*
 * infer.c - finds the shape of an instruction where the text has none, or where XLA ignores it.
 *
 * The operation's row in hlo_op.def names the rule. Most operations must have a shape in the text,
 * because nothing else says what it holds. For some XLA computes the shape, whatever the text says.
 */
#include "hlo/text/own.h"

static Hlo__ShapeProto *pred_like(struct text *p, const Hlo__ShapeProto *of)
{
	Hlo__ShapeProto *s = arena_dup(p->mem, of, sizeof(*of));
	s->element_type = DT_PRED;
	return s;
}

static Hlo__ShapeProto *part_of(struct text *p, const struct line *l, int64_t i)
{
	Hlo__ShapeProto *s = l->operands.n ? line_operand(l, 0)->shape : NULL;
	if (s && s->element_type == DT_TUPLE && i >= 0 && (size_t)i < s->n_tuple_shapes)
		return s->tuple_shapes[i];
	text_wrong_at(p, l->at, "operand 0 is no tuple with an element %lld", (long long)i);
	return shape_simple(p, DT_TOKEN);
}

static Hlo__ShapeProto *tuple_of(struct text *p, const struct line *l, Hlo__ShapeProto *a, Hlo__ShapeProto *b,
	Hlo__ShapeProto *c)
{
	Hlo__ShapeProto *v[] = {a, b, c};
	return shape_tuple(p, v, c ? 3 : 2, l->at);
}

static Hlo__ShapeProto *of_all(struct text *p, const struct line *l)
{
	struct ptr_list v = {0};
	for (size_t i = 0; i < l->operands.n; i++)
		ptr_list_add(&v, line_operand(l, i)->shape);
	Hlo__ShapeProto *s = shape_tuple(p, (Hlo__ShapeProto **)v.v, v.n, l->at);
	mem_free(v.v);
	return s;
}

/* The first element of the shape in the text, for operations whose tuple XLA puts together itself. */
static Hlo__ShapeProto *given_part(struct text *p, const struct line *l)
{
	if (l->shape && l->shape->element_type == DT_TUPLE && l->shape->n_tuple_shapes)
		return l->shape->tuple_shapes[0];
	text_wrong_at(p, l->at, "%s needs a shape that is a tuple", opcode_name(l->op));
	return shape_simple(p, DT_TOKEN);
}

/* The shape by a rule that ignores the text; NULL if the operation has no such rule. */
static Hlo__ShapeProto *fixed(struct text *p, const struct line *l, Hlo__ShapeProto *first)
{
	switch (p->words->op[l->op].shape) {
	case SHAPE_TOKEN: return shape_simple(p, DT_TOKEN);
	case SHAPE_DEPENDENCY: return first;
	case SHAPE_INFEED: return tuple_of(p, l, given_part(p, l), shape_simple(p, DT_TOKEN), NULL);
	case SHAPE_RECV:
		return tuple_of(p, l, given_part(p, l), shape_simple(p, DT_U32), shape_simple(p, DT_TOKEN));
	case SHAPE_SEND: return tuple_of(p, l, first, shape_simple(p, DT_U32), shape_simple(p, DT_TOKEN));
	case SHAPE_RECV_DONE: return tuple_of(p, l, part_of(p, l, 0), shape_simple(p, DT_TOKEN), NULL);
	default: return NULL;
	}
}

/* The shape from the operands and called computations; NULL if the text must say it. */
static Hlo__ShapeProto *from_operands(struct text *p, const struct line *l, Hlo__ShapeProto *first,
	const struct ptr_list *called)
{
	switch (p->words->op[l->op].shape) {
	case SHAPE_FIRST: return first;
	case SHAPE_SECOND: return line_operand(l, 1)->shape;
	case SHAPE_LIKE: return pred_like(p, first);
	case SHAPE_TUPLE: return of_all(p, l);
	case SHAPE_ELEMENT: return part_of(p, l, l->in->tuple_index);
	case SHAPE_CALLED: return called->n ? ((Hlo__HloComputationProto *)called->v[0])->program_shape->result : NULL;
	case SHAPE_U32: return shape_simple(p, DT_U32);
	default: return NULL;
	}
}

Hlo__ShapeProto *infer_shape(struct text *p, const struct line *l, const struct ptr_list *called)
{
	Hlo__ShapeProto *first = l->operands.n > 0 ? line_operand(l, 0)->shape : NULL;
	Hlo__ShapeProto *s = fixed(p, l, first);
	if (!s)
		s = l->shape;
	if (!s)
		s = from_operands(p, l, first, called);
	if (!s) {
		text_wrong_at(p, l->at, "the shape of %s must stand before it", opcode_name(l->op));
		s = shape_simple(p, DT_TOKEN);
	}
	return s;
}
