/*
 * program.c - see program.h.
 *
 * Every kernel of the entry is a node. A while loop, a call or a conditional is one node with the time of all that runs
 * inside. What costs nothing stays with what it is made of: a bitcast or an element of a tuple is in the group of its
 * operand. Tuples are no nodes; who reads a tuple reads what is in it. Parameters and constants are on every device
 * from the beginning, and take memory on each that reads them.
 *
 * A kernel takes as long as its operations, or as moving its operands and its result through memory, whichever is
 * longer, and the start of a kernel. That is a roofline: crude, but the same for all devices, and what REGAL and GO
 * had for their simulators, too.
 */
#include "space/place/program.h"

#include <math.h>
#include <string.h>

#define MOST_DEEP 64 /* tuples in tuples */

struct reading {
	const struct graph *g;
	const struct comp *entry;
	struct place *p;
	const struct machine *machine;
	uint32_t *task;	    /* [n_nodes of the graph] */
	uint32_t *top;	    /* [n_comps] the entry's node that it runs in, or NONE */
	double *work[MACHINE_CLASSES]; /* [n_nodes of the graph] seconds of the entry's node, by class */
	uint32_t *from, *to;
	size_t n_edges, cap_from, cap_to;
	uint32_t **reader; /* of each node of the graph that is an input: who reads it */
	size_t *n_readers, *cap_readers;
};

static bool is_input(uint16_t opcode)
{
	return opcode == OP_PARAMETER || opcode == OP_CONSTANT;
}

static double kernel_seconds(const struct graph *g, uint32_t v, const struct machine_class *c)
{
	const struct node *n = &g->node[v];
	double bytes = (double)n->bytes;

	for (uint32_t k = 0; k < n->n_operands; k++)
		bytes += (double)g->node[node_operands(g, v)[k]].bytes;
	return fmax(n->flops / c->flops, bytes / c->bandwidth) + c->start;
}

/* Finds the node of the entry in which each computation runs, and adds up the time of its kernels there. */
static void find_work(struct reading *r)
{
	const struct graph *g = r->g;

	for (uint32_t c = 0; c < g->n_comps; c++) {
		uint32_t at = c, v = NONE;
		while (at != g->entry && (g->comp[at].role == ROLE_CONTROL) && g->comp[at].caller != NONE) {
			v = g->comp[at].caller;
			at = g->node[v].comp;
		}
		r->top[c] = at == g->entry ? v : NONE;
		if (at != g->entry || (c != g->entry && v == NONE))
			continue;
		for (uint32_t i = g->comp[c].first; i < g->comp[c].first + g->comp[c].n_nodes; i++) {
			uint32_t top = c == g->entry ? i : v;
			double trips = c == g->entry ? 1 : g->comp[c].trips;
			for (uint32_t k = 0; k < r->machine->n_classes && node_is_kernel(g, i); k++)
				r->work[k][top] += trips * kernel_seconds(g, i, &r->machine->class[k]);
		}
	}
}

/* Which nodes of the entry are nodes of the problem. */
static uint32_t find_tasks(struct reading *r)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < r->g->n_nodes; v++)
		r->task[v] = NONE;
	for (uint32_t v = r->entry->first; v < r->entry->first + r->entry->n_nodes; v++)
		if (r->g->node[v].opcode != OP_TUPLE && !is_input(r->g->node[v].opcode))
			r->task[v] = n++;
	return n;
}

/* Adds the edges of one reader to all that is in the value of v. */
static void read_value(struct reading *r, uint32_t v, uint32_t reader, int depth)
{
	const struct graph *g = r->g;
	uint32_t n = g->node[v].n_operands;

	if (r->task[v] != NONE && r->task[v] != reader) {
		MEM_GROW(&r->from, &r->cap_from, r->n_edges + 1);
		MEM_GROW(&r->to, &r->cap_to, r->n_edges + 1);
		r->from[r->n_edges] = r->task[v];
		r->to[r->n_edges++] = reader;
	}
	if (is_input(g->node[v].opcode)) {
		MEM_GROW(&r->reader[v], &r->cap_readers[v], r->n_readers[v] + 1);
		r->reader[v][r->n_readers[v]++] = reader;
	}
	for (uint32_t k = 0; k < n && g->node[v].opcode == OP_TUPLE && depth < MOST_DEEP; k++)
		read_value(r, node_operands(g, v)[k], reader, depth + 1);
}

static void find_edges(struct reading *r)
{
	for (uint32_t v = r->entry->first; v < r->entry->first + r->entry->n_nodes; v++)
		for (uint32_t k = 0; k < r->g->node[v].n_operands && r->task[v] != NONE; k++)
			read_value(r, node_operands(r->g, v)[k], r->task[v], 0);
}

