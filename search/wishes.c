/*
 * wishes.c - what candidates need that were foreseen, in the order in which it is worth making.
 *
 * A region stands where its candidate does. Whether it will be measured again, with executables of its own, is a matter
 * of chance, and what is needed with a chance of one half stands eight times as far back. So where helpers are few,
 * they make what is surely needed; where there are more than that keeps busy, nobody waits for the second measurement.
 * (Twice or four times as far back was worse, with 16 helpers and with 64: what is surely needed, however late, is not
 * made in vain.)
 */
#include <stdlib.h>
#include "search/foresight.h"

static bool same(const uint64_t a[2], const uint64_t b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

static void add(struct wishes *w, const struct wish *new)
{
	for (size_t i = 0; i < w->n; i++) {
		struct wish *x = &w->v[i];
		if (x->spare != new->spare || !same(x->price, new->price))
			continue;
		x->at = new->at < x->at ? new->at : x->at;
		return;
	}
	MEM_GROW(&w->v, &w->cap, w->n + 1);
	w->v[w->n++] = *new;
}

void wishes_add(struct wishes *w, const struct hunt *h, size_t of, uint32_t at, double again)
{
	const struct agenda *needs = &h->foresight->v[of].needs;

	for (size_t i = 0; i < needs->n; i++) {
		const struct agenda_item *item = &needs->v[i];
		struct wish x = {.price = {item->price[0], item->price[1]}, .of = of, .from = i, .at = at + 1.0};
		if (i > 0 && same(item[-1].price, item->price))
			continue;
		add(w, &x);
		if (again <= 0 || item->pair)
			continue; /* its modules are not compiled by themselves */
		x.spare = true;
		x.at /= again * again * again;
		add(w, &x);
	}
}

static int by_urgency(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->spare != y->spare)
		return x->spare ? 1 : -1;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Hands the items of one region over; or of its modules, so many copies more. */
static void plan(struct agenda *needs, const struct wish *x, uint32_t copies, struct agenda *out)
{
	if (needs->measure)
		out->measure = needs->measure;
	for (size_t i = x->from; i < needs->n && same(needs->v[i].price, x->price); i++) {
		struct agenda_item *item = &needs->v[i];
		if (x->spare && item->pair)
			continue;
		agenda_add_known(out, item->key, copies);
		out->v[out->n - 1].spare = x->spare;
		if (x->spare)
			continue;
		out->v[out->n - 1] = *item;
		item->of.module[0] = item->of.module[1] = (struct buf){0};
	}
}

/* Is it among the first items of the plan, or priced by now? */
static bool in_vain(struct hunt *h, const struct agenda *out, size_t n, const struct wish *x)
{
	double ignored = 0;

	for (size_t i = 0; i < n; i++)
		if (same(out->v[i].price, x->price))
			return true;
	return !x->spare && cost_known(h->lab->cost, x->price, &ignored);
}

void wishes_plan(struct wishes *w, struct hunt *h, struct agenda *out)
{
	uint32_t copies = odds_times(h);
	size_t had = out->n;

	if (w->n)
		qsort(w->v, w->n, sizeof *w->v, by_urgency);
	for (size_t i = 0; i < w->n; i++)
		if (!in_vain(h, out, had, &w->v[i]))
			plan(&h->foresight->v[w->v[i].of].needs, &w->v[i], copies, out);
}

void wishes_release(struct wishes *w)
{
	mem_free(w->v);
	*w = (struct wishes){0};
}
