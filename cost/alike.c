/*
 * alike.c - do both sides of a region compute the same numbers?
 *
 * They may differ by so many units in the last place of the output's type, as sums in another order do; by fewer for
 * types of 16 bits, whose sums have more bits. NaN and infinities have to be in the same places.
 *
 * But sums of 16 bits do not always have more bits. XLA:CPU 0.11.2 adds up some products of matrices in the type bf16
 * itself. A program that computes them in a better way is then far from it, and right. So where the sides are too far
 * apart, the first one is computed in 64 bits, too. The second one may be as far from that as the first one is.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cost/own.h"
#include "device/room.h"
#include "hlo/widen.h"

#define ALIKE_UNITS 100
#define ALIKE_COARSE_UNITS 8
#define COARSE_UNIT 1e-4 /* relative */
#define FINE_UNIT 1e-12	 /* types with a smaller one have 64 bits themselves */

static double allowed(const struct comparison *x)
{
	return (x->all.unit < COARSE_UNIT ? ALIKE_UNITS : ALIKE_COARSE_UNITS) * x->all.unit;
}

static int compare(struct device *d, const struct compiled *a, const struct compiled *b, struct comparison *out,
	struct err *err)
{
	struct compare_options o = {.impatient = true};

	return device_compare(d, a, b, &o, out, err);
}

/* How far is a side from what it is without rounding? INFINITY if that cannot be said. */
static int distance(struct device *d, const struct compiled *exact, const struct compiled *side, double *out,
	struct err *err)
{
	struct comparison x = {0};
	int rc = compare(d, exact, side, &x, err);

	*out = x.outcome == OUTCOME_OK && !x.all.unlike ? x.all.max_rel : INFINITY;
	comparison_release(&x);
	return rc;
}

/* Is side 1 no further from what the module computes without rounding than side 0 is? */
static int as_exact(struct device *d, const struct buf *module, const struct compiled side[2], double tolerated,
	bool *out, struct err *err)
{
	struct compiled exact = {0};
	struct buf wide = {0};
	double far[2] = {INFINITY, INFINITY};
	char ignored[160];
	bool fits;
	int rc = 0;

	*out = false;
	if (hlo_widen(module->data, module->len, "the region", &wide, NULL) == 0)
		rc = device_compile(d, COMPILE_APPLIED, "hlo", wide.data, wide.len, WANT_MEMORY, &exact, err);
	fits = exact.handle && exact.outcome == OUTCOME_OK &&
	       room_for(d, exact.peak_bytes, "it", ROOM_OF_ALL, ignored, sizeof ignored);
	for (unsigned i = 0; i < 2 && rc == 0 && fits; i++)
		rc = distance(d, &exact, &side[i], &far[i], err);
	*out = isfinite(far[0]) && isfinite(far[1]) && far[1] <= fmax(far[0], tolerated);
	if (device_drop(d, &exact, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&exact);
	buf_release(&wide);
	return rc;
}

int cost_alike(struct device *d, const struct buf *module, const struct compiled side[2], struct fate *fate,
	struct err *err)
{
	struct comparison x = {0};
	int rc = compare(d, &side[0], &side[1], &x, err);
	bool good = rc == 0 && x.outcome == OUTCOME_OK && !x.all.unlike && x.all.max_rel <= allowed(&x);

	if (rc == 0 && x.outcome != OUTCOME_OK) {
		fate->outcome = x.outcome;
		memcpy(fate->detail, x.detail, sizeof fate->detail);
	} else if (rc == 0 && !good) {
		if (!x.all.unlike && x.all.unit > FINE_UNIT)
			rc = as_exact(d, module, side, allowed(&x), &good, err);
		if (!good) {
			fate->outcome = OUTCOME_WRONG_NUMBERS;
			snprintf(fate->detail, sizeof fate->detail,
				"the two ways of computing it are %.2g apart, relative, and unlike in %llu places",
				x.all.max_rel, (unsigned long long)x.all.unlike);
		}
	}
	comparison_release(&x);
	return rc;
}
