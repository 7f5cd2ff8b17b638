/*
 * graph.c - from bytes to index arrays.
 *
 * Three steps: unpack the message (guard.c), resolve ids into indices computation by computation,
 * and derive (analyse.c: roles, sizes, work; content.c: the hash). Every id is checked: one that
 * repeats, points nowhere or forms a cycle is an error that names the instruction. Instructions are
 * expected operands first, as XLA writes them; a file in another order is sorted.
 */
#include <string.h>
#include "base/io.h"
#include "graph/graph_own.h"
#include "graph/guard.h"

#define NODE_LIMIT (1u << 27)

static const struct opcode_facts facts[OP_COUNT + 1] = {
#define OPCODE(id, name, class, flops, operands, flags) [OP_##id] = {name, CLASS_##class, flops, operands, flags},
#include "schemas/opcode.def"
#undef OPCODE
	[OP_COUNT] = {"unknown", CLASS_OUTSIDE, 0, 0, SIDE_EFFECT},
};

const struct opcode_facts *opcode_facts(uint16_t opcode)
{
	return &facts[opcode < OP_COUNT ? opcode : OP_COUNT];
}

const char *opcode_name(uint16_t opcode)
{
	return opcode_facts(opcode)->name;
}

/* Names hash into a small table, built at the first call. */
uint16_t opcode_of(const char *name)
{
	enum { SLOTS = 512 };
	static _Atomic(uint16_t) slot[SLOTS];
	size_t h = (size_t)hash64(name, strlen(name), 0) % SLOTS;

	for (;; h = (h + 1) % SLOTS) {
		uint16_t op = slot[h];
		if (op && strcmp(facts[op - 1].name, name) == 0)
			return (uint16_t)(op - 1);
		if (!op)
			break;
	}
	for (uint16_t op = 0; op < OP_COUNT; op++)
		if (strcmp(facts[op].name, name) == 0) {
			slot[h] = (uint16_t)(op + 1); /* two threads may both do so: the same value twice */
			return op;
		}
	return OP_COUNT;
}

struct dtype_facts {
	const char *name;
	uint32_t bits;
};
static const struct dtype_facts dtypes[256] = {
#define DTYPE(id, number, name, bits) [number] = {name, bits},
#include "schemas/dtype.def"
#undef DTYPE
};

const char *dtype_name(uint8_t dtype)
{
	return dtypes[dtype].name ? dtypes[dtype].name : "unknown";
}

uint32_t dtype_bits(uint8_t dtype)
{
	return dtypes[dtype].bits;
}

/* Ids of one kind -> indices: open addressing, rebuilt per use. */
struct id_map {
	struct id_slot {
		int64_t id;
		uint32_t index, owner; /* owner: 1 + the computation it belongs to; 0 empty */
	} *slot;
	size_t mask;
};

static void id_map_init(struct id_map *m, struct arena *mem, size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	m->slot = ARENA_NEW(mem, size, struct id_slot);
	m->mask = size - 1;
}

static struct id_slot *id_slot(const struct id_map *m, int64_t id, uint32_t owner)
{
	size_t h = (size_t)hash_mix((uint64_t)id, owner) & m->mask;

	while (m->slot[h].owner && (m->slot[h].id != id || m->slot[h].owner != owner + 1))
		h = (h + 1) & m->mask;
	return &m->slot[h];
}

/* False when it is there already. */
static bool id_put(struct id_map *m, int64_t id, uint32_t owner, uint32_t index)
{
	struct id_slot *s = id_slot(m, id, owner);

	if (s->owner)
		return false;
	*s = (struct id_slot){id, index, owner + 1};
	return true;
}

static uint32_t id_get(const struct id_map *m, int64_t id, uint32_t owner)
{
	const struct id_slot *s = id_slot(m, id, owner);

	return s->owner ? s->index : NONE;
}

struct reader {
	struct graph *g;
	const char *name;
	struct arena tmp;
	struct id_map nodes, comps;
	struct err *err;
};

static int offence(struct reader *r, uint32_t v, const char *what, int64_t id)
{
	const Hlo__HloInstructionProto *in = r->g->node[v].proto;

	return err_set(r->err, "%s: instruction %.100s %s %lld", r->name, in->name, what, (long long)id);
}

