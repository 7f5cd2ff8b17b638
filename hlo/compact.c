/*
 * compact.c - see compact.h. The module is walked twice. The first walk checks that each id which a computation names
 * is that of one of its instructions. The second walk writes, into a copy.
 */
#include "hlo/compact.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/proto.h"

/* Numbers of fields in schemas/hlo.proto. */
enum { MODULE_COMPUTATION = 3, MODULE_SCHEDULE = 7, SCHEDULE_ENTRY = 1, ENTRY_COMPUTATION = 1, ENTRY_SEQUENCE = 2 };
enum { COMPUTATION_INSTRUCTION = 2, COMPUTATION_ID = 5, COMPUTATION_ROOT = 6, SEQUENCE_IDS = 1 };
enum { INSTRUCTION_ID = 35, INSTRUCTION_OPERANDS = 36, INSTRUCTION_PREDECESSORS = 37 };

#define LOW_HALF UINT64_C(0xffffffff)

struct part { /* a computation */
	uint64_t id;
	uint32_t *low; /* of its instructions, ascending */
	size_t n, cap;
};

struct compact {
	struct part *part; /* by id */
	size_t n, cap;
	bool write;
};

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct part *)a)->id, y = ((const struct part *)b)->id;

	return (x > y) - (x < y);
}

/* A field of a message that is a number; 0 if it is not there. */
static uint64_t number_in(const struct proto_field *message, uint64_t number)
{
	struct cursor in = cursor_of(message->data, message->len);
	struct proto_field f;
	uint64_t value = 0;

	while (proto_next(&in, &f))
		value = f.number == number ? f.value : value;
	return value;
}

static const struct part *part_of(const struct compact *c, uint64_t id)
{
	struct part key = {.id = id};

	return c->n ? bsearch(&key, c->part, c->n, sizeof key, by_id) : NULL;
}

/* Reads the ids of a computation's instructions. */
static void list_part(struct part *p, const struct proto_field *message)
{
	struct cursor in = cursor_of(message->data, message->len);
	struct proto_field f;

	p->id = number_in(message, COMPUTATION_ID);
	while (proto_next(&in, &f))
		if (f.number == COMPUTATION_INSTRUCTION) {
			MEM_GROW(&p->low, &p->cap, p->n + 1);
			p->low[p->n++] = (uint32_t)(number_in(&f, INSTRUCTION_ID) & LOW_HALF);
		}
	if (p->n)
		qsort(p->low, p->n, sizeof *p->low, ascending);
}

/* Reads the ids of all computations. False if two are the same. */
static bool list_parts(struct compact *c, const void *module, size_t n)
{
	struct cursor in = cursor_of(module, n);
	struct proto_field f;
	bool apart = true;

	while (proto_next(&in, &f))
		if (f.number == MODULE_COMPUTATION) {
			MEM_GROW(&c->part, &c->cap, c->n + 1);
			c->part[c->n] = (struct part){0};
			list_part(&c->part[c->n++], &f);
		}
	if (c->n)
		qsort(c->part, c->n, sizeof *c->part, by_id);
	for (size_t i = 0; i < c->n; i++) {
		const struct part *p = &c->part[i];
		apart &= i == 0 || p->id != p[-1].id;
		for (size_t k = 1; k < p->n; k++)
			apart &= p->low[k] != p->low[k - 1];
	}
	return apart;
}

/* Writes a number into the bytes of a larger one; they are in the copy, which may be changed. */
static void put(const uint8_t *at, size_t width, uint64_t value)
{
	uint8_t *out = (uint8_t *)(uintptr_t)at;

	for (size_t i = 0; i < width; i++, value >>= 7)
		out[i] = (uint8_t)((value & 0x7f) | (i + 1 < width ? 0x80 : 0));
}

/* Checks or writes one id. False if no instruction of the computation has it. */
static bool take_id(const struct compact *c, const struct part *p, const struct proto_field *f)
{
	uint32_t low = (uint32_t)(f->value & LOW_HALF);
	const uint32_t *found = p->n ? bsearch(&low, p->low, p->n, sizeof low, ascending) : NULL;

	if (found && c->write)
		put(f->at, f->width, (f->value & ~LOW_HALF) | (uint64_t)(found - p->low));
	return found;
}

