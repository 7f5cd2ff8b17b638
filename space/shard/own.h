/*
 * own.h - what the files of this kind of decision share; nobody outside space/shard/ needs it.
 *
 *	mesh.c	    devices in a grid, and layouts over it	starts.c    what people do by hand, found by rule
 *	roles.c	    what a parameter is for			pairs.c	    which products go in pairs
 *	behind.c    which parameter a value is a part of
 *	sites.c	    what is decided about			write.c	    the program with its annotations
 *	shard.c	    the space					answer.c    shardings.json
 *	together.c  what changes with a tensor		names.c	    which dimensions are the same thing
 *	schemes.c   layouts of everything along names	page.c	    for the page of a search
 *	guess.c	    what a device is likely to do		features.c  what a learner sees of that
 */
#ifndef SPACE_SHARD_OWN_H
#define SPACE_SHARD_OWN_H

#include "space/shard/mesh.h"
#include "space/space.h"

/* What an entry parameter is for, as far as the graph shows it (roles.c). */
enum role {
	FOR_NOTHING, /* it is no array, or has no dimension */
	FOR_DATA,    /* one part of it for each example: its first dimension counts them */
	FOR_WEIGHT,  /* what is learnt, or served with */
	FOR_MOMENT,  /* an optimiser's, beside a weight of the same shape */
};

struct purpose { /* of an entry parameter */
	enum role role;
	uint32_t out;	/* the place in the result of what takes its place in the next run; or NONE */
	uint32_t owner; /* of a moment: the weight's node */
	bool table;	/* rows are looked up in it */
};

struct roles { /* of the entry's parameters, by node less the entry's first */
	struct purpose *of;
	bool trains; /* some parameter is replaced by what was computed from it element by element */
};
void roles_find(struct roles *r, const struct graph *g, struct arena *mem);

/* Does the first dimension of this parameter count examples? */
static inline bool purpose_batched(const struct purpose *p)
{
	return p->role == FOR_DATA;
}

struct product;

struct place { /* of a site: all that is decided alike */
	uint32_t first, n; /* its members */
	bool parameter;
	bool written;	   /* the program says something itself */
	uint8_t skip;	   /* a choice above 0 is the layout of that number less this */
};

struct shard {
	struct mesh mesh;
	struct roles roles;
	struct place *place; /* per site */
	uint32_t *member;    /* nodes */
	uint32_t n_members;
	uint32_t *name;	     /* per site and VIEW_RANK dimensions: its name (names.c), a number, the heaviest first */
	uint32_t n_names;
	uint32_t *operand_name; /* likewise of the two operands of each site that is a product */
	struct product *product; /* what products read (guess.c), in the order of the program */
	uint32_t n_products;
	double grain;		/* seconds that the program would take if divided evenly; 0: not guessed yet */
};

static inline struct shard *shard_of(const struct space *s)
{
	return s->own;
}
static inline const struct purpose *purpose_of(const struct space *s, uint32_t node)
{
	return &shard_of(s)->roles.of[node - s->graph->comp[s->graph->entry].first];
}
static inline const Hlo__ShapeProto *shape_of(const struct space *s, uint32_t node)
{
	return s->graph->node[node].proto->shape;
}

/* sites.c: fills sites, places and members. */
void shard_find_sites(struct space *s, bool arguments_only);
/* The layout of a choice; false: the tensor is left as the program has it. */
bool shard_layout(const struct space *s, uint32_t site, uint8_t choice, struct layout *out);
/* The choice of a layout; 0 if there is none such. */
uint8_t shard_choice(const struct space *s, uint32_t site, const struct layout *l);

/* starts.c */
extern const struct space_start shard_starts[];
void shard_default(struct space *s, uint8_t *config);
/* Splits, over the axes from `from` to before `to`, the largest dimension not split yet that they divide. */
void shard_split_largest(struct space *s, uint8_t *config, uint32_t site, uint32_t from, uint32_t to);
/* Lays a site out, if the tensor can be split so and the program does not lay it out itself. */
void shard_set(struct space *s, uint8_t *config, uint32_t site, const struct layout *l);
/* What the parameter of a site is for. */
enum role shard_role(const struct space *s, uint32_t site);
/* names.c: fills names. */
void shard_find_names(struct space *s);
/* schemes.c: space_ops.scheme. */
bool shard_scheme(struct space *s, const uint8_t *config, uint32_t k, uint8_t *out);
/* behind.c */
#define VIEW_RANK 8
struct view { /* of a value: what it is a part of */
	uint32_t node;
	int8_t dim[VIEW_RANK]; /* per dimension of the value: where it lies in that node's, or -1 */
};
/* Finds the entry parameter that v is a part of; false: it was computed, or it has too many dimensions. */
bool behind(const struct graph *g, uint32_t v, struct view *out);
/* Lists what a node reads, through calls and kept states of loops; `room` is for one. Returns how many. */
uint32_t behind_sources(const struct graph *g, uint32_t v, uint32_t *room, const uint32_t **out);

/* Returns where the value of a call, a parameter or a part of a tuple comes from, or NONE. Loops: from before them. */
uint32_t behind_state(const struct graph *g, uint32_t v);
/* VIEW_RANK dimensions of `to` as those of `from`, which has the same elements in the same order; -1: there is none. */
void behind_reshape(const Hlo__ShapeProto *from, const Hlo__ShapeProto *to, int8_t *map);

/* pairs.c: per node the dimension that splitting by pairs of products splits of a weight, or -1. */
void shard_pairs(const struct space *s, int8_t *dim, uint32_t parts);
/* The same, of a weight with experts: the dimension that counts them. */
void shard_experts(const struct space *s, int8_t *dim, uint32_t parts);

/* write.c: the annotated program; `whole`: every device gets and gives whole values all the same. */
void shard_write(struct space *s, const uint8_t *config, bool whole, struct buf *module);
/* together.c: space_ops.together. */
uint32_t shard_together(struct space *s, const uint8_t *config, uint32_t site, uint8_t choice, uint32_t *sites,
	uint8_t *choices, uint32_t most);
/* answer.c: shardings.json. */
void shard_answer(struct space *s, const uint8_t *config, struct buf *out);
/* What people call a node: the path of an argument, or the operation. */
const char *shard_name(const struct graph *g, uint32_t v);
/* page.c: space_ops.page. */
void shard_page(struct space *s, const uint8_t *before, const uint8_t *after, struct buf *out);

#endif