/* A topological order of a computation whose file order is none; 0, or -1 for a cycle. */
static int sort_comp(struct reader *r, uint32_t c)
{
	const struct comp *comp = &r->g->comp[c];
	Hlo__HloComputationProto *p = comp->proto;
	uint32_t n = (uint32_t)p->n_instructions, done = 0;
	uint32_t *waits = ARENA_NEW(&r->tmp, n, uint32_t), *order = ARENA_NEW(&r->tmp, n, uint32_t);
	uint32_t *head = ARENA_NEW(&r->tmp, n + 1, uint32_t), *list;
	size_t edges = 0;

	for (uint32_t i = 0; i < n; i++)
		edges += waits[i] = (uint32_t)p->instructions[i]->n_operand_ids;
	list = ARENA_NEW(&r->tmp, edges + 1, uint32_t);
	for (uint32_t pass = 0; pass < 2; pass++) { /* count users, then list them */
		for (uint32_t i = 0; i < n; i++)
			for (size_t k = 0; k < p->instructions[i]->n_operand_ids; k++) {
				uint32_t o = id_get(&r->nodes, p->instructions[i]->operand_ids[k], c);
				if (o == NONE)
					return offence(r, comp->first + i, "reads an instruction that is not in its computation:",
						p->instructions[i]->operand_ids[k]);
				if (pass == 0)
					head[o - comp->first + 1]++;
				else
					list[head[o - comp->first]++] = i;
			}
		for (uint32_t i = 0; i < n && pass == 0; i++)
			head[i + 1] += head[i];
	}
	for (uint32_t i = 0; i < n; i++)
		if (waits[i] == 0)
			order[done++] = i;
	for (uint32_t i = 0; i < done; i++)
		for (uint32_t k = order[i] ? head[order[i] - 1] : 0; k < head[order[i]]; k++)
			if (--waits[list[k]] == 0)
				order[done++] = list[k];
	if (done < n)
		return err_set(r->err, "%s: computation %.100s has a cycle of instructions", r->name, p->name);
	for (uint32_t i = 0; i < n; i++)
		r->g->node[comp->first + i].proto = p->instructions[order[i]];
	for (uint32_t i = 0; i < n; i++)
		id_slot(&r->nodes, r->g->node[comp->first + i].proto->id, c)->index = comp->first + i;
	return 0;
}

/* Numbers the instructions of a computation and makes sure operands come first. */
static int number_comp(struct reader *r, uint32_t c, uint32_t first)
{
	struct comp *comp = &r->g->comp[c];
	Hlo__HloComputationProto *p = comp->proto;
	bool sorted = true;

	comp->first = first;
	comp->n_nodes = (uint32_t)p->n_instructions;
	if (p->n_instructions == 0)
		return err_set(r->err, "%s: computation %.100s is empty", r->name, p->name);
	for (uint32_t i = 0; i < comp->n_nodes; i++) {
		r->g->node[first + i].proto = p->instructions[i];
		r->g->node[first + i].comp = c;
		if (!id_put(&r->nodes, p->instructions[i]->id, c, first + i))
			return offence(r, first + i, "repeats the id", p->instructions[i]->id);
		for (size_t k = 0; k < p->instructions[i]->n_operand_ids && sorted; k++)
			sorted = id_get(&r->nodes, p->instructions[i]->operand_ids[k], c) < first + i;
	}
	if (!sorted && sort_comp(r, c) < 0)
		return -1;
	comp->root = id_get(&r->nodes, p->root_id, c);
	if (comp->root == NONE)
		return err_set(r->err, "%s: the root %lld of computation %.100s is not in it", r->name,
			(long long)p->root_id, p->name);
	r->g->node[comp->root].flags |= NODE_ROOT;
	return 0;
}

static int number_all(struct reader *r)
{
	struct graph *g = r->g;
	uint32_t first = 0;

	for (uint32_t c = 0; c < g->n_comps; c++) {
		if (!id_put(&r->comps, g->comp[c].proto->id, 0, c))
			return err_set(r->err, "%s: two computations have the id %lld", r->name,
				(long long)g->comp[c].proto->id);
		if (number_comp(r, c, first) < 0)
			return -1;
		first += g->comp[c].n_nodes;
	}
	g->entry = id_get(&r->comps, g->module->entry_computation_id, 0);
	if (g->entry == NONE)
		return err_set(r->err, "%s: its entry computation %lld does not exist", r->name,
			(long long)g->module->entry_computation_id);
	return 0;
}

