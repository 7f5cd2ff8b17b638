/*
 * exchange.c - writes the exchange as numbers that are split over the devices, and then split in another order.
 */
#include "hlo/exchange.h"

#include <stdio.h>
#include <string.h>
#include "hlo/edit.h"
#include "hlo/ids.h"
#include "hlo/op.h"

#define EACH 512
#define SHARDING_OTHER 3 /* of XLA's OpSharding: tiles */

static Hlo__ShapeProto *make_shape(struct arena *mem, uint32_t devices)
{
	Hlo__ShapeProto *s = ARENA_NEW(mem, 1, Hlo__ShapeProto);
	Hlo__Layout *layout = ARENA_NEW(mem, 1, Hlo__Layout);

	hlo__shape_proto__init(s);
	hlo__layout__init(layout);
	layout->n_minor_to_major = 1;
	layout->minor_to_major = ARENA_NEW(mem, 1, int64_t);
	s->element_type = DT_S32;
	s->n_dimensions = s->n_is_dynamic_dimension = 1;
	s->dimensions = ARENA_NEW(mem, 1, int64_t);
	s->dimensions[0] = EACH * (int64_t)devices;
	s->is_dynamic_dimension = ARENA_NEW(mem, 1, protobuf_c_boolean);
	s->layout = layout;
	return s;
}

static Hlo__HloInstructionProto *make(struct arena *mem, uint16_t op, const char *name, int64_t id,
	Hlo__ShapeProto *shape)
{
	Hlo__HloInstructionProto *in = ARENA_NEW(mem, 1, Hlo__HloInstructionProto);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = arena_strdup(mem, opcode_name(op));
	in->name = arena_strdup(mem, name);
	in->id = id;
	in->shape = shape;
	return in;
}

/* Splits a value over the devices; device i has the part of place i + `turn`. */
static Hlo__HloInstructionProto *split(struct arena *mem, const Hlo__HloInstructionProto *value, int64_t id,
	uint32_t devices, uint32_t turn)
{
	Hlo__HloInstructionProto *in = make(mem, OP_CUSTOM_CALL, turn ? "vantage.turned" : "vantage.split", id,
		value->shape);
	Hlo__OpSharding *s = ARENA_NEW(mem, 1, Hlo__OpSharding);

	hlo__op_sharding__init(s);
	s->type = SHARDING_OTHER;
	s->n_tile_assignment_dimensions = 1;
	s->tile_assignment_dimensions = ARENA_NEW(mem, 1, int64_t);
	s->tile_assignment_dimensions[0] = devices;
	s->n_tile_assignment_devices = devices;
	s->tile_assignment_devices = ARENA_NEW(mem, devices, int64_t);
	for (uint32_t i = 0; i < devices; i++)
		s->tile_assignment_devices[i] = (i + turn) % devices;
	in->custom_call_target = arena_strdup(mem, "Sharding");
	in->custom_call_api_version = 1;
	in->n_operand_ids = 1;
	in->operand_ids = ARENA_NEW(mem, 1, int64_t);
	in->operand_ids[0] = value->id;
	in->sharding = s;
	return in;
}

/* Adds a part to a tuple's shape; what is no tuple becomes one of both. */
static Hlo__ShapeProto *with_part(struct arena *mem, const Hlo__ShapeProto *shape, Hlo__ShapeProto *part)
{
	Hlo__ShapeProto *s = ARENA_NEW(mem, 1, Hlo__ShapeProto);
	bool tuple = shape->element_type == DT_TUPLE;

	hlo__shape_proto__init(s);
	s->element_type = DT_TUPLE;
	s->n_tuple_shapes = tuple ? shape->n_tuple_shapes + 1 : 2;
	s->tuple_shapes = ARENA_NEW(mem, s->n_tuple_shapes, Hlo__ShapeProto *);
	for (size_t i = 0; tuple && i < shape->n_tuple_shapes; i++)
		s->tuple_shapes[i] = shape->tuple_shapes[i];
	if (!tuple)
		s->tuple_shapes[0] = arena_dup(mem, shape, sizeof *shape);
	s->tuple_shapes[s->n_tuple_shapes - 1] = part;
	return s;
}

static Hlo__ProgramShapeProto *with_result(struct arena *mem, const Hlo__ProgramShapeProto *p, Hlo__ShapeProto *part)
{
	Hlo__ProgramShapeProto *out;

	if (!p || !p->result)
		return NULL;
	out = arena_dup(mem, p, sizeof *out);
	out->result = with_part(mem, p->result, part);
	return out;
}

/* Returns the root with another operand; a root that is no tuple becomes an operand itself. */
static Hlo__HloInstructionProto *with_operand(struct arena *mem, Hlo__HloInstructionProto *root, int64_t id,
	const Hlo__HloInstructionProto *value)
{
	bool tuple = strcmp(root->opcode, opcode_name(OP_TUPLE)) == 0;
	Hlo__HloInstructionProto *out = make(mem, OP_TUPLE, "vantage.result", id,
		with_part(mem, root->shape, value->shape));
	size_t n = tuple ? root->n_operand_ids : 1;

	if (tuple) {
		out->name = root->name;
		out->id = root->id;
	}
	out->n_operand_ids = n + 1;
	out->operand_ids = ARENA_NEW(mem, n + 1, int64_t);
	memcpy(out->operand_ids, tuple ? root->operand_ids : &root->id, n * sizeof *out->operand_ids);
	out->operand_ids[n] = value->id;
	return out;
}

static const char *add(const struct edit *e)
{
	struct arena *mem = e->mem;
	Hlo__HloModuleProto *m = e->module;
	Hlo__HloComputationProto *entry = e->entry;
	uint32_t devices = *(const uint32_t *)e->arg;
	size_t n = 0, root = entry->n_instructions;
	Hlo__HloInstructionProto **list = ARENA_NEW(mem, entry->n_instructions + 4, Hlo__HloInstructionProto *);
	struct ids ids = ids_of(m);

	for (size_t i = 0; i < entry->n_instructions; i++)
		if (entry->instructions[i]->id == entry->root_id)
			root = i;
	if (root == entry->n_instructions)
		return "has no result";
	Hlo__HloInstructionProto *old = entry->instructions[root];
	list[n++] = make(mem, OP_IOTA, "vantage.numbers", ids_next(&ids, old), make_shape(mem, devices));
	list[0]->n_dimensions = 1;
	list[0]->dimensions = ARENA_NEW(mem, 1, int64_t);
	list[n++] = split(mem, list[0], ids_next(&ids, old), devices, 0);
	list[n++] = split(mem, list[1], ids_next(&ids, old), devices, 1);
	for (size_t i = 0; i < entry->n_instructions; i++)
		if (i != root || strcmp(old->opcode, opcode_name(OP_TUPLE)) != 0)
			list[n++] = entry->instructions[i];
	list[n++] = with_operand(mem, old, ids_next(&ids, old), list[2]);
	entry->root_id = list[n - 1]->id;
	entry->instructions = list;
	entry->n_instructions = n;
	entry->program_shape = with_result(mem, entry->program_shape, list[0]->shape);
	m->host_program_shape = with_result(mem, m->host_program_shape, list[0]->shape);
	m->schedule = NULL;
	m->spmd_output_sharding = NULL;
	return NULL;
}

int exchange_add(const void *p, size_t n, const char *name, uint32_t devices, struct buf *out, struct err *err)
{
	return hlo_edit(p, n, name, add, &devices, out, err);
}
