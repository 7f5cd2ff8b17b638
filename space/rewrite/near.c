/*
 * near.c - places that look through the same node.
 *
 * A concatenation may have several readers: a product of the forward pass, and the two of its gradients. If one of them
 * is rewritten so that it reads the parts, the concatenation is still computed for the others, and little is saved.
 * Only if all are rewritten is it gone. So these places are cut out together (cut.c), or the price of the last one
 * would leave out what it saves; and a search may try them together (space_ops.together).
 */
#include <stdlib.h>
#include <string.h>
#include "space/rewrite/own.h"

#define SHARED_MOST 32 /* a node that more places look through is nothing that could go */

struct through { /* a site looks through a node */
	uint32_t node, site;
};

static int by_node(const void *a, const void *b)
{
	const struct through *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static int by_site(const void *a, const void *b)
{
	const struct through *x = a, *y = b; /* `node` is a site here */

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Lists the nodes that the offers of all sites look through, by node. */
static struct through *list_through(const struct space *s, size_t *n)
{
	struct through *t = NULL;
	size_t cap = 0;
	struct found f;

	*n = 0;
	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint8_t k = 1; k < s->site[i].choices; k++) {
			const struct offer *o = rewrite_offer(s, i, k);
			if (o->leader != NONE)
				continue; /* what is joined has a place of its own */
			rewrite_found(s, i, o, &f);
			for (uint32_t j = 0; j < f.n_inside; j++) {
				MEM_GROW(&t, &cap, *n + 1);
				t[(*n)++] = (struct through){f.inside[j], i};
			}
		}
	if (*n)
		qsort(t, *n, sizeof *t, by_node);
	return t;
}

/* Lists all pairs of sites of one node. */
static void add_pairs(const struct through *t, size_t n, struct through **pair, size_t *n_pairs, size_t *cap)
{
	for (size_t i = 0; i < n && t[n - 1].site != t[0].site && n <= (size_t)SHARED_MOST * RULE_VARIANTS; i++)
		for (size_t k = 0; k < n; k++) {
			if (t[i].site == t[k].site)
				continue;
			MEM_GROW(pair, cap, *n_pairs + 1);
			(*pair)[(*n_pairs)++] = (struct through){t[k].site, t[i].site};
		}
}

void near_open(struct space *s)
{
	struct rewrite *w = rewrite_of(s);
	struct through *pair = NULL;
	size_t n, n_pairs = 0, cap = 0, at = 0;
	struct through *t = list_through(s, &n);

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && t[end].node == t[i].node;)
			end++;
		add_pairs(t + i, end - i, &pair, &n_pairs, &cap);
	}
	if (n_pairs)
		qsort(pair, n_pairs, sizeof *pair, by_site);
	w->near_first = ARENA_NEW(&s->mem, s->n_sites + 1, uint32_t);
	w->near = ARENA_NEW(&s->mem, n_pairs + 1, uint32_t);
	for (uint32_t i = 0, kept = 0; i < s->n_sites; i++) {
		for (w->near_first[i] = kept; at < n_pairs && pair[at].site == i; at++)
			if (kept == w->near_first[i] || w->near[kept - 1] != pair[at].node)
				w->near[kept++] = pair[at].node;
		w->near_first[i + 1] = kept;
	}
	mem_free(pair);
	mem_free(t);
}

static bool looks_through_one_of(const struct found *f, const struct found *of)
{
	for (uint32_t i = 0; i < f->n_inside; i++)
		for (uint32_t k = 0; k < of->n_inside; k++)
			if (f->inside[i] == of->inside[k])
				return true;
	return false;
}

/* The choice of a site that looks through what `of` does and promises most; 0: none. */
static uint8_t sharing_choice(struct space *s, uint32_t site, const struct found *of)
{
	struct found f;
	uint8_t best = 0;

	for (uint8_t k = 1; k < s->site[site].choices; k++) {
		const struct offer *o = rewrite_offer(s, site, k);
		if (o->leader != NONE)
			continue;
		rewrite_found(s, site, o, &f);
		if (looks_through_one_of(&f, of) && (!best || o->promise > rewrite_offer(s, site, best)->promise))
			best = k;
	}
	return best;
}

uint32_t near_together(struct space *s, const uint8_t *config, uint32_t site, uint8_t choice, uint32_t *sites,
	uint8_t *choices, uint32_t most)
{
	const struct rewrite *w = rewrite_of(s);
	const struct offer *o = rewrite_offer(s, site, choice);
	struct found f;
	uint32_t n = 0;

	if (!o || o->leader != NONE)
		return 0;
	rewrite_found(s, site, o, &f);
	for (uint32_t k = w->near_first[site]; k < w->near_first[site + 1] && n < most; k++) {
		uint8_t best = config[w->near[k]] ? 0 : sharing_choice(s, w->near[k], &f);
		if (!best)
			continue;
		sites[n] = w->near[k];
		choices[n++] = best;
	}
	return n;
}
