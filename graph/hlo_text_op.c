/*
 * hlo_text_op.c - one instruction: "[ROOT] name = shape opcode(operands), attributes".
 *
 * The operation's row of hlo_op.def says how many operands it has, which attributes, and what its
 * shape is if the text has none. An operand is a name, with or without a shape before it and
 * tuple indices behind it (x#1#0), or an instruction of its own without a name.
 *
 * "dot-start", "dot-update" and "dot-done" are short for async-start, async-update and async-done of
 * a computation that does the one thing: the start makes the computation, from its operands' shapes,
 * and its attributes are the wrapped operation's.
 */
#include <stdio.h>
#include <string.h>
#include "graph/graph_own.h"
#include "graph/hlo_text_own.h"

#define OPERANDS_MAX (1u << 20)

/* What is known of an instruction before its attributes. */
struct line {
	struct scope *scope;
	Hlo__HloInstructionProto *in;
	Hlo__ShapeProto *shape; /* as written, or NULL */
	uint16_t op, wrapped;	/* OP_COUNT: wraps nothing */
	const char *at;		/* of the opcode */
	struct int_list operands;
};

static Hlo__HloInstructionProto *new_instruction(struct text *p, uint16_t op)
{
	Hlo__HloInstructionProto *in = text_message(p, &hlo__hlo_instruction_proto__descriptor);
	in->opcode = (char *)(uintptr_t)opcode_name(op);
	in->metadata = text_message(p, &hlo__op_metadata__descriptor);
	in->frontend_attributes = text_message(p, &hlo__frontend_attributes__descriptor);
	in->statistics_viz = text_message(p, &hlo__statistics_viz__descriptor);
	return in;
}

static Hlo__HloInstructionProto *operand(const struct line *l, size_t i)
{
	return l->scope->ins.v[l->operands.v[i]];
}

/* ---- operands ---- */

/* "#i" behind a name: the tuple's element, made once and known by that name from then on. */
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
	Hlo__HloInstructionProto *in = new_instruction(p, OP_GET_TUPLE_ELEMENT);
	in->shape = tuple->shape->tuple_shapes[i];
	in->tuple_index = i;
	in->n_operand_ids = 1;
	in->operand_ids = arena_alloc(p->mem, sizeof(int64_t));
	in->operand_ids[0] = from;
	return scope_add(p, s, in, name, n, at);
}

static void nested(struct text *p, struct scope *s, struct int_list *out);

/* A name behind an optional shape. False, with nothing read, if this is no name but an instruction. */
static bool named_operand(struct text *p, struct scope *s, struct int_list *out)
{
	struct token tok = p->tok;
	const char *from = p->at, *at = tok.at;
	Hlo__ShapeProto *shape = text_at_shape(p) ? text_shape(p) : NULL;
	if (p->bad)
		return true;
	at = p->tok.at;
	char next = text_is(p, T_WORD) ? text_peek(p) : 0;
	if ((!text_is(p, T_NAME) && !text_is(p, T_WORD)) || next == '(') {
		p->tok = tok;
		p->at = from;
		return false;
	}
	const char *name = p->tok.s, *end = p->tok.s + p->tok.n;
	uint32_t i = names_get(&s->names, name, (size_t)(end - name));
	if (i == NAMES_NONE) {
		text_wrong_at(p, at, "there is no instruction %.*s above this place", end - name > 80 ? 80 : (int)(end - name),
			name);
		return true;
	}
	text_next(p);
	struct buf path = {0};
	while (text_is(p, '#')) {
		text_next(p);
		if (!path.len)
			buf_add(&path, name, (size_t)(end - name));
		buf_addf(&path, "#%.*s", (int)p->tok.n, p->tok.s);
		i = element_of(p, s, i, text_keep(p, path.data, path.len), path.len);
	}
	buf_release(&path);
	Hlo__HloInstructionProto *in = s->ins.v[i];
	if (shape && !p->bad && !shape_same(shape, in->shape))
		text_wrong_at(p, at, "%s does not have the shape that stands before it here",
			in->name);
	int_list_add(out, i);
	return true;
}

