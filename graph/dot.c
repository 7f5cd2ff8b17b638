/*
 * dot.c - draws graphs. A node is a box, coloured by its class of operation, in a frame for its
 * computation. Solid arrows are operands, dotted ones calls. The neighbourhood of a node is found
 * breadth-first in both directions; all arrows between its nodes are drawn.
 */
#include "graph/dot.h"

#include <inttypes.h>
#include <string.h>
#include "graph/describe.h"
#include "graph/own.h"

#define FAR UINT32_MAX

static const char *fill(uint16_t opcode)
{
	switch ((enum opcode_class)opcode_facts(opcode)->class) {
	case CLASS_ELEMENTWISE:
		return "#dcebfa";
	case CLASS_MOVE:
		return "#e8f5e0";
	case CLASS_APPLY:
		return "#fdf0d0";
	case CLASS_HEAVY:
		return "#f9d7d2";
	case CLASS_CALL:
		return "#e9defa";
	case CLASS_OUTSIDE:
		return "#f7d9ec";
	case CLASS_STRUCTURE:
		break;
	}
	return "#f2f2f2";
}

static void quoted(const char *s, struct buf *out)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_addch(out, '\\');
		buf_addch(out, (unsigned char)*s < ' ' ? ' ' : *s);
	}
}

struct spread {
	uint32_t *away, *queue, n;
};

static void reach(struct spread *s, uint32_t v, uint32_t away)
{
	if (s->away[v] != FAR)
		return;
	s->away[v] = away;
	s->queue[s->n++] = v;
}

/* Finds the distance of each node from `from`, up to `hops`. */
static void spread(const struct graph *g, uint32_t from, uint32_t hops, struct spread *s)
{
	memset(s->away, 0xff, g->n_nodes * sizeof(*s->away));
	reach(s, from, 0);
	for (uint32_t i = 0; i < s->n && s->away[s->queue[i]] < hops; i++) {
		uint32_t v = s->queue[i], next = s->away[v] + 1;
		const struct comp *c = &g->comp[g->node[v].comp];
		for (uint32_t k = 0; k < g->node[v].n_operands; k++)
			reach(s, node_operands(g, v)[k], next);
		for (uint32_t k = 0; k < g->node[v].n_users; k++)
			reach(s, node_users(g, v)[k], next);
		for (uint32_t k = 0; k < g->node[v].n_called; k++)
			reach(s, g->comp[node_calls(g, v)[k]].root, next);
		if (v == c->root && c->caller != NONE)
			reach(s, c->caller, next);
	}
}

static void draw_node(const struct graph *g, uint32_t v, uint32_t around, struct buf *out)
{
	const struct node *n = &g->node[v];
	buf_addf(out, "    n%" PRIu32 " [label=\"", v);
	quoted(n->proto->name, out);
	buf_adds(out, "\\n");
	quoted(n->proto->opcode, out);
	buf_addch(out, ' ');
	describe_shape(n->proto->shape, out);
	buf_addf(out, "\", fillcolor=\"%s\"%s];\n", fill(n->opcode),
		v == around ? ", penwidth=3" : n->flags & NODE_ROOT ? ", peripheries=2" : "");
}

static void draw_edges(const struct graph *g, uint32_t v, const uint32_t *away, struct buf *out)
{
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		if (away[node_operands(g, v)[k]] != FAR)
			buf_addf(out, "  n%" PRIu32 " -> n%" PRIu32 ";\n", node_operands(g, v)[k], v);
	for (uint32_t k = 0; k < g->node[v].n_called; k++) {
		uint32_t root = g->comp[node_calls(g, v)[k]].root;
		if (away[root] != FAR)
			buf_addf(out, "  n%" PRIu32 " -> n%" PRIu32 " [style=dotted];\n", root, v);
	}
}

static void draw(const struct graph *g, const uint32_t *away, uint32_t around, struct buf *out)
{
	buf_adds(out, "digraph \"");
	quoted(g->name, out);
	buf_adds(out, "\" {\n  node [shape=box, style=filled, fontname=sans, fontsize=10];\n");
	for (uint32_t c = 0; c < g->n_comps; c++) {
		bool open = false;
		for (uint32_t v = g->comp[c].first; v < g->comp[c].first + g->comp[c].n_nodes; v++) {
			if (away[v] == FAR)
				continue;
			if (!open) {
				buf_addf(out, "  subgraph cluster_%" PRIu32 " {\n    label=\"", c);
				quoted(g->comp[c].proto->name, out);
				buf_adds(out, "\"; color=gray;\n");
			}
			open = true;
			draw_node(g, v, around, out);
		}
		buf_adds(out, open ? "  }\n" : "");
	}
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (away[v] != FAR)
			draw_edges(g, v, away, out);
	buf_adds(out, "}\n");
}

int graph_dot(const struct graph *g, uint32_t around, uint32_t hops, struct buf *out, struct err *err)
{
	struct spread s = {MEM_NEW(g->n_nodes, uint32_t), MEM_NEW(g->n_nodes, uint32_t), g->n_nodes};
	int rc = 0;
	if (around != NONE) {
		s.n = 0;
		spread(g, around, hops, &s);
	}
	if (s.n > DOT_LIMIT)
		rc = err_set(err, "%" PRIu32 " nodes make no picture (%d at most); take the surroundings of one: "
				  "--around NODE --hops N", s.n, DOT_LIMIT);
	else
		draw(g, s.away, around, out);
	mem_free(s.away);
	mem_free(s.queue);
	return rc;
}
