/*
 * graph.h - a program for a machine-learning compiler, as index arrays.
 *
 * A graph is one HloModule. Its instructions are nodes 0..n_nodes-1. The nodes of a computation are
 * contiguous; operands come before users, callees before callers. The order depends on the program,
 * not on the file (order.c): graphs with the same content hash have the same nodes under the same
 * numbers. Nodes refer to each other by index; operands and users stand in two CSR arrays. The
 * protobuf message that the graph was read from is kept in the file's order, so that nothing is
 * lost: what vantage does not know is written back untouched.
 *
 * Everything belongs to the graph and lives until graph_release. After graph_read a graph does not
 * change; many threads may read it.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "hlo/op.h"
#include "schemas/hlo.pb-c.h"

#define NONE UINT32_MAX

/* The role of a computation: what its callers use it for. Only the first two are compiled as programs. */
enum comp_role {
	ROLE_ENTRY,
	ROLE_CONTROL, /* while body or condition, branch, call, async */
	ROLE_FUSED,   /* the inside of a fusion */
	ROLE_APPLIED, /* reducer, comparator, map, select/scatter */
	ROLE_DEAD     /* nobody calls it; these come last */
};

struct comp {
	uint32_t first, n_nodes; /* its nodes */
	uint32_t root;		 /* node */
	uint32_t caller;	 /* a node that calls it (the first), or NONE */
	uint32_t n_callers;	 /* calls to it from computations that are not dead */
	uint8_t role;		 /* enum comp_role */
	bool trips_known;	 /* every enclosing loop has a known trip count */
	double trips;		 /* times it runs per run of the program; 1 a run of its caller where unknown */
	uint64_t applied[2];	 /* only in ROLE_APPLIED: the hash of what it computes; [1] counts layouts too */
	Hlo__HloComputationProto *proto;
};

enum node_flag {
	NODE_ROOT = 1,	       /* root of its computation */
	NODE_SIDE_EFFECT = 2,  /* infeed, outfeed, send, recv, rng, custom call with side effect,
				  collectives ..., and calls of what contains one */
	NODE_CONTROL = 4,      /* has control predecessors or is one */
	NODE_SCALAR_CONST = 8, /* constant of one element */
};

struct node {
	uint32_t comp;
	uint32_t operand, n_operands; /* graph->edges[operand ...]: in order, repeats kept */
	uint32_t user, n_users;	      /* graph->users[user ...]: distinct, ascending */
	uint32_t called, n_called;    /* graph->calls[called ...]: computations */
	uint16_t opcode;	      /* enum opcode */
	uint8_t dtype;		      /* enum dtype; DT_TUPLE for tuples */
	uint8_t flags;
	uint8_t rank;		      /* of an array; 0 for others */
	uint64_t elements;	      /* of the result; sum over the leaves of a tuple */
	uint64_t bytes;		      /* of the result; sum over the leaves of a tuple */
	double flops;		      /* of one execution; a call or fusion counts what is inside */
	double trip_count;	      /* of a while: its own count, negative if unknown */
	Hlo__HloInstructionProto *proto;
};

struct graph {
	struct arena mem;
	char *name;
	Hlo__HloModuleProto *module;
	uint32_t n_nodes, n_comps, n_edges, entry; /* entry: computation */
	struct node *node;
	struct comp *comp;
	uint32_t *edges, *users, *calls;
	struct digest content; /* of the program, not of the file: see content.c */
};

/*
 * Reads HLO text or one of the messages HloModuleProto, HloProto and HloModuleProtoWithConfig, from memory. Sentences
 * call the program `name`. MLIR is refused: it needs a plugin. graph_release may be called after a failure, too.
 */
int graph_parse(struct graph *g, const void *p, size_t n, const char *name, struct err *err);
/* The same from a file, for tests and benches; programs read what a user names with ready/user_program.h. */
int graph_read(struct graph *g, const char *path, struct err *err);
void graph_release(struct graph *g);

/* Writes an HloModuleProto that compiles to the same program. */
void graph_write(const struct graph *g, struct buf *out);

static inline const uint32_t *node_operands(const struct graph *g, uint32_t v)
{
	return g->edges + g->node[v].operand;
}
static inline const uint32_t *node_users(const struct graph *g, uint32_t v)
{
	return g->users + g->node[v].user;
}
/*
 * Is the node a kernel: a piece of code of its own in the compiled program? Its cost is what the node itself does and,
 * for a fusion, what the fusion holds.
 */
static inline bool node_is_kernel(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[v].opcode;

	return op == OP_FUSION ? g->node[v].n_called == 1 :
		!opcode_is_idle(op) && opcode_facts(op)->class != CLASS_CALL;
}
static inline const uint32_t *node_calls(const struct graph *g, uint32_t v)
{
	return g->calls + g->node[v].called;
}

/* Is the computation compiled as a program? All others are parts of instructions of such a one, or dead. */
static inline bool comp_is_compiled(const struct comp *c)
{
	return c->role == ROLE_ENTRY || c->role == ROLE_CONTROL;
}
/* Is the node in such a computation? */
static inline bool node_is_compiled(const struct graph *g, uint32_t v)
{
	return comp_is_compiled(&g->comp[g->node[v].comp]);
}

uint32_t graph_find(const struct graph *g, const char *node_name); /* NONE when absent */

/*
 * Computes a structural hash for each node, bottom-up: nodes that compute the same value have the same hash. It covers
 * - the opcode, the shape without layout, and the attributes that decide the value (attr.h: ATTR_VALUE);
 * - the operands' hashes, sorted where the operation is commutative;
 * - the content of applied computations, whose parameters count by number;
 * - for a parameter of the entry, its number; for one of a control computation, the hash of the caller without its
 *   called computations, the place of the computation among these, and the number. So equal bodies of different loops
 *   differ.
 * Fusions are transparent: a parameter inside has its operand's hash, and a fusion has the hash of its fused root. So
 * the same value before and after the fusion pass has the same hash. `hash` has g->n_nodes places; nodes of dead
 * computations get 0.
 */
void graph_structural_hash(const struct graph *g, uint64_t *hash);

/*
 * The hash of what one instruction does, whatever its operands: opcode, shape (with layout if asked), attributes, the
 * content of applied computations. graph_structural_hash is built from it.
 */
uint64_t node_local_hash(const struct graph *g, uint32_t v, bool with_layout);

#endif
