/*
 * analyse.c - what follows from the arrays: roles, trip counts, sizes, work.
 *
 * Computations are visited callers first, along calls from the entry, so that each knows what it is
 * for and how often it runs before those it calls. A loop's trip count is what the compiler wrote
 * into backend_config, or follows from the usual pattern: a counter that starts at a constant, grows
 * by one, and is compared with a constant. Where it is unknown it counts once, and says so.
 *
 * Work is counted callees first: a call costs what its computation costs, a loop that times its trip
 * count, a reduction its elements times what it applies.
 */
#include <stdlib.h>
#include <string.h>
#include "graph/graph_own.h"

#define ELEMENT_LIMIT (UINT64_C(1) << 50)

/* Sums elements and bytes of all leaves; -1 for a shape no machine holds. */
static int measure_shape(const Hlo__ShapeProto *s, uint64_t *elements, uint64_t *bytes)
{
	uint64_t n = 1;

	if (!s)
		return 0;
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		if (measure_shape(s->tuple_shapes[i], elements, bytes) < 0)
			return -1;
	if (s->element_type == DT_TUPLE || s->element_type == DT_TOKEN || s->element_type == DT_OPAQUE)
		return 0;
	for (size_t i = 0; i < s->n_dimensions; i++) {
		if (s->dimensions[i] < 0 || (s->dimensions[i] > 0 && n > ELEMENT_LIMIT / (uint64_t)s->dimensions[i]))
			return -1;
		n *= (uint64_t)s->dimensions[i];
	}
	*elements += n;
	*bytes += (n * dtype_bits((uint8_t)s->element_type) + 7) / 8;
	return *elements > ELEMENT_LIMIT ? -1 : 0;
}

static int measure_node(struct graph *g, struct node *n, const char *name, struct err *err)
{
	const Hlo__HloInstructionProto *in = n->proto;
	const Hlo__ShapeProto *s = in->shape;

	if (!s || s->element_type <= 0 || s->element_type > 255 || !dtype_name((uint8_t)s->element_type) ||
		s->n_dimensions > 255 || measure_shape(s, &n->elements, &n->bytes) < 0)
		return err_set(err, "%s: instruction %.100s has no possible shape", name, in->name);
	n->dtype = (uint8_t)s->element_type;
	n->rank = (uint8_t)s->n_dimensions;
	if ((opcode_facts(n->opcode)->flags & SIDE_EFFECT) || in->custom_call_has_side_effect)
		n->flags |= NODE_SIDE_EFFECT;
	if (n->opcode == OP_CONSTANT && n->elements == 1 && n->dtype != DT_TUPLE)
		n->flags |= NODE_SCALAR_CONST;
	(void)g;
	return 0;
}

static enum comp_role role_called(uint16_t opcode, enum comp_role caller)
{
	if (caller == ROLE_APPLIED || caller == ROLE_FUSED)
		return ROLE_APPLIED;
	switch (opcode) {
	case OP_FUSION:
		return ROLE_FUSED;
	case OP_WHILE:
	case OP_CONDITIONAL:
	case OP_CALL:
	case OP_ASYNC_START:
		return ROLE_CONTROL;
	default:
		return ROLE_APPLIED;
	}
}

/* Callees before callers, by depth-first search; -1 when a computation calls itself in the end. */
struct order {
	uint32_t *list, n;
	uint8_t *state; /* 0 new, 1 open, 2 done */
};

struct frame {
	uint32_t comp, node, call;
};

static int order_comps(const struct graph *g, struct order *o, struct frame *stack)
{
	uint32_t depth = 0;

	stack[depth++] = (struct frame){g->entry, g->comp[g->entry].first, 0};
	o->state[g->entry] = 1;
	while (depth) {
		struct frame *f = &stack[depth - 1];
		const struct comp *c = &g->comp[f->comp];
		if (f->node == c->first + c->n_nodes) {
			o->state[f->comp] = 2;
			o->list[o->n++] = f->comp;
			depth--;
		} else if (f->call == g->node[f->node].n_called) {
			f->node++;
			f->call = 0;
		} else {
			uint32_t d = node_calls(g, f->node)[f->call++];
			if (o->state[d] == 1)
				return -1;
			if (o->state[d] == 0) {
				o->state[d] = 1;
				stack[depth++] = (struct frame){d, g->comp[d].first, 0};
			}
		}
	}
	return 0;
}

