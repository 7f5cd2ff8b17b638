/*
 * library.c - puts what XLA:CPU leaves to a library up for decision.
 *
 * Before its fusion pass XLA:CPU wraps products, convolutions, and large reductions, these with the operations beside
 * them, into kernels of their own (kCustom), which a library computes (YNNPACK). The fusion pass leaves these alone.
 * But the library reads its inputs from memory, and XLA's own code can compute them on the way: a sum over a short
 * third dimension takes less than half the time then. And for small shapes XLA's own code may be faster by itself.
 * The compiler asks no price for either.
 *
 * So before the space is opened we take such kernels apart, but for those of a product with other instructions, and of
 * products that XLA cannot compute itself. Their instructions stand there bare, the root with the settings of the
 * kernel, the others with a mark that they were inside of one. Then
 *
 *	a group of just the instructions of one kernel	is the library's kernel, as it was,
 *	... if the choice of its root has one bit more	or the same in XLA's own code
 *	any other group					is XLA's own code
 *
 * The other way round, the library for groups that XLA computes itself, was tried and is no choice: of the single
 * kernels of ten programs those that the library computes faster make up 0.6% of the time at most, but for one of 17
 * sites, and every large elementwise instruction would have twice the choices.
 *
 * The compiler's default is read back as for any other instructions. Settings and marks are backend_config, which has
 * no part in what an instruction computes; they are taken off when a group is written (emit.c).
 */
#include <string.h>
#include "hlo/ids.h"
#include "hlo/pack.h"
#include "space/fusion/own.h"

#define SETTINGS "\"fusion_config\"" /* of a kernel that a library computes; an instruction has none by itself */
#define INSIDE "{\"fusion_config\":{\"kind\":\"\"}}"

static bool has_settings(const struct node *n)
{
	const ProtobufCBinaryData *set = &n->proto->backend_config;

	return set->len >= sizeof SETTINGS && memmem(set->data, set->len, SETTINGS, sizeof SETTINGS - 1);
}

static bool was_inside(const struct node *n)
{
	const ProtobufCBinaryData *set = &n->proto->backend_config;

	return set->len == sizeof INSIDE - 1 && memcmp(set->data, INSIDE, set->len) == 0;
}

bool fusion_was_library(const struct graph *g, uint32_t v)
{
	return g->node[v].opcode != OP_FUSION && has_settings(&g->node[v]);
}

bool fusion_was_result(const struct graph *g, uint32_t v)
{
	return fusion_was_library(g, v) && !was_inside(&g->node[v]);
}

bool fusion_is_library(struct space *s, const uint8_t *config, const struct nodes *members)
{
	const struct graph *g = s->graph;
	uint32_t root = members->v[members->n - 1];

	if (!fusion_was_result(g, root) || (config[s->site_of[root]] & fusion_of(s)->own_code[root]))
		return false;
	for (size_t i = 0; i < members->n; i++) {
		const struct node *n = &g->node[members->v[i]];
		if (members->v[i] != root && !was_inside(n))
			return false;
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
			if (was_inside(&g->node[g->edges[e]]) && !fusion_absorbed(s, config, e))
				return false;
	}
	return true;
}

/* Of what is in a kernel: is it none of its instructions, but what they are given, or a number? */
static bool is_given(const struct node *n)
{
	return n->opcode == OP_PARAMETER || (n->flags & NODE_SCALAR_CONST);
}

/* Can XLA:CPU compute this product or convolution itself? It refuses two bf16 matrices whose product is of floats. */
static bool is_own_product(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const uint32_t *op = node_operands(g, v);

	return (n->opcode == OP_DOT || n->opcode == OP_CONVOLUTION) && n->n_operands == 2 &&
	       n->dtype == g->node[op[0]].dtype && n->dtype == g->node[op[1]].dtype;
}

/* Does this add read a product that v's kernel is given? The add may be bound to absorb that (legal.c). */
static bool adds_product(const struct graph *g, uint32_t kernel, uint32_t v)
{
	for (uint32_t k = 0; k < g->node[v].n_operands && g->node[v].opcode == OP_ADD; k++) {
		const struct node *in = &g->node[node_operands(g, v)[k]];
		if (in->opcode == OP_PARAMETER &&
			g->node[node_operands(g, kernel)[in->proto->parameter_number]].opcode == OP_DOT)
			return true;
	}
	return false;
}

/* Can this instruction of a kernel of several stand outside, be absorbed by its readers, and absorb what it reads? */
static bool is_fusible(const struct graph *g, const struct fusion_rules *rules, uint32_t kernel, uint32_t v)
{
	const struct node *n = &g->node[v];
	bool whole = dtype_bits(n->dtype) >= 8 || n->dtype == DT_PRED;

	return fusion_takes_part(rules, n->opcode) && n->opcode != OP_DOT && n->n_called < 2 && whole &&
	       !(n->flags & (NODE_CONTROL | NODE_SIDE_EFFECT)) && ((n->flags & NODE_ROOT) || n->n_users) &&
	       !adds_product(g, kernel, v);
}

