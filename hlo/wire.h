/*
 * wire.h - how the types of protobuf fields lie in memory and go over the wire.
 *
 * Three walk messages by their descriptors: guard.c over bytes that nobody trusts, pack.c to write them,
 * graph/attr.c to hash them. What each does on the way differs; what a type is stands here.
 */
#ifndef HLO_WIRE_H
#define HLO_WIRE_H

#include <protobuf-c/protobuf-c.h>

enum wire { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 }; /* BYTES: a length, then as many */

struct wire_type {
	uint8_t size; /* of one value in memory; of a string or message: of the pointer to it */
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

#endif
