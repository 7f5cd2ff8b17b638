/*
 * feature.c - see feature.h.
 *
 * On a CPU a flip saves memory traffic and kernel starts, and costs repeated work and slower loops. The space's effect
 * has the totals of these. We take logarithms, so that a byte and a gigabyte are on one scale, and signed logarithms of
 * differences, which keep the direction. ROUGH adds the totals up as a time, with constants of the right order of
 * magnitude, because the network cannot build a sum from logarithms.
 */
#include "learn/feature.h"

#include <math.h>
#include <string.h>
#include "graph/walk.h"

#define ANYWHERE 1e6 /* the distance in elements if it is unknown */

static const struct feature {
	const char *name, *meaning;
	uint32_t since; /* the first table that has it */
} features[] = {
#define NODE(id, name, meaning, table) {name, meaning, table},
#include "schemas/feature.def"
#define CONTEXT(id, name, meaning, table) {name, meaning, table},
#include "schemas/feature.def"
#define FLIP(id, name, meaning, table) {name, meaning, table},
#include "schemas/feature.def"
};

uint32_t feature_map(uint32_t table, bool flips, uint32_t *map)
{
	uint32_t first = flips ? NODE_FEATURES : 0, most = flips ? FLIP_FEATURES : NODE_FEATURES, n = 0;

	for (uint32_t i = 0; i < most; i++)
		if (features[first + i].since <= table)
			map[n++] = i;
	return n;
}

static uint64_t hash_named(const char *name, const char *meaning, uint64_t h)
{
	return hash64(meaning, strlen(meaning), hash64(name, strlen(name), h));
}

static uint64_t hash_own(const struct space_feature *f, uint32_t n, uint64_t h)
{
	h = hash_mix(h, n);
	for (uint32_t i = 0; i < n; i++)
		h = hash_mix(hash_named(f[i].name, f[i].meaning, h), f[i].scale);
	return h;
}

uint64_t feature_hash(uint32_t table, const struct space_features *own)
{
	uint32_t map[NODE_FEATURES], n = feature_map(table, false, map), fixed = 0;
	uint64_t h;

	for (uint32_t i = 0; i < n; i++)
		fixed += map[i] < NODE_FIXED;
	h = hash_mix(fixed, (n << 8) + table);
	for (size_t i = 0; i < sizeof features / sizeof *features; i++)
		if (features[i].since <= table)
			h = hash_named(features[i].name, features[i].meaning, h);
	h = hash_mix(h, FEATURE_DEGREE);
	if (own)
		h = hash_own(own->effect, own->n_effect, hash_own(own->context, own->n_context, h));
	return h;
}

uint32_t feature_table(uint64_t hash, const struct space_features *own)
{
	for (uint32_t table = 1; table <= FEATURE_TABLE; table++)
		if (feature_hash(table, own) == hash)
			return table;
	return 0;
}

static real size(double x)
{
	return (real)(log1p(x > 0 ? x : 0) / 8);
}

static real signed_size(double x)
{
	return x < 0 ? -size(-x) : size(x);
}

static real within(double x, double bound)
{
	return (real)(x < -bound ? -bound : x > bound ? bound : x);
}

static real cache(uint64_t bytes, double capacity)
{
	return within(log2(((double)bytes + 1) / capacity) / 8, 1);
}

/* The i-th dimension from the contiguous one outwards, or -1. */
static int64_t dimension_at(const struct node *n, size_t i)
{
	const Hlo__ShapeProto *s = n->proto->shape;

	if (i >= s->n_dimensions)
		return -1;
	return s->layout ? s->layout->minor_to_major[i] : (int64_t)(s->n_dimensions - 1 - i);
}

static double extent(const struct node *n, size_t i)
{
	int64_t d = dimension_at(n, i);

	return d < 0 ? 1 : (double)n->proto->shape->dimensions[d];
}

