/*
 * hoist.c - moves what depends on given parameters alone into a program of its own, which runs once.
 *
 * Weights do not change from one run to the next, but the compiler cannot know that: it transposes, converts and puts
 * them together in every run. The user names the parameters that stay the same ("given"), and we cut the program in
 * two. The first part takes them and computes the values that the rest needs. The second part takes those values in
 * place of the parameters. So its signature differs from the user's program, and everybody who runs it must know.
 *
 * Two kinds of values are not handed over: those larger than their operands, such as a broadcast, and those that cost
 * nothing, such as a reshape. Their operands are handed over instead.
 */
#include "space/rewrite/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/pack.h"
#include "hlo/shape.h"

enum depends { ON_OTHERS, ON_NOTHING, ON_GIVEN = HOIST_GIVEN };

#define HANDED INT32_MAX /* the number of a parameter that was handed over, until `renumber` */

static bool is_pure(const Hlo__HloInstructionProto *in)
{
	return !line_has_effect(in) && !in->sharding;
}

/* On what each line depends, operands first. Parameters have their mark already. */
static void mark(const struct lines *l, const struct line_index *p, uint8_t *on)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const Hlo__HloInstructionProto *in = l->v[i];
		if (strcmp(in->opcode, "parameter") == 0)
			continue;
		on[i] = is_pure(in) ? ON_NOTHING : ON_OTHERS;
		for (size_t k = 0; k < in->n_operand_ids && on[i] != ON_OTHERS; k++) {
			uint32_t x = line_at(p, in->operand_ids[k]);
			on[i] = x == NONE || on[x] == ON_OTHERS ? ON_OTHERS : on[x] == ON_GIVEN ? ON_GIVEN : on[i];
		}
	}
}

static uint64_t elements_of(const Hlo__HloInstructionProto *in)
{
	uint64_t elements = 0, bytes = 0;

	shape_size(in->shape, &elements, &bytes);
	return elements;
}

/* Is there a point in handing this value over? */
static bool worth_it(const struct lines *l, const struct line_index *p, const Hlo__HloInstructionProto *in)
{
	uint16_t op = opcode_of(in->opcode);
	uint64_t read = 0;

	if (op == OP_RESHAPE || op == OP_BITCAST || opcode_is_idle(op))
		return false;
	if (in->shape->n_tuple_shapes || in->shape->element_type == DT_TUPLE)
		return false;
	for (size_t k = 0; k < in->n_operand_ids; k++) {
		uint32_t x = line_at(p, in->operand_ids[k]);
		read += x == NONE ? 0 : elements_of(l->v[x]);
	}
	return elements_of(in) <= read;
}

/* Chooses the lines to hand over: those that depend on given values alone, are read by others, and are worth it. */
static void choose(const struct lines *l, const struct line_index *p, int64_t root, uint8_t *on, uint8_t *handed)
{
	uint8_t *read = MEM_NEW(l->n + 1, uint8_t);

	for (uint32_t i = (uint32_t)l->n; i-- > 0;) {
		const Hlo__HloInstructionProto *in = l->v[i];
		bool wanted = read[i] || in->id == root;
		if (on[i] == ON_GIVEN && wanted && strcmp(in->opcode, "parameter") != 0) {
			handed[i] = in->id != root && worth_it(l, p, in);
			on[i] = handed[i] ? ON_GIVEN : ON_OTHERS;
		}
		for (size_t k = 0; k < in->n_operand_ids && on[i] == ON_OTHERS; k++) {
			uint32_t x = line_at(p, in->operand_ids[k]);
			if (x != NONE)
				read[x] = 1;
		}
	}
	mem_free(read);
}

#define PREPARED "prepared."

uint32_t hoist_lines(struct lines *l, uint8_t *on, int64_t root, uint32_t name, struct arena *mem,
	struct lines *handed)
{
	struct line_index p = lines_index(l);
	uint8_t *hand = MEM_NEW(l->n + 1, uint8_t);
	uint32_t n = 0;

	mark(l, &p, on);
	choose(l, &p, root, on, hand);
	for (uint32_t i = 0; i < l->n; i++) {
		Hlo__HloInstructionProto *in;
		if (!hand[i])
			continue;
		if (handed)
			lines_add(handed, l->v[i]);
		in = arena_alloc(mem, sizeof *in);
		hlo__hlo_instruction_proto__init(in);
		in->opcode = (char *)"parameter";
		in->name = arena_printf(mem, PREPARED "%u", name + n++);
		in->id = l->v[i]->id;
		in->shape = l->v[i]->shape;
		in->parameter_number = HANDED;
		l->v[i] = in;
	}
	mem_free(hand);
	line_index_release(&p);
	return n;
}

