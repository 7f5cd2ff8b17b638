/*
 * tiles.c - takes kernels that no choice can say into the program, as the compiler left them.
 *
 * XLA:GPU has two kinds of kernels. Most are computed element by element. Some, such as a softmax, are computed in
 * tiles (by Triton): there a reduction and what reads its result fit into one kernel. The program before the fusion
 * pass has small kernels in tiles. The pass adds producers and consumers to them, joins them, and sets the size of the
 * tiles. No choice of ours can say that: whatever we made of the same instructions would be another kind of kernel,
 * many times slower or refused.
 *
 * The other such kernels, which XLA:CPU has as well, are those around a reduction with several results (the place of a
 * maximum, beside the maximum). Our groups have one result each. (Of a game's 20 moves, which look for the first place
 * four times, the program as read back took 10% longer while such kernels were left out.)
 *
 * XLA:TPU fuses by strict rules of its own: products, reductions and broadcasts only in a certain company. Whoever
 * groups them otherwise ends the compiler, so our rules leave them alone. XLA:GPU updates an array in place only in a
 * certain company, and repeats a reduction only if that is cheap, which no single edge shows. There each kernel in
 * which the compiler fused against our rules is such a kernel, too (KEEPS in schemas/fusible.def), and so is each that
 * holds an instruction which the pass made: of a softmax's maximum and its broadcast XLA:TPU makes one window.
 *
 * So before the space is opened we rewrite the program. The instruction that such a kernel gives becomes the kernel,
 * with its insides and its settings, and reads what the kernel reads. Instructions that nothing else needs go. From
 * then on the kernel is one instruction that is never fused: choices are about all that is left around it.
 *
 * A kernel that the pass left as it was needs nothing, so a program without others stays the same, byte by byte.
 * Left out are kernels that join several groups, and those that read a value which the program before did not have.
 * What they hold then counts as absorbed against our rules (decode.c).
 */
#include <string.h>
#include "graph/unmade.h"
#include "hlo/ids.h"
#include "hlo/pack.h"
#include "space/fusion/emit.h"
#include "space/fusion/match.h"
#include "space/fusion/own.h"

#define MARK "__triton" /* in the settings of a kernel in tiles */

struct tiler {
	struct match m;
	const struct graph *before, *after;
	uint8_t *against; /* per node after: is something fused against our rules in it? NULL: that is not kept */
	uint32_t *kernel; /* per node before: the kernel after the pass that it becomes, or NONE */
	int64_t **reads;  /* per such node: what the kernel reads, as ids before the pass */
	uint8_t *live;	  /* per node before */
	uint32_t *copied; /* per computation after: the id of its copy; 0: none */
	uint32_t next_comp, next_name, n_kernels;
	Hlo__HloComputationProto **comp; /* the copies */
	size_t n_comps;
	struct arena mem;
};

bool fusion_is_tiled(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const ProtobufCBinaryData *set = &n->proto->backend_config;

	if (n->opcode != OP_FUSION || !n->proto->fusion_kind || strcmp(n->proto->fusion_kind, "kCustom") != 0)
		return false;
	return set->len >= sizeof MARK && memmem(set->data, set->len, MARK, sizeof MARK - 1);
}

bool fusion_gives_several(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	return n->opcode == OP_FUSION && n->dtype == DT_TUPLE &&
	       g->node[g->comp[node_calls(g, v)[0]].root].opcode != OP_TUPLE;
}

static const struct comp *inside(const struct graph *g, uint32_t v)
{
	return &g->comp[node_calls(g, v)[0]];
}

bool fusion_is_beyond_choices(const struct graph *g, uint32_t v)
{
	return fusion_is_tiled(g, v) || fusion_gives_several(g, v);
}

/* The kernel that an instruction after the pass is in, or itself. */
static uint32_t kernel_of(const struct graph *a, uint32_t w)
{
	while (a->comp[a->node[w].comp].role == ROLE_FUSED && a->comp[a->node[w].comp].caller != NONE)
		w = a->comp[a->node[w].comp].caller;
	return w;
}

/* Marks the kernels that hold something which the pass made, and did not only move. */
static void find_new(struct tiler *t)
{
	const struct graph *a = t->after;

	for (uint32_t w = 0; w < a->n_nodes; w++)
		if (a->comp[a->node[w].comp].role == ROLE_FUSED && t->m.first[w] == NONE &&
			!opcode_is_idle(a->node[w].opcode))
			t->against[kernel_of(a, w)] = 1;
}

/* Marks the kernels in which the compiler fused what our rules forbid. */
static void find_against(struct tiler *t, const struct space *s)
{
	const struct graph *g = t->before, *a = t->after;

	for (size_t i = 0; i < t->m.n; i++) {
		const struct copy *c = &t->m.copy[i];
		const struct node *n = &g->node[c->node];
		uint32_t w = kernel_of(a, c->after);
		for (uint32_t k = 0; w != c->after && k < n->n_operands; k++) {
			struct reading r = match_reading(&t->m, c, k);
			if (r.copy != NONE && r.inside && fusion_is_decided(g, c->node, k) &&
				fusion_of(s)->mask[n->operand + k] == 0)
				t->against[w] = 1;
		}
	}
	for (uint32_t w = 0; w < a->n_nodes && fusion_of(s)->rules->once; w++)
		t->against[w] |= a->node[w].opcode == OP_FUSION && unmade_fusion(a, inside(a, w));
}

