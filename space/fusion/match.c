/*
 * match.c - matches the module after the fusion pass with the module before it.
 *
 * The pass only moves and duplicates instructions; it keeps operands, their order and the roots. So we walk
 * both modules in step, from roots to operands, through fusions as if they were not there. What an
 * instruction stands for then follows from what reads it. This tells apart nodes that compute the same value
 * (twins), which no hash can. The structural hash (graph.h) confirms each step. If it differs, we look for
 * the operand among the others, because passes swap operands of commutative operations. What is not found
 * there is not matched.
 *
 * Some passes do more than move: XLA:TPU's makes one window of a softmax's maximum and its broadcast. A structural hash
 * takes in all that lies below, so not one instruction above such a place has the hash that it had. Then an instruction
 * that does the same by itself, at the same place of its reader, is the same, too.
 *
 * If the compiler merged twins, the readers of several nodes lead to one instruction: it is a copy of each of
 * these nodes. What no root leads to is matched by hash, the last first: side effects, unused parameters, and
 * what lies below a place where a pass did more than move.
 *
 * A pair of instructions is walked once, however many readers or callers lead to it. Modules that have little in
 * common could give very many pairs, so their number is limited.
 */
#include <stdlib.h>
#include <string.h>
#include "space/fusion/match.h"

#define PAIRS_PER_NODE 64 /* per node of the larger module; real results have one or two */

static bool is_inside(const struct graph *g, uint32_t v)
{
	return g->comp[g->node[v].comp].role == ROLE_FUSED;
}

/* The computation inside fusion v, if only v calls it; else NULL. */
static const struct comp *inside_of(const struct graph *g, uint32_t v)
{
	const struct comp *c = g->node[v].opcode == OP_FUSION ? &g->comp[node_calls(g, v)[0]] : NULL;

	return c && c->n_callers == 1 && c->role == ROLE_FUSED ? c : NULL;
}

/* One step from w towards the instruction that computes its value; NONE if w itself computes it. */
static uint32_t step(const struct graph *g, uint32_t w)
{
	const struct node *n = &g->node[w];
	const struct comp *c = &g->comp[n->comp];

	if (n->opcode == OP_PARAMETER && c->role == ROLE_FUSED && c->n_callers == 1)
		return node_operands(g, c->caller)[n->proto->parameter_number];
	if (n->opcode == OP_FUSION && (c = inside_of(g, w)))
		return g->node[c->root].opcode == OP_TUPLE ? NONE : c->root;
	if (n->opcode == OP_GET_TUPLE_ELEMENT && (c = inside_of(g, node_operands(g, w)[0])) &&
		g->node[c->root].opcode == OP_TUPLE)
		return node_operands(g, c->root)[n->proto->tuple_index];
	return NONE;
}

/* The instruction that computes w: looks through fusions, unless v itself is a fusion, or a result of one. */
static uint32_t computed_by(const struct match *m, uint32_t w, uint32_t v)
{
	const struct graph *g = m->before;
	const struct node *n = &g->node[v];
	bool fused_before = n->opcode == OP_FUSION ||
			    (n->opcode == OP_GET_TUPLE_ELEMENT && g->node[node_operands(g, v)[0]].opcode == OP_FUSION);

	for (uint32_t to; (to = step(m->after, w)) != NONE; w = to)
		if (fused_before && m->after->node[w].opcode != OP_PARAMETER)
			break;
	return w;
}

static uint32_t find(const struct match *m, uint32_t w, uint32_t v)
{
	uint32_t i = m->first[w];

	while (i != NONE && m->copy[i].node != v)
		i = m->copy[i].next;
	return i;
}

/* Does w, whose operands may be others, do by itself what v does? */
static bool does_the_same(const struct match *m, uint32_t w, uint32_t v)
{
	return m->hash_after[w] == m->hash[v] || (m->local && m->local_after[w] == m->local[v]);
}

/* Notes that the instruction that computes w is a copy of v, unless their values differ. The list is also the queue. */
static void pair(struct match *m, uint32_t w, uint32_t v)
{
	w = computed_by(m, w, v);
	if (m->after->node[w].opcode == OP_FUSION && m->before->node[v].opcode != OP_FUSION)
		return; /* it has several results, which are matched one by one */
	if (is_inside(m->before, v))
		return; /* fusions that were there before are matched whole */
	if (!does_the_same(m, w, v) || m->n >= m->limit || find(m, w, v) != NONE)
		return;
	MEM_GROW(&m->copy, &m->cap, m->n + 1);
	m->copy[m->n] = (struct copy){w, v, m->first[w]};
	m->first[w] = (uint32_t)m->n++;
}

/*
 * The operand of copy c that stands for operand k of its node: the k-th, or else one with the same value; or else the
 * k-th again, if it does the same by itself.
 */
static uint32_t operand(const struct match *m, const struct copy *c, uint32_t k)
{
	const struct node *n = &m->after->node[c->after];
	const uint32_t *op = node_operands(m->after, c->after);
	uint32_t v = node_operands(m->before, c->node)[k];
	uint64_t want = m->hash[v];

	if (k < n->n_operands && m->hash_after[op[k]] == want)
		return op[k];
	for (uint32_t i = 0; i < n->n_operands; i++)
		if (m->hash_after[op[i]] == want)
			return op[i];
	return k < n->n_operands && does_the_same(m, computed_by(m, op[k], v), v) ? op[k] : NONE;
}

