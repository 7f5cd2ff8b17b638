/*
 * graph.c - makes programs for the toy space.
 *
 * A program consists of many strands. A strand starts from a parameter and a second input, and goes on by
 * elementwise operations on its own values. A pattern gives its length, its operations and its size. There
 * are far fewer patterns than strands, so strands repeat as layers do, and ties arise. The second input is a
 * parameter, or the end of an earlier strand (cut to size by a slice if that is longer), so all strands are
 * one graph. Sizes are 64 elements times a Pareto number, so a few strands outweigh all others.
 *
 * The result is valid HLO that a compiler takes; values without users are the program's results.
 */
#include <math.h>
#include <string.h>
#include "space/toy/toy.h"
#include "space/made.h"

#define STEPS 8	  /* the most operations of a pattern */
#define SITES_PER_PATTERN 16
#define MIN_ELEMENTS 64
#define MAX_ELEMENTS (1 << 20)
#define TAIL 0.8		/* exponent of the Pareto distribution of sizes */

static const char *const unary[] = {"exponential", "tanh", "negate", "abs", "cosine", "sqrt"};
static const char *const binary[] = {"add", "multiply", "subtract", "maximum"};

struct step {
	const char *opcode;
	uint8_t n_operands, second; /* second operand: a value of the strand; 0 is its second input */
};
struct pattern {
	struct step step[STEPS];
	uint32_t n_steps;
	int64_t elements;
};

struct value {
	int64_t id, elements;
};

struct writer {
	struct arena mem;
	struct rng rng;
	Hlo__HloInstructionProto **instr;
	size_t n, cap;
	uint8_t *used; /* per instruction: does it have a user? */
	size_t used_cap;
	uint32_t left; /* sites still to be written */
	int64_t n_parameters;
};

static Hlo__ShapeProto *array_shape(struct writer *w, int64_t elements)
{
	Hlo__ShapeProto *s = arena_alloc(&w->mem, sizeof *s);
	Hlo__Layout *l = arena_alloc(&w->mem, sizeof *l);

	hlo__shape_proto__init(s);
	hlo__layout__init(l);
	s->element_type = DT_F32;
	s->n_dimensions = l->n_minor_to_major = 1;
	s->dimensions = arena_dup(&w->mem, &elements, sizeof elements);
	l->minor_to_major = ARENA_NEW(&w->mem, 1, int64_t);
	s->layout = l;
	return s;
}

static int64_t add_instr(struct writer *w, const char *opcode, Hlo__ShapeProto *shape,
	const int64_t *operands, size_t n_operands)
{
	Hlo__HloInstructionProto *in = arena_alloc(&w->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)opcode;
	in->name = arena_printf(&w->mem, "%s.%zu", opcode, w->n + 1);
	in->shape = shape;
	in->id = (int64_t)1 << 32 | (int64_t)(w->n + 1);
	in->n_operand_ids = n_operands;
	in->operand_ids = arena_dup(&w->mem, operands, n_operands * sizeof *operands);
	MEM_GROW(&w->instr, &w->cap, w->n + 1);
	MEM_GROW(&w->used, &w->used_cap, w->n + 1);
	for (size_t i = 0; i < n_operands; i++)
		w->used[(uint32_t)operands[i] - 1] = 1;
	w->used[w->n] = 0;
	w->instr[w->n++] = in;
	return in->id;
}

static struct value add_site(struct writer *w, const char *opcode, int64_t elements,
	const int64_t *operands, size_t n_operands)
{
	w->left--;
	return (struct value){
		add_instr(w, opcode, array_shape(w, elements), operands, n_operands), elements};
}

static struct value add_parameter(struct writer *w, int64_t elements)
{
	int64_t id = add_instr(w, "parameter", array_shape(w, elements), NULL, 0);

	w->instr[w->n - 1]->parameter_number = w->n_parameters++;
	return (struct value){id, elements};
}

static struct value add_slice(struct writer *w, struct value of, int64_t elements)
{
	struct value v = add_site(w, "slice", elements, &of.id, 1);
	Hlo__HloInstructionProto *in = w->instr[w->n - 1];
	Hlo__SliceDimensions *d = arena_alloc(&w->mem, sizeof *d);

