/*
 * op.h - operations and element types: names and facts, expanded from schemas/opcode.def and dtype.def.
 */
#ifndef HLO_OP_H
#define HLO_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* schemas/opcode.def: OPCODE(ADD, "add", class, flops, operands, flags). Order is not stable: store names. */
enum opcode {
#define OPCODE(id, ...) OP_##id,
#include "schemas/opcode.def"
#undef OPCODE
	OP_COUNT /* also stands for an opcode that the table does not have */
};

/* schemas/dtype.def: DTYPE(F32, 11, "f32", 32, ...). Values are XLA's PrimitiveType numbers. */
enum dtype {
#define DTYPE(id, number, ...) DT_##id = number,
#include "schemas/dtype.def"
#undef DTYPE
};

/* The classes of schemas/dtype.def. Elements of DTYPE_COMPLEX and the classes after it are made of floats. */
enum dtype_class {
	DTYPE_NONE,
	DTYPE_BOOL,
	DTYPE_SINT,
	DTYPE_UINT,
	DTYPE_COMPLEX,
	DTYPE_IEEE,
	DTYPE_FN,
	DTYPE_FNUZ,
	DTYPE_FINITE,
	DTYPE_BARE
};

enum opcode_class {
	CLASS_ELEMENTWISE,
	CLASS_MOVE,
	CLASS_APPLY,
	CLASS_HEAVY,
	CLASS_STRUCTURE,
	CLASS_CALL,
	CLASS_OUTSIDE
};
enum opcode_flag { COMMUTES = 1, SIDE_EFFECT = 2 };

struct opcode_facts { /* a row of schemas/opcode.def */
	const char *name;
	uint8_t class;
	uint8_t flops;	  /* per result element */
	uint8_t operands; /* the fewest that it takes */
	uint8_t flags;
};
const struct opcode_facts *opcode_facts(uint16_t opcode);
/* Does it do nothing at run time? Class STRUCTURE does not, nor does a bitcast, which renames its operand's memory. */
bool opcode_is_idle(uint16_t opcode);

const char *opcode_name(uint16_t opcode);
uint16_t opcode_of(const char *name); /* OP_COUNT when unknown */
const char *dtype_name(uint8_t dtype);
/* The type with this name of n characters in HLO text, or DT_INVALID. Tuples and buffers have no name. */
uint8_t dtype_of(const char *s, size_t n);
uint32_t dtype_bits(uint8_t dtype); /* 0 for tuples, tokens, opaque */

#endif
