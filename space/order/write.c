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
	const char *name;
};

static int by_id(const void *a, const void *b)
{
	const struct identified *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static const struct named *find_name(const struct named *all, uint32_t n, const char *name)
{
	struct named key = {name, 0};

	return bsearch(&key, all, n, sizeof *all, by_name);
}

/*
 * Reads the sequence of one computation of the module. Each instruction that the program has is appended to the order
 * of the computation that it is in there; next[] counts them.
 */
static void read_sequence(struct program *p, const Hlo__HloComputationProto *c, const Hlo__InstructionSequence *q,
	const struct named *all, uint32_t *next)
{
	const struct graph *g = p->graph;
	struct identified *ids = MEM_NEW(c->n_instructions, struct identified);

	for (size_t i = 0; i < c->n_instructions; i++)
		ids[i] = (struct identified){c->instructions[i]->id, c->instructions[i]->name};
	qsort(ids, c->n_instructions, sizeof *ids, by_id);
	for (size_t i = 0; i < q->n_instruction_ids; i++) {
		struct identified key = {q->instruction_ids[i], NULL};
		const struct identified *in = bsearch(&key, ids, c->n_instructions, sizeof *ids, by_id);
		const struct named *ours = in ? find_name(all, g->n_nodes, in->name) : NULL;
		uint32_t comp = ours ? g->node[ours->node].comp : 0;
		if (ours && next[comp] < p->values.line[comp].n)
			p->order[comp][next[comp]++] = ours->node - g->comp[comp].first;
	}
	mem_free(ids);
}

static const Hlo__HloComputationProto *computation(const Hlo__HloModuleProto *m, int64_t id)
{
	for (size_t i = 0; i < m->n_computations; i++)
		if (m->computations[i]->id == id)
			return m->computations[i];
	return NULL;
}

/* Checks that each computation has a legal order of all its instructions, and counts those that are where they were. */
static int compare(struct program *p, uint32_t **old, const uint32_t *next, uint32_t *same, uint32_t *all,
	struct err *err)
{
	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		const struct line *l = &p->values.line[c];
		if (next[c] != l->n || !line_legal(l, p->order[c]))
			return err_set(err, "the compiler's order of "
				"computation %.100s is not one of its %u instructions",
				p->graph->comp[c].proto->name, l->n);
		for (uint32_t i = 0; i < l->n; i++)
			*same += p->order[c][i] == old[c][i];
		*all += l->n;
	}
	return 0;
}

int order_read(struct program *p, const Hlo__HloModuleProto *m, uint32_t *same, uint32_t *all, struct err *err)
{
	const struct graph *g = p->graph;
	struct named *names = MEM_NEW(g->n_nodes, struct named);
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
			read_sequence(p, c, m->schedule->sequences[s]->value, names, next);
	}
	rc = compare(p, old, next, &equal, &total, err);
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
