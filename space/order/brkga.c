/*
 * brkga.c - a biased random-key genetic algorithm on orders. REGAL (strategy.h) builds on it and compares with it.
 *
 * A member of the population has a key in [0,1] for each step of the program; the list scheduler (list.h) makes orders
 * of the keys. In each generation the elite, the best members, stays as it is. Some members are replaced by mutants,
 * whose keys are random. All others are replaced by children: each key comes from an elite parent with a probability
 * above one half, else from the other parent. The first member of the first generation has the orders that the program
 * has. With a prior, most mutants come from it; the others keep what it does not foresee possible.
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "space/order/list.h"
#include "space/order/trial.h"

#define FORESEEN 0.9 /* the share of mutants that are drawn from the prior */

struct member {
	double *key;
	uint64_t bytes;
};

struct brkga {
	struct trial *t;
	const struct brkga_options *o;
	const struct prior *prior;
	uint32_t n; /* the number of keys of a member */
	struct member *now, *next;
};

static void judge(struct brkga *b, struct member *m)
{
	struct program *p = b->t->p;
	const double *key = m->key;

	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		if (program_line(p, c)->n)
			list_schedule(program_line(p, c), key, p->order[c]);
		key += program_line(p, c)->n;
	}
	m->bytes = trial_bytes(b->t);
}

static void draw(struct brkga *b, struct member *m)
{
	bool foreseen = b->prior && rng_unit(b->t->rng) < FORESEEN;

	if (foreseen)
		b->prior->draw(b->prior->with, b->t, m->key);
	for (uint32_t i = 0; i < b->n && !foreseen; i++)
		m->key[i] = rng_unit(b->t->rng);
	judge(b, m);
	if (foreseen)
		b->prior->told(b->prior->with, m->bytes);
}

static void cross(struct brkga *b, struct member *m)
{
	const double *elite = b->now[rng_below(b->t->rng, b->o->elite)].key;
	const double *other = b->now[b->o->elite + rng_below(b->t->rng, b->o->members - b->o->elite)].key;

	for (uint32_t i = 0; i < b->n; i++)
		m->key[i] = rng_unit(b->t->rng) < b->o->bias ? elite[i] : other[i];
	judge(b, m);
}

static void begin(struct brkga *b)
{
	struct program *p = b->t->p;
	double *key = b->now[0].key;
	uint32_t first = !b->o->from_nothing;

	program_copy_orders(p, p->order, b->t->best);
	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		uint32_t n = program_line(p, c)->n;
		for (uint32_t i = 0; i < n; i++)
			key[p->order[c][i]] = (double)i / n;
		key += n;
	}
	if (first)
		judge(b, &b->now[0]);
	for (uint32_t i = first; i < b->o->members && trial_more(b->t); i++)
		draw(b, &b->now[i]);
}

static int by_bytes(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Makes the next generation. The elite moves over unchanged; all other members are made anew. */
static void step(struct brkga *b)
{
	for (uint32_t i = 0; i < b->o->elite; i++) {
		struct member m = b->next[i];
		b->next[i] = b->now[i];
		b->now[i] = m;
		memcpy(m.key, b->next[i].key, b->n * sizeof *m.key);
	}
	for (uint32_t i = b->o->elite; i < b->o->members && trial_more(b->t); i++) {
		if (i < b->o->members - b->o->mutants)
			cross(b, &b->next[i]);
		else
			draw(b, &b->next[i]);
	}
	for (uint32_t i = 0; i < b->o->members; i++) {
		struct member m = b->now[i];
		b->now[i] = b->next[i];
		b->next[i] = m;
	}
}

void brkga_with(struct trial *t, const struct brkga_options *o, const struct prior *prior)
{
	struct brkga b = {.t = t, .o = o, .prior = prior, .now = MEM_NEW(o->members, struct member),
		.next = MEM_NEW(o->members, struct member)};

	for (uint32_t c = 0; c < t->p->graph->n_comps; c++)
		b.n += program_line(t->p, c)->n;
	for (uint32_t i = 0; i < o->members; i++) {
		b.now[i] = (struct member){MEM_NEW(b.n, double), UINT64_MAX};
		b.next[i] = (struct member){MEM_NEW(b.n, double), UINT64_MAX};
	}
	begin(&b);
	while (trial_more(t)) {
		qsort(b.now, o->members, sizeof *b.now, by_bytes);
		step(&b);
	}
	for (uint32_t i = 0; i < o->members; i++) {
		mem_free(b.now[i].key);
		mem_free(b.next[i].key);
	}
	mem_free(b.now);
	mem_free(b.next);
}

void brkga_run(struct trial *t)
{
	brkga_with(t, &(struct brkga_options)BRKGA_DEFAULTS, NULL);
}
