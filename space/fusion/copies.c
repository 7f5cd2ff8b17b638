/*
 * copies.c - rewrites the program so that choices can say what the compiler did to copies.
 *
 * The compiler puts copies of an instruction into several groups (match.h). A choice says which consumers absorb
 * a value, in every group that computes such a consumer. But the compiler decides anew in every group: of two
 * copies of a slice, one may compute what it slices and the other read it. No choice can say that. So before the
 * space is opened we rewrite the program: an instruction whose copies differ becomes several instructions that
 * compute the same (twins), and each group reads the twin for its way. A twin is an instruction like any other,
 * with a site of its own, so nothing else has to know. A program without such copies stays the same, byte by byte.
 *
 * Copies are alike when they absorb the same operands, in copies that are alike. So we find classes of copies from
 * operands to users. Each class that is read or absorbed is written. The class whose value is in memory keeps the
 * name and number of the original, and everything that reads the value from memory reads this class.
 *
 * A site with more legal consumers than a choice can tell apart is absorbed by all or by none. If some of the
 * compiler's absorb it, the class is written twice: for those that read it, and for those that absorb it. We find
 * where that is needed from users to operands, because each twin is one more consumer of its operands.
 *
 * What our rules do not allow to be absorbed counts as read, whatever the compiler did. For the binary space the
 * program stays as it is, because there none or all is the only decision.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "space/fusion/match.h"
#include "space/fusion/own.h"
#include "hlo/ids.h"
#include "hlo/pack.h"

#define TWIN ".twin" /* between the original's name and a number */

struct class {		      /* a class of copies, kept at the index of its first copy */
	uint32_t absorbers;   /* how many instructions will be written that absorb it, */
	uint32_t readers;     /* ... that may absorb it but read it, */
	uint32_t others;      /* ... and that may not absorb it and read it */
	bool split;	      /* is it written twice? */
	int64_t id, absorbed; /* ids: of what is written; if it is split, for readers and for absorbers */
};

struct unsharer {
	struct space *s;
	struct match m;
	uint32_t *at, *list;  /* copies by node: list[at[v]] ... list[at[v + 1] - 1] */
	uint8_t *live;	      /* per copy: is it in memory, or absorbed legally by one that is live? */
	uint64_t *ways;	      /* per copy: hash of how it is computed */
	uint32_t *class_of;   /* per copy: the first copy of its node that is computed the same way */
	uint32_t *home;	      /* per node: the class in memory, or NONE */
	struct class *class;  /* per copy */
	uint32_t added;	      /* twins so far */
	uint32_t name;	      /* the last number in a twin's name */
	struct ids ids;
	struct arena mem;
};

/* Does copy c absorb operand k, and do our rules allow it? *copy becomes the operand's copy, or NONE. */
static bool absorbs(const struct unsharer *u, const struct copy *c, uint32_t k, uint32_t *copy)
{
	struct reading r = match_reading(&u->m, c, k);

	*copy = r.copy;
	return r.inside && r.copy != NONE && fusion_of(u->s)->mask[u->s->graph->node[c->node].operand + k];
}

/* The class that operand k of copy c comes from; NONE if that is the original. */
static uint32_t source(const struct unsharer *u, const struct copy *c, uint32_t k, bool *absorbed)
{
	uint32_t home = u->home[node_operands(u->s->graph, c->node)[k]], copy;

	*absorbed = absorbs(u, c, k, &copy);
	if (*absorbed)
		return u->class_of[copy];
	return copy != NONE && u->live[copy] && match_is_kept(&u->m, &u->m.copy[copy]) ? u->class_of[copy] : home;
}

static void sort_by_node(struct unsharer *u)
{
	uint32_t n = u->s->graph->n_nodes;
	uint32_t *next = ARENA_NEW(&u->mem, n + 1, uint32_t);

	u->at = ARENA_NEW(&u->mem, n + 1, uint32_t);
	u->list = ARENA_NEW(&u->mem, u->m.n, uint32_t);
	for (size_t i = 0; i < u->m.n; i++)
		u->at[u->m.copy[i].node + 1]++;
	for (uint32_t v = 0; v < n; v++)
		u->at[v + 1] += u->at[v];
	memcpy(next, u->at, n * sizeof *next);
	for (uint32_t i = 0; i < u->m.n; i++)
		u->list[next[u->m.copy[i].node]++] = i;
}

