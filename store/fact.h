/*
 * fact.h - what runs refer to: environments, graphs, spaces; and the persistent cache of regions.
 *
 * The add functions look a fact up by its content and add it only if it is new, so they can be called at
 * every start. Ids hold within one file only; hashes and uuids hold across files. Structs that are read
 * back own their memory; release accepts an empty one.
 */
#ifndef STORE_FACT_H
#define STORE_FACT_H

#include "base/buf.h"
#include "base/effort.h"
#include "base/hash.h"
#include "base/outcome.h"
#include "base/quantity.h"
#include "store/db.h"

/*
 * An environment: all that must be the same for numbers to be comparable. NULL counts as "".
 *
 * Stores of version 1 have neither device nor build. If the device is the machine itself, such an environment is
 * given to the first build that otherwise matches it, and belongs to that build from then on.
 */
struct environment {
	const char *machine; /* processor model, cores, kernel: not the host's name */
	const char *backend, *platform, *version, *compile_options;
	enum cost_kind kind;
	/* model, number and memory of an accelerator, its driver; "" if the machine computes */
	const char *device;
	const char *build;	 /* a hash of the plugin's file, because two builds may have the same version */
	enum quantity quantity; /* of all costs: prices, samples, label scales and bests are kept by environment */
};
int store_environment(struct store *s, const struct environment *e, int64_t *id, struct err *err);
/* The same of a store that is only read: 1 found, 0 it has no such environment, -1 error. */
int store_environment_find(struct store *s, const struct environment *e, int64_t *id, struct err *err);

struct graph_facts {
	const char *name;
	const void *bytes; /* HloModuleProto before fusion; for the toy its description */
	size_t n_bytes;
	uint32_t n_nodes, n_comps, n_edges;
};
int store_graph(struct store *s, const struct graph_facts *g, int64_t *id, struct err *err);

struct space_facts {
	int64_t graph;
	const char *kind;	/* "fusion", "fusion/binary", "toy:..." */
	const char *backend;
	uint64_t hash;		/* of the site table, as the space computes it */
	uint32_t n_sites, n_ties;
	const uint8_t *choices; /* per site: how many */
	const uint8_t *dflt;	/* per site: the default */
	const uint32_t *node;	/* per site: its node; ascending */
};
int store_space(struct store *s, const struct space_facts *f, int64_t *id, struct err *err);

/* Did a run ever begin in this space, in this environment? 1 yes, 0 no, -1 error. */
int store_space_begun(struct store *s, int64_t space, int64_t environment, struct err *err);

struct stored_graph { /* all zero is empty */
	int64_t id;
	char *name;
	struct digest hash; /* of the bytes */
	struct buf bytes;   /* checked against the hash */
	uint32_t n_nodes, n_comps, n_edges;
};
int store_get_graph(struct store *s, int64_t id, struct stored_graph *out, struct err *err);
/* Moves `id` on to the next graph, 0 being before the first, and gives its name: 1, 0 there is none, -1. */
int store_next_graph(struct store *s, int64_t *id, struct buf *name, struct err *err);
void stored_graph_release(struct stored_graph *g);

struct stored_space { /* all zero is empty */
	int64_t id, graph;
	char *kind, *backend;
	uint64_t hash;
	uint32_t n_sites, n_ties;
	uint8_t *choices, *dflt;
	uint32_t *node;
};
int store_get_space(struct store *s, int64_t id, struct stored_space *out, struct err *err);
void stored_space_release(struct stored_space *p);

/*
 * The region cache. In one environment a region costs the same in every program. Measuring one again adds
 * a row; get returns the newest row that did not fail, or else the newest.
 */
struct region_cost {
	double delta, se;	     /* seconds of b - seconds of a, of one execution */
	double seconds_a, seconds_b;
	enum outcome outcome;
	enum cost_kind kind;
	uint32_t pairs;
	struct effort effort;	    /* with which it failed; unknown in rows of version 1 */
};
int store_region_get(struct store *s, int64_t environment, const uint64_t key[2],
	struct region_cost *out, struct err *err); /* 1 found, 0 not, -1 */
int store_region_put(struct store *s, int64_t environment, const uint64_t key[2],
	const struct region_cost *c, struct err *err);

/*
 * The derived tables, which `store rebuild` and store_rebuild compute from the samples. sigma is the median
 * magnitude of a space's advantages in an environment; labels are divided by it.
 */
int store_rebuild(struct store *s, struct err *err);

#endif
