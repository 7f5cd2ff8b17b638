/*
 * row.c - rewrites a product of a single row as numbers that are multiplied and summed in one step.
 *
 *	dot(x, w)  =  sum(multiply(w, broadcast(x)))	in f32, rounded at the end where the product is of 16 bits
 *
 * A language model that writes one word at a time multiplies each of its weights by one row, and so do the keys and
 * values of its attention. XLA:CPU has no code for such a product of 16 bits: it copies the weights in f32 in every
 * run. What is multiplied and summed it gives to its library as one step, which converts the weights as it reads them.
 * Those of 2,048 x 8,192 in bf16 took 69 to 90 ms as a product, of which some 30 mapped the memory of the copy, and 9
 * to 11 so (Xeon, one core, busy; in f16 as long either way). In f32 a side is copied where what is shared or summed
 * over lies between other dimensions, as heads of attention do. Scores against 1,024 keys of eight heads took 1.2 and
 * 0.5 ms.
 *
 * Where a loop leaves the wide side as it is, XLA converts it once, before the loop. The place alone does not show it:
 * twelve products in a Whisper's decoder seemed to gain 0.5 ms, and their program took 18 ms longer.
 *
 * The wide side comes first. The other way around, the library took 77 to 100 ms.
 *
 * Of few rows the sum reads the wide side once for each. That gains where several heads share nothing but the order in
 * which they lie.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", "bits", "turns", NULL};

/*
 * Adds what makes the wide side element by element for this product alone. The sum computes it as it reads, and the
 * product keeps it in memory. Returns the node that all is made of.
 */
static uint32_t look_through(const struct graph *g, uint32_t v, uint32_t u, struct found *f)
{
	while (f->n_inside < FOUND_INSIDE && g->node[u].n_operands && g->node[u].n_users == 1 &&
		!(g->node[u].flags & NODE_ROOT) && *node_users(g, u) == v &&
		opcode_facts(g->node[u].opcode)->class == CLASS_ELEMENTWISE) {
		const uint32_t *x = node_operands(g, u);
		f->inside[f->n_inside++] = v = u;
		u = g->node[u].n_operands > 1 && g->node[x[0]].opcode == OP_BROADCAST ? x[1] : x[0];
	}
	return u;
}

static bool reads(const struct graph *g, uint32_t v, struct dot_dims *dims)
{
	const uint32_t *x = node_operands(g, v);

	return (rule_dot(g, v, dims) || rule_dot_wider(g, v, dims)) &&
		g->node[x[0]].rank + g->node[x[1]].rank < DRAFT_RANK;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	double size[4];
	uint32_t from;
	int wide;

	if (!reads(g, v, &dims))
		return false;
	rule_dot_sizes(g, v, &dims, size);
	wide = size[2] >= size[1];
	f->measure[0] = size[0];
	f->measure[1] = size[1 + !wide];
	f->measure[2] = size[1 + wide];
	f->measure[3] = size[3];
	from = look_through(g, v, node_operands(g, v)[wide], f);
	f->measure[4] = dtype_bits(g->node[from].dtype);
	f->measure[5] = rule_stays_for(g, from);
	return true;
}

/*
 * An array and what its dimensions are: first what both sides share, by number, then what is left of the first side, of
 * the second one, and last what is summed over. Dimensions of a single element are left out: with one, the sum
 * took 12 ms longer than the product.
 */
struct lettered {
	Hlo__HloInstructionProto *x;
	uint32_t letter[2 * DRAFT_RANK], rank;
};
#define SUMMED (3 * DRAFT_RANK) /* letters from here on are summed over */

static struct lettered read_side(struct draft *d, uint32_t v, int side, const struct dot_dims *dims)
{
	struct lettered y = {.x = draft_operand(d, v, (uint32_t)side)};
	int64_t rest[DRAFT_RANK], size[DRAFT_RANK];
	uint32_t letter[DRAFT_RANK], rank = draft_rank(y.x), n = dot_rest(dims, side, rank, rest);

