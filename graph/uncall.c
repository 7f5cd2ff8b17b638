/*
 * uncall.c - writes the entry anew, and with it whatever it still needs.
 *
 * A computation is written instruction by instruction. In place of a call its callee is written, in which a parameter
 * is what the call hands over. Calls within calls need nothing special. An element of a tuple that was written here
 * is the value that went into it, so a tuple that only took results out of a callee is read by nobody. What nobody
 * reads is dropped in the end.
 *
 * What is written once keeps its name. What is called twice is written twice, and the second time its names get a mark
 * and a number. The body of a loop inside is then written twice as well: each loop has a body of its own, as before.
 * Computations that are applied (reducers, comparators) are shared.
 */
#include "graph/uncall.h"

#include <string.h>
#include "hlo/ids.h"
#include "hlo/pack.h"

#define MARK ".in"    /* in a new name, before its number */
#define TIMES 8	      /* the program may become so many times as large */
#define DEEPEST 1000  /* calls within calls */

typedef Hlo__HloInstructionProto instruction;

struct value { /* an instruction that is written */
	instruction *in;
	struct value **operand;
	uint32_t readers;
	bool stays; /* even if nobody reads it */
};

struct body { /* a computation that is being written */
	struct value **v;
	size_t n, cap;
	const instruction *like; /* an instruction of it */
};

struct writer {
	const struct graph *g;
	struct arena mem;
	struct ids ids;
	uint32_t next_name;
	int64_t next_comp;
	bool *named;   /* by node: is it written already, under its own name? */
	bool *written; /* by computation: likewise */
	Hlo__HloComputationProto **comp;
	size_t n_comps, cap_comps;
};

static bool says_something(const instruction *in)
{
	bool attributes = in->frontend_attributes && in->frontend_attributes->n_map;

	return attributes || in->sharding || in->backend_config.len || in->is_composite ||
		in->n_output_operand_aliasing;
}

static bool goes(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const struct comp *c;

	if (n->opcode != OP_CALL || n->n_called != 1 || n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL) ||
		says_something(n->proto))
		return false;
	c = &g->comp[node_calls(g, v)[0]];
	for (uint32_t u = c->first; u < c->first + c->n_nodes; u++)
		if (g->node[u].flags & NODE_CONTROL)
			return false;
	return true;
}

static bool is_control(const struct graph *g, uint32_t comp)
{
	return g->comp[comp].role == ROLE_CONTROL;
}

/* Is there a call that goes, and does the program stay of a size to work with? */
static bool is_worth(const struct graph *g)
{
	double *size = MEM_NEW(g->n_comps, double);
	uint32_t *depth = MEM_NEW(g->n_comps, uint32_t);
	bool any = false, fits;

	for (uint32_t v = 0; v < g->n_nodes; v++) { /* callees come first */
		uint32_t c = g->node[v].comp;
		bool gone = node_is_compiled(g, v) && goes(g, v);
		any |= gone;
		size[c] += !gone;
		for (uint32_t k = 0; k < g->node[v].n_called; k++) {
			uint32_t callee = node_calls(g, v)[k];
			size[c] += is_control(g, callee) ? size[callee] : 0;
			depth[c] = depth[callee] >= depth[c] ? depth[callee] + 1 : depth[c];
		}
	}
	fits = size[g->entry] <= (double)TIMES * g->n_nodes && depth[g->entry] <= DEEPEST;
	mem_free(size);
	mem_free(depth);
	return any && fits;
}

static int64_t write_comp(struct writer *x, uint32_t comp);

/* A copy of the node's instruction that reads these values. */
static struct value *add(struct writer *x, struct body *b, uint32_t v, struct value **operand, bool moved)
{
	const struct node *n = &x->g->node[v];
	struct value *new = ARENA_NEW(&x->mem, 1, struct value);
	instruction *in = new->in = arena_dup(&x->mem, n->proto, sizeof *in);

	if (moved)
		in->id = ids_next(&x->ids, b->like);
	if (x->named[v])
		in->name = arena_printf(&x->mem, "%s" MARK "%u", in->name, x->next_name++);
	x->named[v] = true;
	in->operand_ids = ARENA_NEW(&x->mem, n->n_operands, int64_t);
	for (uint32_t k = 0; k < n->n_operands; k++)
		in->operand_ids[k] = operand[k]->in->id;
	in->called_computation_ids = ARENA_NEW(&x->mem, n->n_called, int64_t);
	for (uint32_t k = 0; k < n->n_called; k++)
		in->called_computation_ids[k] = write_comp(x, node_calls(x->g, v)[k]);
	new->operand = operand;
	new->stays = n->opcode == OP_PARAMETER || n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL);
	MEM_GROW(&b->v, &b->cap, b->n + 1);
	b->v[b->n++] = new;
	return new;
}

