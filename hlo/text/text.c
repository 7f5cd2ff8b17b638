/*
 * text.c - reads computations and the module, around the instructions of op.c.
 *
 *	HloModule name, attributes
 *	FileNames ... FunctionNames ... FileLocations ... StackFrames ...
 *	[ENTRY] name (parameters) -> shape { instructions }, execution_thread="x"
 *
 * The header may be missing. If no computation is marked ENTRY, the last one is the entry. A name must
 * stand above its use. Ids and orders are XLA's:
 * - The id of a computation is its position in the text; one in braces inside an instruction counts
 *   before the computation around it.
 * - The id of an instruction is its computation's id times 2^32 plus its position.
 * - A computation lists each instruction after everything that it needs. It begins with those that
 *   nobody uses, in the order of the text, each preceded by what it needs. Only a schedule keeps the
 *   order of the text.
 */
#include "hlo/text/text.h"

#include <stdio.h>
#include <string.h>
#include "hlo/text/own.h"

/* ---- computations ---- */

uint32_t scope_add(struct text *p, struct scope *s, Hlo__HloInstructionProto *in, const char *name, size_t n,
	const char *at)
{
	uint32_t index = (uint32_t)s->ins.n;
	char anonymous[80];
	if (!name) {
		int k = snprintf(anonymous, sizeof(anonymous), "%s.anon", in->opcode);
		in->name = uniquer_take(&p->anon_uniq, p->mem, anonymous, (size_t)k);
		name = in->name;
		n = strlen(name);
	} else {
		in->name = name_sanitized(p->mem, name, n);
		uniquer_take(&p->anon_uniq, p->mem, in->name, strlen(in->name));
	}
	if (!names_put(&s->names, name, n, index)) {
		text_wrong_at(p, at, "there is an instruction %.*s above already", n > 80 ? 80 : (int)n, name);
		return 0;
	}
	ptr_list_add(&s->ins, in);
	return index;
}

struct visit { /* of one computation's instructions */
	const struct scope *s;
	uint8_t *state; /* new, visiting, visited */
	struct int_list stack;
	Hlo__HloInstructionProto **out;
	size_t n;
};

static void push(struct visit *v, int64_t i)
{
	if (v->state[i] != 2)
		int_list_add(&v->stack, i);
}

/* Lists what `root` needs, then `root`: control predecessors first, the last of them foremost, then the operands. */
static void visit(struct visit *v, int64_t root)
{
	push(v, root);
	while (v->stack.n) {
		int64_t i = v->stack.v[v->stack.n - 1];
		Hlo__HloInstructionProto *in = v->s->ins.v[i];
		if (v->state[i]) {
			v->stack.n--;
			if (v->state[i] == 1)
				v->out[v->n++] = in;
			v->state[i] = 2;
			continue;
		}
		v->state[i] = 1;
		for (size_t k = in->n_operand_ids; k-- > 0;)
			push(v, in->operand_ids[k]);
		for (size_t k = 0; k < in->n_control_predecessor_ids; k++)
			push(v, in->control_predecessor_ids[k]);
	}
}

static void list_in_order(struct text *p, struct scope *s)
{
	size_t n = s->ins.n;
	struct visit v = {.s = s, .state = mem_zalloc(n, 1)};
	bool *used = MEM_NEW(n, bool);
	v.out = arena_alloc(p->mem, n * sizeof(*v.out));
	for (size_t i = 0; i < n; i++) {
		Hlo__HloInstructionProto *in = s->ins.v[i];
		for (size_t k = 0; k < in->n_operand_ids; k++)
			used[in->operand_ids[k]] = true;
	}
	for (size_t i = 0; i < n; i++)
		if (!used[i])
			visit(&v, (int64_t)i);
	s->comp->instructions = v.out;
	s->comp->n_instructions = v.n;
	BUG_ON(v.n != n);
	mem_free(v.stack.v);
	mem_free(v.state);
	mem_free(used);
}

