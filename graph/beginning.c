/*
 * beginning.c - cuts a program off behind some of its instructions.
 *
 * Operands come before users, so the first n instructions need no other. Parameters stay, all of them: a beginning
 * takes the same inputs as the whole. Tokens cannot be results; the instructions that make them have effects, and are
 * kept for those.
 */
#include "graph/beginning.h"

#include "graph/node_ids.h"
#include "hlo/ids.h"
#include "hlo/pack.h"

typedef Hlo__HloInstructionProto instruction;

/* Which nodes stay. */
struct cut {
	uint32_t first, end; /* nodes of the entry that stay, */
	struct graph *g;     /* ... and its parameters */
};

static bool stays(const struct cut *c, uint32_t v)
{
	return (v >= c->first && v < c->end) || (v >= c->end && c->g->node[v].opcode == OP_PARAMETER &&
		c->g->node[v].comp == c->g->entry);
}

/* Is it a result: does nothing that stays read it? */
static bool is_result(const struct cut *c, uint32_t v)
{
	const struct node *n = &c->g->node[v];

	if (n->opcode == OP_PARAMETER || n->dtype == DT_TOKEN)
		return false;
	for (uint32_t k = 0; k < n->n_users; k++)
		if (stays(c, node_users(c->g, v)[k]))
			return false;
	return true;
}

/* Instructions may have to wait for some that are gone. */
static void forget_gone(const struct cut *c, const struct node_ids *ids, instruction *in)
{
	size_t kept = 0;

	for (size_t i = 0; i < in->n_control_predecessor_ids; i++) {
		uint32_t at = node_ids_find(ids, in->control_predecessor_ids[i]);
		if (at != NONE && stays(c, c->first + at))
			in->control_predecessor_ids[kept++] = in->control_predecessor_ids[i];
	}
	in->n_control_predecessor_ids = kept;
}

/* The tuple of all results; its operands are filled in by the caller. */
static instruction *new_root(struct graph *g, size_t n)
{
	instruction *root = ARENA_NEW(&g->mem, 1, instruction);
	struct ids ids = ids_of(g->module);

	hlo__hlo_instruction_proto__init(root);
	root->opcode = arena_strdup(&g->mem, opcode_facts(OP_TUPLE)->name);
	root->name = arena_strdup(&g->mem, "vantage_beginning");
	root->id = ids_next(&ids, g->node[g->comp[g->entry].root].proto);
	root->operand_ids = ARENA_NEW(&g->mem, n, int64_t);
	root->n_operand_ids = n;
	root->shape = ARENA_NEW(&g->mem, 1, Hlo__ShapeProto);
	hlo__shape_proto__init(root->shape);
	root->shape->element_type = DT_TUPLE;
	root->shape->tuple_shapes = ARENA_NEW(&g->mem, n, Hlo__ShapeProto *);
	root->shape->n_tuple_shapes = n;
	return root;
}

/* Leaves in the entry what stays, and a root; false if nothing is a result. */
static bool cut_entry(const struct cut *c)
{
	struct graph *g = c->g;
	struct comp *entry = &g->comp[g->entry];
	instruction **in = ARENA_NEW(&g->mem, (size_t)entry->n_nodes + 1, instruction *), *root;
	size_t n = 0, results = 0;
	struct node_ids ids;

	for (uint32_t v = entry->first; v < entry->first + entry->n_nodes; v++)
		results += stays(c, v) && is_result(c, v);
	if (results == 0)
		return false;
	root = new_root(g, results);
	ids = node_ids_of(g, g->entry);
	results = 0;
	for (uint32_t v = entry->first; v < entry->first + entry->n_nodes; v++) {
		if (!stays(c, v))
			continue;
		in[n++] = g->node[v].proto;
		if (is_result(c, v)) {
			root->operand_ids[results] = g->node[v].proto->id;
			root->shape->tuple_shapes[results++] = g->node[v].proto->shape;
		}
		forget_gone(c, &ids, g->node[v].proto);
	}
	node_ids_release(&ids);
	in[n++] = root;
	entry->proto->instructions = in;
	entry->proto->n_instructions = n;
	entry->proto->root_id = root->id;
	if (entry->proto->program_shape)
		entry->proto->program_shape->result = root->shape;
	if (g->module->host_program_shape)
		g->module->host_program_shape->result = root->shape;
	return true;
}

bool beginning_program(const struct graph *g, uint32_t n, struct buf *out)
{
	struct graph copy = {0};
	struct buf bytes = {0};
	struct cut c = {.g = &copy};
	bool whole = n >= g->comp[g->entry].n_nodes, sound;

	graph_write(g, &bytes);
	if (whole) {
		buf_add(out, bytes.data, bytes.len);
		buf_release(&bytes);
		return true;
	}
	sound = graph_parse(&copy, bytes.data, bytes.len, "the program", NULL) == 0; /* same nodes, same numbers */
	if (sound) {
		c.first = copy.comp[copy.entry].first;
		c.end = c.first + n;
		copy.module->schedule = NULL;
		copy.module->input_output_alias = NULL;
		copy.module->buffer_donor = NULL;
		sound = cut_entry(&c);
		if (sound)
			pack_message(&copy.module->base, out);
	}
	graph_release(&copy);
	buf_release(&bytes);
	return sound;
}
