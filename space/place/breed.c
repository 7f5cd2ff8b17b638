/*
 * breed.c - a biased random-key genetic algorithm on placements, as REGAL searches.
 *
 * An individual has a key between 0 and 1 for each group; the key says which device runs it. Of each generation the
 * best go on as they are, some newcomers are drawn at random, and all others are children: each key is that of an
 * elite parent with probability INHERIT, else that of any parent. A key that would put a group where it does not fit
 * goes to the next device that has room. The first generation holds the placements that need no search.
 */
#include "space/place/breed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE 80
#define ELITE 16
#define NEW 8
#define INHERIT 0.7

struct person {
	float *key; /* [n_groups] */
	double cost;
};

static int by_cost(const void *a, const void *b)
{
	const struct person *x = a, *y = b;
	return (x->cost > y->cost) - (x->cost < y->cost);
}

static void decode(struct breeding *b, const float *key)
{
	struct standing_load *s = b->now;
	const struct place *p = s->p;

	memset(s->used, 0, sizeof s->used);
	for (uint32_t g = 0; g < p->n_groups; g++) {
		uint32_t d = (uint32_t)(key[g] * (float)p->n_devices);
		d = d < p->n_devices ? d : p->n_devices - 1;
		for (uint32_t i = 0; i < p->n_devices && !standing_load_fits(s, g, d); i++)
			d = (d + 1) % p->n_devices;
		b->device[g] = d;
		s->used[d] += s->group_size[g];
	}
}

static void judge(struct breeding *b, struct person *x)
{
	decode(b, x->key);
	x->cost = b->cost(b->with, b->device);
}

static void draw(struct breeding *b, float *key)
{
	for (uint32_t g = 0; g < b->now->p->n_groups; g++)
		key[g] = (float)rng_unit(b->rng);
}

static void cross(struct breeding *b, const float *elite, const float *other, float *child)
{
	for (uint32_t g = 0; g < b->now->p->n_groups; g++)
		child[g] = rng_unit(b->rng) < INHERIT ? elite[g] : other[g];
}

/* Keys in the middle of the devices of a known placement. */
static void encode(const struct breeding *b, const uint32_t *device, float *key)
{
	const struct place *p = b->now->p;

	for (uint32_t g = 0; g < p->n_groups; g++)
		key[g] = ((float)device[g] + 0.5F) / (float)p->n_devices;
}

void breed_run(struct breeding *b, uint32_t *const *known, uint32_t n_known)
{
	uint32_t n = b->now->p->n_groups;
	struct person people[PEOPLE], next[PEOPLE];

	b->device = MEM_NEW(n + 1, uint32_t);
	for (uint32_t i = 0; i < PEOPLE; i++) {
		people[i].key = MEM_NEW(n + 1, float);
		next[i].key = MEM_NEW(n + 1, float);
		people[i].cost = INFINITY;
		draw(b, people[i].key);
		if (i < n_known)
			encode(b, known[i], people[i].key);
	}
	for (uint32_t i = 0; i < PEOPLE && !b->over(b->with); i++)
		judge(b, &people[i]);
	while (!b->over(b->with)) {
		qsort(people, PEOPLE, sizeof *people, by_cost);
		for (uint32_t i = 0; i < PEOPLE; i++) {
			next[i].cost = i < ELITE ? people[i].cost : INFINITY;
			if (i < ELITE)
				memcpy(next[i].key, people[i].key, n * sizeof(float));
			else if (i < ELITE + NEW)
				draw(b, next[i].key);
			else
				cross(b, people[rng_below(b->rng, ELITE)].key, people[ELITE + rng_below(b->rng,
					PEOPLE - ELITE)].key, next[i].key);
		}
		for (uint32_t i = ELITE; i < PEOPLE && !b->over(b->with); i++)
			judge(b, &next[i]);
		for (uint32_t i = 0; i < PEOPLE; i++) {
			struct person swap = people[i];
			people[i] = next[i];
			next[i] = swap;
		}
	}
	for (uint32_t i = 0; i < PEOPLE; i++) {
		mem_free(people[i].key);
		mem_free(next[i].key);
	}
	mem_free(b->device);
}
