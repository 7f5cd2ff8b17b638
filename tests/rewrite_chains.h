/*
 * rewrite_chains.h - programs of chains of operations on numbers of 16 bits, drawn: values that are read once and
 * twice, turned into f32 on the way, compared, bounded and chosen from.
 */
#ifndef TESTS_REWRITE_CHAINS_H
#define TESTS_REWRITE_CHAINS_H

#include "tests/rewrite_cases.h"

#define CHAINS 40

/* One operation on value `last` (n0, n1 ...), which is written as the next one. */
static void chain_step(struct buf *b, struct rng *r, int last)
{
	static const char *const ops[] = {"add", "subtract", "multiply"};
	const char *other = rng_below(r, 2) ? "a" : "c";

	switch (rng_below(r, 9)) {
	case 0:
		buf_addf(b, "  n%d = bf16[128,128] negate(n%d)\n", last + 1, last);
		break;
	case 1:
		buf_addf(b, "  n%d = bf16[128,128] select(p, n%d, %s)\n", last + 1, last, other);
		break;
	case 2:
		buf_addf(b, "  n%d = bf16[128,128] multiply(n%d, n%d)\n", last + 1, last, last);
		break;
	case 3:
		buf_addf(b, "  f%d = f32[128,128] convert(n%d)\n  g%d = f32[128,128] add(f%d, d)\n"
			"  n%d = bf16[128,128] convert(g%d)\n", last, last, last, last, last + 1, last);
		break;
	case 4:
		buf_addf(b, "  t%d = pred[128,128] compare(n%d, %s), direction=%s\n"
			"  n%d = bf16[128,128] select(t%d, %s, n%d)\n", last, last, other,
			rng_below(r, 2) ? "GT" : "LE", last + 1, last, rng_below(r, 2) ? "a" : "c", last);
		break;
	case 5:
		buf_addf(b, "  n%d = bf16[128,128] clamp(%s, n%d, c)\n", last + 1, rng_below(r, 2) ? "a" : "l", last);
		break;
	case 6:
		buf_addf(b, "  n%d = bf16[128,128] %s(n%d, %s)\n", last + 1, rng_below(r, 2) ? "maximum" : "minimum",
			last, other);
		break;
	default:
		buf_addf(b, "  n%d = bf16[128,128] %s(%s, n%d)\n", last + 1, ops[rng_below(r, 3)], other, last);
	}
}

static void walk_chains(case_visit *visit, void *ctx, uint32_t each)
{
	for (uint32_t seed = 0; seed < CHAINS; seed++) {
		struct buf b = {0};
		struct rng r;
		int last = 0, steps;
		if (left_out(seed, each))
			continue;
		rng_seed(&r, seed);
		buf_adds(&b, "HloModule m\n\nENTRY e {\n"
			"  a = bf16[128,128] parameter(0)\n  c = bf16[128,128] parameter(1)\n"
			"  d = f32[128,128] parameter(2)\n  p = pred[128,128] parameter(3)\n"
			"  l = bf16[] parameter(4)\n"
			"  n0 = bf16[128,128] select(p, a, c)\n");
		for (steps = 2 + (int)rng_below(&r, 5); steps > 0; steps--)
			chain_step(&b, &r, last++);
		buf_addf(&b, rng_below(&r, 2) ? "  ROOT y = f32[128,128] convert(n%d)\n}\n" :
			"  ROOT y = bf16[128,128] subtract(n%d, a)\n}\n", last);
		visit(ctx, b.data);
		buf_release(&b);
	}
}

#endif
