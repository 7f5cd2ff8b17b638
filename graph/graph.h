/*
 * graph.h - a program for a machine-learning compiler, as index arrays.
 *
 * A graph is one HloModule. Its instructions are nodes 0..n_nodes-1, those of one computation
 * contiguous, operands before users, callees before callers. The order is a matter of the program,
 * not of the file (order.c): graphs with the same content hash have the same nodes under the same
 * numbers. Nodes refer to each other by index; operands and users stand in two CSR arrays. The
 * protobuf message it was read from stays beside it, in the file's order, so that nothing is lost:
 * what vantage does not know is written back untouched.
 *
 * Everything belongs to the graph and lives until graph_release. After graph_read a graph is not
 * changed any more; many threads may read it.
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

/* What a computation is for, seen from its callers. Only the first two are compiled as programs. */
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
	double trips;		 /* times it runs per run of the program; 1 where unknown */
	uint64_t applied[2];	 /* of ROLE_APPLIED: hash of what it computes; [1] with layouts */
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
	uint32_t operand, n_operands; /* graph->edges[operand ...]: as listed, repeats kept */
	uint32_t user, n_users;	      /* graph->users[user ...]: distinct, ascending */
	uint32_t called, n_called;    /* graph->calls[called ...]: computations */
	uint16_t opcode;	      /* enum opcode */
	uint8_t dtype;		      /* enum dtype; DT_TUPLE for tuples */
	uint8_t flags;
	uint8_t rank;		      /* of an array; 0 for others */
	uint64_t elements;	      /* of the result; sum over the leaves of a tuple */
	uint64_t bytes;		      /* of the result, likewise */
	double flops;		      /* of one execution; for calls and fusions: of the inside */
	double trip_count;	      /* of a while: its own count, 0 if unknown */
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
 * Reads HloModuleProto, HloProto or HloModuleProtoWithConfig (and HLO text, see hlo/text/text.h) from
 * memory or from a file. `name` is used in sentences. MLIR is refused with a sentence that says it
 * needs a plugin; ready/subject.h lowers it. Release also after failure is fine.
 */
int graph_parse(struct graph *g, const void *p, size_t n, const char *name, struct err *err);
int graph_read(struct graph *g, const char *path, struct err *err);
void graph_release(struct graph *g);

/* Serialised HloModuleProto, compiling to the same program. */
void graph_write(const struct graph *g, struct buf *out);

static inline const uint32_t *node_operands(const struct graph *g, uint32_t v)
{
	return g->edges + g->node[v].operand;
}
static inline const uint32_t *node_users(const struct graph *g, uint32_t v)
{
	return g->users + g->node[v].user;
}
/* Is it code of its own in a compiled program? What it calls is not part of it, unless it is a fusion. */
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

uint32_t graph_find(const struct graph *g, const char *node_name); /* NONE when absent */

/*
 * One structural hash per node, bottom-up: opcode, shape without layout, attributes (not names, ids,
 * metadata, backend config, sharding or scheduling), operand hashes, sorted where the operation is
 * commutative. Fusions are transparent: a parameter inside takes its operand's hash and a fusion has
 * the hash of its fused root, so the same value before and after the fusion pass hashes the same.
 * Entry parameters hash by number; parameters of a control computation by (hash of the caller
 * without its called computations, role in it, number), so equal bodies of different loops differ.
 * Parameters of applied computations by number alone; a caller's hash includes its applied
 * computations by content. `hash` has g->n_nodes places; nodes of dead computations get 0.
 */
void graph_structural_hash(const struct graph *g, uint64_t *hash);

/*
 * Hash of what an instruction does by itself: opcode, shape (with layout if asked), attributes, the
 * content of applied computations. No operands, no names. The building block of the above.
 */
uint64_t node_local_hash(const struct graph *g, uint32_t v, bool with_layout);

#endif