/* Finds which copies are live, from users to operands. */
static void find_live(struct unsharer *u)
{
	u->live = ARENA_NEW(&u->mem, u->m.n, uint8_t);
	for (size_t i = u->m.n; i-- > 0;) {
		uint32_t at = u->list[i], operand;
		const struct copy *c = &u->m.copy[at];
		u->live[at] |= match_is_kept(&u->m, c);
		for (uint32_t k = 0; u->live[at] && k < u->s->graph->node[c->node].n_operands; k++)
			if (absorbs(u, c, k, &operand))
				u->live[operand] = 1;
	}
}

static uint64_t way(const struct unsharer *u, const struct copy *c)
{
	const struct graph *g = u->s->graph;
	uint64_t h = hash_mix(0x77617973, c->node);
		bool absorbed, site = u->s->site_of[c->node] != NONE; /* only a site can have several ways */

	for (uint32_t k = 0; site && k < g->node[c->node].n_operands; k++) {
		uint32_t from = source(u, c, k, &absorbed);
		bool plain = from == NONE || (!absorbed && from == u->home[node_operands(g, c->node)[k]]);
		h = hash_mix(hash_mix(h, absorbed), plain ? 0 : u->ways[from]);
	}
	return h;
}

/* Finds the classes, from operands to users. The class of a copy in memory is the home of its node. */
static void find_classes(struct unsharer *u)
{
	uint32_t n = u->s->graph->n_nodes;

	u->ways = ARENA_NEW(&u->mem, u->m.n, uint64_t);
	u->class_of = ARENA_NEW(&u->mem, u->m.n, uint32_t);
	u->class = ARENA_NEW(&u->mem, u->m.n, struct class);
	u->home = ARENA_NEW(&u->mem, n, uint32_t);
	for (uint32_t v = 0; v < n; v++) {
		bool kept = false;
		u->home[v] = NONE;
		for (uint32_t i = u->at[v]; i < u->at[v + 1]; i++) {
			uint32_t at = u->list[i], k = u->at[v];
			u->ways[at] = way(u, &u->m.copy[at]);
			while (u->ways[u->list[k]] != u->ways[at] || u->live[u->list[k]] != u->live[at])
				k++;
			u->class_of[at] = u->list[k];
			if (u->live[at] && (u->home[v] == NONE || (!kept && match_is_kept(&u->m, &u->m.copy[at])))) {
				u->home[v] = u->class_of[at];
				kept = match_is_kept(&u->m, &u->m.copy[at]);
			}
		}
	}
}

/* Will class `at` of node v be written? The home always is. */
static bool is_written(const struct unsharer *u, uint32_t v, uint32_t at)
{
	const struct class *c = &u->class[at];

	return u->class_of[at] == at && u->live[at] && (u->home[v] == at || c->absorbers + c->readers + c->others);
}

/* Counts, for the operands' classes, that `times` instructions like copy c will be written. */
static void count_consumer(struct unsharer *u, const struct copy *c, uint32_t times)
{
	const struct graph *g = u->s->graph;
	const uint32_t *op = node_operands(g, c->node);

	for (uint32_t k = 0; k < g->node[c->node].n_operands; k++) {
		uint32_t first = 0, from;
		bool absorbed;
		while (op[first] != op[k])
			first++;
		from = first == k ? source(u, c, k, &absorbed) : NONE;
		if (from == NONE)
			continue;
		if (absorbed)
			u->class[from].absorbers += times;
		else if (fusion_of(u->s)->mask[g->node[c->node].operand + k])
			u->class[from].readers += times;
		else
			u->class[from].others += times;
	}
}

/* Finds which classes are written twice, from users to operands. */
static void find_splits(struct unsharer *u)
{
	for (uint32_t v = u->s->graph->n_nodes; v-- > 0;)
		for (uint32_t i = u->at[v]; i < u->at[v + 1]; i++) {
			struct class *c = &u->class[u->list[i]];
			if (!is_written(u, v, u->list[i]))
				continue;
			c->split = c->absorbers && c->readers && c->absorbers + c->readers > SUBSET_CONSUMERS;
			count_consumer(u, &u->m.copy[u->list[i]], c->split ? 2 : 1);
			u->added += (u->home[v] == u->list[i] ? 0u : 1u) + (c->split ? 1u : 0u);
		}
}