static bool is_taken(const struct tiler *t, uint32_t w)
{
	return fusion_is_beyond_choices(t->after, w) || (t->against && t->against[w]);
}

/* Is the kernel one that stood in the program before and was not changed? */
static bool is_unchanged(const struct tiler *t, uint32_t w, uint32_t v)
{
	const struct graph *g = t->before;
	bool kept = t->against ? g->node[v].opcode == OP_FUSION : fusion_is_beyond_choices(g, v);

	return kept && g->node[v].n_operands == t->after->node[w].n_operands &&
	       inside(t->before, v)->n_nodes == inside(t->after, w)->n_nodes;
}

/* The node of v's computation, before v, that has the value of w, an instruction after the pass; or NONE. */
static uint32_t value_before(const struct tiler *t, uint32_t w, uint32_t v)
{
	const struct graph *g = t->before;
	uint64_t hash = t->m.hash_after[w];

	for (uint32_t c = match_first(&t->m, w); c != NONE; c = t->m.copy[c].next) {
		uint32_t u = t->m.copy[c].node;
		if (g->node[u].comp == g->node[v].comp && u < v)
			return u;
	}
	for (uint32_t u = v; u-- > g->comp[g->node[v].comp].first;)
		if (t->m.hash[u] == hash)
			return u;
	return NONE;
}

/* Notes that node v becomes kernel w, if all that w reads is there. */
static void adopt(struct tiler *t, uint32_t w, uint32_t v)
{
	const struct node *n = &t->after->node[w];
	int64_t *reads = ARENA_NEW(&t->mem, n->n_operands, int64_t);

	for (uint32_t k = 0; k < n->n_operands; k++) {
		uint32_t u = value_before(t, node_operands(t->after, w)[k], v);
		if (u == NONE)
			return;
		reads[k] = t->before->node[u].proto->id;
	}
	t->n_kernels += t->kernel[v] == NONE;
	t->kernel[v] = w;
	t->reads[v] = reads;
}

static void find_kernels(struct tiler *t)
{
	const struct graph *a = t->after;

	for (uint32_t w = 0; w < a->n_nodes; w++) {
		if (!node_is_compiled(a, w) || !is_taken(t, w) || a->node[inside(a, w)->root].opcode == OP_TUPLE)
			continue;
		for (uint32_t c = match_first(&t->m, w); c != NONE; c = t->m.copy[c].next) {
			uint32_t v = t->m.copy[c].node;
			if (!is_unchanged(t, w, v))
				adopt(t, w, v);
		}
	}
}

/* A node of this computation has this id. */
static void revive(struct tiler *t, const struct comp *c, int64_t id)
{
	for (uint32_t u = c->first; u < c->first + c->n_nodes; u++)
		t->live[u] |= t->before->node[u].proto->id == id;
}

/* Finds what is still needed, from users to operands. What nobody needed before stays, too. */
static void find_live(struct tiler *t)
{
	const struct graph *g = t->before;

	for (uint32_t v = g->n_nodes; v-- > 0;) {
		const struct node *n = &g->node[v];
		uint32_t w = t->kernel[v];
		t->live[v] |= n->n_users == 0 || n->opcode == OP_PARAMETER ||
			      (n->flags & (NODE_ROOT | NODE_SIDE_EFFECT | NODE_CONTROL));
		if (!t->live[v])
			continue;
		for (uint32_t k = 0; w == NONE && k < n->n_operands; k++)
			t->live[node_operands(g, v)[k]] = 1;
		for (uint32_t k = 0; w != NONE && k < t->after->node[w].n_operands; k++)
			revive(t, &g->comp[n->comp], t->reads[v][k]);
	}
}

static char *new_name(struct tiler *t, const char *stem)
{
	return arena_printf(&t->mem, "%s" KEPT_MARK "%u", stem, ++t->next_name);
}

