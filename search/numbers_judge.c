/*
 * numbers_judge.c - how far every output is off, and how far it may be: see numbers.h.
 */
#include "search/numbers_judge.h"

#include <math.h>

#define YARDSTICKS 10
#define FURTHER 3	   /* times as far from what is not rounded as the compiler's own program, or as often unlike */
#define FLOAT_UNIT 0x1p-23 /* programs do not add up in shorter types */
/* In 64 bits the programs must agree to so many units of the output's type, or this share of what is allowed. */
#define RIGHT_UNITS 2
#define RIGHT_SHARE 1e-6
#define COARSE_UNIT 1e-4   /* relative; a float of 16 bits or fewer has a larger one */
#define TELLING 0.5	   /* a kind of input that allows so much tells nothing */
#define MANY (10 * DIFFERENCE_FEW) /* numbers, of which a few may be off by chance */

static const struct difference *output_of(const struct comparison *c, uint32_t k)
{
	static const struct difference none;

	return c->outcome == OUTCOME_OK && k < c->n_outputs ? &c->output[k] : &none;
}

/* How an output differs, compared with what is allowed for it. */
struct judged {
	double allowed;
	uint64_t unlike, unlike_allowed;
	double difference;
	double share; /* of what is allowed; above 1: too far */
	bool told, exact;
};

static void widen_by(const struct difference *d, double *rounding, uint64_t *unlike)
{
	*rounding = fmax(*rounding, d->max_rel);
	*unlike = *unlike > d->unlike ? *unlike : d->unlike;
}

/* Is number i of the comparisons with the program in 64 bits there? */
static bool has_exact(const struct trial *t, int i)
{
	return t->exact[i].outcome == OUTCOME_OK && t->exact[i].n_outputs > 0;
}

/* Does the tuned program give in 64 bits what the other one gives? `allowed` is how far they may be apart in 32. */
static bool right_exact(const struct trial *t, uint32_t k, double unit, double allowed)
{
	const struct difference *right = output_of(&t->exact[2], k);

	return has_exact(t, 2) && right->unlike == 0 &&
		right->max_rel <= fmax(RIGHT_UNITS * unit, RIGHT_SHARE * allowed);
}

/*
 * Is the output chaos in the compiler's own program, and no more so in the tuned one? Then it does not matter how far
 * single numbers are off, but in how many places they are.
 */
static bool as_chaotic(const struct trial *t, uint32_t k, double unit)
{
	uint64_t far = output_of(&t->exact[0], k)->far;

	for (int i = 0; i < NUMBERS_NUDGES; i++)
		far = far > output_of(&t->rounded[i], k)->far ? far : output_of(&t->rounded[i], k)->far;
	return far && output_of(&t->exact[1], k)->far <= FURTHER * far && right_exact(t, k, unit, 1);
}

/*
 * Are all numbers of the output but a few as near as is allowed, and is any output chaos in the compiler's own program?
 * Then it was luck that none was further off in this one.
 */
static bool few_are_off(const struct trial *t, uint32_t k, double unit, double allowed)
{
	const struct difference *d = output_of(&t->exact[1], k);
	bool chaotic = false;

	for (uint32_t i = 0; i < t->exact[0].n_outputs; i++)
		chaotic |= t->exact[0].output[i].far > 0;
	return chaotic && d->elements >= MANY && d->rest_rel <= allowed && right_exact(t, k, unit, 1);
}

/* How far an output may be from what is not rounded. `allowed` is how far the two programs may be apart. */
static double allowed_exact(const struct trial *t, uint32_t k, double unit, double allowed)
{
	allowed = fmax(allowed, FURTHER * output_of(&t->exact[0], k)->max_rel);
	if (!right_exact(t, k, unit, allowed))
		return allowed;
	for (int i = 0; i < NUMBERS_NUDGES; i++)
		allowed = fmax(allowed, FURTHER * output_of(&t->rounded[i], k)->max_rel);
	return fmax(allowed, t->long_way * fmin(unit, FLOAT_UNIT));
}

/*
 * Counts the places of an output of floats in which the compiler's own program is unlike what is not rounded. It counts
 * one where there is none, if another output of floats has some. Integers that rounding changes are no overflow.
 */
