/*
 * valid.h - what every reader of a graph may rely on.
 *
 * Anybody may have written the file that a program comes from. hlo/guard.h checks that its bytes are a
 * message, raw.c that every id exists, order.c that nothing depends on itself. graph_valid checks the
 * rest; graph_parse refuses a program that does not pass. After that no reader checks any of this again.
 * This holds of every instruction, also in dead computations:
 *
 *	ids	    are at least 0; those of computations below VALID_COMP_IDS, those of instructions
 *		    below VALID_IDS, so that there is room to count on
 *	shapes	    are there; an array has at most RANK_LIMIT dimensions, none negative; the sizes that
 *		    are not 0 multiply to at most ELEMENT_LIMIT, over all parts of a tuple; a layout, if
 *		    there is one, lists each dimension once; only tuples and buffers have parts
 *	literals    have the instruction's shape, in all parts, and as many values as that has
 *		    elements, or none at all (they were left out); s4 and other small types may be packed
 *	operands    are as many as hlo_op.def says, or at least as many as opcode.def says
 *	calls	    are as many as hlo_op.def lists; parameters of the computation and its result have the
 *		    shapes that schemas/valid.def says: those of the operands and of the instruction. So
 *		    a parameter's number is always that of an operand, and the state of a loop has one shape
 *		    before it, in its condition, in its body and after it
 *	parameters  of a computation are numbered 0, 1 ... each once
 *	tuples	    have the shapes of their operands as parts; get-tuple-element has an index
 *		    that its operand's shape has, and the shape found there
 *	attributes  that hlo_op.def requires are there where they are messages; lists of dimensions name
 *		    each of the array's own at most once (schemas/valid.def); so do the numbers of a
 *		    convolution, of which at most VALID_SPATIAL are spatial
 *	sizes	    of windows and transforms are not negative and multiply to at most ELEMENT_LIMIT;
 *		    all other numbers of windows are between -ELEMENT_LIMIT and ELEMENT_LIMIT
 *	origins	    in all instructions together count to at most VALID_ORIGINS, since text counts them in
 *		    commas
 *
 * And this of the module: the shapes promised at its boundary, if there are any, are those of the entry.
 *
 * Layouts of operands and of what is called may differ, as may dynamic dimensions. Opcodes that
 * schemas/opcode.def does not know may have any operands, calls and attributes.
 */
#ifndef GRAPH_VALID_H
#define GRAPH_VALID_H

#include "graph/graph.h"

#define VALID_COMP_IDS (INT64_C(1) << 30)
#define VALID_IDS (INT64_C(1) << 62)
#define VALID_SPATIAL 10 /* dimensions that text names by a digit */
#define VALID_ORIGINS (UINT64_C(1) << 24)

/* Needs nodes, edges and calls. Returns 0, or -1 with a sentence that begins with `file` and names the instruction. */
int graph_valid(const struct graph *g, const char *file, struct err *err);

#endif
