/*
 * field.c - fields of messages by name.
 *
 * The tables of schemas/ name the fields; protobuf-c's descriptors say where they lie. A name that
 * hlo.proto does not have is a bug in a table.
 */
#include "hlo/field.h"

#include <string.h>
#include "base/err.h"
#include "hlo/op.h"
#include "hlo/wire.h"

void *message_new(struct arena *mem, const ProtobufCMessageDescriptor *d)
{
	void *m = arena_alloc(mem, d->sizeof_message);
	protobuf_c_message_init(d, m);
	return m;
}

static struct field field_in(const ProtobufCMessage *m, const char *name, size_t n)
{
	char copy[64];
	BUG_ON(n >= sizeof(copy));
	memcpy(copy, name, n);
	copy[n] = '\0';
	const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(m->descriptor, copy);
	if (!f)
		BUG("schemas/ names a field that hlo.proto does not have: %s", name);
	char *base = (char *)(uintptr_t)m;
	struct field w = {.f = f, .at = base + f->offset, .set = wire_chosen(m, f)};
	if (f->label == PROTOBUF_C_LABEL_REPEATED)
		w.count = wire_count(m, f);
	return w;
}

struct field field_find(const void *message, const char *path)
{
	const ProtobufCMessage *m = message;
	while (m) {
		size_t n = strcspn(path, ".");
		struct field w = field_in(m, path, n);
		if (!path[n])
			return w;
		m = field_pointer(&w);
		path += n + 1;
	}
	return (struct field){0};
}

struct field field_make(struct arena *mem, void *message, const char *path)
{
	ProtobufCMessage *m = message;
	for (;;) {
		size_t n = strcspn(path, ".");
		struct field w = field_in(m, path, n);
		if (!path[n]) {
			if (w.f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
				memcpy((char *)m + w.f->quantifier_offset, &w.f->id, sizeof(uint32_t));
			return w;
		}
		if (!field_pointer(&w))
			field_set_pointer(&w, message_new(mem, w.f->descriptor));
		m = field_pointer(&w);
		path += n + 1;
	}
}

struct field field_of_literal(const Hlo__Literal *l, uint8_t dtype)
{
	static const char *const name[UINT8_MAX + 1] = {
#define LITERAL(id, field) [DT_##id] = field,
#include "schemas/hlo_literal.def"
#undef LITERAL
	};
	return name[dtype] ? field_find(l, name[dtype]) : (struct field){0};
}

size_t literal_width(uint8_t dtype)
{
	return dtype == DT_PRED ? sizeof(protobuf_c_boolean) : (dtype_bits(dtype) + 7) / 8;
}

/* ---- values ---- */

static bool is_wide(const struct field *w)
{
	return w->f->type == PROTOBUF_C_TYPE_INT64;
}

static void put_number(const struct field *w, char *at, int64_t v)
{
	int32_t narrow = (int32_t)v;
	if (is_wide(w))
		memcpy(at, &v, sizeof(v));
	else
		memcpy(at, &narrow, sizeof(narrow));
}

size_t field_count(const struct field *w)
{
	return *w->count;
}

int64_t field_number(const struct field *w, size_t i)
{
	const char *at = w->count ? field_pointer(w) : w->at;
	int64_t wide;
	int32_t narrow;
	if (is_wide(w)) {
		memcpy(&wide, at + i * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at + i * sizeof(narrow), sizeof(narrow));
	return narrow;
}

void field_set_number(const struct field *w, int64_t v)
{
	put_number(w, w->at, v);
}

void field_set_numbers(struct arena *mem, const struct field *w, const int64_t *v, size_t n)
{
	size_t width = is_wide(w) ? sizeof(int64_t) : sizeof(int32_t);
	char *list = n ? arena_alloc(mem, n * width) : NULL;
	for (size_t i = 0; i < n; i++)
		put_number(w, list + i * width, v[i]);
	*w->count = n;
	field_set_pointer(w, list);
}

void *field_pointer(const struct field *w)
{
	void *p;
	memcpy(&p, w->at, sizeof(p));
	return p;
}

void field_set_pointer(const struct field *w, void *p)
{
	memcpy(w->at, &p, sizeof(p));
}

const char *field_string(const struct field *w, size_t *n)
{
	if (w->f->type == PROTOBUF_C_TYPE_BYTES) {
		ProtobufCBinaryData b;
		memcpy(&b, w->at, sizeof(b));
		*n = b.len;
		return (const char *)b.data;
	}
	const char *s = field_pointer(w);
	*n = s ? strlen(s) : 0;
	return s;
}

void field_set_string(const struct field *w, char *s, size_t n)
{
	ProtobufCBinaryData b = {n, (uint8_t *)s};
	if (w->f->type == PROTOBUF_C_TYPE_BYTES)
		memcpy(w->at, &b, sizeof(b));
	else
		field_set_pointer(w, s);
}
