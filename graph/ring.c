/*
 * ring.c - see ring.h: the operations that move and combine numbers; ring_heavy.c has those that sum,
 * ring_select.c those that compare.
 */
#include "graph/ring.h"

#include <string.h>
#include "hlo/float.h"
#include "hlo/field.h"

static bool combines(uint16_t opcode)
{
	return opcode == OP_ADD || opcode == OP_SUBTRACT || opcode == OP_MULTIPLY || opcode == OP_MAXIMUM ||
		opcode == OP_MINIMUM;
}

/* Where the element of the result at `at` comes from in operand 0. */
static void source(const struct ring_node *n, const int64_t *at, int64_t *from)
{
	const Hlo__HloInstructionProto *in = n->in;
	const struct tensor *x = n->x[0];

	for (uint32_t i = 0; i < x->rank; i++)
		switch (n->g->node[n->v].opcode) {
		case OP_BROADCAST:
			from[i] = at[in->dimensions[i]];
			break;
		case OP_TRANSPOSE:
			from[in->dimensions[i]] = at[i];
			break;
		case OP_SLICE:
			from[i] = in->slice_dimensions[i]->start + at[i] * in->slice_dimensions[i]->stride;
			break;
		default: /* reverse */
			from[i] = at[i];
		}
	for (size_t k = 0; n->g->node[n->v].opcode == OP_REVERSE && k < in->n_dimensions; k++)
		from[in->dimensions[k]] = x->dim[in->dimensions[k]] - 1 - at[in->dimensions[k]];
}

static int move(const struct ring_node *n)
{
	int64_t at[RING_RANK] = {0}, from[RING_RANK] = {0}, place;
	size_t k = 0;

	do {
		source(n, at, from);
		if ((place = ring_place(n->x[0], from)) < 0)
			return -1;
		n->out->v[k++] = n->x[0]->v[place];
	} while (ring_step(n->out->dim, n->out->rank, at));
	return 0;
}

static int pad(const struct ring_node *n)
{
	int64_t at[RING_RANK] = {0}, to[RING_RANK], place;
	size_t k = 0;

	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = n->x[1]->v[0];
	if (n->x[0]->rank != n->out->rank)
		return -1;
	if (n->x[0]->n == 0)
		return 0;
	do {
		for (uint32_t i = 0; i < n->x[0]->rank; i++) {
			const Hlo__PaddingConfigDimension *p = n->in->padding_config->dimensions[i];
			to[i] = p->edge_padding_low + at[i] * (p->interior_padding + 1);
		}
		place = ring_place(n->out, to);
		if (place >= 0)
			n->out->v[place] = n->x[0]->v[k];
		k++;
	} while (ring_step(n->x[0]->dim, n->x[0]->rank, at));
	return 0;
}

static int concatenate(const struct ring_node *n, const struct tensor *value)
{
	int64_t dim = n->in->dimensions[0], first = 0;

	for (uint32_t k = 0; k < n->g->node[n->v].n_operands; k++) {
		const struct tensor *x = &value[node_operands(n->g, n->v)[k]];
		int64_t at[RING_RANK] = {0}, to[RING_RANK];
		size_t i = 0;
		if (x->rank != n->out->rank)
			return -1;
		if (x->n == 0)
			continue;
		do {
			memcpy(to, at, sizeof to);
			to[dim] += first;
			if (ring_place(n->out, to) < 0)
				return -1;
			n->out->v[ring_place(n->out, to)] = x->v[i++];
		} while (ring_step(x->dim, x->rank, at));
		first += x->dim[dim];
	}
	return 0;
}

/* The operation that an applied computation of two numbers does with them; OP_COUNT: another. */
static uint16_t applied(const struct ring_node *n)
{
	const struct comp *c = &n->g->comp[node_calls(n->g, n->v)[0]];
	uint16_t op = n->g->node[c->root].opcode;

	return c->n_nodes == 3 && n->g->node[c->root].n_operands == 2 && combines(op) ? op : OP_COUNT;
}

