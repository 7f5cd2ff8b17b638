/*
 * schemes.c - lays all tensors out along one name (names.c), over the layouts that there are.
 *
 * Most layouts are good only with others: a layer of experts gains only if data and all weights are split at once, and
 * no single tensor gets there. What people do by hand is mostly said in a word: "the batch", "the heads", and "what is
 * left of the weights and moments, wherever it divides". A scheme is such a word for one axis of the mesh. There is one
 * for each name and axis and each of these ways:
 *
 *	afresh		the axis splits what has the name, and nothing else
 *	with-rest	the same, and it splits weights and moments that do not have the name at their largest dimension
 *	with-moments	the same, but weights that do not have the name stay whole
 *	over		what has the name changes to it, the axis splits all else as it did
 *	kept-over	the same, but only weights and moments change: what is computed and the data stay where they are
 *	beside		what has the name and is not split by the axis is split
 *	without		what the axis splits along the name is not split by it any more
 *
 * and three for each axis: all weights and moments that it does not split are split, or all such moments, or products
 * are left to the partitioner. All axes together count as an axis, too: they split one dimension. If two axes are
 * equally long and split the same of everything, only the first is tried.
 */
#include "space/shard/own.h"

#include <string.h>

#define NAMES_MOST 16 /* the heaviest; the others are left to single flips */

enum way { AFRESH, WITH_REST, WITH_MOMENTS, OVER, KEPT_OVER, BESIDE, WITHOUT, REST, MOMENTS, FREE };
#define WAYS_NAMED REST

/* The name of a dimension of a site. */
static uint32_t name_of(const struct space *s, uint32_t site, int dim)
{
	return dim >= 0 && dim < VIEW_RANK ? shard_of(s)->name[site * VIEW_RANK + (unsigned)dim] : NONE;
}

static struct layout layout_of(const struct space *s, const uint8_t *config, uint32_t site)
{
	struct layout l;

	shard_layout(s, site, config[site], &l);
	return l;
}

struct axes { /* of the mesh, that are used as one: from, to before */
	uint32_t from, to;
};

static void put(struct layout *l, struct axes x, int8_t dim)
{
	for (uint32_t a = x.from; a < x.to; a++)
		l->dim[a] = dim;
}

static bool is_split(const struct layout *l, struct axes x)
{
	for (uint32_t a = x.from; a < x.to; a++)
		if (l->dim[a] >= 0)
			return true;
	return false;
}

/* Makes axes split another dimension of a site; -1: none. A product of which nothing is split any more is left. */
static void turn(struct space *s, uint8_t *config, uint32_t site, struct axes x, int8_t dim)
{
	struct layout l = layout_of(s, config, site);

	if (dim < 0 && !is_split(&l, x))
		return;
	put(&l, x, dim);
	if (layout_parts(&shard_of(s)->mesh, &l) > 1 || shard_of(s)->place[site].written)
		shard_set(s, config, site, &l);
	else
		config[site] = 0;
}

/* Returns the first dimension of a site that has the name and that the axes can split besides the others; -1: none. */
static int8_t dim_named(const struct space *s, const uint8_t *config, uint32_t site, uint32_t name, struct axes x)
{
	struct layout l = layout_of(s, config, site);

	for (int8_t d = 0; d < VIEW_RANK; d++) {
		put(&l, x, d);
		if (name_of(s, site, d) == name &&
			layout_fits(&shard_of(s)->mesh, shape_of(s, s->site[site].node), &l))
			return d;
	}
	return -1;
}

/* Weights, moments, and what else is kept from one run to the next; not data. */
static bool is_kept(const struct space *s, uint32_t site)
{
	return shard_of(s)->place[site].parameter && shard_role(s, site) != FOR_DATA;
}

static void split_named(struct space *s, uint8_t *config, uint32_t name, struct axes x, enum way way)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct layout now = layout_of(s, config, i);
		int8_t dim = dim_named(s, config, i, name, x);
		if (way == WITHOUT && name_of(s, i, now.dim[x.from]) == name)
			turn(s, config, i, x, -1);
		else if (way == KEPT_OVER && !is_kept(s, i))
			continue;
		else if (way != WITHOUT && dim >= 0 && (way != BESIDE || !is_split(&now, x)))
			turn(s, config, i, x, dim);
	}
}

static void split_rest(struct space *s, uint8_t *config, struct axes x, bool weights)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct layout now = layout_of(s, config, i);
		enum role role = shard_role(s, i);
		if ((role == FOR_MOMENT || (weights && role == FOR_WEIGHT)) && !is_split(&now, x))
			shard_split_largest(s, config, i, x.from, x.to);
	}
}

/* Do two axes of one length split the same of everything? Then a scheme does with one what it does with the other. */
static bool is_alike(const struct space *s, const uint8_t *config, uint32_t a, uint32_t b)
{
	const struct mesh *m = &shard_of(s)->mesh;

	for (uint32_t i = 0; m->axis[a].size == m->axis[b].size && i < s->n_sites; i++) {
		struct layout l = layout_of(s, config, i);
		if (l.dim[a] != l.dim[b])
			return false;
	}
	return m->axis[a].size == m->axis[b].size;
}

/* Is there an earlier axis that would do the same? */
static bool is_repeated(const struct space *s, const uint8_t *config, struct axes x)
{
	for (uint32_t a = 0; a < x.from; a++)
		if (is_alike(s, config, a, x.from))
			return true;
	return false;
}

static void draw(struct space *s, uint8_t *config, enum way way, uint32_t name, struct axes x)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (way <= WITH_MOMENTS || (way == FREE && !shard_of(s)->place[i].parameter))
			turn(s, config, i, x, -1);
	if (way < WAYS_NAMED)
		split_named(s, config, name, x, way);
	if (way == WITH_REST || way == REST)
		split_rest(s, config, x, true);
	if (way == WITH_MOMENTS || way == MOMENTS)
		split_rest(s, config, x, false);
}

/*
 * In which order they are tried: first what uses all axes as one, which is half as many layouts as with two axes each
 * alone. Then each axis alone, beginning with what leaves the most as it is.
 */
static const struct stage {
	enum way way;
	bool each;
} stages[] = {{AFRESH, false}, {WITH_REST, false}, {REST, false}, {OVER, false}, {KEPT_OVER, false}, {BESIDE, false},
	{FREE, false}, {OVER, true}, {KEPT_OVER, true}, {BESIDE, true}, {REST, true}, {WITH_REST, true}, {AFRESH, true},
	{WITH_MOMENTS, false}, {WITH_MOMENTS, true}, {MOMENTS, false}, {MOMENTS, true}, {WITHOUT, false},
	{WITHOUT, true}, {FREE, true}};

bool shard_scheme(struct space *s, const uint8_t *config, uint32_t k, uint8_t *out)
{
	uint32_t axes = shard_of(s)->mesh.n, names = shard_of(s)->n_names;

	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
		uint32_t sets = !stages[i].each ? 1 : axes == 1 ? 0 : axes;
		uint32_t n = (stages[i].way >= WAYS_NAMED ? 1 : names < NAMES_MOST ? names : NAMES_MOST) * sets;
		struct axes x = {0, axes};
		if (k >= n) {
			k -= n;
			continue;
		}
		if (stages[i].each)
			x = (struct axes){k % sets, k % sets + 1};
		memcpy(out, config, s->n_sites);
		if (!is_repeated(s, config, x))
			draw(s, out, stages[i].way, k / sets, x);
		return true;
	}
	return false;
}
