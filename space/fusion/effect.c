/*
 * effect.c - estimates what one flip would do to the groups that it changes (enum space_effect).
 *
 * XLA:CPU computes a group element by element. For each element of the result it asks the operands
 * for the elements it needs. An absorbed operand is computed on the spot, as often as it is asked for.
 * So we count from the root down how often each member is computed: an elementwise reader asks once per
 * element, a reduction once per element that it folds, a product once per element of the contracted
 * dimension. That is why absorbing a cheap producer is good, and ruinous under a reader that asks often.
 *
 * An element that is asked for twice is computed once, if both ask with the same index in the code that
 * the compiler writes. Readers that use the result's own index share it. A reader that makes an index of
 * its own (slice, reshape, reduction ...) starts a new one. So each member has a list of streams: an
 * index, and how many elements are asked for with it. The compiler moves what does not depend on a
 * broadcast's innermost new dimensions out of the inner loop, so that counts once per outer round.
 *
 * Each stream also has a walk: the dimension that moves from one round of the innermost loop to the next. A value that
 * is read at a stride fetches a cache line in each round and cannot be read as vectors, whether its reader is a
 * transpose itself or a copy that absorbed one.
 *
 * Some kernels have thousands of instructions (a hash function, an ensemble, a solver whose steps are unrolled). To
 * count all of one for each of its flips would take minutes, and what lies far from the flip is the same before and
 * after it. So if the groups of a flip are large, only the nodes fewest steps away from it are counted, the same on
 * both sides. A member whose readers are too far away counts as if it were asked once for each element.
 *
 * What else decides about a kernel's time is counted as well: whether it can be computed in vectors at all, whether it
 * may write over a value that nobody else reads (then the compiler must fear that the two overlap, and gives up
 * vectors), and whether it has one instruction only, for which the compiler may have better code.
 */
#include <math.h>
#include <string.h>
#include "graph/walk.h"
#include "space/fusion/own.h"

#define STREAMS 32 /* of one member; further ones are added to the last */
#define NEAR 1024  /* nodes that are counted of large groups */
#define FAR UINT32_MAX /* in the map of members: it is not counted */

struct stream {
	uint32_t index;
	double times;
	struct walk walk; /* what moves from one round to the next (graph/walk.h) */
};

struct member { /* of the group being counted */
	uint32_t n;
	struct stream stream[STREAMS];
};

struct tally { /* one group */
	struct member *member; /* as in the list of those that are counted */
	size_t cap;
	struct nodes counted;
	uint32_t next_index, root;
	bool limited;	       /* only nodes in the map of near ones are counted */
	bool serial;	       /* no vectors */
	bool over;	       /* may write over what it reads */
};

/* How many rounds the inner loops make over the dimensions that a broadcast adds innermost. */
static double inner_turns(const struct node *n)
{
	const Hlo__HloInstructionProto *p = n->proto;
	const Hlo__ShapeProto *shape = p->shape;
	double turns = 1;

	for (size_t i = 0; i < shape->n_dimensions; i++) {
		int64_t d = shape->layout ? shape->layout->minor_to_major[i] : (int64_t)(shape->n_dimensions - 1 - i);
		for (size_t k = 0; k < p->n_dimensions; k++)
			if (p->dimensions[k] == d)
				return turns;
		turns *= (double)shape->dimensions[d];
	}
	return turns;
}

/* How many elements of operand p the consumer c asks for, per element of its own. */
static double asks(const struct graph *g, uint32_t c, uint32_t p)
{
	const struct node *n = &g->node[c], *o = &g->node[p];
	double own = n->elements ? (double)n->elements : 1, theirs = (double)o->elements, turns;

	switch (n->opcode) {
	case OP_REDUCE:
		return theirs > own ? theirs / own : 1;
	case OP_REDUCE_WINDOW:
	case OP_SELECT_AND_SCATTER:
		return theirs > 1 && n->flops > own ? n->flops / own : 1;
	case OP_DOT:
		return theirs > own ? theirs / own : n->flops / (2 * own);
	case OP_CONVOLUTION:
		return n->flops / (2 * own);
	case OP_CONCATENATE:
		return theirs / own;
	case OP_BROADCAST:
		turns = inner_turns(n);
		return turns > 1 ? 1 / turns : 1;
	case OP_DYNAMIC_SLICE:
	case OP_DYNAMIC_UPDATE_SLICE:
	case OP_GATHER:
	case OP_PAD:
		return o->elements == 1 || theirs > own ? 1 : theirs / own;
	default:
		return 1;
	}
}

