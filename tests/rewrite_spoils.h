/*
 * rewrite_spoils.h - makes what a rule wrote wrong by a little, in one way or another, so that a proof can fail.
 *
 * A way that would change no number is none: where two dimensions are as good as each other, they may be exchanged.
 */
#ifndef TESTS_REWRITE_SPOILS_H
#define TESTS_REWRITE_SPOILS_H

#include <string.h>
#include "hlo/shape.h"
#include "tests/harm.h"

#define KINDS 15 /* ways to be wrong */

static const char *const wrong[KINDS] = {"slice starts later", "less padding before, more behind",
	"transposition of other dimensions", "broadcast to other dimensions", "sum over another dimension",
	"parts in another order", "product over other dimensions", "other rows gathered", "compared the other way",
	"the other one selected", "another whole number", "other parts of a tuple",
	"the other part of a complex number", "a sum of products, not their difference",
	"another operation over windows"};

/* Exchanges two entries of a list of dimensions so that sizes still fit; false if there are none such. */
static bool exchange(int64_t *list, size_t n, const int64_t *size)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (size[list[i]] == size[list[k]] && size[list[i]] > 1) {
				int64_t was = list[i];
				list[i] = list[k];
				list[k] = was;
				return true;
			}
	return false;
}

/* Puts another dimension of the same size in the place of one; false if there is none. */
static bool replace(int64_t *list, size_t n, const Hlo__ShapeProto *s)
{
	for (size_t i = 0; i < n; i++)
		for (int64_t k = 0; k < (int64_t)s->n_dimensions; k++) {
			bool used = false;
			for (size_t j = 0; j < n; j++)
				used |= list[j] == k;
			if (!used && s->dimensions[k] == s->dimensions[list[i]] && s->dimensions[k] > 1) {
				list[i] = k;
				return true;
			}
		}
	return false;
}

/* Are all numbers of one side of a product equal? Then the order in which they are taken does not matter. */
static bool all_equal(const struct graph *g, uint32_t v)
{
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t u = node_operands(g, v)[k];
		if (g->node[u].opcode == OP_BROADCAST && g->node[node_operands(g, u)[0]].elements == 1)
			return true;
	}
	return false;
}

/* Is a value constant along both dimensions? Then a sum over the one equals a sum over the other. */
static bool same_along(const struct graph *g, uint32_t v, int64_t one, int64_t other)
{
	const Hlo__HloInstructionProto *in;

	while (g->node[v].opcode == OP_CONVERT)
		v = node_operands(g, v)[0];
	if (g->node[v].opcode != OP_BROADCAST)
		return false;
	in = g->node[v].proto;
	for (size_t i = 0; i < in->n_dimensions; i++)
		if (in->dimensions[i] == one || in->dimensions[i] == other)
			return false;
	return true;
}

/* Does a window move by its dilation? Then it reads x[by * (where + k)], and where and k may be exchanged. */
static bool moves_by_its_holes(const struct graph *a)
{
	for (uint32_t v = 0; v < a->n_nodes; v++)
		if (a->node[v].opcode == OP_CONVOLUTION) {
			const Hlo__Window *window = a->node[v].proto->window;
			for (size_t i = 0; i < window->n_dimensions; i++) {
				const Hlo__WindowDimension *w = window->dimensions[i];
				if (w->size > 1 && w->stride == w->window_dilation)
					return true;
			}
		}
	return false;
}

/* Does a window that selects leave places of its boxes unmet? Then what is repeated there may be repeated elsewhere. */
static bool selects_partly(const struct graph *a)
{
	for (uint32_t v = 0; v < a->n_nodes; v++) {
		const Hlo__Window *window = a->node[v].proto->window;
		for (size_t i = 0; a->node[v].opcode == OP_SELECT_AND_SCATTER && i < window->n_dimensions; i++) {
			const Hlo__WindowDimension *w = window->dimensions[i];
			if (w->padding_low || w->padding_high || (w->stride > 1 && w->size % w->stride))
				return true;
		}
	}
	return false;
}

/* Sums a product over other dimensions of its left side, or pairs them differently; false if that changes nothing. */
static bool contract_others(const struct graph *a, const struct graph *g, uint32_t v, const Hlo__ShapeProto *x)
{
	Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	const uint32_t *side = node_operands(g, v);
	int64_t *list = d->lhs_contracting_dimensions, was[8];
	size_t n = d->n_lhs_contracting_dimensions, i = 0, k;
	bool pairs;

	if (n == 0 || n > 8 || moves_by_its_holes(a))
		return false;
	memcpy(was, list, n * sizeof *was);
	pairs = exchange(list, n, x->dimensions);
	if (!pairs && !replace(list, n, x))
		return false;
	while (was[i] == list[i])
		i++;
	for (k = i + 1; pairs && was[k] == list[k];)
		k++;
	if (!same_along(g, side[0], was[i], list[i]) &&
		!(pairs && same_along(g, side[1], d->rhs_contracting_dimensions[i], d->rhs_contracting_dimensions[k])))
		return true;
	memcpy(list, was, n * sizeof *was);
	return false;
}

/* Does the program only add two products of the same shape? Then they may be exchanged. */
static bool symmetric(const struct graph *g)
{
	return graph_find(g, "root") != NONE;
}

/* Is a value the same along some dimension, because it was repeated there? Then other dimensions may be as good. */
static bool repeated(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[v].opcode;
	bool found = op == OP_BROADCAST, through = op == OP_CONCATENATE || op == OP_CONVERT;

	for (uint32_t k = 0; !found && through && k < g->node[v].n_operands; k++)
		found = repeated(g, node_operands(g, v)[k]);
	return found;
}

