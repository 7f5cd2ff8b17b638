/*
 * path.c - the regions of a move, of which none is larger than need be.
 *
 * Places that touch are one region. A move of many sites, such as the copies of a layer, can so become one region that
 * is nearly the whole program: two such flips in each of the 26 layers of a language model were six megabytes of
 * program on either side, and compiling them took as long as the model itself does.
 *
 * Costs are differences, and the difference of two configurations is the sum of those along any path between them. So
 * where a move has large regions it is taken apart into its sites, in the order of the program, and each is priced from
 * where the ones before it led. The steps in the middle of a row of equal layers have equal regions, which are priced
 * once; the pairs of modules that are left are few and small. It is only done where that makes much less to compile,
 * for every region has an error of its own, and a price that stands for many steps has its error as often.
 */
#include <string.h>
#include "cost/own.h"

#define LARGE ((size_t)200 << 10) /* bytes of modules, from which on it is worth a try */
#define WORTH_IT 0.5		  /* of the bytes at most are left, or it is not done */

static size_t bytes_of(const struct regions *r)
{
	size_t bytes = 0;

	for (size_t i = 0; i < r->n; i++)
		bytes += r->v[i].a.len + r->v[i].b.len;
	return bytes;
}

static bool whole_among(const struct regions *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].whole || r->v[i].screen)
			return true;
	return false;
}

static uint32_t count_sites(const struct space *s, const uint8_t *a, const uint8_t *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_sites; i++)
		n += a[i] != b[i];
	return n;
}

/* Moves the regions of a step over; equal ones become one as soon as they meet. */
static void append(struct regions *all, struct regions *step)
{
	for (size_t i = 0; i < step->n; i++) {
		MEM_GROW(&all->v, &all->cap, all->n + 1);
		all->v[all->n++] = step->v[i];
		step->v[i] = (struct region){0};
	}
	step->n = 0;
	regions_join(all);
}

int cost_path(struct space *s, const uint8_t *a, const uint8_t *b, size_t limit, struct regions *out,
	struct err *err)
{
	uint8_t *from = mem_alloc(s->n_sites), *to = mem_alloc(s->n_sites);
	int rc = 0;

	memcpy(from, a, s->n_sites);
	memcpy(to, a, s->n_sites);
	for (uint32_t i = 0; i < s->n_sites && rc == 0 && bytes_of(out) < limit; i++) {
		struct regions step = {0};
		if (a[i] == b[i])
			continue;
		to[i] = b[i];
		rc = s->ops->region(s, from, to, &step, err);
		append(out, &step);
		regions_release(&step);
		from[i] = b[i];
	}
	mem_free(from);
	mem_free(to);
	return rc;
}

int cost_regions(struct cost *c, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct regions steps = {0};
	size_t limit;

	if (c->space->ops->region(c->space, a, b, out, err) < 0)
		return -1;
	limit = (size_t)(WORTH_IT * (double)bytes_of(out));
	if (bytes_of(out) < LARGE || whole_among(out) || count_sites(c->space, a, b) < 2)
		return 0;
	if (cost_path(c->space, a, b, limit, &steps, err) < 0) {
		regions_release(&steps);
		return -1;
	}
	if (bytes_of(&steps) < limit) {
		struct regions whole = *out;
		*out = steps;
		steps = whole;
	}
	regions_release(&steps);
	return 0;
}
