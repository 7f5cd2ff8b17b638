/*
 * breed.c - a biased random-key genetic algorithm, as a strategy of a hunt: brkga.
 *
 * REGAL ("Transfer Learning For Fast Optimization of Computation Graphs") searches placements and orders with it. A
 * member of the population is a configuration. (A key between 0 and 1 for each site says its choice and nothing else,
 * so a member may as well have the choices.) In each generation the elite, the best members, stays as it is. The last
 * few are drawn at random. All others are children: each choice comes from an elite parent with probability BIAS, else
 * from another parent. Sites of a class have one key if the hunt ties them. The first member is where the hunt begins,
 * and all others of the first generation are drawn.
 *
 * A hunt asks for one candidate after the other and prices each against its configuration. So a generation is under way
 * from candidate to candidate: hunt_breed makes the next member, hunt_bred tells what it costs. A member that is never
 * priced, because its time was over or it broke a limit, is the worst there is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "search/hunt.h"

#define GENERATIONS 12 /* by the budget, so many fit */
#define LEAST 10
#define MOST 100
#define ELITE 0.2 /* shares of a generation */
#define DRAWN 0.15
#define BIAS 0.7

struct member {
	uint8_t *config; /* n_sites */
	double cost;	 /* relative to the default; INFINITY: none */
};

struct breed {
	uint32_t n;
	bool grown;		   /* is there a generation before this one? */
	uint32_t at;		   /* how many members of the next one are made */
	bool asked;		   /* the last of them is being priced */
	struct member *now, *next; /* the first is sorted, the best first */
	double *key;		   /* per class or site: what decides this member */
};

static struct breed *breed_new(const struct hunt *h)
{
	struct breed *b = MEM_NEW(1, struct breed);
	double n = (double)h->o.budget / GENERATIONS;

	b->n = (uint32_t)fmin(fmax(n, LEAST), MOST);
	b->now = MEM_NEW(b->n, struct member);
	b->next = MEM_NEW(b->n, struct member);
	b->key = MEM_NEW(h->s->n_sites + h->s->n_ties + 1, double);
	for (uint32_t i = 0; i < b->n; i++) {
		b->now[i] = (struct member){mem_zalloc(h->s->n_sites + 1, 1), INFINITY};
		b->next[i] = (struct member){mem_zalloc(h->s->n_sites + 1, 1), INFINITY};
	}
	memcpy(b->next[0].config, h->config, h->s->n_sites);
	b->next[0].cost = h->running.value;
	b->at = 1;
	return b;
}

void hunt_breed_release(struct hunt *h)
{
	struct breed *b = h->breed;

	for (uint32_t i = 0; b && i < b->n; i++) {
		mem_free(b->now[i].config);
		mem_free(b->next[i].config);
	}
	if (b) {
		mem_free(b->now);
		mem_free(b->next);
		mem_free(b->key);
	}
	mem_free(b);
	h->breed = NULL;
}

static uint32_t part_of(const struct breed *b, double share)
{
	return (uint32_t)fmax(1, share * b->n);
}

static double key_of(const struct hunt *h, uint32_t site)
{
	return h->breed->key[h->o.tied ? h->s->site[site].tie : site];
}

static void draw_keys(struct hunt *h)
{
	for (uint32_t i = 0; i < (h->o.tied ? h->s->n_ties : h->s->n_sites); i++)
		h->breed->key[i] = rng_unit(&h->rng);
}

static void draw(struct hunt *h, uint8_t *config)
{
	draw_keys(h);
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		config[i] = (uint8_t)(key_of(h, i) * h->s->site[i].choices);
}

static void cross(struct hunt *h, uint8_t *config)
{
	struct breed *b = h->breed;
	uint32_t elite = part_of(b, ELITE);
	const uint8_t *x = b->now[rng_below(&h->rng, elite)].config;
	const uint8_t *y = b->now[elite + rng_below(&h->rng, b->n - elite)].config;

	draw_keys(h);
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		config[i] = key_of(h, i) < BIAS ? x[i] : y[i];
}

static int by_cost(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->cost > y->cost) - (x->cost < y->cost);
}

/* The generation is full: it is sorted, and the elite goes over into the next one. */
static void turn(struct hunt *h)
{
	struct breed *b = h->breed;
	struct member *full = b->next;

	qsort(full, b->n, sizeof *full, by_cost);
	b->next = b->now;
	b->now = full;
	b->grown = true;
	for (b->at = 0; b->at < part_of(b, ELITE); b->at++) {
		memcpy(b->next[b->at].config, full[b->at].config, h->s->n_sites);
		b->next[b->at].cost = full[b->at].cost;
	}
}

bool hunt_breed(struct hunt *h)
{
	struct breed *b = h->breed = h->breed ? h->breed : breed_new(h);

	for (uint32_t tries = 0; tries < 4 * b->n; tries++) {
		struct member *m;
		if (b->at == b->n)
			turn(h);
		m = &b->next[b->at++];
		if (!b->grown || b->at > b->n - part_of(b, DRAWN))
			draw(h, m->config);
		else
			cross(h, m->config);
		m->cost = INFINITY;
		for (uint32_t i = 0; i < h->s->n_sites; i++)
			if (m->config[i] != h->config[i]) {
				h->candidate[i] = m->config[i];
				h->flips[h->n_flips++] = i;
			}
		b->asked = h->n_flips > 0;
		if (b->asked)
			return true;
		m->cost = h->running.value;
	}
	return false;
}

void hunt_bred(struct hunt *h, double cost)
{
	struct breed *b = h->breed;
	struct member *m = b && b->asked ? &b->next[b->at - 1] : NULL;

	if (!m)
		return;
	memcpy(m->config, h->candidate, h->s->n_sites); /* it may be one that was set aside before (share.c) */
	m->cost = cost;
	b->asked = false;
}

static void save_member(const struct hunt *h, const struct member *m, struct buf *out)
{
	buf_blob(out, m->config, h->s->n_sites);
	buf_f64(out, m->cost);
}

static void load_member(struct hunt *h, struct member *m, struct cursor *in)
{
	size_t n;
	struct err none = {0};
	const uint8_t *config = cursor_blob(in, &n);

	if (in->bad || config_valid(h->s, config, n, &none) < 0) {
		in->bad = true;
		return;
	}
	memcpy(m->config, config, n);
	m->cost = cursor_f64(in);
}

void hunt_breed_save(const struct hunt *h, struct buf *out)
{
	const struct breed *b = h->breed;

	buf_u32(out, b ? b->at : 0);
	buf_u32(out, b && b->grown);
	for (uint32_t i = 0; b && i < b->at; i++)
		save_member(h, &b->next[i], out);
	for (uint32_t i = 0; b && b->grown && i < b->n; i++)
		save_member(h, &b->now[i], out);
}

void hunt_breed_load(struct hunt *h, struct cursor *in)
{
	uint32_t at = cursor_u32(in), grown = cursor_u32(in);
	struct breed *b;

	hunt_breed_release(h);
	if (at == 0)
		return;
	b = h->breed = breed_new(h);
	in->bad |= at > b->n;
	b->at = in->bad ? 1 : at;
	b->grown = grown != 0;
	for (uint32_t i = 0; i < at && !in->bad; i++)
		load_member(h, &b->next[i], in);
	for (uint32_t i = 0; grown && i < b->n && !in->bad; i++)
		load_member(h, &b->now[i], in);
}
