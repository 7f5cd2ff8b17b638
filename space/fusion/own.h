/*
 * own.h - what the files of the fusion space share; nobody else includes it.
 *
 * The space is a few arrays over the graph's operand edges and nodes. They tell in O(1) what a configuration
 * does to an edge, and nothing is stored per configuration. Groups are found by walking: down (group_walk)
 * from a root over absorbed edges, up (group_roots) from a member to the kept nodes that compute it. Both
 * touch only the groups in question.
 */
#ifndef SPACE_FUSION_OWN_H
#define SPACE_FUSION_OWN_H

#include "space/fusion/fusion.h"

#define SUBSET_CONSUMERS 3 /* with more legal consumers the choices of a site are none and all */

enum { FUSE_PRODUCER = 1, FUSE_CONSUMER = 2 };

/* A map from nodes to numbers that is emptied in O(1): an entry counts only if its stamp is `now`. */
struct node_map {
	uint32_t *stamp, *to, now, size;
};
void node_map_init(struct node_map *m, struct arena *mem, uint32_t size);
void node_map_clear(struct node_map *m);
static inline bool node_map_has(const struct node_map *m, uint32_t v)
{
	return m->stamp[v] == m->now;
}
static inline void node_map_set(struct node_map *m, uint32_t v, uint32_t to)
{
	m->stamp[v] = m->now;
	m->to[v] = to;
}

struct fusion {
	uint8_t *mask;	    /* per operand edge: the bit of (producer, this consumer); 0 if it is never absorbed */
	uint8_t *full;	    /* per node: all bits for its consumers; 0 if none may absorb it */
	uint8_t *own_code;  /* per node: the bit that says a library does not compute its group; 0 if none would */
	uint32_t *n_legal;  /* per node: how many consumers may absorb it */
	uint8_t *must_keep; /* per node: is it kept whatever the choice? */
	uint8_t *lasting;   /* per node: is it in memory that nothing may overwrite? */
	const struct fusion_rules *rules; /* of the backend */
	uint32_t *entered;  /* per node: when a walk from the root comes to it (joined.c); NULL: nothing is joined */
	bool by_input;	    /* do kernels that reduce have a kind of their own (group_kind)? */
	bool binary;	    /* does every site have only the choices none and all? */
	bool lightened;	    /* do regions get what makes them run on the caller's thread (nothing.c)? */
	struct node_map walk;  /* scratch: the nodes seen on this walk */
	struct node_map inner; /* scratch: from a member of the group being written to its id there */
	struct node_map outer; /* scratch: from a value that this group reads to its id there */
	struct node_map value; /* scratch: from a value in the module being written to its id there */
};

static inline struct fusion *fusion_of(const struct space *s)
{
	return s->own;
}

/* Does the consumer that operand edge e belongs to absorb the value on this edge? */
static inline bool fusion_absorbed(const struct space *s, const uint8_t *config, uint32_t e)
{
	uint8_t mask = fusion_of(s)->mask[e];
	return mask && (config[s->site_of[s->graph->edges[e]]] & mask);
}

static inline bool fusion_kept(const struct space *s, const uint8_t *config, uint32_t v)
{
	const struct fusion *f = fusion_of(s);
	return f->must_keep[v] || (config[s->site_of[v]] & f->full[v]) != f->full[v];
}

/* A growing list of nodes. */
struct nodes {
	uint32_t *v;
	size_t n, cap;
};
static inline void nodes_add(struct nodes *l, uint32_t v)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = v;
}
void nodes_sort(struct nodes *l); /* ascending, distinct */
bool nodes_has(const struct nodes *sorted, uint32_t v);
void nodes_release(struct nodes *l);

