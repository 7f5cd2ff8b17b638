/*
 * codegen.h - ways of generating code that a compiler does not take by itself (schemas/codegen.def).
 *
 * They are no decisions about a program's parts: a whole program is compiled with some of them or without
 * (COMPILE_CODEGEN), and measuring says which is fastest. A set of ways is a number, with a bit for each row of the
 * table.
 */
#ifndef DEVICE_CODEGEN_H
#define DEVICE_CODEGEN_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

#define CODEGEN_MOST 32

struct codegen {
	const char *backend;
	const char *flag;   /* of the processor, without which it is of no use; "": none is needed */
	uint32_t mib;	    /* of temporary memory, with less than which it is of no use */
	const char *option; /* debug option that asks for it */
	const char *words;  /* what it gives: "vectors of 512 bits" */
};

/* The options with which the backend compiles everything; "" if there are none. */
const char *codegen_always(const char *backend);
/*
 * The ways that are worth trying for a backend on this machine. VANTAGE_CPUINFO names another file to read than
 * /proc/cpuinfo, for tests.
 */
uint32_t codegen_worth(const char *backend);
const struct codegen *codegen_way(unsigned i); /* the row of a bit; NULL: there is none */
/* Those that are of use where there is much temporary memory. */
uint32_t codegen_for_memory(void);
/* Those that ask for another value of the same option. */
uint32_t codegen_rivals(unsigned i);
/* Appends their options with `between` between them, and what they give: "this, that". */
void codegen_options(uint32_t ways, const char *between, struct buf *out);
void codegen_words(uint32_t ways, struct buf *out);
/* Those whose options stand in a text. */
uint32_t codegen_read(const char *text);
/* The frontend attribute of a call that the backend makes one kernel of (graph/weld.h); NULL: it knows of none. */
const char *codegen_weld(const char *backend);
/*
 * The option without which a program, an HloModuleProto, may stop for ever when the backend runs it
 * (graph/transforms.h); "" if it needs none.
 */
const char *codegen_needed(const char *backend, const void *p, size_t n);

#endif
