/*
 * cost_graph.h - reads TensorFlow's CostGraphDef in text form (.pbtxt), as an HLO program of operations that nothing is
 * known of but their memory.
 *
 * Each node becomes a custom call of its name, each of its outputs an array of as many bytes. `input_info` says whose
 * outputs it reads, `control_input` what else comes before it. Where an output is an input's buffer (alias_input_port),
 * it is counted as one of its own. What costs time, and on which device a node was placed, is left out.
 *
 * Such files may count memory in units of their own, a few dozen to an output, which compilers would round to nothing
 * like it. So where no output has COST_GRAPH_UNITS of them or more, one unit becomes COST_GRAPH_UNIT bytes.
 */
#ifndef HLO_TEXT_COST_GRAPH_H
#define HLO_TEXT_COST_GRAPH_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"

#define COST_GRAPH_UNITS 4096
#define COST_GRAPH_UNIT 64

/* Do bytes begin as such a file does? */
bool cost_graph_is(const char *p, size_t n);
/* Appends the program as HLO text. -1 with a sentence that names the line. */
int cost_graph_read(const char *p, size_t n, const char *name, struct buf *hlo, struct err *err);

#endif
