/*
 * data.h - the data to learn from: graphs, and examples of flips with their costs.
 *
 * An example is one site in one configuration with one current choice, and a flip to each alternative
 * whose cost is known. One measured sample gives an example for every choice that ran: the costs of all
 * choices were measured in the same surroundings, so each may be taken as the current one.
 *
 *	data_init(&d, radius);
 *	g = data_graph(&d, "dlrm", space);
 *	data_sample(&d, g, config, &sample);  ...
 *	data_finish(&d);			// sigmas, ranks; then it is only read, by many threads
 *	data_release(&d);
 */
#ifndef LEARN_DATA_H
#define LEARN_DATA_H

#include "learn/hood.h"
#include "store/run.h"

struct flip_label {
	double advantage, se; /* seconds: cost after - cost before */
	uint8_t to;
	bool bound;	      /* |advantage| is at least that much */
	bool away;	      /* does not lead to the default choice */
	bool measured;	      /* from the choice the configuration stood at, not a mirrored one */
};

struct example {
	uint32_t graph, site;
	uint8_t from, n_flips;
	uint64_t config;	    /* hash of the configuration: which flips were rivals */
	uint64_t around;	    /* hash of the site's surroundings, by apart_mark; else 0 */
	bool apart;		    /* never trained on, kept to judge models by (apart.h) */
	bool picked;		    /* by a search, which tries what it hopes for; else drawn by a sampler */
	const struct hood *hood;
	real *context;		    /* nodes of the hood x NODE_CONTEXT */
	real *flip;		    /* n_flips x FLIP_FEATURES */
	struct flip_label *label;
};

struct data_graph {
	char *name;
	struct scene scene;
	struct hood **hood; /* per site; NULL until a sample needs it */
	struct hood_maker maker;
	double grain;	    /* what its costs count in (space_grain) */
	double part_share;  /* of what is charged for a kernel (space/part.h) */
	double weight;	    /* of its examples in learning */
	bool other;	    /* measured by another version of the compiler than the model is for (dataset.h) */
	double sigma;	    /* seconds: median |advantage|, of those not 0 if it is 0; 0 without examples */
	uint32_t n_samples, n_skipped; /* skipped: nothing to compare, or not a number */
	/* Numbers of its examples, by falling |advantage| (of the flip with the largest). */
	uint32_t *by_size, n_examples;
	uint32_t *gains, n_gains; /* those with a significantly improving flip away from the default */
};

struct data {
	struct arena mem;
	uint32_t radius;
	/*
	 * Of the samples to come: what each kernel that a flip adds is charged (space/part.h); did a search pick them?
	 */
	double part_seconds;
	bool picked;
	enum quantity quantity; /* of all costs; set it before the first graph */
	struct data_graph *graph;
	struct example *example;
	size_t n_graphs, cap_graphs, n_examples, cap_examples;
};

void data_init(struct data *d, uint32_t radius);
/* Borrows the space (and its graph); the name is copied. Returns its number. */
uint32_t data_graph(struct data *d, const char *name, struct space *s);
/* `config` is the configuration before the draw; what it says at the sample's site is the current choice. */
void data_sample(struct data *d, uint32_t graph, const uint8_t *config, const struct sample *x);
/* A move of several flips as one example (feature_move); `cost` of `to` is relative to `from`. */
void data_move(struct data *d, uint32_t graph, const uint8_t *from, const uint8_t *to, const struct choice_cost *cost);
void data_finish(struct data *d);
void data_release(struct data *d);

/* One flip of an example as a row (row.h). */
void example_row(const struct data *d, const struct example *e, uint8_t flip, float *row);

/* What the learner takes an advantage for: 0 within its own standard error. */
static inline double label_size(const struct flip_label *l)
{
	double size = l->advantage < 0 ? -l->advantage : l->advantage;
	return size > l->se ? size : 0;
}

#endif
