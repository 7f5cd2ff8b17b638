/*
 * op.c - names and facts of operations and element types, expanded from schemas/.
 */
#include <string.h>
#include "hlo/op.h"

static const struct opcode_facts facts[OP_COUNT + 1] = {
#define OPCODE(id, name, class, flops, operands, flags) \
	[OP_##id] = {name, CLASS_##class, flops, operands, flags},
#include "schemas/opcode.def"
#undef OPCODE
	[OP_COUNT] = {"unknown", CLASS_OUTSIDE, 0, 0, SIDE_EFFECT},
};

const struct opcode_facts *opcode_facts(uint16_t opcode)
{
	return &facts[opcode < OP_COUNT ? opcode : OP_COUNT];
}

bool opcode_is_idle(uint16_t opcode)
{
	return opcode == OP_BITCAST || opcode_facts(opcode)->class == CLASS_STRUCTURE;
}

const char *opcode_name(uint16_t opcode)
{
	return opcode_facts(opcode)->name;
}

/* Spreads the names so well that looking one up takes a handful of steps; a test checks that. */
static size_t slot_of(const char *name)
{
	uint32_t h = 2166136261u;
	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h >> 8;
}

/*
 * Open addressing. A slot holds 1 + the opcode, and is filled when a name is first looked up. Two
 * threads may fill one slot with different names at once. Then the later one stays, and the other is
 * looked up the slow way next time; the answer is right either way.
 */
uint16_t opcode_of(const char *name)
{
	enum { SLOTS = 1024, STEPS = 8 };
	static _Atomic(uint16_t) slot[SLOTS];
	size_t h = slot_of(name), empty = SLOTS;
	for (size_t i = 0; i < STEPS; i++) {
		size_t at = (h + i) % SLOTS;
		uint16_t op = slot[at];
		if (op && strcmp(facts[op - 1].name, name) == 0)
			return (uint16_t)(op - 1);
		if (!op) {
			empty = at;
			break;
		}
	}
	for (uint16_t op = 0; op < OP_COUNT; op++) {
		if (strcmp(facts[op].name, name) != 0)
			continue;
		if (empty < SLOTS)
			slot[empty] = (uint16_t)(op + 1);
		return op;
	}
	return OP_COUNT;
}

struct dtype_facts {
	const char *name;
	uint32_t bits;
};
static const struct dtype_facts dtypes[256] = {
#define DTYPE(id, number, name, bits, ...) [number] = {name, bits},
#include "schemas/dtype.def"
#undef DTYPE
};

const char *dtype_name(uint8_t dtype)
{
	return dtypes[dtype].name ? dtypes[dtype].name : "unknown";
}

uint32_t dtype_bits(uint8_t dtype)
{
	return dtypes[dtype].bits;
}

uint8_t dtype_of(const char *s, size_t n)
{
	static const struct {
		const char *name;
		uint8_t n, dtype;
	} types[] = {
#define DTYPE(id, number, name, ...) {name, sizeof(name) - 1, number},
#include "schemas/dtype.def"
#undef DTYPE
	};
	for (size_t i = 1; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].n == n && memcmp(types[i].name, s, n) == 0)
			return types[i].dtype == DT_TUPLE || types[i].dtype == DT_BUFFER ? DT_INVALID : types[i].dtype;
	return DT_INVALID;
}
