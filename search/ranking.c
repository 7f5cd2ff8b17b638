/*
 * ranking.c - in which order schemes are tried.
 *
 * A kind draws its schemes in an order of its own, which is the same for every program. A model that can rate moves
 * (guide_rate) knows better: all schemes are drawn once from the present configuration and rated, and the best comes
 * first. That takes far less than one price. The ranking holds until the configuration changes.
 *
 * A model is wrong about some programs, and has never seen what some schemes do; then its order is worse than none. So
 * one scheme in HEDGE, from the second on, is the next in the kind's own order, whatever the model says of it: a search
 * loses little where the model is right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "search/hunt.h"

#define HEDGE 4

struct rank {
	float gain;
	uint32_t scheme;
};

struct ranking {
	uint64_t hash; /* of the configuration that it holds for */
	struct rank *rank;
	size_t n, cap;
	uint32_t next; /* of the kind's own order */
};

static int by_gain(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain < y->gain ? 1 : -1;
	return (x->scheme > y->scheme) - (x->scheme < y->scheme);
}

static void rank_all(struct hunt *h)
{
	struct ranking *r = h->ranking;

	r->hash = h->hash;
	r->n = 0;
	r->next = 0;
	for (uint32_t k = 0; h->s->ops->scheme(h->s, h->config, k, h->drawn); k++) {
		if (memcmp(h->drawn, h->config, h->s->n_sites) == 0)
			continue;
		MEM_GROW(&r->rank, &r->cap, r->n + 1);
		r->rank[r->n++] = (struct rank){guide_rate(h->guide, h->config, h->drawn), k};
	}
	if (r->n)
		qsort(r->rank, r->n, sizeof *r->rank, by_gain);
}

/* Makes the ranking that holds for the present configuration. */
static void rank(struct hunt *h)
{
	if (h->ranking && h->ranking->hash == h->hash)
		return;
	if (!h->ranking)
		h->ranking = MEM_NEW(1, struct ranking);
	rank_all(h);
}

bool hunt_hedges(struct hunt *h)
{
	return guide_rates(h->guide) && h->schemes++ % HEDGE == 1;
}

bool hunt_draw_next(struct hunt *h)
{
	rank(h);
	return h->s->ops->scheme(h->s, h->config, h->ranking->next++, h->drawn);
}

bool hunt_draw_scheme(struct hunt *h, uint32_t k, float *gain)
{
	*gain = INFINITY;
	if (!guide_rates(h->guide))
		return h->s->ops->scheme(h->s, h->config, k, h->drawn);
	rank(h);
	if (k >= h->ranking->n)
		return false;
	*gain = h->ranking->rank[k].gain;
	return h->s->ops->scheme(h->s, h->config, h->ranking->rank[k].scheme, h->drawn);
}

void hunt_forget_ranking(struct hunt *h)
{
	if (h->ranking)
		mem_free(h->ranking->rank);
	mem_free(h->ranking);
	h->ranking = NULL;
}
