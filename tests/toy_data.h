/*
 * toy_data.h - examples from toy spaces, whose costs are a formula; there is no store and no device.
 */
#ifndef TESTS_TOY_DATA_H
#define TESTS_TOY_DATA_H

#include "space/toy/toy.h"
#include "learn/data.h"
#include "tests/test.h"

#define TOYS 16
struct toys {
	struct graph g[TOYS];
	struct space *s[TOYS];
	uint32_t n;
};

static inline void toys_release(struct toys *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		space_free(t->s[i]);
		graph_release(&t->g[i]);
	}
	t->n = 0;
}

static inline struct space *toys_add(struct toys *t, const char *name)
{
	struct toy_spec spec;
	struct buf module = {0};
	char kind[64];
	struct err err = {0};

	CHECK(toy_parse(name, &spec, &err) == 0);
	toy_graph(&spec, &module);
	CHECK(graph_parse(&t->g[t->n], module.data, module.len, name, &err) == 0);
	toy_kind_name(&spec, kind);
	t->s[t->n] = space_open(kind, "sim", &t->g[t->n], NULL, 0, &err);
	CHECK(t->s[t->n] != NULL);
	buf_release(&module);
	return t->s[t->n++];
}

/* What a run would have stored: the cost of every choice of a site, without noise. */
static inline struct sample toy_sample(struct space *s, uint8_t *config, uint32_t site)
{
	struct sample x = {.site = site, .n_choices = s->site[site].choices, .kind = COST_MODELLED};
	uint8_t keep = config[site];
	double base = 0;

	for (uint8_t k = 0; k < x.n_choices; k++) {
		config[site] = k;
		x.choice[k].delta = s->ops->formula(s, config, QUANTITY_SECONDS) - base;
		base = k ? base : x.choice[k].delta;
		x.choice[k].delta -= k ? 0 : base;
	}
	config[site] = keep;
	return x;
}

/* `sweeps` random configurations of one toy, every site of each sampled. Returns the graph's number. */
static inline uint32_t toy_samples(struct data *d, struct space *s, const char *name, int sweeps, uint64_t seed)
{
	uint32_t g = data_graph(d, name, s);
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct rng r;

	rng_seed(&r, seed);
	for (int t = 0; t < sweeps; t++) {
		space_random(s, 0.5, &r, config);
		for (uint32_t i = 0; i < s->n_sites; i++) {
			struct sample x = toy_sample(s, config, i);
			data_sample(d, g, config, &x);
		}
	}
	mem_free(config);
	return g;
}

#endif
