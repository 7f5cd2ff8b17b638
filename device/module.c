/*
 * module.c - the little that a device must know of an HloModuleProto.
 *
 * We need few fields, and the bytes come from a compiler that may be newer than our schema. So we read the wire format
 * directly. Field 4 of a module is the entry's program shape, with parameters (1) and result (2). A shape has element
 * type (2), dimensions (3), parts of a tuple (4) and a layout (5), whose field 1 lists dimensions from the fastest to
 * the slowest.
 */
#include <string.h>
#include "base/proto.h"
#include "device/module.h"
#include "graph/graph.h"

enum { MODULE_PROGRAM_SHAPE = 4, PROGRAM_PARAMETER = 1, PROGRAM_RESULT = 2 };
enum { SHAPE_TYPE = 2, SHAPE_DIMENSION = 3, SHAPE_PART = 4, SHAPE_LAYOUT = 5, LAYOUT_ORDER = 1 };
enum { TYPE_TUPLE = 13 };

/* A repeated int64, packed or not, into at most MODULE_RANK places; -1 when there are more. */
static int add_numbers(const struct proto_field *f, int64_t *v, uint32_t *n)
{
	if (!f->data) {
		if (*n == MODULE_RANK)
			return -1;
		v[(*n)++] = (int64_t)f->value;
		return 0;
	}
	struct cursor c = cursor_of(f->data, f->len);
	while (cursor_left(&c)) {
		if (*n == MODULE_RANK)
			return -1;
		v[(*n)++] = (int64_t)cursor_varint(&c);
	}
	return c.bad ? -1 : 0;
}

struct shape {
	int64_t type, dims[MODULE_RANK], order[MODULE_RANK];
	uint32_t rank, n_order;
	bool plain; /* it and all its parts are row-major, or say nothing */
};

static int read_shape(const void *p, size_t n, struct shape *s, int depth)
{
	struct cursor c = cursor_of(p, n), l;
	struct proto_field f, g;
	*s = (struct shape){.plain = true};
	if (depth > 16)
		return -1;
	while (proto_next(&c, &f)) {
		struct shape part;
		if (f.number == SHAPE_TYPE) {
			s->type = (int64_t)f.value;
		} else if (f.number == SHAPE_DIMENSION) {
			if (add_numbers(&f, s->dims, &s->rank) < 0)
				return -1;
		} else if (f.number == SHAPE_PART) {
			if (read_shape(f.data, f.len, &part, depth + 1) < 0)
				return -1;
			s->plain &= part.plain;
		} else if (f.number == SHAPE_LAYOUT) {
			l = cursor_of(f.data, f.len);
			while (proto_next(&l, &g))
				if (g.number == LAYOUT_ORDER &&
					add_numbers(&g, s->order, &s->n_order) < 0)
					return -1;
		}
	}
	for (uint32_t i = 0; i < s->n_order; i++)
		s->plain &= s->order[i] == (int64_t)(s->n_order - 1 - i);
	return cursor_left(&c) || c.bad ? -1 : 0;
}

/* The program shape's bytes; empty when absent. */
static struct module_bytes program_shape(const void *p, size_t n)
{
	struct cursor c = cursor_of(p, n);
	struct proto_field f;
	while (proto_next(&c, &f))
		if (f.number == MODULE_PROGRAM_SHAPE && f.data)
			return (struct module_bytes){f.data, f.len};
	return (struct module_bytes){NULL, 0};
}

static int parameter_type(const struct proto_field *f, size_t place, struct arena *mem,
	struct module_type *t, struct err *err)
{
	struct shape s;
	if (read_shape(f->data, f->len, &s, 0) < 0 || (s.n_order && s.n_order != s.rank))
		return err_set(err, "the type of parameter %zu makes no sense", place);
	if (s.type == TYPE_TUPLE)
		return err_set(err, "parameter %zu is a tuple; parameters must be arrays", place);
	*t = (struct module_type){.dtype = (int32_t)s.type, .rank = s.rank, .elements = 1};
	for (uint32_t i = 0; i < s.rank; i++) {
		if (s.dims[i] < 0 ||
			(s.dims[i] > 0 && t->elements > ((uint64_t)1 << 40) / (uint64_t)s.dims[i]))
			return err_set(
				err, "parameter %zu has more elements than any memory", place);
		t->elements *= (uint64_t)s.dims[i];
	}
	t->dims = arena_dup(mem, s.dims, s.rank * sizeof *s.dims);
	t->minor_to_major = s.n_order ? arena_dup(mem, s.order, s.rank * sizeof *s.order) : NULL;
	return 0;
}

int module_parameters(const void *p, size_t n, struct arena *mem, struct module_type **type,
	size_t *count, struct err *err)
{
	struct module_bytes shape = program_shape(p, n);
	struct cursor c = cursor_of(shape.data, shape.len);
	struct proto_field f;
	size_t k = 0;
	while (proto_next(&c, &f))
		k += f.number == PROGRAM_PARAMETER && f.data;
	*type = ARENA_NEW(mem, k + 1, struct module_type);
	*count = 0;
	c = cursor_of(shape.data, shape.len);
	while (proto_next(&c, &f))
		if (f.number == PROGRAM_PARAMETER && f.data) {
			if (parameter_type(&f, *count, mem, &(*type)[*count], err) < 0)
				return -1;
			++*count;
		}
	return 0;
}

void module_layouts(const void *p, size_t n, struct arena *mem, struct module_layouts *out)
{
	struct module_bytes shape = program_shape(p, n), *v = NULL;
	struct cursor c = cursor_of(shape.data, shape.len);
	struct proto_field f;
	struct shape s;
	size_t cap = 0, count = 0;
	bool plain = true;
	*out = (struct module_layouts){0};
	while (proto_next(&c, &f)) {
		if (!f.data || (f.number != PROGRAM_PARAMETER && f.number != PROGRAM_RESULT))
			continue;
		plain &= read_shape(f.data, f.len, &s, 0) < 0 || s.plain;
		if (f.number == PROGRAM_RESULT) {
			out->result = (struct module_bytes){f.data, f.len};
		} else {
			MEM_GROW(&v, &cap, count + 1);
			v[count++] = (struct module_bytes){f.data, f.len};
		}
	}
	if (plain) {
		out->result = (struct module_bytes){NULL, 0};
	} else {
		out->n = count;
		out->argument = arena_dup(mem, v, count * sizeof *v);
	}
	mem_free(v);
}

void module_inside(const void *p, size_t n, struct buf *out)
{
	struct cursor c = cursor_of(p, n);
	struct proto_field f;
	while (proto_next(&c, &f))
		if (f.number == 1 && f.data) {
			buf_add(out, f.data, f.len);
			return;
		}
}

uint64_t module_hash(const void *p, size_t n)
{
	struct graph g = {0};
	uint64_t h = 0;
	if (graph_parse(&g, p, n, "the optimised program", NULL) == 0)
		memcpy(&h, g.content.byte, sizeof h);
	graph_release(&g);
	return h;
}