static bool has_dimension(const struct node *n, int64_t d)
{
	for (size_t i = 0; i < n->proto->n_dimensions; i++)
		if (n->proto->dimensions[i] == d)
			return true;
	return false;
}

/* Do consecutive elements of the result come from consecutive elements of the first operand? */
static real along(const struct graph *g, const struct node *n)
{
	const struct node *p = n->n_operands ? &g->node[g->edges[n->operand]] : NULL;
	int64_t minor = dimension_at(n, 0);

	if (!p || minor < 0)
		return REAL(0.5);
	switch (n->opcode) {
	case OP_BROADCAST: /* dimensions[i]: where the operand's i-th went */
		return has_dimension(n, minor);
	case OP_REDUCE: /* dimensions: what is folded */
		return !has_dimension(n, dimension_at(p, 0));
	case OP_TRANSPOSE: /* dimensions[i]: the operand's dimension that became i */
		return (size_t)minor < n->proto->n_dimensions &&
			n->proto->dimensions[minor] == dimension_at(p, 0);
	case OP_GATHER:
	case OP_SCATTER:
	case OP_REVERSE:
		return 0;
	default:
		return opcode_facts(n->opcode)->class == CLASS_ELEMENTWISE ||
			opcode_facts(n->opcode)->class == CLASS_MOVE ? 1 : REAL(0.5);
	}
}

static double folds(const struct node *n, double largest)
{
	double own = n->elements ? (double)n->elements : 1;

	if (opcode_facts(n->opcode)->class == CLASS_HEAVY)
		return n->flops / (2 * own);
	return opcode_facts(n->opcode)->class == CLASS_APPLY && largest > own ? largest / own : 1;
}

/* Distinct operands that count as values: their bytes, and the elements of the largest. */
static double operand_sizes(const struct graph *g, const struct node *n, double *largest)
{
	double bytes = 0;

	*largest = 0;
	for (uint32_t i = 0; i < n->n_operands; i++) {
		uint32_t p = g->edges[n->operand + i];
		bool seen = false;
		for (uint32_t k = 0; k < i && !seen; k++)
			seen = g->edges[n->operand + k] == p;
		if (seen)
			continue;
		bytes += (double)g->node[p].bytes;
		*largest = fmax(*largest, (double)g->node[p].elements);
	}
	return bytes;
}

static void fixed_features(const struct scene *v, uint32_t i, real *x)
{
	const struct graph *g = v->space->graph;
	const struct node *n = &g->node[i];
	const struct comp *c = &g->comp[n->comp];
	double largest, read = operand_sizes(g, n, &largest), own = n->elements ? (double)n->elements : 1;
	uint8_t class = opcode_facts(n->opcode)->class;

	x[NODE_ELEMENTS_F] = size((double)n->elements);
	x[NODE_BYTES_F] = size((double)n->bytes);
	x[NODE_READ_F] = size(read);
	x[NODE_FLOPS_F] = size(n->flops);
	x[NODE_EACH_F] = size(n->flops / own);
	x[NODE_RANK_F] = (real)n->rank / 8;
	x[NODE_MINOR_F] = size(extent(n, 0));
	x[NODE_NEXT_F] = size(extent(n, 1));
	x[NODE_OUTER_F] = size((double)n->elements / fmax(1, extent(n, 0) * extent(n, 1)));
	x[NODE_OPERANDS_F] = size(n->n_operands);
	x[NODE_USERS_F] = size(n->n_users);
	x[NODE_SPREAD_F] = largest > 0 ? (real)(log(own / largest) / 8) : 0;
	x[NODE_FOLDS_F] = size(folds(n, largest));
	x[NODE_NEAR_F] = cache(n->bytes, 0x1p15);
	x[NODE_MIDDLE_F] = cache(n->bytes, 0x1p20);
	x[NODE_FAR_F] = cache(n->bytes, 0x1p25);
	x[NODE_ALONG_F] = along(g, n);
	x[NODE_TRIPS_F] = size(c->trips);
	x[NODE_LOOPED_F] = c->role != ROLE_ENTRY;
	x[NODE_ROOT_F] = (n->flags & NODE_ROOT) != 0;
	x[NODE_PINNED_F] = (n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL)) != 0;
	x[NODE_SITE_F] = v->space->site_of[i] != NONE;
	x[NODE_CLASS_ELEMENTWISE_F] = class == CLASS_ELEMENTWISE;
	x[NODE_CLASS_MOVE_F] = class == CLASS_MOVE;
	x[NODE_CLASS_APPLY_F] = class == CLASS_APPLY;
	x[NODE_CLASS_HEAVY_F] = class == CLASS_HEAVY;
	x[NODE_CLASS_STRUCTURE_F] = class == CLASS_STRUCTURE;
	x[NODE_STRIDE_F] = n->n_operands ? size(fmin(ANYWHERE, walk_stride(&g->node[g->edges[n->operand]],
		walk_operand(g, i, 0, walk_of(n))))) : 0;
}

