/*
 * cuttings.c - keeps the regions of moves that were cut out lately.
 *
 * A search asks several times for the same regions: what pricing a candidate will take, what to compile ahead for it,
 * what it costs, and what it costs once more. To cut a region out of a large program and to write it down takes up to
 * seconds, to copy its bytes a thousandth of that. So the last ones are kept, up to a limit of memory; those wanted
 * longest ago make room.
 */
#include "cost/cuttings.h"

#include "base/mem.h"

#define MOST ((size_t)96 << 20) /* bytes of all, */
#define LARGEST (MOST / 4)	/* ... and of one move */

static size_t bytes_of(const struct regions *r)
{
	size_t bytes = 0;

	for (size_t i = 0; i < r->n; i++)
		bytes += sizeof *r->v + r->v[i].a.len + r->v[i].b.len;
	return bytes;
}

static void add_copies(struct regions *to, const struct regions *from)
{
	MEM_GROW(&to->v, &to->cap, to->n + from->n);
	for (size_t i = 0; i < from->n; i++) {
		struct region *r = &to->v[to->n++];
		*r = from->v[i];
		r->a = r->b = (struct buf){0};
		buf_add(&r->a, from->v[i].a.data, from->v[i].a.len);
		buf_add(&r->b, from->v[i].b.data, from->v[i].b.len);
	}
}

bool cuttings_get(struct cuttings *c, uint64_t from, uint64_t to, struct regions *out)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].from == from && c->v[i].to == to) {
			c->v[i].used = ++c->clock;
			add_copies(out, &c->v[i].regions);
			return true;
		}
	return false;
}

/* Removes what was wanted longest ago. */
static void forget_one(struct cuttings *c)
{
	size_t oldest = 0;

	for (size_t i = 1; i < c->n; i++)
		if (c->v[i].used < c->v[oldest].used)
			oldest = i;
	c->bytes -= c->v[oldest].bytes;
	regions_release(&c->v[oldest].regions);
	c->v[oldest] = c->v[--c->n];
}

void cuttings_put(struct cuttings *c, uint64_t from, uint64_t to, const struct regions *r)
{
	struct cutting new = {.from = from, .to = to, .used = ++c->clock, .bytes = bytes_of(r)};

	if (new.bytes > LARGEST)
		return;
	while (c->n == CUTTINGS || (c->n && c->bytes + new.bytes > MOST))
		forget_one(c);
	add_copies(&new.regions, r);
	c->bytes += new.bytes;
	c->v[c->n++] = new;
}

void cuttings_release(struct cuttings *c)
{
	while (c->n)
		forget_one(c);
}
