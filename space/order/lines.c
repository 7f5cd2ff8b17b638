/*
 * lines.c - makes a line (line.h) of each computation that is compiled as such, when the values of its program have
 * their names (values.h).
 */
#include "graph/node_ids.h"
#include "space/order/own.h"

/* Does the operation only hand names on? Then it does not count as a reader of its operands. */
static bool only_names(uint16_t op)
{
	return op == OP_TUPLE || op == OP_GET_TUPLE_ELEMENT || op == OP_DOMAIN;
}

/* Notes that node `by` reads the names from `first` to before `end`. */
static void add_reads(struct values *v, uint32_t by, uint32_t first, uint32_t end)
{
	uint32_t comp = v->graph->node[by].comp;

	for (uint32_t k = first; k < end; k++) {
		uint32_t x = values_life(v, k);
		if (v->home[x] == comp && v->number[x] != NONE)
			line_reads(&v->line[comp], by - v->graph->comp[comp].first, v->number[x]);
	}
}

static void add_values(struct values *v, uint32_t comp)
{
	const struct graph *g = v->graph;
	const struct comp *c = &g->comp[comp];
	struct line *l = &v->line[comp];

	for (uint32_t i = c->first; i < c->first + c->n_nodes; i++) {
		for (uint32_t k = v->leaf[i]; k < v->leaf[i + 1]; k++) {
			uint32_t x = values_life(v, k), b = values_of(v, k);
			if (v->home[x] == comp && v->number[x] == NONE && !v->table[k])
				v->number[x] = line_value(l, i - c->first, v->outside[b] ? 0
					: values_rounded(v, v->bytes[b]));
		}
		for (uint32_t o = 0; o < g->node[i].n_operands; o++) {
			uint32_t from = node_operands(g, i)[o];
			line_after(l, from - c->first, i - c->first);
			if (!only_names(g->node[i].opcode))
				add_reads(v, i, v->leaf[from], v->leaf[from + 1]);
		}
	}
	add_reads(v, c->root, v->leaf[c->root], v->leaf[c->root + 1]); /* what it returns lives to its end */
}

/* Adds the program's control dependencies, which say what comes first without passing a value. */
static void add_control(struct values *v, uint32_t comp)
{
	const struct graph *g = v->graph;
	const struct comp *c = &g->comp[comp];
	struct node_ids ids = node_ids_of(g, comp);

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const Hlo__HloInstructionProto *in = g->node[c->first + i].proto;
		for (size_t k = 0; k < in->n_control_predecessor_ids; k++) {
			uint32_t before = node_ids_find(&ids, in->control_predecessor_ids[k]);
			if (before != NONE)
				line_after(&v->line[comp], before, i);
		}
	}
	node_ids_release(&ids);
}

/* Pins parameters and constants, because they do nothing when they run. */
static void add_pins(struct values *v, uint32_t comp)
{
	const struct graph *g = v->graph;
	const struct comp *c = &g->comp[comp];

	for (uint32_t i = c->first; i < c->first + c->n_nodes; i++)
		if ((g->node[i].opcode == OP_PARAMETER || g->node[i].opcode == OP_CONSTANT) &&
			!g->node[i].proto->n_control_predecessor_ids)
			line_pin(&v->line[comp], i - c->first);
}

/* Returns the name of the node's value that may be written over that operand, as far as the node decides; or NONE. */
static uint32_t over(const struct values *v, uint32_t node, uint32_t operand)
{
	const struct graph *g = v->graph;

	if (!order_may_share(g, node, operand))
		return NONE;
	return v->leaf[node] + (values_array(v, node) ? 0 : 1 + operand);
}

/* Does that node begin the life (values.h), and is it in temporary memory? */
static bool makes_here(const struct values *v, uint32_t life, uint32_t node)
{
	uint32_t comp = v->graph->node[node].comp;

	return v->home[life] == comp && v->line[comp].value[v->number[life]].maker == node -
		v->graph->comp[comp].first && !v->outside[values_of(v, life)];
}

/*
 * Tells the line which values may be written over which. The compiler allows this only if the operand itself makes the
 * value that is written over, and that value has its buffer to itself.
 */
static void add_shares(struct values *v, uint32_t comp)
{
	const struct graph *g = v->graph;
	const struct comp *c = &g->comp[comp];
	struct line *l = &v->line[comp];

	for (uint32_t i = c->first; i < c->first + c->n_nodes; i++)
		for (uint32_t o = 0; o < g->node[i].n_operands; o++) {
			uint32_t from = node_operands(g, i)[o], to = over(v, i, o), x, y;
			if (to == NONE || !values_array(v, from))
				continue;
			x = values_life(v, to);
			y = values_life(v, v->leaf[from]);
			if (y != x && makes_here(v, x, i) && makes_here(v, y, from) && !v->several[values_of(v, y)])
				line_shares(l, v->number[x], v->number[y]);
		}
}

void values_find(struct values *v, const struct graph *g, uint32_t align)
{
	values_name(v, g, align);
	v->line = MEM_NEW(g->n_comps, struct line);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		line_init(&v->line[c], order_compiled(g, c) ? g->comp[c].n_nodes : 0);
		if (order_compiled(g, c)) {
			add_pins(v, c);
			add_values(v, c);
			add_control(v, c);
			add_shares(v, c);
		}
		line_finish(&v->line[c]);
	}
}

/*
 * Returns the bytes that count twice at a loop or a branch: what a loop carries, and what a branch gives, count inside,
 * and again among the values that the step reads and makes.
 */
static uint64_t counted_twice(const struct values *v, uint32_t node)
{
	const struct graph *g = v->graph;
	const struct line *l = &v->line[g->node[node].comp];
	uint32_t step = node - g->comp[g->node[node].comp].first;
	uint64_t bytes = 0;

	for (uint32_t k = l->reads.first[step]; g->node[node].opcode == OP_WHILE && k < l->reads.first[step + 1]; k++)
		bytes += l->value[l->reads.item[k]].bytes;
	for (uint32_t k = l->makes.first[step]; k < l->makes.first[step + 1]; k++)
		bytes += l->value[l->makes.item[k]].bytes;
	return bytes;
}

void values_inside(struct values *v, const uint64_t *peak, uint32_t comp)
{
	const struct graph *g = v->graph;
	const struct comp *c = &g->comp[comp];
	struct line *l = &v->line[comp];

	for (uint32_t i = 0; i < l->n; i++) {
		const struct node *n = &g->node[c->first + i];
		uint64_t most = 0;
		for (uint32_t k = 0; k < n->n_called; k++) {
			uint32_t callee = node_calls(g, c->first + i)[k];
			if (order_compiled(g, callee) && peak[callee] > most)
				most = peak[callee];
		}
		l->inside[i] = (int64_t)most;
		if (n->opcode == OP_WHILE || n->opcode == OP_CONDITIONAL)
			l->inside[i] -= (int64_t)counted_twice(v, c->first + i);
	}
}
