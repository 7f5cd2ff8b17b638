/*
 * op.c - reads one instruction: "[ROOT] name = shape opcode(operands), attributes".
 *
 * The operation's row in hlo_op.def says how many operands and which attributes it has, and what its
 * shape is if the text has none. We check only what our own later code relies on; the rest is left
 * to the compiler.
 */
#include <string.h>
#include "hlo/op.h"
#include "hlo/text/own.h"

Hlo__HloInstructionProto *text_new_instruction(struct text *p, uint16_t op)
{
	Hlo__HloInstructionProto *in = text_message(p, &hlo__hlo_instruction_proto__descriptor);
	in->opcode = (char *)(uintptr_t)opcode_name(op);
	in->metadata = text_message(p, &hlo__op_metadata__descriptor);
	in->frontend_attributes = text_message(p, &hlo__frontend_attributes__descriptor);
	in->statistics_viz = text_message(p, &hlo__statistics_viz__descriptor);
	return in;
}

uint16_t text_opcode(const char *s, size_t n)
{
	char name[64];
	if (n >= sizeof(name))
		return OP_COUNT;
	memcpy(name, s, n);
	name[n] = '\0';
	uint16_t op = opcode_of(name);
	return op < OP_COUNT && hlo_words()->op[op].known ? op : OP_COUNT;
}

static void read_opcode(struct text *p, struct line *l)
{
	l->at = p->tok.at;
	l->op = l->wrapped = OP_COUNT;
	if (!text_is(p, T_WORD)) {
		text_expected(p, l->shape ? "an operation" : "a shape and an operation");
		return;
	}
	l->op = text_opcode(p->tok.s, p->tok.n);
	if (l->op == OP_COUNT && !async_opcode(l, p->tok.s, p->tok.n)) {
		text_wrong_at(p, l->at, "there is no operation %.*s", p->tok.n > 80 ? 80 : (int)p->tok.n, p->tok.s);
		l->op = OP_COUNT;
		return;
	}
	text_next(p);
}

void text_set_operands(struct text *p, Hlo__HloInstructionProto *in, const struct int_list *v)
{
	in->n_operand_ids = v->n;
	in->operand_ids = text_keep_ints(p, v);
}

void text_set_called(struct text *p, Hlo__HloInstructionProto *in, const struct ptr_list *called)
{
	in->n_called_computation_ids = called->n;
	in->called_computation_ids = called->n ? arena_alloc(p->mem, called->n * sizeof(int64_t)) : NULL;
	for (size_t i = 0; i < called->n; i++) {
		Hlo__HloComputationProto *c = called->v[i];
		in->called_computation_ids[i] = c->id;
		if (opcode_of(in->opcode) == OP_FUSION)
			c->is_fusion_computation = true;
	}
}

/* ---- checks ---- */

static bool is_operand_count(struct text *p, const struct line *l)
{
	int want = p->words->op[l->op].operands;
	if (want >= 0 && l->operands.n != (size_t)want)
		return text_wrong_at(p, l->at, "%s takes %d operand%s, not %zu", opcode_name(l->op), want,
			want == 1 ? "" : "s", l->operands.n);
	if (l->operands.n < opcode_facts(l->op)->operands)
		return text_wrong_at(p, l->at, "%s takes more operands than %zu", opcode_name(l->op), l->operands.n);
	return true;
}

static void check_conditional(struct text *p, const struct line *l, const struct attr_target *t)
{
	bool yes = attr_seen(t, "true_computation"), no = attr_seen(t, "false_computation");
	bool list = attr_seen(t, "branch_computations");
	if (l->operands.n == 0 || yes != no || yes == list)
		text_wrong_at(p, l->at, "a conditional has operands, and either true_computation and "
					"false_computation or branch_computations");
}

static void check(struct text *p, const struct line *l, const struct attr_target *t)
{
	uint16_t op = l->wrapped < OP_COUNT ? l->wrapped : l->op;
	const Hlo__HloInstructionProto *in = l->in;
	size_t n = l->operands.n;
	switch (op) {
	case OP_BROADCAST:
		if (n && in->n_dimensions != line_operand(l, 0)->shape->n_dimensions)
			text_wrong_at(p, l->at, "a broadcast needs "
				"dimensions={...}, one place for each of the operand's");
		break;
	case OP_CONDITIONAL: check_conditional(p, l, t); break;
	case OP_TUPLE:
		if (l->shape && (l->shape->element_type != DT_TUPLE || l->shape->n_tuple_shapes != n))
			text_wrong_at(p, l->at, "the shape of this tuple "
				"has another number of parts than its operands");
		break;
	case OP_CUSTOM_CALL:
		if (attr_seen(t, "operand_layout_constraints") && in->n_operand_shapes_with_layout != n)
			text_wrong_at(p, l->at, "operand_layout_constraints must have one shape for each operand");
		break;
	default: break;
	}
}

/* ---- attributes, and what follows from them ---- */