static void operands(struct text *p, struct scope *s, struct int_list *out)
{
	if (text_enter(p))
		for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')')) {
			if (!named_operand(p, s, out))
				nested(p, s, out);
			if (out->n > OPERANDS_MAX)
				text_wrong_at(p, p->tok.at, "no instruction has so many operands");
		}
	text_leave(p);
}

/* ---- opcodes ---- */

static uint16_t opcode_in(const char *s, size_t n)
{
	char name[64];
	if (n >= sizeof(name))
		return OP_COUNT;
	memcpy(name, s, n);
	name[n] = '\0';
	uint16_t op = opcode_of(name);
	return op < OP_COUNT && hlo_words()->op[op].known ? op : OP_COUNT;
}

/* x-start, x-update and x-done, but of the operations that have such names of their own. */
static bool async_opcode(struct line *l, const char *s, size_t n)
{
	static const struct {
		const char *suffix;
		uint16_t op;
	} kinds[] = {{"-start", OP_ASYNC_START}, {"-update", OP_ASYNC_UPDATE}, {"-done", OP_ASYNC_DONE}};
	for (size_t i = 0; i < 3; i++) {
		size_t k = strlen(kinds[i].suffix);
		if (n <= k || memcmp(s + n - k, kinds[i].suffix, k) != 0)
			continue;
		l->op = kinds[i].op;
		l->wrapped = opcode_in(s, n - k);
		return l->wrapped != OP_COUNT && l->wrapped != OP_ALL_GATHER && l->wrapped != OP_ALL_REDUCE &&
		       l->wrapped != OP_COLLECTIVE_PERMUTE && l->wrapped != OP_COPY && l->wrapped != OP_RECV &&
		       l->wrapped != OP_SEND;
	}
	return false;
}

static void read_opcode(struct text *p, struct line *l)
{
	l->at = p->tok.at;
	l->op = l->wrapped = OP_COUNT;
	if (!text_is(p, T_WORD)) {
		text_expected(p, l->shape ? "an operation" : "a shape and an operation");
		return;
	}
	l->op = opcode_in(p->tok.s, p->tok.n);
	if (l->op == OP_COUNT && !async_opcode(l, p->tok.s, p->tok.n)) {
		text_wrong_at(p, l->at, "there is no operation %.*s", p->tok.n > 80 ? 80 : (int)p->tok.n, p->tok.s);
		l->op = OP_COUNT;
		return;
	}
	text_next(p);
}

/* ---- shapes ---- */

static Hlo__ShapeProto *pred_like(struct text *p, const Hlo__ShapeProto *of)
{
	Hlo__ShapeProto *s = arena_dup(p->mem, of, sizeof(*of));
	s->element_type = DT_PRED;
	return s;
}

static Hlo__ShapeProto *part_of(struct text *p, const struct line *l, int64_t i)
{
	Hlo__ShapeProto *s = l->operands.n ? operand(l, 0)->shape : NULL;
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
		ptr_list_add(&v, operand(l, i)->shape);
	Hlo__ShapeProto *s = shape_tuple(p, (Hlo__ShapeProto **)v.v, v.n, l->at);
	mem_free(v.v);
	return s;
}

static Hlo__ShapeProto *result_of(const Hlo__HloComputationProto *c)
{
	return c->program_shape->result;
}

/* The first element that the text gives, for those whose tuples XLA puts together by itself. */
static Hlo__ShapeProto *given_part(struct text *p, const struct line *l)
{
	if (l->shape && l->shape->element_type == DT_TUPLE && l->shape->n_tuple_shapes)
		return l->shape->tuple_shapes[0];
	text_wrong_at(p, l->at, "%s needs a shape that is a tuple", opcode_name(l->op));
	return shape_simple(p, DT_TOKEN);
}

