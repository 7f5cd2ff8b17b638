/*
 * graph.c - turns bytes into index arrays.
 *
 * bytes -> message (hlo/module.c, hlo/guard.c) -> ids resolved (raw.c) -> our order (order.c)
 *       -> arrays (here) -> validation (valid.c) -> roles, sizes, work (analyse.c)
 *       -> content hash (content.c)
 *
 * graph_write writes the message as it was read, with one exception. If it does not list operands
 * before users, or callees before callers, a compiler would refuse it; then it is put in our order.
 */
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "graph/own.h"
#include "graph/valid.h"
#include "hlo/module.h"
#include "hlo/pack.h"
#include "hlo/text/cost_graph.h"
#include "hlo/text/text.h"

static bool file_is_sorted(const struct raw *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		for (uint32_t k = r->dep_first[i]; k < r->dep_first[i + 1]; k++)
			if (r->dep[k] >= i)
				return false;
		for (uint32_t k = r->call_first[i]; k < r->call_first[i + 1]; k++)
			if (r->call[k] >= r->comp[i])
				return false;
	}
	return true;
}

static void sort_file(struct graph *g)
{
	for (uint32_t c = 0; c < g->n_comps; c++) {
		g->module->computations[c] = g->comp[c].proto;
		for (uint32_t k = 0; k < g->comp[c].n_nodes; k++)
			g->comp[c].proto->instructions[k] = g->node[g->comp[c].first + k].proto;
	}
}

static void number_comps(struct graph *g, const struct raw *r)
{
	uint32_t first = 0;
	for (uint32_t k = 0; k < r->n_comps; k++) {
		uint32_t c = r->comp_order[k];
		g->comp[k].first = first;
		g->comp[k].n_nodes = r->first[c + 1] - r->first[c];
		g->comp[k].root = r->rank[r->root[c]];
		g->comp[k].proto = r->m->computations[c];
		first += g->comp[k].n_nodes;
	}
	g->entry = r->comp_rank[r->entry];
}

static void number_nodes(struct graph *g, const struct raw *r)
{
	uint32_t edge = 0, call = 0;
	for (uint32_t v = 0; v < r->n; v++) {
		uint32_t i = r->order[v], operands = (uint32_t)r->in[i]->n_operand_ids;
		struct node *n = &g->node[v];
		n->proto = r->in[i];
		n->comp = r->comp_rank[r->comp[i]];
		n->opcode = opcode_of(n->proto->opcode);
		n->operand = edge;
		n->n_operands = operands;
		for (uint32_t k = 0; k < operands; k++)
			g->edges[edge++] = r->rank[r->dep[r->dep_first[i] + k]];
		for (uint32_t k = r->dep_first[i] + operands; k < r->dep_first[i + 1]; k++) {
			n->flags |= NODE_CONTROL;
			g->node[r->rank[r->dep[k]]].flags |= NODE_CONTROL;
		}
		n->called = call;
		n->n_called = r->call_first[i + 1] - r->call_first[i];
		for (uint32_t k = r->call_first[i]; k < r->call_first[i + 1]; k++)
			g->calls[call++] = r->comp_rank[r->call[k]];
	}
	for (uint32_t c = 0; c < g->n_comps; c++)
		g->node[g->comp[c].root].flags |= NODE_ROOT;
}

/*
 * Lists the users of each node in CSR form, distinct and ascending. They are met in ascending order, so
 * comparing with the last one noted finds repeats.
 */
static void list_users(struct graph *g)
{
	uint32_t *last = mem_alloc(g->n_nodes * sizeof(*last)), total = 0;
	for (int pass = 0; pass < 2; pass++) {
		memset(last, 0xff, g->n_nodes * sizeof(*last));
		for (uint32_t v = 0; v < g->n_nodes; v++)
			for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
				uint32_t o = node_operands(g, v)[k];
				if (last[o] == v)
					continue;
				last[o] = v;
				if (pass == 1)
					g->users[g->node[o].user + g->node[o].n_users] = v;
				g->node[o].n_users++;
			}
		if (pass == 1)
			break;
		for (uint32_t v = 0; v < g->n_nodes; v++) {
			g->node[v].user = total;
			total += g->node[v].n_users;
			g->node[v].n_users = 0;
		}
		g->users = arena_alloc(&g->mem, total * sizeof(*g->users));
	}
	mem_free(last);
}

