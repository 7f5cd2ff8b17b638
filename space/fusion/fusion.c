/*
 * fusion.c - opens the fusion space: sites, bits, and ties.
 *
 * One pass over the operand edges asks fusion_legal. A node with at least one legal consumer becomes a site, and so
 * does what a library's kernel gave. Its bits follow the order of the consumers' numbers. So the table of sites depends
 * only on the graph, the kind and the backend, and its hash proves that a space was rebuilt the same.
 */
#include <string.h>
#include "space/fusion/own.h"

#define BINARY "/binary"

static int decode(struct space *s, const struct graph *after, struct buf *said, struct err *err)
{
	struct fusion_report r;

	(void)err;
	fusion_decode(s, after, &r);
	fusion_report_text(s, &r, said);
	return 0;
}

static uint32_t adopt(struct space *s, const struct graph *after, struct buf *module)
{
	uint32_t n = fusion_of(s)->rules->library ? fusion_take_apart(s, module) : 0;

	return n ? n : fusion_take_tiles(s, after, module);
}

static void summary(struct space *s, const uint8_t *config, struct buf *out)
{
	uint32_t groups, fusions;

	fusion_count(s, config, &groups, &fusions);
	buf_addf(out, "%u groups, %u of them fusions", groups, fusions);
}

#define TIE_HOPS 3 /* sites are tied if their surroundings are alike up to so many steps away, in both directions */

static void fusion_ties(struct space *s, uint32_t hops);

static const struct space_ops fusion_ops = {
	.kind = &fusion_kind,
	.apply = fusion_apply,
	.region = fusion_region,
	.check = fusion_check,
	.context = fusion_context,
	.touched = fusion_touched,
	.effect = fusion_effect,
	.allow = fusion_allow,
	.decode = decode,
	.restate = fusion_restate,
	.adopt = adopt,
	.undecided = "the plain greedy rule",
	.summary = summary,
	.starts = fusion_starts,
};

/* Gives all edges from p to consumer c one bit. */
static void set_bit(struct space *s, uint32_t p, uint32_t c, uint8_t bit)
{
	const struct node *n = &s->graph->node[c];

	for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
		if (s->graph->edges[e] == p)
			fusion_of(s)->mask[e] = bit;
}

/* May c absorb p on all edges between them? At this point the mask of an edge is 1 if it is legal, else 0. */
static bool all_legal(const struct space *s, uint32_t p, uint32_t c)
{
	const struct node *n = &s->graph->node[c];

	for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
		if (s->graph->edges[e] == p && !fusion_of(s)->mask[e])
			return false;
	return true;
}

/* Gives bits to the legal consumers of one producer; returns how many there are. */
static uint32_t set_bits(struct space *s, uint32_t p, bool binary)
{
	const struct graph *g = s->graph;
	const uint32_t *user = node_users(g, p);
	uint32_t legal = 0, k = 0;
	bool subsets;

	for (uint32_t i = 0; i < g->node[p].n_users; i++)
		legal += all_legal(s, p, user[i]);
	subsets = !binary && legal <= SUBSET_CONSUMERS;
	for (uint32_t i = 0; i < g->node[p].n_users; i++) {
		bool may = all_legal(s, p, user[i]);
		set_bit(s, p, user[i], may ? (uint8_t)(subsets ? 1u << k : 1u) : 0);
		k += may;
	}
	fusion_of(s)->full[p] = (uint8_t)(legal == 0 ? 0 : subsets ? (1u << legal) - 1 : 1);
	return legal;
}

/* Is something to be decided at p: who absorbs it, or whose code computes it? */
static bool is_site(const struct fusion *f, uint32_t p)
{
	return f->n_legal[p] || f->own_code[p];
}

static void find_sites(struct space *s, bool binary, const struct fusion_rules *rules)
{
	const struct graph *g = s->graph;
	struct fusion *f = fusion_of(s);

	for (uint32_t c = 0; c < g->n_nodes; c++)
		for (uint32_t e = g->node[c].operand; e < g->node[c].operand + g->node[c].n_operands; e++)
			f->mask[e] = fusion_legal(g, rules, c, e);
	for (uint32_t p = 0; p < g->n_nodes; p++) {
		f->n_legal[p] = set_bits(s, p, binary);
		f->must_keep[p] = f->n_legal[p] == 0 || f->n_legal[p] < g->node[p].n_users ||
			(g->node[p].flags & NODE_ROOT);
		f->own_code[p] = fusion_was_result(g, p) ? (uint8_t)(f->full[p] + 1) : 0;
		s->n_sites += is_site(f, p);
	}
	s->site = ARENA_NEW(&s->mem, s->n_sites, struct site);
	for (uint32_t p = 0, i = 0; p < g->n_nodes; p++) {
		s->site_of[p] = is_site(f, p) ? i : NONE;
		if (is_site(f, p))
			s->site[i++] = (struct site){.node = p,
				.choices = (uint8_t)((f->full[p] | f->own_code[p]) + 1)};
	}
}

