/*
 * joined.c - adds to a region the groups with which the compiler may join those that a move changes.
 *
 * Some compilers join kernels after they fused: two that read the same value, or one that reads what the other makes,
 * become one kernel with several results. That saves starting one. On XLA:GPU a start is most of what a small kernel
 * costs. So if a move takes a group away that was joined with another one, nothing is saved; a region without the other
 * one says that a start is. On a ranking model half of the flips were priced 1 us by such regions, and 0 by whole
 * programs.
 *
 * So both sides of the region also get the groups that
 *
 *	read a value that a changed group reads, or one that it makes, or make what it reads,
 *	run over as many elements as a changed group does, because others are not joined, and
 *	do not hang together with a changed group through something outside. The compiler never joins those, but inside
 *	a region it could not see why.
 *
 * Values of one element and constants are no reason to join. With whom those that are added would be joined otherwise
 * is not asked: one step is taken, and at most MOST groups are added.
 *
 * Which kernels are joined depends on the order in which the compiler comes to them: it walks from the root, through
 * first operands first. The root of a region names its results in the order in which the program's own walk enters
 * them, so that the walk through the region takes the same way. (In ascending order, a kernel that only a joined one
 * reads was left alone, because the two that it reads were joined too late.)
 */
#include "graph/reduction.h"
#include "space/fusion/cluster.h"

#define MOST 24 /* groups that are added to a region */

/* What leads to the changed groups, and what comes of them, by ways through nodes outside of them. */
struct ways {
	uint8_t *before, *after; /* per node of the graph */
	struct nodes changed;	 /* the roots of the changed groups */
	struct nodes read;	 /* what they read from outside */
	uint64_t *rounds;	 /* per changed group, on either side: over how many elements it runs */
	size_t n_rounds, cap_rounds;
};

uint64_t cluster_rounds(const struct graph *g, const struct nodes *members)
{
	uint64_t rounds = g->node[members->v[members->n - 1]].elements;

	for (size_t i = 0; i < members->n; i++)
		if (reduction_is_shared(g, members->v[i]))
			rounds = g->node[node_operands(g, members->v[i])[0]].elements;
	return rounds;
}

void cluster_add_reads(const struct space *s, const uint8_t *config, const struct nodes *members, struct nodes *out)
{
	const struct graph *g = s->graph;

	for (size_t i = 0; i < members->n; i++) {
		const struct node *n = &g->node[members->v[i]];
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
			if (!fusion_absorbed(s, config, e) && g->node[g->edges[e]].opcode != OP_CONSTANT)
				nodes_add(out, g->edges[e]);
	}
}

static void look_at_changed(struct space *s, const uint8_t *const config[2], const struct cluster *p, struct ways *w)
{
	struct nodes members = {0};

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < p->roots[side].n; i++) {
			members.n = 0;
			group_walk(s, config[side], p->roots[side].v[i], &members);
			nodes_add(&w->changed, p->roots[side].v[i]);
			cluster_add_reads(s, config[side], &members, &w->read);
			MEM_GROW(&w->rounds, &w->cap_rounds, w->n_rounds + 1);
			w->rounds[w->n_rounds++] = cluster_rounds(s->graph, &members);
		}
	nodes_sort(&w->changed);
	nodes_sort(&w->read);
	nodes_release(&members);
}

/*
 * Marks what comes after a root of the changed groups, and what comes before a value that they read, the roots and
 * these values themselves left out unless there is a way from one to another. Operands have smaller numbers than users.
 */
static void find_ways(const struct graph *g, const struct comp *c, struct ways *w)
{
	w->before = mem_zalloc(2 * (size_t)g->n_nodes + 1, 1);
	w->after = w->before + g->n_nodes;
	for (uint32_t v = w->changed.v[0] + 1; v < c->first + c->n_nodes; v++)
		for (uint32_t k = 0; k < g->node[v].n_operands && !w->after[v]; k++) {
			uint32_t p = node_operands(g, v)[k];
			w->after[v] = w->after[p] || nodes_has(&w->changed, p);
		}
	for (uint32_t v = w->read.n ? w->read.v[w->read.n - 1] + 1 : 0; v-- > c->first;) {
		if (!w->before[v] && !nodes_has(&w->read, v))
			continue;
		for (uint32_t k = 0; k < g->node[v].n_operands; k++)
			w->before[node_operands(g, v)[k]] = 1;
	}
}

