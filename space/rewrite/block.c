/*
 * block.c - blocks: many places rewritten at once, by one rule or as a model says, priced by whole programs.
 *
 * Some gains show in no region. A concatenation that all readers do without is gone from the program; what a product of
 * matrices gains, the elementwise chain behind it may lose. Whole programs tell the truth, but a pair of them takes
 * half a minute to price, and places are many. So they are tested in blocks. First comes all that a rule can do with
 * one of its variants; then the more and the less promising half of it; then quarters. A block that does not stand is
 * rewritten, and one that stands is taken back: so what gained as a whole is rid of the half that lost, and of what
 * lost as a whole the half that gains is found.
 *
 * If a model said what each choice should save (rewrite_believe), the very first block is everything that it expects
 * to gain, by whatever rule. (Of a BERT in bfloat16 that one step took the 92% that a search of 30 s found.) The others
 * follow as it hopes and as the rules promise, by turns.
 *
 * A move of places of at least BLOCK_CLASSES classes by one variant, or of MIXED_CLASSES by several, is priced by the
 * two whole programs (region.c), whatever price the rules themselves ask for. Where there are fewer classes there are
 * no blocks, for a search soon has tried them all.
 *
 * A smaller part of a block is priced as its rule says, until the first block by this variant was taken. From then on
 * all its moves are priced by whole programs. Else the two ways of pricing play into each other's hands: in a WaveNet
 * all products merged took 5% less time by whole programs, and by regions each was better left alone, so a search took
 * the block, took its parts back, took the block again, and believed in 200% less time.
 */
#include <stdlib.h>
#include <string.h>
#include "space/rewrite/own.h"

#define BLOCK_CLASSES 4
#define MIXED_CLASSES 8 /* the same of a move by several rules */
#define LEVELS 3 /* all, halves, quarters */

struct member {
	uint32_t site;
	uint8_t choice;
	float hope, promise;
};

static int by_promise(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->promise != y->promise)
		return x->promise < y->promise ? 1 : -1;
	return x->rule != y->rule ? (x->rule > y->rule) - (x->rule < y->rule) : x->variant - y->variant;
}

static int by_hope(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->hope != y->hope)
		return x->hope < y->hope ? 1 : -1;
	return !x->variant != !y->variant ? (x->variant ? 1 : -1) : by_promise(a, b);
}

static int members_by_hope(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->hope != y->hope)
		return x->hope < y->hope ? 1 : -1;
	if (x->promise != y->promise)
		return x->promise < y->promise ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

/* Returns the first choice of the site that is this variant of this rule; 0: none. */
static uint8_t choice_of(const struct space *s, uint32_t site, uint16_t rule, uint8_t variant)
{
	for (uint8_t k = 1; k < s->site[site].choices; k++) {
		const struct offer *o = rewrite_offer(s, site, k);
		if (o->rule == rule && o->variant == variant)
			return k;
	}
	return 0;
}

/* Returns the choice of the site from which a model expects most; 0: none gains. */
static uint8_t best_of(const struct space *s, uint32_t site)
{
	uint8_t best = 0;

	for (uint8_t k = 1; k < s->site[site].choices; k++) {
		float hope = rewrite_offer(s, site, k)->belief;
		if (hope > (best ? rewrite_offer(s, site, best)->belief : 0))
			best = k;
	}
	return best;
}

/* Lists the places of a family, most promising first; `out` has room for n_sites. */
static size_t list_members(const struct space *s, const struct family *f, struct member *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint8_t k = f->variant ? choice_of(s, i, f->rule, f->variant) : best_of(s, i);
		if (k)
			out[n++] = (struct member){i, k, rewrite_hope(s, rewrite_offer(s, i, k)),
				rewrite_offer(s, i, k)->promise};
	}
	if (n)
		qsort(out, n, sizeof *out, members_by_hope);
	return n;
}

/* Adds a family to the list if it makes blocks; `m` and `seen` are scratch. */
static void add_family(const struct space *s, struct family f, struct member *m, uint8_t *seen, struct family *v,
	uint32_t *n)
{
	size_t size = list_members(s, &f, m), classes = 0;

	memset(seen, 0, s->n_ties);
	for (size_t i = 0; i < size; i++) {
		classes += !seen[s->site[m[i].site].tie];
		seen[s->site[m[i].site].tie] = 1;
		f.hope += m[i].hope;
		f.promise += m[i].promise;
	}
	if (classes >= BLOCK_CLASSES)
		v[(*n)++] = f;
}

/* Moves to place i, of those from there on, the family that comes first in this order. */
static void bring_forward(struct family *v, uint32_t n, uint32_t i, int (*order)(const void *, const void *))
{
	struct family first;
	uint32_t at = i;

	for (uint32_t k = i + 1; k < n; k++)
		at = order(&v[k], &v[at]) < 0 ? k : at;
	first = v[at];
	memmove(&v[i + 1], &v[i], (at - i) * sizeof *v);
	v[i] = first;
}

/*
 * Lists the families that make blocks: by turns the one from which most is hoped and the one that promises most. For a
 * model may never have seen what a rule does. The list stays until blocks are asked for from the first on, for what is
 * hoped changes with every price.
 */