/* Replaces positions by ids, and gives each instruction a name that no other one has. */
static void number(struct text *p, struct scope *s)
{
	int64_t base = (int64_t)((uint64_t)s->comp->id << 32);
	for (size_t i = 0; i < s->ins.n; i++) {
		Hlo__HloInstructionProto *in = s->ins.v[i];
		in->id = base | (int64_t)i;
		for (size_t k = 0; k < in->n_operand_ids; k++)
			in->operand_ids[k] |= base;
		for (size_t k = 0; k < in->n_control_predecessor_ids; k++)
			in->control_predecessor_ids[k] |= base;
		in->name = uniquer_take(&p->ins_uniq, p->mem, in->name, strlen(in->name));
	}
	s->comp->root_id = base | s->root;
}

static void program_shape(struct text *p, struct scope *s, const char *at)
{
	Hlo__ProgramShapeProto *out = text_message(p, &hlo__program_shape_proto__descriptor);
	size_t n = 0;
	for (size_t i = 0; i < s->ins.n; i++)
		n += strcmp(((Hlo__HloInstructionProto *)s->ins.v[i])->opcode, "parameter") == 0;
	out->parameters = ARENA_NEW(p->mem, n, Hlo__ShapeProto *);
	out->parameter_names = ARENA_NEW(p->mem, n, char *);
	for (size_t i = 0; i < s->ins.n; i++) {
		Hlo__HloInstructionProto *in = s->ins.v[i];
		if (strcmp(in->opcode, "parameter") != 0)
			continue;
		if ((size_t)in->parameter_number >= n || out->parameters[in->parameter_number]) {
			text_wrong_at(p, at, "parameters of this computation must be numbered 0 to %zu, each once",
				n - 1);
			return;
		}
		out->parameters[in->parameter_number] = in->shape;
		out->parameter_names[in->parameter_number] = in->name;
	}
	out->n_parameters = out->n_parameter_names = n;
	out->result = ((Hlo__HloInstructionProto *)s->ins.v[s->root])->shape;
	s->comp->program_shape = out;
}

static void schedule(struct text *p, const struct scope *s)
{
	Hlo__HloScheduleProto *all = p->m->schedule;
	Hlo__ScheduledSequence *q = text_message(p, &hlo__scheduled_sequence__descriptor);
	int64_t id = (int64_t)p->comps.n;
	q->key = id;
	q->value = text_message(p, &hlo__instruction_sequence__descriptor);
	q->value->n_instruction_ids = s->ins.n;
	q->value->instruction_ids = arena_alloc(p->mem, s->ins.n * sizeof(int64_t));
	for (size_t i = 0; i < s->ins.n; i++)
		q->value->instruction_ids[i] = (int64_t)((uint64_t)id << 32 | i);
	if (!all)
		all = p->m->schedule = text_message(p, &hlo__hlo_schedule_proto__descriptor);
	ptr_list_add(&p->sequences, q);
	(void)all;
}

static void scope_release(struct scope *s)
{
	mem_free(s->ins.v);
	names_release(&s->names);
}

Hlo__HloComputationProto *text_close_scope(struct text *p, struct scope *s, const char *name)
{
	Hlo__HloComputationProto *c = s->comp;
	if (!p->bad && s->ins.n == 0)
		text_expected(p, "an instruction");
	if (!p->bad) {
		if (s->root == NAMES_NONE)
			s->root = (uint32_t)s->ins.n - 1;
		c->id = (int64_t)p->comps.n;
		if (p->scheduled)
			schedule(p, s);
		list_in_order(p, s);
		number(p, s);
		program_shape(p, s, p->tok.at);
		char *legal = name_sanitized(p->mem, name, strlen(name));
		c->name = uniquer_take(&p->comp_uniq, p->mem, legal, strlen(legal));
		ptr_list_add(&p->comps, c);
	}
	scope_release(s);
	return p->bad ? NULL : c;
}

Hlo__HloComputationProto *text_computation(struct text *p, const char *name)
{
	struct scope s = {.comp = text_message(p, &hlo__hlo_computation_proto__descriptor), .root = NAMES_NONE};
	if (text_enter(p)) {
		text_expect(p, '{');
		do
			text_instruction(p, &s);
		while (!p->bad && !text_is(p, '}'));
		text_expect(p, '}');
	}
	text_leave(p);
	return text_close_scope(p, &s, name);
}

/* (a: f32[], b: s32[2]) -> f32[]; the result is compared with the root's shape. */
static Hlo__ShapeProto *signature(struct text *p)
{
	for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')')) {
		text_name(p, "the name of a parameter");
		text_accept(p, ':');
		text_shape(p);
	}
	text_expect(p, T_ARROW);
	return text_shape(p);
}

