/*
 * second.c - rewrites a product of a single row in bf16 as a product of that row and one of zeros.
 *
 *	dot(x, w)  =  the first row of dot([x, 0], w)		where w is read as it lies
 *
 * XLA:CPU has no code for a product of one row in bf16: it copies the weights in f32. One of two rows it gives to its
 * library, which multiplies the weights as they are. Where what is summed over is the weights' last dimension, they
 * come first: 2,048 x 5,632 take 43 ms as one row, 2.2 multiplied and summed in one step (row.c), and 1.0 so. Weights
 * from PyTorch lie that way, and so does a vocabulary that gives the words' chances. Weights that lie the other way
 * take as long as in one step. In f16 nothing is gained.
 *
 * Where a loop leaves the weights as they are, XLA makes the copy once, before the loop. For a few words of a language
 * model that takes longer than the words: eight of a small one took 104 ms, and 26 so; each further one took 3.8 and
 * 3.1. What is multiplied and summed in one step XLA converts before the loop as well. Two rows need no conversion. The
 * place alone does not show what the loop pays. In a loop the weights can also be turned first, once.
 *
 * A transposition of the weights is looked through, as in narrow.c.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", "turns", "lies", NULL};

struct product {
	struct dot_dims dims;
	int wide;      /* the side of the weights */
	uint32_t node; /* what they are, seen through a transposition */
	double size[4];
	bool turning; /* is what is summed over not last? */
};

static bool reads(const struct graph *g, uint32_t v, struct product *p)
{
	int64_t order[DRAFT_RANK];

	if (!(rule_dot(g, v, &p->dims) || rule_dot_wider(g, v, &p->dims)) ||
		g->node[node_operands(g, v)[0]].dtype != DT_BF16 || g->node[node_operands(g, v)[1]].dtype != DT_BF16)
		return false;
	rule_dot_sizes(g, v, &p->dims, p->size);
	p->wide = p->size[2] >= p->size[1];
	p->node = rule_wide_side(g, v, p->wide, &p->dims);
	p->turning = rule_turning(&p->dims, p->wide, g->node[p->node].rank, order);
	return g->node[node_operands(g, v)[!p->wide]].rank < DRAFT_RANK;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct product p;

	if (!reads(g, v, &p))
		return false;
	if (p.node != node_operands(g, v)[p.wide])
		f->inside[f->n_inside++] = node_operands(g, v)[p.wide];
	f->measure[0] = p.size[0];
	f->measure[1] = p.size[1 + !p.wide];
	f->measure[2] = p.size[1 + p.wide];
	f->measure[3] = p.size[3];
	f->measure[4] = rule_stays_for(g, p.node);
	f->measure[5] = !p.turning;
	return true;
}

/* The row and one of zeros, along a new dimension, before which there are as many as both sides share. */
static Hlo__HloInstructionProto *two_rows(struct draft *d, Hlo__HloInstructionProto *x, int side, struct dot_dims *dims)
{
	uint32_t rank = draft_rank(x), at = dims->n_batch;
	int64_t size[DRAFT_RANK + 1], none[DRAFT_RANK + 1] = {0}, one[DRAFT_RANK + 1] = {0}, to[DRAFT_RANK];

	size[at] = one[at] = 1;
	for (uint32_t i = 0; i < rank; i++) {
		to[i] = i < at ? i : i + 1;
		size[to[i]] = x->shape->dimensions[i];
	}
	for (uint32_t k = 0; k < dims->n_batch; k++)
		dims->batch[side][k] = to[dims->batch[side][k]];
	for (uint32_t k = 0; k < dims->n_sum; k++)
		dims->sum[side][k] = to[dims->sum[side][k]];
	x = draft_pad(d, draft_reshape(d, x, size, rank + 1), none, one, NULL, NULL);
	return draft_unary(d, "opt-barrier", x);
}

/* How many of the row's dimensions that it shares with nothing are before the new one. */
static uint32_t rest_before(const struct draft *d, uint32_t v, int side, const struct dot_dims *dims)
{
	int64_t rest[DRAFT_RANK];
	uint32_t n = dot_rest(dims, side, d->g->node[node_operands(d->g, v)[side]].rank, rest), before = 0;

	for (uint32_t i = 0; i < n; i++)
		before += rest[i] < dims->n_batch;
	return before;
}

/* The first of the two rows, in the shape of the product. All other dimensions of the row have one element. */
static Hlo__HloInstructionProto *first_row(struct draft *d, Hlo__HloInstructionProto *y, uint32_t at)
{
	const Hlo__ShapeProto *shape = d->like->shape;

	y->shape->element_type = shape->element_type;
	y = draft_part(d, draft_unary(d, "opt-barrier", y), at, 0, 1);
	return draft_reshape(d, y, shape->dimensions, (uint32_t)shape->n_dimensions);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, bool turn)
{
	Hlo__HloInstructionProto *x[2];
	uint32_t wide_rest, before, v = f->anchor;
	int64_t rest[DRAFT_RANK];
	struct product p;
	int first;

	BUG_ON(!reads(d->g, v, &p));
	d->widens = false; /* one rounding for each sum, as before */
	first = p.turning && !turn ? !p.wide : p.wide;
	wide_rest = dot_rest(&p.dims, p.wide, d->g->node[p.node].rank, rest);
	before = rest_before(d, v, !p.wide, &p.dims);
	x[p.wide] = draft_value(d, p.node);
	x[!p.wide] = two_rows(d, draft_operand(d, v, !p.wide), !p.wide, &p.dims);
	if (turn)
		x[p.wide] = rule_turn_side(d, x[p.wide], p.wide, &p.dims);
	return first_row(d, first == 0 ? draft_dot(d, x[0], x[1], &p.dims, d->like) :
		rule_exchanged(d, v, x[1], x[0], &p.dims), p.dims.n_batch + before + (first == p.wide ? wide_rest : 0));
}

static Hlo__HloInstructionProto *write_lying(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return write(d, f, false);
}

static bool match_turned(const struct graph *g, uint32_t v, struct found *f)
{
	return match(g, v, f) && f->measure[5] <= 0;
}

static Hlo__HloInstructionProto *write_turned(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return write(d, f, true);
}

const struct rule_code dot_second_code = {.name = "dot_second", .measures = measures, .match = match,
	.write = write_lying};
const struct rule_code dot_second_turned_code = {.name = "dot_second_turned", .measures = measures,
	.match = match_turned, .write = write_turned};