static bool constant_integer(const struct graph *g, uint32_t v, double *out)
{
	const Hlo__Literal *l;

	while (g->node[v].opcode == OP_COPY || g->node[v].opcode == OP_CONVERT)
		v = node_operands(g, v)[0];
	l = g->node[v].proto->literal;
	if (g->node[v].opcode != OP_CONSTANT || !l)
		return false;
	if (l->n_s32s == 1)
		*out = l->s32s[0];
	else if (l->n_s64s == 1)
		*out = (double)l->s64s[0];
	else if (l->n_u32s == 1)
		*out = l->u32s[0];
	else
		return false;
	return true;
}

/* The index that v takes out of its computation's only parameter, or -1. */
static int64_t element_of_state(const struct graph *g, uint32_t v)
{
	if (g->node[v].opcode != OP_GET_TUPLE_ELEMENT ||
		g->node[node_operands(g, v)[0]].opcode != OP_PARAMETER)
		return -1;
	return g->node[v].proto->tuple_index;
}

/* What the compiler wrote: {"known_trip_count":{"n":"10"}}. */
static double written_trips(const Hlo__HloInstructionProto *in)
{
	const char *s = (const char *)in->backend_config.data, *end = s + in->backend_config.len;
	static const char key[] = "\"known_trip_count\":{\"n\":\"";
	double n = 0;

	for (; s && s + sizeof key < end; s++) {
		if (memcmp(s, key, sizeof key - 1) != 0)
			continue;
		for (s += sizeof key - 1; s < end && *s >= '0' && *s <= '9' && n < 1e15; s++)
			n = 10 * n + (*s - '0');
		return n;
	}
	return 0;
}

static double loop_trips(const struct graph *g, uint32_t v)
{
	const struct comp *body = &g->comp[node_calls(g, v)[0]], *cond = &g->comp[node_calls(g, v)[1]];
	uint32_t test = cond->root, init = node_operands(g, v)[0], next;
	double start, limit, step = 0, trips = written_trips(g->node[v].proto);
	int64_t i;

	if (trips > 0)
		return trips;
	if (g->node[test].opcode != OP_COMPARE || strcmp(g->node[test].proto->comparison_direction, "LT") != 0)
		return 0;
	i = element_of_state(g, node_operands(g, test)[0]);
	if (i < 0 || !constant_integer(g, node_operands(g, test)[1], &limit))
		return 0;
	if (g->node[init].opcode != OP_TUPLE || (uint64_t)i >= g->node[init].n_operands ||
		!constant_integer(g, node_operands(g, init)[i], &start))
		return 0;
	if (g->node[body->root].opcode != OP_TUPLE || (uint64_t)i >= g->node[body->root].n_operands)
		return 0;
	next = node_operands(g, body->root)[i];
	if (g->node[next].opcode != OP_ADD || element_of_state(g, node_operands(g, next)[0]) != i ||
		!constant_integer(g, node_operands(g, next)[1], &step) || step != 1)
		return 0;
	return limit > start ? limit - start : 0;
}

/* Callers first: what each computation is for and how often it runs. */
static void spread_roles(struct graph *g, const struct order *o)
{
	for (uint32_t c = 0; c < g->n_comps; c++)
		g->comp[c] = (struct comp){.first = g->comp[c].first, .n_nodes = g->comp[c].n_nodes,
			.root = g->comp[c].root, .caller = NONE, .role = ROLE_DEAD, .trips_known = true,
			.proto = g->comp[c].proto};
	g->comp[g->entry].role = ROLE_ENTRY;
	g->comp[g->entry].trips = 1;
	for (uint32_t i = o->n; i-- > 0;) {
		const struct comp *c = &g->comp[o->list[i]];
		for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
			struct node *n = &g->node[v];
			if (n->opcode == OP_WHILE)
				n->trip_count = loop_trips(g, v);
			for (uint32_t k = 0; k < n->n_called; k++) {
				struct comp *d = &g->comp[node_calls(g, v)[k]];
				enum comp_role role = role_called(n->opcode, c->role);
				if (d->n_callers++ == 0) {
					d->caller = v;
					d->role = (uint8_t)role;
				} else if (role > d->role) {
					d->role = (uint8_t)role; /* inside something: not a program of its own */
				}
				d->trips += c->trips * (n->opcode == OP_WHILE && n->trip_count > 0 ? n->trip_count : 1);
				d->trips_known &= c->trips_known && (n->opcode != OP_WHILE || n->trip_count > 0);
			}
		}
	}
}