/* Does the consumer ask the operand with its own index? */
static bool keeps_index(const struct node *n, const struct node *operand)
{
	switch (n->opcode) {
	case OP_BROADCAST:
	case OP_BITCAST:
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_REVERSE:
	case OP_SLICE:
	case OP_PAD:
	case OP_CONCATENATE:
	case OP_DYNAMIC_SLICE:
	case OP_DYNAMIC_UPDATE_SLICE:
	case OP_GATHER:
	case OP_SCATTER:
	case OP_REDUCE:
	case OP_REDUCE_WINDOW:
	case OP_SELECT_AND_SCATTER:
	case OP_DOT:
	case OP_CONVOLUTION:
	case OP_SORT:
		return false;
	default:
		return operand->elements == n->elements;
	}
}

/* Adds a stream unless its index is there already; returns how many elements are newly asked for. */
static double add_stream(struct member *m, struct stream new)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->stream[i].index == new.index)
			return 0;
	if (m->n < STREAMS)
		m->stream[m->n++] = new;
	else
		m->stream[STREAMS - 1].times += new.times;
	return new.times;
}

#define LINE 64.0 /* bytes of a cache line */

/* How much work the asked elements are. */
struct asked {
	double elements, apart, lines, indexed;
};

static void add_asked(struct asked *a, const struct node *p, struct walk w, double times)
{
	double stride = fabs(walk_stride(p, w)), each = p->elements ? (double)p->bytes / (double)p->elements : 0;

	a->elements += times;
	a->apart += stride > 1 ? times : 0;
	a->lines += times * fmin(1, stride * each / LINE);
}

/* Is the instruction a function that takes many operations for an element? */
static bool is_call(const struct node *n)
{
	return opcode_facts(n->opcode)->class == CLASS_ELEMENTWISE && opcode_facts(n->opcode)->flops >= 8;
}

/* Does the instruction keep its kernel from computing several elements at once? */
static bool is_serial(const struct node *n)
{
	switch (n->opcode) {
	case OP_CONCATENATE:
	case OP_PAD:
	case OP_REVERSE:
	case OP_GATHER:
	case OP_DYNAMIC_UPDATE_SLICE:
	case OP_COSINE:
	case OP_SINE:
	case OP_TAN:
	case OP_ATAN2:
	case OP_POWER:
	case OP_REMAINDER:
		return true;
	default:
		return opcode_facts(n->opcode)->class == CLASS_APPLY || opcode_facts(n->opcode)->class == CLASS_HEAVY;
	}
}

static bool is_folding(const struct node *n)
{
	return opcode_facts(n->opcode)->class == CLASS_HEAVY || n->opcode == OP_REDUCE ||
		n->opcode == OP_REDUCE_WINDOW;
}

static bool is_sought(const struct node *n, uint32_t k)
{
	return k == 0 && (n->opcode == OP_GATHER || n->opcode == OP_DYNAMIC_SLICE);
}

/* Is the group that was entered into `row` the only one that reads p, and may p's memory become its result's? */
static bool may_write_over(const struct graph *g, const struct node_map *row, uint32_t p, uint32_t root)
{
	const struct node *n = &g->node[p];

	if (n->bytes != g->node[root].bytes || n->opcode == OP_CONSTANT || n->opcode == OP_PARAMETER)
		return false;
	for (uint32_t k = 0; k < n->n_users; k++)
		if (!node_map_has(row, node_users(g, p)[k]))
			return false;
	return true;
}

/* Adds what reader c asks of its k-th operand to the operand's streams `of`; returns what was not asked for before. */
static struct asked ask(struct tally *t, const struct graph *g, uint32_t c, const struct member *from, uint32_t k,
	struct member *of)
{
	uint32_t p = node_operands(g, c)[k];
	bool keeps = keeps_index(&g->node[c], &g->node[p]);
	double each = keeps ? 1 : asks(g, c, p);
	struct asked out = {0};