/* Copies a computation, after those that it applies. Returns the id of the copy. */
static uint32_t copy_comp(struct tiler *t, uint32_t which)
{
	const struct graph *a = t->after;
	const struct comp *c = &a->comp[which];
	Hlo__HloComputationProto *out = arena_dup(&t->mem, c->proto, sizeof *out);
	uint32_t id;

	if (t->copied[which])
		return t->copied[which];
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		for (uint32_t k = 0; k < a->node[v].n_called; k++)
			copy_comp(t, node_calls(a, v)[k]);
	id = t->copied[which] = t->next_comp++;
	out->id = id;
	out->name = new_name(t, c->proto->name);
	out->root_id = emit_id(id, c->root - c->first + 1);
	out->instructions = ARENA_NEW(&t->mem, c->n_nodes, Hlo__HloInstructionProto *);
	out->n_instructions = c->n_nodes;
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const struct node *n = &a->node[v];
		Hlo__HloInstructionProto *in = arena_dup(&t->mem, n->proto, sizeof *in);
		in->id = emit_id(id, v - c->first + 1);
		in->name = new_name(t, n->proto->name);
		in->operand_ids = ARENA_NEW(&t->mem, n->n_operands, int64_t);
		for (uint32_t k = 0; k < n->n_operands; k++)
			in->operand_ids[k] = emit_id(id, node_operands(a, v)[k] - c->first + 1);
		in->called_computation_ids = ARENA_NEW(&t->mem, n->n_called, int64_t);
		for (uint32_t k = 0; k < n->n_called; k++)
			in->called_computation_ids[k] = t->copied[node_calls(a, v)[k]];
		out->instructions[v - c->first] = in;
	}
	t->comp[t->n_comps++] = out;
	return id;
}

/* Kernel w with the name and number of v, in whose place it stands. */
static Hlo__HloInstructionProto *write_kernel(struct tiler *t, uint32_t v)
{
	const Hlo__HloInstructionProto *was = t->before->node[v].proto;
	uint32_t w = t->kernel[v];
	Hlo__HloInstructionProto *in = arena_dup(&t->mem, t->after->node[w].proto, sizeof *in);

	in->name = was->name;
	in->id = was->id;
	in->operand_ids = t->reads[v];
	in->called_computation_ids = ARENA_NEW(&t->mem, 1, int64_t);
	in->called_computation_ids[0] = copy_comp(t, node_calls(t->after, w)[0]);
	return in;
}

static Hlo__HloComputationProto *write_comp(struct tiler *t, const struct comp *c)
{
	Hlo__HloComputationProto *out = arena_dup(&t->mem, c->proto, sizeof *out);

	out->instructions = ARENA_NEW(&t->mem, c->n_nodes, Hlo__HloInstructionProto *);
	out->n_instructions = 0;
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (t->live[v])
			out->instructions[out->n_instructions++] = t->kernel[v] == NONE ? t->before->node[v].proto :
									  write_kernel(t, v);
	return out;
}

static void write_module(struct tiler *t, struct buf *out)
{
	const struct graph *g = t->before;
	Hlo__HloModuleProto m = *g->module;
	Hlo__HloComputationProto **own = ARENA_NEW(&t->mem, g->n_comps, Hlo__HloComputationProto *);
	uint32_t n = 0;

	t->next_name = ids_unnamed(g->module, KEPT_MARK);
	t->comp = ARENA_NEW(&t->mem, t->after->n_comps + g->n_comps, Hlo__HloComputationProto *);
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (g->comp[c].proto->id >= t->next_comp)
			t->next_comp = (uint32_t)g->comp[c].proto->id + 1;
	for (uint32_t c = 0; c < g->n_comps; c++) {
		if (g->comp[c].role != ROLE_DEAD)
			own[n++] = comp_is_compiled(&g->comp[c]) ? write_comp(t, &g->comp[c]) : g->comp[c].proto;
	}
	for (uint32_t c = 0; c < n; c++) /* what is called comes before its callers */
		t->comp[t->n_comps++] = own[c];
	m.computations = t->comp;
	m.n_computations = t->n_comps;
	m.schedule = NULL;
	pack_message(&m.base, out);
}

/* Could a kernel be one to take? If not, nothing need be matched. */
static bool is_possible(const struct space *s, const struct graph *after)
{
	bool any = false;

	for (uint32_t w = 0; w < after->n_nodes && !any; w++)
		any = fusion_of(s)->rules->keeps ? after->node[w].opcode == OP_FUSION :
						   fusion_is_beyond_choices(after, w);
	return any && (fusion_of(s)->by_input || fusion_of(s)->rules->keeps || fusion_of(s)->rules->library);
}

uint32_t fusion_take_tiles(struct space *s, const struct graph *after, struct buf *module)
{
	struct tiler t = {.before = s->graph, .after = after};
	uint32_t n = s->graph->n_nodes;

	if (!is_possible(s, after))
		return 0;
	match_find(&t.m, s->graph, after);
	t.kernel = arena_alloc(&t.mem, n * sizeof *t.kernel);
	memset(t.kernel, 0xff, n * sizeof *t.kernel);
	t.reads = ARENA_NEW(&t.mem, n, int64_t *);
	t.live = ARENA_NEW(&t.mem, n, uint8_t);
	t.copied = ARENA_NEW(&t.mem, after->n_comps, uint32_t);
	if (fusion_of(s)->rules->keeps) {
		t.against = ARENA_NEW(&t.mem, after->n_nodes, uint8_t);
		find_against(&t, s);
		find_new(&t);
	}
	find_kernels(&t);
	if (t.n_kernels) {
		find_live(&t);
		write_module(&t, module);
	}
	match_release(&t.m);
	arena_release(&t.mem);
	return t.n_kernels;
}
