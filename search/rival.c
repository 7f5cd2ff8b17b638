/*
 * rival.c - see rival.h.
 *
 * If an operator does not compile (operators.c), the choices that need it are not taken.
 */
#include "search/rival_own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"

static int price_choice(struct rival *r, uint32_t site, uint8_t choice, struct err *err)
{
	struct regions before = {0}, after = {0};
	double was = 0, is = 0;
	double times = r->s->graph->comp[r->s->graph->node[r->s->site[site].node].comp].trips;
	int rc = r->s->ops->operators(r->s, site, choice, &before, &after, err);

	if (rc == 0)
		rc = rival_add_up(r, &before, &was, err);
	if (rc == 0)
		rc = rival_add_up(r, &after, &is, err);
	r->delta[(size_t)site * r->s->stride + choice] = times * (is - was);
	regions_release(&before);
	regions_release(&after);
	return rc;
}

/* Prices every choice of every site. */
static int price_all(struct rival *r, struct err *err)
{
	uint32_t left = 0;
	int rc = 0;

	for (uint32_t i = 0; i < r->s->n_sites && rc == 0; i++)
		for (uint8_t k = 1; k < r->s->site[i].choices && rc == 0 && !stop_asked(); k++) {
			rc = price_choice(r, i, k, err);
			left += device_late(r->d);
		}
	if (left)
		talk("the time was over before all operators were measured: %u choices are not looked at", left);
	return rc;
}

static void push(struct rival *r, double cost, const uint8_t *config)
{
	size_t at;

	MEM_GROW(&r->heap, &r->cap, r->n + 1);
	at = r->n++;
	for (; at > 0 && r->heap[(at - 1) / 2].cost > cost; at = (at - 1) / 2)
		r->heap[at] = r->heap[(at - 1) / 2];
	r->heap[at] = (struct program){cost, mem_alloc(r->s->n_sites + 1)};
	memcpy(r->heap[at].config, config, r->s->n_sites);
}

static struct program pop(struct rival *r)
{
	struct program top = r->heap[0], last = r->heap[--r->n];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < r->n && r->heap[child + 1].cost < r->heap[child].cost)
			child++;
		if (child >= r->n || r->heap[child].cost >= last.cost)
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	if (r->n)
		r->heap[at] = last;
	return top;
}

/* Was a program with this hash met before? If not, notes it. */
static bool met(struct rival *r, uint64_t hash)
{
	size_t at;

	if (2 * (r->n_seen + 1) > r->cap_seen) {
		uint64_t *old = r->seen;
		size_t n = r->cap_seen;
		r->cap_seen = n ? 2 * n : 1024;
		r->seen = MEM_NEW(r->cap_seen, uint64_t);
		r->n_seen = 0;
		for (size_t i = 0; i < n; i++)
			if (old[i])
				met(r, old[i]);
		mem_free(old);
	}
	hash = hash ? hash : 1;
	for (at = hash & (r->cap_seen - 1); r->seen[at]; at = (at + 1) & (r->cap_seen - 1))
		if (r->seen[at] == hash)
			return true;
	r->seen[at] = hash;
	r->n_seen++;
	return false;
}

/* Puts all programs that are one more rewriting away into the queue. */
static void expand(struct rival *r, struct program *p, double total, double best)
{
	for (uint32_t i = 0; i < r->s->n_sites; i++)
		for (uint8_t k = 1; k < r->s->site[i].choices && p->config[i] == 0; k++) {
			double cost = p->cost + r->delta[(size_t)i * r->s->stride + k];
			bool near = total + cost < r->o->alpha * (total + best);
			p->config[i] = k;
			if (near && !met(r, config_hash(r->s, p->config)))
				push(r, cost, p->config);
			p->config[i] = 0;
		}
}

static void backtrack(struct rival *r, double total, uint8_t *config)
{
	push(r, 0, config);
	while (r->n && r->a->programs < r->o->budget && !stop_asked() && !device_late(r->d)) {
		struct program p = pop(r);
		r->a->programs++;
		if (p.cost < -r->a->believed) {
			r->a->believed = -p.cost;
			memcpy(config, p.config, r->s->n_sites);
		}
		expand(r, &p, total, -r->a->believed);
		mem_free(p.config);
	}
	while (r->n)
		mem_free(r->heap[--r->n].config);
}

/* Takes the best step while there is one. Sites do not affect each other's sums, so this is the best choice of each. */
static void greedy(struct rival *r, uint8_t *config)
{
	for (uint32_t i = 0; i < r->s->n_sites; i++) {
		double best = 0;
		for (uint8_t k = 1; k < r->s->site[i].choices; k++) {
			double delta = r->delta[(size_t)i * r->s->stride + k];
			r->a->programs++;
			if (!(delta < best))
				continue;
			best = delta;
			config[i] = k;
		}
		r->a->believed -= best;
	}
}

int rival_search(struct lab *lab, struct device *d, const struct rival_options *o, uint8_t *config,
	struct rival_answer *a, struct err *err)
{
	struct rival r = {.lab = lab, .s = lab->space, .d = d, .o = o, .a = a};
	char text[2][QUANTITY_TEXT];
	double total = 0;
	int rc;

	*a = (struct rival_answer){0};
	memset(config, 0, r.s->n_sites);
	if (!r.s->ops->operators || !d)
		return err_set(err, "decisions of the kind %s are not about operators that could be priced one by one",
			r.s->kind);
	r.delta = MEM_NEW((size_t)r.s->n_sites * r.s->stride + 1, double);
	rc = cost_default_seconds(lab->cost, &total, NULL, err);
	a->of = total;
	r.until = o->seconds > 0 ? now_seconds() + o->seconds : 0;
	device_until(d, r.until);
	if (rc == 0)
		rc = rival_weigh_nothing(&r, err);
	if (rc == 0)
		rc = o->extract ? rival_extract(&r, config, err) : price_all(&r, err);
	if (rc == 0 && !o->extract && o->alpha > 0)
		backtrack(&r, total, config);
	else if (rc == 0 && !o->extract)
		greedy(&r, config);
	if (rc == 0)
		talk("%u operators measured once each; %llu programs; by their sum the best %s %s less of %s",
			a->operators, (unsigned long long)a->programs, quantity_verb(lab->quantity),
			quantity_text(lab->quantity, a->believed, text[0]),
			quantity_text(lab->quantity, total, text[1]));
	device_until(d, 0);
	prices_release(&r.known);
	mem_free(r.delta);
	mem_free(r.heap);
	mem_free(r.seen);
	return rc;
}
