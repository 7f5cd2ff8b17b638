/*
 * guard.c - the walk and the bounded arena.
 *
 * The walk looks only at the fields that are messages according to the descriptor, and knows just
 * enough of the wire format to step over the others. Anything it cannot step over is left for the
 * unpacker to refuse.
 */
#include <stdbool.h>
#include <stdint.h>
#include "graph/guard.h"

struct wire {
	const uint8_t *p, *end;
};

static bool varint(struct wire *w, uint64_t *out)
{
	*out = 0;
	for (int shift = 0; shift < 70 && w->p < w->end; shift += 7) {
		uint8_t b = *w->p++;
		if (shift < 64)
			*out |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			return true;
	}
	return false;
}

/* Steps over a value; for length-delimited ones `inside` is what they hold. False at the end or on nonsense. */
static bool next_field(struct wire *w, uint32_t *number, struct wire *inside)
{
	uint64_t tag, size;

	*inside = (struct wire){NULL, NULL};
	if (w->p == w->end || !varint(w, &tag))
		return false;
	*number = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case 0:
		return varint(w, &size);
	case 1:
		size = 8;
		break;
	case 2:
		if (!varint(w, &size) || size > (uint64_t)(w->end - w->p))
			return false;
		*inside = (struct wire){w->p, w->p + size};
		break;
	case 5:
		size = 4;
		break;
	default:
		return false;
	}
	if (size > (uint64_t)(w->end - w->p))
		return false;
	w->p += size;
	return true;
}

/* Bounded by GUARD_DEPTH itself. */
static bool shallow(const ProtobufCMessageDescriptor *d, struct wire w, int depth)
{
	struct wire inside;
	uint32_t number;

	if (depth > GUARD_DEPTH)
		return false;
	while (next_field(&w, &number, &inside)) {
		const ProtobufCFieldDescriptor *f;
		if (!inside.p)
			continue;
		f = protobuf_c_message_descriptor_get_field(d, number);
		if (f && f->type == PROTOBUF_C_TYPE_MESSAGE && !shallow(f->descriptor, inside, depth + 1))
			return false;
	}
	return true;
}

struct bounded {
	struct arena *mem;
	size_t left;
};

static void *take(void *ctx, size_t size)
{
	struct bounded *b = ctx;

	if (size > b->left)
		return NULL;
	b->left -= size;
	return arena_alloc(b->mem, size);
}

static void give(void *ctx, void *p)
{
	(void)ctx; /* all goes with the arena */
	(void)p;
}

void *guard_unpack(struct arena *mem, const ProtobufCMessageDescriptor *d, const void *p, size_t n,
	const char *name, struct err *err)
{
	struct bounded b = {mem, GUARD_FACTOR * n + 65536};
	ProtobufCAllocator alloc = {take, give, &b};
	struct wire w = {p, (const uint8_t *)p + n};
	void *m;

	if (!shallow(d, w, 0)) {
		err_set(err, "%s nests messages more than %d deep; no real program does", name, GUARD_DEPTH);
		return NULL;
	}
	m = protobuf_c_message_unpack(d, &alloc, n, p);
	if (!m)
		err_set(err, "%s is no HLO module: its bytes are damaged or cut short", name);
	return m;
}
