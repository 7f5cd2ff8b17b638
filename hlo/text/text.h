/*
 * text.h - HLO text, as XLA dumps and JAX print it, to the message a compiler takes.
 *
 * The message is what XLA's own reader would make of the text, field by field: layouts that are not
 * written are filled in, names made unique in the same way, ids given by the same rule, instructions
 * listed in the same order. It lies in `mem` with all it refers to, and is not checked further:
 * graph_parse does that, as with any other module.
 *
 * NULL with a sentence of several lines when the text is not a module: file, line and column, what
 * was expected there, and the line itself with a caret under the place.
 *
 * Where a text leaves out the values of a large constant, "constant({...})", they are filled in by
 * counting, as XLA does, from 0 in each file. Settings that are no part of a module (replica and
 * partition counts, sharding propagation) are read and dropped.
 */
#ifndef HLO_TEXT_TEXT_H
#define HLO_TEXT_TEXT_H

#include <stddef.h>
#include "base/err.h"
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

/* Bytes of filled-in constants in one file, and nesting of anything in anything, at most. */
#define HLO_TEXT_FILL_LIMIT ((size_t)256 << 20)
#define HLO_TEXT_DEPTH 64

Hlo__HloModuleProto *hlo_text_parse(struct arena *mem, const char *text, size_t n, const char *name,
	struct err *err);

#endif
