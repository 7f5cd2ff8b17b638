/*
 * waits.c - which values that a region reads come of what it makes, by a way outside of it.
 *
 * A region's inputs are parameters, and a parameter waits for nothing. In the program one of them may be computed from
 * a result of the region: in a training step a layer's gradient, from what the layer made on the way forward. Two
 * kernels with such a way from one to the other cannot become one kernel, for it would have to wait for itself. A
 * compiler that joins kernels does not see that in the region, joins them, and saves a start which the program has to
 * pay. With that seen, 37 of 40 flips of a ranking model have the price of the whole program, where 15 of 21 had it,
 * and 20 of 20 of a graph network, where 7 of 10 had.
 *
 * An array of which a part is written in place must not be read any more, or it is copied first. In the region the
 * reader and what is written need not come one after the other, though in the program what is written comes of what was
 * read: so a language model writes the next layer's keys and values into one array of all layers. There the copies of
 * 38 MB that only the region had made a fusion look 27 ms better, where the programs differed by -9 +- 6 and 3 +- 14.
 *
 * So an input that waits for results is passed, with them, through a barrier, which takes no time: what reads the input
 * then depends on the results. Ways through the groups of the region itself are seen anyway, and not looked for.
 */
#include "space/fusion/cluster.h"
#include "space/fusion/emit.h"

/* Marks what comes of result r, up to `last`, not looking past roots of the region. */
static void mark_from(const struct graph *g, const struct cluster *p, uint32_t r, uint32_t last, uint8_t *mark)
{
	mark[0] = 1;
	for (uint32_t v = r + 1; v <= last; v++) {
		mark[v - r] = 0;
		for (uint32_t k = 0; k < g->node[v].n_operands && !mark[v - r]; k++) {
			uint32_t from = node_operands(g, v)[k];
			bool passes = from == r || !(nodes_has(&p->roots[0], from) || nodes_has(&p->roots[1], from));
			mark[v - r] = from >= r && mark[from - r] && passes;
		}
	}
}

void cluster_find_waits(const struct space *s, const struct cluster *p, const struct nodes *results,
	const struct nodes *inputs, struct nodes *waits)
{
	uint8_t *mark = mem_alloc(s->graph->n_nodes + 1);
	uint32_t last = 0;

	for (size_t i = 0; i < inputs->n; i++)
		last = inputs->v[i] > last ? inputs->v[i] : last;
	for (size_t k = 0; k < results->n; k++) {
		uint32_t r = results->v[k];
		if (r >= last)
			continue;
		mark_from(s->graph, p, r, last, mark);
		for (size_t i = 0; i < inputs->n; i++)
			if (inputs->v[i] > r && mark[inputs->v[i] - r])
				nodes_add(&waits[i], r);
	}
	mem_free(mark);
}

static void add_element(Hlo__HloInstructionProto *tuple, Hlo__ShapeProto *shape, int64_t id)
{
	tuple->shape->tuple_shapes[tuple->shape->n_tuple_shapes++] = shape;
	tuple->operand_ids[tuple->n_operand_ids++] = id;
}

void emit_wait(struct emitter *em, struct instrs *l, uint32_t input, const struct nodes *results)
{
	const struct graph *g = em->s->graph;
	Hlo__ShapeProto *shape = arena_alloc(&em->mem, sizeof *shape);
	Hlo__HloInstructionProto *tuple, *barrier, *out;

	hlo__shape_proto__init(shape);
	shape->element_type = DT_TUPLE;
	shape->tuple_shapes = arena_alloc(&em->mem, (results->n + 1) * sizeof *shape->tuple_shapes);
	tuple = emit_op(em, "tuple", shape, emit_id(em->home, l->n + 1));
	tuple->operand_ids = ARENA_NEW(&em->mem, results->n + 1, int64_t);
	add_element(tuple, g->node[input].proto->shape, emit_value_id(em, input));
	for (size_t k = 0; k < results->n; k++)
		add_element(tuple, g->node[results->v[k]].proto->shape, emit_value_id(em, results->v[k]));
	instrs_add(em, l, tuple);
	barrier = emit_op(em, "opt-barrier", shape, emit_id(em->home, l->n + 1));
	barrier->n_operand_ids = 1;
	barrier->operand_ids = ARENA_NEW(&em->mem, 1, int64_t);
	barrier->operand_ids[0] = tuple->id;
	instrs_add(em, l, barrier);
	out = emit_op(em, "get-tuple-element", g->node[input].proto->shape, emit_id(em->home, l->n + 1));
	out->n_operand_ids = 1;
	out->operand_ids = ARENA_NEW(&em->mem, 1, int64_t);
	out->operand_ids[0] = barrier->id;
	node_map_set(&fusion_of(em->s)->value, input, (uint32_t)l->n + 1);
	instrs_add(em, l, out);
}