	if (d->widens || d->like->shape->element_type == DT_F32)
		y.x = draft_convert(d, y.x, DT_F32);
	for (uint32_t k = 0; k < dims->n_batch; k++)
		letter[dims->batch[side][k]] = k;
	for (uint32_t k = 0; k < n; k++)
		letter[rest[k]] = (uint32_t)(1 + side) * DRAFT_RANK + k;
	for (uint32_t k = 0; k < dims->n_sum; k++)
		letter[dims->sum[side][k]] = SUMMED + k;
	for (uint32_t i = 0; i < rank; i++)
		if (y.x->shape->dimensions[i] != 1) {
			size[y.rank] = y.x->shape->dimensions[i];
			y.letter[y.rank++] = letter[i];
		}
	y.x = draft_reshape(d, y.x, size, y.rank);
	return y;
}

/* Where a letter is; the rank if it is nowhere. */
static uint32_t place_of(const struct lettered *a, uint32_t letter)
{
	uint32_t i = 0;

	while (i < a->rank && a->letter[i] != letter)
		i++;
	return i;
}

/* Repeats a side over all dimensions of `to`, which has those of both. */
static Hlo__HloInstructionProto *spread(struct draft *d, const struct lettered *a, const struct lettered *to,
	const int64_t *size)
{
	int64_t map[2 * DRAFT_RANK];

	for (uint32_t i = 0; i < a->rank; i++)
		map[i] = place_of(to, a->letter[i]);
	return draft_broadcast(d, a->x, size, to->rank, map);
}

/* The dimensions of the wide side, then what is left of the narrow one. */
static struct lettered multiplied(struct draft *d, const struct lettered *wide, const struct lettered *narrow)
{
	struct lettered y = *wide;
	int64_t size[2 * DRAFT_RANK];

	for (uint32_t i = 0; i < wide->rank; i++)
		size[i] = wide->x->shape->dimensions[i];
	for (uint32_t i = 0; i < narrow->rank; i++)
		if (place_of(&y, narrow->letter[i]) == y.rank) {
			size[y.rank] = narrow->x->shape->dimensions[i];
			y.letter[y.rank++] = narrow->letter[i];
		}
	y.x = draft_binary(d, "multiply", spread(d, wide, &y, size), spread(d, narrow, &y, size));
	return y;
}

/* Sums over what is to be summed over, and puts the rest in the order of letters, as a product has it. */
static Hlo__HloInstructionProto *summed(struct draft *d, const struct lettered *a)
{
	int64_t gone[DRAFT_RANK], order[2 * DRAFT_RANK];
	uint32_t n = 0, rank = 0;

	for (uint32_t i = 0, before; i < a->rank; i++) {
		if (a->letter[i] >= SUMMED) {
			gone[n++] = i;
			continue;
		}
		before = 0;
		for (uint32_t k = 0; k < a->rank; k++)
			before += a->letter[k] < a->letter[i];
		order[before] = rank++;
	}
	return draft_transpose(d, draft_sum(d, a->x, gone, n), order);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__ShapeProto *shape = d->g->node[f->anchor].proto->shape;
	struct lettered side[2], y;
	struct dot_dims dims;
	double size[4];
	int wide;

	(void)variant;
	BUG_ON(!reads(d->g, f->anchor, &dims));
	rule_dot_sizes(d->g, f->anchor, &dims, size);
	wide = size[2] >= size[1];
	for (int k = 0; k < 2; k++)
		side[k] = read_side(d, f->anchor, k, &dims);
	y = multiplied(d, &side[wide], &side[!wide]);
	return draft_reshape(d, summed(d, &y), shape->dimensions, (uint32_t)shape->n_dimensions);
}

const struct rule_code dot_row_code = {.name = "dot_row", .measures = measures, .match = match, .write = write};
