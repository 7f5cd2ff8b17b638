/*
 * attr.c - turns messages into streams of words; see attr.h for what is in them.
 *
 * Each field that is not at its default adds its number and its value. A list also adds its length, a
 * message an end mark. So different messages give different streams, and a new field at its default
 * changes no stream. Floats are added by their bits.
 */
#include "graph/attr.h"

#include <stdlib.h>
#include <string.h>
#include "hlo/wire.h"

#define WORD_BYTES 10 /* the longest varint */

void sink_word(struct sink *s, uint64_t v)
{
	struct buf *b = s->bytes;
	if (!b) {
		s->hash = hash_mix(s->hash, v);
		return;
	}
	if (b->cap - b->len <= WORD_BYTES)
		buf_reserve(b, 4096);
	for (; v >= 128; v >>= 7)
		b->data[b->len++] = (char)(v | 128);
	b->data[b->len++] = (char)v;
}

void sink_bytes(struct sink *s, const void *p, size_t n)
{
	sink_word(s, n);
	if (s->bytes)
		buf_add(s->bytes, p, n);
	else
		s->hash = hash64(p, n, s->hash);
}

struct view {
	bool value_only, layout;
};

/* Fields of an instruction that are handled elsewhere or say nothing about the program. */
static bool leave_out(const ProtobufCMessage *m, unsigned field, const struct view *view)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;
	if (d == &hlo__literal__descriptor)
		return field == 1 && !view->layout; /* its shape repeats the instruction's */
	if (d != &hlo__hlo_instruction_proto__descriptor)
		return false;
	switch (field) {
	case 1: /* name */
	case 3: /* shape: attr_shape */
	case 7: /* metadata */
	case 35: /* ids: the caller knows indices */
	case 36:
	case 37:
	case 38:
	case 82: /* statistics for viewers */
	case 88: /* where a value came from */
		return true;
	case 60: /* is_stable: of a sort it counts */
		return strcmp(((const Hlo__HloInstructionProto *)m)->opcode, "topk") == 0;
	case 11: /* fusion_kind */
	case 40: /* sharding */
	case 43: /* backend_config */
	case 54: /* domain shardings */
	case 55:
	case 61: /* parameter_replication */
	case 68: /* frontend_attributes */
	case 74: /* output_operand_aliasing */
	case 76: /* custom_call_schedule */
	case 79: /* async_execution_thread */
		return view->value_only;
	default:
		return false;
	}
}

/* Is an unknown field left out because it is an old spelling that says nothing about the program? */
static bool unknown_left_out(const ProtobufCMessageDescriptor *d, uint32_t tag)
{
	return d != &hlo__hlo_instruction_proto__descriptor || tag == 45 || tag == 73;
}

/* How wide the first word of a value is: a number, a pointer or a length. */
static size_t width_of(ProtobufCType type)
{
	return wire_of(type).size == 4 ? 4 : 8;
}

/* A number as a word; where attr.h lists several spellings of one thing, all give the same word. */
static uint64_t number(const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f,
	const void *p)
{
	uint64_t v = 0;
	uint32_t small;
	if (width_of(f->type) == 8) {
		memcpy(&v, p, 8);
	} else {
		memcpy(&small, p, 4);
		v = small;
	}
	if (d == &hlo__hlo_instruction_proto__descriptor) {
		if ((f->id == 50 || f->id == 58) && v == 1)
			return 0;
		if (f->id == 26 && (int64_t)v <= 0)
			return 0;
	}
	return v;
}

static void walk(struct sink *s, const ProtobufCMessage *m, const struct view *view);

static bool plain_precision(const Hlo__PrecisionConfig *p)
{
	for (size_t i = 0; i < p->n_operand_precision; i++)
		if (p->operand_precision[i])
			return false;
	return p->algorithm == 0 && p->base.n_unknown_fields == 0;
}

/* Does the message say nothing about the program? Then it counts as none. */
static bool says_nothing(const ProtobufCMessage *m)
{
	if (m->descriptor == &hlo__op_metadata__descriptor)
		return true;
	if (m->descriptor == &hlo__precision_config__descriptor)
		return plain_precision((const Hlo__PrecisionConfig *)m);
	if (m->descriptor == &hlo__sparsity_config__descriptor)
		return !((const Hlo__SparsityConfig *)m)->lhs && !((const Hlo__SparsityConfig *)m)->rhs;
	return false;
}

static void submessage(struct sink *s, unsigned field, const ProtobufCMessage *m, const struct view *view)
{
	if (!m || says_nothing(m))
		return;
	sink_word(s, field);
	if (m->descriptor == &hlo__shape_proto__descriptor)
		attr_shape(s, (const Hlo__ShapeProto *)m, view->layout);
	else
		walk(s, m, view);
}

