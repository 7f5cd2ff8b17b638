/*
 * region.c - writes the pair of modules that shows what the change of some groups costs.
 *
 * The groups that differ are cut out (cluster.c): the old ones into module a, the new ones into b.
 * Both modules take the same parameters: every value that either side reads from outside. Both return the
 * same results: the values kept in both that something outside reads. A value kept on one side only cannot be
 * missed outside. It changed because its own site changed, so all its readers are in changed groups.
 *
 * A compiler cannot overwrite a parameter, but it can overwrite an operand that ends with the region
 * (lives.c). If a group that reads such an operand writes as many bytes, both sides get an extra kernel
 * before the groups, which computes the operand anew.
 *
 * One side may read a value that the other side computes. Then both sides get the group that makes this
 * value. Made-up numbers would not be those that the other side computes, and numbers decide how long an
 * exponential or a branch takes.
 *
 * An input may come of a result, by a way outside of the region. Where that counts, it is made to (waits.c).
 *
 * Everything is written in canonical manner (emit.h), parameters in order of first use. So the same region
 * in another layer, another graph or another night has the same key. key[0] is the hash of a, key[1] that
 * of b: the reverse move has the swapped key and the opposite price. For that, which side's uses come first must not
 * depend on which side is called a: those of the side with more groups do, of two with as many, those that give the
 * smaller keys.
 */
#include <stdlib.h>
#include <string.h>
#include "space/fusion/cluster.h"
#include "space/fusion/emit.h"
#include "hlo/pack.h"

/* The values that a region reads from outside, and whether it may overwrite them. */
struct inputs {
	struct nodes v;
	uint8_t *own;
	struct nodes *waits; /* which results each of them comes from (waits.c) */
	size_t cap_own;
};

static void inputs_release(struct inputs *in)
{
	for (size_t i = 0; in->waits && i < in->v.n; i++)
		nodes_release(&in->waits[i]);
	nodes_release(&in->v);
	mem_free(in->waits);
	mem_free(in->own);
}

/* Is a part of an array written in place, and the array copied first if anything may read it later? */
static bool updates(const struct graph *g, const struct nodes *members)
{
	for (size_t i = 0; i < members->n; i++) {
		uint16_t opcode = g->node[members->v[i]].opcode;
		if (opcode == OP_DYNAMIC_UPDATE_SLICE || opcode == OP_SCATTER)
			return true;
	}
	return false;
}

/* Does any group of the region? */
static bool updates_any(struct space *s, const uint8_t *const config[2], const struct cluster *p)
{
	struct nodes members = {0};
	bool any = false;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < p->roots[side].n && !any; i++) {
			members.n = 0;
			group_walk(s, config[side], p->roots[side].v[i], &members);
			any = updates(s->graph, &members);
		}
	nodes_release(&members);
	return any;
}

/*
 * Is it worth an extra kernel that the group can overwrite what it reads? Not where kernels are joined, which that one
 * would be, too; there it is only for results that are made in place, because they would be copied first.
 */
static bool may_overwrite(const struct space *s, const struct nodes *members)
{
	return !fusion_of(s)->rules->joins || updates(s->graph, members);
}

/* Adds v, which the group of `root` reads. The group may overwrite it if its result is as large. */
static void add_input(struct space *s, struct inputs *in, uint32_t v, uint32_t root, bool overwrites)
{
	const struct node *n = &s->graph->node[v];
	struct node_map *number = &fusion_of(s)->value;

	if (!node_map_has(number, v)) {
		node_map_set(number, v, (uint32_t)in->v.n);
		nodes_add(&in->v, v);
		MEM_GROW(&in->own, &in->cap_own, in->v.n);
		in->own[in->v.n - 1] = false;
	}
	in->own[number->to[v]] |= overwrites && n->bytes == s->graph->node[root].bytes && n->dtype != DT_TUPLE;
}

/* Adds the values that the groups of one side read and do not make, in order of first use. */
static void collect_inputs(struct space *s, const uint8_t *config, const struct nodes *roots,
	struct inputs *in)
{
	const struct graph *g = s->graph;
	struct nodes members = {0};