static void assemble(struct graph *g, const struct raw *r)
{
	size_t edges = 0;
	for (uint32_t i = 0; i < r->n; i++)
		edges += r->in[i]->n_operand_ids;
	g->name = arena_strdup(&g->mem, g->module->name);
	g->n_comps = r->n_comps;
	g->n_nodes = r->n;
	g->n_edges = (uint32_t)edges;
	g->comp = ARENA_NEW(&g->mem, g->n_comps, struct comp);
	g->node = ARENA_NEW(&g->mem, g->n_nodes, struct node);
	g->edges = arena_alloc(&g->mem, edges * sizeof(*g->edges));
	g->calls = arena_alloc(&g->mem, r->call_first[r->n] * sizeof(*g->calls));
	number_comps(g, r);
	number_nodes(g, r);
	list_users(g);
	if (!file_is_sorted(r))
		sort_file(g);
}

static int build(struct graph *g, const char *name, struct err *err)
{
	struct raw r = {.file = name, .err = err, .m = g->module};
	int rc = -1;
	if (raw_resolve(&r) == 0 && raw_order(&r) == 0) {
		assemble(g, &r);
		rc = graph_valid(g, name, err);
	}
	if (rc == 0) {
		graph_analyse(g);
		graph_content(g, &r);
	}
	arena_release(&r.tmp);
	return rc;
}

/* Reads the message only; p is not needed afterwards. */
static int unpack(struct graph *g, const void *p, size_t n, const char *name, struct err *err)
{
	if (n == 0)
		return err_set(err, "%s is empty, so there is no program in it", name);
	enum hlo_format format = hlo_sniff(p, n);
	struct buf text = {0};
	switch (format) {
	case HLO_MLIR:
		return err_set(err, "%s is MLIR, which only a compiler plugin can lower to HLO", name);
	case HLO_STORE:
		return err_set(err, "%s is a store of measurements, not a program; `store info FILE` tells what is in "
			"a store", name);
	case HLO_TEXT:
		g->module = hlo_text_parse(&g->mem, p, n, name, err);
		break;
	case HLO_COST_GRAPH:
		if (cost_graph_read(p, n, name, &text, err) == 0)
			g->module = hlo_text_parse(&g->mem, text.data, text.len, name, err);
		buf_release(&text);
		break;
	case HLO_PROTO:
	case HLO_UNKNOWN:
		g->module = hlo_unpack(&g->mem, p, n, name, err);
	}
	if (!g->module && format == HLO_UNKNOWN)
		return err_prefix(err, "%s is neither HLO text nor StableHLO; read as an HLO proto", name);
	return g->module ? 0 : -1;
}

int graph_parse(struct graph *g, const void *p, size_t n, const char *name, struct err *err)
{
	*g = (struct graph){0};
	if (unpack(g, p, n, name, err) == 0 && build(g, name, err) == 0)
		return 0;
	graph_release(g);
	return -1;
}

/* As graph_parse, but frees the file's bytes before it builds the arrays. */
int graph_read(struct graph *g, const char *path, struct err *err)
{
	struct buf b = {0};
	*g = (struct graph){0};
	int rc = io_read_file(path, IO_FILE_LIMIT, &b, err);
	if (rc == 0)
		rc = unpack(g, b.data, b.len, path, err);
	buf_release(&b);
	if (rc == 0)
		rc = build(g, path, err);
	if (rc < 0)
		graph_release(g);
	return rc;
}

void graph_release(struct graph *g)
{
	arena_release(&g->mem);
	*g = (struct graph){0};
}

uint32_t graph_find(const struct graph *g, const char *name)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (strcmp(g->node[v].proto->name, name) == 0)
			return v;
	return NONE;
}

void graph_write(const struct graph *g, struct buf *out)
{
	pack_message(&g->module->base, out);
}
