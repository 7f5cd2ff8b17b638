/*
 * own.h - what the files of this kind share; nobody outside space/rewrite/ needs it.
 *
 *	rewrite.c  opening: rules against nodes	    apply.c   from choices to a program
 *	rules.c	   rule files, expr.c conditions    region.c  what differs, cut out
 *	draft.c, draft_sum.c  writing instructions  cut.c     a place cut out, on both sides
 *	join.c	   what is computed together	    hoist.c   what is computed once, by another program
 *	around.c   what belongs to a product's place
 *	effect.c   which choices take effect	    lines.c   lists of instructions
 *	near.c	   places that share what they look through
 *	reread.c   what is computed more than once unless it stays in memory
 *	block.c	   many places of one rule, tried at once
 *	pattern.c, pattern_read.c  rules that need none
 *	conv.c, grouped.c, patches.c, usual.c, flat.c, pool.c, doubling.c, unpool.c  rules that need code: about windows
 *	side.c, turn.c, narrow.c, split.c, merge.c, heads.c, row.c, second.c, picked.c, scattered.c, integers.c  ...
 *		   about products
 *	variance.c, few.c, pairs.c, unroll.c, keys.c, network.c  ... about reductions, a loop, a sort
 *	circle.c, power.c, angle.c, remainder.c, root.c  ... about functions of f32; series.c  what these share
 *	once.c, wider.c  ... about numbers of 16 bits; complex.c  ... about complex numbers
 *	library.c  ... about what oneDNN computes
 *	features.c what a learner sees of a choice
 *	facts.c, fits.c  what these ask of nodes
 */
#ifndef SPACE_REWRITE_OWN_H
#define SPACE_REWRITE_OWN_H

#include "space/space.h"
#include "space/rewrite/lines.h"
#include "space/rewrite/rule.h"

extern const struct space_kind rewrite_kind;

struct offer { /* the meaning of a choice of a site: a variant of a rule */
	uint16_t rule;
	uint8_t variant; /* from 1 */
	uint8_t side;	 /* of a rule that joins, as in struct found, and: */
	uint32_t leader; /* NONE: it joins nothing */
	float promise;	 /* nanoseconds saved in a run, very roughly */
	float belief;	 /* the same by a model, in a unit of its own, if it was told any */
};

struct family { /* what a variant of a rule can do, or all that a model expects to gain */
	uint16_t rule;
	uint8_t variant; /* 0: by whatever rule, as a model says */
	double hope, promise; /* of all its places */
};

struct rewrite {
	struct rules rules;
	struct fresh fresh; /* in the program as it was opened */
	struct offer *offer; /* the choices of all sites; choice k >= 1 of site i is offer[first[i] + k - 1] */
	uint32_t *first, n_offers;
	uint32_t *alike, *n_alike; /* per class: its first site, and how many it has */
	struct telling *telling;   /* per offer; NULL until the first is asked for */
	/* Scratch, per node: 1 if a site before consumed it; 2 or 3 if it leads nodes that share operand 0 or 1. */
	uint8_t *taken;
	/* near[near_first[i] ..] to near_first[i + 1]: the other sites that look through a node that site i does. */
	uint32_t *near, *near_first;
	uint8_t *real;	/* scratch, per site */
	uint8_t *leads; /* scratch, per node: all zero between calls */
	struct joins *joins;
	bool has_joins;
	bool believes; /* in what a model said of all offers */
	struct family *family; /* what blocks are made of (block.c), as listed last */
	uint32_t n_families;
	bool *told; /* per variant of each rule: is it priced by whole programs, since a block of it was taken? */
	uint8_t *on; /* per node: HOIST_GIVEN if it depends on given parameters alone; NULL if `given` is */
	bool *given; /* per parameter: does it stay the same from run to run (hoist.c)? NULL: nobody said so of any */
};

static inline struct rewrite *rewrite_of(const struct space *s)
{
	return s->own;
}
static inline const struct offer *rewrite_offer(const struct space *s, uint32_t site, uint8_t choice)
{
	return choice ? &rewrite_of(s)->offer[rewrite_of(s)->first[site] + choice - 1] : NULL;
}
static inline const struct rule *rewrite_rule(const struct space *s, const struct offer *o)
{
	return &rewrite_of(s)->rules.rule[o->rule];
}
/* What a choice should save: by a model, or else by the rule. */
static inline float rewrite_hope(const struct space *s, const struct offer *o)
{
	return rewrite_of(s)->believes ? o->belief : o->promise;
}
/* Finds the place of an offer at its site, as it was when the space was opened. */
void rewrite_found(const struct space *s, uint32_t site, const struct offer *o, struct found *f);
/* Is this inside node read only by nodes that are replaced? */
bool rewrite_consumes(const struct graph *g, const struct found *f, uint32_t inside);
/* Writes the choices that take effect into `real` (n_sites places): 0 if a site before consumed a node of this site. */
void rewrite_real(struct space *s, const uint8_t *config, uint8_t *real);