	for (size_t i = 0; i < roots->n; i++) {
		members.n = 0;
		group_walk(s, config, roots->v[i], &members);
		bool overwrites = may_overwrite(s, &members);
		for (size_t k = 0; k < members.n; k++) {
			const struct node *n = &g->node[members.v[k]];
			for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++) {
				uint32_t p = g->edges[e];
				if (!fusion_absorbed(s, config, e) && !nodes_has(roots, p) &&
					!(g->node[p].flags & NODE_SCALAR_CONST))
					add_input(s, in, p, roots->v[i], overwrites);
			}
		}
	}
	nodes_release(&members);
}

/* Adds the groups that make values which one side reads and the other computes inside a group. */
static void add_makers(struct space *s, const uint8_t *const config[2], struct cluster *p)
{
	for (int side = 0; side < 2; side++) {
		struct inputs in = {0};
		struct nodes members = {0};
		node_map_clear(&fusion_of(s)->value);
		collect_inputs(s, config[side], &p->roots[side], &in);
		for (size_t i = 0; i < p->roots[!side].n; i++)
			group_walk(s, config[!side], p->roots[!side].v[i], &members);
		nodes_sort(&members);
		for (size_t i = 0; i < in.v.n; i++)
			for (int both = 0; both < 2 && nodes_has(&members, in.v.v[i]); both++)
				nodes_add(&p->roots[both], in.v.v[i]);
		inputs_release(&in);
		nodes_release(&members);
		nodes_sort(&p->roots[0]);
		nodes_sort(&p->roots[1]);
	}
}

/* Writes the scalar constants that an instruction reads, each once. */
static void bare_constants(struct emitter *em, struct instrs *l, uint32_t v)
{
	const struct graph *g = em->s->graph;
	struct node_map *value = &fusion_of(em->s)->value;

	for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
		uint32_t p = node_operands(g, v)[k];
		if (!(g->node[p].flags & NODE_SCALAR_CONST) || node_map_has(value, p))
			continue;
		node_map_set(value, p, (uint32_t)l->n + 1);
		instrs_add(em, l, emit_copy(em, p, emit_value_id(em, p)));
	}
}

static void add_result(Hlo__HloInstructionProto *tuple, Hlo__ShapeProto *shape, int64_t id)
{
	tuple->shape->tuple_shapes[tuple->shape->n_tuple_shapes++] = shape;
	tuple->operand_ids[tuple->n_operand_ids++] = id;
}

/* Writes the tuple of results, perhaps with what keeps the region on its thread (nothing.c); returns the root's id. */
static int64_t emit_results(struct emitter *em, struct instrs *l, const struct nodes *results)
{
	const struct graph *g = em->s->graph;
	Hlo__HloInstructionProto *nothing = NULL, *tuple;
	Hlo__ShapeProto *shape = arena_alloc(&em->mem, sizeof *shape);

	if (fusion_of(em->s)->lightened)
		instrs_add(em, l, nothing = emit_nothing(em, emit_id(em->home, l->n + 1)));
	hlo__shape_proto__init(shape);
	shape->element_type = DT_TUPLE;
	shape->tuple_shapes = arena_alloc(&em->mem, (results->n + 1) * sizeof *shape->tuple_shapes);
	tuple = emit_op(em, "tuple", shape, emit_id(em->home, l->n + 1));
	tuple->operand_ids = arena_alloc(&em->mem, (results->n + 1) * sizeof *tuple->operand_ids);
	for (size_t i = 0; i < results->n; i++)
		add_result(tuple, g->node[results->v[i]].proto->shape, emit_value_id(em, results->v[i]));
	if (nothing)
		add_result(tuple, nothing->shape, nothing->id);
	instrs_add(em, l, tuple);
	return tuple->id;
}

static void write_module(struct emitter *em, struct instrs *l, int64_t root, struct buf *out)
{
	Hlo__HloModuleProto m;
	Hlo__HloComputationProto *entry = emit_comp(em, l, em->home, root);

	hlo__hlo_module_proto__init(&m);
	m.name = (char *)"region";
	m.id = 1;
	m.entry_computation_name = entry->name;
	m.entry_computation_id = entry->id;
	m.host_program_shape = entry->program_shape;
	m.computations = em->comp;
	m.n_computations = em->n_comps;
	pack_message(&m.base, out);
}

