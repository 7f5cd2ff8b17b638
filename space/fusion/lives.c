/*
 * lives.c - finds which values end with a region: nothing after the region reads them.
 *
 * A compiler that plans memory lets a kernel write its result over an operand that is not read any more.
 * It can then no longer promise the kernel that its pointers are distinct, and the kernel may be slower:
 * one kernel of a ranking model takes 16 us with memory of its own and 56 us in place. So a region must be
 * as free to overwrite as the program is. It may overwrite what it reads from outside if all readers are
 * in the region. What it makes is a result only if something outside reads it.
 *
 * The compiler chooses the order of kernels. We assume that groups run in the order of their roots, which
 * is true if one needs the other. If neither needs the other, either of them may overwrite what both read.
 * Constants last, and so do parameters, with two exceptions: the state of a loop, which the next state
 * replaces, and an aliased parameter, which the program's caller gave away.
 */
#include "space/fusion/own.h"

static bool is_given_away(const struct graph *g, const struct node *parameter)
{
	const Hlo__HloInputOutputAliasProto *alias = g->module->input_output_alias;

	for (size_t i = 0; alias && i < alias->n_entries; i++)
		if (alias->entries[i]->parameter_number == parameter->proto->parameter_number &&
			alias->entries[i]->n_parameter_shape_index == 0)
			return true;
	return false;
}

/* Is v (not an element of a tuple) in memory as long as its computation runs? */
static bool lasts(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	uint32_t caller = g->comp[n->comp].caller;

	if (n->opcode == OP_PARAMETER && n->comp == g->entry)
		return !is_given_away(g, n);
	if (n->opcode == OP_PARAMETER)
		return caller == NONE || g->node[caller].opcode != OP_WHILE;
	return n->opcode == OP_CONSTANT;
}

void fusion_find_lasting(struct space *s)
{
	const struct graph *g = s->graph;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		fusion_of(s)->lasting[v] =
			lasts(g, g->node[v].opcode == OP_GET_TUPLE_ELEMENT ? node_operands(g, v)[0] : v);
}

/* Is v, outside of any fusion, only another name for the memory of its operand? */
static bool is_alias(const struct space *s, const uint8_t *config, uint32_t v)
{
	const struct node *n = &s->graph->node[v];

	return n->opcode == OP_BITCAST && fusion_kept(s, config, v) && !fusion_absorbed(s, config, n->operand);
}

/* The last group that reads a value, among the region's groups and among all others: 1 + its root, or 0. */
struct readers {
	uint32_t inside, outside;
};

static void read_by(struct readers *r, const struct nodes *roots, uint32_t root)
{
	uint32_t *last = nodes_has(roots, root) ? &r->inside : &r->outside;

	*last = root + 1 > *last ? root + 1 : *last;
}

/* Adds the groups that read v under this name; appends its other names to `names`. */
static void find_readers_of(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t v,
	bool look_through, struct nodes *names, struct readers *r)
{
	const struct graph *g = s->graph;
	struct nodes users = {0}, groups = {0};

	if (g->node[v].flags & NODE_ROOT)
		r->outside = NONE;
	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t u = node_users(g, v)[k];
		if (fusion_absorbs(s, config, u, v))
			continue;
		if (is_alias(s, config, u) && (look_through || nodes_has(roots, u))) {
			nodes_add(names, u);
			continue;
		}
		nodes_add(&users, u);
	}
	group_roots_of(s, config, users.v, users.n, &groups);
	for (size_t i = 0; i < groups.n; i++)
		read_by(r, roots, groups.v[i]);
	nodes_release(&users);
	nodes_release(&groups);
}

/* Adds the groups that read the memory of v. With `look_through`, an alias outside is another name, not a reader. */
static void find_readers(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t v,
	bool look_through, struct readers *r)
{
	struct nodes names = {0};

	nodes_add(&names, v);
	for (size_t i = 0; i < names.n; i++)
		find_readers_of(s, config, roots, names.v[i], look_through, &names, r);
	nodes_release(&names);
}

bool fusion_read_outside(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t v)
{
	struct readers r = {0};

	find_readers(s, config, roots, v, false, &r);
	return r.outside || !r.inside;
}

bool fusion_ends_inside(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t v)
{
	struct readers r = {0};

	while (is_alias(s, config, v))
		v = node_operands(s->graph, v)[0];
	if (fusion_of(s)->lasting[v])
		return false;
	find_readers(s, config, roots, v, true, &r);
	return r.inside > r.outside;
}
