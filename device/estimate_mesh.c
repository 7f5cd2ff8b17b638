/*
 * estimate_mesh.c - our own model of the time that one of several devices takes for its part of a program.
 *
 * The program is the partitioner's result: the program that each device runs, with its exchanges, and with nothing
 * fused yet. Compilers fuse all that works element by element. So only some values are written to memory: those that
 * products, reductions, lookups and exchanges make or take, and the results. Each of these is written once, and read
 * once by all that is fused behind it; products, lookups and exchanges each read it once more.
 *
 *	product		the longer of its operations and its bytes
 *	exchange	what a device sends over its links' rate, and never less than a floor (schemas/mesh.def); what
 *			only products read may be sent in a narrower type
 *	all else	bytes over the rate of memory, or the operations if they take longer
 *
 * Exchanges are not hidden behind work, although a compiler may hide some. So no layout wins because an exchange seems
 * free; but a layout that would win only because its exchanges are hidden is not found.
 *
 * Memory is the sum of the parameters, the results that take no parameter's place, and the most bytes of written values
 * that are alive together in the program's order. A compiler's own schedule needs less or more.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "device/estimate.h"
#include "graph/collective.h"

struct machine {
	const char *name;
	double wide, narrow, other, memory_rate, ring, pair, pieces, floor, launch, memory, on_its_way;
};

static const struct machine machines[] = {
#define MESH(...) {__VA_ARGS__},
#include "schemas/mesh.def"
#undef MESH
};

/* Finds a machine by its name, or by what begins with it and ':'. */
static const struct machine *find_machine(const char *name)
{
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (strlen(machines[i].name) == n && memcmp(machines[i].name, name, n) == 0)
			return &machines[i];
	return &machines[0];
}

/* Bytes that a device sends a second in an exchange. */
static double rate_of(const struct machine *m, int kind, uint32_t group)
{
	if (kind == ALL_TO_ALL)
		return m->pieces;
	return group == 2 || kind == COLLECTIVE_PERMUTE ? m->pair : m->ring;
}

double estimate_exchange(const char *target, int kind, uint32_t group, double bytes)
{
	const struct machine *m = find_machine(target);

	return group > 1 ? m->floor + bytes / rate_of(m, kind, group) : 0;
}

enum how {
	HOW_NOTHING, /* names, arguments */
	HOW_FUSED,   /* computed where it is used */
	HOW_FOLDED,  /* reads what is fused, writes its result */
	HOW_OWN,     /* a kernel that reads and writes for itself */
};

static enum how how_of(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[v].opcode;

	if (opcode_is_idle(op) || op == OP_PARAMETER || op == OP_CONSTANT || opcode_facts(op)->class == CLASS_CALL)
		return HOW_NOTHING;
	switch (opcode_facts(op)->class) {
	case CLASS_ELEMENTWISE:
		return HOW_FUSED;
	case CLASS_APPLY:
		return op == OP_REDUCE || op == OP_MAP ? HOW_FOLDED : HOW_OWN;
	case CLASS_MOVE:
		return op == OP_GATHER || op == OP_DYNAMIC_UPDATE_SLICE ? HOW_OWN : HOW_FUSED;
	default:
		return HOW_OWN;
	}
}

/* Is the value written to memory? */
static bool is_written(const struct graph *g, uint32_t v, enum how how)
{
	if (how != HOW_FUSED)
		return how != HOW_NOTHING;
	if (g->node[v].flags & NODE_ROOT)
		return true;
	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t u = node_users(g, v)[k];
		uint16_t op = g->node[u].opcode;
		if (how_of(g, u) == HOW_OWN || op == OP_TUPLE || opcode_facts(op)->class == CLASS_CALL)
			return true;
	}
	return false;
}

static bool is_in_memory(const struct graph *g, uint32_t v)
{
	enum how how = how_of(g, v);

	return how == HOW_NOTHING ? !(g->node[v].flags & NODE_SCALAR_CONST) : is_written(g, v, how);
}

/* Bytes that fused kernels read of a value, all of them together once; slices read what they take. */
static double read_fused(const struct graph *g, uint32_t v)
{
	double most = 0;

	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t u = node_users(g, v)[k];
		enum how how = how_of(g, u);
		if (how == HOW_FUSED || how == HOW_FOLDED)
			most = fmax(most, g->node[u].opcode == OP_SLICE || g->node[u].opcode == OP_DYNAMIC_SLICE
						  ? (double)g->node[u].bytes
						  : (double)g->node[v].bytes);
	}
	return fmin(most, (double)g->node[v].bytes);
}

/* Bytes that a kernel of its own reads and writes. */
static double own_bytes(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	double bytes = (double)n->bytes;

	switch (n->opcode) {
	case OP_GATHER:
		return 2 * bytes;
	case OP_DYNAMIC_UPDATE_SLICE: /* in place */
		return n->n_operands > 1 ? 2 * (double)g->node[node_operands(g, v)[1]].bytes : bytes;
	case OP_SCATTER: /* read, added, written where they go */
		return n->n_operands > 2 ? 3 * (double)g->node[node_operands(g, v)[n->n_operands - 1]].bytes : bytes;
	default:
		for (uint32_t k = 0; k < n->n_operands; k++)
			bytes += (double)g->node[node_operands(g, v)[k]].bytes;
		return bytes;
	}
}

static double product_rate(const struct machine *m, const struct graph *g, uint32_t v)
{
	uint8_t type = g->node[node_operands(g, v)[0]].dtype;

	return dtype_bits(type) < 32 ? m->narrow : m->wide;
}

