/*
 * facts.c - what the code of rules asks about a node (rule.h).
 */
#include <math.h>
#include "hlo/float.h"
#include "space/rewrite/rule.h"

bool rule_in_16_bits(const struct graph *g, uint32_t v)
{
	return g->node[v].dtype == DT_BF16 || g->node[v].dtype == DT_F16;
}

static bool is_real(const struct graph *g, uint32_t v)
{
	uint8_t t = g->node[v].dtype;

	return rule_in_16_bits(g, v) || t == DT_F32 || t == DT_F64 || t == DT_S32 || t == DT_S64 || t == DT_U32 ||
		t == DT_U64;
}

static bool is_complex(const struct graph *g, uint32_t v)
{
	return g->node[v].dtype == DT_C64 || g->node[v].dtype == DT_C128;
}

static bool is_dynamic(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *s = g->node[v].proto->shape;

	for (size_t i = 0; i < s->n_is_dynamic_dimension; i++)
		if (s->is_dynamic_dimension[i])
			return true;
	return false;
}

bool rule_regular(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const Hlo__HloInstructionProto *in = n->proto;

	if (n->rank > DRAFT_RANK - 2 || !rule_fits(g, v))
		return false;
	if (n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL) || in->sharding)
		return false;
	for (uint32_t k = 0; k < n->n_operands; k++) /* one that is summed over leaves no trace in the result */
		if (is_dynamic(g, node_operands(g, v)[k]))
			return false;
	return !is_dynamic(g, v);
}

bool rule_plain(const struct graph *g, uint32_t v)
{
	return is_real(g, v) && rule_regular(g, v);
}

bool rule_plain_complex(const struct graph *g, uint32_t v)
{
	return is_complex(g, v) && rule_regular(g, v);
}

bool rule_stays(const struct graph *g, uint32_t v, int64_t i)
{
	const struct node *n = &g->node[v];

	return n->opcode == OP_GET_TUPLE_ELEMENT && n->proto->tuple_index == i &&
	       g->node[node_operands(g, v)[0]].opcode == OP_PARAMETER;
}

#define DEEP 16 /* calls and views between a node and the loop that it comes from */

static bool is_view(uint16_t opcode)
{
	return opcode == OP_RESHAPE || opcode == OP_BITCAST || opcode == OP_TRANSPOSE || opcode == OP_CONVERT;
}

double rule_stays_for(const struct graph *g, uint32_t v)
{
	for (int i = 0; i < DEEP; i++) {
		const struct node *n = &g->node[v];
		const struct comp *c = &g->comp[n->comp];
		const struct node *caller = c->caller == NONE ? NULL : &g->node[c->caller];
		uint32_t root = c->root;
		if (is_view(n->opcode)) {
			v = node_operands(g, v)[0];
			continue;
		}
		if (!caller || c->n_callers != 1)
			return 0;
		if (n->opcode == OP_PARAMETER && caller->opcode == OP_CALL) {
			v = node_operands(g, c->caller)[n->proto->parameter_number];
			continue;
		}
		if (n->opcode != OP_GET_TUPLE_ELEMENT || caller->opcode != OP_WHILE ||
			g->node[root].opcode != OP_TUPLE || !rule_stays(g, v, n->proto->tuple_index))
			return 0;
		return rule_stays(g, node_operands(g, root)[n->proto->tuple_index], n->proto->tuple_index) ?
			caller->trip_count : 0;
	}
	return 0;
}

bool rule_only_for(const struct graph *g, uint32_t v, uint32_t user)
{
	const struct node *n = &g->node[v];

	return rule_plain_any(g, v) && n->n_users == 1 && *node_users(g, v) == user && !(n->flags & NODE_ROOT);
}

bool rule_constant(const struct graph *g, uint32_t v, double *out)
{
	return g->node[v].opcode == OP_CONSTANT && g->node[v].elements == 1 &&
		float_of_literal(g->node[v].proto->literal, out);
}

bool rule_is_zero(const struct graph *g, uint32_t v)
{
	double x;

	return rule_constant(g, v, &x) && fabs(x) <= 0;
}

bool rule_is_sum(const struct graph *g, uint32_t v)
{
	const struct comp *c;

	if (g->node[v].opcode != OP_REDUCE || g->node[v].n_operands != 2)
		return false;
	c = &g->comp[node_calls(g, v)[0]];
	if (c->n_nodes != 3 || g->node[c->root].opcode != OP_ADD)
		return false;
	if (node_operands(g, c->root)[0] == node_operands(g, c->root)[1])
		return false;
	return rule_is_zero(g, node_operands(g, v)[1]);
}

const char *rule_combines(const struct graph *g, uint32_t v)
{
	const struct comp *c = &g->comp[node_calls(g, v)[0]];
	uint16_t op = g->node[c->root].opcode;

	if (c->n_nodes != 3 || g->node[c->root].n_operands != 2 ||
		node_operands(g, c->root)[0] == node_operands(g, c->root)[1])
		return NULL;
	return op == OP_ADD || op == OP_MULTIPLY || op == OP_MAXIMUM || op == OP_MINIMUM ? opcode_name(op) : NULL;
}

