/*
 * features.c - what a learner sees of a rewriting: the operations of a place as they are, and as the rule writes them.
 *
 * A rule's name tells a learner nothing about a rule that it has never seen, and two rules may do the same to a
 * program: fewer elements turned, a product where there was a sum. So both sides are counted by what they do:
 * operations of products and how narrow these are, elements folded, moved, turned, looked up, sorted, bits drawn. What
 * the rule promises is one more figure, which the learner may believe or not.
 *
 * The two sides are those that are measured (cut.h), with nothing else decided, so they are the same for all members of
 * a class. They are counted when they are first asked for.
 */
#include <math.h>
#include <string.h>
#include "hlo/library.h"
#include "hlo/op.h"
#include "space/rewrite/cut.h"

static const struct space_feature contexts[] = {
	{"rewritten", "1 if it is computed in another way", SCALE_PLAIN},
	{"copies", "places like this one", SCALE_SIZE},
};
/* FIGURE(id, name, meaning) */
#define FIGURES \
	FIGURE(OPERATIONS, "operations", "instructions that do something") \
	FIGURE(BYTES, "bytes", "that they write, each alone") \
	FIGURE(LARGEST, "largest", "elements of the largest value") \
	FIGURE(PRODUCT, "product", "operations of products") \
	FIGURE(PRODUCT_BYTES, "product bytes", "that products read and write") \
	FIGURE(PRODUCTS, "products", "how many small ones the largest consists of") \
	FIGURE(NARROW, "narrow", "of the largest product: the smaller of rows and columns") \
	FIGURE(BROAD, "broad", "... the larger") \
	FIGURE(DEEP, "deep", "... elements summed over") \
	FIGURE(LEFT_TURNED, "left turned", "elements of first sides whose summed dimension is not the last") \
	FIGURE(RIGHT_TURNED, "right turned", "elements of second sides whose summed dimension is the last") \
	FIGURE(HALF_PRODUCT, "half product", "operations of products and convolutions of 16 bits") \
	FIGURE(WIDENED, "widened", "... of products whose result is wider") \
	FIGURE(SEVERAL, "several", "operations of products that sum over several dimensions") \
	FIGURE(APART, "apart", "elements of sides of products whose batch dimensions are not the first") \
	FIGURE(WINDOWS, "windows", "operations of convolutions") \
	FIGURE(CALLED, "called", "operations of products and convolutions that are calls of oneDNN") \
	FIGURE(FOLDED, "folded", "elements that reductions fold") \
	FIGURE(FOLDED_NEAR, "folded near", "... along the last dimension") \
	FIGURE(MOVED, "moved", "elements that are moved, repeated or kept in memory") \
	FIGURE(TURNED, "turned", "... so that another dimension is the last") \
	FIGURE(SOUGHT, "sought", "elements read where a value says") \
	FIGURE(PUT, "put", "elements written where a value says") \
	FIGURE(SORTED, "sorted", "elements that are sorted") \
	FIGURE(PLAIN, "plain", "elements of simple operations") \
	FIGURE(CALLS, "calls", "elements of functions such as exp") \
	FIGURE(BITS, "bits", "elements drawn at random") \
	FIGURE(TURNS, "turns", "of loops") \
	FIGURE(HALF, "half", "elements of 16 bits") \
	FIGURE(LONG, "long", "elements of 64 bits or more") \
	FIGURE(PROMISE, "promise", "nanoseconds that the rule says it saves")

enum told {
#define FIGURE(id, name, meaning) TOLD_##id,
	FIGURES
#undef FIGURE
	TOLD_COUNT
};
static const struct space_feature effects[] = {
#define FIGURE(id, name, meaning) {name, meaning, SCALE_SIZE},
	FIGURES
#undef FIGURE
};
#define N_CONTEXTS (sizeof contexts / sizeof *contexts)
const struct space_features rewrite_features = {contexts, effects, N_CONTEXTS, TOLD_COUNT};

#define CALL_FLOPS 8 /* what the simplest function such as exp counts for each element (schemas/opcode.def) */

struct telling { /* of a choice: the place as it is, and as it is written */
	bool counted;
	float side[2][TOLD_COUNT];
};

static double read_bytes(const struct graph *g, uint32_t v)
{
	double bytes = (double)g->node[v].bytes;

	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		bytes += (double)g->node[node_operands(g, v)[k]].bytes;
	return bytes;
}

/* The last dimension of an array, or -1. */
static int64_t last_of(const struct graph *g, uint32_t v)
{
	return (int64_t)g->node[v].rank - 1;
}

static bool is_apart(const int64_t *batch, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (batch[i] != (int64_t)i)
			return true;
	return false;
}