/* Do only products read a value, as it is or moved about? */
static bool feeds_products(const struct graph *g, uint32_t v)
{
	bool all = g->node[v].n_users > 0 && !(g->node[v].flags & NODE_ROOT);

	for (uint32_t k = 0; k < g->node[v].n_users && all; k++) {
		uint32_t u = node_users(g, v)[k];
		uint16_t op = g->node[u].opcode;
		all = opcode_facts(op)->class == CLASS_HEAVY || ((op == OP_RESHAPE || op == OP_TRANSPOSE || op ==
			OP_BITCAST || op == OP_COPY) && feeds_products(g, u));
	}
	return all;
}

static double exchange_bytes(const struct machine *m, const struct graph *g, uint32_t v, const struct exchange *e)
{
	bool narrowed = e->kind == ALL_GATHER && g->node[v].dtype == DT_F32 && feeds_products(g, v);

	return e->bytes * (narrowed ? m->on_its_way / 4 : 1);
}

/* Adds what a node takes in one turn to the parts of the price. */
static void add_node(const struct machine *m, const struct graph *g, uint32_t v, struct spread spread,
	struct priced *out, double *part)
{
	const struct node *n = &g->node[v];
	enum how how = how_of(g, v);
	bool product = opcode_facts(n->opcode)->class == CLASS_HEAVY, written = is_written(g, v, how);
	struct exchange e;
	double bytes, work;

	if (collective_read(g, v, spread, &e)) {
		double sent = exchange_bytes(m, g, v, &e);
		out->exchanged += sent;
		part[PART_STARTS] += e.group > 1 ? m->floor : 0;
		part[PART_EXCHANGES] += e.group > 1 ? sent / rate_of(m, (int)e.kind, e.group) : 0;
		return;
	}
	bytes = is_in_memory(g, v) ? read_fused(g, v) : 0;
	if (how == HOW_NOTHING) {
		part[PART_MEMORY] += bytes / m->memory_rate;
		return;
	}
	if (how == HOW_OWN)
		bytes += own_bytes(g, v);
	else if (written)
		bytes += (double)n->bytes;
	work = n->flops / (product ? product_rate(m, g, v) : m->other);
	out->kernels += written;
	part[product && work > bytes / m->memory_rate ? PART_WORK : PART_MEMORY] += fmax(work, bytes / m->memory_rate);
	part[PART_STARTS] += written ? m->launch : 0;
}

/* The most bytes of written values of a computation that are alive at once, and of what it calls on top. */
static double most_alive(const struct graph *g, uint32_t comp, double *of_comp)
{
	const struct comp *c = &g->comp[comp];
	double *freed = MEM_NEW(c->n_nodes + 1, double), alive = 0, most = 0;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		uint32_t last = v;
		if (how_of(g, v) == HOW_NOTHING || !is_in_memory(g, v))
			continue;
		for (uint32_t k = 0; k < g->node[v].n_users; k++)
			last = node_users(g, v)[k] > last ? node_users(g, v)[k] : last;
		freed[last - c->first] += (double)g->node[v].bytes;
	}
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		double inside = 0;
		if (how_of(g, v) != HOW_NOTHING && is_in_memory(g, v))
			alive += (double)g->node[v].bytes;
		for (uint32_t k = 0; k < g->node[v].n_called; k++)
			inside = fmax(inside, of_comp[node_calls(g, v)[k]]);
		most = fmax(most, alive + inside);
		alive -= freed[v - c->first];
	}
	mem_free(freed);
	return most;
}

static double memory_of(const struct graph *g)
{
	double *of_comp = MEM_NEW(g->n_comps + 1, double), bytes;
	const struct comp *c = &g->comp[g->entry];

	for (uint32_t k = 0; k < g->n_comps; k++) /* what is called comes before who calls it */
		if (comp_is_compiled(&g->comp[k]))
			of_comp[k] = most_alive(g, k, of_comp);
	bytes = of_comp[g->entry];
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		bytes += g->node[v].opcode == OP_PARAMETER ? (double)g->node[v].bytes : 0;
	mem_free(of_comp);
	return bytes;
}

/* Prices every node that runs as a part of the program; `each` may be NULL. */
static void price_nodes(const struct machine *m, const struct graph *g, struct spread spread, struct priced *out,
	double *each)
{
	for (uint32_t c = 0; c < g->n_comps; c++) {
		const struct comp *comp = &g->comp[c];
		if (!comp_is_compiled(comp))
			continue;
		for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
			double part[ESTIMATE_PARTS] = {0}, seconds = 0;
			add_node(m, g, v, spread, out, part);
			for (int k = 0; k < ESTIMATE_PARTS; k++) {
				out->part[k] += comp->trips * part[k];
				seconds += comp->trips * part[k];
			}
			out->seconds += seconds;
			if (each)
				each[v] = seconds;
		}
	}
}

void estimate_mesh_each(const struct graph *g, const char *target, struct spread spread, double *seconds)
{
	struct priced sum = {0};

	memset(seconds, 0, g->n_nodes * sizeof *seconds);
	price_nodes(find_machine(target), g, spread, &sum, seconds);
}

void estimate_mesh(const struct graph *g, const char *target, struct spread spread, struct priced *out)
{
	const struct machine *m = find_machine(target);

	*out = (struct priced){0};
	price_nodes(m, g, spread, out, NULL);
	out->bytes = (uint64_t)memory_of(g);
	out->ours = out->kernels;
	out->our_seconds = out->seconds;
	if ((double)out->bytes > m->memory) {
		out->outcome = OUTCOME_OOM;
		snprintf(out->detail, sizeof out->detail, "each device needs %.1f GB, and has %.0f",
			1e-9 * (double)out->bytes, 1e-9 * m->memory);
	}
}