/* Appends the members of group(root), root included, ascending; scalar constants are not members. */
void group_walk(struct space *s, const uint8_t *config, uint32_t root, struct nodes *out);
/* Appends the roots of the groups that compute v (v itself where kept), ascending. */
void group_roots(struct space *s, const uint8_t *config, uint32_t v, struct nodes *out);
/* The same of several members at once: each root once, in no order. */
void group_roots_of(struct space *s, const uint8_t *config, const uint32_t *v, size_t n, struct nodes *out);
/* Does user u absorb v? */
bool fusion_absorbs(const struct space *s, const uint8_t *config, uint32_t u, uint32_t v);
/* Can groups compute v: is it fusible, and in a compiled computation? */
bool fusion_groupable(const struct graph *g, uint32_t v);
/*
 * XLA's kind of fusion for a group: "kLoop", or "kOutput" for the one shape of group for which XLA:CPU wants it
 * (legal.c). For XLA:GPU it is "kInput" for groups whose threads are laid out by what they read: those with a
 * reduction, a concatenation, a scatter or a transpose. XLA:GPU's passes after fusion rely on it.
 */
const char *group_kind(const struct space *s, const struct nodes *members);
/* Does it read scalar constants from memory, as XLA:CPU demands of the addend of a product in a fusion? */
bool group_reads_constants(const struct space *s, const struct nodes *members);
/* Is the group a kernel? A bitcast alone is not: it only renames memory. */
bool group_is_kernel(const struct graph *g, const struct nodes *members);

/* What a backend can fuse: its FUSION_RULES row in schemas/fusible.def, or the first row if it has none. */
struct fusion_rules {
	const char *backend;
	size_t column;	  /* its column in legal.c's table */
	bool dots, light, once, keeps, copies, outside, joins, updates, library; /* see schemas/fusible.def */
};
const struct fusion_rules *fusion_rules_of(const char *backend);

/* legal.c: can a fusion hold this operation? */
bool fusion_takes_part(const struct fusion_rules *r, uint16_t opcode);
/* legal.c: may `consumer` absorb what its operand edge e reads? */
bool fusion_legal(const struct graph *g, const struct fusion_rules *r, uint32_t consumer, uint32_t e);

/* legal.c: is operand k decided about? Not if an earlier operand is the same value, or if it is a scalar constant. */
bool fusion_is_decided(const struct graph *g, uint32_t v, uint32_t k);
/* starts.c: where a search may begin; the first is the default of a backend whose own decisions cannot be seen. */
extern const struct space_start fusion_starts[];
void fusion_greedy(struct space *s, uint8_t *config);
/* library.c: was the instruction in a library's kernel that was taken apart? And was it the kernel's result? */
bool fusion_was_library(const struct graph *g, uint32_t v);
bool fusion_was_result(const struct graph *g, uint32_t v);
/* Does the library compute this group (ascending, root last), because it is just what such a kernel computed? */
bool fusion_is_library(struct space *s, const uint8_t *config, const struct nodes *members);
/* Is the node a library's kernel that can be taken apart? */
bool fusion_comes_apart(const struct graph *g, const struct fusion_rules *rules, uint32_t v);
/* lives.c: fills `lasting`, once. */
void fusion_find_lasting(struct space *s);
/* joined.c: fills `entered`, once. */
void fusion_find_entered(struct space *s);
/* One of the groups with these roots (ascending) makes v: does any other group read it? */
bool fusion_read_outside(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t v);
/* These groups read v: may they overwrite it, because no later group reads it and it does not last? */
bool fusion_ends_inside(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t v);
/* apply.c, region.c, check.c, context.c: the operations. */
int fusion_apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
int fusion_region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err);
int fusion_check(struct space *s, const uint8_t *config, const void *optimised, size_t n,
	struct check_result *out, struct err *err);
void fusion_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out);
void fusion_touched(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap);
void fusion_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);
/* allow.c: keeps sites until no group is one of which the compiler never makes a kernel; returns how many. */
uint32_t fusion_allow(struct space *s, uint8_t *config);
/* As fusion_affected for a single flip. The site is flipped in `config` and set back, so no copy is needed. */
void fusion_flipped(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, struct nodes *before,
	struct nodes *after);
/* Appends the roots of all groups that differ between a and b, on each side; a and b differ in the sites `changed`. */
void fusion_affected(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, struct nodes *roots_a, struct nodes *roots_b);

#endif
