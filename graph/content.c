/*
 * content.c - the content hash: SHA-256 over a program, whatever file it came in.
 *
 * Stores keep a configuration as one choice per node, by number, under this hash. So two files may
 * have the same hash only if they hold the same program with the same numbering. And they must have
 * it if they differ only in what does not matter: text or binary, names, ids, metadata, order of
 * listing. Our order (order.c) gives both, because it depends on the program alone. In that order, we
 * hash this stream:
 *
 *	for each computation, callees first, up to the entry:
 *		its number of nodes, its root, its thread
 *		for each node: opcode, shape with layout, attributes (attr.h: all a compiler sees),
 *			operands, control predecessors (ascending), called computations, all by number
 *		its schedule, if the module has one, by number
 *	the shapes promised at the boundary, with layout; aliases and donors; shardings; attributes
 *
 * Nodes are numbered from the start of their computation. Two equal reducers and one shared reducer
 * are different programs here, because their nodes are numbered differently.
 *
 * Computations that nobody calls are left out. So are fields of the module that do not change the
 * program (profiles, source locations, ids).
 */
#include <stdlib.h>
#include <string.h>
#include "base/sort.h"
#include "graph/attr.h"
#include "graph/node_ids.h"
#include "graph/own.h"

struct content {
	const struct graph *g;
	const struct raw *r;
	struct sha256 sha;
	struct sink out;
	struct buf bytes;
	uint32_t *waits; /* control predecessors of one node */
	size_t cap_waits;
};

static void flush(struct content *c)
{
	sha256_add(&c->sha, c->bytes.data, c->bytes.len);
	buf_reset(&c->bytes);
}

static void add_controls(struct content *c, uint32_t v, uint32_t first)
{
	const struct raw *r = c->r;
	uint32_t i = r->order[v], from = r->dep_first[i] + c->g->node[v].n_operands;
	uint32_t n = r->dep_first[i + 1] - from;
	MEM_GROW(&c->waits, &c->cap_waits, n);
	for (uint32_t k = 0; k < n; k++)
		c->waits[k] = r->rank[r->dep[from + k]] - first;
	sort_u32(c->waits, n);
	sink_word(&c->out, n);
	for (uint32_t k = 0; k < n; k++)
		sink_word(&c->out, c->waits[k]);
}

static void add_node(struct content *c, uint32_t v, uint32_t first)
{
	const struct graph *g = c->g;
	const struct node *n = &g->node[v];
	attr_instruction(&c->out, n->proto, ATTR_PROGRAM, true);
	sink_word(&c->out, n->n_operands);
	for (uint32_t k = 0; k < n->n_operands; k++)
		sink_word(&c->out, node_operands(g, v)[k] - first);
	add_controls(c, v, first);
	sink_word(&c->out, n->n_called);
	for (uint32_t k = 0; k < n->n_called; k++)
		sink_word(&c->out, node_calls(g, v)[k]);
}

static void add_comp(struct content *c, uint32_t k)
{
	const struct comp *comp = &c->g->comp[k];
	sink_word(&c->out, comp->n_nodes);
	sink_word(&c->out, comp->root - comp->first);
	sink_bytes(&c->out, comp->proto->execution_thread, strlen(comp->proto->execution_thread));
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		add_node(c, v, comp->first);
		if (c->bytes.len > 1 << 16)
			flush(c);
	}
}

struct scheduled { /* a computation */
	int64_t id;
	uint32_t at;
};

static int by_id(const void *a, const void *b)
{
	const struct scheduled *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static void add_sequence(struct content *c, uint32_t k, const Hlo__InstructionSequence *s)
{
	struct node_ids ids = node_ids_of(c->g, k);
	sink_word(&c->out, k + 1);
	sink_word(&c->out, s->n_instruction_ids);
	for (size_t i = 0; i < s->n_instruction_ids; i++) {
		uint32_t at = node_ids_find(&ids, s->instruction_ids[i]);
		sink_word(&c->out, at == NONE ? 0 : at + 1);
	}
	node_ids_release(&ids);
}

/* Adds the schedule in the order of our computations, without those that nobody calls. */
static void add_schedule(struct content *c)
{
	const Hlo__HloScheduleProto *s = c->g->module->schedule;
	uint32_t live = c->g->entry + 1;
	const Hlo__InstructionSequence **of = MEM_NEW(live, const Hlo__InstructionSequence *);
	struct scheduled *v = MEM_NEW(live, struct scheduled);
	for (uint32_t k = 0; k < live; k++)
		v[k] = (struct scheduled){c->g->comp[k].proto->id, k};
	qsort(v, live, sizeof(*v), by_id);
	for (size_t i = 0; s && i < s->n_sequences; i++) {
		struct scheduled key = {s->sequences[i]->key, 0};
		const struct scheduled *at = bsearch(&key, v, live, sizeof(*v), by_id);
		if (at)
			of[at->at] = s->sequences[i]->value;
	}
	for (uint32_t k = 0; k < live; k++)
		if (of[k])
			add_sequence(c, k, of[k]);
	sink_word(&c->out, 0);
	mem_free(v);
	mem_free(of);
}

static void add_boundary(struct content *c)
{
	const Hlo__HloModuleProto *m = c->g->module;
	const Hlo__ProgramShapeProto *p = m->host_program_shape;
	if (!p)
		p = c->g->comp[c->g->entry].proto->program_shape;
	sink_word(&c->out, p ? p->n_parameters : 0);
	for (size_t i = 0; p && i < p->n_parameters; i++)
		attr_shape(&c->out, p->parameters[i], true);
	attr_shape(&c->out, p ? p->result : NULL, true);
	attr_message(&c->out, m->input_output_alias);
	attr_message(&c->out, m->buffer_donor);
	attr_message(&c->out, m->frontend_attributes);
	attr_message(&c->out, m->spmd_output_sharding);
	sink_word(&c->out, m->n_spmd_parameters_shardings);
	for (size_t i = 0; i < m->n_spmd_parameters_shardings; i++)
		attr_message(&c->out, m->spmd_parameters_shardings[i]);
	sink_word(&c->out, (uint64_t)m->is_dynamic | (uint64_t)m->use_auto_spmd_partitioning << 1);
}

void graph_content(struct graph *g, const struct raw *r)
{
	struct content c = {.g = g, .r = r};
	c.out.bytes = &c.bytes;
	sha256_init(&c.sha);
	buf_adds(&c.bytes, "vantage program 1\n");
	for (uint32_t k = 0; k <= g->entry; k++)
		add_comp(&c, k);
	add_schedule(&c);
	add_boundary(&c);
	flush(&c);
	sha256_end(&c.sha, &g->content);
	mem_free(c.waits);
	buf_release(&c.bytes);
}