/* The group of a node that costs nothing is that of its first operand that is a node. */
static void find_groups(struct reading *r)
{
	struct place *p = r->p;

	for (uint32_t v = r->entry->first; v < r->entry->first + r->entry->n_nodes; v++) {
		uint32_t t = r->task[v], first = r->g->node[v].n_operands ? node_operands(r->g, v)[0] : NONE;
		if (t == NONE)
			continue;
		p->held[t] = (double)r->g->node[v].bytes;
		p->bytes[t] = p->held[t];
		p->id[t] = v;
		p->supported[t] = true;
		p->group[t] = p->n_groups;
		if (r->work[0][v] > 0 || first == NONE || r->task[first] == NONE) {
			p->n_groups++;
			continue;
		}
		p->group[t] = p->group[r->task[first]];
		p->held[t] = 0; /* it is a view of what is there */
	}
}

static void find_inputs(struct reading *r)
{
	struct place *p = r->p;
	size_t readers = 0;

	for (uint32_t v = 0; v < r->g->n_nodes; v++) {
		p->n_inputs += r->n_readers[v] > 0;
		readers += r->n_readers[v];
	}
	p->input_first = ARENA_NEW(&p->mem, p->n_inputs + 1, uint32_t);
	p->input_reader = ARENA_NEW(&p->mem, readers + 1, uint32_t);
	p->input_bytes = ARENA_NEW(&p->mem, p->n_inputs + 1, double);
	for (uint32_t v = 0, i = 0; v < r->g->n_nodes; v++) {
		if (r->n_readers[v] == 0)
			continue;
		memcpy(p->input_reader + p->input_first[i], r->reader[v], r->n_readers[v] * sizeof *r->reader[v]);
		p->input_bytes[i] = (double)r->g->node[v].bytes;
		p->input_first[i + 1] = p->input_first[i] + (uint32_t)r->n_readers[v];
		i++;
	}
}

static void fill_times(struct reading *r)
{
	struct place *p = r->p;
	const struct machine *m = r->machine;
	double *on[MACHINE_CLASSES] = {p->time[0]};

	p->memory = INFINITY;
	for (uint32_t k = 0; k < m->n_classes; k++) {
		on[k] = k ? ARENA_NEW(&p->mem, p->n_nodes + 1, double) : on[0];
		for (uint32_t t = 0; t < p->n_nodes; t++)
			on[k][t] = r->work[k][p->id[t]];
		p->memory = fmin(p->memory, m->class[k].memory);
	}
	for (uint32_t d = 0; d < p->n_devices; d++) {
		p->on[d] = on[machine_class_of(m, d)];
		p->room[d] = m->class[machine_class_of(m, d)].memory;
	}
	memcpy(p->time[1], p->time[0], p->n_nodes * sizeof *p->time[0]);
	for (uint32_t t = 0; t < p->n_nodes && p->n_devices > 1; t++) /* the usual transfer, for what only estimates */
		p->transfer[t] = machine_send(m, p->bytes[t], 0, p->n_devices - 1);
}

static void build(struct reading *r, uint32_t n_tasks)
{
	struct place *p = r->p;

	find_edges(r);
	place_alloc(p, n_tasks, (uint32_t)r->n_edges);
	p->held = ARENA_NEW(&p->mem, n_tasks + 1, double);
	p->bytes = ARENA_NEW(&p->mem, n_tasks + 1, double);
	p->machine = r->machine;
	p->n_devices = p->n_accelerators = r->machine->n_devices;
	p->n_edges = (uint32_t)r->n_edges;
	if (r->n_edges) {
		memcpy(p->from, r->from, r->n_edges * sizeof *r->from);
		memcpy(p->to, r->to, r->n_edges * sizeof *r->to);
	}
	find_groups(r);
	find_inputs(r);
	fill_times(r);
}

int place_of_program(struct place *p, const struct graph *g, const struct machine *machine, uint32_t *task_of,
	struct err *err)
{
	struct arena mem = {0};
	struct reading r = {.g = g, .entry = &g->comp[g->entry], .p = p, .machine = machine, .task = task_of};

	*p = (struct place){0};
	r.top = ARENA_NEW(&mem, g->n_comps + 1, uint32_t);
	for (uint32_t k = 0; k < machine->n_classes; k++)
		r.work[k] = ARENA_NEW(&mem, g->n_nodes + 1, double);
	r.reader = ARENA_NEW(&mem, g->n_nodes + 1, uint32_t *);
	r.n_readers = ARENA_NEW(&mem, g->n_nodes + 1, size_t);
	r.cap_readers = ARENA_NEW(&mem, g->n_nodes + 1, size_t);
	find_work(&r);
	build(&r, find_tasks(&r));
	for (uint32_t v = 0; v < g->n_nodes; v++)
		mem_free(r.reader[v]);
	mem_free(r.from);
	mem_free(r.to);
	arena_release(&mem);
	return place_finish(p, err);
}
