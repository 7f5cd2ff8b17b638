/*
 * default.c - fills in what an instruction holds although the text does not say it.
 *
 * XLA's reader fills in some messages and values before it reads the attributes, which may replace
 * them, and others afterwards, from what the attributes said. We do the same, so that a text means the
 * same program to XLA and to us.
 */
#include <string.h>
#include "hlo/text/own.h"

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

void default_before(struct text *p, Hlo__HloInstructionProto *in, uint16_t op, size_t n_operands)
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

static void number_dimensions(struct text *p, Hlo__HloInstructionProto *in)
{
	in->n_dimensions = in->shape->n_dimensions;
	in->dimensions = in->n_dimensions ? arena_alloc(p->mem, in->n_dimensions * sizeof(int64_t)) : NULL;
	for (size_t i = 0; i < in->n_dimensions; i++)
		in->dimensions[i] = (int64_t)i;
}

void default_after(struct text *p, const struct line *l, Hlo__HloInstructionProto *in, uint16_t op)
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
			in->comparison_type = (char *)(uintptr_t)comparison_of(line_operand(l, 0)->shape);
		break;
	case OP_OUTFEED:
		if (!in->outfeed_shape && l->operands.n)
			in->outfeed_shape = line_operand(l, 0)->shape;
		break;
	case OP_MAP: number_dimensions(p, in); break; /* XLA ignores what the text says */
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