struct reading match_reading(const struct match *m, const struct copy *c, uint32_t k)
{
	uint32_t w = operand(m, c, k), v = node_operands(m->before, c->node)[k];

	if (w == NONE)
		return (struct reading){NONE, false};
	return (struct reading){find(m, computed_by(m, w, v), v),
		is_inside(m->after, c->after) && m->after->node[w].opcode != OP_PARAMETER};
}

uint32_t match_first(const struct match *m, uint32_t w)
{
	while (m->first[w] == NONE) {
		uint32_t to = step(m->after, w);
		if (to == NONE)
			return NONE;
		w = to;
	}
	return m->first[w];
}

bool match_is_kept(const struct match *m, const struct copy *c)
{
	const struct graph *a = m->after;
	const struct node *n = &a->node[c->after];

	if (!is_inside(a, c->after) || (n->flags & NODE_ROOT))
		return true;
	for (uint32_t k = 0; k < n->n_users; k++) {
		const struct node *u = &a->node[node_users(a, c->after)[k]];
		if (u->opcode == OP_TUPLE && (u->flags & NODE_ROOT))
			return true;
	}
	return false;
}

static void pair_calls(struct match *m, const struct copy *c)
{
	const struct graph *a = m->after, *b = m->before;

	if (a->node[c->after].n_called != b->node[c->node].n_called)
		return;
	for (uint32_t k = 0; k < b->node[c->node].n_called; k++) {
		uint32_t to = node_calls(a, c->after)[k], from = node_calls(b, c->node)[k];
		if (a->comp[to].role == ROLE_CONTROL && b->comp[from].role == ROLE_CONTROL)
			pair(m, a->comp[to].root, b->comp[from].root);
	}
}

/* Goes on from the copies made since `at` to all that they read or call. */
static size_t walk(struct match *m, size_t at)
{
	for (; at < m->n; at++) {
		struct copy c = m->copy[at];
		for (uint32_t k = 0; k < m->before->node[c.node].n_operands; k++) {
			uint32_t w = operand(m, &c, k);
			if (w != NONE)
				pair(m, w, node_operands(m->before, c.node)[k]);
		}
		pair_calls(m, &c);
	}
	return at;
}

struct hashed {
	uint64_t hash;
	uint32_t node;
};

static int by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash > y->hash ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/* How many entries of a sorted list have at most this hash. */
static size_t up_to(const struct hashed *l, size_t n, uint64_t hash)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (l[mid].hash <= hash)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The last node that computes what w does and has no copy yet; else the last that computes it; else NONE. */
static uint32_t alike(const struct match *m, const struct hashed *l, const uint8_t *found, uint32_t w)
{
	uint64_t hash = m->hash_after[w];
	size_t end = up_to(l, m->before->n_nodes, hash);

	if (end == 0 || l[end - 1].hash != hash)
		return NONE;
	for (size_t i = end; i > 0 && l[i - 1].hash == hash; i--)
		if (!found[l[i - 1].node])
			return l[i - 1].node;
	return l[end - 1].node;
}

/* Matches what no root leads to, from users to operands. */
static void match_rest(struct match *m, size_t at)
{
	const struct graph *a = m->after, *b = m->before;
	struct hashed *l = ARENA_NEW(&m->mem, b->n_nodes, struct hashed);
	uint8_t *found = ARENA_NEW(&m->mem, b->n_nodes, uint8_t);
	size_t noted = 0;

	for (uint32_t v = 0; v < b->n_nodes; v++)
		l[v] = (struct hashed){m->hash[v], v};
	qsort(l, b->n_nodes, sizeof *l, by_hash);
	for (uint32_t w = a->n_nodes; w-- > 0;) {
		uint32_t v;
		for (; noted < m->n; noted++)
			found[m->copy[noted].node] = 1;
		if (m->first[w] != NONE || m->hash_after[w] == 0 || step(a, w) != NONE ||
			a->comp[a->node[w].comp].role == ROLE_APPLIED || (v = alike(m, l, found, w)) == NONE)
			continue;
		pair(m, w, v);
		at = walk(m, at);
	}
}

static uint64_t *local_hashes(struct match *m, const struct graph *g)
{
	uint64_t *hash = ARENA_NEW(&m->mem, g->n_nodes, uint64_t);

	for (uint32_t v = 0; v < g->n_nodes; v++)
		hash[v] = node_local_hash(g, v, false);
	return hash;
}

void match_find(struct match *m, const struct graph *before, const struct graph *after)
{
	*m = (struct match){.before = before, .after = after};
	m->limit = (size_t)PAIRS_PER_NODE *
		   (before->n_nodes > after->n_nodes ? before->n_nodes : after->n_nodes);
	m->hash = ARENA_NEW(&m->mem, before->n_nodes, uint64_t);
	m->hash_after = ARENA_NEW(&m->mem, after->n_nodes, uint64_t);
	m->first = arena_alloc(&m->mem, after->n_nodes * sizeof *m->first);
	memset(m->first, 0xff, after->n_nodes * sizeof *m->first);
	graph_structural_hash(before, m->hash);
	graph_structural_hash(after, m->hash_after);
	if (m->hash[before->comp[before->entry].root] != m->hash_after[after->comp[after->entry].root]) {
		m->local = local_hashes(m, before);
		m->local_after = local_hashes(m, after);
	}
	pair(m, after->comp[after->entry].root, before->comp[before->entry].root);
	match_rest(m, walk(m, 0));
}

void match_release(struct match *m)
{
	mem_free(m->copy);
	arena_release(&m->mem);
	*m = (struct match){0};
}