static int reduce(const struct ring_node *n)
{
	int64_t at[RING_RANK] = {0}, to[RING_RANK];
	uint16_t op = applied(n);
	size_t k = 0;

	if (op == OP_COUNT || n->g->node[n->v].n_operands != 2)
		return -1;
	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = n->x[1]->v[0];
	if (n->x[0]->n == 0)
		return 0;
	do {
		uint32_t rank = 0;
		for (uint32_t i = 0; i < n->x[0]->rank; i++) {
			bool gone = false;
			for (size_t j = 0; j < n->in->n_dimensions; j++)
				gone |= n->in->dimensions[j] == i;
			if (!gone)
				to[rank++] = at[i];
		}
		int64_t place = rank == n->out->rank ? ring_place(n->out, to) : -1;
		if (place < 0)
			return -1; /* the result's shape is not the rest of the operand's */
		n->out->v[place] = ring_combine(n->ring, op, n->out->v[place], n->x[0]->v[k++]);
	} while (ring_step(n->x[0]->dim, n->x[0]->rank, at));
	return 0;
}

/* Constants of whole numbers. */
static int constant(const struct ring_node *n)
{
	const Hlo__Literal *l = n->in->literal;

	for (size_t i = 0; i < n->out->n; i++) {
		double v = l && i < l->n_f32s ? (double)l->f32s[i] : l && i < l->n_f64s ? l->f64s[i] :
			l && i < l->n_s32s ? (double)l->s32s[i] : l && i < l->n_u32s ? (double)l->u32s[i] :
			l && i < l->n_preds ? (double)l->preds[i] :
			l && 2 * i < l->bf16s.len ? float_decode(DT_BF16,
				l->bf16s.data[2 * i] | (uint64_t)l->bf16s.data[2 * i + 1] << 8) : 0.5;
		if (v > 1e9 || v < -1e9) { /* as good as infinite: where a maximum begins */
			n->out->v[i] = (uint64_t)(v > 0 ? INT64_MAX : INT64_MIN);
			continue;
		}
		if ((double)(int64_t)v < v || (double)(int64_t)v > v)
			return -1;
		n->out->v[i] = ring_number(n->ring, (int64_t)v);
	}
	return 0;
}

static int elementwise(const struct ring_node *n)
{
	uint16_t op = n->g->node[n->v].opcode;

	if (n->x[0]->n != n->out->n || (combines(op) && n->x[1]->n != n->out->n))
		return -1;
	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = op == OP_NEGATE ? ring_negative(n->ring, n->x[0]->v[i]) :
			combines(op) ? ring_combine(n->ring, op, n->x[0]->v[i], n->x[1]->v[i]) : n->x[0]->v[i];
	return 0;
}

static int tuple(const struct ring_node *n)
{
	uint32_t parts = n->g->node[n->v].n_operands;
	const struct tensor **part = ARENA_NEW(n->mem, parts + 1, const struct tensor *);

	for (uint32_t i = 0; i < parts; i++)
		part[i] = &n->value[node_operands(n->g, n->v)[i]];
	n->out->part = part;
	return 0;
}

static int element(const struct ring_node *n)
{
	if (!n->x[0]->part)
		return -1;
	*n->out = *n->x[0]->part[n->in->tuple_index];
	return 0;
}

static int run_comp(const struct ring_node *caller, uint32_t comp, const struct tensor *param, struct tensor *out,
	struct err *err);

static int loop(const struct ring_node *n)
{
	const struct node *v = &n->g->node[n->v];
	struct tensor *state = ARENA_NEW(n->mem, 1, struct tensor);
	struct err ignored;

	*state = *n->x[0];
	for (double turn = 0; turn < v->trip_count; turn++) {
		struct tensor *next = ARENA_NEW(n->mem, 1, struct tensor);
		if (run_comp(n, node_calls(n->g, n->v)[0], state, next, &ignored) < 0)
			return -1;
		state = next;
	}
	*n->out = *state;
	return v->trip_count < 0 ? -1 : 0;
}

