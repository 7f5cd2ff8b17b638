/*
 * path.c - finds the regions of a move, and takes a move apart whose regions are too large.
 *
 * Places that touch are one region. So a move of many sites, such as the copies of a layer, can become one region that
 * is nearly the whole program. Two such flips in each of the 26 layers of a language model gave six megabytes of
 * program on either side, and compiling them took as long as compiling the model.
 *
 * The difference of two configurations is the sum of the differences along any path between them. So a move with large
 * regions is taken apart into its sites, in the order of the program, and each site is priced from where the sites
 * before it led. In a row of equal layers the steps in the middle have equal regions, which are priced once; few and
 * small pairs of modules are left. A path is taken only if it leaves much less to compile, because each region has an
 * error of its own, and the error of a price that stands for many steps counts as often.
 */
#include <string.h>
#include "cost/own.h"

#define LARGE ((size_t)200 << 10) /* bytes of modules, from which on it is worth a try */
#define WORTH_IT 0.5		  /* of the bytes at most are left, or it is not done */
#define LONGEST 4.0		  /* ... nor if its steps, equal ones counted, come to so many times as much */
#define WRITTEN 4.0 /* times what can be afforded: so much is written at most to find out whether it can */

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

static struct region *equal_one(struct regions *all, const struct region *r)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].key[0] == r->key[0] && all->v[i].key[1] == r->key[1])
			return &all->v[i];
	return NULL;
}

/* Moves the regions of a step over; equal ones become one as soon as they meet. Returns the bytes of the new ones. */
static size_t append(struct regions *all, struct regions *step)
{
	size_t bytes = 0;

	for (size_t i = 0; i < step->n; i++) {
		struct region *same = equal_one(all, &step->v[i]);
		if (same) {
			same->times += step->v[i].times;
			same->copies += step->v[i].copies;
			continue;
		}
		bytes += step->v[i].a.len + step->v[i].b.len;
		MEM_GROW(&all->v, &all->cap, all->n + 1);
		all->v[all->n++] = step->v[i];
		step->v[i] = (struct region){0};
	}
	return bytes;
}

int cost_path(struct space *s, const uint8_t *a, const uint8_t *b, size_t limit, double most, struct regions *out,
	struct err *err)
{
	uint8_t *from = mem_alloc(s->n_sites), *to = mem_alloc(s->n_sites);
	size_t bytes = bytes_of(out);
	double cut = 0;
	bool beyond = false;
	uint32_t i;
	int rc = 0;

	memcpy(from, a, s->n_sites);
	memcpy(to, a, s->n_sites);
	for (i = 0; i < s->n_sites && rc == 0 && bytes < limit && cut < most && !beyond; i++) {
		struct regions step = {.most = (size_t)(most - cut) + 1};
		if (a[i] == b[i])
			continue;
		to[i] = b[i];
		rc = s->ops->region(s, from, to, &step, err);
		cut += (double)bytes_of(&step);
		beyond = step.beyond;
		bytes += append(out, &step);
		regions_release(&step);
		from[i] = b[i];
	}
	regions_join(out); /* in the order of their keys, as all regions are */
	mem_free(from);
	mem_free(to);
	return rc < 0 ? -1 : i == s->n_sites && bytes < limit && !beyond;
}

/* Is the move to be taken apart, if that leaves less? */
static int is_large(struct cost *c, const uint8_t *a, const uint8_t *b, const struct regions *r, struct err *err)
{
	bool instead;

	if (count_sites(c->space, a, b) < 2)
		return 0;
	if (r->beyond)
		return 1;
	if (cost_asks_instead(c, r, &instead, err) < 0)
		return -1;
	return !instead && bytes_of(r) >= LARGE && !whole_among(r);
}

/* Cuts the regions of a move out of the program, if they have at most so many bytes; 0: however many they have. */
static int cut_out(struct cost *c, const uint8_t *a, const uint8_t *b, size_t affordable, struct regions *out,
	struct err *err)
{
	struct regions steps = {0};
	size_t limit;
	double most;
	int rc;

	out->most = (size_t)(WRITTEN * (double)affordable);
	if (c->space->ops->region(c->space, a, b, out, err) < 0 || (rc = is_large(c, a, b, out, err)) < 0)
		return -1;
	if (rc == 0)
		return 0;
	limit = out->beyond ? affordable : (size_t)(WORTH_IT * (double)bytes_of(out));
	most = (out->beyond ? WRITTEN : LONGEST / WORTH_IT) * (double)limit;
	rc = cost_path(c->space, a, b, limit, most, &steps, err);
	if (rc == 1) {
		struct regions whole = *out;
		*out = steps;
		steps = whole;
	}
	regions_release(&steps);
	return rc < 0 ? -1 : 0;
}

int cost_regions(struct cost *c, const uint8_t *a, const uint8_t *b, size_t affordable, struct regions *out,
	struct err *err)
{
	uint64_t from = config_hash(c->space, a), to = config_hash(c->space, b);

	if (cuttings_get(&c->cuttings, from, to, out))
		return 0;
	if (cut_out(c, a, b, affordable, out, err) < 0)
		return -1;
	if (!out->beyond)
		cuttings_put(&c->cuttings, from, to, out);
	return 0;
}