static bool same_members(struct space *s, const uint8_t *const config[2], uint32_t root, struct nodes *members)
{
	struct nodes other = {0};
	bool same;

	members->n = 0;
	group_walk(s, config[0], root, members);
	group_walk(s, config[1], root, &other);
	same = members->n == other.n;
	for (size_t i = 0; same && i < other.n; i++)
		same = members->v[i] == other.v[i];
	nodes_release(&other);
	return same;
}

/* May the compiler join the group of `root`, which the move does not change, with one that it changes? */
static bool may_join(struct space *s, const uint8_t *const config[2], const struct ways *w, uint32_t root)
{
	struct nodes members = {0}, reads = {0};
	bool may = fusion_groupable(s->graph, root) && fusion_kept(s, config[0], root) &&
		fusion_kept(s, config[1], root) && !nodes_has(&w->changed, root) && !w->before[root];

	may = may && same_members(s, config, root, &members) && group_is_kernel(s->graph, &members);
	if (may) {
		uint64_t rounds = cluster_rounds(s->graph, &members);
		may = false;
		for (size_t i = 0; i < w->n_rounds && !may; i++)
			may = w->rounds[i] == rounds;
		cluster_add_reads(s, config[0], &members, &reads);
	}
	for (size_t i = 0; i < reads.n && may; i++)
		may = nodes_has(&w->changed, reads.v[i]) || !w->after[reads.v[i]];
	nodes_release(&members);
	nodes_release(&reads);
	return may;
}

/* Adds the groups around a value: the one that makes it, and those that read it. */
static void look_around(struct space *s, const uint8_t *const config[2], const struct ways *w, uint32_t value,
	struct nodes *out)
{
	const struct graph *g = s->graph;
	struct nodes around = {0};

	if (g->node[value].elements <= 1)
		return;
	nodes_add(&around, value);
	for (uint32_t k = 0; k < g->node[value].n_users && around.n < 4 * MOST; k++)
		if (!fusion_absorbs(s, config[0], node_users(g, value)[k], value) && fusion_groupable(g,
			node_users(g, value)[k]))
			group_roots(s, config[0], node_users(g, value)[k], &around);
	nodes_sort(&around);
	for (size_t i = 0; i < around.n && out->n < MOST; i++) {
		bool there = false;
		for (size_t k = 0; k < out->n && !there; k++)
			there = out->v[k] == around.v[i];
		if (!there && may_join(s, config, w, around.v[i]))
			nodes_add(out, around.v[i]);
	}
	nodes_release(&around);
}

void cluster_add_joined(struct space *s, const uint8_t *const config[2], struct cluster *p)
{
	struct ways w = {0};
	struct nodes more = {0};

	if (!fusion_of(s)->rules->joins)
		return;
	look_at_changed(s, config, p, &w);
	find_ways(s->graph, &s->graph->comp[s->graph->node[w.changed.v[0]].comp], &w);
	for (size_t i = 0; i < w.read.n; i++)
		look_around(s, config, &w, w.read.v[i], &more);
	for (size_t i = 0; i < w.changed.n; i++)
		look_around(s, config, &w, w.changed.v[i], &more);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < more.n; i++)
			nodes_add(&p->roots[side], more.v[i]);
		nodes_sort(&p->roots[side]);
	}
	nodes_release(&more);
	nodes_release(&w.changed);
	nodes_release(&w.read);
	mem_free(w.rounds);
	mem_free(w.before);
}

/* A walk from the root of a computation, through first operands first. */
static void walk_from(const struct graph *g, uint32_t root, uint32_t *entered, uint32_t *now, struct nodes *stack)
{
	nodes_add(stack, root);
	while (stack->n) {
		uint32_t v = stack->v[--stack->n];
		if (entered[v])
			continue;
		entered[v] = ++*now;
		for (uint32_t k = g->node[v].n_operands; k-- > 0;)
			nodes_add(stack, node_operands(g, v)[k]);
	}
}

void fusion_find_entered(struct space *s)
{
	const struct graph *g = s->graph;
	struct nodes stack = {0};
	uint32_t now = 0;

	fusion_of(s)->entered = ARENA_NEW(&s->mem, g->n_nodes, uint32_t);
	for (uint32_t c = 0; c < g->n_comps; c++)
		walk_from(g, g->comp[c].root, fusion_of(s)->entered, &now, &stack);
	nodes_release(&stack);
}

void cluster_order_results(const struct space *s, struct nodes *results)
{
	const uint32_t *entered = fusion_of(s)->entered;

	for (size_t i = 1; entered && i < results->n; i++)
		for (size_t k = i; k > 0 && entered[results->v[k]] < entered[results->v[k - 1]]; k--) {
			uint32_t v = results->v[k];
			results->v[k] = results->v[k - 1];
			results->v[k - 1] = v;
		}
}