/* The same of a list of ids, packed or not. */
static bool take_ids(const struct compact *c, const struct part *p, const struct proto_field *f)
{
	struct cursor list = cursor_of(f->data, f->len);
	struct proto_field id;
	bool ok = true;

	if (!f->data)
		return f->at && take_id(c, p, f);
	while (ok && proto_next_packed(&list, &id))
		ok = take_id(c, p, &id);
	return ok && cursor_done(&list);
}

static bool take_instruction(const struct compact *c, const struct part *p, const struct proto_field *message)
{
	struct cursor in = cursor_of(message->data, message->len);
	struct proto_field f;
	bool ok = true;

	while (ok && proto_next(&in, &f))
		if (f.number == INSTRUCTION_ID || f.number == INSTRUCTION_OPERANDS ||
			f.number == INSTRUCTION_PREDECESSORS)
			ok = take_ids(c, p, &f);
	return ok && cursor_done(&in);
}

static bool take_computation(const struct compact *c, const struct part *p, const struct proto_field *message)
{
	struct cursor in = cursor_of(message->data, message->len);
	struct proto_field f;
	bool ok = true;

	while (ok && proto_next(&in, &f))
		if (f.number == COMPUTATION_INSTRUCTION)
			ok = take_instruction(c, p, &f);
		else if (f.number == COMPUTATION_ROOT)
			ok = f.at && take_id(c, p, &f);
	return ok && cursor_done(&in);
}

/* The order in which one computation runs. */
static bool take_entry(const struct compact *c, const struct proto_field *message)
{
	const struct part *p = part_of(c, number_in(message, ENTRY_COMPUTATION));
	struct cursor in = cursor_of(message->data, message->len), ids;
	struct proto_field f, g;
	bool ok = true;

	while (ok && proto_next(&in, &f)) {
		ids = cursor_of(f.data, f.number == ENTRY_SEQUENCE ? f.len : 0);
		while (ok && proto_next(&ids, &g))
			ok = g.number != SEQUENCE_IDS || (p && take_ids(c, p, &g));
		ok = ok && cursor_done(&ids);
	}
	return ok && cursor_done(&in);
}

static bool take_schedule(const struct compact *c, const struct proto_field *message)
{
	struct cursor in = cursor_of(message->data, message->len);
	struct proto_field f;
	bool ok = true;

	while (ok && proto_next(&in, &f))
		ok = f.number != SCHEDULE_ENTRY || take_entry(c, &f);
	return ok && cursor_done(&in);
}

/* Checks all ids that the module names, or writes them. */
static bool take_module(const struct compact *c, const void *module, size_t n)
{
	struct cursor in = cursor_of(module, n);
	struct proto_field f;
	bool ok = true;

	while (ok && proto_next(&in, &f))
		if (f.number == MODULE_COMPUTATION)
			ok = take_computation(c, part_of(c, number_in(&f, COMPUTATION_ID)), &f);
		else if (f.number == MODULE_SCHEDULE)
			ok = take_schedule(c, &f);
	return ok && cursor_done(&in);
}

/* Is at least every other place of the lists empty? */
static bool pays(const struct compact *c)
{
	size_t instructions = 0, places = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct part *p = &c->part[i];
		instructions += p->n;
		places += p->n ? (size_t)p->low[p->n - 1] + 1 : 0;
	}
	return places > 0 && places >= 2 * instructions;
}

static void release(struct compact *c)
{
	for (size_t i = 0; i < c->n; i++)
		mem_free(c->part[i].low);
	mem_free(c->part);
}

bool compact_ids(const void *module, size_t n, struct buf *out)
{
	struct compact c = {0};
	size_t at = out->len;
	bool ok = list_parts(&c, module, n) && pays(&c) && take_module(&c, module, n);

	if (ok) {
		buf_add(out, module, n);
		c.write = true;
		take_module(&c, out->data + at, n);
	}
	release(&c);
	return ok;
}