/* Is operand p the k-th or later of a crowd, seen from either end? `seen`: distinct operands so far. */
static bool crowded(const struct graph *g, uint32_t p, uint32_t c, uint32_t seen)
{
	const struct node *n = &g->node[p];
	uint32_t most = n->n_users < FEATURE_DEGREE ? n->n_users : FEATURE_DEGREE;

	if (seen >= FEATURE_DEGREE)
		return true;
	for (uint32_t k = 0; k < most; k++)
		if (node_users(g, p)[k] == c)
			return false;
	return true;
}

static void find_operands(struct scene *v)
{
	const struct graph *g = v->space->graph;
	uint32_t n = 0;

	v->op_first = ARENA_NEW(&v->mem, g->n_nodes + 1, uint32_t);
	v->op_to = ARENA_NEW(&v->mem, g->n_edges, uint32_t);
	for (uint32_t c = 0; c < g->n_nodes; c++) {
		uint32_t first = n;
		for (uint32_t i = 0; i < g->node[c].n_operands; i++) {
			uint32_t p = node_operands(g, c)[i], k = first;
			while (k < n && v->op_to[k] != p)
				k++;
			if (k < n || (g->node[p].flags & NODE_SCALAR_CONST) || crowded(g, p, c, n - first))
				continue;
			v->op_to[n++] = p;
		}
		v->op_first[c + 1] = n;
	}
}

/* Users are the operands turned round. */
static void find_users(struct scene *v)
{
	uint32_t n = v->n_nodes;
	uint32_t *next = MEM_NEW(n + 1, uint32_t);

	v->user_first = ARENA_NEW(&v->mem, n + 1, uint32_t);
	v->user_to = ARENA_NEW(&v->mem, v->op_first[n], uint32_t);
	for (uint32_t e = 0; e < v->op_first[n]; e++)
		v->user_first[v->op_to[e] + 1]++;
	for (uint32_t i = 0; i < n; i++)
		v->user_first[i + 1] += v->user_first[i];
	memcpy(next, v->user_first, (n + 1) * sizeof *next);
	for (uint32_t c = 0; c < n; c++)
		for (uint32_t e = v->op_first[c]; e < v->op_first[c + 1]; e++)
			v->user_to[next[v->op_to[e]]++] = c;
	mem_free(next);
}

void feature_open(struct scene *v, struct space *s)
{
	const struct graph *g = s->graph;

	*v = (struct scene){.space = s, .n_nodes = g->n_nodes, .own = s->ops->kind->features};
	BUG_ON(v->own && (v->own->n_context > FEATURE_OWN_CONTEXT || v->own->n_effect > FEATURE_OWN_EFFECT));
	v->opcode = ARENA_NEW(&v->mem, g->n_nodes, uint16_t);
	v->dtype = ARENA_NEW(&v->mem, g->n_nodes, uint16_t);
	v->fixed = ARENA_NEW(&v->mem, (size_t)g->n_nodes * NODE_FIXED, real);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		v->opcode[i] = g->node[i].opcode < OP_COUNT ? g->node[i].opcode : OP_COUNT;
		v->dtype[i] = g->node[i].dtype < FEATURE_DTYPES ? g->node[i].dtype : 0;
		fixed_features(v, i, v->fixed + (size_t)i * NODE_FIXED);
	}
	find_operands(v);
	find_users(v);
}