	for (uint32_t i = 0; i < from->n; i++) {
		struct stream new = {keeps ? from->stream[i].index : t->next_index++, from->stream[i].times * each,
			walk_operand(g, c, k, from->stream[i].walk)};
		double times = add_stream(of, new);
		add_asked(&out, &g->node[p], new.walk, times);
		out.indexed += keeps ? 0 : times;
	}
	return out;
}

/* Adds what the i-th member asks of its operands; `n_values` grows by the values that are read. */
static void ask_operands(struct space *s, const uint8_t *config, uint32_t v, size_t i, struct tally *t,
	size_t *n_values, float *out)
{
	const struct graph *g = s->graph;
	const struct node *n = &g->node[v];
	struct node_map *row = &fusion_of(s)->inner, *seen = &fusion_of(s)->outer;

	for (uint32_t k = 0; k < n->n_operands; k++) {
		uint32_t e = n->operand + k, p = g->edges[e];
		struct asked new;
		bool absorbed = fusion_absorbed(s, config, e);
		if ((g->node[p].flags & NODE_SCALAR_CONST) || (absorbed && row->to[p] == FAR))
			continue;
		if (!absorbed && !node_map_has(seen, p)) {
			out[EFFECT_READ] += (float)g->node[p].bytes;
			out[EFFECT_VALUES] += 1;
			t->over |= may_write_over(g, row, p, t->root);
			MEM_GROW(&t->member, &t->cap, *n_values + 1);
			t->member[*n_values].n = 0;
			node_map_set(seen, p, (uint32_t)(*n_values)++);
		}
		new = ask(t, g, v, &t->member[i], k, &t->member[absorbed ? row->to[p] : seen->to[p]]);
		out[EFFECT_INDEXED] += (float)new.indexed;
		out[EFFECT_FOLDED] += is_folding(n) ? (float)new.elements : 0;
		out[EFFECT_SOUGHT] += is_sought(n, k) ? (float)new.elements : 0;
		if (absorbed)
			continue;
		t->serial |= new.apart > 0;
		out[EFFECT_LOADS] += (float)new.elements;
		out[EFFECT_APART] += (float)new.apart;
		out[EFFECT_LINES] += (float)new.lines;
	}
}

/* Enters v into the map of near nodes if a group at hand has it and there is room; the list is the queue. */
static void reach(struct space *s, struct nodes *queue, uint32_t v)
{
	struct node_map *near = &fusion_of(s)->value;

	if (queue->n < NEAR && node_map_has(&fusion_of(s)->inner, v) && !node_map_has(near, v)) {
		node_map_set(near, v, 0);
		nodes_add(queue, v);
	}
}

/* Are these groups so large that not all of them is counted? Then it finds the nodes that are, nearest first. */
static bool find_near(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t flipped)
{
	const struct graph *g = s->graph;
	struct nodes all = {0}, queue = {0};
	bool large;

	for (size_t i = 0; i < roots->n; i++)
		group_walk(s, config, roots->v[i], &all);
	large = all.n > NEAR;
	if (large) {
		node_map_clear(&fusion_of(s)->inner);
		node_map_clear(&fusion_of(s)->value);
		for (size_t i = 0; i < all.n; i++)
			node_map_set(&fusion_of(s)->inner, all.v[i], 0);
		reach(s, &queue, flipped);
		for (size_t i = 0; i < queue.n && queue.n < NEAR; i++) {
			const struct node *n = &g->node[queue.v[i]];
			for (uint32_t k = 0; k < n->n_operands; k++)
				reach(s, &queue, g->edges[n->operand + k]);
			for (uint32_t k = 0; k < n->n_users; k++)
				reach(s, &queue, node_users(g, queue.v[i])[k]);
		}
	}
	nodes_release(&all);
	nodes_release(&queue);
	return large;
}

