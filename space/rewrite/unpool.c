/*
 * unpool.c - rewrites the gradient of a maximum or minimum over a moving window as comparisons.
 *
 * In each window one element is selected, and the window's number of the source is added at its place; the operation
 * is called select-and-scatter. Compilers write that as a loop over windows that adds at computed places. It can be
 * read from the other end, where every place asks what it gets:
 *
 * 1. Taps are numbered, and the number of the tap that is selected is computed for all windows at once: the values at
 *    a tap are a slice of the operand, so it is one comparison and two selections for each tap.
 * 2. A window that moves by s places is cut into boxes of s places. So is the result: box b is under the first box of
 *    window b, the second box of window b - 1, and so on. For each box of a window, its numbers are repeated s times,
 *    and where the tap there has the number that was selected, the source is added. Windows that do not overlap have
 *    one box.
 *
 * The selection is the one of the definition. Row by row, an element replaces the one before it if the comparison does
 * not hold of the two, of numbers that stay rounded; what is not a number follows the same rule. Padding is never
 * selected: at taps that somewhere are in the padding, a mask says where, and number 0 says that a window has met no
 * element yet. Only sums of several windows are added in another order.
 *
 * A barrier keeps the numbers in memory: the compiler would compute them anew wherever they are repeated. Tried and
 * dropped: no barrier, at best as fast and twice as slow for windows that overlap; taps that are spread by padding
 * between elements and then added up, which takes two to four times as long.
 */
#include <string.h>
#include "space/rewrite/codes.h"

#define MOST_TAPS 65536 /* of a window in whole boxes: the numbers of taps are small */

static const char *const measures[] = {"taps", "boxes", "out", "in", NULL};

struct moves { /* of the window, along each dimension */
	uint32_t rank;
	int64_t size[DRAFT_RANK], step[DRAFT_RANK], low[DRAFT_RANK], high[DRAFT_RANK];
	int64_t in[DRAFT_RANK], out[DRAFT_RANK];
	int64_t boxes[DRAFT_RANK];
	int64_t box, all; /* places in a box, boxes in a window */
	const char *direction; /* a selected element stays if it compares so with a later one, */
	bool turned;	       /* or a later one with it */
};

/* Is it one operation on two parameters? Then its opcode, and whether they come in the other order; else OP_COUNT. */
static uint16_t of_two(const struct graph *g, const struct comp *c, bool *turned)
{
	const uint32_t *side = node_operands(g, c->root);

	if (c->n_nodes != 3 || g->node[c->root].n_operands != 2 || side[0] == side[1])
		return OP_COUNT;
	*turned = g->node[side[0]].proto->parameter_number == 1;
	return g->node[c->root].opcode;
}

static bool read_computations(const struct graph *g, uint32_t v, struct moves *m)
{
	const struct comp *select = &g->comp[node_calls(g, v)[0]], *scatter = &g->comp[node_calls(g, v)[1]];
	const Hlo__HloInstructionProto *root = g->node[select->root].proto;
	static const char *const known[] = {"GE", "GT", "LE", "LT"};
	bool either;

	if (of_two(g, scatter, &either) != OP_ADD || of_two(g, select, &m->turned) != OP_COMPARE)
		return false;
	if (root->comparison_type && strcmp(root->comparison_type, "TOTALORDER") == 0)
		return false;
	for (size_t i = 0; i < sizeof known / sizeof *known && root->comparison_direction; i++)
		if (strcmp(root->comparison_direction, known[i]) == 0)
			m->direction = known[i];
	return m->direction && rule_is_zero(g, node_operands(g, v)[2]);
}