static Hlo__ShapeProto *shape_for(struct text *p, const struct line *l, const struct ptr_list *called)
{
	enum shape_rule rule = p->words->op[l->op].shape;
	Hlo__ShapeProto *first = l->operands.n > 0 ? operand(l, 0)->shape : NULL;
	switch (rule) {
	case SHAPE_TOKEN: return shape_simple(p, DT_TOKEN);
	case SHAPE_DEPENDENCY: return first;
	case SHAPE_INFEED: return tuple_of(p, l, given_part(p, l), shape_simple(p, DT_TOKEN), NULL);
	case SHAPE_RECV:
		return tuple_of(p, l, given_part(p, l), shape_simple(p, DT_U32), shape_simple(p, DT_TOKEN));
	case SHAPE_SEND: return tuple_of(p, l, first, shape_simple(p, DT_U32), shape_simple(p, DT_TOKEN));
	case SHAPE_RECV_DONE: return tuple_of(p, l, part_of(p, l, 0), shape_simple(p, DT_TOKEN), NULL);
	default: break;
	}
	if (l->shape)
		return l->shape;
	switch (rule) {
	case SHAPE_FIRST: return first;
	case SHAPE_SECOND: return operand(l, 1)->shape;
	case SHAPE_LIKE: return pred_like(p, first);
	case SHAPE_TUPLE: return of_all(p, l);
	case SHAPE_ELEMENT: return part_of(p, l, l->in->tuple_index);
	case SHAPE_CALLED:
		if (called->n)
			return result_of(called->v[0]);
		break;
	default: break;
	}
	if (l->op == OP_REPLICA_ID || l->op == OP_PARTITION_ID)
		return shape_simple(p, DT_U32);
	text_wrong_at(p, l->at, "the shape of %s must stand before it", opcode_name(l->op));
	return shape_simple(p, DT_TOKEN);
}

/* ---- what operations add ---- */

static void default_precision(struct text *p, Hlo__HloInstructionProto *in, size_t n)
{
	if (!in->precision_config)
		in->precision_config = text_message(p, &hlo__precision_config__descriptor);
	in->precision_config->n_operand_precision = n;
	in->precision_config->operand_precision = ARENA_NEW(p->mem, n, int32_t);
}

static void make(struct text *p, void *to, const ProtobufCMessageDescriptor *d)
{
	void *old;
	memcpy(&old, to, sizeof(old));
	if (!old) {
		old = text_message(p, d);
		memcpy(to, &old, sizeof(old));
	}
}

static const char *comparison_of(const Hlo__ShapeProto *s)
{
	const char *name = dtype_name((uint8_t)s->element_type);
	return *name == 's' ? "SIGNED" : *name == 'u' || *name == 'p' ? "UNSIGNED" : "FLOAT";
}

/* Messages and values that are there whether or not the text says so; before the attributes. */
static void defaults(struct text *p, Hlo__HloInstructionProto *in, uint16_t op, size_t n_operands)
{
	const struct op_row *row = &p->words->op[op];
	for (int i = 0; i < row->attrs.n; i++) {
		const struct attr_row *a = &p->words->attr[row->attrs.row[i]];
		if (a->form == FORM_DEVICES)
			in->collective_device_list = text_message(p, &hlo__collective_device_list__descriptor);
		if (strcmp(a->name, "feature_group_count") == 0)
			in->feature_group_count = in->batch_group_count = 1;
		if (strcmp(a->name, "operand_precision") == 0)
			default_precision(p, in, op == OP_RAGGED_DOT || op == OP_SCALED_DOT ? 2 : n_operands);
		if (strcmp(a->name, "is_associative") == 0)
			in->is_associative = 2;
		if (strcmp(a->name, "api_version") == 0)
			in->custom_call_api_version = 1;
	}
	if (op == OP_TOPK)
		in->largest = in->is_stable = true;
}