/* Tells what decides which of the compiler's ways computes a product: its types, and how its sides lie. */
static void tell_sides(const struct graph *g, uint32_t v, const struct dot_dims *dims, double times, double *out)
{
	const uint32_t *side = node_operands(g, v);
	double flops = times * g->node[v].flops, elements[2];

	for (int k = 0; k < 2; k++) {
		elements[k] = times * (double)g->node[side[k]].elements;
		if (is_apart(dims->batch[k], dims->n_batch))
			out[TOLD_APART] += elements[k];
	}
	if (dims->n_sum && dims->sum[0][0] != last_of(g, side[0]))
		out[TOLD_LEFT_TURNED] += elements[0];
	if (dims->n_sum && dims->sum[1][0] == last_of(g, side[1]))
		out[TOLD_RIGHT_TURNED] += elements[1];
	if (dims->n_sum > 1)
		out[TOLD_SEVERAL] += flops;
	if (dtype_bits(g->node[side[0]].dtype) == 16) {
		out[TOLD_HALF_PRODUCT] += flops;
		out[TOLD_WIDENED] += dtype_bits(g->node[v].dtype) > 16 ? flops : 0;
	}
}

/* Of several products, one counts as the largest if it takes more than all before it together. */
static void tell_product(const struct graph *g, uint32_t v, double times, double *out)
{
	bool first = times * g->node[v].flops > out[TOLD_PRODUCT];
	struct dot_dims dims;
	double sizes[4];

	out[TOLD_PRODUCT] += times * g->node[v].flops;
	if (library_spelt(g->node[v].proto))
		out[TOLD_CALLED] += times * g->node[v].flops;
	out[TOLD_PRODUCT_BYTES] += times * read_bytes(g, v);
	if (!rule_dot(g, v, &dims) && !rule_dot_wider(g, v, &dims) && !rule_dot_complex(g, v, &dims))
		return;
	rule_dot_sizes(g, v, &dims, sizes);
	if (first) {
		out[TOLD_PRODUCTS] = sizes[0];
		out[TOLD_NARROW] = fmin(sizes[1], sizes[2]);
		out[TOLD_BROAD] = fmax(sizes[1], sizes[2]);
		out[TOLD_DEEP] = sizes[3];
	}
	tell_sides(g, v, &dims, times, out);
}

/* Is the last dimension among those that a reduction folds, or one that a transposition puts elsewhere? */
static bool ends_elsewhere(const struct graph *g, uint32_t v)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	int64_t last = last_of(g, node_operands(g, v)[0]);

	if (g->node[v].opcode == OP_TRANSPOSE)
		return in->n_dimensions && in->dimensions[in->n_dimensions - 1] != last;
	for (size_t i = 0; i < in->n_dimensions; i++)
		if (in->dimensions[i] == last)
			return true;
	return false;
}

static double window_size(const struct graph *g, uint32_t v)
{
	const Hlo__Window *w = g->node[v].proto->window;
	double size = 1;

	for (size_t i = 0; w && i < w->n_dimensions; i++)
		size *= (double)w->dimensions[i]->size;
	return size;
}

static void tell_convolution(const struct graph *g, uint32_t v, double times, double *out)
{
	double flops = times * g->node[v].flops;

	out[TOLD_WINDOWS] += flops;
	if (library_spelt(g->node[v].proto))
		out[TOLD_CALLED] += flops;
	if (dtype_bits(g->node[v].dtype) == 16)
		out[TOLD_HALF_PRODUCT] += flops;
}

static void tell_moved(const struct graph *g, uint32_t v, double elements, double *out)
{
	out[TOLD_MOVED] += elements;
	if (g->node[v].opcode == OP_TRANSPOSE && ends_elsewhere(g, v))
		out[TOLD_TURNED] += elements;
}

static void tell_other(const struct graph *g, uint32_t v, double elements, double *out)
{
	const struct opcode_facts *f = opcode_facts(g->node[v].opcode);

	if (f->class == CLASS_MOVE)
		tell_moved(g, v, elements, out);
	else if (f->class == CLASS_ELEMENTWISE)
		out[f->flops >= CALL_FLOPS ? TOLD_CALLS : TOLD_PLAIN] += elements;
}