/* Runs a node whose numbers are real, or a part each of complex ones. */
static int run_real(const struct ring_node *n)
{
	switch (n->g->node[n->v].opcode) {
	case OP_CONSTANT:
		return constant(n);
	case OP_ADD:
	case OP_SUBTRACT:
	case OP_MULTIPLY:
	case OP_MAXIMUM:
	case OP_MINIMUM:
	case OP_NEGATE:
	case OP_COPY:
	case OP_OPTIMIZATION_BARRIER:
	case OP_CONVERT: /* between types of real numbers; nothing rounds here */
	case OP_REDUCE_PRECISION:
	case OP_RESHAPE:
	case OP_BITCAST:
		return elementwise(n);
	case OP_BROADCAST:
	case OP_TRANSPOSE:
	case OP_SLICE:
	case OP_REVERSE:
		return move(n);
	case OP_PAD:
		return pad(n);
	case OP_COMPARE:
		return ring_compare(n);
	case OP_SELECT:
		return ring_select(n);
	case OP_CLAMP:
		return ring_clamp(n);
	case OP_AND:
	case OP_OR:
		return ring_logic(n);
	case OP_IOTA:
		return ring_iota(n);
	case OP_CONCATENATE:
		return concatenate(n, n->value);
	case OP_REDUCE:
		return reduce(n);
	case OP_DOT:
		return ring_dot(n);
	case OP_CONVOLUTION:
		return ring_convolution(n);
	case OP_GATHER:
		return ring_gather(n);
	case OP_REDUCE_WINDOW:
		return applied(n) == OP_COUNT ? -1 : ring_window(n);
	case OP_SCATTER:
		return ring_scatter(n);
	case OP_SELECT_AND_SCATTER:
		return ring_select_and_scatter(n);
	default:
		return -1;
	}
}

static int run_node(const struct ring_node *n, const struct tensor *param)
{
	switch (n->g->node[n->v].opcode) {
	case OP_PARAMETER:
		*n->out = param[n->in->parameter_number];
		return 0;
	case OP_TUPLE:
		return tuple(n);
	case OP_GET_TUPLE_ELEMENT:
		return element(n);
	case OP_WHILE:
		return loop(n);
	default:
		return ring_is_complex(n) ? ring_complex(n, run_real) : run_real(n);
	}
}

static int run_comp(const struct ring_node *caller, uint32_t comp, const struct tensor *param, struct tensor *out,
	struct err *err)
{
	const struct graph *g = caller->g;
	const struct comp *c = &g->comp[comp];
	struct tensor *value = ARENA_NEW(caller->mem, g->n_nodes, struct tensor);

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		struct ring_node n = *caller;
		n.v = v;
		n.in = g->node[v].proto;
		n.value = value;
		n.out = &value[v];
		if (g->node[v].rank > RING_RANK || g->node[v].elements > RING_ELEMENTS)
			return err_set(err, "%s is too large to be computed by hand", n.in->name);
		value[v] = ring_tensor(n.mem, n.in->shape);
		for (uint32_t k = 0; k < g->node[v].n_operands && k < 8; k++)
			n.x[k] = &value[node_operands(g, v)[k]];
		if (value[v].n && run_node(&n, param) < 0)
			return err_set(err, "nothing is known here of %s, a %s", n.in->name, n.in->opcode);
	}
	*out = value[c->root];
	return 0;
}

int ring_run(const struct graph *g, enum ring ring, const struct tensor *param, struct arena *mem, struct tensor *out,
	struct err *err)
{
	struct ring_node whole = {.g = g, .ring = ring, .mem = mem};

	return run_comp(&whole, g->entry, param, out, err);
}
