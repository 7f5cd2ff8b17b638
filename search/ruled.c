/* ruled.c - see the header. The steps of the hunt say what each rule is believed to gain. */
#include "search/ruled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t rule_of(const struct hunt *h, uint32_t site, uint8_t choice)
{
	return choice ? h->s->ops->rule(h->s, site, choice) : 0;
}

static struct ruled *of_rule(struct ruled *v, size_t n, uint32_t rule)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].rule == rule)
			return &v[i];
	return NULL;
}

static int by_change(const void *a, const void *b)
{
	const struct ruled *x = a, *y = b;

	if (x->change != y->change)
		return x->change < y->change ? 1 : -1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

struct ruled *ruled_list(const struct hunt *h, const uint8_t *before, size_t *n)
{
	struct ruled *v = NULL;
	size_t cap = 0;

	*n = 0;
	for (uint32_t i = 0; i < h->s->n_sites; i++) {
		uint32_t rule = rule_of(h, i, h->config[i]);
		struct ruled *r = of_rule(v, *n, rule);
		if (rule == 0 || h->config[i] == before[i])
			continue;
		if (!r) {
			MEM_GROW(&v, &cap, *n + 1);
			r = &v[(*n)++];
			*r = (struct ruled){.rule = rule, .site = i};
		}
		r->places++;
	}
	for (size_t k = 0; k < h->n_steps; k++) {
		const struct hunt_step *s = &h->steps[k];
		struct ruled *r = of_rule(v, *n, rule_of(h, s->site, s->to ? s->to : s->from));
		if (r)
			r->change += s->delta;
	}
	if (*n)
		qsort(v, *n, sizeof *v, by_change);
	return v;
}

void ruled_without(const struct hunt *h, uint32_t rule, const uint8_t *of, const uint8_t *before, uint8_t *out)
{
	memmove(out, of, h->s->n_sites);
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		if (rule_of(h, i, of[i]) == rule)
			out[i] = before[i];
}

void ruled_name(const struct hunt *h, const struct ruled *r, char *name, size_t room)
{
	struct buf words = {0};

	if (h->s->ops->words)
		h->s->ops->words(h->s, r->site, h->config[r->site], &words);
	snprintf(name, room, "%.*s", (int)strcspn(words.len ? words.data : "", ":"), words.len ? words.data : "");
	buf_release(&words);
}
