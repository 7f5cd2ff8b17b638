/*
 * alias.c - prints shared buffers and the module's boundary: the mirror of hlo/text/alias.c.
 */
#include <inttypes.h>
#include "hlo/print/print.h"

bool alias_empty(enum attr_form form, const void *message)
{
	const Hlo__HloInputOutputAliasProto *alias = message;
	const Hlo__HloBufferDonorProto *donor = message;
	return form == FORM_DONOR ? !donor->n_entries : !alias->n_entries;
}

void print_aliasing(struct printer *p, const struct field *v)
{
	Hlo__OutputOperandAliasing *const *list = field_pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < field_count(v); i++) {
		print_ints(p->out, list[i]->output_shape_index, list[i]->n_output_shape_index, i ? ", {" : "{", "}: ");
		buf_addf(p->out, "(%" PRId64 ", ", list[i]->operand_index);
		print_ints(p->out, list[i]->operand_shape_index, list[i]->n_operand_shape_index, "{", "})");
	}
	buf_addch(p->out, '}');
}

void print_module_alias(struct printer *p, const Hlo__HloInputOutputAliasProto *m)
{
	buf_adds(p->out, "{ ");
	for (size_t i = 0; i < m->n_entries; i++) {
		const Hlo__AliasEntry *e = m->entries[i];
		const char *kind = hlo_word(WORDS_ALIAS, e->kind);
		print_ints(p->out, e->output_shape_index, e->n_output_shape_index, i ? ", {" : "{", "}: ");
		buf_addf(p->out, "(%" PRId64 ", ", e->parameter_number);
		print_ints(p->out, e->parameter_shape_index, e->n_parameter_shape_index, "{", "}, ");
		buf_addf(p->out, "%s)", kind ? kind : "may-alias");
	}
	buf_adds(p->out, " }");
}

void print_donor(struct printer *p, const Hlo__HloBufferDonorProto *m)
{
	buf_adds(p->out, "{ ");
	for (size_t i = 0; i < m->n_entries; i++) {
		buf_addf(p->out, "%s(%" PRId64 ", ", i ? ", " : "", m->entries[i]->parameter_number);
		print_ints(p->out, m->entries[i]->parameter_shape_index, m->entries[i]->n_parameter_shape_index, "{",
			"})");
	}
	buf_adds(p->out, " }");
}

void print_entry_layout(struct printer *p, const Hlo__ProgramShapeProto *s)
{
	buf_adds(p->out, "{(");
	for (size_t i = 0; i < s->n_parameters; i++) {
		buf_adds(p->out, i ? ", " : "");
		print_shape(p->out, s->parameters[i], true);
	}
	buf_adds(p->out, ")->");
	if (s->result)
		print_shape(p->out, s->result, true);
	buf_addch(p->out, '}');
}