static bool read_moves(const struct graph *g, uint32_t v, struct moves *m)
{
	const Hlo__Window *window = g->node[v].proto->window;
	uint32_t rank = g->node[v].rank, strided = 0;

	*m = (struct moves){.rank = rank, .box = 1, .all = 1};
	if (g->node[v].opcode != OP_SELECT_AND_SCATTER || g->node[v].n_called != 2 || !rule_plain(g, v) ||
		!g->node[v].elements || !g->node[node_operands(g, v)[1]].elements || !read_computations(g, v, m))
		return false;
	for (uint32_t i = 0; i < rank; i++) {
		const Hlo__WindowDimension *w = window->dimensions[i];
		m->size[i] = w->size;
		m->step[i] = rule_factor(w->stride);
		m->low[i] = w->padding_low;
		m->high[i] = w->padding_high;
		m->in[i] = rule_dim(g, v, i);
		m->out[i] = rule_dim(g, node_operands(g, v)[1], i);
		if (w->window_reversal || w->window_dilation > 1 || w->base_dilation > 1 || w->size < 1 ||
			w->size > MOST_TAPS || m->step[i] > MOST_TAPS)
			return false;
		m->boxes[i] = (m->size[i] - 1) / m->step[i] + 1;
		m->box *= m->step[i];
		m->all *= m->boxes[i];
		if (m->box * m->all > MOST_TAPS)
			return false;
		strided += m->step[i] > 1;
	}
	return rank + strided <= DRAFT_RANK;
}

/* Moves to the next index below `size`, the last dimension fastest; false after the last. */
static bool next(const struct moves *m, const int64_t *size, int64_t *at)
{
	for (uint32_t i = m->rank; i-- > 0;) {
		if (++at[i] < size[i])
			return true;
		at[i] = 0;
	}
	return false;
}

/* How many positions of the window along dimension i have this tap on an element; from *first on. */
static int64_t inside(const struct moves *m, uint32_t i, int64_t tap, int64_t *first)
{
	int64_t step = m->step[i], from = m->low[i] - tap, to = from + m->in[i], last;

	*first = from > 0 ? (from - 1) / step + 1 : 0;
	last = to > 0 ? (to - 1) / step + 1 : 0;
	last = last < m->out[i] ? last : m->out[i];
	return last > *first ? last - *first : 0;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	int64_t tap[DRAFT_RANK] = {0}, first;
	struct moves m;
	bool any;

	if (!read_moves(g, v, &m))
		return false;
	f->measure[0] = 1;
	for (uint32_t i = 0; i < m.rank; i++)
		f->measure[0] *= (double)m.size[i];
	f->measure[1] = (double)m.all;
	f->measure[2] = (double)g->node[node_operands(g, v)[1]].elements;
	f->measure[3] = (double)g->node[v].elements;
	do { /* does any window have an element? */
		any = true;
		for (uint32_t i = 0; i < m.rank; i++)
			any = any && inside(&m, i, tap[i], &first) > 0;
	} while (!any && next(&m, m.size, tap));
	return any;
}

/* From 1 on: first the places of the first box, row by row, then those of the second. */
static int number(const struct moves *m, const int64_t *tap)
{
	int64_t box = 0, place = 0;

	for (uint32_t i = 0; i < m->rank; i++) {
		box = box * m->boxes[i] + tap[i] / m->step[i];
		place = place * m->step[i] + tap[i] % m->step[i];
	}
	return (int)(1 + box * m->box + place);
}

/* Where this tap is on no element. NULL: nowhere. *never: everywhere. */
static Hlo__HloInstructionProto *outside(struct draft *d, const struct moves *m, const int64_t *tap, bool *never)
{
	int64_t low[DRAFT_RANK], high[DRAFT_RANK], count[DRAFT_RANK];
	bool whole = true;

	*never = false;
	for (uint32_t i = 0; i < m->rank; i++) {
		count[i] = inside(m, i, tap[i], &low[i]);
		high[i] = m->out[i] - low[i] - count[i];
		whole = whole && count[i] == m->out[i];
		*never = *never || count[i] == 0;
	}
	if (whole || *never)
		return NULL;
	return draft_pad(d, draft_filled(d, DT_PRED, 0, count, m->rank), low, high, NULL, draft_number(d, DT_PRED, 1));
}