/* Operands, called computations and control predecessors of one node, as indices. */
static int resolve(struct reader *r, uint32_t v, uint32_t *edge, uint32_t *call)
{
	struct graph *g = r->g;
	struct node *n = &g->node[v];
	const Hlo__HloInstructionProto *in = n->proto;

	n->opcode = opcode_of(in->opcode);
	n->operand = *edge;
	n->n_operands = (uint32_t)in->n_operand_ids;
	n->called = *call;
	n->n_called = (uint32_t)in->n_called_computation_ids;
	for (size_t k = 0; k < in->n_operand_ids; k++) {
		uint32_t o = id_get(&r->nodes, in->operand_ids[k], n->comp);
		if (o == NONE || o >= v)
			return offence(r, v, "reads an instruction that is not in its computation:", in->operand_ids[k]);
		g->edges[(*edge)++] = o;
	}
	for (size_t k = 0; k < in->n_called_computation_ids; k++) {
		uint32_t c = id_get(&r->comps, in->called_computation_ids[k], 0);
		if (c == NONE)
			return offence(r, v, "calls a computation that does not exist:", in->called_computation_ids[k]);
		g->calls[(*call)++] = c;
	}
	for (size_t k = 0; k < in->n_control_predecessor_ids; k++) {
		uint32_t o = id_get(&r->nodes, in->control_predecessor_ids[k], n->comp);
		if (o == NONE)
			return offence(r, v, "waits for an instruction that is not in its computation:",
				in->control_predecessor_ids[k]);
		n->flags |= NODE_CONTROL;
		g->node[o].flags |= NODE_CONTROL;
	}
	if (n->n_operands < opcode_facts(n->opcode)->operands)
		return offence(r, v, "lacks operands; it has", n->n_operands);
	if ((n->opcode == OP_FUSION && n->n_called != 1) || (n->opcode == OP_WHILE && n->n_called != 2))
		return offence(r, v, "calls an odd number of computations:", n->n_called);
	return 0;
}

static int resolve_all(struct reader *r)
{
	struct graph *g = r->g;
	size_t edges = 0, calls = 0;
	uint32_t edge = 0, call = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		edges += g->node[v].proto->n_operand_ids;
		calls += g->node[v].proto->n_called_computation_ids;
	}
	if (edges > NODE_LIMIT || calls > NODE_LIMIT)
		return err_set(r->err, "%s has more than %u operands", r->name, NODE_LIMIT);
	g->n_edges = (uint32_t)edges;
	g->edges = ARENA_NEW(&g->mem, edges, uint32_t);
	g->calls = ARENA_NEW(&g->mem, calls, uint32_t);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (resolve(r, v, &edge, &call) < 0)
			return -1;
	return 0;
}

/* Users in CSR form, distinct and ascending: consumers are met in ascending order, so the last one
 * noted for a producer tells repeats. */
static void list_users(struct reader *r)
{
	struct graph *g = r->g;
	uint32_t *last = ARENA_NEW(&r->tmp, g->n_nodes, uint32_t), total = 0;

	for (uint32_t pass = 0; pass < 2; pass++) {
		memset(last, 0xff, g->n_nodes * sizeof *last);
		for (uint32_t v = 0; v < g->n_nodes; v++)
			for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
				struct node *p = &g->node[node_operands(g, v)[k]];
				if (last[p - g->node] == v)
					continue;
				last[p - g->node] = v;
				if (pass == 1)
					g->users[p->user + p->n_users] = v;
				p->n_users++;
			}
		for (uint32_t v = 0; v < g->n_nodes && pass == 0; v++) {
			g->node[v].user = total;
			total += g->node[v].n_users;
			g->node[v].n_users = 0;
		}
		if (pass == 0)
			g->users = ARENA_NEW(&g->mem, total, uint32_t);
	}
}

