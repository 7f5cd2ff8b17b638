/*
 * evade.c - see the header: hides a number from the compiler.
 *
 * atan2(x, 1) is an arctangent as JAX writes it. XLA:CPU 0.11.2 gets seven of eight of them wrong where it writes
 * vector code, and none without it. It computes atan2(x, y) rightly. So the 1 becomes a y of which the compiler cannot
 * know that it is 1: it is 1 where x = x, and x elsewhere, where x is NaN and so is the result. What else the table may
 * name is hidden in the same way, which is right if the result is NaN where x is.
 *
 * A search that kept the wrong numbers would compare wrong ones with wrong ones and find that they agree.
 */
#include "ready/evade.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "hlo/float.h"
#include "hlo/ids.h"

typedef Hlo__HloInstructionProto instruction;

static const struct fault {
	const char *backend, *version;
	uint16_t opcode;
	uint32_t operand;
	double value;
	const char *what;
} faults[] = {
#define FAULT(backend, version, opcode, operand, value, what) {backend, version, opcode, operand, value, what},
#include "schemas/fault.def"
#undef FAULT
};

struct evasion {
	struct graph *g;
	struct ids ids;
	uint32_t named;
};

static bool is_of(const struct fault *f, const struct device_info *d)
{
	return d->release && strcmp(f->backend, d->family) == 0 && strcmp(f->version, d->release) == 0;
}

/* Is the node this number everywhere? */
static bool is_filled(const struct graph *g, uint32_t v, double value)
{
	double x;

	while (g->node[v].opcode == OP_BROADCAST || g->node[v].opcode == OP_RESHAPE || g->node[v].opcode == OP_CONVERT)
		v = node_operands(g, v)[0];
	return g->node[v].opcode == OP_CONSTANT && float_of_literal(g->node[v].proto->literal, &x) &&
		fabs(x - value) <= 0;
}

static bool is_faulty(const struct graph *g, uint32_t v, const struct fault *f)
{
	const struct node *n = &g->node[v];

	return n->opcode == f->opcode && n->n_operands == 2 &&
		is_filled(g, node_operands(g, v)[f->operand], f->value);
}

static instruction *make(struct evasion *e, const instruction *like, uint16_t opcode, int32_t type, const int64_t *x,
	uint32_t n)
{
	struct arena *mem = &e->g->mem;
	instruction *in = ARENA_NEW(mem, 1, instruction);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = arena_strdup(mem, opcode_name(opcode));
	in->name = arena_printf(mem, "vantage_evade.%u", e->named++);
	in->id = ids_next(&e->ids, like);
	in->shape = arena_dup(mem, like->shape, sizeof *in->shape);
	in->shape->element_type = type;
	in->operand_ids = arena_dup(mem, x, n * sizeof *x);
	in->n_operand_ids = n;
	return in;
}

/* Puts new instructions before one. */
static void insert(struct evasion *e, Hlo__HloComputationProto *c, const instruction *before, instruction *const *x,
	size_t n)
{
	instruction **all = ARENA_NEW(&e->g->mem, c->n_instructions + n, instruction *);
	size_t at = 0;

	while (c->instructions[at] != before)
		at++;
	memcpy(all, c->instructions, at * sizeof *all);
	memcpy(all + at, x, n * sizeof *all);
	memcpy(all + at + n, c->instructions + at, (c->n_instructions - at) * sizeof *all);
	c->instructions = all;
	c->n_instructions += n;
}

static void restate(struct evasion *e, uint32_t v, const struct fault *f)
{
	instruction *in = e->g->node[v].proto, *same, *hidden;
	int64_t x = in->operand_ids[1 - f->operand], y = in->operand_ids[f->operand];

	same = make(e, in, OP_COMPARE, DT_PRED, (int64_t[]){x, x}, 2);
	same->comparison_direction = (char *)"EQ";
	hidden = make(e, in, OP_SELECT, in->shape->element_type, (int64_t[]){same->id, y, x}, 3);
	in->operand_ids[f->operand] = hidden->id;
	insert(e, e->g->comp[e->g->node[v].comp].proto, in, (instruction *[]){same, hidden}, 2);
}

static int evade(struct evasion *e, const struct fault *f)
{
	int n = 0;

	for (uint32_t v = 0; v < e->g->n_nodes; v++)
		if (is_faulty(e->g, v, f)) {
			restate(e, v, f);
			n++;
		}
	return n;
}

/* Reads the program again, as it is now. */
static int read_again(struct graph *g, const char *name, struct err *err)
{
	struct buf bytes = {0};
	int rc;

	graph_write(g, &bytes);
	graph_release(g);
	rc = graph_parse(g, bytes.data, bytes.len, name, err);
	buf_release(&bytes);
	return rc;
}

int evade_faults(struct graph *g, const char *name, const struct device_info *device, struct buf *said,
	struct err *err)
{
	struct evasion e = {g, ids_of(g->module), ids_unnamed(g->module, "vantage_evade.")};
	int all = 0;

	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		int n = is_of(&faults[i], device) ? evade(&e, &faults[i]) : 0;
		if (n > 0)
			buf_addf(said, "%sthis compiler is wrong about %s; %d restated, in its own program, too",
				said->len ? "; " : "", faults[i].what, n);
		all += n;
	}
	return all > 0 && read_again(g, name, err) < 0 ? -1 : all;
}