/* Is it a library's kernel that can be taken apart: of one product, or of instructions that can be in a fusion? */
bool fusion_comes_apart(const struct graph *g, const struct fusion_rules *rules, uint32_t v)
{
	const struct node *n = &g->node[v];
	const struct comp *c;
	uint32_t count = 0, fusible = 0;

	if (n->opcode != OP_FUSION || !fusion_groupable(g, v) || n->n_called != 1 || !n->proto->fusion_kind ||
		strcmp(n->proto->fusion_kind, "kCustom") != 0 || !has_settings(n))
		return false;
	c = &g->comp[node_calls(g, v)[0]];
	for (uint32_t u = c->first; u < c->first + c->n_nodes; u++) {
		count += !is_given(&g->node[u]);
		fusible += !is_given(&g->node[u]) && is_fusible(g, rules, v, u);
	}
	return c->n_callers == 1 && !is_given(&g->node[c->root]) &&
	       (fusible == count || (count == 1 && is_own_product(g, c->root)));
}

struct apart {
	const struct graph *g;
	const struct fusion_rules *rules;
	struct ids ids;
	int64_t *id;   /* per node inside a kernel: its number outside */
	uint8_t *gone; /* per computation: it was the inside of a kernel */
	uint32_t n;    /* kernels taken apart */
	struct arena mem;
};

/* Adds what is in a kernel, bare. The last of it has the kernel's number, so its readers stay as they are. */
static void write_inside(struct apart *a, uint32_t kernel, Hlo__HloComputationProto *out)
{
	const struct graph *g = a->g;
	const Hlo__HloInstructionProto *k = g->node[kernel].proto;
	const struct comp *c = &g->comp[node_calls(g, kernel)[0]];

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const struct node *n = &g->node[v];
		Hlo__HloInstructionProto *in = arena_dup(&a->mem, n->proto, sizeof *in);
		if (n->opcode == OP_PARAMETER) {
			a->id[v] = k->operand_ids[n->proto->parameter_number];
			continue;
		}
		in->id = a->id[v] = v == c->root ? k->id : ids_next(&a->ids, k);
		if (v == c->root)
			in->backend_config = k->backend_config;
		else if (!(n->flags & NODE_SCALAR_CONST))
			in->backend_config = (ProtobufCBinaryData){sizeof INSIDE - 1, (uint8_t *)INSIDE};
		in->operand_ids = ARENA_NEW(&a->mem, n->n_operands, int64_t);
		for (uint32_t i = 0; i < n->n_operands; i++)
			in->operand_ids[i] = a->id[node_operands(g, v)[i]];
		out->instructions[out->n_instructions++] = in;
	}
	a->gone[g->node[c->root].comp] = 1;
	a->n++;
}

/* The computation with the instructions of its library kernels. */
static Hlo__HloComputationProto *write_comp(struct apart *a, const struct comp *c)
{
	const struct graph *g = a->g;
	Hlo__HloComputationProto *out = arena_dup(&a->mem, c->proto, sizeof *out);
	size_t most = 0;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		most += g->node[v].opcode == OP_FUSION ? g->comp[node_calls(g, v)[0]].n_nodes : 1;
	out->instructions = ARENA_NEW(&a->mem, most, Hlo__HloInstructionProto *);
	out->n_instructions = 0;
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		if (fusion_comes_apart(g, a->rules, v))
			write_inside(a, v, out);
		else
			out->instructions[out->n_instructions++] = g->node[v].proto;
	}
	return out;
}

uint32_t fusion_take_apart(const struct space *s, struct buf *module)
{
	const struct graph *g = s->graph;
	struct apart a = {.g = g, .rules = fusion_of(s)->rules, .ids = ids_of(g->module)};
	Hlo__HloComputationProto **comp = ARENA_NEW(&a.mem, g->n_comps, Hlo__HloComputationProto *);
	Hlo__HloModuleProto m = *g->module;

	a.id = ARENA_NEW(&a.mem, g->n_nodes, int64_t);
	a.gone = ARENA_NEW(&a.mem, g->n_comps, uint8_t);
	for (uint32_t c = 0; c < g->n_comps; c++)
		comp[c] = comp_is_compiled(&g->comp[c]) ? write_comp(&a, &g->comp[c]) : g->comp[c].proto;
	m.computations = comp;
	m.n_computations = 0;
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (!a.gone[c])
			comp[m.n_computations++] = comp[c];
	m.schedule = NULL;
	if (a.n)
		pack_message(&m.base, module);
	arena_release(&a.mem);
	return a.n;
}