/* The number of the tap that each window selects; 0 for a window without elements. `x` is padded. */
static Hlo__HloInstructionProto *selected(struct draft *d, const struct moves *m, Hlo__HloInstructionProto *x)
{
	Hlo__HloInstructionProto *best = NULL, *which = NULL;
	int64_t tap[DRAFT_RANK] = {0};
	bool none = true, never; /* may a window have met no element yet? */

	do {
		Hlo__HloInstructionProto *out = outside(d, m, tap, &never), *zero, *seen, *here, *stays;
		if (never)
			continue;
		zero = (best ? none : out != NULL) ? draft_filled(d, DT_S32, 0, m->out, m->rank) : NULL;
		seen = draft_slice(d, x, tap, m->out, m->step);
		here = draft_filled(d, DT_S32, number(m, tap), m->out, m->rank);
		if (!best) {
			best = seen;
			which = out ? draft_select(d, out, zero, here) : here;
			none = out != NULL;
			continue;
		}
		stays = draft_compare(d, m->direction, m->turned ? seen : best, m->turned ? best : seen);
		if (none)
			stays = draft_binary(d, "and", stays, draft_compare(d, "NE", which, zero));
		if (out)
			stays = draft_binary(d, "or", stays, out);
		none = none && out;
		best = draft_select(d, stays, best, seen);
		which = draft_select(d, stays, which, here);
	} while (next(m, m->size, tap));
	return which;
}

/* Adds each number of the source where its window selects; the result is the operand's boxes, in order. */
static Hlo__HloInstructionProto *placed(struct draft *d, const struct moves *m, Hlo__HloInstructionProto *which,
	Hlo__HloInstructionProto *source)
{
	int64_t dims[DRAFT_RANK], map[DRAFT_RANK], tile[DRAFT_RANK], step[DRAFT_RANK], box[DRAFT_RANK] = {0};
	uint32_t rank = 0, tiled = 0;
	Hlo__HloInstructionProto *sum = NULL, *place, *zero;
	int first = 1; /* number in the box */

	for (uint32_t i = 0; i < m->rank; i++) {
		map[i] = rank;
		dims[rank++] = m->out[i] + m->boxes[i] - 1;
		if (m->step[i] == 1)
			continue;
		tile[tiled] = rank;
		dims[rank++] = step[tiled++] = m->step[i];
	}
	place = draft_reshape(d, draft_iota(d, DT_S32, &m->box, 1, 0), step, tiled);
	place = draft_broadcast(d, place, dims, rank, tile);
	zero = draft_filled(d, source->shape->element_type, 0, dims, rank);
	do {
		int64_t behind[DRAFT_RANK];
		Hlo__HloInstructionProto *here, *is, *from;
		for (uint32_t i = 0; i < m->rank; i++)
			behind[i] = m->boxes[i] - 1 - box[i];
		here = draft_binary(d, "add", place, draft_filled(d, DT_S32, first, dims, rank));
		is = draft_broadcast(d, draft_pad(d, which, box, behind, NULL, NULL), dims, rank, map);
		from = draft_broadcast(d, draft_pad(d, source, box, behind, NULL, NULL), dims, rank, map);
		from = draft_select(d, draft_compare(d, "EQ", is, here), from, zero);
		sum = sum ? draft_binary(d, "add", sum, from) : from;
		first += (int)m->box;
	} while (next(m, m->boxes, box));
	return sum;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	int64_t whole[DRAFT_RANK], before[DRAFT_RANK], behind[DRAFT_RANK];
	Hlo__HloInstructionProto *x, *which;
	struct moves m;

	(void)variant;
	BUG_ON(!read_moves(d->g, f->anchor, &m));
	x = draft_rounded(d, rule_seen(d, f->anchor, 0), d->g->node[node_operands(d->g, f->anchor)[0]].dtype);
	x = draft_pad(d, x, m.low, m.high, NULL, NULL);
	which = draft_unary(d, "opt-barrier", selected(d, &m, x));
	x = placed(d, &m, which, rule_seen(d, f->anchor, 1));
	for (uint32_t i = 0; i < m.rank; i++) {
		whole[i] = (m.out[i] + m.boxes[i] - 1) * m.step[i];
		before[i] = -m.low[i];
		behind[i] = m.in[i] - whole[i] + m.low[i];
	}
	return draft_pad(d, draft_reshape(d, x, whole, m.rank), before, behind, NULL, NULL);
}

const struct rule_code window_selection_code = {.name = "window_selection", .measures = measures, .match = match,
	.write = write};