/* Is a product summed in this program? Then dimensions of it that are summed away are as good as each other. */
static bool sums_product(const struct graph *g)
{
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint32_t x = g->node[v].opcode == OP_REDUCE ? node_operands(g, v)[0] : NONE;
		if (x != NONE && g->node[x].opcode == OP_TRANSPOSE)
			x = node_operands(g, x)[0];
		if (x != NONE && g->node[x].opcode == OP_DOT)
			return true;
	}
	return false;
}

/* Exchanges two parts of a tuple that have the same shape; false if there are none such. */
static bool exchange_parts(const struct graph *g, uint32_t v)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;

	for (size_t i = 0; i < in->n_operand_ids; i++)
		for (size_t k = i + 1; k < in->n_operand_ids; k++)
			if (in->operand_ids[i] != in->operand_ids[k] &&
				shape_same(in->shape->tuple_shapes[i], in->shape->tuple_shapes[k])) {
				int64_t was = in->operand_ids[i];
				in->operand_ids[i] = in->operand_ids[k];
				in->operand_ids[k] = was;
				return true;
			}
	return false;
}

/* Takes the imaginary part, not the real one, or exchanges both; false if the instruction has nothing of this. */
static bool exchange_complex(const struct graph *g, uint32_t v)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	uint16_t op = g->node[v].opcode;
	int64_t was;

	if (op == OP_REAL || op == OP_IMAG)
		return in->opcode = (char *)(op == OP_REAL ? "imag" : "real"), true;
	if (op != OP_COMPLEX)
		return false;
	was = in->operand_ids[0];
	in->operand_ids[0] = in->operand_ids[1];
	in->operand_ids[1] = was;
	return true;
}

/* Is it a difference of products? */
static bool subtracts_products(const struct graph *g, uint32_t v)
{
	return g->node[v].opcode == OP_SUBTRACT && g->node[node_operands(g, v)[0]].opcode == OP_DOT &&
		g->node[node_operands(g, v)[1]].opcode == OP_DOT;
}

/*
 * Makes an instruction compare or count in another way; false if it does neither. 0 stays: it says that there is
 * nothing yet, and where that cannot be, another number is as good.
 */
static bool choose_others(const struct graph *g, uint32_t v, int kind)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	uint16_t op = g->node[v].opcode;
	static char *const turned[][2] = {{"GE", "LT"}, {"GT", "LE"}, {"LE", "GT"}, {"LT", "GE"}, {"EQ", "NE"},
		{"NE", "EQ"}};
	const char *was = in->comparison_direction;

	for (size_t i = 0; kind == 8 && op == OP_COMPARE && i < sizeof turned / sizeof *turned; i++)
		if (strcmp(was, turned[i][0]) == 0) {
			in->comparison_direction = turned[i][1];
			return true;
		}
	if (kind == 9 && op == OP_SELECT) {
		int64_t first = in->operand_ids[1];
		in->operand_ids[1] = in->operand_ids[2];
		in->operand_ids[2] = first;
		return true;
	}
	if (kind == 10 && op == OP_CONSTANT && in->literal && in->literal->n_s32s == 1 && in->literal->s32s[0]) {
		in->literal->s32s[0]++;
		return true;
	}
	return false;
}

/* Makes an instruction wrong in one way; false if that way does not apply to it, and then it stays as it was. */
static bool spoil(const struct graph *a, const struct graph *g, uint32_t v, int kind)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	const Hlo__ShapeProto *x = g->node[v].n_operands ? g->node[node_operands(g, v)[0]].proto->shape : NULL;
	uint16_t op = g->node[v].opcode;

	if (kind == 0 && op == OP_SLICE)
		return shift_slice(g, v);
	if (kind == 1 && op == OP_PAD)
		for (size_t i = 0; i < in->padding_config->n_dimensions; i++) {
			Hlo__PaddingConfigDimension *d = in->padding_config->dimensions[i];
			if (d->edge_padding_low || d->edge_padding_high) {
				d->edge_padding_low--;
				d->edge_padding_high++;
				return true;
			}
		}
	if (kind == 2 && op == OP_TRANSPOSE)
		return exchange(in->dimensions, in->n_dimensions, x->dimensions);
	if (kind == 3 && op == OP_BROADCAST && !repeated(g, node_operands(g, v)[0]) && !sums_product(a) &&
		!selects_partly(a))
		return exchange(in->dimensions, in->n_dimensions, in->shape->dimensions) ||
			replace(in->dimensions, in->n_dimensions, in->shape);
	if (kind == 4 && op == OP_REDUCE)
		return replace(in->dimensions, in->n_dimensions, x);
	if (kind == 5 && op == OP_CONCATENATE && !symmetric(a)) {
		for (size_t i = 1; i < in->n_operand_ids; i++)
			if (in->operand_ids[i] != in->operand_ids[0]) {
				int64_t was = in->operand_ids[0];
				in->operand_ids[0] = in->operand_ids[i];
				in->operand_ids[i] = was;
				return true;
			}
	}
	if (kind == 6 && op == OP_DOT && !all_equal(g, v))
		return contract_others(a, g, v, x);
	if (kind == 7 && op == OP_GATHER && x->n_dimensions > 1) {
		int64_t *map = in->gather_dimension_numbers->start_index_map;
		*map = *map == 0;
		return true;
	}
	if (kind == 12)
		return exchange_complex(g, v);
	if (kind == 13 && subtracts_products(g, v))
		return in->opcode = (char *)"add", true;
	if (kind == 14 && op == OP_REDUCE_WINDOW) {
		in = g->node[g->comp[node_calls(g, v)[0]].root].proto;
		return in->opcode = (char *)(strcmp(in->opcode, "add") ? "add" : "maximum"), true;
	}
	return choose_others(g, v, kind) || (kind == 11 && op == OP_TUPLE && exchange_parts(g, v));
}

#endif
