/*
 * describe.h - what a person, or a script, wants to know about a graph.
 */
#ifndef GRAPH_DESCRIBE_H
#define GRAPH_DESCRIBE_H

#include "base/json.h"
#include "base/re.h"
#include "graph/graph.h"

struct summary { /* all about one run of the program */
	uint32_t control, fused, applied, dead; /* computations, besides the entry */
	uint32_t parameters, unknown_loops;	/* of the entry; loops that count as one round */
	uint64_t parameter_bytes, result_bytes, constant_bytes;
	double flops;	/* work.c's weighted operations */
	double written; /* bytes of all results of compiled computations, loops included */
};
void graph_summary(const struct graph *g, struct summary *s);

/* Some screens of text about the whole graph. */
void describe_text(const struct graph *g, struct buf *out);
/* The same as members of a JSON object that is already open. */
void describe_json(const struct graph *g, struct json *j);

/* Nodes whose name, or op name or source file in the metadata, matches: a line or an object each. */
void describe_nodes_text(const struct graph *g, struct re *re, struct buf *out);
void describe_nodes_json(const struct graph *g, struct re *re, struct json *j); /* an open array */

/* "f32[2,3]", "(s32[], f32[8])"; long tuples are cut. */
void describe_shape(const Hlo__ShapeProto *shape, struct buf *out);

/* 12345678 -> "12.3 M"; bytes -> "11.8 MiB". Both into a caller's buf. */
void describe_si(double x, struct buf *out);
void describe_bytes(double x, struct buf *out);

#endif