/*
 * Writes a kernel that computes v anew from parameter number `from`, into memory that the region may overwrite. No
 * compiler pass after fusion notices that the parameter is v already.
 */
static Hlo__HloInstructionProto *emit_again(struct emitter *em, uint32_t v, int64_t from, int64_t id)
{
	const struct node *n = &em->s->graph->node[v];
	bool complex = n->dtype == DT_C64 || n->dtype == DT_C128;
	Hlo__HloInstructionProto *in = emit_op(em, complex ? "negate" : "maximum", n->proto->shape, id);

	in->n_operand_ids = complex ? 1 : 2;
	in->operand_ids = ARENA_NEW(&em->mem, 2, int64_t);
	in->operand_ids[0] = in->operand_ids[1] = from;
	return in;
}

static Hlo__HloInstructionProto *emit_in_layout(struct emitter *em, uint32_t v, int64_t from, int64_t id)
{
	Hlo__HloInstructionProto *in = emit_op(em, "copy", em->s->graph->node[v].proto->shape, id);

	in->n_operand_ids = 1;
	in->operand_ids = ARENA_NEW(&em->mem, 1, int64_t);
	in->operand_ids[0] = from;
	return in;
}

/*
 * XLA:TPU lays out the parameters of a program as it likes, whatever it is told, and what reads them then does not fit.
 * So they are copied into the layout that is read. A copy from the same layout would be dropped before that, so the
 * parameter states another. What it states does not count.
 */
static Hlo__ShapeProto *in_other_layout(struct emitter *em, const Hlo__ShapeProto *shape)
{
	Hlo__ShapeProto *out = arena_dup(&em->mem, shape, sizeof *out);
	size_t n = shape->layout->n_minor_to_major;

	out->layout = arena_alloc(&em->mem, sizeof *out->layout);
	hlo__layout__init(out->layout);
	out->layout->minor_to_major = arena_alloc(&em->mem, n * sizeof *out->layout->minor_to_major);
	out->layout->n_minor_to_major = n;
	for (size_t i = 0; i < n; i++)
		out->layout->minor_to_major[i] = shape->layout->minor_to_major[n - 1 - i];
	return out;
}

/* Is there more than one layout of the value? */
static bool has_layouts(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *shape = g->node[v].proto->shape;

	return shape->layout && shape->layout->n_minor_to_major > 1;
}

static void emit_inputs(struct emitter *em, struct instrs *l, const struct inputs *in)
{
	struct node_map *value = &fusion_of(em->s)->value;
	bool copies = fusion_of(em->s)->rules->copies;

	for (size_t i = 0; i < in->v.n; i++) {
		node_map_set(value, in->v.v[i], (uint32_t)l->n + 1);
		Hlo__ShapeProto *shape = em->s->graph->node[in->v.v[i]].proto->shape;
		if (copies && has_layouts(em->s->graph, in->v.v[i]))
			shape = in_other_layout(em, shape);
		instrs_add(em, l, emit_parameter(em, shape, (uint32_t)i, emit_value_id(em, in->v.v[i])));
	}
	for (size_t i = 0; i < in->v.n; i++) {
		int64_t from = emit_value_id(em, in->v.v[i]);
		bool copied = copies && has_layouts(em->s->graph, in->v.v[i]);
		if (!in->own[i] && !copied)
			continue;
		node_map_set(value, in->v.v[i], (uint32_t)l->n + 1);
		instrs_add(em, l, (copied ? emit_in_layout : emit_again)(em, in->v.v[i], from,
			emit_value_id(em, in->v.v[i])));
	}
}

/* Makes the inputs wait that come after `from` in the program and before `root`, the next group to be written. */
static void emit_waits(struct emitter *em, struct instrs *l, const struct inputs *in, uint32_t from, uint32_t root)
{
	for (size_t i = 0; i < in->v.n; i++)
		if (in->waits[i].n && in->v.v[i] >= from && in->v.v[i] < root)
			emit_wait(em, l, in->v.v[i], &in->waits[i]);
}

/*
 * Writes one side: inputs, groups in order of their roots, results. Returns how many nodes; *parts: how many kernels.
 */