/* The instructions of the computation that is being written. */
struct writing {
	Hlo__HloInstructionProto **v;
	size_t n;
};

/* Writes the node of copy c with this id; with `own` it keeps its name. */
static void write_one(struct unsharer *u, const struct copy *c, int64_t id, bool own, struct writing *w)
{
	const struct graph *g = u->s->graph;
	const struct node *n = &g->node[c->node];
	Hlo__HloInstructionProto *in = arena_dup(&u->mem, n->proto, sizeof *in);

	in->id = id;
	if (!own)
		in->name = arena_printf(&u->mem, "%s" TWIN "%u", n->proto->name, ++u->name);
	in->operand_ids = arena_alloc(&u->mem, n->n_operands * sizeof *in->operand_ids);
	for (uint32_t k = 0; k < n->n_operands; k++) {
		bool absorbed;
		uint32_t from = source(u, c, k, &absorbed);
		const struct class *x = from == NONE ? NULL : &u->class[from];
		if (!x)
			in->operand_ids[k] = g->node[node_operands(g, c->node)[k]].proto->id;
		else
			in->operand_ids[k] = absorbed && x->split ? x->absorbed : x->id;
	}
	w->v[w->n++] = in;
}

static void write_node(struct unsharer *u, uint32_t v, struct writing *w)
{
	Hlo__HloInstructionProto *proto = u->s->graph->node[v].proto;

	if (u->home[v] == NONE)
		w->v[w->n++] = proto;
	for (uint32_t i = u->at[v]; i < u->at[v + 1]; i++) {
		uint32_t at = u->list[i];
		struct class *c = &u->class[at];
		bool home = u->home[v] == at;
		if (!is_written(u, v, at))
			continue;
		c->id = home ? proto->id : ids_next(&u->ids, proto);
		write_one(u, &u->m.copy[at], c->id, home, w);
		if (!c->split)
			continue;
		c->absorbed = ids_next(&u->ids, proto);
		write_one(u, &u->m.copy[at], c->absorbed, false, w);
	}
}

static Hlo__HloComputationProto *write_comp(struct unsharer *u, const struct comp *c)
{
	Hlo__HloComputationProto *out = arena_dup(&u->mem, c->proto, sizeof *out);
	size_t most = c->n_nodes; /* and two for each class */
	struct writing w;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		for (uint32_t i = u->at[v]; i < u->at[v + 1]; i++)
			most += u->class_of[u->list[i]] == u->list[i] ? 2 : 0;
	w = (struct writing){ARENA_NEW(&u->mem, most, Hlo__HloInstructionProto *), 0};
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		write_node(u, v, &w);
	out->instructions = w.v;
	out->n_instructions = w.n;
	return out;
}

static void write_module(struct unsharer *u, struct buf *out)
{
	const struct graph *g = u->s->graph;
	Hlo__HloModuleProto m = *g->module;

	m.computations = ARENA_NEW(&u->mem, g->n_comps, Hlo__HloComputationProto *);
	m.n_computations = g->n_comps;
	m.schedule = NULL;
	u->name = ids_unnamed(g->module, TWIN);
	u->ids = ids_of(g->module);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		bool ours = comp_is_compiled(&g->comp[c]);
		m.computations[c] = ours ? write_comp(u, &g->comp[c]) : g->comp[c].proto;
	}
	pack_message(&m.base, out);
}

uint32_t fusion_restate(struct space *s, const struct graph *after, struct buf *module)
{
	struct unsharer u = {.s = s};

	if (fusion_of(s)->binary)
		return 0;
	match_find(&u.m, s->graph, after);
	sort_by_node(&u);
	find_live(&u);
	find_classes(&u);
	find_splits(&u);
	if (u.added)
		write_module(&u, module);
	match_release(&u.m);
	arena_release(&u.mem);
	return u.added;
}
