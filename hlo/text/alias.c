/*
 * alias.c - reads which buffers are shared, and what the module promises at its boundary.
 *
 *	{{0}: (1, {})}			 an instruction's results that share memory with its operands
 *	{ {0}: (1, {}, may-alias) }	 the module's results that share memory with its parameters
 *	{ (0, {}) }			 parameters whose memory the module may reuse
 *	{(f32[2]{0})->f32[]}		shapes and layouts of parameters and result
 *
 * A place in a tuple is the list of indices that leads there: {} is the whole tuple.
 */
#include "hlo/text/own.h"

int64_t *text_shape_index(struct text *p, size_t *n)
{
	text_ints(p, '{', '}');
	*n = p->ints.n;
	return text_keep_ints(p, &p->ints);
}

void text_aliasing(struct text *p, const struct field *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__OutputOperandAliasing *a = text_add(p, &list, &hlo__output_operand_aliasing__descriptor);
		a->output_shape_index = text_shape_index(p, &a->n_output_shape_index);
		text_expect(p, ':');
		text_expect(p, '(');
		a->operand_index = text_int(p);
		text_expect(p, ',');
		a->operand_shape_index = text_shape_index(p, &a->n_operand_shape_index);
		text_expect(p, ')');
	}
	text_set_list(p, w, &list);
}

void text_module_alias(struct text *p, const struct field *w)
{
	Hlo__HloInputOutputAliasProto *m = text_message(p, &hlo__hlo_input_output_alias_proto__descriptor);
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__AliasEntry *a = text_add(p, &list, &hlo__alias_entry__descriptor);
		a->output_shape_index = text_shape_index(p, &a->n_output_shape_index);
		text_expect(p, ':');
		text_expect(p, '(');
		a->parameter_number = text_int(p);
		text_expect(p, ',');
		a->parameter_shape_index = text_shape_index(p, &a->n_parameter_shape_index);
		a->kind = text_accept(p, ',') ? text_word_of(p, WORDS_ALIAS) : 1;
		text_expect(p, ')');
	}
	m->n_entries = list.n;
	m->entries = (Hlo__AliasEntry **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	field_set_pointer(w, m);
}

void text_donor(struct text *p, const struct field *w)
{
	Hlo__HloBufferDonorProto *m = text_message(p, &hlo__hlo_buffer_donor_proto__descriptor);
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__BufferDonorEntry *d = text_add(p, &list, &hlo__buffer_donor_entry__descriptor);
		text_expect(p, '(');
		d->parameter_number = text_int(p);
		text_expect(p, ',');
		d->parameter_shape_index = text_shape_index(p, &d->n_parameter_shape_index);
		text_expect(p, ')');
	}
	m->n_entries = list.n;
	m->entries = (Hlo__BufferDonorEntry **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	field_set_pointer(w, m);
}

void text_entry_layout(struct text *p, const struct field *w)
{
	Hlo__ProgramShapeProto *s = text_message(p, &hlo__program_shape_proto__descriptor);
	struct ptr_list list = {0};
	text_expect(p, '{');
	for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')'))
		ptr_list_add(&list, text_shape(p));
	text_expect(p, T_ARROW);
	s->result = text_shape(p);
	text_expect(p, '}');
	s->n_parameters = list.n;
	s->parameters = (Hlo__ShapeProto **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	field_set_pointer(w, s);
	p->layout_given = true;
}
