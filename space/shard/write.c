/*
 * write.c - writes the program with the annotations that XLA's partitioner reads.
 *
 * A parameter has its layout as an attribute. A value gets it by a call of "Sharding" behind it. The call takes over
 * the value's number and name, so all readers of the value read the call, and nothing else changes; the partitioner
 * removes the calls. A result that takes a parameter's place in the next run is laid out like the parameter, even if
 * that is whole: otherwise the next run would begin by moving it.
 *
 * The program can also be written so that every device takes all parameters whole and returns all results whole, and
 * only the values between them are split. Such a program runs on the inputs of one device, so its numbers can be
 * compared with those of one device.
 *
 * JAX's newer way of partitioning (Shardy) marks results by calls of its own, which the partitioner here refuses. They
 * give back what they take, so they are written as copies. What they say of layouts is not read.
 */
#include "space/shard/own.h"

#include <string.h>
#include "hlo/pack.h"

struct writing {
	struct space *s;
	const uint8_t *config;
	struct arena mem;
	int64_t next_id;
	bool whole; /* parameters and results */
	Hlo__HloInstructionProto **line; /* of the computation being written */
	size_t n, cap;
};

static void add(struct writing *w, Hlo__HloInstructionProto *in)
{
	MEM_GROW(&w->line, &w->cap, w->n + 1);
	w->line[w->n++] = in;
}

static Hlo__HloInstructionProto *copy(struct writing *w, const Hlo__HloInstructionProto *in)
{
	return arena_dup(&w->mem, in, sizeof *in);
}

/*
 * Makes a call that lays out the value of that number. It has an id of its own, and the shape and the origin of `like`.
 */
static Hlo__HloInstructionProto *annotate(struct writing *w, const Hlo__HloInstructionProto *like, int64_t value,
	Hlo__OpSharding *sharding)
{
	Hlo__HloInstructionProto *in = ARENA_NEW(&w->mem, 1, Hlo__HloInstructionProto);
	struct buf name = {0};

	hlo__hlo_instruction_proto__init(in);
	in->id = w->next_id++;
	buf_addf(&name, "laid-out.%lld", (long long)in->id);
	in->name = arena_strdup(&w->mem, name.data);
	in->opcode = (char *)(uintptr_t)"custom-call";
	in->custom_call_target = (char *)(uintptr_t)"Sharding";
	in->custom_call_api_version = 1;
	in->shape = like->shape;
	in->metadata = like->metadata;
	in->operand_ids = ARENA_NEW(&w->mem, 1, int64_t);
	in->operand_ids[0] = value;
	in->n_operand_ids = 1;
	in->sharding = sharding;
	buf_release(&name);
	add(w, in);
	return in;
}

/* Writes an instruction and, behind it, its layout, under the instruction's own number and name. */
static void add_laid_out(struct writing *w, Hlo__HloInstructionProto *in, Hlo__OpSharding *sharding)
{
	Hlo__HloInstructionProto *after;
	int64_t id = in->id;
	char *name = in->name;

	in->id = w->next_id++;
	add(w, in);
	after = annotate(w, in, in->id, sharding);
	in->name = after->name;
	after->id = id;
	after->name = name;
}

/* Returns the layout of a node: as decided, else as the program has it, else NULL. */
static Hlo__OpSharding *said_of(struct writing *w, uint32_t v)
{
	const struct space *s = w->s;
	uint32_t site = s->site_of[v];
	struct layout l;

	if (site != NONE && shard_layout(s, site, w->config[site], &l))
		return layout_sharding(&shard_of(s)->mesh, &l, s->graph->node[v].rank, &w->mem);
	return s->graph->node[v].proto->sharding;
}

static Hlo__OpSharding *whole(struct writing *w)
{
	return layout_sharding(&shard_of(w->s)->mesh, &layout_whole, 0, &w->mem);
}

static void add_parameter(struct writing *w, uint32_t v)
{
	Hlo__HloInstructionProto *in = copy(w, w->s->graph->node[v].proto);
	Hlo__OpSharding *said = said_of(w, v);

	in->sharding = said;
	if (!w->whole || !said) {
		add(w, in);
		return;
	}
	in->sharding = whole(w);
	add_laid_out(w, in, said);
}

/* Returns the layout of a part of the result: that of the parameter whose place it takes; NULL: there is none. */
static Hlo__OpSharding *said_of_result(struct writing *w, uint32_t part)
{
	const struct graph *g = w->s->graph;
	const struct comp *c = &g->comp[g->entry];

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (g->node[v].opcode == OP_PARAMETER && purpose_of(w->s, v)->out == part && g->node[v].rank) {
			Hlo__OpSharding *said = said_of(w, v);
			return said ? said : whole(w);
		}
	return NULL;
}

