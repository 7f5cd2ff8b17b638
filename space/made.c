/*
 * made.c - see made.h.
 *
 * A call says its number in the problem, because the nodes of a graph are numbered by their content, not by their
 * place in the file. Names would not do: the content of a program does not depend on them.
 */
#include "space/made.h"

#include <stdlib.h>
#include <string.h>
#include "hlo/pack.h"

void made_module(struct arena *mem, Hlo__HloInstructionProto **instr, size_t n, const char *name, struct buf *out)
{
	Hlo__HloModuleProto m;
	Hlo__HloComputationProto entry, *entries = &entry;
	Hlo__ProgramShapeProto ps;

	hlo__program_shape_proto__init(&ps);
	ps.parameters = ARENA_NEW(mem, n, Hlo__ShapeProto *);
	ps.parameter_names = ARENA_NEW(mem, n, char *);
	for (size_t i = 0; i < n; i++)
		if (strcmp(instr[i]->opcode, "parameter") == 0) {
			ps.parameters[ps.n_parameters++] = instr[i]->shape;
			ps.parameter_names[ps.n_parameter_names++] = instr[i]->name;
		}
	ps.result = instr[n - 1]->shape;
	hlo__hlo_computation_proto__init(&entry);
	entry.name = (char *)"main";
	entry.id = 1;
	entry.instructions = instr;
	entry.n_instructions = n;
	entry.root_id = instr[n - 1]->id;
	entry.program_shape = &ps;
	hlo__hlo_module_proto__init(&m);
	m.name = (char *)name;
	m.entry_computation_name = entry.name;
	m.entry_computation_id = entry.id;
	m.id = 1;
	m.host_program_shape = &ps;
	m.computations = &entries;
	m.n_computations = 1;
	pack_message(&m.base, out);
}

static int64_t id_of(uint32_t number)
{
	return (int64_t)1 << 32 | (int64_t)(number + 1);
}

static Hlo__HloInstructionProto *add(struct made *m, const char *target, int64_t elements)
{
	Hlo__HloInstructionProto *in = arena_alloc(&m->mem, sizeof *in);
	Hlo__ShapeProto *s = arena_alloc(&m->mem, sizeof *s);
	Hlo__Layout *l = arena_alloc(&m->mem, sizeof *l);

	hlo__shape_proto__init(s);
	hlo__layout__init(l);
	s->element_type = DT_U8;
	s->n_dimensions = l->n_minor_to_major = 1;
	s->dimensions = arena_dup(&m->mem, &elements, sizeof elements);
	l->minor_to_major = ARENA_NEW(&m->mem, 1, int64_t);
	s->layout = l;
	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"custom-call";
	in->name = arena_printf(&m->mem, "node.%zu", m->n);
	in->custom_call_target = (char *)target;
	in->shape = s;
	in->id = id_of((uint32_t)m->n);
	MEM_GROW(&m->instr, &m->cap, m->n + 1);
	m->instr[m->n++] = in;
	return in;
}

void made_call(struct made *m, const char *target, const char *text, int64_t elements, const uint32_t *operands,
	size_t n)
{
	Hlo__HloInstructionProto *in = add(m, target, elements);

	in->backend_config.data = (uint8_t *)arena_strdup(&m->mem, text);
	in->backend_config.len = strlen(text);
	in->operand_ids = ARENA_NEW(&m->mem, n + 1, int64_t);
	in->n_operand_ids = n;
	for (size_t i = 0; i < n; i++)
		in->operand_ids[i] = id_of(operands[i]);
}

void made_end(struct made *m, const char *target, const void *text, size_t n_text, const char *name, struct buf *out)
{
	Hlo__HloInstructionProto *root = add(m, target, 1);

	root->backend_config.data = arena_dup(&m->mem, text, n_text);
	root->backend_config.len = n_text;
	made_module(&m->mem, m->instr, m->n, name, out);
	mem_free(m->instr);
	arena_release(&m->mem);
	*m = (struct made){0};
}

bool made_is(const struct graph *g, uint32_t v, const char *target)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;

	return g->node[v].opcode == OP_CUSTOM_CALL && strcmp(in->custom_call_target, target) == 0;
}

const char *made_text(const struct graph *g, uint32_t v, size_t *n)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;

	*n = in->backend_config.len;
	return (const char *)in->backend_config.data;
}

uint32_t made_problem(const struct graph *g, const char *target)
{
	uint32_t root = g->comp[g->entry].root;

	return made_is(g, root, target) ? root : NONE;
}

bool made_nodes(const struct graph *g, const char *target, uint32_t *node_of, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		node_of[i] = NONE;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		size_t length;
		const char *text;
		uint32_t number = 0;
		if (!made_is(g, v, target))
			continue;
		text = made_text(g, v, &length);
		for (size_t i = 0; i < length && number <= n; i++)
			number = text[i] >= '0' && text[i] <= '9' ? number * 10 + (uint32_t)(text[i] - '0') : n + 1;
		if (length == 0 || length > 9 || number >= n || node_of[number] != NONE)
			return false;
		node_of[number] = v;
		found++;
	}
	return found == n;
}

const char *made_numbers(const char *p, uint64_t *v, int n)
{
	for (int i = 0; i < n; i++) {
		char *end;
		if (*p < '0' || *p > '9')
			return NULL;
		v[i] = strtoull(p, &end, 10);
		p = end;
		if (*p == ':' && p[1])
			p++;
	}
	return p;
}
