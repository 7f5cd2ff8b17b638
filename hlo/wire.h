/*
 * wire.h - how protobuf fields lie in memory and in bytes.
 *
 * Four files reach into messages by their descriptors: guard.c checks bytes before they become one, pack.c
 * writes one, graph/attr.c hashes one, field.c finds a single field. What a type takes, and how protobuf-c
 * keeps lists and oneofs, stands here only.
 */
#ifndef HLO_WIRE_H
#define HLO_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

enum wire { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 }; /* BYTES: a length, then that many bytes */

struct wire_type {
	uint8_t size; /* bytes of one value in memory; for a string or a message, of the pointer to it */
	uint8_t wire; /* enum wire */
};

static inline struct wire_type wire_of(ProtobufCType type)
{
	static const struct wire_type types[] = {
		[PROTOBUF_C_TYPE_INT32] = {4, WIRE_VARINT}, [PROTOBUF_C_TYPE_SINT32] = {4, WIRE_VARINT},
		[PROTOBUF_C_TYPE_SFIXED32] = {4, WIRE_4}, [PROTOBUF_C_TYPE_INT64] = {8, WIRE_VARINT},
		[PROTOBUF_C_TYPE_SINT64] = {8, WIRE_VARINT}, [PROTOBUF_C_TYPE_SFIXED64] = {8, WIRE_8},
		[PROTOBUF_C_TYPE_UINT32] = {4, WIRE_VARINT}, [PROTOBUF_C_TYPE_FIXED32] = {4, WIRE_4},
		[PROTOBUF_C_TYPE_UINT64] = {8, WIRE_VARINT}, [PROTOBUF_C_TYPE_FIXED64] = {8, WIRE_8},
		[PROTOBUF_C_TYPE_FLOAT] = {4, WIRE_4}, [PROTOBUF_C_TYPE_DOUBLE] = {8, WIRE_8},
		[PROTOBUF_C_TYPE_BOOL] = {sizeof(protobuf_c_boolean), WIRE_VARINT},
		[PROTOBUF_C_TYPE_ENUM] = {4, WIRE_VARINT}, [PROTOBUF_C_TYPE_STRING] = {sizeof(char *), WIRE_BYTES},
		[PROTOBUF_C_TYPE_BYTES] = {sizeof(ProtobufCBinaryData), WIRE_BYTES},
		[PROTOBUF_C_TYPE_MESSAGE] = {sizeof(void *), WIRE_BYTES},
	};
	return types[type];
}

/* How many elements the list in field f of m has. Its count stands beside the list, in the quantifier. */
static inline size_t *wire_count(const void *m, const ProtobufCFieldDescriptor *f)
{
	return (size_t *)(void *)((char *)(uintptr_t)m + f->quantifier_offset);
}

/*
 * Is field f the one that is set in its oneof? True outside of oneofs. The quantifier holds the number of the one set.
 */
static inline bool wire_chosen(const void *m, const ProtobufCFieldDescriptor *f)
{
	const uint32_t *set = (const void *)((const char *)m + f->quantifier_offset);

	return !(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || *set == f->id;
}

#endif
