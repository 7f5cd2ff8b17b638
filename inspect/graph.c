/*
 * graph.c - the views of `inspect` that need only the graph: summary, --nodes, --dot.
 */
#include <stdlib.h>
#include <string.h>
#include "base/opt.h"
#include "inspect/inspect.h"
#include "graph/describe.h"
#include "graph/dot.h"

int inspect_summary(struct inspection *in)
{
	if (!in->set->json) {
		describe_text(in->graph, in->out);
		return 0;
	}
	struct json j = {.out = in->out, .pretty = true};
	json_object(&j, NULL);
	json_str(&j, "file", in->path);
	describe_json(in->graph, &j);
	json_end(&j);
	buf_addch(in->out, '\n');
	return 0;
}

int inspect_nodes(struct inspection *in)
{
	struct re *re = re_new(in->set->nodes, in->err);
	if (!re)
		return -1;
	if (in->set->json) {
		struct json j = {.out = in->out, .pretty = true};
		json_array(&j, NULL);
		describe_nodes_json(in->graph, re, &j);
		json_end(&j);
		buf_addch(in->out, '\n');
	} else {
		describe_nodes_text(in->graph, re, in->out);
	}
	re_free(re);
	return 0;
}

/* Finds a node by name; if there is none, the error suggests the nearest name. */
static uint32_t find(struct inspection *in, const char *name)
{
	const struct graph *g = in->graph;
	if (*name == '%')
		name++;
	uint32_t v = graph_find(g, name);
	if (v != NONE)
		return v;
	const char **names = MEM_NEW(g->n_nodes, const char *);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		names[i] = g->node[i].proto->name;
	const char *near = opt_nearest(name, names, g->n_nodes);
	err_set(in->err, "%s has no node %s%s%s%s", in->path, name, near ? "; did you mean " : "",
		near ? near : "; --nodes REGEX finds names", near ? "?" : "");
	mem_free(names);
	return NONE;
}

int inspect_dot(struct inspection *in)
{
	uint32_t around = NONE;
	if (in->set->around) {
		around = find(in, in->set->around);
		if (around == NONE)
			return -1;
	}
	return graph_dot(in->graph, around, (uint32_t)in->set->hops, in->out, in->err);
}
