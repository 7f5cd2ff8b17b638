/*
 * describe.h - describes a graph, for people and for scripts.
 */
#ifndef GRAPH_DESCRIBE_H
#define GRAPH_DESCRIBE_H

#include "base/json.h"
#include "base/re.h"
#include "graph/graph.h"

/* Some screens of text about the whole graph. */
void describe_text(const struct graph *g, struct buf *out);
/* The same as members of a JSON object that is already open. */
void describe_json(const struct graph *g, struct json *j);

/* Lists the nodes whose name, or op name or source file in the metadata, matches: a line or a JSON object each. */
void describe_nodes_text(const struct graph *g, struct re *re, struct buf *out);
void describe_nodes_json(const struct graph *g, struct re *re, struct json *j); /* an open array */

/* "f32[2,3]", "(s32[], f32[8])"; long tuples are cut. */
void describe_shape(const Hlo__ShapeProto *shape, struct buf *out);

#endif