/* The same, after them. */
static void complete(struct text *p, struct line *l, Hlo__HloInstructionProto *in, uint16_t op)
{
	switch (op) {
	case OP_CONVOLUTION:
	case OP_REDUCE_WINDOW:
	case OP_SELECT_AND_SCATTER:
		make(p, &in->window, &hlo__window__descriptor);
		if (op == OP_CONVOLUTION && !in->sparsity_config)
			in->sparsity_config = text_message(p, &hlo__sparsity_config__descriptor);
		break;
	case OP_DOT:
	case OP_SCALED_DOT:
		make(p, &in->dot_dimension_numbers, &hlo__dot_dimension_numbers__descriptor);
		break;
	case OP_RAGGED_DOT:
		make(p, &in->ragged_dot_dimension_numbers, &hlo__ragged_dot_dimension_numbers__descriptor);
		make(p, &in->ragged_dot_dimension_numbers->dot_dimension_numbers,
			&hlo__dot_dimension_numbers__descriptor);
		break;
	case OP_TRIANGULAR_SOLVE:
		make(p, &in->triangular_solve_options, &hlo__triangular_solve_options__descriptor);
		break;
	case OP_CHOLESKY: make(p, &in->cholesky_options, &hlo__cholesky_options__descriptor); break;
	case OP_COMPARE:
		if (!*in->comparison_type && l->operands.n)
			in->comparison_type = (char *)(uintptr_t)comparison_of(operand(l, 0)->shape);
		break;
	case OP_OUTFEED:
		if (!in->outfeed_shape && l->operands.n)
			in->outfeed_shape = operand(l, 0)->shape;
		break;
	case OP_MAP: /* XLA counts dimensions itself, whatever the text says */
		in->n_dimensions = in->shape->n_dimensions;
		in->dimensions = in->n_dimensions ? arena_alloc(p->mem, in->n_dimensions * sizeof(int64_t)) : NULL;
		for (size_t i = 0; i < in->n_dimensions; i++)
			in->dimensions[i] = (int64_t)i;
		break;
	case OP_ASYNC_START:
		if (strcmp(in->async_execution_thread, "main") == 0)
			in->async_execution_thread = text_keep(p, "", 0);
		break;
	case OP_ASYNC_UPDATE:
	case OP_ASYNC_DONE:
		in->async_execution_thread = text_keep(p, "", 0); /* its start's */
		break;
	default: break;
	}
}

/* What must hold for anything later to make sense of it; the rest is the compiler's to check. */
static void check(struct text *p, const struct line *l, const struct attr_target *t, Hlo__HloInstructionProto *in)
{
	uint16_t op = l->wrapped < OP_COUNT ? l->wrapped : l->op;
	size_t n = l->operands.n;
	switch (op) {
	case OP_BROADCAST:
		if (n && in->n_dimensions != operand(l, 0)->shape->n_dimensions)
			text_wrong_at(p, l->at, "a broadcast needs dimensions={...}, one place for each of the operand's");
		break;
	case OP_CONDITIONAL: {
		bool two = attr_seen(t, "true_computation") && attr_seen(t, "false_computation");
		bool any = attr_seen(t, "true_computation") || attr_seen(t, "false_computation");
		if (n == 0 || (!two && !attr_seen(t, "branch_computations")) || (any && attr_seen(t, "branch_computations")) ||
			any != two)
			text_wrong_at(p, l->at, "a conditional has operands, and either true_computation and "
						"false_computation or branch_computations");
		break;
	}
	case OP_TUPLE:
		if (l->shape && (l->shape->element_type != DT_TUPLE || l->shape->n_tuple_shapes != n))
			text_wrong_at(p, l->at, "the shape of this tuple has another number of parts than its operands");
		break;
	case OP_CUSTOM_CALL:
		if (attr_seen(t, "operand_layout_constraints") && in->n_operand_shapes_with_layout != n)
			text_wrong_at(p, l->at, "operand_layout_constraints must have one shape for each operand");
		break;
	default: break;
	}
}

