/*
 * cost_graph.h - reads TensorFlow's CostGraphDef in text form (.pbtxt), and makes an HLO program of it, of whose
 * operations only the memory is known.
 *
 * Each node becomes a custom call with its name; each of its outputs becomes an array of as many bytes. `input_info`
 * says whose outputs a node reads, `control_input` what else comes before it. An output that shares an input's buffer
 * (alias_input_port) counts as a buffer of its own. Times, and the devices that nodes were placed on, are left out.
 *
 * Some files count memory in units of their own, a few dozen to an output. A compiler rounds each buffer up to more
 * than that, which would make all outputs equal. So if no output has COST_GRAPH_UNITS units or more, one unit becomes
 * COST_GRAPH_UNIT bytes, and the user is told (base/talk.h).
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