static uint64_t own_unlike(const struct trial *t, uint32_t k)
{
	uint64_t here = output_of(&t->exact[0], k)->unlike;
	bool overflows = false;

	for (uint32_t i = 0; i < t->exact[0].n_outputs; i++) {
		const struct difference *d = output_of(&t->exact[0], i);
		overflows |= d->unit > 0 && d->unlike > 0;
	}
	return overflows && !here ? 1 : here;
}

/* Counts the places that are unlike, and those that may be. Where numbers overflow, the program in 64 bits decides. */
static void judge_unlike(const struct trial *t, uint32_t k, struct judged *j)
{
	const struct difference *d = &t->tuned.output[k];

	j->unlike = d->unlike;
	if (d->unit == 0 || j->unlike <= j->unlike_allowed || !right_exact(t, k, d->unit, j->allowed))
		return;
	if (j->allowed >= TELLING) { /* then an infinity tells no more than any other number */
		j->unlike_allowed = d->elements;
		return;
	}
	j->unlike = output_of(&t->exact[1], k)->unlike;
	j->unlike_allowed = FURTHER * own_unlike(t, k);
}

static struct judged judge_output(const struct trial *t, uint32_t k)
{
	const struct difference *d = &t->tuned.output[k], *own = output_of(&t->exact[0], k);
	double least = NUMBERS_LEAST * d->unit * (d->unit < COARSE_UNIT ? YARDSTICKS : 1), rounding = 0, any = 0;
	uint64_t unlike = 0;
	struct judged j = {.difference = d->max_rel};

	for (int i = 0; i < NUMBERS_NUDGES; i++)
		widen_by(output_of(&t->nudged[i], k), &rounding, &unlike);
	widen_by(output_of(&t->plain, k), &rounding, &unlike);
	if (d->unit == 0)
		widen_by(own, &any, &unlike);
	j.allowed = fmax(least, YARDSTICKS * rounding);
	j.unlike_allowed = YARDSTICKS * unlike;
	if (!(j.difference <= j.allowed) && has_exact(t, 0) && has_exact(t, 1)) {
		j.exact = true;
		j.difference = output_of(&t->exact[1], k)->max_rel;
		j.allowed = allowed_exact(t, k, d->unit, j.allowed);
		if (j.difference > j.allowed && few_are_off(t, k, d->unit, j.allowed))
			j.difference = output_of(&t->exact[1], k)->rest_rel;
		if (j.difference > j.allowed && as_chaotic(t, k, d->unit))
			j.allowed = j.difference;
	}
	judge_unlike(t, k, &j);
	j.told = d->unit > 0 ? d->finite > 0 && j.allowed < TELLING : d->elements > j.unlike_allowed;
	j.share = d->unit > 0 ? j.difference / j.allowed : 0;
	if (!(j.share <= 1) || j.unlike > j.unlike_allowed)
		j.share = fmax(2, j.share);
	return j;
}

/*
 * Is the first the one to speak of? One that is too far comes first, then one that tells something, then the nearest to
 * what is allowed.
 */
static bool speaks_before(const struct judged *a, const struct judged *b)
{
	if ((a->share > 1) != (b->share > 1))
		return a->share > 1;
	if (a->told != b->told && !(a->share > 1))
		return a->told;
	return a->share != b->share ? a->share > b->share : a->allowed < b->allowed;
}

bool numbers_judge(const struct trial *t, struct numbers_on *on)
{
	struct judged worst = {.share = -1, .allowed = INFINITY};

	*on = (struct numbers_on){.compared = true, .elements = t->tuned.all.elements, .finite = t->tuned.all.finite};
	for (uint32_t k = 0; k < t->tuned.n_outputs; k++) {
		struct judged j = judge_output(t, k);
		on->told |= j.told;
		if (!speaks_before(&j, &worst))
			continue;
		worst = j;
		on->output = k;
		on->difference = j.difference;
		on->allowed = j.allowed;
		on->exact = j.exact;
		on->unlike = j.unlike;
		on->unlike_allowed = j.unlike_allowed;
	}
	return worst.share <= 1 && !t->tuned.layouts_differ;
}

bool numbers_only_rounded(const struct trial *t, const struct numbers_on *on)
{
	return on->exact && on->unlike <= on->unlike_allowed && on->difference > on->allowed &&
		right_exact(t, on->output, output_of(&t->tuned, on->output)->unit, on->allowed);
}