static int fusion_open(struct space *s, const char *backend, struct err *err)
{
	const struct graph *g = s->graph;
	struct fusion *f = ARENA_NEW(&s->mem, 1, struct fusion);
	const struct fusion_rules *rules = fusion_rules_of(backend);
	bool binary = strcmp(s->kind + strlen(fusion_kind.name), BINARY) == 0;
	uint8_t *config;

	if (!binary && s->kind[strlen(fusion_kind.name)])
		return err_set(err, "there is no decision space called %.60s; there are %s", s->kind,
			fusion_kind.forms);
	s->ops = &fusion_ops;
	s->own = f;
	s->site_of = arena_alloc(&s->mem, g->n_nodes * sizeof *s->site_of);
	f->mask = ARENA_NEW(&s->mem, g->n_edges, uint8_t);
	f->full = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	f->own_code = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	f->n_legal = ARENA_NEW(&s->mem, g->n_nodes, uint32_t);
	f->must_keep = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	f->lasting = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	node_map_init(&f->walk, &s->mem, g->n_nodes);
	node_map_init(&f->inner, &s->mem, g->n_nodes);
	node_map_init(&f->outer, &s->mem, g->n_nodes);
	node_map_init(&f->value, &s->mem, g->n_nodes);
	f->binary = binary;
	f->lightened = rules->light;
	f->rules = rules;
	f->by_input = rules->once;
	fusion_find_lasting(s);
	if (rules->joins)
		fusion_find_entered(s);
	find_sites(s, binary, rules);
	fusion_ties(s, TIE_HOPS);
	fusion_greedy(s, config = mem_alloc(s->n_sites + 1));
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->site[i].dflt = config[i];
	mem_free(config);
	return 0;
}

const struct space_kind fusion_kind = {
	.name = "fusion",
	.forms = "fusion, fusion/binary",
	.about = "which instructions run as one kernel",
	.choices = "0 computes the instruction in a kernel of its own or at "
		"the end of one, and its value goes to memory. In any other choice, bit i says that its i-th consumer "
		"computes it anew inside its own kernel; where there "
		"are more than three consumers, 1 says that all do. The result of what a library "
		"computes has a last bit besides, which says that the compiler's own code computes the same.",
	.open = fusion_open,
};

/* A hash of what a node is, for ties. Numbers of parameters are left out, because they differ between layers. */
static uint64_t tie_seed(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	if (n->opcode == OP_PARAMETER || (n->opcode == OP_CONSTANT && !(n->flags & NODE_SCALAR_CONST)))
		return hash_mix(hash_mix(n->opcode, n->dtype), n->elements);
	return node_local_hash(g, v, true);
}

static uint64_t tie_round(const struct graph *g, const uint64_t *h, uint32_t v)
{
	uint64_t out = hash_mix(h[v], g->node[v].n_operands), sum = 0;

	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		out = hash_mix(out, h[node_operands(g, v)[k]]);
	for (uint32_t k = 0; k < g->node[v].n_users; k++)
		sum += hash_mix(0x75736572, h[node_users(g, v)[k]]); /* users have no order */
	return hash_mix(out, sum);
}

static void fusion_ties(struct space *s, uint32_t hops)
{
	const struct graph *g = s->graph;
	struct arena mem = {0};
	uint64_t *h = ARENA_NEW(&mem, g->n_nodes, uint64_t), *next = ARENA_NEW(&mem, g->n_nodes, uint64_t);
	uint64_t *class = ARENA_NEW(&mem, s->n_sites, uint64_t);

	for (uint32_t v = 0; v < g->n_nodes; v++)
		h[v] = tie_seed(g, v);
	for (uint32_t r = 0; r < hops; r++) {
		uint64_t *old = h;
		for (uint32_t v = 0; v < g->n_nodes; v++)
			next[v] = tie_round(g, h, v);
		h = next;
		next = old;
	}
	for (uint32_t i = 0; i < s->n_sites; i++)
		class[i] = hash_mix(h[s->site[i].node], s->site[i].choices);
	space_tie(s, class);
	arena_release(&mem);
}
