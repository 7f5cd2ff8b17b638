/*
 * early.c - candidates that helpers measured and the hunt did not come to.
 *
 * Helpers work ahead of events, and events often come otherwise: a step is kept, the guide scores everything anew, and
 * other candidates are next. In a search that kept half of its steps, a third of what its helper measured was not
 * asked for. Some of those figures still hold, because nothing changed near them. They cost nothing now, and their
 * candidates promised most a moment ago. So while the next candidate would have to be waited for, such a one is tried
 * in its place. What was next comes after it.
 *
 * Where costs are exact no candidate changes its place, so a search finds the same with helpers and without.
 */
#include "base/hash.h"
#include "search/foresight.h"

#define KEPT 128 /* candidates that were foreseen once */

void foreseen_release(struct foreseen *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		agenda_release(&v[i].needs);
		mem_free(v[i].flip);
	}
	mem_free(v);
}

/* Of the candidate's flips, and of the choices that decide what they change. */
uint64_t foreseen_tag(const struct hunt *h)
{
	uint32_t *node = NULL;
	size_t n = 0, cap = 0;
	uint64_t tag = h->n_flips;

	for (uint32_t i = 0; i < h->n_flips; i++)
		tag ^= hash_mix(h->flips[i], h->candidate[h->flips[i]]);
	h->s->ops->touched(h->s, h->config, h->candidate, h->flips, h->n_flips, &node, &n, &cap);
	for (size_t i = 0; i < n; i++) {
		uint32_t site = h->s->site_of[node[i]];
		tag = hash_mix(tag, (uint64_t)node[i] << 8 | (site == NONE ? 0 : h->config[site]));
	}
	mem_free(node);
	return tag;
}

/* Has each of its regions been measured, or is it being measured? */
static bool is_ahead(const struct hunt *h, const struct agenda *needs)
{
	size_t pairs = 0;
	double ignored;

	for (size_t i = 0; i < needs->n; i++) {
		const struct agenda_item *x = &needs->v[i];
		if (!x->pair)
			continue;
		if (!device_is_ahead(h->lab->device, x->key) && !cost_known(h->lab->cost, x->price, &ignored))
			return false;
		pairs++;
	}
	return pairs > 0;
}

void foresight_keep(struct hunt *h, struct foreseen *before, size_t n)
{
	struct foresight *f = h->foresight;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct foreseen *x = &before[i];
		if (kept == KEPT || !is_ahead(h, &x->needs))
			continue;
		MEM_GROW(&f->v, &f->cap, f->all + 1);
		f->v[f->all++] = *x;
		*x = (struct foreseen){0};
		kept++;
	}
	foreseen_release(before, n);
}

/* Have helpers measured all that is not known of it, and some of it is not? */
static bool measured(const struct hunt *h, const struct foreseen *x)
{
	return odds_of(h, &x->needs).se > 0;
}

/* Will the present candidate have to be waited for? */
static bool to_be_awaited(const struct hunt *h)
{
	uint64_t tag = foreseen_tag(h);

	for (size_t i = 0; i < h->foresight->all; i++)
		if (h->foresight->v[i].tag == tag)
			return !measured(h, &h->foresight->v[i]);
	return true;
}

bool foreseen_take(struct hunt *h, const struct foreseen *x)
{
	if (!x->n_flips || !measured(h, x))
		return false;
	for (uint32_t i = 0; i < x->n_flips; i++)
		if (h->config[x->flip[i].site] == x->flip[i].choice)
			return false;
	hunt_take(h, x->flip, x->n_flips);
	if (foreseen_tag(h) == x->tag)
		return true;
	hunt_undo(h);
	return false;
}

bool hunt_takes_early(const struct hunt *h)
{
	return h->o.strategy == STRATEGY_GUIDED && !cost_exact(h->lab->cost);
}

bool hunt_take_early(struct hunt *h)
{
	struct foresight *f = h->foresight;
	uint32_t n = h->n_flips;
	struct flip *next;
	bool found = false;

	if (!f || !hunt_takes_early(h) || !hunt_is_flip(h) || !to_be_awaited(h))
		return false;
	next = hunt_flips(h);
	for (size_t i = 0; i < f->all && !found; i++)
		found = (i < f->early || i >= f->n) && foreseen_take(h, &f->v[i]);
	if (!found)
		hunt_take(h, next, n);
	mem_free(next);
	return found;
}