uint8_t *hoist_marks(struct arena *mem, const struct graph *g, const bool *given)
{
	uint8_t *on = ARENA_NEW(mem, g->n_nodes, uint8_t);
	const struct comp *c = &g->comp[g->entry];
	struct lines l = {0};
	struct line_index p;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		lines_add(&l, g->node[v].proto);
		if (g->node[v].opcode == OP_PARAMETER && given[g->node[v].proto->parameter_number])
			on[v] = ON_GIVEN;
	}
	p = lines_index(&l);
	mark(&l, &p, on + c->first);
	line_index_release(&p);
	mem_free(l.v);
	return on;
}

/* ---- of whole programs ---- */

/* Does a line read this one, or the computation give it? */
static bool is_read(const struct lines *l, int64_t root, int64_t id)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->v[i]->n_operand_ids; k++)
			if (l->v[i]->operand_ids[k] == id)
				return true;
	return id == root;
}

static int by_number(const void *a, const void *b)
{
	const Hlo__HloInstructionProto *const *x = a, *const *y = b;

	if ((*x)->parameter_number != (*y)->parameter_number)
		return (*x)->parameter_number > (*y)->parameter_number ? 1 : -1;
	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static bool is_parameter(const Hlo__HloInstructionProto *in)
{
	return strcmp(in->opcode, "parameter") == 0;
}

/* Drops given parameters that nobody reads, and numbers the others: the program's own, then what is handed over. */
static Hlo__ProgramShapeProto *renumber(struct lines *l, const bool *given, const Hlo__HloInstructionProto *root,
	struct arena *mem)
{
	Hlo__ProgramShapeProto *s = arena_alloc(mem, sizeof *s);
	struct lines params = {0};
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		Hlo__HloInstructionProto *in = l->v[i];
		bool own = is_parameter(in) && in->parameter_number != HANDED;
		if (own && given[in->parameter_number] && !is_read(l, root->id, in->id))
			continue;
		if (is_parameter(in))
			lines_add(&params, l->v[i] = arena_dup(mem, in, sizeof *in));
		l->v[kept++] = l->v[i];
	}
	l->n = kept;
	qsort(params.v, params.n, sizeof(*params.v), by_number);
	hlo__program_shape_proto__init(s);
	s->n_parameters = s->n_parameter_names = params.n;
	s->parameters = ARENA_NEW(mem, params.n, Hlo__ShapeProto *);
	s->parameter_names = ARENA_NEW(mem, params.n, char *);
	s->result = root->shape;
	for (size_t i = 0; i < params.n; i++) {
		params.v[i]->parameter_number = (int64_t)i;
		s->parameters[i] = params.v[i]->shape;
		s->parameter_names[i] = params.v[i]->name;
	}
	mem_free(params.v);
	return s;
}

/* Writes the module under a name, with these lines as its entry. */
static void write_entry(const struct graph *g, const char *name, struct lines *l, int64_t root,
	Hlo__ProgramShapeProto *shape, struct arena *mem, struct buf *out)
{
	Hlo__HloModuleProto m = *g->module;
	Hlo__HloComputationProto entry = *g->comp[g->entry].proto;

	m.computations = ARENA_NEW(mem, g->n_comps, Hlo__HloComputationProto *);
	m.n_computations = g->n_comps;
	for (uint32_t c = 0; c < g->n_comps; c++)
		m.computations[c] = c == g->entry ? &entry : g->comp[c].proto;
	entry.instructions = l->v;
	entry.n_instructions = l->n;
	entry.root_id = root;
	entry.program_shape = m.host_program_shape = shape;
	m.schedule = NULL;
	m.name = (char *)name;
	pack_message(&m.base, out);
}

