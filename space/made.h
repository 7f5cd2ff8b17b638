/*
 * made.h - writes programs that no compiler will ever see, for kinds of decision that make their programs.
 *
 * A problem of placement is no program. It becomes one, so that all that works on programs works on it: a node is a
 * custom call that reads what its neighbours make, and one more call at the end, the root, holds the whole problem as
 * text. So a store that keeps the program keeps the problem.
 *
 *	struct made m = {0};
 *	made_call(&m, "net.node", "0", 1, operands, n);	 // per node; operands are earlier nodes, by their numbers
 *	made_end(&m, "net.problem", text.data, text.len, "name", &module);
 */
#ifndef SPACE_MADE_H
#define SPACE_MADE_H

#include "base/buf.h"
#include "graph/graph.h"

struct made { /* all zero is empty */
	struct arena mem;
	Hlo__HloInstructionProto **instr;
	size_t n, cap;
};

/* A program of one computation, whose instructions are given; the last one is the root. Everything lives in `mem`. */
void made_module(struct arena *mem, Hlo__HloInstructionProto **instr, size_t n, const char *name, struct buf *out);

/* Adds a call, node number m->n, of which `elements` bytes come, and which says `text`. */
void made_call(struct made *m, const char *target, const char *text, int64_t elements, const uint32_t *operands,
	size_t n);
/* Adds the root, which holds the problem; appends the program, and releases m. */
void made_end(struct made *m, const char *target, const void *text, size_t n_text, const char *name, struct buf *out);

/* What is said of a file that is to hold a public problem, by its name, and does not. */
#define MADE_NOT_ONE                                                                                             \
	"%s is JSON, but neither a problem of the iopddl contest, which begins with a \"problem\", nor one of " \
	"dnn-partitioning, which says \"maxFPGAs\""

/* Is the instruction a call of that target? */
bool made_is(const struct graph *g, uint32_t v, const char *target);
/* Returns the text of a call; *n gets its length. It lives as long as the graph. */
const char *made_text(const struct graph *g, uint32_t v, size_t *n);
/* Finds the root with the problem; NONE if the program is no such problem. */
uint32_t made_problem(const struct graph *g, const char *target);
/*
 * Fills node_of[0..n-1] with the nodes whose calls of that target say 0 to n - 1. False: some are missing, given twice,
 * or beyond n.
 */
bool made_nodes(const struct graph *g, const char *target, uint32_t *node_of, uint32_t n);

/*
 * Reads n numbers with ':' between them from the name of a made program; returns what follows them and their last ':'.
 * NULL: one is missing.
 */
const char *made_numbers(const char *p, uint64_t *v, int n);

#endif