static void set_operands(struct text *p, Hlo__HloInstructionProto *in, const struct int_list *v)
{
	in->n_operand_ids = v->n;
	in->operand_ids = text_keep_ints(p, v);
}

static void set_called(struct text *p, Hlo__HloInstructionProto *in, const struct ptr_list *called)
{
	in->n_called_computation_ids = called->n;
	in->called_computation_ids = called->n ? arena_alloc(p->mem, called->n * sizeof(int64_t)) : NULL;
	for (size_t i = 0; i < called->n; i++) {
		Hlo__HloComputationProto *c = called->v[i];
		in->called_computation_ids[i] = c->id;
		if (strcmp(in->opcode, "fusion") == 0)
			c->is_fusion_computation = true;
	}
}

/* ---- async ---- */

/* The computation that a wrapped operation runs in; `root` holds what its attributes said. */
static Hlo__HloComputationProto *wrap(struct text *p, const struct line *l, Hlo__HloInstructionProto *root)
{
	Hlo__ShapeProto *s = l->shape, *args;
	struct scope inside = {.comp = text_message(p, &hlo__hlo_computation_proto__descriptor)};
	struct int_list ids = {0};
	if (!s || s->element_type != DT_TUPLE || s->n_tuple_shapes < 2 || s->tuple_shapes[0]->element_type != DT_TUPLE) {
		text_wrong_at(p, l->at, "the shape of a start must be ((operands), result, ...)");
		return NULL;
	}
	args = s->tuple_shapes[0];
	for (size_t i = 0; i < args->n_tuple_shapes; i++) {
		char name[40];
		int n = snprintf(name, sizeof(name), i ? "async_param.%zu" : "async_param", i);
		Hlo__HloInstructionProto *in = new_instruction(p, OP_PARAMETER);
		in->shape = args->tuple_shapes[i];
		in->parameter_number = (int64_t)i;
		int_list_add(&ids, scope_add(p, &inside, in, text_keep(p, name, (size_t)n), (size_t)n, l->at));
		in->name = text_keep(p, "async_param", 11);
	}
	root->shape = s->tuple_shapes[1];
	set_operands(p, root, &ids);
	mem_free(ids.v);
	inside.root = scope_add(p, &inside, root, root->opcode, strlen(root->opcode), l->at);
	return text_close_scope(p, &inside, "async_wrapped");
}

/* A computation run by an async operation runs on that operation's thread. */
static void set_thread(struct text *p, struct line *l, const struct ptr_list *called)
{
	if (l->op == OP_ASYNC_START && called->n && *l->in->async_execution_thread)
		((Hlo__HloComputationProto *)called->v[0])->execution_thread = l->in->async_execution_thread;
	(void)p;
}

static void async(struct text *p, struct line *l, struct attr_target *t)
{
	bool start = l->op == OP_ASYNC_START;
	const struct op_row *own = &p->words->op[l->op];
	struct attr_set thread = own->attrs;
	if (l->wrapped < OP_COUNT && start)
		t->extra = new_instruction(p, l->wrapped);
	thread.required = 0;
	if (t->extra) {
		const struct attr_set *sets[] = {&p->words->op[l->wrapped].attrs, &p->words->common, &thread};
		size_t n = l->shape && l->shape->n_tuple_shapes ? l->shape->tuple_shapes[0]->n_tuple_shapes : 0;
		defaults(p, t->extra, l->wrapped, n);
		text_attrs(p, t, sets, 3, ATTR_LIST);
		return;
	}
	const struct attr_set *sets[] = {l->wrapped < OP_COUNT || !start ? &thread : &own->attrs, &p->words->common};
	text_attrs(p, t, sets, 2, ATTR_LIST);
}

/* ---- all together ---- */