static double comp_flops(const struct graph *g, uint32_t c)
{
	double sum = 0;

	for (uint32_t v = g->comp[c].first; v < g->comp[c].first + g->comp[c].n_nodes; v++)
		sum += g->node[v].flops;
	return sum;
}

static double dimension(const struct graph *g, uint32_t v, int64_t i)
{
	const Hlo__ShapeProto *s = g->node[v].proto->shape;

	return i >= 0 && (size_t)i < s->n_dimensions ? (double)s->dimensions[i] : 1;
}

static double heavy_flops(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const uint32_t *op = node_operands(g, v);
	double work = 2 * (double)n->elements;

	if (n->opcode == OP_DOT && n->proto->dot_dimension_numbers) {
		const Hlo__DotDimensionNumbers *d = n->proto->dot_dimension_numbers;
		for (size_t i = 0; i < d->n_lhs_contracting_dimensions; i++)
			work *= dimension(g, op[0], d->lhs_contracting_dimensions[i]);
	} else if (n->opcode == OP_CONVOLUTION && n->proto->convolution_dimension_numbers) {
		const Hlo__ConvolutionDimensionNumbers *d = n->proto->convolution_dimension_numbers;
		work *= dimension(g, op[1], d->kernel_input_feature_dimension);
		for (size_t i = 0; i < d->n_kernel_spatial_dimensions; i++)
			work *= dimension(g, op[1], d->kernel_spatial_dimensions[i]);
	} else {
		work = (double)g->node[op[0]].elements * 8;
	}
	return work;
}

static double window_size(const struct node *n)
{
	double size = 1;

	for (size_t i = 0; n->proto->window && i < n->proto->window->n_dimensions; i++)
		size *= (double)n->proto->window->dimensions[i]->size;
	return size;
}

static double node_work(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const struct opcode_facts *f = opcode_facts(n->opcode);
	double inside = 0;

	for (uint32_t k = 0; k < n->n_called; k++)
		inside += comp_flops(g, node_calls(g, v)[k]);
	switch (f->class) {
	case CLASS_HEAVY:
		return heavy_flops(g, v);
	case CLASS_APPLY: {
		double times = (double)g->node[node_operands(g, v)[0]].elements;
		if (n->opcode == OP_REDUCE_WINDOW)
			times = (double)n->elements * window_size(n);
		return times * (inside > 0 ? inside : 1);
	}
	case CLASS_CALL:
		return n->opcode == OP_WHILE && n->trip_count > 0 ? inside * n->trip_count : inside;
	default:
		return (double)f->flops * (double)n->elements;
	}
}

int graph_analyse(struct graph *g, const char *name, struct err *err)
{
	struct arena tmp = {0};
	struct order o = {ARENA_NEW(&tmp, g->n_comps, uint32_t), 0, ARENA_NEW(&tmp, g->n_comps, uint8_t)};
	int rc = 0;

	for (uint32_t v = 0; v < g->n_nodes && rc == 0; v++)
		rc = measure_node(g, &g->node[v], name, err);
	if (rc == 0 && order_comps(g, &o, ARENA_NEW(&tmp, g->n_comps, struct frame)) < 0)
		rc = err_set(err, "%s: a computation calls itself", name);
	if (rc == 0) {
		spread_roles(g, &o);
		for (uint32_t i = 0; i < o.n; i++)
			for (uint32_t v = g->comp[o.list[i]].first;
				v < g->comp[o.list[i]].first + g->comp[o.list[i]].n_nodes; v++)
				g->node[v].flops = node_work(g, v);
	}
	arena_release(&tmp);
	return rc;
}
