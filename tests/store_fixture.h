/*
 * store_fixture.h - made-up stores for tests and benches: a toy graph, a space, runs of random steps.
 *
 * Everything follows from a seed, so a test knows what was written without keeping it.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/replay.h"

struct made {
	int64_t environment, graph, space;
	uint32_t n_sites;
	uint8_t *choices, *dflt;
	uint32_t *node;
};

static inline void made_release(struct made *m)
{
	mem_free(m->choices);
	mem_free(m->dflt);
	mem_free(m->node);
	memset(m, 0, sizeof *m);
}

/* A folder of its own, in memory if there is such a place; the caller removes it with io_remove_tree. */
static inline char *made_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[200];

	snprintf(path, sizeof path, "%s/vantage-test-XXXXXX", tmp ? tmp : access("/dev/shm", W_OK) == 0 ? "/dev/shm"
		: "/tmp");
	return mkdtemp(path) ? mem_strdup(path) : NULL;
}

/* Returns the path of a file in the folder; it is valid until the fourth call after this one. */
static inline const char *made_path(const char *folder, const char *name)
{
	static char path[4][300];
	static int n;
	char *p = path[n++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", folder, name);
	return p;
}

/* Environment, graph and space `name`; max_choices 2 makes all sites binary. */
static inline int made_facts(struct store *s, const char *name, uint32_t n_sites, uint8_t max_choices,
	struct made *m, struct err *err)
{
	struct environment e = {"a machine", "toy", "formula", "1", "", COST_MODELLED, NULL, NULL, QUANTITY_SECONDS};
	struct graph_facts g = {.name = name, .bytes = name, .n_bytes = strlen(name), .n_nodes = 3 * n_sites,
		.n_comps = 1};
	struct space_facts f = {.kind = "toy:1", .backend = "toy", .hash = 77, .n_sites = n_sites, .n_ties = n_sites};
	struct rng r;

	memset(m, 0, sizeof *m);
	rng_seed(&r, 5);
	m->n_sites = n_sites;
	m->choices = mem_alloc(n_sites);
	m->dflt = mem_alloc(n_sites);
	m->node = mem_alloc(n_sites * sizeof *m->node);
	for (uint32_t i = 0; i < n_sites; i++) {
		m->choices[i] = (uint8_t)(2 + rng_below(&r, max_choices - 1u));
		m->dflt[i] = (uint8_t)rng_below(&r, m->choices[i]);
		m->node[i] = 3 * i + 1;
	}
	f.choices = m->choices;
	f.dflt = m->dflt;
	f.node = m->node;
	if (store_environment(s, &e, &m->environment, err) < 0 || store_graph(s, &g, &m->graph, err) < 0)
		return -1;
	f.graph = m->graph;
	return store_space(s, &f, &m->space, err);
}

/* A random sample of the chain; without failures unless asked. */
static inline struct sample made_sample(struct rng *r, const struct made *m, uint32_t chain, bool failures)
{
	struct sample x = {.chain = chain, .kind = COST_MODELLED};
	int reference = -1;

	x.site = (uint32_t)rng_below(r, m->n_sites);
	x.n_choices = m->choices[x.site];
	x.chosen = (uint8_t)rng_below(r, x.n_choices);
	for (int i = 0; i < x.n_choices; i++) {
		struct choice_cost *c = &x.choice[i];

		if (failures && rng_below(r, 8) == 0)
			c->outcome = (enum outcome)(1 + rng_below(r, OUTCOME_COUNT - 1));
		else if (reference < 0)
			reference = i;
		else
			*c = (struct choice_cost){.delta = 1e-5 * rng_normal(r), .se = 1e-7 * rng_unit(r),
				.bound = failures && rng_below(r, 8) == 0};
	}
	return x;
}

static inline struct run_spec made_spec(const struct made *m, uint64_t seed)
{
	return (struct run_spec){.kind = "collect", .settings = "{\"tau\":0.01}", .policy = "region", .seed = seed,
		.environment = m->environment, .spaces = &m->space, .n_spaces = 1, .host = "test", .program = "test"};
}

/* A run of n samples on one chain, one commit each, a keyframe per n_sites; returns it open. */
static inline struct run *made_run(struct store *s, const struct made *m, uint64_t seed, uint32_t n, struct err *err)
{
	struct run_spec spec = made_spec(m, seed);
	struct chain_spec c = {.space = m->space, .start = "default", .config = m->dflt, .tau = 0.01,
		.base_seconds = 1e-3};
	struct run *run;
	uint32_t chain;
	struct rng r;

	rng_seed(&r, seed);
	if (run_begin(s, &spec, &run, err) < 0)
		return NULL;
	if (run_chain(run, &c, &chain, err) == 0) {
		for (uint32_t i = 0; i < n; i++) {
			struct sample x = made_sample(&r, m, chain, false);

			if ((i % m->n_sites == 0 && run_keyframe(run, chain, i / m->n_sites, err) < 0) ||
				run_sample(run, &x, &r, sizeof r, err) < 0) {
				run_free(run);
				return NULL;
			}
		}
		return run;
	}
	run_free(run);
	return NULL;
}

#endif