void feature_release(struct scene *v)
{
	mem_free(v->raw);
	arena_release(&v->mem);
	*v = (struct scene){0};
}

/*
 * Writes a choice in three columns: two bits, and the rest of the number. Up to 7 the rest is a bit, too, as in all
 * models of kinds with so few choices; a larger one goes in as a logarithm, so that no two choices look alike.
 */
static void write_choice(real *x, uint8_t choice)
{
	int rest = choice >> 2;

	x[0] = (real)(choice & 1);
	x[1] = (real)(choice >> 1 & 1);
	x[2] = rest ? 1 + (real)log2(rest) : 0;
}

static real scaled(const struct space_feature *f, double x)
{
	return f->scale == SCALE_SIZE ? signed_size(x) : (real)x;
}

static void usual_context(const float *raw, real *x)
{
	x[CONTEXT_KEPT] = (real)raw[CTX_KEPT];
	x[CONTEXT_COPIES] = size(raw[CTX_COPIES]);
	x[CONTEXT_GROUP_NODES] = size(raw[CTX_GROUP_NODES]);
	x[CONTEXT_GROUP_INPUTS] = size(raw[CTX_GROUP_INPUTS]);
	x[CONTEXT_GROUP_BYTES] = size(raw[CTX_GROUP_BYTES]);
	x[CONTEXT_GROUP_FLOPS] = size(raw[CTX_GROUP_FLOPS]);
}

/* A kind's own features take the columns of the usual ones; unused columns are 0. */
static void own_context(const struct space_features *own, const float *raw, real *x)
{
	memset(x + CONTEXT_OWN, 0, FEATURE_OWN_CONTEXT * sizeof *x);
	for (uint32_t i = 0; i < own->n_context; i++)
		x[CONTEXT_OWN + i] = scaled(&own->context[i], raw[i]);
}

void feature_context(struct scene *v, const uint8_t *config, const uint32_t *nodes, uint32_t n,
	real *out, size_t stride)
{
	const struct space *s = v->space;
	size_t each = v->own ? v->own->n_context : CTX_COUNT;

	MEM_GROW(&v->raw, &v->raw_cap, (size_t)n * each + 1);
	s->ops->context(v->space, config, nodes, n, v->raw);
	for (uint32_t i = 0; i < n; i++) {
		real *x = out + i * stride;
		uint32_t site = s->site_of[nodes[i]];
		write_choice(x + CONTEXT_CHOICE_1, site == NONE ? 0 : config[site]);
		x[CONTEXT_CHOICES] = site == NONE ? 0 : (real)s->site[site].choices / 8;
		x[CONTEXT_DEFAULT] = site != NONE && config[site] == s->site[site].dflt;
		if (v->own)
			own_context(v->own, v->raw + i * each, x);
		else
			usual_context(v->raw + i * each, x);
	}
}

static double rough(const float *e)
{
	double ns = 500 * (double)e[EFFECT_PARTS] + 0.1 * ((double)e[EFFECT_READ] + (double)e[EFFECT_WRITTEN]) +
		0.3 * (double)e[EFFECT_FLOPS] + 0.3 * (double)e[EFFECT_LOADS];
	return ns / 10;
}

static double by_lines(const float *e)
{
	double ns = 500 * (double)e[EFFECT_PARTS] + 0.05 * (double)e[EFFECT_WRITTEN] + 5 * (double)e[EFFECT_LINES] +
		0.1 * ((double)e[EFFECT_LOADS] + (double)e[EFFECT_APART]) + 0.3 * (double)e[EFFECT_FLOPS];
	return ns / 10;
}