const char *rule_applied(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[g->comp[node_calls(g, v)[0]].root].opcode;
	double first;
	bool neutral;

	if (!rule_combines(g, v) || !rule_constant(g, node_operands(g, v)[1], &first))
		return NULL;
	if (op == OP_ADD)
		neutral = fabs(first) <= 0;
	else
		neutral = op != OP_MULTIPLY && isinf(first) && (first < 0) == (op == OP_MAXIMUM);
	return neutral ? opcode_name(op) : NULL;
}

static bool read_dot(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;

	if (g->node[v].opcode != OP_DOT || !d || !g->node[v].elements)
		return false;
	if (d->n_lhs_contracting_dimensions > DRAFT_RANK || d->n_lhs_batch_dimensions > DRAFT_RANK)
		return false;
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t u = node_operands(g, v)[k];
		if (g->node[u].rank > DRAFT_RANK - 2 || !g->node[u].elements)
			return false;
	}
	*out = (struct dot_dims){.n_sum = (uint32_t)d->n_lhs_contracting_dimensions,
		.n_batch = (uint32_t)d->n_lhs_batch_dimensions};
	for (uint32_t k = 0; k < out->n_sum; k++) {
		out->sum[0][k] = d->lhs_contracting_dimensions[k];
		out->sum[1][k] = d->rhs_contracting_dimensions[k];
	}
	for (uint32_t k = 0; k < out->n_batch; k++) {
		out->batch[0][k] = d->lhs_batch_dimensions[k];
		out->batch[1][k] = d->rhs_batch_dimensions[k];
	}
	return true;
}

static bool has_algorithm(const struct graph *g, uint32_t v)
{
	const Hlo__PrecisionConfig *p = g->node[v].proto->precision_config;

	return p && p->algorithm;
}

static bool of_one_type(const struct graph *g, uint32_t v)
{
	const uint32_t *x = node_operands(g, v);

	return g->node[x[0]].dtype == g->node[v].dtype && g->node[x[1]].dtype == g->node[v].dtype;
}

bool rule_dot(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	return read_dot(g, v, out) && of_one_type(g, v) && rule_plain(g, v) &&
		!(rule_in_16_bits(g, v) && has_algorithm(g, v));
}

bool rule_dot_wider(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	return read_dot(g, v, out) && g->node[v].dtype == DT_F32 && rule_in_16_bits(g, node_operands(g, v)[0]) &&
		rule_in_16_bits(g, node_operands(g, v)[1]) && rule_plain(g, v) && !has_algorithm(g, v);
}

bool rule_dot_whole(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	const uint32_t *x = node_operands(g, v);

	return read_dot(g, v, out) && g->node[v].dtype == DT_S32 && g->node[x[0]].dtype == DT_S8 &&
		g->node[x[1]].dtype == DT_S8 && rule_plain(g, v);
}

/* A float of 8 bits, of any kind. */
static bool is_float_of_8_bits(const struct graph *g, uint32_t v)
{
	uint8_t t = g->node[v].dtype;

	return dtype_bits(t) == 8 && t != DT_PRED && t != DT_S8 && t != DT_U8;
}

bool rule_dot_laid(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	const uint32_t *x = node_operands(g, v);

	if (rule_dot(g, v, out) || rule_dot_wider(g, v, out) || rule_dot_whole(g, v, out))
		return true;
	return read_dot(g, v, out) && (rule_in_16_bits(g, v) || g->node[v].dtype == DT_F32) && rule_plain(g, v) &&
		is_float_of_8_bits(g, x[0]) && is_float_of_8_bits(g, x[1]) && !has_algorithm(g, v);
}

bool rule_dot_complex(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	return read_dot(g, v, out) && of_one_type(g, v) && rule_plain_complex(g, v);
}

double rule_size_of(const struct graph *g, uint32_t v, const int64_t *dims, uint32_t n)
{
	double size = 1;

	for (uint32_t i = 0; i < n; i++)
		size *= (double)rule_dim(g, v, dims[i]);
	return size;
}

void rule_dot_sizes(const struct graph *g, uint32_t v, const struct dot_dims *dims, double *out)
{
	const uint32_t *op = node_operands(g, v);
	int64_t rest[DRAFT_RANK];

	out[0] = rule_size_of(g, op[0], dims->batch[0], dims->n_batch);
	for (int side = 0; side < 2; side++)
		out[1 + side] = rule_size_of(g, op[side], rest, dot_rest(dims, side, g->node[op[side]].rank, rest));
	out[3] = rule_size_of(g, op[0], dims->sum[0], dims->n_sum);
}

static int32_t precision(const Hlo__PrecisionConfig *p, size_t operand)
{
	return p && operand < p->n_operand_precision ? p->operand_precision[operand] : 0;
}

bool rule_as_precise(const Hlo__HloInstructionProto *a, const Hlo__HloInstructionProto *b)
{
	const Hlo__PrecisionConfig *p = a->precision_config, *q = b->precision_config;

	return (p ? p->algorithm : 0) == (q ? q->algorithm : 0) && precision(p, 0) == precision(q, 0) &&
		precision(p, 1) == precision(q, 1);
}