static void list_families(struct space *s)
{
	struct rewrite *w = rewrite_of(s);
	struct member *m = MEM_NEW(s->n_sites + 1, struct member);
	uint8_t *seen = MEM_NEW(s->n_ties + 1, uint8_t);
	uint32_t *n = &w->n_families;

	mem_free(w->family);
	w->family = MEM_NEW(w->rules.n * RULE_VARIANTS + 2, struct family);
	*n = 0;
	if (w->believes)
		add_family(s, (struct family){.variant = 0}, m, seen, w->family, n);
	for (uint16_t r = 0; r < w->rules.n; r++)
		for (uint8_t k = 1; k <= w->rules.rule[r].n_variants; k++)
			add_family(s, (struct family){.rule = r, .variant = k}, m, seen, w->family, n);
	for (uint32_t i = 0; i < *n; i++)
		bring_forward(w->family, *n, i, i % 2 ? by_promise : by_hope);
	mem_free(m);
	mem_free(seen);
}

bool rewrite_block(struct space *s, const uint8_t *config, uint32_t k, uint8_t *out)
{
	struct member *m = MEM_NEW(s->n_sites + 1, struct member);
	uint32_t n, level = 0;
	bool stands = true;

	if (k == 0 || !rewrite_of(s)->family)
		list_families(s);
	n = rewrite_of(s)->n_families;
	memcpy(out, config, s->n_sites);
	while (level < LEVELS && k >= n << level)
		k -= n << level++;
	if (level < LEVELS) {
		size_t parts = (size_t)1 << level, part = k % parts;
		size_t size = list_members(s, &rewrite_of(s)->family[k / parts], m);
		for (size_t i = size * part / parts; i < size * (part + 1) / parts; i++)
			stands &= config[m[i].site] == m[i].choice;
		for (size_t i = size * part / parts; i < size * (part + 1) / parts; i++)
			out[m[i].site] = stands ? 0 : m[i].choice;
	}
	mem_free(m);
	return level < LEVELS;
}

/* Of how many classes do places change, at most `most`? `one`: and do all follow one variant of a rule? */
static uint32_t changed_classes(const struct space *s, const uint8_t *a, const uint8_t *b, uint32_t most, bool *one)
{
	uint32_t tie[MIXED_CLASSES] = {0}, n = 0;
	const struct offer *first = NULL;

	*one = true;
	for (uint32_t i = 0; i < s->n_sites && n < most; i++) {
		const struct offer *o = a[i] == b[i] ? NULL : rewrite_offer(s, i, b[i] ? b[i] : a[i]);
		uint32_t k = 0;
		if (!o)
			continue;
		first = first ? first : o;
		*one &= o->rule == first->rule && o->variant == first->variant;
		while (k < n && tie[k] != s->site[i].tie)
			k++;
		if (k == n)
			tie[n++] = s->site[i].tie;
	}
	return n;
}

bool rewrite_is_block(const struct space *s, const uint8_t *a, const uint8_t *b)
{
	bool one;

	return changed_classes(s, a, b, MIXED_CLASSES, &one) == MIXED_CLASSES ||
	       (changed_classes(s, a, b, BLOCK_CLASSES, &one) == BLOCK_CLASSES && one);
}

/* Writes the configuration with what follows this variant alone. */
static void keep_family(const struct space *s, const uint8_t *config, const struct offer *own, uint8_t *out)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct offer *o = rewrite_offer(s, i, config[i]);
		out[i] = o && o->rule == own->rule && o->variant == own->variant ? config[i] : 0;
	}
}

static bool *told(const struct space *s, const struct offer *o)
{
	return &rewrite_of(s)->told[o->rule * RULE_VARIANTS + o->variant - 1];
}

bool rewrite_told_whole(const struct space *s, uint32_t site, uint8_t choice)
{
	const struct offer *o = rewrite_offer(s, site, choice);

	return o && (rewrite_rule(s, o)->whole || *told(s, o));
}

/* Marks all that the move changes. */
static void tell_all(const struct space *s, const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		for (int k = 0; k < 2; k++) {
			const struct offer *o = a[i] == b[i] ? NULL : rewrite_offer(s, i, k ? a[i] : b[i]);
			if (o)
				*told(s, o) = true;
		}
}

void rewrite_taken(struct space *s, const uint8_t *a, const uint8_t *b, bool at_once)
{
	const struct rules *rules = &rewrite_of(s)->rules;
	uint8_t *from = MEM_NEW(2 * s->n_sites + 1, uint8_t), *to = from + s->n_sites;

	if (at_once && rewrite_is_block(s, a, b))
		tell_all(s, a, b);
	for (uint16_t r = 0; r < rules->n; r++)
		for (uint8_t k = 1; k <= rules->rule[r].n_variants; k++) {
			const struct offer own = {.rule = r, .variant = k};
			keep_family(s, a, &own, from);
			keep_family(s, b, &own, to);
			if (rewrite_is_block(s, from, to))
				*told(s, &own) = true;
		}
	mem_free(from);
}

void rewrite_believe(struct space *s, uint32_t site, uint8_t choice, double saves)
{
	struct rewrite *w = rewrite_of(s);

	w->believes = true;
	if (choice)
		w->offer[w->first[site] + choice - 1].belief = (float)saves;
}