/* Returns the id of the value that stands for a part of the result. */
static int64_t lay_out_result(struct writing *w, uint32_t v, uint32_t part)
{
	const Hlo__HloInstructionProto *in = w->s->graph->node[v].proto;
	Hlo__OpSharding *said = said_of_result(w, part);
	int64_t id = in->id;

	if (w->s->graph->node[v].dtype == DT_TUPLE)
		return id;
	if (said)
		id = annotate(w, in, id, said)->id;
	if (w->whole)
		id = annotate(w, in, id, whole(w))->id;
	return id;
}

static void add_result(struct writing *w, uint32_t root)
{
	const struct graph *g = w->s->graph;
	Hlo__HloInstructionProto *in = copy(w, g->node[root].proto);

	in->sharding = NULL; /* its parts say it */
	in->operand_ids = arena_dup(&w->mem, in->operand_ids, in->n_operand_ids * sizeof *in->operand_ids);
	for (uint32_t k = 0; k < g->node[root].n_operands; k++)
		in->operand_ids[k] = lay_out_result(w, node_operands(g, root)[k], k);
	add(w, in);
}

/* Does the value of a node get a layout, other than by an attribute that stays? */
static bool is_decided(const struct writing *w, uint32_t v)
{
	uint32_t site = w->s->site_of[v];

	return site != NONE && w->config[site];
}

#define SHARDY_RESULT "xla.sdy.FuncResultSharding"

static Hlo__HloInstructionProto *without_shardy(struct writing *w, Hlo__HloInstructionProto *in)
{
	Hlo__HloInstructionProto *out;

	if (!in->custom_call_target || strcmp(in->custom_call_target, SHARDY_RESULT) != 0 || in->n_operand_ids != 1)
		return in;
	out = ARENA_NEW(&w->mem, 1, Hlo__HloInstructionProto);
	hlo__hlo_instruction_proto__init(out);
	out->id = in->id;
	out->name = in->name;
	out->opcode = (char *)(uintptr_t)"copy";
	out->shape = in->shape;
	out->metadata = in->metadata;
	out->operand_ids = in->operand_ids;
	out->n_operand_ids = 1;
	out->sharding = in->sharding;
	return out;
}

static Hlo__HloComputationProto *write_comp(struct writing *w, uint32_t comp)
{
	const struct graph *g = w->s->graph;
	const struct comp *c = &g->comp[comp];
	Hlo__HloComputationProto *out = arena_dup(&w->mem, c->proto, sizeof *out);
	bool entry = comp == g->entry;

	w->n = 0;
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		if (entry && g->node[v].opcode == OP_PARAMETER)
			add_parameter(w, v);
		else if (entry && v == c->root && g->node[v].opcode == OP_TUPLE)
			add_result(w, v);
		else if (is_decided(w, v))
			add_laid_out(w, copy(w, g->node[v].proto), said_of(w, v));
		else
			add(w, without_shardy(w, g->node[v].proto));
	}
	if (entry && g->node[c->root].opcode != OP_TUPLE)
		out->root_id = lay_out_result(w, c->root, 0);
	out->instructions = arena_dup(&w->mem, w->line, w->n * sizeof *w->line);
	out->n_instructions = w->n;
	return out;
}

static int64_t highest_id(const struct graph *g)
{
	int64_t id = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		id = g->node[v].proto->id > id ? g->node[v].proto->id : id;
	return id;
}

void shard_write(struct space *s, const uint8_t *config, bool whole_ends, struct buf *module)
{
	const struct graph *g = s->graph;
	Hlo__HloModuleProto m = *g->module;
	struct writing w = {.s = s, .config = config, .next_id = highest_id(g) + 1, .whole = whole_ends};

	m.computations = ARENA_NEW(&w.mem, g->n_comps + 1, Hlo__HloComputationProto *);
	m.n_computations = g->n_comps;
	for (uint32_t c = 0; c < g->n_comps; c++)
		m.computations[c] = comp_is_compiled(&g->comp[c]) ? write_comp(&w, c) : g->comp[c].proto;
	m.schedule = NULL;
	m.spmd_output_sharding = NULL;
	m.n_spmd_parameters_shardings = 0;
	pack_message(&m.base, module);
	mem_free(w.line);
	arena_release(&w.mem);
}