static void computation(struct text *p)
{
	const char *entry_at = p->tok.at, *name_at, *shape_at = NULL;
	bool entry = text_word_is(p, "ENTRY");
	Hlo__ShapeProto *result = NULL;
	if (entry)
		text_next(p);
	name_at = p->tok.at;
	char *name = text_name(p, "a computation, name (parameters) -> shape { instructions }");
	if (text_is(p, '(')) {
		shape_at = p->tok.at;
		result = signature(p);
	}
	Hlo__HloComputationProto *c = text_computation(p, name);
	if (c && result && !shape_same(result, c->program_shape->result))
		text_wrong_at(p, shape_at, "the ROOT of %s has another shape than stands here", name);
	struct attr_target t = {.message = c};
	const struct attr_set *sets[] = {&p->words->comp};
	if (c)
		text_attrs(p, &t, sets, 1, ATTR_LIST);
	if (c && strcmp(c->execution_thread, "main") == 0)
		c->execution_thread = text_keep(p, "", 0);
	attr_target_release(&t);
	if (p->bad)
		return;
	if (entry && p->entry >= 0)
		text_wrong_at(p, entry_at, "there is an ENTRY above already");
	if (entry) {
		p->entry = c->id;
		p->entry_at = entry_at;
	}
	if (!names_put(&p->comp_names, name, strlen(name), (uint32_t)c->id))
		text_wrong_at(p, name_at, "there is a computation %s above already", name);
}

/* ---- the module ---- */

/* Drops the schedules of fusions: XLA gives them none. */
static void finish_schedule(struct text *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->sequences.n; i++) {
		Hlo__ScheduledSequence *q = p->sequences.v[i];
		if (!((Hlo__HloComputationProto *)p->comps.v[q->key])->is_fusion_computation)
			p->sequences.v[n++] = q;
	}
	p->sequences.n = n;
	if (!p->m->schedule)
		return;
	p->m->schedule->n_sequences = n;
	p->m->schedule->sequences = (Hlo__ScheduledSequence **)text_keep_ptrs(p, &p->sequences);
}

