/*
 * heads.c - rewrites a product with a side that lies in parts as a product with each part, all at once.
 *
 *	dot(x, w)  =  transpose(dot(broadcast(x), w))		where what is summed over stands between other
 *								dimensions of w, of which those in front
 *								are shared now
 *
 * The weights of attention are often kept a head after the other: heads, model, features. What is summed over is then
 * neither first nor last, and XLA:CPU turns the weights in memory in every run. As products that share the heads they
 * are read as they lie. The other side has to be repeated for each head. That is next to nothing for a few rows, so
 * there it gains: with weights of 16 x 2,048 x 128 in f32, 7.5 ms and 0.8 for one row, 14.4 and 3.0 for 11 (Xeon, one
 * core); in bf16 7.0 and 2.8, 8.7 and 2.9. With 512 rows it takes longer.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "parts", "columns", "depth", "turns", NULL};

struct parts {
	struct dot_dims dims;
	int side;			    /* which side lies in parts */
	int64_t outer[DRAFT_RANK];	    /* its dimensions that stand before what is summed over */
	uint32_t n_outer, n_inner, n_other; /* how many, and how many behind; what is left of the other side */
};

/* Does this side lie in parts? *inner: the size of one. */
static bool lies_in_parts(const struct graph *g, uint32_t v, int side, struct parts *p, double *inner)
{
	const uint32_t *x = node_operands(g, v);
	int64_t rest[DRAFT_RANK], first = DRAFT_RANK;
	uint32_t n = dot_rest(&p->dims, side, g->node[x[side]].rank, rest);

	for (uint32_t k = 0; k < p->dims.n_sum; k++)
		if (p->dims.sum[side][k] < first)
			first = p->dims.sum[side][k];
	for (p->n_outer = 0; p->n_outer < n && rest[p->n_outer] < first; p->n_outer++)
		p->outer[p->n_outer] = rest[p->n_outer];
	p->side = side;
	p->n_inner = n - p->n_outer;
	p->n_other = dot_rest(&p->dims, !side, g->node[x[!side]].rank, rest + n);
	*inner = rule_size_of(g, x[side], rest + p->n_outer, p->n_inner);
	return rule_size_of(g, x[side], p->outer, p->n_outer) > 1 && *inner > 1;
}

static bool reads(const struct graph *g, uint32_t v, struct parts *p, double *inner)
{
	const uint32_t *x = node_operands(g, v);

	*p = (struct parts){.side = 0};
	if (!rule_dot(g, v, &p->dims) || g->node[x[0]].rank + g->node[x[1]].rank > DRAFT_RANK)
		return false;
	return lies_in_parts(g, v, 0, p, inner) || lies_in_parts(g, v, 1, p, inner);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct parts p;
	double size[4], inner;

	if (!reads(g, v, &p, &inner))
		return false;
	rule_dot_sizes(g, v, &p.dims, size);
	f->measure[0] = size[0];
	f->measure[1] = size[1 + !p.side];
	f->measure[2] = size[1 + p.side] / inner;
	f->measure[3] = inner;
	f->measure[4] = size[3];
	f->measure[5] = rule_stays_for(g, node_operands(g, v)[p.side]);
	return true;
}

/* Repeats the other side for each part; these dimensions come first, and are shared now. */
static Hlo__HloInstructionProto *repeated(struct draft *d, Hlo__HloInstructionProto *x, const Hlo__ShapeProto *in_parts,
	struct parts *p)
{
	int64_t size[DRAFT_RANK], map[DRAFT_RANK];
	uint32_t n = p->n_outer, rank = draft_rank(x);

	for (uint32_t k = 0; k < n; k++)
		size[k] = in_parts->dimensions[p->outer[k]];
	for (uint32_t i = 0; i < rank; i++) {
		size[n + i] = x->shape->dimensions[i];
		map[i] = n + i;
	}
	for (uint32_t k = 0; k < p->dims.n_batch; k++)
		p->dims.batch[!p->side][k] += n;
	for (uint32_t k = 0; k < p->dims.n_sum; k++)
		p->dims.sum[!p->side][k] += n;
	for (uint32_t k = 0; k < n; k++) {
		p->dims.batch[!p->side][p->dims.n_batch] = k;
		p->dims.batch[p->side][p->dims.n_batch++] = p->outer[k];
	}
	return draft_broadcast(d, x, size, n + rank, map);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x[2], *y;
	int64_t order[DRAFT_RANK];
	struct parts p;
	double inner;
	uint32_t n = 0, shared, in_front;

	(void)variant;
	BUG_ON(!reads(d->g, f->anchor, &p, &inner));
	d->widens = false; /* the same numbers are multiplied and added as before */
	shared = p.dims.n_batch;
	for (int side = 0; side < 2; side++)
		x[side] = draft_operand(d, f->anchor, (uint32_t)side);
	x[!p.side] = repeated(d, x[!p.side], x[p.side]->shape, &p);
	y = draft_dot(d, x[0], x[1], &p.dims, d->like);
	in_front = p.side ? p.n_other : 0; /* of what is left of the other side, before the parts */
	for (uint32_t i = 0; i < shared; i++)
		order[n++] = i;
	for (uint32_t i = 0; i < in_front; i++)
		order[n++] = shared + p.n_outer + i;
	for (uint32_t i = 0; i < p.n_outer; i++)
		order[n++] = shared + i;
	for (uint32_t i = shared + p.n_outer + in_front; n < draft_rank(y); i++)
		order[n++] = i;
	return draft_transpose(d, y, order);
}

const struct rule_code dot_heads_code = {.name = "dot_heads", .measures = measures, .match = match, .write = write};
