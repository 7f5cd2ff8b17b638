/*
 * write.c - adds the control dependencies that force an order, and finds the order in what the compiler wrote.
 */
#include "space/order/write.h"

#include <stdlib.h>
#include <string.h>
#include "hlo/module.h"
#include "hlo/pack.h"
#include "hlo/guard.h"

static Hlo__HloComputationProto *chain(const struct program *p, uint32_t comp, struct arena *mem)
{
	const struct graph *g = p->graph;
	const struct comp *c = &g->comp[comp];
	Hlo__HloComputationProto *out = arena_dup(mem, c->proto, sizeof *out);
	int64_t *before = arena_alloc(mem, (c->n_nodes + 1) * sizeof *before);

	out->instructions = arena_alloc(mem, (c->n_nodes + 1) * sizeof *out->instructions);
	out->n_instructions = c->n_nodes;
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		Hlo__HloInstructionProto *in = arena_dup(mem, g->node[c->first + p->order[comp][i]].proto, sizeof *in);
		before[i] = i ? out->instructions[i - 1]->id : 0;
		in->n_control_predecessor_ids = i > 0;
		in->control_predecessor_ids = i ? &before[i] : NULL;
		out->instructions[i] = in;
	}
	return out;
}

void order_write(const struct program *p, struct buf *module)
{
	const struct graph *g = p->graph;
	Hlo__HloModuleProto m = *g->module;
	struct arena mem = {0};

	m.computations = arena_alloc(&mem, (g->n_comps + 1) * sizeof *m.computations);
	m.n_computations = g->n_comps;
	for (uint32_t c = 0; c < g->n_comps; c++)
		m.computations[c] = p->values.line[c].n ? chain(p, c, &mem) : g->comp[c].proto;
	m.schedule = NULL;
	pack_message(&m.base, module);
	arena_release(&mem);
}

struct named {
	const char *name;
	uint32_t node;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

struct identified {
	int64_t id;
	const Hlo__HloInstructionProto *in;
};

static int by_id(const void *a, const void *b)
{
	const struct identified *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* The instructions of a computation of the module, by their ids. */
struct listed {
	struct identified *v;
	size_t n;
};

static const struct identified *find_id(const struct listed *l, int64_t id)
{
	struct identified key = {.id = id};

	return bsearch(&key, l->v, l->n, sizeof *l->v, by_id);
}

static const struct named *find_name(const struct named *all, uint32_t n, const char *name)
{
	struct named key = {name, 0};

	return bsearch(&key, all, n, sizeof *all, by_name);
}

/* What a copy copies, and what that copies, and so on. */
static uint32_t original(const struct graph *g, uint32_t v)
{
	while (g->node[v].opcode == OP_COPY)
		v = node_operands(g, v)[0];
	return v;
}

static bool is_copy(const Hlo__HloInstructionProto *in)
{
	return strcmp(in->opcode, "copy") == 0 && in->n_operand_ids == 1;
}

/* The same of an instruction of the module; NULL if that is not in the list. */
static const Hlo__HloInstructionProto *original_of(const struct listed *l, const Hlo__HloInstructionProto *in)
{
	for (size_t i = 0; in && is_copy(in) && i < l->n; i++) {
		const struct identified *from = find_id(l, in->operand_ids[0]);
		in = from ? from->in : NULL;
	}
	return in;
}

enum placed { NOT_YET, PLACED, MADE_ANEW };

/*
 * Which node is the instruction? Its name tells. But some compilers take copies out, put others in and give them new
 * names; such a one is a copy of the same value that is not placed yet, or else none of ours.
 */
static uint32_t node_of(const struct graph *g, const struct named *all, const struct listed *l,
	const Hlo__HloInstructionProto *in, enum placed *placed)
{
	const struct named *own = find_name(all, g->n_nodes, in->name), *from;
	const Hlo__HloInstructionProto *first;

	if (!is_copy(in)) {
		if (!own || g->node[own->node].opcode == OP_COPY)
			return NONE;
		placed[own->node] = PLACED;
		return own->node;
	}
	first = original_of(l, in);
	from = first ? find_name(all, g->n_nodes, first->name) : NULL;
	if (!from)
		return NONE;
	if (own && g->node[own->node].opcode == OP_COPY && !placed[own->node] && original(g, own->node) == from->node) {
		placed[own->node] = PLACED;
		return own->node;
	}
	for (uint32_t v = from->node + 1; v < g->n_nodes && g->node[v].comp == g->node[from->node].comp; v++)
		if (g->node[v].opcode == OP_COPY && !placed[v] && original(g, v) == from->node) {
			placed[v] = MADE_ANEW;
			return v;
		}
	return NONE;
}

/*
 * Reads the sequence of one computation of the module. Each instruction that the program has is appended to the order
 * of the computation that it is in there; next[] counts them.
 */
static void read_sequence(struct program *p, const Hlo__HloComputationProto *c, const Hlo__InstructionSequence *q,
	const struct named *all, enum placed *placed, uint32_t *next)
{
	const struct graph *g = p->graph;
	struct listed l = {MEM_NEW(c->n_instructions, struct identified), c->n_instructions};

	for (size_t i = 0; i < c->n_instructions; i++)
		l.v[i] = (struct identified){c->instructions[i]->id, c->instructions[i]};
	qsort(l.v, l.n, sizeof *l.v, by_id);
	for (size_t i = 0; i < q->n_instruction_ids; i++) {
		const struct identified *in = find_id(&l, q->instruction_ids[i]);
		uint32_t v = in ? node_of(g, all, &l, in->in, placed) : NONE, comp = v == NONE ? 0 : g->node[v].comp;
		if (v == NONE)
			continue;
		if (next[comp] < p->values.line[comp].n)
			p->order[comp][next[comp]++] = v - g->comp[comp].first;
	}
	mem_free(l.v);
}

/* Appends v to an order, after the copies before it that the compiler took out. */
static void put(const struct graph *g, uint32_t v, enum placed *placed, uint32_t *order, uint32_t *n)
{
	for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
		uint32_t p = node_operands(g, v)[k];
		if (placed[p] != NOT_YET || g->node[p].opcode != OP_COPY)
			continue;
		placed[p] = MADE_ANEW;
		put(g, p, placed, order, n);
	}
	order[(*n)++] = v - g->comp[g->node[v].comp].first;
}

/* Puts copies that the compiler took out, and did not put in again, before what reads them. */
static void put_missing(struct program *p, uint32_t comp, enum placed *placed, uint32_t *next)
{
	const struct comp *c = &p->graph->comp[comp];
	uint32_t *order = mem_alloc((c->n_nodes + 1) * sizeof *order), n = 0;

	for (uint32_t i = 0; i < next[comp]; i++)
		put(p->graph, c->first + p->order[comp][i], placed, order, &n);
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (placed[v] == NOT_YET && p->graph->node[v].opcode == OP_COPY) {
			placed[v] = MADE_ANEW;
			put(p->graph, v, placed, order, &n);
		}
	memcpy(p->order[comp], order, n * sizeof *order);
	next[comp] = n;
	mem_free(order);
}

static const Hlo__HloComputationProto *computation(const Hlo__HloModuleProto *m, int64_t id)
{
	for (size_t i = 0; i < m->n_computations; i++)
		if (m->computations[i]->id == id)
			return m->computations[i];
	return NULL;
}

/* Drops from an order what the compiler made anew, which it puts where it likes. Returns how many are left. */
static uint32_t drop_anew(const struct comp *c, const uint32_t *order, const enum placed *placed, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (placed[c->first + order[i]] != MADE_ANEW)
			out[n++] = order[i];
	return n;
}

static void count_same(const struct program *p, uint32_t comp, const uint32_t *old, const enum placed *placed,
	uint32_t *same, uint32_t *all)
{
	const struct comp *c = &p->graph->comp[comp];
	uint32_t *a = MEM_NEW(c->n_nodes, uint32_t), *b = MEM_NEW(c->n_nodes, uint32_t);
	uint32_t n = drop_anew(c, old, placed, a);

	drop_anew(c, p->order[comp], placed, b);
	for (uint32_t i = 0; i < n; i++)
		*same += a[i] == b[i];
	*all += n;
	mem_free(a);
	mem_free(b);
}

/* Checks that each computation has a legal order of all its instructions, and counts those that are where they were. */
static int compare(struct program *p, uint32_t **old, const uint32_t *next, const enum placed *placed, uint32_t *same,
	uint32_t *all, struct err *err)
{
	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		const struct line *l = &p->values.line[c];
		if (next[c] != l->n || !line_legal(l, p->order[c]))
			return err_set(err, "the compiler's order of "
				"computation %.100s is not one of its %u instructions",
				p->graph->comp[c].proto->name, l->n);
		if (l->n)
			count_same(p, c, old[c], placed, same, all);
	}
	return 0;
}

