/*
 * code.c - samples and trials as bytes.
 *
 * A sample of a site with two choices takes 8 bytes: 2 of proof, 4 of cost, 2 of standard error. The cost keeps
 * a float's 24 bits, because learning works in floats and no clock is better. The error keeps 8 bits: it is
 * estimated from some ten pairs, so it is known to a third at best. The outcome of a failure is in the payload of
 * a NaN, so samples without failures, nearly all of them, need no bytes for it.
 */
#include "store/code.h"
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"

#define FAILED 0x7fc00000u
#define FAILED_FIRST 0x7fc10000u /* an extra first entry: the first choice failed */

static uint32_t bits_of(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

static float float_of(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static void put_u16(struct buf *out, uint32_t v)
{
	buf_u8(out, (uint8_t)v);
	buf_u8(out, (uint8_t)(v >> 8));
}

static uint16_t get_u16(struct cursor *c)
{
	uint32_t low = cursor_u8(c);

	return (uint16_t)(low | (uint32_t)cursor_u8(c) << 8);
}

/* The upper half of a float, rounded to nearest; NaN becomes infinite, which means "unknown". */
static uint32_t half_of(double se)
{
	uint32_t u = bits_of((float)(isnan(se) ? INFINITY : fabs(se)));

	return (u >= 0x7f800000u ? u : u + 0x7fff + (u >> 16 & 1)) >> 16;
}

enum outcome code_outcome(const struct sample *x)
{
	for (int i = 0; i < x->n_choices; i++)
		if (x->choice[i].outcome != OUTCOME_OK)
			return x->choice[i].outcome;
	return OUTCOME_OK;
}

void code_costs(const struct sample *x, uint64_t hash, struct buf *out)
{
	put_u16(out, (uint32_t)hash & 0xffff);
	for (int i = x->choice[0].outcome == OUTCOME_OK; i < x->n_choices; i++) {
		const struct choice_cost *c = &x->choice[i];

		buf_u32(out, c->outcome == OUTCOME_OK ? bits_of((float)c->delta)
						      : (i ? FAILED : FAILED_FIRST) + (uint32_t)c->outcome);
		put_u16(out, half_of(c->se) | (c->bound ? 0x8000u : 0));
	}
}

/* Decodes an entry; a failure is `mark` plus its outcome. */
static int decode_choice(struct cursor *c, uint32_t mark, struct choice_cost *out)
{
	uint32_t u = cursor_u32(c), half = get_u16(c);

	memset(out, 0, sizeof *out);
	if (u > mark && u < mark + OUTCOME_COUNT) {
		out->outcome = (enum outcome)(u - mark);
		out->delta = out->se = (double)NAN;
		return 0;
	}
	out->delta = (double)float_of(u);
	out->se = (double)float_of((half & 0x7fff) << 16);
	out->bound = half >> 15;
	return mark == FAILED_FIRST || isnan(out->delta) ? -1 : 0;
}

int decode_costs(const void *p, size_t n, struct sample *x, uint16_t *proof)
{
	struct cursor c = cursor_of(p, n), first;
	uint32_t u;
	size_t i = 1;

	*proof = get_u16(&c);
	first = c;
	u = cursor_u32(&first);
	memset(&x->choice[0], 0, sizeof x->choice[0]);
	if (!first.bad && u > FAILED_FIRST && u < FAILED_FIRST + OUTCOME_COUNT && decode_choice(&c, FAILED_FIRST,
		&x->choice[0]) < 0)
		return -1;
	for (; i < STORE_CHOICES && !c.bad && cursor_left(&c); i++)
		if (decode_choice(&c, FAILED, &x->choice[i]) < 0)
			return -1;
	x->n_choices = (uint8_t)i;
	return cursor_done(&c) ? 0 : -1;
}

void code_flips(const struct flip *flip, uint32_t n, uint64_t hash, struct buf *out)
{
	put_u16(out, (uint32_t)hash & 0xffff);
	for (uint32_t i = 0; i < n; i++) {
		buf_varint(out, i ? flip[i].site - flip[i - 1].site : flip[i].site + (uint64_t)1);
		buf_u8(out, flip[i].choice);
	}
}

int decode_flips(const void *p, size_t n, const uint8_t *choices, uint32_t n_sites, struct flip **flip,
	size_t *cap, uint32_t *n_flips, uint16_t *proof)
{
	struct cursor c = cursor_of(p, n);
	uint64_t next = 0, step;
	uint32_t k = 0;

	*proof = get_u16(&c);
	while (!c.bad && cursor_left(&c)) {
		step = cursor_varint(&c);
		if (step == 0 || step > n_sites || next + step > n_sites)
			return -1;
		next += step;
		MEM_GROW(flip, cap, (size_t)k + 1);
		(*flip)[k].site = (uint32_t)(next - 1);
		(*flip)[k].choice = cursor_u8(&c);
		if ((*flip)[k].choice >= choices[next - 1])
			return -1;
		k++;
	}
	*n_flips = k;
	return cursor_done(&c) ? 0 : -1;
}
