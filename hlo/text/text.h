/*
 * text.h - reads HLO text, as XLA dumps it and JAX prints it, into the message that a compiler takes.
 *
 * The message is what XLA's own reader would make of the text, field by field. Layouts that are not
 * written are filled in, names are made unique in the same way, ids follow the same rule, and
 * instructions are listed in the same order. The message and all it refers to lie in `mem`. It is not
 * checked further: graph_parse does that, as with any other module.
 *
 * If the text is not a module, NULL is returned with a sentence of several lines: file, line and
 * column, what was expected there, and the line itself with a caret under the place.
 *
 * Where a text leaves out the values of a large constant, "constant({...})", the values count up from 0
 * in each file, as in XLA. Settings that do not belong to a module (replica and partition counts,
 * sharding propagation) are read and dropped.
 */
#ifndef HLO_TEXT_TEXT_H
#define HLO_TEXT_TEXT_H

#include <stddef.h>
#include "base/err.h"
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

/* The most bytes of constants that are filled in for one file, and the deepest nesting of any kind. */
#define HLO_TEXT_FILL_LIMIT ((size_t)256 << 20)
#define HLO_TEXT_DEPTH 64

Hlo__HloModuleProto *hlo_text_parse(struct arena *mem, const char *text, size_t n, const char *name,
	struct err *err);

#endif