static void tell_node(const struct graph *g, uint32_t v, double times, double *out)
{
	const struct node *n = &g->node[v];
	double elements = times * (double)n->elements;
	double read = n->n_operands ? times * (double)g->node[node_operands(g, v)[0]].elements : 0;

	switch (n->opcode) {
	case OP_DOT:
		tell_product(g, v, times, out);
		break;
	case OP_CONVOLUTION:
		tell_convolution(g, v, times, out);
		break;
	case OP_REDUCE:
		out[ends_elsewhere(g, v) ? TOLD_FOLDED_NEAR : TOLD_FOLDED] += read;
		break;
	case OP_REDUCE_WINDOW:
		out[TOLD_FOLDED] += elements * window_size(g, v);
		break;
	case OP_GATHER:
	case OP_DYNAMIC_SLICE:
		out[TOLD_SOUGHT] += elements;
		break;
	case OP_SCATTER:
	case OP_SELECT_AND_SCATTER:
	case OP_DYNAMIC_UPDATE_SLICE:
		out[TOLD_PUT] += elements;
		break;
	case OP_SORT:
		out[TOLD_SORTED] += elements;
		break;
	case OP_RNG_BIT_GENERATOR:
		out[TOLD_BITS] += elements;
		break;
	case OP_WHILE:
		out[TOLD_TURNS] += times * fmax(n->trip_count, 0);
		break;
	default:
		tell_other(g, v, elements, out);
	}
}

static void tell_side(const struct buf *module, float *out)
{
	double sum[TOLD_COUNT] = {0};
	struct buf spelt = {0};
	struct graph g = {0};

	if (library_spell_all(module->data, module->len, &spelt, NULL) < 0 ||
		graph_parse(&g, spelt.data, spelt.len, "a place", NULL) < 0) {
		buf_release(&spelt);
		return;
	}
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		double times = g.comp[g.node[v].comp].trips, elements = times * (double)g.node[v].elements;
		uint32_t bits = dtype_bits(g.node[v].dtype);
		sum[TOLD_MOVED] += g.node[v].opcode == OP_OPTIMIZATION_BARRIER ? elements : 0;
		if (!node_is_compiled(&g, v) || opcode_is_idle(g.node[v].opcode))
			continue;
		sum[TOLD_OPERATIONS] += 1;
		sum[TOLD_BYTES] += times * (double)g.node[v].bytes;
		sum[TOLD_LARGEST] = fmax(sum[TOLD_LARGEST], (double)g.node[v].elements);
		sum[TOLD_HALF] += bits == 16 ? elements : 0;
		sum[TOLD_LONG] += bits >= 64 ? elements : 0;
		tell_node(&g, v, times, sum);
	}
	for (int i = 0; i < TOLD_COUNT; i++)
		out[i] = (float)sum[i];
	graph_release(&g);
	buf_release(&spelt);
}

static void tell(struct space *s, uint32_t site, uint8_t choice, struct telling *out)
{
	double turns = s->graph->comp[s->graph->node[s->site[site].node].comp].trips;
	uint8_t *real = MEM_NEW(2 * s->n_sites + 1, uint8_t);
	struct buf side[2] = {{0}, {0}};
	struct cut c;

	real[s->n_sites + site] = choice;
	cut_begin(&c, s, site, real, real + s->n_sites);
	cut_write(&c, &side[0], &side[1]);
	cut_end(&c);
	for (int k = 0; k < 2; k++) {
		tell_side(&side[k], out->side[k]);
		buf_release(&side[k]);
	}
	out->side[1][TOLD_PROMISE] = (float)fmax(rewrite_offer(s, site, choice)->promise / fmax(turns, 1), 0);
	out->counted = true;
	mem_free(real);
}

/* What is told of a choice, which is kept with the first site of its class. */
static const struct telling *telling_of(struct space *s, uint32_t site, uint8_t choice)
{
	struct rewrite *w = rewrite_of(s);
	uint32_t first = w->alike[s->site[site].tie];
	struct telling *t;

	if (!w->telling)
		w->telling = ARENA_NEW(&s->mem, w->n_offers, struct telling);
	t = &w->telling[rewrite_offer(s, first, choice) - w->offer];
	if (!t->counted)
		tell(s, first, choice, t);
	return t;
}

static bool is_of_one(int k)
{
	return k == TOLD_LARGEST || (k >= TOLD_PRODUCTS && k <= TOLD_DEEP);
}

static void add_side(const float *x, float *out)
{
	for (int k = 0; k < TOLD_COUNT; k++)
		out[k] = is_of_one(k) ? fmaxf(out[k], x[k]) : out[k] + x[k];
}

void rewrite_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	for (uint32_t k = 0; k < n; k++, out += N_CONTEXTS) {
		uint32_t i = s->site_of[nodes[k]];
		out[0] = i != NONE && config[i] != 0;
		out[1] = i == NONE ? 0 : (float)rewrite_of(s)->n_alike[s->site[i].tie];
	}
}

/* What stands is taken back, and what is proposed is done. */
void rewrite_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out)
{
	memset(out, 0, 2 * TOLD_COUNT * sizeof *out);
	if (config[site] == choice)
		return;
	for (int back = 0; back < 2; back++) {
		uint8_t which = back ? config[site] : choice;
		const struct telling *t = which ? telling_of(s, site, which) : NULL;
		for (int k = 0; k < 2 && t; k++)
			add_side(t->side[k], out + TOLD_COUNT * (k ^ back));
	}
}