static int index_module(struct graph *g, const char *name, struct err *err)
{
	struct reader r = {.g = g, .name = name, .err = err};
	Hlo__HloModuleProto *m = g->module;
	size_t nodes = 0;
	int rc = -1;

	for (size_t c = 0; c < m->n_computations; c++)
		nodes += m->computations[c]->n_instructions;
	if (nodes == 0 || nodes > NODE_LIMIT)
		return err_set(err, "%s holds no HLO module with instructions", name);
	g->name = arena_strdup(&g->mem, m->name);
	g->n_comps = (uint32_t)m->n_computations;
	g->n_nodes = (uint32_t)nodes;
	g->comp = ARENA_NEW(&g->mem, g->n_comps, struct comp);
	g->node = ARENA_NEW(&g->mem, g->n_nodes, struct node);
	for (uint32_t c = 0; c < g->n_comps; c++)
		g->comp[c].proto = m->computations[c];
	id_map_init(&r.nodes, &r.tmp, g->n_nodes);
	id_map_init(&r.comps, &r.tmp, g->n_comps);
	if (number_all(&r) < 0 || resolve_all(&r) < 0)
		goto out;
	list_users(&r);
	if (graph_analyse(g, name, err) < 0)
		goto out;
	graph_content(g);
	rc = 0;
out:
	arena_release(&r.tmp);
	return rc;
}

/* The module bytes inside HloProto or HloModuleProtoWithConfig, which both keep it in field 1, or
 * the bytes themselves: a module's field 1 is its name, which is not followed by computations. */
static int unpack_module(struct graph *g, const void *p, size_t n, const char *name, struct err *err)
{
	Hlo__HloProto *outer;
	struct arena tmp = {0};
	struct err ignored = {0};

	g->module = guard_unpack(&g->mem, &hlo__hlo_module_proto__descriptor, p, n, name, err);
	if (g->module && g->module->n_computations)
		return 0;
	outer = guard_unpack(&tmp, &hlo__hlo_proto__descriptor, p, n, name, &ignored);
	if (outer && outer->hlo_module && outer->hlo_module->n_computations) {
		arena_release(&g->mem);
		g->mem = tmp; /* the module lives there */
		g->module = outer->hlo_module;
		return 0;
	}
	arena_release(&tmp);
	if (g->module)
		return err_set(err, "%s holds no HLO module: no computations in it", name);
	return -1;
}

int graph_parse(struct graph *g, const void *p, size_t n, const char *name, struct err *err)
{
	*g = (struct graph){0};
	if (n == 0)
		return err_set(err, "%s is empty", name);
	switch (graph_sniff(p, n)) {
	case GRAPH_MLIR:
		return err_set(err, "%s is MLIR; it takes a plugin to lower it to HLO", name);
	case GRAPH_HLO_TEXT:
		return err_set(err, "%s is HLO text, which this build does not read", name);
	case GRAPH_HLO_PROTO:
	case GRAPH_UNKNOWN:
		break;
	}
	if (unpack_module(g, p, n, name, err) < 0 || index_module(g, name, err) < 0) {
		graph_release(g);
		return -1;
	}
	return 0;
}

int graph_read(struct graph *g, const char *path, struct err *err)
{
	struct buf b = {0};
	int rc = -1;

	*g = (struct graph){0};
	if (io_read_file(path, IO_FILE_LIMIT, &b, err) == 0)
		rc = graph_parse(g, b.data, b.len, path, err);
	buf_release(&b);
	return rc;
}

void graph_release(struct graph *g)
{
	arena_release(&g->mem);
	*g = (struct graph){0};
}

void graph_write(const struct graph *g, struct buf *out)
{
	buf_reserve(out, hlo__hlo_module_proto__get_packed_size(g->module));
	out->len += hlo__hlo_module_proto__pack(g->module, (uint8_t *)out->data + out->len);
}

enum graph_format graph_sniff(const void *p, size_t n)
{
	const char *s = p;
	size_t i = 0;

	if (n >= 4 && memcmp(s, "ML\xefR", 4) == 0)
		return GRAPH_MLIR;
	while (i < n && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r'))
		i++;
	if (n - i > 10 && memcmp(s + i, "HloModule ", 10) == 0)
		return GRAPH_HLO_TEXT;
	if (n - i > 7 && (memcmp(s + i, "module ", 7) == 0 || memcmp(s + i, "module@", 7) == 0 || memcmp(s + i, "#loc", 4) == 0))
		return GRAPH_MLIR;
	return n && s[0] == 0x0a ? GRAPH_HLO_PROTO : GRAPH_UNKNOWN;
}

uint32_t graph_find(const struct graph *g, const char *name)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (strcmp(g->node[v].proto->name, name) == 0)
			return v;
	return NONE;
}
