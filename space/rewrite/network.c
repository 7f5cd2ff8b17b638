/*
 * network.c - sorts rows of a few elements by a fixed sequence of comparisons.
 *
 * A sort that looks at its numbers jumps as they tell, and is called for each row. A sorting network compares the same
 * pairs of places whatever stands there, and puts the smaller element in front: two instructions without a jump, that
 * vector code runs for many rows at once. Batcher's odd-even merge sort needs about n log(n)^2 / 4 comparisons, which
 * for few elements is hardly more than any sort does: 3 for 3, 19 for 8, 63 for 16, 191 for 32.
 *
 * It sorts runs of 1, 2, 4 ... places, twice as long each time, by merging pairs of runs. A merge compares places that
 * are a distance apart, half a run at first and half as far in each step; from the second step on it leaves alone the
 * first and the last of them. Where places end before a run does, the rest is taken for larger than all, so comparisons
 * with it are left out.
 *
 * The elements of a place are a slice of the array without that dimension, which lies first for this, so that a slice
 * lies in one piece. The sorted slices are put side by side. A median, which reads a few places alone, costs what leads
 * there: the compiler removes the rest.
 *
 * The compiler would make one loop of all comparisons. Where that writes several slices, it would compute each
 * comparison anew for all that follow from it: rows of 8 took 36 ms instead of 0.7. So all slices are kept in memory
 * after every third step. Within three steps fewer than 8 comparisons follow from one.
 */
#include <string.h>

#include "space/rewrite/rule.h"

#define STEPS_AT_ONCE 3

struct places {
	struct draft *d;
	Hlo__HloInstructionProto **at;
	int64_t n;
};

/* Puts the smaller elements of two places in the first one. */
static void compare(const struct places *p, int64_t first, int64_t second)
{
	Hlo__HloInstructionProto *a = p->at[first], *b = p->at[second];

	p->at[first] = draft_binary(p->d, "minimum", a, b);
	p->at[second] = draft_binary(p->d, "maximum", a, b);
}

/* One step in which pairs of sorted runs are merged; compares places that are `apart`. */
static void merge_step(const struct places *p, int64_t run, int64_t apart)
{
	for (int64_t from = apart % run; from + apart < p->n; from += 2 * apart)
		for (int64_t i = from; i < from + apart && i + apart < p->n; i++)
			if (i / (2 * run) == (i + apart) / (2 * run))
				compare(p, i, i + apart);
}

static void sort(const struct places *p)
{
	uint32_t steps = 0;

	for (int64_t run = 1; run < p->n; run *= 2)
		for (int64_t apart = run; apart >= 1; apart /= 2) {
			if (steps++ % STEPS_AT_ONCE == 0 && steps > 1)
				draft_keep(p->d, p->at, (uint32_t)p->n);
			merge_step(p, run, apart);
		}
}

Hlo__HloInstructionProto *rule_network(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim)
{
	int64_t n = x->shape->dimensions[dim];
	struct places p = {.d = d, .n = n, .at = ARENA_NEW(d->mem, n, Hlo__HloInstructionProto *)};
	int64_t size[DRAFT_RANK];
	uint32_t rank = draft_rank(x);

	x = draft_moved(d, x, dim, 0);
	memcpy(size, x->shape->dimensions, rank * sizeof *size);
	for (int64_t i = 0; i < n; i++)
		p.at[i] = draft_reshape(d, draft_part(d, x, 0, i, 1), size + 1, rank - 1);
	sort(&p);
	size[0] = 1;
	for (int64_t i = 0; i < n; i++)
		p.at[i] = draft_reshape(d, p.at[i], size, rank);
	return draft_moved(d, draft_concat(d, p.at, (uint32_t)n, 0), 0, dim);
}
