/*
 * pack.c - writes messages back to front.
 *
 * In protobuf a length stands before the bytes that it counts. We write from the last byte to the first,
 * so each length is known when its turn comes, and no size is computed beforehand: unknown fields first,
 * then the fields from the last to the first, lists from their end. The result is byte for byte
 * protobuf-c's, which a test checks.
 *
 * A field that is no list is left out when it is zero or empty. A member of a oneof is left out when
 * another member is set.
 */
#include <string.h>
#include "base/mem.h"
#include "hlo/pack.h"
#include "hlo/wire.h"

struct back { /* the bytes lie from `at` to `end`, and grow towards `start` */
	uint8_t *start, *at, *end;
};

static void make_room(struct back *b, size_t n)
{
	size_t used = (size_t)(b->end - b->at), size = (size_t)(b->end - b->start);
	uint8_t *more;

	if ((size_t)(b->at - b->start) >= n)
		return;
	while (size < used + n)
		size = size ? 2 * size : 4096;
	more = mem_alloc(size);
	if (used)
		memcpy(more + size - used, b->at, used);
	mem_free(b->start);
	*b = (struct back){more, more + size - used, more + size};
}

static void put_bytes(struct back *b, const void *p, size_t n)
{
	if (n == 0)
		return; /* `to` may still be NULL */
	make_room(b, n);
	b->at -= n;
	memcpy(b->at, p, n);
}

static void put_varint(struct back *b, uint64_t v)
{
	size_t n = v < 128 ? 1 : (size_t)(70 - __builtin_clzll(v)) / 7; /* seven bits a byte */
	uint8_t *p;

	make_room(b, n);
	p = b->at -= n;
	for (; v >= 128; v >>= 7)
		*p++ = (uint8_t)(v | 128);
	*p = (uint8_t)v;
}

static void put_tag(struct back *b, uint32_t field, enum wire wire)
{
	put_varint(b, (uint64_t)field << 3 | wire);
}

static void put_message(struct back *b, const ProtobufCMessage *m);

static uint64_t integer(ProtobufCType type, const void *p)
{
	int32_t s;
	uint32_t u;
	uint64_t v;

	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_ENUM:
		memcpy(&s, p, 4);
		return (uint64_t)(int64_t)s;
	case PROTOBUF_C_TYPE_SINT32:
		memcpy(&s, p, 4);
		return (uint32_t)s << 1 ^ (uint32_t)(s >> 31);
	case PROTOBUF_C_TYPE_UINT32:
		memcpy(&u, p, 4);
		return u;
	case PROTOBUF_C_TYPE_BOOL:
		return *(const protobuf_c_boolean *)p != 0;
	case PROTOBUF_C_TYPE_SINT64:
		memcpy(&v, p, 8);
		return v << 1 ^ (uint64_t)((int64_t)v >> 63);
	default:
		memcpy(&v, p, 8);
		return v;
	}
}

/* Writes one value without its tag. */
static void put_value(struct back *b, ProtobufCType type, const void *p)
{
	size_t before = (size_t)(b->end - b->at);

	switch (wire_of(type).wire) {
	case WIRE_VARINT:
		put_varint(b, integer(type, p));
		return;
	case WIRE_4:
	case WIRE_8:
		put_bytes(b, p, wire_of(type).size);
		return;
	default:
		break;
	}
	if (type == PROTOBUF_C_TYPE_STRING) {
		const char *s = *(char *const *)p;
		put_bytes(b, s, s ? strlen(s) : 0);
	} else if (type == PROTOBUF_C_TYPE_BYTES) {
		const ProtobufCBinaryData *d = p;
		put_bytes(b, d->data, d->len);
	} else {
		put_message(b, *(ProtobufCMessage *const *)p);
	}
	put_varint(b, (size_t)(b->end - b->at) - before);
}

static bool is_zero(const void *p, size_t size)
{
	uint32_t half[2] = {0, 0};

	memcpy(half, p, 4);
	if (size == 8)
		memcpy(half + 1, (const uint8_t *)p + 4, 4);
	return !(half[0] | half[1]);
}

static bool is_empty(const ProtobufCFieldDescriptor *f, const void *p)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		return !*(char *const *)p || !**(char *const *)p;
	case PROTOBUF_C_TYPE_BYTES:
		return ((const ProtobufCBinaryData *)p)->len == 0;
	case PROTOBUF_C_TYPE_MESSAGE:
		return !*(void *const *)p;
	default:
		return is_zero(p, wire_of(f->type).size);
	}
}

static bool is_set(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, const void *p)
{
	const uint8_t *has = (const uint8_t *)m + f->quantifier_offset;
	bool pointer = f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE;

	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return wire_chosen(m, f) && (!pointer || *(void *const *)p);
	if (f->label == PROTOBUF_C_LABEL_OPTIONAL)
		return pointer ? *(void *const *)p != NULL : *(const protobuf_c_boolean *)(const void *)has != 0;
	return !is_empty(f, p);
}

/* Prefetches the next message while this one is written: messages are large, mostly empty and far apart. */
static void fetch(const void *message, const ProtobufCMessageDescriptor *d)
{
	for (size_t at = 0; at < d->sizeof_message; at += 64)
		__builtin_prefetch((const char *)message + at);
}

static void put_list(struct back *b, const ProtobufCFieldDescriptor *f, const uint8_t *v, size_t n)
{
	struct wire_type k = wire_of(f->type);
	bool packed = f->flags & PROTOBUF_C_FIELD_FLAG_PACKED;
	size_t before = (size_t)(b->end - b->at);

	for (size_t i = n; i-- > 0;) {
		if (i && f->type == PROTOBUF_C_TYPE_MESSAGE)
			fetch(((const ProtobufCMessage *const *)(const void *)v)[i - 1], f->descriptor);
		put_value(b, f->type, v + i * k.size);
		if (!packed)
			put_tag(b, f->id, (enum wire)k.wire);
	}
	if (packed) {
		put_varint(b, (size_t)(b->end - b->at) - before);
		put_tag(b, f->id, WIRE_BYTES);
	}
}

static void put_message(struct back *b, const ProtobufCMessage *m)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;

	for (size_t i = m->n_unknown_fields; i-- > 0;) {
		const ProtobufCMessageUnknownField *u = &m->unknown_fields[i];
		put_bytes(b, u->data, u->len);
		put_varint(b, (uint64_t)u->tag << 3 | u->wire_type);
	}
	for (size_t i = d->n_fields; i-- > 0;) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		const uint8_t *p = (const uint8_t *)m + f->offset;
		if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			if (*wire_count(m, f))
				put_list(b, f, *(const uint8_t *const *)p, *wire_count(m, f));
		} else if (is_set(m, f, p)) {
			put_value(b, f->type, p);
			put_tag(b, f->id, (enum wire)wire_of(f->type).wire);
		}
	}
}

void pack_message(const ProtobufCMessage *m, struct buf *out)
{
	struct back b = {0};

	put_message(&b, m);
	buf_add(out, b.at, (size_t)(b.end - b.at));
	mem_free(b.start);
}