	hlo__slice_dimensions__init(d);
	d->limit = elements;
	d->stride = 1;
	in->n_slice_dimensions = 1;
	in->slice_dimensions = arena_dup(&w->mem, &d, sizeof(d));
	return v;
}

static void draw_pattern(struct rng *r, struct pattern *p)
{
	double size = MIN_ELEMENTS * pow(1 - rng_unit(r), -1 / TAIL);

	p->elements = size < MAX_ELEMENTS ? (int64_t)size : MAX_ELEMENTS;
	p->n_steps = 3 + (uint32_t)rng_below(r, STEPS - 2);
	for (uint32_t i = 0; i < p->n_steps; i++) {
		struct step *s = &p->step[i];
		s->n_operands = (uint8_t)(1 + rng_below(r, 2));
		s->opcode = s->n_operands == 1 ? unary[rng_below(r, sizeof unary / sizeof *unary)]
					       : binary[rng_below(r, sizeof binary / sizeof *binary)];
		s->second = (uint8_t)rng_below(r, i + 1);
	}
}

/* Draws the second input: a parameter, or the end of an earlier strand that is long enough. */
static struct value second_input(struct writer *w, const struct value *ends, size_t n_ends,
	int64_t elements)
{
	struct value v;

	if (n_ends == 0 || rng_unit(&w->rng) < 0.4)
		return add_parameter(w, elements);
	v = ends[n_ends - 1 - rng_below(&w->rng, n_ends < 8 ? n_ends : 8)];
	if (v.elements < elements)
		return add_parameter(w, elements);
	return v.elements == elements ? v : add_slice(w, v, elements);
}

static struct value add_strand(struct writer *w, const struct pattern *p, struct value second)
{
	struct value own[STEPS + 1] = {second}, x = add_parameter(w, p->elements);

	for (uint32_t i = 0; i < p->n_steps && w->left; i++) {
		const struct step *s = &p->step[i];
		int64_t operands[2] = {x.id, own[s->second].id};
		x = own[i + 1] = add_site(w, s->opcode, p->elements, operands, s->n_operands);
	}
	return x;
}

static void add_results(struct writer *w)
{
	Hlo__ShapeProto *shape = arena_alloc(&w->mem, sizeof *shape);
	int64_t *ids = ARENA_NEW(&w->mem, w->n, int64_t);
	size_t n = 0;

	hlo__shape_proto__init(shape);
	shape->element_type = DT_TUPLE;
	shape->tuple_shapes = ARENA_NEW(&w->mem, w->n, Hlo__ShapeProto *);
	for (size_t i = 0; i < w->n; i++)
		if (!w->used[i]) {
			shape->tuple_shapes[n] = w->instr[i]->shape;
			ids[n++] = w->instr[i]->id;
		}
	shape->n_tuple_shapes = n;
	add_instr(w, "tuple", shape, ids, n);
}

void toy_graph(const struct toy_spec *spec, struct buf *module)
{
	struct writer w = {.left = spec->sites};
	uint32_t n_patterns = 2 + spec->sites / SITES_PER_PATTERN;
	struct pattern *pattern = ARENA_NEW(&w.mem, n_patterns, struct pattern);
	struct value *ends = ARENA_NEW(&w.mem, spec->sites, struct value);
	size_t n_ends = 0;

	rng_seed2(&w.rng, spec->seed, 0x746f79);
	for (uint32_t i = 0; i < n_patterns; i++)
		draw_pattern(&w.rng, &pattern[i]);
	while (w.left) {
		const struct pattern *p = &pattern[rng_below(&w.rng, n_patterns)];
		struct value second = second_input(&w, ends, n_ends, p->elements);
		if (w.left)
			ends[n_ends++] = add_strand(&w, p, second);
	}
	add_results(&w);
	made_module(&w.mem, w.instr, w.n, arena_printf(&w.mem, "toy_%u_%u_%llu", spec->sites, spec->choices,
		(unsigned long long)spec->seed), module);
	mem_free(w.instr);
	mem_free(w.used);
	arena_release(&w.mem);
}
