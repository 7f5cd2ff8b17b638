/*
 * trust.c - see the header. Which of several rules is at fault a check does not say, so all are that had a large part
 * in what was promised, by their number of places or by the steps that took them.
 */
#include "search/trust.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/talk.h"
#include "search/ruled.h"

#define LARGE 0.25
#define TELLS 0.3 /* of what was promised: a check that is off by more says nothing of the rules */

struct trusted {
	uint32_t rule;
	double share; /* of its promises, that counts */
};
struct blame {
	struct ruled *rule; /* with a large part */
	size_t n;
	uint8_t *was;	    /* the configuration */
	double share;	    /* of what was promised, that was kept */
};

struct blame *trust_blame(const struct hunt *h, const struct estimate *whole, double promised)
{
	double kept = h->sure_cost.value - whole->value, explained = h->sure_cost.value - h->running.value;
	double all_change = 0;
	uint32_t all_places = 0;
	struct blame *b;
	size_t n;

	if (!h->s->ops->rule || whole->se > TELLS * promised || kept >= (kept > 0 ? explained : promised))
		return NULL;
	b = MEM_NEW(1, struct blame);
	*b = (struct blame){.was = mem_alloc(h->s->n_sites + 1), .share = kept > 0 ? kept / explained : 0};
	memcpy(b->was, h->config, h->s->n_sites);
	b->rule = ruled_list(h, h->sure, &n);
	for (size_t i = 0; i < n; i++) {
		all_places += b->rule[i].places;
		all_change += fmin(b->rule[i].change, 0);
	}
	for (size_t i = 0; i < n; i++)
		if (b->rule[i].places >= LARGE * all_places || b->rule[i].change <= LARGE * all_change)
			b->rule[b->n++] = b->rule[i];
	return b;
}

static struct trusted *find(const struct hunt *h, uint32_t rule)
{
	for (size_t i = 0; i < h->n_trusted; i++)
		if (h->trusted[i].rule == rule)
			return &h->trusted[i];
	return NULL;
}

/* Does any of what followed the rule not stand now? */
static bool was_dropped(const struct hunt *h, const struct blame *b, uint32_t rule)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		if (b->was[i] && b->was[i] != h->sure[i] && h->s->ops->rule(h->s, i, b->was[i]) == rule)
			return true;
	return false;
}

static void lessen(struct hunt *h, uint32_t rule, double share)
{
	struct trusted *t = find(h, rule);

	if (!t) {
		MEM_GROW(&h->trusted, &h->cap_trusted, h->n_trusted + 1);
		t = &h->trusted[h->n_trusted++];
		*t = (struct trusted){rule, 1};
	}
	t->share *= share;
}

void trust_less(struct hunt *h, struct blame *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n; i++)
		if (was_dropped(h, b, b->rule[i].rule))
			lessen(h, b->rule[i].rule, b->share);
	mem_free(b->rule);
	mem_free(b->was);
	mem_free(b);
}

void trust_discount(const struct hunt *h, struct delta *d)
{
	double share = 0, less;

	if (!h->n_trusted || d->outcome != OUTCOME_OK || d->seconds >= 0 || !h->n_flips)
		return;
	for (uint32_t k = 0; k < h->n_flips; k++) {
		uint32_t site = h->flips[k];
		uint8_t choice = h->candidate[site];
		struct trusted *t = choice ? find(h, h->s->ops->rule(h->s, site, choice)) : NULL;
		share += t ? t->share : 1;
	}
	less = (1 - share / h->n_flips) * d->seconds;
	d->seconds -= less;
	d->added -= less; /* a store gets what was measured */
}

void trust_save(const struct hunt *h, struct buf *out)
{
	buf_u32(out, (uint32_t)h->n_trusted);
	for (size_t i = 0; i < h->n_trusted; i++) {
		buf_u32(out, h->trusted[i].rule);
		buf_f64(out, h->trusted[i].share);
	}
}

void trust_load(struct hunt *h, struct cursor *in)
{
	h->n_trusted = cursor_count(in, FIELD_SIZE_u32 + FIELD_SIZE_f64);
	MEM_GROW(&h->trusted, &h->cap_trusted, h->n_trusted);
	for (size_t i = 0; i < h->n_trusted; i++) {
		h->trusted[i].rule = cursor_u32(in);
		h->trusted[i].share = cursor_f64(in);
	}
}