/* Is the node an element of a tuple that was written here? */
static bool is_element(const struct node *n, struct value *const *operand)
{
	return n->opcode == OP_GET_TUPLE_ELEMENT && !(n->flags & NODE_CONTROL) &&
		strcmp(operand[0]->in->opcode, opcode_facts(OP_TUPLE)->name) == 0;
}

/* Writes the nodes of a computation, with these values as its parameters (NULL: its own). Returns the root's value. */
static struct value *expand(struct writer *x, struct body *b, uint32_t comp, struct value **arg, bool moved)
{
	const struct graph *g = x->g;
	const struct comp *c = &g->comp[comp];
	struct value **made = ARENA_NEW(&x->mem, c->n_nodes, struct value *);

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const struct node *n = &g->node[v];
		struct value **operand = ARENA_NEW(&x->mem, n->n_operands, struct value *), *new;
		for (uint32_t k = 0; k < n->n_operands; k++)
			operand[k] = made[node_operands(g, v)[k] - c->first];
		if (arg && n->opcode == OP_PARAMETER)
			new = arg[n->proto->parameter_number];
		else if (comp_is_compiled(c) && goes(g, v))
			new = expand(x, b, node_calls(g, v)[0], operand, true);
		else if (is_element(n, operand))
			new = operand[0]->operand[n->proto->tuple_index];
		else
			new = add(x, b, v, operand, moved);
		made[v - c->first] = new;
	}
	return made[c->root - c->first];
}

/* Drops what nobody reads. */
static void prune(struct body *b, struct value *root)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < b->v[i]->in->n_operand_ids; k++)
			b->v[i]->operand[k]->readers++;
	root->readers++;
	for (size_t i = b->n; i-- > 0;) {
		struct value *v = b->v[i];
		for (size_t k = 0; k < v->in->n_operand_ids && !v->readers && !v->stays; k++)
			v->operand[k]->readers--;
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i]->readers || b->v[i]->stays)
			b->v[kept++] = b->v[i];
	b->n = kept;
}

/* Writes a computation and what it calls. Returns its id. What is written twice is a copy, if it is a program. */
static int64_t write_comp(struct writer *x, uint32_t comp)
{
	const struct graph *g = x->g;
	bool copy = x->written[comp];
	Hlo__HloComputationProto *c;
	struct body b = {.like = g->node[g->comp[comp].first].proto};
	struct value *root;

	if (copy && !is_control(g, comp))
		return g->comp[comp].proto->id;
	x->written[comp] = true;
	c = arena_dup(&x->mem, g->comp[comp].proto, sizeof *c);
	if (copy) {
		c->name = arena_printf(&x->mem, "%s" MARK "%u", c->name, x->next_name++);
		c->id = x->next_comp++;
	}
	root = expand(x, &b, comp, NULL, copy);
	if (comp_is_compiled(&g->comp[comp]))
		prune(&b, root);
	c->root_id = root->in->id;
	c->n_instructions = b.n;
	c->instructions = ARENA_NEW(&x->mem, b.n, instruction *);
	for (size_t i = 0; i < b.n; i++)
		c->instructions[i] = b.v[i]->in;
	mem_free(b.v);
	MEM_GROW(&x->comp, &x->cap_comps, x->n_comps + 1);
	x->comp[x->n_comps++] = c;
	return c->id;
}

void uncall(const struct graph *g, struct buf *out)
{
	struct writer x = {.g = g};
	Hlo__HloModuleProto m = *g->module;

	if (!is_worth(g))
		return;
	x.ids = ids_of(g->module);
	x.next_name = ids_unnamed(g->module, MARK);
	x.next_comp = ids_next_comp(g->module);
	x.named = ARENA_NEW(&x.mem, g->n_nodes, bool);
	x.written = ARENA_NEW(&x.mem, g->n_comps, bool);
	write_comp(&x, g->entry);
	m.computations = x.comp;
	m.n_computations = x.n_comps;
	m.schedule = NULL;
	pack_message(&m.base, out);
	mem_free(x.comp);
	arena_release(&x.mem);
}