int order_read(struct program *p, const Hlo__HloModuleProto *m, uint32_t *same, uint32_t *all, struct err *err)
{
	const struct graph *g = p->graph;
	struct named *names = MEM_NEW(g->n_nodes, struct named);
	enum placed *placed = MEM_NEW(g->n_nodes, enum placed);
	uint32_t **old = MEM_NEW(g->n_comps, uint32_t *), *next = MEM_NEW(g->n_comps, uint32_t), equal = 0, total = 0;
	int rc;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		names[v] = (struct named){g->node[v].proto->name, v};
	qsort(names, g->n_nodes, sizeof *names, by_name);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		old[c] = mem_alloc(p->values.line[c].n * sizeof **old);
		memcpy(old[c], p->order[c], p->values.line[c].n * sizeof **old);
	}
	for (size_t s = 0; m->schedule && s < m->schedule->n_sequences; s++) {
		const Hlo__HloComputationProto *c = computation(m, m->schedule->sequences[s]->key);
		if (c && m->schedule->sequences[s]->value)
			read_sequence(p, c, m->schedule->sequences[s]->value, names, placed, next);
	}
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (next[c] && next[c] < p->values.line[c].n)
			put_missing(p, c, placed, next);
	rc = compare(p, old, next, placed, &equal, &total, err);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		if (rc < 0)
			memcpy(p->order[c], old[c], p->values.line[c].n * sizeof **old);
		mem_free(old[c]);
	}
	if (same)
		*same = equal;
	if (all)
		*all = total;
	mem_free(old);
	mem_free(next);
	mem_free(names);
	mem_free(placed);
	return rc;
}

int order_figure(const void *proto, size_t n, uint64_t *bytes, struct err *err)
{
	struct arena mem = {0};
	Hlo__ArrangedProto *a = guard_unpack(&mem, &hlo__arranged_proto__descriptor, proto, n, "the arranged program",
		err);
	int rc = -1;

	*bytes = 0;
	if (a && a->buffer_assignment) {
		for (size_t i = 0; i < a->buffer_assignment->n_buffer_allocations; i++) {
			const Hlo__BufferAllocationProto *x = a->buffer_assignment->buffer_allocations[i];
			if (!x->is_thread_local && !x->is_entry_computation_parameter && !x->is_constant &&
				!x->maybe_live_out && x->size > 0)
				*bytes += (uint64_t)x->size;
		}
		rc = 0;
	} else if (a) {
		err_set(err, "the compiler did not say where it keeps the program's values");
	}
	arena_release(&mem);
	return rc;
}
