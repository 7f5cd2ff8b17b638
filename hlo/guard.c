/*
 * guard.c - the walk over protobuf bytes that comes before unpacking them.
 *
 * The walk knows the wire format: a tag, then a varint, 4 or 8 bytes, or a length and that many
 * bytes. The descriptor tells it what each field should be. It keeps its path from the top in `at`, so
 * that an error names the place: "computations[3].instructions[17].shape". It never recurses deeper
 * than GUARD_DEPTH. It adds up what protobuf-c will allocate: the structs, one record per field while
 * a message is being read, strings with their NUL, numbers at full width, unknown fields with a
 * header.
 *
 * It refuses strings that hold a NUL byte: C would see only their beginning, and the program that we
 * write back would be another one.
 */
#include "hlo/guard.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "hlo/wire.h"

#define FIELD_COST 32	/* protobuf-c's record of one field */
#define UNKNOWN_COST 48 /* its record of a field that it does not know, and the block for the bytes */
#define BLOCK_COST 16	/* an arena rounds sizes up to this */

struct place {
	const ProtobufCFieldDescriptor *field;
	size_t index;
};

struct walk {
	const uint8_t *start;
	const char *name;
	struct err *err;
	uint64_t need;
	int depth;
	struct place at[GUARD_DEPTH + 1];
};

static int offence(const struct walk *w, const uint8_t *p, const char *what)
{
	struct buf way = {0};
	for (int i = 0; i < w->depth && i < 8; i++) {
		const struct place *at = &w->at[i];
		buf_addf(&way, "%s%s", i ? "." : "", at->field->name);
		if (at->field->label == PROTOBUF_C_LABEL_REPEATED)
			buf_addf(&way, "[%zu]", at->index);
	}
	err_set(w->err, "%s is no whole HLO module: %s at byte %td%s%s", w->name, what, p - w->start,
		way.len ? ", in " : "", way.len ? way.data : "");
	buf_release(&way);
	return -1;
}

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	*out = 0;
	for (int shift = 0; shift < 70 && *p < end; shift += 7) {
		uint8_t b = *(*p)++;
		if (shift < 64)
			*out |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			return true;
	}
	return false;
}

/* A packed list of numbers: checks that each is whole, and counts the bytes that they take unpacked. */
static int packed(struct walk *w, int wire, size_t width, const uint8_t *p, size_t n)
{
	if (wire != WIRE_VARINT && n % width)
		return offence(w, p, "a list of numbers has a broken one");
	if (wire == WIRE_VARINT && n && p[n - 1] >= 128)
		return offence(w, p + n - 1, "a list of numbers ends inside one");
	size_t count = n / width;
	if (wire == WIRE_VARINT) {
		count = 0;
		for (size_t i = 0; i < n; i++)
			count += p[i] < 128;
	}
	w->need += count * width + BLOCK_COST;
	return 0;
}

static int message(struct walk *w, const ProtobufCMessageDescriptor *d, const uint8_t *p,
	const uint8_t *end);

static int child(struct walk *w, const ProtobufCFieldDescriptor *f, size_t index, const uint8_t *p,
	size_t n)
{
	if (w->depth == GUARD_DEPTH)
		return offence(w, p, "messages are nested deeper than any program needs");
	w->at[w->depth++] = (struct place){f, index};
	if (message(w, f->descriptor, p, p + n) < 0)
		return -1;
	w->depth--;
	return 0;
}

/* A length-delimited field that the descriptor knows. */
static int bytes_field(struct walk *w, const ProtobufCFieldDescriptor *f, size_t index,
	const uint8_t *p, size_t n)
{
	struct wire_type type = wire_of(f->type);
	if (f->type == PROTOBUF_C_TYPE_MESSAGE)
		return child(w, f, index, p, n);
	if (f->type == PROTOBUF_C_TYPE_STRING && memchr(p, 0, n))
		return offence(w, p, "a name holds a NUL character");
	if (type.wire != WIRE_BYTES && f->label != PROTOBUF_C_LABEL_REPEATED)
		return offence(w, p, "a number is given as bytes");
	if (type.wire != WIRE_BYTES)
		return packed(w, type.wire, type.size, p, n);
	w->need += n + 1 + BLOCK_COST;
	return 0;
}

/* The bytes of one value, without its tag; a length is checked against what is left. */
static int step(struct walk *w, int wire, const uint8_t **p, const uint8_t *end, size_t *n)
{
	uint64_t size = wire == WIRE_8 ? 8 : 4;
	const uint8_t *from = *p;
	if (wire == WIRE_VARINT) {
		if (!varint(p, end, &size))
			return offence(w, from, "a number runs past the end");
		*n = (size_t)(*p - from);
		return 0;
	}
	if (wire != WIRE_8 && wire != WIRE_4 && wire != WIRE_BYTES)
		return offence(w, from, "there is a field of no known kind");
	if (wire == WIRE_BYTES && !varint(p, end, &size))
		return offence(w, from, "a length runs past the end");
	if (size > (uint64_t)(end - *p))
		return offence(w, from, "a field runs past the end");
	*n = (size_t)size;
	return 0;
}

static int message(struct walk *w, const ProtobufCMessageDescriptor *d, const uint8_t *p,
	const uint8_t *end)
{
	const ProtobufCFieldDescriptor *last = NULL;
	size_t index = 0, n = 0;
	w->need += d->sizeof_message + BLOCK_COST;
	while (p < end) {
		const uint8_t *from = p;
		uint64_t tag;
		if (!varint(&p, end, &tag) || tag >> 3 == 0 || tag >> 3 >= 1 << 29)
			return offence(w, from, "there is no field where one should begin");
		int wire = tag & 7;
		const ProtobufCFieldDescriptor *f =
			protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
		index = f && f == last ? index + 1 : 0;
		last = f;
		if (step(w, wire, &p, end, &n) < 0)
			return -1;
		w->need += FIELD_COST + sizeof(void *);
		if (!f)
			w->need += UNKNOWN_COST + n;
		else if (wire == WIRE_BYTES && bytes_field(w, f, index, p, n) < 0)
			return -1;
		else if (wire != WIRE_BYTES && wire != wire_of(f->type).wire)
			return offence(w, from, "a field has the wrong kind");
		if (wire != WIRE_VARINT)
			p += n;
	}
	return 0;
}

/* Walks the whole message: 0, or -1 with a sentence. */
static int check(const ProtobufCMessageDescriptor *d, const void *p, size_t n, const char *name, struct err *err)
{
	struct walk w = {.start = p, .name = name, .err = err};

	if (message(&w, d, p, (const uint8_t *)p + n) < 0)
		return -1;
	if (w.need > GUARD_FACTOR * (uint64_t)n + GUARD_FLOOR)
		return err_set(err, "%s would take %" PRIu64 " bytes in memory for its %zu; no real program does", name,
			w.need, n);
	return 0;
}

static void *take(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void give(void *arena, void *p)
{
	(void)arena, (void)p; /* the arena is freed as a whole */
}

void *guard_unpack(struct arena *mem, const ProtobufCMessageDescriptor *d, const void *p, size_t n,
	const char *name, struct err *err)
{
	if (check(d, p, n, name, err) < 0)
		return NULL;
	ProtobufCAllocator alloc = {take, give, mem};
	void *m = protobuf_c_message_unpack(d, &alloc, n, p);
	if (!m)
		err_set(err, "%s is no whole HLO module: protobuf-c does not take its bytes", name);
	return m;
}
