/*
 * stopper.c - adds the call to a module, and takes it out of what the compiler dumped.
 */
#include "hlo/stopper.h"

#include <string.h>
#include "hlo/edit.h"
#include "hlo/ids.h"
#include "hlo/op.h"

#define NAME "vantage.stopper"
#define TARGET "vantage_stopper"
#define SHARDING_MANUAL 4 /* of XLA's OpSharding: the partitioner, which wants to be told, leaves it as it is */

static Hlo__HloInstructionProto *make_call(struct arena *mem, int64_t id)
{
	static int64_t one = 1, zero = 0;
	static protobuf_c_boolean fixed = 0;
	Hlo__HloInstructionProto *in = arena_alloc(mem, sizeof *in);
	Hlo__ShapeProto *shape = arena_alloc(mem, sizeof *shape);
	Hlo__Layout *layout = arena_alloc(mem, sizeof *layout);

	hlo__hlo_instruction_proto__init(in);
	hlo__shape_proto__init(shape);
	hlo__layout__init(layout);
	layout->n_minor_to_major = 1;
	layout->minor_to_major = &zero;
	shape->element_type = DT_S32;
	shape->n_dimensions = shape->n_is_dynamic_dimension = 1;
	shape->dimensions = &one;
	shape->is_dynamic_dimension = &fixed;
	shape->layout = layout;
	in->name = arena_strdup(mem, NAME);
	in->opcode = arena_strdup(mem, opcode_name(OP_CUSTOM_CALL));
	in->shape = shape;
	in->id = id;
	in->custom_call_target = arena_strdup(mem, TARGET);
	in->custom_call_has_side_effect = 1;
	in->custom_call_api_version = 1;
	in->sharding = arena_alloc(mem, sizeof *in->sharding);
	hlo__op_sharding__init(in->sharding);
	in->sharding->type = SHARDING_MANUAL;
	return in;
}

static const char *add(const struct edit *e)
{
	Hlo__HloComputationProto *entry = e->entry;
	Hlo__HloInstructionProto **list = arena_alloc(e->mem, (entry->n_instructions + 1) * sizeof *list);
	struct ids ids = ids_of(e->module);

	list[0] = make_call(e->mem, entry->n_instructions ? ids_next(&ids, entry->instructions[0]) : 1);
	memcpy(list + 1, entry->instructions, entry->n_instructions * sizeof *list);
	entry->instructions = list;
	entry->n_instructions++;
	e->module->schedule = NULL; /* the call is not in it */
	return NULL;
}

static const char *drop(const struct edit *e)
{
	Hlo__HloModuleProto *m = e->module;
	Hlo__HloComputationProto *entry = e->entry;
	int64_t id = -1;
	size_t kept = 0;

	for (size_t i = 0; i < entry->n_instructions; i++) {
		if (strcmp(entry->instructions[i]->custom_call_target, TARGET) == 0)
			id = entry->instructions[i]->id;
		else
			entry->instructions[kept++] = entry->instructions[i];
	}
	entry->n_instructions = kept;
	for (size_t s = 0; m->schedule && s < m->schedule->n_sequences; s++) {
		Hlo__InstructionSequence *q = m->schedule->sequences[s]->value;
		kept = 0;
		if (!q || m->schedule->sequences[s]->key != entry->id)
			continue;
		for (size_t i = 0; i < q->n_instruction_ids; i++)
			if (q->instruction_ids[i] != id)
				q->instruction_ids[kept++] = q->instruction_ids[i];
		q->n_instruction_ids = kept;
	}
	return NULL;
}

int stopper_add(const void *p, size_t n, const char *name, struct buf *out, struct err *err)
{
	return hlo_edit(p, n, name, add, NULL, out, err);
}

int stopper_drop(const void *p, size_t n, const char *name, struct buf *out, struct err *err)
{
	return hlo_edit(p, n, name, drop, NULL, out, err);
}