/* Enters the members into the map, and forgets what was asked of an earlier group's. */
static void begin_group(struct space *s, const struct nodes *members, struct tally *t)
{
	struct node_map *row = &fusion_of(s)->inner;

	node_map_clear(row);
	node_map_clear(&fusion_of(s)->outer);
	t->counted.n = 0;
	for (size_t i = 0; i < members->n; i++) {
		bool near = !t->limited || node_map_has(&fusion_of(s)->value, members->v[i]);
		node_map_set(row, members->v[i], near ? (uint32_t)t->counted.n : FAR);
		if (near)
			nodes_add(&t->counted, members->v[i]);
	}
	MEM_GROW(&t->member, &t->cap, t->counted.n);
	for (size_t i = 0; i < t->counted.n; i++)
		t->member[i].n = 0;
	t->next_index = 1;
	t->root = members->v[members->n - 1];
	t->serial = t->over = false;
}

static void add_group(struct space *s, const uint8_t *config, const struct nodes *members, struct tally *t, float *out)
{
	const struct graph *g = s->graph;
	uint32_t root = members->v[members->n - 1];
	size_t n_values; /* members, then values read */
	float work = out[EFFECT_FLOPS] + out[EFFECT_LOADS], folded = out[EFFECT_FOLDED];

	begin_group(s, members, t);
	n_values = t->counted.n;
	for (size_t i = t->counted.n; i-- > 0;) { /* readers before what they read */
		uint32_t v = t->counted.v[i];
		const struct node *n = &g->node[v];
		double each = n->elements ? n->flops / (double)n->elements : 0;
		if (t->member[i].n == 0) /* the root, or its readers are far */
			add_stream(&t->member[i], (struct stream){v == root ? 0 : t->next_index++, (double)n->elements,
				walk_of(n)});
		t->serial |= is_serial(n);
		for (uint32_t k = 0; k < t->member[i].n; k++) {
			out[EFFECT_FLOPS] += (float)(t->member[i].stream[k].times * each);
			out[EFFECT_CALLS] += is_call(n) ? (float)t->member[i].stream[k].times : 0;
		}
		ask_operands(s, config, v, i, t, &n_values, out);
	}
	out[EFFECT_PARTS] += group_is_kernel(g, members);
	out[EFFECT_NODES] += (float)members->n;
	if ((float)members->n > out[EFFECT_LARGEST])
		out[EFFECT_LARGEST] = (float)members->n;
	work = out[EFFECT_FLOPS] + out[EFFECT_LOADS] - work;
	out[EFFECT_SERIAL] += t->serial ? work : 0;
	out[EFFECT_OVER] += t->over ? work : 0;
	out[EFFECT_LIBRARY] += fusion_is_library(s, config, members) ? work : 0;
	if (members->n == 1) {
		out[EFFECT_LONE_FOLDED] += out[EFFECT_FOLDED] - folded;
		out[EFFECT_LONE_MOVED] += opcode_facts(g->node[root].opcode)->class == CLASS_MOVE ?
			(float)g->node[root].elements : 0;
	}
	out[EFFECT_WRITTEN] += (float)g->node[root].bytes;
	out[EFFECT_ITERATIONS] += (float)g->node[root].elements;
}

static void add_groups(struct space *s, const uint8_t *config, const struct nodes *roots, bool limited, float *out)
{
	struct nodes members = {0};
	struct tally t = {.limited = limited};

	for (size_t i = 0; i < roots->n; i++) {
		members.n = 0;
		group_walk(s, config, roots->v[i], &members);
		add_group(s, config, &members, &t, out);
	}
	mem_free(t.member);
	nodes_release(&t.counted);
	nodes_release(&members);
}

void fusion_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out)
{
	struct nodes before = {0}, after = {0};
	uint8_t old = config[site];
	bool limited;

	memset(out, 0, 2 * EFFECT_COUNT * sizeof *out);
	fusion_flipped(s, config, site, choice, &before, &after);
	limited = find_near(s, config, &before, s->site[site].node);
	add_groups(s, config, &before, limited, out);
	config[site] = choice;
	add_groups(s, config, &after, limited, out + EFFECT_COUNT);
	config[site] = old;
	nodes_release(&before);
	nodes_release(&after);
}
