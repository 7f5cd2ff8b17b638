/*
 * feature.h - computes what the learner sees of a graph, a configuration and a flip: the numbers of
 * schemas/feature.def, and which nodes are neighbours.
 *
 * A node's row of features has two parts: fixed ones, computed once per graph, and those of the configuration, from the
 * space's contexts. A flip's features come from the space's effect. All are between about -1 and 4.
 *
 * Nodes are neighbours if an edge of the graph connects them, with two exceptions, which keep neighbourhoods small and
 * updates local. Scalar constants have no neighbours: their value is part of the operation that reads them. Of a node
 * with hundreds of users or operands only the first FEATURE_DEGREE edges count, from both ends; how many it has is a
 * feature.
 */
#ifndef LEARN_FEATURE_H
#define LEARN_FEATURE_H

#include "space/space.h"
#include "learn/real.h"

enum node_feature { /* of the graph alone */
#define NODE(id, ...) NODE_##id##_F,
#include "schemas/feature.def"
	NODE_FIXED
};
enum context_feature {
#define CONTEXT(id, ...) CONTEXT_##id,
#include "schemas/feature.def"
	NODE_CONTEXT
};
#define NODE_FEATURES (NODE_FIXED + NODE_CONTEXT) /* a row: fixed, then context */

enum flip_feature {
#define FLIP(id, ...) FLIP_##id,
#include "schemas/feature.def"
	FLIP_FEATURES
};

/* A kind's own features take the columns of the usual ones, beginning here; there is room for so many: */
enum {
	CONTEXT_OWN = CONTEXT_KEPT,
	FLIP_OWN = FLIP_PARTS_BEFORE,
	FEATURE_OWN_CONTEXT = NODE_CONTEXT - CONTEXT_OWN,
	FEATURE_OWN_EFFECT = (FLIP_FEATURES - FLIP_OWN) / 2
};

#define FEATURE_DEGREE 24

/*
 * The table of features grows, and models of older tables are still read. feature_hash: the hash of table 1, 2 ... over
 * its names and meanings. feature_table: the table with this hash, or 0 if this program knows none. feature_map: our
 * numbers of a table's features, of nodes or of flips, in its order; `map` has room for NODE_FEATURES or FLIP_FEATURES,
 * and the number of them is returned.
 */
#define FEATURE_TABLE 4
uint32_t feature_map(uint32_t table, bool flips, uint32_t *map);
/* `own`: the features that the kind of decision defines itself; NULL: the usual ones. */
uint64_t feature_hash(uint32_t table, const struct space_features *own);
uint32_t feature_table(uint64_t hash, const struct space_features *own);

/* A graph, seen by the learner. Borrows the space and its graph. */
struct scene { /* all zero is empty */
	struct space *space;
	const struct space_features *own; /* the features of its kind; NULL: the usual ones */
	struct arena mem;
	uint32_t n_nodes;
	uint16_t *opcode, *dtype;	/* as in graph.h; dtype below FEATURE_DTYPES */
	real *fixed;			/* n_nodes x NODE_FIXED */
	uint32_t *op_first, *op_to;	/* CSR of all nodes: operands, ascending, distinct */
	uint32_t *user_first, *user_to; /* ... users */
	float *raw;			/* scratch of feature_context */
	size_t raw_cap;
};
#define FEATURE_DTYPES 64

void feature_open(struct scene *g, struct space *s);
void feature_release(struct scene *g);

/* NODE_CONTEXT numbers for each of the nodes, rows `stride` apart. */
void feature_context(struct scene *g, const uint8_t *config, const uint32_t *nodes, uint32_t n,
	real *out, size_t stride);
/* FLIP_FEATURES numbers; config is left as it was. Returns the kernels that the flip adds. */
double feature_flip(struct scene *g, uint8_t *config, uint32_t site, uint8_t to, real *out);
/*
 * A move of several flips, for kinds that can tell its effect (space_ops.effect_of), is described as one flip: of the
 * site that feature_lead names, with the effect of them all.
 */
uint32_t feature_lead(const struct space *s, const uint8_t *from, const uint8_t *to);
void feature_move(struct scene *g, const uint8_t *from, const uint8_t *to, real *out);

#endif