static char **numbered_strings(struct text *p, size_t *n)
{
	struct ptr_list list = {0};
	while (text_accept(p, T_INT))
		ptr_list_add(&list, text_string(p, NULL));
	*n = list.n;
	char **out = (char **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	return out;
}

static void **numbered_messages(struct text *p, const ProtobufCMessageDescriptor *d, const struct attr_set *set,
	size_t *n)
{
	struct ptr_list list = {0};
	while (text_accept(p, T_INT)) {
		struct attr_target t = {.message = text_message(p, d)};
		text_attrs(p, &t, &set, 1, ATTR_BRACES);
		ptr_list_add(&list, t.message);
		attr_target_release(&t);
	}
	*n = list.n;
	void **out = text_keep_ptrs(p, &list);
	mem_free(list.v);
	return out;
}

static void section(struct text *p, const char *word)
{
	if (!text_word_is(p, word))
		text_expected(p, word);
	text_next(p);
}

static void stack_frames(struct text *p)
{
	Hlo__StackFrameIndex *x = text_message(p, &hlo__stack_frame_index__descriptor);
	if (!text_word_is(p, "FileNames"))
		return;
	section(p, "FileNames");
	x->file_names = numbered_strings(p, &x->n_file_names);
	section(p, "FunctionNames");
	x->function_names = numbered_strings(p, &x->n_function_names);
	section(p, "FileLocations");
	x->file_locations = (Hlo__FileLocation **)numbered_messages(p, &hlo__file_location__descriptor,
		&p->words->location, &x->n_file_locations);
	section(p, "StackFrames");
	x->stack_frames = (Hlo__StackFrame **)numbered_messages(p, &hlo__stack_frame__descriptor, &p->words->frame,
		&x->n_stack_frames);
	for (size_t i = 0; i < x->n_stack_frames; i++)
		if (x->stack_frames[i]->parent_frame_id > INT32_MIN)
			x->stack_frames[i]->parent_frame_id--; /* text has the caller's number plus 1 */
	p->frames = x;
}

static void header(struct text *p)
{
	struct attr_target t = {.message = p->m};
	const struct attr_set *sets[] = {&p->words->module};
	text_next(p);
	p->m->name = text_name(p, "the name of the module");
	text_attrs(p, &t, sets, 1, ATTR_LIST);
	attr_target_release(&t);
}

static void name_parameters(struct text *p, Hlo__ProgramShapeProto *s)
{
	s->n_parameter_names = s->n_parameters;
	s->parameter_names = arena_alloc(p->mem, s->n_parameters * sizeof(char *));
	for (size_t i = 0; i < s->n_parameters; i++)
		s->parameter_names[i] = arena_printf(p->mem, "p%zu", i);
}

/* Does the header's layout have the shapes of the entry? A text cut short between computations fails here. */
static bool layout_fits(const Hlo__ProgramShapeProto *layout, const Hlo__ProgramShapeProto *entry)
{
	if (layout->n_parameters != entry->n_parameters)
		return false;
	for (size_t i = 0; i < layout->n_parameters; i++)
		if (!shape_same(layout->parameters[i], entry->parameters[i]))
			return false;
	return shape_same(layout->result, entry->result);
}

static void find_entry(struct text *p)
{
	if (p->entry < 0 && p->layout_given)
		text_expected(p, "the ENTRY computation that entry_computation_layout is about");
	if (p->entry < 0)
		p->entry = (int64_t)p->comps.n - 1;
	Hlo__HloComputationProto *entry = p->comps.v[p->entry];
	if (p->layout_given && !layout_fits(p->m->host_program_shape, entry->program_shape))
		text_wrong_at(p, p->entry_at, "the header's entry_computation_layout has other shapes than %s",
			entry->name);
}

static void finish(struct text *p)
{
	Hlo__HloModuleProto *m = p->m;
	Hlo__HloComputationProto *entry = p->comps.v[p->entry];
	m->n_computations = p->comps.n;
	m->computations = (Hlo__HloComputationProto **)text_keep_ptrs(p, &p->comps);
	m->entry_computation_id = entry->id;
	m->entry_computation_name = entry->name;
	if (!*m->name)
		m->name = arena_printf(p->mem, "module_%s", entry->name);
	if (!p->layout_given) {
		Hlo__ProgramShapeProto *s = m->host_program_shape = text_message(p,
			&hlo__program_shape_proto__descriptor);
		s->n_parameters = entry->program_shape->n_parameters;
		s->parameters = entry->program_shape->parameters;
		s->result = entry->program_shape->result;
	}
	name_parameters(p, m->host_program_shape);
	finish_schedule(p);
	text_frames(p);
}

static void module(struct text *p)
{
	p->m = text_message(p, &hlo__hlo_module_proto__descriptor);
	p->m->input_output_alias = text_message(p, &hlo__hlo_input_output_alias_proto__descriptor);
	p->m->buffer_donor = text_message(p, &hlo__hlo_buffer_donor_proto__descriptor);
	p->m->frontend_attributes = text_message(p, &hlo__frontend_attributes__descriptor);
	text_next(p);
	if (text_word_is(p, "HloModule"))
		header(p);
	stack_frames(p);
	do
		computation(p);
	while (!p->bad && !text_is(p, T_END));
	if (!p->bad)
		find_entry(p);
	if (!p->bad)
		finish(p);
}

Hlo__HloModuleProto *hlo_text_parse(struct arena *mem, const char *text, size_t n, const char *name,
	struct err *err)
{
	struct text p = {.name = name, .begin = text, .end = text + n, .at = text, .err = err, .mem = mem, .entry = -1};
	if (n >= UINT32_MAX) {
		err_set(err, "%s is %zu bytes long; HLO text of 4 GiB and more is not read", name, n);
		return NULL;
	}
	p.words = hlo_words();
	p.lexer = lexer_new();
	module(&p);
	lexer_free(p.lexer);
	uniquer_release(&p.comp_uniq);
	uniquer_release(&p.ins_uniq);
	uniquer_release(&p.anon_uniq);
	names_release(&p.comp_names);
	mem_free(p.comps.v);
	mem_free(p.sequences.v);
	mem_free(p.ints.v);
	buf_release(&p.scratch);
	return p.bad ? NULL : p.m;
}
