/*
 * async.c - reads XLA's short form of instructions that start another one and do not wait for it.
 *
 * "dot-start", "dot-update" and "dot-done" stand for async-start, async-update and async-done of a
 * computation that holds only that dot. Reading the start makes this computation. Its parameters have
 * the operands' shapes, which the start's own shape lists: ((operands), result, ...). The attributes
 * belong to the wrapped operation. An update or a done calls the computation of its start, so the text
 * does not repeat it.
 */
#include <stdio.h>
#include <string.h>
#include "hlo/text/own.h"

static bool known_with(const char *s, size_t n, const char *suffix)
{
	char name[80];
	int k = snprintf(name, sizeof(name), "%.*s%s", (int)n, s, suffix);
	return k > 0 && (size_t)k < sizeof(name) && text_opcode(name, (size_t)k) != OP_COUNT;
}

/* Is it the short form? Not for operations that have a start or a done of their own. */
bool async_opcode(struct line *l, const char *s, size_t n)
{
	static const struct {
		const char *suffix;
		uint16_t op;
	} kinds[] = {{"-start", OP_ASYNC_START}, {"-update", OP_ASYNC_UPDATE}, {"-done", OP_ASYNC_DONE}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t k = strlen(kinds[i].suffix);
		if (n <= k || memcmp(s + n - k, kinds[i].suffix, k) != 0)
			continue;
		l->op = kinds[i].op;
		l->wrapped = text_opcode(s, n - k);
		return l->wrapped != OP_COUNT && !known_with(s, n - k, "-start") && !known_with(s, n - k, "-done");
	}
	return false;
}

bool async_is(uint16_t op)
{
	return op == OP_ASYNC_START || op == OP_ASYNC_UPDATE || op == OP_ASYNC_DONE;
}

void async_attrs(struct text *p, struct line *l, struct attr_target *t)
{
	bool start = l->op == OP_ASYNC_START;
	const struct op_row *own = &p->words->op[l->op];
	struct attr_set thread = own->attrs;
	if (l->wrapped < OP_COUNT && start)
		t->extra = text_new_instruction(p, l->wrapped);
	thread.required = 0;
	if (t->extra) {
		const struct attr_set *sets[] = {&p->words->op[l->wrapped].attrs, &p->words->common, &thread};
		size_t n = l->shape && l->shape->n_tuple_shapes ? l->shape->tuple_shapes[0]->n_tuple_shapes : 0;
		default_before(p, t->extra, l->wrapped, n);
		text_attrs(p, t, sets, 3, ATTR_LIST);
		return;
	}
	const struct attr_set *sets[] = {l->wrapped < OP_COUNT || !start ? &thread : &own->attrs, &p->words->common};
	text_attrs(p, t, sets, 2, ATTR_LIST);
}

/* Adds the parameters of the computation inside, which have these shapes. */
static void add_parameters(struct text *p, const struct line *l, struct scope *inside, const Hlo__ShapeProto *args,
	struct int_list *ids)
{
	for (size_t i = 0; i < args->n_tuple_shapes; i++) {
		char name[40];
		int n = snprintf(name, sizeof(name), i ? "async_param.%zu" : "async_param", i);
		Hlo__HloInstructionProto *in = text_new_instruction(p, OP_PARAMETER);
		in->shape = args->tuple_shapes[i];
		in->parameter_number = (int64_t)i;
		int_list_add(ids, scope_add(p, inside, in, text_keep(p, name, (size_t)n), (size_t)n, l->at));
		in->name = text_keep(p, "async_param", 11);
	}
}

void async_wrap(struct text *p, const struct line *l, Hlo__HloInstructionProto *root, struct ptr_list *called)
{
	Hlo__ShapeProto *s = l->shape;
	struct scope inside = {.comp = text_message(p, &hlo__hlo_computation_proto__descriptor)};
	struct int_list ids = {0};
	if (!s || s->element_type != DT_TUPLE || s->n_tuple_shapes < 2 || s->tuple_shapes[0]->element_type !=
		DT_TUPLE) {
		text_wrong_at(p, l->at, "the shape of a start must be ((operands), result, ...)");
		return;
	}
	add_parameters(p, l, &inside, s->tuple_shapes[0], &ids);
	text_set_operands(p, root, &ids);
	mem_free(ids.v);
	root->shape = s->tuple_shapes[1];
	default_after(p, l, root, l->wrapped);
	text_set_called(p, root, called);
	inside.root = scope_add(p, &inside, root, root->opcode, strlen(root->opcode), l->at);
	Hlo__HloComputationProto *c = text_close_scope(p, &inside, "async_wrapped");
	called->n = 0;
	if (c)
		ptr_list_add(called, c);
}

void async_thread(const struct line *l, const struct ptr_list *called)
{
	if (l->op == OP_ASYNC_START && called->n && *l->in->async_execution_thread)
		((Hlo__HloComputationProto *)called->v[0])->execution_thread = l->in->async_execution_thread;
}