static void single(struct sink *s, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
	const struct view *view)
{
	const char *at = (const char *)m + f->offset;
	if (!wire_chosen(m, f))
		return;
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		sink_word(s, f->id); /* which member is set says something, even if its value is 0 */
	switch (f->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		submessage(s, f->id, *(ProtobufCMessage *const *)at, view);
		break;
	case PROTOBUF_C_TYPE_STRING: {
		const char *text = *(char *const *)at;
		if (text && *text) {
			sink_word(s, f->id);
			sink_bytes(s, text, strlen(text));
		}
		break;
	}
	case PROTOBUF_C_TYPE_BYTES: {
		const ProtobufCBinaryData *b = (const ProtobufCBinaryData *)at;
		if (b->len) {
			sink_word(s, f->id);
			sink_bytes(s, b->data, b->len);
		}
		break;
	}
	default: {
		uint64_t v = number(m->descriptor, f, at);
		if (v) {
			sink_word(s, f->id);
			sink_word(s, v);
		}
	}
	}
}

static void list(struct sink *s, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
	const struct view *view)
{
	size_t n = *wire_count(m, f);
	const char *v = *(const char *const *)((const char *)m + f->offset);
	if (n == 0)
		return;
	sink_word(s, f->id);
	sink_word(s, n);
	if (f->type == PROTOBUF_C_TYPE_MESSAGE)
		for (size_t i = 0; i < n; i++)
			submessage(s, 1, ((ProtobufCMessage *const *)(const void *)v)[i], view);
	else if (f->type == PROTOBUF_C_TYPE_STRING)
		for (size_t i = 0; i < n; i++)
			sink_bytes(s, ((char *const *)(const void *)v)[i], strlen(((char *const *)(const void *)v)[i]));
	else if (n > 16) /* literals: bytes of little-endian numbers */
		sink_bytes(s, v, n * width_of(f->type));
	else
		for (size_t i = 0; i < n; i++)
			sink_word(s, number(m->descriptor, f, v + i * width_of(f->type)));
}

static int by_tag(const void *a, const void *b)
{
	const ProtobufCMessageUnknownField *x = a, *y = b;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return (x->data > y->data) - (x->data < y->data);
}

/* Adds unknown fields in the order of their numbers; those with the same number in the order they came. */
static void unknown(struct sink *s, const ProtobufCMessage *m)
{
	unsigned n = m->n_unknown_fields;
	if (n == 0 || unknown_left_out(m->descriptor, 0))
		return;
	ProtobufCMessageUnknownField *v = MEM_NEW(n, ProtobufCMessageUnknownField);
	memcpy(v, m->unknown_fields, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_tag);
	for (unsigned i = 0; i < n; i++) {
		if (unknown_left_out(m->descriptor, v[i].tag))
			continue;
		sink_word(s, v[i].tag);
		sink_bytes(s, v[i].data, v[i].len);
	}
	mem_free(v);
}

/*
 * Does a field hold its default? Its first word tells: a number, a pointer, a length or a count. Most of the time is
 * spent here, because most fields of an instruction are unset.
 */
static bool is_unset(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
	const char *at = (const char *)m + (repeated ? f->quantifier_offset : f->offset);
	if (!repeated && width_of(f->type) == 4) {
		uint32_t v;
		memcpy(&v, at, sizeof(v));
		return v == 0;
	}
	uint64_t v;
	memcpy(&v, at, sizeof(v));
	return v == 0 || (f->type == PROTOBUF_C_TYPE_STRING && v == (uintptr_t)protobuf_c_empty_string);
}

static void walk(struct sink *s, const ProtobufCMessage *m, const struct view *view)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		if (is_unset(m, f) || leave_out(m, f->id, view))
			continue;
		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			list(s, m, f, view);
		else
			single(s, m, f, view);
	}
	unknown(s, m);
	sink_word(s, 0);
}

static void layout(struct sink *s, const Hlo__ShapeProto *shape)
{
	static const struct view all = {false, true};
	const Hlo__Layout *l = shape->layout;
	if (l && (shape->n_dimensions || l->n_tiles || l->memory_space || l->physical_shape))
		walk(s, &l->base, &all);
	else
		sink_word(s, 0);
}

void attr_shape(struct sink *s, const Hlo__ShapeProto *shape, bool with_layout)
{
	bool dynamic = false;
	if (!shape) {
		sink_word(s, 0);
		return;
	}
	sink_word(s, (uint64_t)(uint32_t)shape->element_type + 1);
	sink_word(s, shape->n_dimensions);
	for (size_t i = 0; i < shape->n_dimensions; i++)
		sink_word(s, (uint64_t)shape->dimensions[i]);
	for (size_t i = 0; i < shape->n_is_dynamic_dimension; i++)
		dynamic |= shape->is_dynamic_dimension[i];
	sink_word(s, dynamic);
	for (size_t i = 0; dynamic && i < shape->n_is_dynamic_dimension; i++)
		sink_word(s, shape->is_dynamic_dimension[i] != 0);
	sink_word(s, shape->n_tuple_shapes);
	for (size_t i = 0; i < shape->n_tuple_shapes; i++)
		attr_shape(s, shape->tuple_shapes[i], with_layout);
	if (with_layout && shape->element_type != DT_TUPLE)
		layout(s, shape);
}

void attr_instruction(struct sink *s, const Hlo__HloInstructionProto *in, enum attr_view view,
	bool with_layout)
{
	struct view v = {view == ATTR_VALUE, with_layout};
	attr_shape(s, in->shape, with_layout);
	walk(s, &in->base, &v);
}

void attr_message(struct sink *s, const void *message)
{
	static const struct view all = {false, true};
	if (message)
		walk(s, message, &all);
	else
		sink_word(s, 0);
}
