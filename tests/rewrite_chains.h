/*
 * rewrite_chains.h - programs of chains of operations on numbers of 16 bits, drawn: values that are read once and
 * twice, turned into f32 and made of whole numbers on the way, compared, bounded and chosen from.
 */
#ifndef TESTS_REWRITE_CHAINS_H
#define TESTS_REWRITE_CHAINS_H

#include "tests/rewrite_cases.h"

#define CHAINS 40

/* Adds "  NAMEnumber = TYPE[128,128] parameter(next)". Each step has its own, or one could undo another. */
static void chain_parameter(struct buf *b, const char *name, int number, const char *type, int *next)
{
	buf_addf(b, "  %s%d = %s[128,128] parameter(%d)\n", name, number, type, (*next)++);
}

/* One operation on value k (n0, n1 ...), which is written as the next one. */
static void chain_step(struct buf *b, struct rng *r, int k, int *next)
{
	static const char *const ops[] = {"add", "subtract", "multiply"};
	uint64_t what = rng_below(r, 10);
	bool first = rng_below(r, 2);
	char line[40];

	snprintf(line, sizeof line, "  n%d = bf16[128,128]", k + 1);
	if (what == 1 || what == 6)
		chain_parameter(b, "p", k, what == 1 || first ? "pred" : "s8", next);
	if (what == 3)
		chain_parameter(b, "d", k, "f32", next);
	if (what != 0 && what != 2 && what != 3 && what != 6)
		chain_parameter(b, "a", k, "bf16", next);
	switch (what) {
	case 0:
		buf_addf(b, "%s negate(n%d)\n", line, k);
		break;
	case 1:
		buf_addf(b, "%s select(p%d, n%d, a%d)\n", line, k, k, k);
		break;
	case 2:
		buf_addf(b, "%s multiply(n%d, n%d)\n", line, k, k);
		break;
	case 3:
		buf_addf(b, "  f%d = f32[128,128] convert(n%d)\n  g%d = f32[128,128] add(f%d, d%d)\n"
			"%s convert(g%d)\n", k, k, k, k, k, line, k);
		break;
	case 4:
		buf_addf(b, "  t%d = pred[128,128] compare(n%d, a%d), direction=%s\n%s select(t%d, c, n%d)\n",
			k, k, k, first ? "GT" : "LE", line, k, k);
		break;
	case 5:
		if (first)
			buf_addf(b, "%s clamp(l, n%d, a%d)\n", line, k, k);
		else
			buf_addf(b, "%s clamp(a%d, n%d, c)\n", line, k, k);
		break;
	case 6:
		buf_addf(b, "  w%d = bf16[128,128] convert(p%d)\n%s add(n%d, w%d)\n", k, k, line, k, k);
		break;
	case 7:
		buf_addf(b, "%s %s(n%d, a%d)\n", line, first ? "maximum" : "minimum", k, k);
		break;
	default:
		buf_addf(b, "%s %s(a%d, n%d)\n", line, ops[rng_below(r, 3)], k, k);
	}
}

static void walk_chains(case_visit *visit, void *ctx, uint32_t each)
{
	for (uint32_t seed = 0; seed < CHAINS; seed++) {
		struct buf b = {0};
		struct rng r;
		int last = 0, steps, next = 4;
		if (left_out(seed, each))
			continue;
		rng_seed(&r, seed);
		buf_adds(&b, "HloModule m\n\nENTRY e {\n"
			"  a = bf16[128,128] parameter(0)\n  c = bf16[128,128] parameter(1)\n"
			"  p = pred[128,128] parameter(2)\n  l = bf16[] parameter(3)\n"
			"  n0 = bf16[128,128] select(p, a, c)\n");
		for (steps = 2 + (int)rng_below(&r, 5); steps > 0; steps--)
			chain_step(&b, &r, last++, &next);
		switch (rng_below(&r, 3)) {
		case 0:
			buf_addf(&b, "  ROOT y = f32[128,128] convert(n%d)\n}\n", last);
			break;
		case 1:
			buf_addf(&b, "  ROOT y = s32[128,128] convert(n%d)\n}\n", last);
			break;
		default:
			buf_addf(&b, "  ROOT y = bf16[128,128] subtract(n%d, a)\n}\n", last);
		}
		visit(ctx, b.data);
		buf_release(&b);
	}
}

#endif