static void attributes(struct text *p, struct line *l, struct attr_target *t, bool allowed)
{
	const struct op_row *row = &p->words->op[l->op];
	const struct attr_set *sets[] = {&row->attrs, &p->words->common};
	bool is_async = async_is(l->op);
	if (!is_async)
		default_before(p, l->in, l->op, l->operands.n);
	if (!allowed && row->attrs.required)
		text_wrong_at(p, l->at, "%s needs attributes, so it must stand on a line of its own",
			opcode_name(l->op));
	else if (allowed && is_async)
		async_attrs(p, l, t);
	else if (allowed)
		text_attrs(p, t, sets, 2, ATTR_LIST);
}

/* If a tuple has a single sharding, gives it to each of the tuple's leaves. */
static void share_sharding(struct text *p, Hlo__HloInstructionProto *in)
{
	enum { TUPLE_SHARDING = 2 };
	Hlo__OpSharding *one = in->sharding;
	if (!one || in->shape->element_type != DT_TUPLE || one->type == TUPLE_SHARDING)
		return;
	Hlo__OpSharding *s = in->sharding = text_message(p, &hlo__op_sharding__descriptor);
	s->type = TUPLE_SHARDING;
	s->n_tuple_shardings = shape_leaves(in->shape);
	s->tuple_shardings = arena_alloc(p->mem, s->n_tuple_shardings * sizeof(one));
	for (size_t i = 0; i < s->n_tuple_shardings; i++)
		s->tuple_shardings[i] = one;
}

static void complete(struct text *p, struct line *l, const struct attr_target *t)
{
	struct ptr_list called = {0};
	attr_called(t, &called);
	if (t->extra)
		async_wrap(p, l, t->extra, &called);
	else if (async_is(l->op) && l->op != OP_ASYNC_START)
		called.n = 0; /* it calls the computation of its start */
	if (!p->bad)
		l->in->shape = infer_shape(p, l, &called);
	if (!p->bad) {
		default_after(p, l, l->in, l->op);
		check(p, l, t);
		text_set_called(p, l->in, &called);
		async_thread(l, &called);
		share_sharding(p, l->in);
	}
	mem_free(called.v);
}

/* ---- all together ---- */

static void parameter(struct text *p, struct line *l)
{
	text_expect(p, '(');
	l->in->parameter_number = text_int_in(p, 0, INT32_MAX);
	text_expect(p, ')');
}

/* A literal's elements are never packed, so the instruction's shape must not say that they are. */
static void unpack_elements(Hlo__ShapeProto *s)
{
	if (s->layout)
		s->layout->element_size_in_bits = 0;
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		unpack_elements(s->tuple_shapes[i]);
}

static void constant(struct text *p, struct line *l)
{
	text_expect(p, '(');
	if (l->shape)
		unpack_elements(l->shape);
	if (l->shape)
		l->in->literal = text_literal(p, l->shape);
	else
		text_wrong_at(p, l->at, "the shape of a constant must stand before it");
	text_expect(p, ')');
}

/* Reads shape, operation, operands and attributes; returns the index of the new instruction. */
static uint32_t right_side(struct text *p, struct scope *s, const char *name, size_t n, const char *at, bool allowed)
{
	struct line l = {.scope = s};
	struct attr_target t = {.scope = s};
	uint32_t index = 0;
	if (text_at_shape(p))
		l.shape = text_shape(p);
	read_opcode(p, &l);
	if (p->bad)
		return 0;
	t.message = l.in = text_new_instruction(p, l.op);
	if (l.op == OP_PARAMETER)
		parameter(p, &l);
	else if (l.op == OP_CONSTANT)
		constant(p, &l);
	else
		text_operands(p, s, &l.operands);
	if (!p->bad && is_operand_count(p, &l)) {
		attributes(p, &l, &t, allowed);
		complete(p, &l, &t);
	}
	if (!p->bad) {
		text_set_operands(p, l.in, &l.operands);
		index = scope_add(p, s, l.in, name, n, at);
	}
	attr_target_release(&t);
	mem_free(l.operands.v);
	return index;
}

void text_nested(struct text *p, struct scope *s, struct int_list *out)
{
	uint32_t i = right_side(p, s, NULL, 0, p->tok.at, false);
	if (!p->bad)
		int_list_add(out, i);
}

void text_instruction(struct text *p, struct scope *s)
{
	const char *at = p->tok.at;
	bool root = text_word_is(p, "ROOT");
	if (root) {
		text_next(p);
		if (s->root != NAMES_NONE)
			text_wrong_at(p, at, "this computation has a ROOT already");
	}
	at = p->tok.at;
	const char *name = p->tok.s;
	size_t n = p->tok.n;
	if (!text_is(p, T_NAME) && !text_is(p, T_WORD))
		text_expected(p, "an instruction, name = shape operation(operands), or \"}\"");
	text_next(p);
	text_expect(p, '=');
	uint32_t i = right_side(p, s, name, n, at, true);
	if (root && !p->bad)
		s->root = i;
}
