/*
 * operand.c - reads operands: "(x, f32[4] y, t#1#0, negate(z))".
 *
 * An operand is either a name or an instruction without a name. A name may have a shape before it and
 * tuple indices after it. "t#1#0" stands for get-tuple-elements: they are made when the name first appears,
 * and found under it afterwards.
 */
#include <string.h>
#include "hlo/text/own.h"

#define OPERANDS_MAX (1u << 20)

/* "#i" after a name is the tuple's element: it is made once, and found under that name afterwards. */
static uint32_t element_of(struct text *p, struct scope *s, uint32_t from, const char *name, size_t n)
{
	Hlo__HloInstructionProto *tuple = s->ins.v[from];
	const char *at = p->tok.at;
	int64_t i = text_int(p);
	if (p->bad)
		return from;
	if (tuple->shape->element_type != DT_TUPLE || i < 0 || (size_t)i >= tuple->shape->n_tuple_shapes) {
		text_wrong_at(p, at, "there is no such element of %s", tuple->name);
		return from;
	}
	uint32_t known = names_get(&s->names, name, n);
	if (known != NAMES_NONE)
		return known;
	Hlo__HloInstructionProto *in = text_new_instruction(p, OP_GET_TUPLE_ELEMENT);
	in->shape = tuple->shape->tuple_shapes[i];
	in->tuple_index = i;
	in->n_operand_ids = 1;
	in->operand_ids = arena_alloc(p->mem, sizeof(int64_t));
	in->operand_ids[0] = from;
	return scope_add(p, s, in, name, n, at);
}

/* Takes an element for each "#" that follows the name. */
static uint32_t elements_of(struct text *p, struct scope *s, uint32_t from, const struct token *name)
{
	struct buf path = {0};
	buf_add(&path, name->s, name->n);
	while (text_accept(p, '#')) {
		buf_addf(&path, "#%.*s", (int)p->tok.n, p->tok.s);
		from = element_of(p, s, from, text_keep(p, path.data, path.len), path.len);
	}
	buf_release(&path);
	return from;
}

/* Reads a name after an optional shape. False, with nothing read, if an instruction stands here. */
static bool named(struct text *p, struct scope *s, struct int_list *out)
{
	struct token first = p->tok;
	const char *from = p->at;
	Hlo__ShapeProto *shape = text_at_shape(p) ? text_shape(p) : NULL;
	struct token name = p->tok;
	if (p->bad)
		return true;
	if ((!text_is(p, T_NAME) && !text_is(p, T_WORD)) || (text_is(p, T_WORD) && text_peek(p) == '(')) {
		p->tok = first;
		p->at = from;
		return false;
	}
	uint32_t i = names_get(&s->names, name.s, name.n);
	if (i == NAMES_NONE)
		return !text_wrong_at(p, name.at, "there is no instruction %.*s above this place",
			name.n > 80 ? 80 : (int)name.n, name.s);
	text_next(p);
	if (text_is(p, '#'))
		i = elements_of(p, s, i, &name);
	Hlo__HloInstructionProto *in = s->ins.v[i];
	if (shape && !p->bad && !shape_same(shape, in->shape))
		text_wrong_at(p, name.at, "%s does not have the shape that stands before it here", in->name);
	int_list_add(out, i);
	return true;
}

void text_operands(struct text *p, struct scope *s, struct int_list *out)
{
	if (text_enter(p))
		for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')')) {
			if (!named(p, s, out))
				text_nested(p, s, out);
			if (out->n > OPERANDS_MAX)
				text_wrong_at(p, p->tok.at, "no instruction has so many operands");
		}
	text_leave(p);
}