static void attributes(struct text *p, struct line *l, bool allowed)
{
	const struct op_row *row = &p->words->op[l->op];
	const struct attr_set *sets[] = {&row->attrs, &p->words->common};
	struct attr_target t = {.message = l->in, .scope = l->scope};
	struct ptr_list called = {0};
	bool is_async = l->op == OP_ASYNC_START || l->op == OP_ASYNC_UPDATE || l->op == OP_ASYNC_DONE;
	if (!is_async)
		defaults(p, l->in, l->op, l->operands.n);
	if (!allowed && row->attrs.required)
		text_wrong_at(p, l->at, "%s needs attributes, so it must stand on a line of its own", opcode_name(l->op));
	else if (allowed && is_async)
		async(p, l, &t);
	else if (allowed)
		text_attrs(p, &t, sets, 2, ATTR_LIST);
	attr_called(&t, &called);
	if (t.extra) {
		set_called(p, t.extra, &called);
		complete(p, l, t.extra, l->wrapped);
		called.n = 0;
		Hlo__HloComputationProto *c = wrap(p, l, t.extra);
		if (c)
			ptr_list_add(&called, c);
	} else if (is_async && l->op != OP_ASYNC_START) {
		called.n = 0; /* that of its start */
	}
	if (!p->bad)
		l->in->shape = shape_for(p, l, &called);
	if (!p->bad) {
		complete(p, l, l->in, l->op);
		check(p, l, &t, l->in);
		set_called(p, l->in, &called);
		set_thread(p, l, &called);
	}
	if (!p->bad && l->in->sharding && l->in->shape->element_type == DT_TUPLE && l->in->sharding->type != 2) {
		Hlo__OpSharding *s = text_message(p, &hlo__op_sharding__descriptor), *one = l->in->sharding;
		s->type = 2; /* one for all leaves */
		s->n_tuple_shardings = shape_leaves(l->in->shape);
		s->tuple_shardings = arena_alloc(p->mem, s->n_tuple_shardings * sizeof(one));
		for (size_t i = 0; i < s->n_tuple_shardings; i++)
			s->tuple_shardings[i] = one;
		l->in->sharding = s;
	}
	mem_free(called.v);
	attr_target_release(&t);
}

static void parameter(struct text *p, struct line *l)
{
	text_expect(p, '(');
	l->in->parameter_number = text_int_in(p, 0, INT32_MAX);
	text_expect(p, ')');
}

/* Literals know no packed elements, so the instruction has none either. */
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

/* Shape, operation, operands and attributes; the index of the new instruction. */
static uint32_t right_side(struct text *p, struct scope *s, const char *name, size_t n, const char *at, bool allowed)
{
	struct line l = {.scope = s};
	uint32_t index = 0;
	if (text_at_shape(p))
		l.shape = text_shape(p);
	read_opcode(p, &l);
	if (p->bad)
		return 0;
	l.in = new_instruction(p, l.op);
	if (l.op == OP_PARAMETER)
		parameter(p, &l);
	else if (l.op == OP_CONSTANT)
		constant(p, &l);
	else
		operands(p, s, &l.operands);
	int want = p->words->op[l.op].operands;
	if (!p->bad && want >= 0 && l.operands.n != (size_t)want)
		text_wrong_at(p, l.at, "%s takes %d operand%s, not %zu", opcode_name(l.op), want, want == 1 ? "" : "s",
			l.operands.n);
	if (!p->bad && l.operands.n < opcode_facts(l.op)->operands)
		text_wrong_at(p, l.at, "%s takes more operands than %zu", opcode_name(l.op), l.operands.n);
	if (!p->bad)
		attributes(p, &l, allowed);
	if (!p->bad) {
		set_operands(p, l.in, &l.operands);
		index = scope_add(p, s, l.in, name, n, at);
	}
	mem_free(l.operands.v);
	return index;
}

/* An instruction that stands where an operand should. */
static void nested(struct text *p, struct scope *s, struct int_list *out)
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
