/*
 * own.h - what the files of this kind share; nobody outside space/rewrite/ needs it.
 *
 *	rewrite.c  opening: rules against nodes	    apply.c   from choices to a program
 *	rules.c	   rule files, expr.c conditions    region.c  what differs, cut out
 *	draft.c	   writing instructions		    cut.c     a place cut out, on both sides
 *	join.c	   nodes that are computed together	    hoist.c   what is computed once, by another program
 *	pattern.c, pattern_read.c  rules that need none
 *	conv.c, grouped.c, patches.c, split.c, merge.c, variance.c  rules that need code
 */
#ifndef SPACE_REWRITE_OWN_H
#define SPACE_REWRITE_OWN_H

#include "space/space.h"
#include "space/rewrite/rule.h"

extern const struct space_kind rewrite_kind;

struct offer { /* the meaning of a choice of a site: a variant of a rule */
	uint16_t rule;
	uint8_t variant; /* from 1 */
	uint8_t side;	 /* of a rule that joins, as in struct found, and: */
	uint32_t leader; /* NONE: it joins nothing */
	float promise;	 /* nanoseconds saved in a run, very roughly */
};

struct rewrite {
	struct rules rules;
	struct offer *offer; /* the choices of all sites; choice k >= 1 of site i is offer[first[i] + k - 1] */
	uint32_t *first;
	uint8_t *taken; /* scratch, per node: did a site before consume it? 2 and 3: it leads nodes that share its operand 0, 1 */
	uint8_t *real;	/* scratch, per site */
	uint8_t *leads; /* scratch, per node: all zero between calls */
	struct joins *joins;
	bool has_joins;
	uint8_t *on; /* per node: HOIST_GIVEN if it depends on given parameters alone; NULL where these are NULL */
	bool *given; /* per parameter of the program: it does not change from run to run (hoist.c). NULL: nothing is known of them */
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
/* Finds the place of an offer at its site, as it was when the space was opened. */
void rewrite_found(const struct space *s, uint32_t site, const struct offer *o, struct found *f);
/* Is this inside node read only by nodes that are replaced? */
bool rewrite_consumes(const struct graph *g, const struct found *f, uint32_t inside);
/* Writes the choices that take effect into `real` (n_sites places): 0 if a site before consumed a node of this site. */
void rewrite_real(struct space *s, const uint8_t *config, uint8_t *real);

/* Writes the instructions that replace the anchor; the last one has the anchor's id, name and shape. */
void rewrite_draft(const struct space *s, uint32_t site, const struct offer *o, struct draft *d);
/* Writes what computes the leader and all nodes that join it where `real` says what takes effect; they keep ids, names and shapes. */
void rewrite_draft_joined(const struct space *s, uint32_t leader, const uint8_t *real, struct draft *d);
/* Sets `leads` of all leaders of what takes effect. */
void rewrite_mark_leaders(const struct space *s, const uint8_t *real, uint8_t as);

/* ---- join.c ---- */
void joins_open(struct space *s);
/*
 * The leader with which the node may be computed by this rule, or NONE. `led_by` has the leaders that nodes before it have: 2 * node +
 * side.
 */
uint32_t joins_leader(struct space *s, const struct rule *r, uint32_t v, uint32_t side, const uint32_t *led_by);
void joins_begin(struct space *s); /* nobody has joined */
/* Joins the leader's group, ascending nodes one after the other; false if that cannot be. */
bool joins_try(struct space *s, uint32_t v, uint32_t leader);

/* A list of instructions, operands first. */
struct lines {
	Hlo__HloInstructionProto **v;
	size_t n, cap;
};
void lines_add(struct lines *l, Hlo__HloInstructionProto *in);
/* Drops the instructions that the root (an id) does not need; keeps side effects, parameters and control edges. */
void lines_prune(struct lines *l, int64_t root);
/* Brings operands before what reads them; keeps the order otherwise. */
void lines_sort(struct lines *l);

int rewrite_apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
/* The same, but in one program where parameters are hoisted; and the program that prepares what they are needed for. */
int rewrite_apply_whole(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
void rewrite_prepare(struct space *s, const uint8_t *config, struct buf *out);
int rewrite_region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err);
int rewrite_operators(struct space *s, uint32_t site, uint8_t choice, struct regions *before, struct regions *after,
	struct err *err);
/* One side of a site's region as HLO text, for people. */
void rewrite_picture(struct space *s, uint32_t site, uint8_t choice, struct buf *out);

/* ---- hoist.c ---- */
struct id_place { /* where the line with an id stands */
	int64_t id;
	uint32_t at;
};
int id_place_order(const void *a, const void *b);
/* Reads a list of parameters ("0-5:7:name"); NULL with a sentence if it is none. */
bool *hoist_read(struct arena *mem, const struct graph *g, const char *list, size_t n, struct err *err);
#define HOIST_GIVEN 2
/* For each node: HOIST_GIVEN if it depends on given parameters alone. */
uint8_t *hoist_marks(struct arena *mem, const struct graph *g, const bool *given);
/*
 * Puts parameters in the place of lines that depend on given ones alone, as far as that is worth it; returns how many. `on` has
 * HOIST_GIVEN for given parameters, 0 for others, and room for each line. `handed` gets the lines (NULL: not wanted).
 */
uint32_t hoist_lines(struct lines *l, uint8_t *on, int64_t root, struct arena *mem, struct lines *handed);
/*
 * Cuts a program in two: `first` gives what `rest` takes after its own parameters; it stays empty if there is nothing. Either may be
 * NULL.
 */
int hoist_split(const struct buf *whole, const bool *given, struct buf *rest, struct buf *first, struct err *err);

#endif