static double usual_effect(const float *before, const float *after, real *out)
{
	for (int i = 0; i < EFFECT_COUNT; i++) {
		out[FLIP_PARTS_BEFORE + i] = size(before[i]);
		out[FLIP_PARTS_MORE + i] = signed_size((double)after[i] - (double)before[i]);
		if (i != EFFECT_PARTS)
			out[FLIP_NODES_RATIO + i - 1] =
				within(log((1 + (double)after[i]) / (1 + (double)before[i])), 8) / 2;
	}
	out[FLIP_ROUGH] = signed_size(rough(after) - rough(before));
	out[FLIP_ROUGH_BEFORE] = size(rough(before));
	out[FLIP_ROUGH_LINES] = signed_size(by_lines(after) - by_lines(before));
	return (double)after[EFFECT_PARTS] - (double)before[EFFECT_PARTS];
}

/* The values before the flip, then how much larger they are after it. */
static double own_effect(const struct space_features *own, const float *before, const float *after, real *out)
{
	real *x = out + FLIP_OWN;

	memset(x, 0, (FLIP_FEATURES - FLIP_OWN) * sizeof *x);
	for (uint32_t i = 0; i < own->n_effect; i++) {
		x[i] = scaled(&own->effect[i], before[i]);
		x[own->n_effect + i] = scaled(&own->effect[i], (double)after[i] - (double)before[i]);
	}
	return 0;
}

/* What is the same for all flips of a site, and which choices these are. */
static void write_flip(const struct space *s, uint32_t site, uint8_t from, uint8_t to, real *out)
{
	const struct site *w = &s->site[site];

	write_choice(out + FLIP_FROM_1, from);
	write_choice(out + FLIP_TO_1, to);
	out[FLIP_FROM_DEFAULT] = from == w->dflt;
	out[FLIP_TO_DEFAULT] = to == w->dflt;
	out[FLIP_EXECUTIONS] = size(s->graph->comp[s->graph->node[w->node].comp].trips);
}

double feature_flip(struct scene *v, uint8_t *config, uint32_t site, uint8_t to, real *out)
{
	struct space *s = v->space;
	uint32_t n = v->own ? v->own->n_effect : EFFECT_COUNT;
	float raw[2 * FEATURE_OWN_EFFECT] = {0};

	if (s->ops->effect)
		s->ops->effect(s, config, site, to, raw);
	write_flip(s, site, config[site], to, out);
	return v->own ? own_effect(v->own, raw, raw + n, out) : usual_effect(raw, raw + n, out);
}

/* Parameters lead, because what is done in loops counts by their turns; then the largest. */
uint32_t feature_lead(const struct space *s, const uint8_t *from, const uint8_t *to)
{
	uint32_t lead = NONE;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct node *a = &s->graph->node[s->site[i].node];
		const struct node *b = lead == NONE ? a : &s->graph->node[s->site[lead].node];
		bool first = a->opcode == OP_PARAMETER, other = b->opcode == OP_PARAMETER;
		if (from[i] != to[i] && (lead == NONE || (first != other ? first : a->bytes > b->bytes)))
			lead = i;
	}
	return lead;
}

void feature_move(struct scene *v, const uint8_t *from, const uint8_t *to, real *out)
{
	uint32_t n = v->own ? v->own->n_effect : EFFECT_COUNT, lead = feature_lead(v->space, from, to);
	float raw[2 * FEATURE_OWN_EFFECT] = {0};

	v->space->ops->effect_of(v->space, from, to, raw);
	write_flip(v->space, lead, from[lead], to[lead], out);
	if (v->own)
		own_effect(v->own, raw, raw + n, out);
	else
		usual_effect(raw, raw + n, out);
}
