/*
 * unroll.c - writes a loop of few turns as its turns, one after the other.
 *
 * A compiler fuses what is in a turn, never two turns. The random numbers of JAX are made in five turns over two
 * arrays, which each turn reads and writes; written out they are one loop over registers, and whoever uses the numbers
 * can be fused with it. Where a million of them took 15 ms, they take 2.7. Shifts by what a turn reads from a small
 * table become shifts by constants. In the program, a loop that was written out can be fused with what is around it,
 * which the place alone does not show. So the price is that of whole programs.
 *
 * The values that a loop carries are followed one by one, so no tuple is left between turns.
 *
 * The number of turns must follow from the program. Where it was counted in a run (graph/turns.h), other inputs may
 * take more, and the loop stays.
 */
#include "graph/turns.h"
#include "space/rewrite/codes.h"

static const char *const measures[] = {"turns", "nodes", "changed", NULL};

/* What a loop carries at one time: a value each, NULL where only the tuple is known. */
struct carried {
	Hlo__HloInstructionProto *tuple, **part;
	uint32_t n;
};

static const struct comp *body_of(const struct graph *g, uint32_t v)
{
	return &g->comp[node_calls(g, v)[0]];
}

/* May it be written as often as the loop turns? */
static bool repeats(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	return !(n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL)) && !n->proto->sharding && n->proto->channel_id <= 0;
}

/* The elements that a turn computes anew; an array of which it writes a part counts as that part. */
static double changed(const struct graph *g, const struct comp *body)
{
	double sum = 0;

	for (uint32_t i = 0; i < g->node[body->root].n_operands && g->node[body->root].opcode == OP_TUPLE; i++) {
		uint32_t v = node_operands(g, body->root)[i];
		if (g->node[v].opcode == OP_DYNAMIC_UPDATE_SLICE)
			v = node_operands(g, v)[1];
		if (!rule_stays(g, v, i))
			sum += (double)g->node[v].elements;
	}
	return sum;
}

/* The tuple that the loop begins with, and constants in it, which shall be constants where the place is cut out. */
static void look_through(const struct graph *g, uint32_t v, struct found *f)
{
	uint32_t from = node_operands(g, v)[0];

	f->inside[f->n_inside++] = from;
	for (uint32_t i = 0; i < g->node[from].n_operands && f->n_inside < FOUND_INSIDE; i++) {
		uint32_t x = node_operands(g, from)[i];
		if (g->node[x].opcode == OP_CONSTANT && g->node[x].rank > 0 && !found_inside(f, x))
			f->inside[f->n_inside++] = x;
	}
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	const struct node *n = &g->node[v];
	const struct comp *body;

	if (n->opcode != OP_WHILE || n->dtype != DT_TUPLE || n->n_called != 2 || !(n->trip_count >= 1) ||
		!repeats(g, v) || g->node[node_operands(g, v)[0]].opcode != OP_TUPLE)
		return false;
	if (turns_noted(n->proto, 0) >= 0)
		return false;
	body = body_of(g, v);
	for (uint32_t i = body->first; i < body->first + body->n_nodes; i++)
		if (!repeats(g, i))
			return false;
	look_through(g, v, f);
	f->measure[0] = n->trip_count;
	f->measure[1] = (double)body->n_nodes;
	f->measure[2] = changed(g, body);
	return true;
}

static Hlo__HloInstructionProto *part_of(struct draft *d, struct carried *c, uint32_t i)
{
	if (!c->part[i])
		c->part[i] = draft_element(d, c->tuple, i);
	return c->part[i];
}

static Hlo__HloInstructionProto *tuple_of(struct draft *d, struct carried *c)
{
	for (uint32_t i = 0; i < c->n && !c->tuple; i++)
		part_of(d, c, i);
	if (!c->tuple)
		c->tuple = draft_tuple(d, c->part, c->n);
	return c->tuple;
}

/* What a node holds, a tuple or something that gives one. `value` has its value, or its operands'. */
static struct carried carried_by(struct draft *d, uint32_t v, Hlo__HloInstructionProto *const *value)
{
	const struct node *n = &d->g->node[v];
	struct carried c = {.n = (uint32_t)n->proto->shape->n_tuple_shapes};

	c.part = ARENA_NEW(d->mem, c.n + 1, Hlo__HloInstructionProto *);
	c.tuple = n->opcode == OP_TUPLE ? NULL : value[v];
	for (uint32_t i = 0; i < c.n && !c.tuple; i++)
		c.part[i] = value[node_operands(d->g, v)[i]];
	return c;
}

/* Writes one turn; `value` is scratch, one per node of the program. */
static struct carried write_turn(struct draft *d, const struct comp *body, struct carried *before,
	Hlo__HloInstructionProto **value)
{
	const struct graph *g = d->g;

	for (uint32_t v = body->first; v < body->first + body->n_nodes; v++) {
		const struct node *n = &g->node[v];
		uint32_t from = n->n_operands ? node_operands(g, v)[0] : NONE;
		Hlo__HloInstructionProto **x = ARENA_NEW(d->mem, n->n_operands + 1, Hlo__HloInstructionProto *);
		if (n->opcode == OP_PARAMETER || (v == body->root && n->opcode == OP_TUPLE && n->n_users == 0))
			continue;
		if (n->opcode == OP_GET_TUPLE_ELEMENT && g->node[from].opcode == OP_PARAMETER) {
			value[v] = part_of(d, before, (uint32_t)n->proto->tuple_index);
			continue;
		}
		for (uint32_t k = 0; k < n->n_operands; k++) {
			uint32_t o = node_operands(g, v)[k];
			x[k] = g->node[o].opcode == OP_PARAMETER ? tuple_of(d, before) : value[o];
		}
		value[v] = draft_again(d, n->proto, x, n->n_operands);
	}
	return carried_by(d, body->root, value);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const struct graph *g = d->g;
	const struct comp *body = body_of(g, f->anchor);
	uint32_t from = node_operands(g, f->anchor)[0];
	Hlo__HloInstructionProto **value = MEM_NEW(g->n_nodes, Hlo__HloInstructionProto *);
	struct carried now;

	(void)variant;
	for (uint32_t k = 0; k < g->node[from].n_operands; k++)
		value[node_operands(g, from)[k]] = draft_operand(d, from, k);
	now = carried_by(d, from, value);
	for (double turn = 0; turn < f->measure[0]; turn++)
		now = write_turn(d, body, &now, value);
	mem_free(value);
	for (uint32_t i = 0; i < now.n; i++)
		part_of(d, &now, i);
	rule_kept_parts(d, f->anchor, now.part, now.n);
	return draft_tuple(d, now.part, now.n);
}

const struct rule_code loop_turns_code = {.name = "loop_turns", .measures = measures, .match = match, .write = write};