/* Writes the instructions that replace the anchor; the last one has the anchor's id, name and shape. */
void rewrite_draft(const struct space *s, uint32_t site, const struct offer *o, struct draft *d);
/* Writes what computes the leader and all nodes that join it by `real`; they keep their ids, names and shapes. */
void rewrite_draft_joined(const struct space *s, uint32_t leader, const uint8_t *real, struct draft *d);
/* Sets `leads` of all leaders of what takes effect. */
void rewrite_mark_leaders(const struct space *s, const uint8_t *real, uint8_t as);

/* ---- features.c ---- */
extern const struct space_features rewrite_features;
void rewrite_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out);
void rewrite_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);

/* ---- near.c ---- */
void near_open(struct space *s);
/* space_ops.together. */
uint32_t near_together(struct space *s, const uint8_t *config, uint32_t site, uint8_t choice, uint32_t *sites,
	uint8_t *choices, uint32_t most);

/* ---- block.c ---- */
/* space_ops.believe. */
void rewrite_believe(struct space *s, uint32_t site, uint8_t choice, double saves);
/* space_ops.scheme. */
bool rewrite_block(struct space *s, const uint8_t *config, uint32_t k, uint8_t *out);
/* space_ops.taken. */
void rewrite_taken(struct space *s, const uint8_t *a, const uint8_t *b, bool at_once);
/* Is this choice priced by whole programs, because its rule says so or a block of it was taken? */
bool rewrite_told_whole(const struct space *s, uint32_t site, uint8_t choice);
/* Is it a move of many classes to or from other choices, so that it is priced by whole programs? */
bool rewrite_is_block(const struct space *s, const uint8_t *a, const uint8_t *b);

/* ---- join.c ---- */
void joins_open(struct space *s);
/* Returns the leader that the node may join by this rule, or NONE. led_by[2 * node + side]: leaders of nodes before. */
uint32_t joins_leader(struct space *s, const struct rule *r, uint32_t v, uint32_t side, const uint32_t *led_by);
void joins_begin(struct space *s); /* nobody has joined */
/* Joins the leader's group, ascending nodes one after the other; false if that cannot be. */
bool joins_try(struct space *s, uint32_t v, uint32_t leader);

int rewrite_apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
/* If parameters are given, rewrite_apply writes the second of two programs; these write both as one, and the first. */
int rewrite_apply_whole(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
void rewrite_prepare(struct space *s, const uint8_t *config, struct buf *out);
int rewrite_region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err);
int rewrite_operators(struct space *s, uint32_t site, uint8_t choice, struct regions *before, struct regions *after,
	struct err *err);
int rewrite_alternative(struct space *s, uint32_t node, uint8_t choice, struct regions *ops, uint32_t **reads,
	size_t *n_reads, size_t *cap_reads, struct err *err);
/* One side of a site's region as HLO text, for people. */
void rewrite_picture(struct space *s, uint32_t site, uint8_t choice, struct buf *out);

/* ---- hoist.c ---- */
/* Reads a list of parameters ("0-5:7:name"); NULL with a sentence if it is none. */
bool *hoist_read(struct arena *mem, const struct graph *g, const char *list, size_t n, struct err *err);
#define HOIST_GIVEN 2
/* For each node: HOIST_GIVEN if it depends on given parameters alone. */
uint8_t *hoist_marks(struct arena *mem, const struct graph *g, const bool *given);
/*
 * Puts new parameters in the place of lines that depend on given ones alone, where that is worth it; returns how many.
 * `on` has room for each line, with HOIST_GIVEN at given parameters, 0 at others. `handed` gets the old lines, unless
 * it is NULL. The new names end with numbers from `name` on.
 */
uint32_t hoist_lines(struct lines *l, uint8_t *on, int64_t root, uint32_t name, struct arena *mem,
	struct lines *handed);
/*
 * Cuts a program in two: `rest` takes, after its own parameters, what `first` gives. If that is nothing, `first` stays
 * empty. Either may be NULL.
 */
int hoist_split(const struct buf *whole, const bool *given, struct buf *rest, struct buf *first, struct err *err);

#endif