static Hlo__HloInstructionProto *results_of(struct graph *g, const struct lines *handed, struct arena *mem)
{
	struct ids ids = ids_of(g->module);
	Hlo__HloInstructionProto *in = arena_alloc(mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"tuple";
	in->name = (char *)"vantage_prepared";
	in->shape = arena_alloc(mem, sizeof *in->shape);
	hlo__shape_proto__init(in->shape);
	in->shape->element_type = DT_TUPLE;
	in->shape->n_tuple_shapes = in->n_operand_ids = handed->n;
	in->shape->tuple_shapes = ARENA_NEW(mem, handed->n, Hlo__ShapeProto *);
	in->operand_ids = ARENA_NEW(mem, handed->n, int64_t);
	for (size_t i = 0; i < handed->n; i++) {
		in->shape->tuple_shapes[i] = handed->v[i]->shape;
		in->operand_ids[i] = handed->v[i]->id;
	}
	in->id = ids_next(&ids, handed->v[0]);
	return in;
}

/* The order in which `renumber` takes what is handed over. */
static int by_line_id(const void *a, const void *b)
{
	const Hlo__HloInstructionProto *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* Writes the program of all these lines that gives the values to hand over. */
static void write_first(struct graph *g, struct lines *l, struct lines *handed, struct arena *mem, struct buf *out)
{
	uint32_t n = g->comp[g->entry].n_nodes;
	bool *all = MEM_NEW(n + 1, bool);
	Hlo__HloInstructionProto *root;

	qsort(handed->v, handed->n, sizeof(*handed->v), by_line_id);
	root = results_of(g, handed, mem);
	memset(all, 1, n * sizeof *all);
	lines_add(l, root);
	lines_prune(l, root->id);
	write_entry(g, "prepare", l, root->id, renumber(l, all, root, mem), mem, out);
	mem_free(all);
}

int hoist_split(const struct buf *whole, const bool *given, struct buf *rest, struct buf *first, struct err *err)
{
	struct arena mem = {0};
	struct graph g;
	struct lines l = {0}, before = {0}, handed = {0};
	const Hlo__HloInstructionProto *root;
	uint8_t *on;

	if (graph_parse(&g, whole->data, whole->len, "the rewritten program", err) < 0)
		return -1;
	const struct comp *c = &g.comp[g.entry];
	root = g.node[c->root].proto;
	on = MEM_NEW(c->n_nodes + 1, uint8_t);
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		Hlo__HloInstructionProto *in = g.node[v].proto;
		on[l.n] = is_parameter(in) && given[in->parameter_number] ? ON_GIVEN : ON_OTHERS;
		lines_add(&l, in);
		lines_add(&before, in);
	}
	hoist_lines(&l, on, root->id, ids_unnamed(g.module, PREPARED), &mem, &handed);
	lines_prune(&l, root->id);
	if (rest)
		write_entry(&g, g.module->name, &l, root->id, renumber(&l, given, root, &mem), &mem, rest);
	if (first && handed.n)
		write_first(&g, &before, &handed, &mem, first);
	mem_free(l.v);
	mem_free(before.v);
	mem_free(handed.v);
	mem_free(on);
	arena_release(&mem);
	graph_release(&g);
	return 0;
}

/* ---- which parameters ---- */

static uint32_t n_parameters(const struct graph *g)
{
	const struct comp *c = &g->comp[g->entry];
	uint32_t n = 0;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		n += g->node[v].opcode == OP_PARAMETER;
	return n;
}

/* One entry of the list: a number, "FIRST-LAST", "FIRST-", or a parameter's name. */
static int read_entry(const struct graph *g, const char *p, size_t n, uint32_t all, bool *given, struct err *err)
{
	char *end, text[128];
	unsigned long first, last;

	snprintf(text, sizeof text, "%.*s", (int)n, p);
	first = last = strtoul(text, &end, 10);
	if (end > text && *end == '-') {
		const char *to = end + 1;
		last = *to ? strtoul(to, &end, 10) : (unsigned long)all - 1;
		end = *to ? end : end + 1;
	}
	if (end == text || *end) {
		uint32_t v = graph_find(g, text);
		if (v == NONE || g->node[v].opcode != OP_PARAMETER || g->node[v].comp != g->entry)
			return err_set(err,
				"the program has no parameter %s; --hoist-params takes numbers, ranges (3-17, 3-) and "
				"names",
				text);
		first = last = (unsigned long)g->node[v].proto->parameter_number;
	}
	if (first > last || last >= all)
		return err_set(err, "--hoist-params %s: the program's %u parameters are numbered from 0", text, all);
	for (unsigned long i = first; i <= last; i++)
		given[i] = true;
	return 0;
}

bool *hoist_read(struct arena *mem, const struct graph *g, const char *list, size_t n, struct err *err)
{
	uint32_t all = n_parameters(g), count = 0;
	bool *given = ARENA_NEW(mem, all + 1, bool);
	const Hlo__HloInputOutputAliasProto *alias = g->module->input_output_alias;

	for (const char *p = list, *end = list + n; p < end;) {
		size_t len = strcspn(p, ":");
		len = len > (size_t)(end - p) ? (size_t)(end - p) : len;
		if (read_entry(g, p, len, all, given, err) < 0)
			return NULL;
		p += len + 1;
	}
	if ((alias && alias->n_entries) || (g->module->buffer_donor && g->module->buffer_donor->n_entries)) {
		err_set(err, "the program writes results where its parameters are; --hoist-params would move these");
		return NULL;
	}
	for (uint32_t i = 0; i < all; i++)
		count += given[i];
	if (count == all) {
		err_set(err, "--hoist-params names all %u parameters: none is left that changes from run to run", all);
		return NULL;
	}
	return given;
}