static uint32_t emit_side(struct space *s, const uint8_t *config, const struct inputs *in,
	const struct nodes *roots, const struct nodes *results, struct buf *out, uint32_t *parts)
{
	struct node_map *value = &fusion_of(s)->value;
	struct instrs l = {0};
	struct nodes members = {0};
	struct emitter em;
	uint32_t n_nodes = 0;

	emitter_init(&em, s, true);
	em.config = config;
	node_map_clear(value);
	emit_inputs(&em, &l, in);
	for (size_t i = 0; i < roots->n; i++) {
		members.n = 0;
		group_walk(s, config, roots->v[i], &members);
		n_nodes += (uint32_t)members.n;
		*parts += group_is_kernel(s->graph, &members);
		emit_waits(&em, &l, in, i ? roots->v[i - 1] : 0, roots->v[i]);
		for (size_t k = 0; k < members.n && (members.n == 1 || group_reads_constants(s, &members)); k++)
			bare_constants(&em, &l, members.v[k]);
		node_map_set(value, roots->v[i], (uint32_t)l.n + 1);
		instrs_add(&em, &l, emit_group(&em, &members, emit_value_id(&em, roots->v[i])));
	}
	write_module(&em, &l, emit_results(&em, &l, results), out);
	nodes_release(&members);
	emitter_release(&em);
	return n_nodes;
}

/* In order of first use, by side `lead` first. */
static void find_inputs(struct space *s, const uint8_t *const config[2], const struct cluster *p, int lead,
	struct inputs *in)
{
	node_map_clear(&fusion_of(s)->value);
	collect_inputs(s, config[lead], &p->roots[lead], in);
	collect_inputs(s, config[!lead], &p->roots[!lead], in);
	for (size_t i = 0; i < in->v.n; i++)
		for (int side = 0; side < 2 && in->own[i]; side++)
			in->own[i] = fusion_ends_inside(s, config[side], &p->roots[side], in->v.v[i]);
}

static void find_results(struct space *s, const uint8_t *const config[2], const struct cluster *p,
	struct nodes *results)
{
	for (size_t i = 0; i < p->roots[0].n; i++) {
		uint32_t v = p->roots[0].v[i];
		if (nodes_has(&p->roots[1], v) && (fusion_read_outside(s, config[0], &p->roots[0], v) ||
						  fusion_read_outside(s, config[1], &p->roots[1], v)))
			nodes_add(results, v);
	}
	cluster_order_results(s, results);
}

static void emit_region(struct space *s, const uint8_t *const config[2], const struct cluster *p, int lead,
	const struct nodes *results, struct region *out)
{
	const struct graph *g = s->graph;
	struct inputs in = {0};
	uint32_t in_a, in_b;

	find_inputs(s, config, p, lead, &in);
	in.waits = MEM_NEW(in.v.n + 1, struct nodes);
	if (fusion_of(s)->rules->joins || updates_any(s, config, p))
		cluster_find_waits(s, p, results, &in.v, in.waits);
	*out = (struct region){.times = g->comp[g->node[p->roots[0].v[0]].comp].trips, .copies = 1};
	in_a = emit_side(s, config[0], &in, &p->roots[0], results, &out->a, &out->parts[0]);
	in_b = emit_side(s, config[1], &in, &p->roots[1], results, &out->b, &out->parts[1]);
	out->n_nodes = in_a > in_b ? in_a : in_b;
	out->key[0] = hash64(out->a.data, out->a.len, 0);
	out->key[1] = hash64(out->b.data, out->b.len, 0);
	inputs_release(&in);
}

uint64_t cluster_key(const struct region *r)
{
	return r->key[0] < r->key[1] ? r->key[0] : r->key[1];
}

void cluster_region(struct space *s, const uint8_t *const config[2], struct cluster *p, struct region *out)
{
	struct nodes results = {0};
	struct region other;

	add_makers(s, config, p);
	cluster_add_joined(s, config, p);
	find_results(s, config, p, &results);
	emit_region(s, config, p, p->roots[1].n > p->roots[0].n, &results, out);
	if (p->roots[0].n == p->roots[1].n) {
		emit_region(s, config, p, 1, &results, &other);
		if (cluster_key(&other) < cluster_key(out)) {
			struct region swap = *out;
			*out = other;
			other = swap;
		}
		region_release(&other);
	}
	nodes_release(&results);
}
