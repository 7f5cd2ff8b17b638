/*
 * mutate.h - one small change to a message that keeps it a message.
 *
 * Changing bytes at random breaks the wire format long before it breaks a program. So we unpack the message, change a
 * random field of a random part, and pack it again. A number becomes an extreme one or that of a neighbour. A part or
 * an element is removed, doubled, moved, or replaced by another one of its kind. The field is found by a walk down from
 * the module that stops at each step with some probability, so every level is changed.
 */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <string.h>
#include "base/rng.h"
#include "hlo/guard.h"
#include "hlo/pack.h"

struct mutation {
	struct rng r;
	struct arena mem;
	Hlo__HloModuleProto *module;
};

static inline int64_t mutate_number(struct mutation *m, int64_t old)
{
	static const int64_t odd[] = {0, 1, -1, 2, 3, 63, 64, 127, 128, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
		INT64_C(1) << 32, INT64_C(1) << 50, INT64_C(1) << 62};
	switch (rng_below(&m->r, 4)) {
	case 0: return (int64_t)((uint64_t)old + (rng_below(&m->r, 2) ? 1 : UINT64_MAX));
	case 1: return (int64_t)((uint64_t)old ^ UINT64_C(1) << rng_below(&m->r, 63));
	default: return odd[rng_below(&m->r, sizeof(odd) / sizeof(*odd))];
	}
}

static inline size_t mutate_width(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_DOUBLE: return 8;
	case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
	default: return 4;
	}
}

static inline void mutate_value(struct mutation *m, const ProtobufCFieldDescriptor *f, char *at)
{
	static const char *const words[] = {"", "add", "while", "fusion", "parameter", "tuple", "get-tuple-element",
		"dot",
		"reduce", "broadcast", "constant", "call", "conditional", "bitcast", "LT", "kLoop", "a\"b"};
	if (f->type == PROTOBUF_C_TYPE_STRING) {
		char *word = arena_strdup(&m->mem, words[rng_below(&m->r, sizeof(words) / sizeof(*words))]);
		memcpy(at, &word, sizeof(word));
	} else if (f->type == PROTOBUF_C_TYPE_BYTES) {
		((ProtobufCBinaryData *)(void *)at)->len /= 2;
	} else if (mutate_width(f) == 8) {
		int64_t v;
		memcpy(&v, at, 8);
		v = mutate_number(m, v);
		memcpy(at, &v, 8);
	} else {
		int32_t v;
		memcpy(&v, at, 4);
		v = f->type == PROTOBUF_C_TYPE_BOOL ? !v : (int32_t)mutate_number(m, v);
		memcpy(at, &v, 4);
	}
}

/* Drops, doubles, swaps or replaces an element of a list. */
static inline void mutate_list(struct mutation *m, const ProtobufCFieldDescriptor *f, char *base)
{
	size_t w = mutate_width(f), *n = (size_t *)(void *)(base + f->quantifier_offset);
	char **list = (char **)(void *)(base + f->offset), *longer = arena_zalloc(&m->mem, *n + 1, w);
	if (*n)
		memcpy(longer, *list, *n * w);
	*list = longer;
	size_t i = *n ? (size_t)rng_below(&m->r, *n) : 0, j = *n ? (size_t)rng_below(&m->r, *n) : 0;
	switch (rng_below(&m->r, 4)) {
	case 0: /* goes */
		if (*n)
			memmove(longer + i * w, longer + (i + 1) * w, (--*n - i) * w);
		break;
	case 1: /* there twice, or the first one */
		if (*n || (f->type != PROTOBUF_C_TYPE_MESSAGE && f->type != PROTOBUF_C_TYPE_STRING))
			memcpy(longer + (*n)++ * w, longer + i * w, w);
		break;
	case 2: /* in another's place */
		if (*n)
			memcpy(longer + i * w, longer + j * w, w);
		break;
	default:
		if (*n && f->type != PROTOBUF_C_TYPE_MESSAGE)
			mutate_value(m, f, longer + i * w);
	}
}

/* Any message of this kind in the module: the first that a random walk meets. */
static inline ProtobufCMessage *mutate_other(struct mutation *m, const ProtobufCMessageDescriptor *d)
{
	for (int attempt = 0; attempt < 20; attempt++) {
		const Hlo__HloModuleProto *p = m->module;
		const Hlo__HloComputationProto *c = p->n_computations
			? p->computations[rng_below(&m->r, p->n_computations)] : NULL;
		if (!c || !c->n_instructions)
			continue;
		Hlo__HloInstructionProto *in = c->instructions[rng_below(&m->r, c->n_instructions)];
		if (d == &hlo__hlo_instruction_proto__descriptor)
			return &in->base;
		for (unsigned i = 0; i < in->base.descriptor->n_fields; i++) {
			const ProtobufCFieldDescriptor *f = &in->base.descriptor->fields[i];
			ProtobufCMessage *found = NULL;
			if (f->type == PROTOBUF_C_TYPE_MESSAGE && f->label != PROTOBUF_C_LABEL_REPEATED &&
				f->descriptor == d)
				memcpy(&found, (char *)in + f->offset, sizeof(found));
			if (found)
				return found;
		}
	}
	return NULL;
}

static inline void mutate_message(struct mutation *m, ProtobufCMessage *in, int depth)
{
	const ProtobufCFieldDescriptor *f = NULL;
	char *base = (char *)in;
	/* One that says something, most of the time. */
	for (int attempt = 0; attempt < 30; attempt++) {
		f = &in->descriptor->fields[rng_below(&m->r, in->descriptor->n_fields)];
		uint64_t word = 0;
		bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
		memcpy(&word, base + (repeated ? f->quantifier_offset : f->offset), repeated ? 8 : mutate_width(f) < 8
			? 4 : 8);
		if (word)
			break;
	}
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return;
	bool down = f->type == PROTOBUF_C_TYPE_MESSAGE && depth < 12 && rng_below(&m->r, 8) > 0;
	if (f->label == PROTOBUF_C_LABEL_REPEATED) {
		size_t n = *(size_t *)(void *)(base + f->quantifier_offset);
		ProtobufCMessage **list = *(ProtobufCMessage ***)(void *)(base + f->offset);
		if (down && n)
			mutate_message(m, list[rng_below(&m->r, n)], depth + 1);
		else
			mutate_list(m, f, base);
		return;
	}
	if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
		mutate_value(m, f, base + f->offset);
		return;
	}
	ProtobufCMessage **part = (ProtobufCMessage **)(void *)(base + f->offset);
	if (*part && down)
		mutate_message(m, *part, depth + 1);
	else
		*part = *part && rng_below(&m->r, 2) ? NULL : mutate_other(m, f->descriptor);
}

/* Makes one to three changes to the module in p. Returns false if p is no module. */
static inline bool mutate_module(const void *p, size_t n, uint64_t seed, struct buf *out)
{
	struct mutation m = {0};
	rng_seed(&m.r, seed);
	m.module = guard_unpack(&m.mem, &hlo__hlo_module_proto__descriptor, p, n, "input", NULL);
	if (m.module) {
		for (uint64_t k = 1 + rng_below(&m.r, 3); k > 0; k--)
			mutate_message(&m, &m.module->base, 0);
		pack_message(&m.module->base, out);
	}
	arena_release(&m.mem);
	return m.module != NULL;
}

#endif
