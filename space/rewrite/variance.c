/*
 * variance.c - a sum of squared distances from a mean, in one pass.
 *
 *	sum((x - m)^2)  =  sum(x^2) - m * (2 sum(x) - n m)
 *
 * for any m that is the same all along the sum, which has n terms. The left side needs the mean first, so it reads x
 * twice. The right side takes both sums in one pass. It loses digits if m is far from 0 compared with the spread of x.
 * Where it is tried on such numbers, they are found to differ, and the place stays as it is; but other inputs may come
 * later. (A layer's norm that was tuned on numbers around 0 was off by 0.005 where their mean was 100 times their
 * spread, and by all of it from 3,000 times on; as it was written, by 0.00002 and 0.0008.) So people have to ask for
 * it. What would be a little less than 0, of which the root is no number, is 0. If m comes from a sum of x, that sum is
 * part of the place.
 *
 * Tried and dropped: distances from the first term of each sum, or from the first of all, which keep the digits. A
 * library takes the sum of x^2, and none of such distances. That took 166 and 132 us, one pass 86, two passes 134.
 */
#include <math.h>
#include <string.h>
#include "space/rewrite/codes.h"

#define WAY 4 /* operations between the mean and the sum that it comes from */

static const char *const measures[] = {"terms", "out", NULL};

struct spread { /* what the anchor is made of */
	uint32_t x, mean, broadcast, difference, square;
};

static bool is_float(uint8_t dtype)
{
	return dtype == DT_BF16 || dtype == DT_F16 || dtype == DT_F32 || dtype == DT_F64;
}

/* Does a broadcast repeat its operand along all of these dimensions? */
static bool repeats(const Hlo__HloInstructionProto *b, const int64_t *dims, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < b->n_dimensions; k++)
			if (b->dimensions[k] == dims[i])
				return false;
	return true;
}

static bool read_spread(const struct graph *g, uint32_t v, struct spread *s)
{
	const Hlo__HloInstructionProto *sum = g->node[v].proto;

	if (!rule_is_sum(g, v) || !rule_plain(g, v) || !is_float(g->node[v].dtype))
		return false;
	if (!g->node[v].elements || !sum->n_dimensions)
		return false;
	s->square = node_operands(g, v)[0];
	if (g->node[s->square].opcode != OP_MULTIPLY || !rule_plain(g, s->square) || !g->node[s->square].elements ||
		node_operands(g, s->square)[0] != node_operands(g, s->square)[1])
		return false;
	s->difference = node_operands(g, s->square)[0];
	if (g->node[s->difference].opcode != OP_SUBTRACT || !rule_plain(g, s->difference))
		return false;
	for (uint32_t k = 0; k < 2; k++) {
		s->broadcast = node_operands(g, s->difference)[k];
		s->x = node_operands(g, s->difference)[!k];
		if (g->node[s->broadcast].opcode != OP_BROADCAST)
			continue;
		if (!rule_plain(g, s->x) || !rule_plain(g, s->broadcast))
			continue;
		if (!repeats(g->node[s->broadcast].proto, sum->dimensions, sum->n_dimensions))
			continue;
		s->mean = node_operands(g, s->broadcast)[0];
		return rule_plain(g, s->mean);
	}
	return false;
}

/*
 * The way from the mean to a sum of x, if it comes from one. What waits for other instructions is not part of a place:
 * cut out, it would wait for what is not there.
 */
static void add_way(const struct graph *g, const struct spread *s, struct found *f)
{
	uint32_t way[WAY], n = 0, v = s->mean;

	while (n < WAY && g->node[v].n_operands > 0 && !(g->node[v].flags & NODE_CONTROL)) {
		way[n++] = v;
		if (rule_is_sum(g, v) && node_operands(g, v)[0] == s->x) {
			memcpy(f->inside + f->n_inside, way, n * sizeof *way);
			f->n_inside += n;
			return;
		}
		v = node_operands(g, v)[0];
	}
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct spread s;

	if (!read_spread(g, v, &s))
		return false;
	f->inside[f->n_inside++] = s.square;
	f->inside[f->n_inside++] = s.difference;
	f->inside[f->n_inside++] = s.broadcast;
	add_way(g, &s, f);
	f->measure[0] = (double)g->node[s.x].elements / (double)g->node[v].elements;
	f->measure[1] = (double)g->node[v].elements;
	return true;
}

/* A number or an array of the sum's dimensions, over all of them. */
static Hlo__HloInstructionProto *over(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *map)
{
	return draft_broadcast(d, x, d->like->shape->dimensions, draft_rank(d->like), map);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__HloInstructionProto *sum = d->like, *b;
	Hlo__HloInstructionProto *x, *mean, *one, *two;
	int64_t map[DRAFT_RANK];
	struct spread s;

	(void)variant;
	BUG_ON(!read_spread(d->g, f->anchor, &s));
	b = d->g->node[s.broadcast].proto;
	x = draft_value(d, s.x);
	/* The dimensions of the sum are those of x without the summed ones. */
	for (size_t k = 0; k < b->n_dimensions; k++) {
		map[k] = b->dimensions[k];
		for (size_t i = 0; i < sum->n_dimensions; i++)
			map[k] -= sum->dimensions[i] < b->dimensions[k];
	}
	mean = over(d, draft_value(d, s.mean), map);
	one = draft_sum(d, x, sum->dimensions, (uint32_t)sum->n_dimensions);
	two = draft_sum(d, draft_binary(d, "multiply", x, x), sum->dimensions, (uint32_t)sum->n_dimensions);
	one = draft_binary(d, "subtract", draft_binary(d, "add", one, one),
		draft_binary(d, "multiply", over(d, draft_scalar(d, x, (int)lrint(f->measure[0])), NULL), mean));
	two = draft_binary(d, "subtract", two, draft_binary(d, "multiply", mean, one));
	return draft_binary(d, "maximum", two, over(d, draft_scalar(d, x, 0), NULL));
}

const struct rule_code squared_distances_code = {.name = "squared_distances", .measures = measures, .match = match,
	.write = write};
