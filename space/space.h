/*
 * space.h - a decision space: the one abstraction between a program and whoever tunes it.
 *
 * A space is a graph, some of whose nodes are sites; a site has a few choices, choice 0 being the
 * plain one. A configuration is one byte per site. What a choice means only the space knows: fusion
 * today, placement or scheduling later, a formula in the toy space. Everybody else sees sites,
 * choices, classes and modules to compile.
 *
 * Configurations have a 64-bit hash (hash_choices in base/hash.h); config_flip updates it in O(1).
 *
 * A space borrows its graph, which must outlive it. Calls on one space are not thread-safe (they use
 * scratch memory of the space); open one per thread.
 */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "base/quantity.h"
#include "base/rng.h"
#include "graph/graph.h"

struct site {
	uint32_t node;
	uint32_t tie;	 /* class: sites with isomorphic surroundings share one; 0..n_ties-1 */
	uint8_t choices; /* 2..SPACE_CHOICES */
	uint8_t dflt;	 /* the compiler's own choice, as far as it can be expressed */
};
#define SPACE_CHOICES 255 /* of a site, at most */
#define SPACE_STRIDE 8	  /* what saved searches of spaces with so few choices count by */

/* Numbers about a node in a configuration, for the learner: what the space knows and a graph does not. */
enum space_context {
	CTX_CHOICE,	  /* of the site: chosen / (choices - 1); 0 for other nodes */
	CTX_CHOICES,	  /* number of choices; 0: not a site */
	CTX_DEFAULT,	  /* 1 if the site stands at its default */
	CTX_KEPT,	  /* 1 if its value is written to memory */
	CTX_COPIES,	  /* how many groups compute it */
	CTX_GROUP_NODES,  /* of the largest group that computes it: nodes, ... */
	CTX_GROUP_INPUTS, /* ... values read, */
	CTX_GROUP_BYTES,  /* ... bytes read and written, */
	CTX_GROUP_FLOPS,  /* ... operations. */
	CTX_COUNT
};

/*
 * What one flip would do, totalled over the parts of the program that it would change (for fusion: the
 * groups that differ), once as they are and once as they would be: what separates a gain from a loss.
 */
enum space_effect {
	EFFECT_PARTS,	   /* how many there are: kernels to start, ... */
	EFFECT_NODES,	   /* ... instructions in them, copies counted, ... */
	EFFECT_LARGEST,	   /* ... instructions in the largest one, */
	EFFECT_READ,	   /* bytes they read, ... */
	EFFECT_WRITTEN,	   /* ... and write, */
	EFFECT_FLOPS,	   /* operations, counted as often as they are done again, */
	EFFECT_LOADS,	   /* elements fetched from memory, likewise, */
	EFFECT_ITERATIONS, /* elements of their results: turns of their outer loops, */
	EFFECT_APART,	   /* fetched elements that do not lie beside the ones fetched a turn before, */
	EFFECT_LINES,	   /* and cache lines that all fetches go through, one after the other */
	EFFECT_COUNT
};

/* Two modules whose difference in cost, times `times`, is the difference of two configurations. */
struct region {
	uint64_t key[2];	   /* hash of a, hash of b: the same for isomorphic regions anywhere, and
				      swapped for the reverse move, whose price is the opposite */
	double times;		   /* executions per run of the program (trip counts of loops, copies of it) */
	uint32_t copies;	   /* places in the program that it stands for */
	uint32_t n_nodes;	   /* on the larger side */
	uint32_t parts[2];	   /* kernels to start, before and after */
	bool whole;		   /* these are whole programs: no smaller pair has the same difference. It comes last and counts alone */
	bool screen;		   /* of a place, ahead of whole programs: these are only worth running if places promise a gain */
	bool alike;		   /* both compute the same numbers but for rounding; where they do not, it has no price */
	struct buf a, b;	   /* HloModuleProto bytes: before, after */
};
struct regions { /* all zero is empty; regions_release accepts it */
	struct region *v;
	size_t n, cap;
};
void region_release(struct region *r); /* what it holds */
void regions_release(struct regions *r);
/* Regions of the same pair become one, executed so many times more. */
void regions_join(struct regions *r);

struct check_result {
	uint32_t asked, found, equal; /* groups */
	char detail[240];	      /* first difference, for people; empty if honoured */
};

/* One reason why the choices do not say what the compiler did to a part of the program. */
struct space_cause {
	const char *name, *meaning; /* for programs, for people */
	uint32_t parts;
	char first[130]; /* where the first of them differs, for people */
};

/* How the compiler's own result came out as choices: what `decode` says, in numbers. All zero: nothing was decoded. */
struct space_account {
	uint32_t parts, equal; /* of the compiled program (for fusion: groups), and those that the choices say exactly */
	uint32_t added;	       /* instructions that `restate` added before */
	uint32_t n_causes;     /* all that the kind knows, also those of no part */
	struct space_cause *cause;
};

struct space;

/* A configuration that a search may start from, and the baselines it is held against: a simple rule, another compiler's way. */
struct space_start {
	const char *name; /* NULL ends a list */
	void (*fill)(struct space *s, uint8_t *config);
};

/*
 * How the moves of a kind are priced in a quantity. By regions and whole programs: run on the device, whose figures
 * are of its own quantity. Compiled: a figure that is read off the whole compiled program, exact, as the bytes of its
 * temporary memory are. Formula: space_ops.formula, without a device.
 */
enum pricing { PRICING_NONE, PRICING_REGION, PRICING_WHOLE, PRICING_COMPILED, PRICING_FORMULA };
struct space_price {
	enum quantity quantity;
	enum pricing how; /* PRICING_NONE ends a list */
};

/*
 * A kind of decision: one folder below space/, and its row in schemas/kind.def. A kind is named in full by its name
 * alone or with what the kind itself reads behind a '/' or ':' ("fusion/binary", "toy:7").
 */
struct space_kind {
	const char *name;
	const char *forms; /* the full names there are, for people */
	const char *choices; /* what the number of a choice means, in sentences for people; may be NULL */
	/*
	 * What its moves can be priced in; the first is what a search makes small by itself. NULL: seconds by regions, and
	 * bytes as compiled. Read it with space_prices.
	 */
	const struct space_price *prices;
	const char *limits; /* of a search that was asked for no objective and no limit, as base/limit.h reads them; NULL: none */
	/* Called by space_open with graph and kind set; fills sites, ties, ops. */
	int (*open)(struct space *s, const char *backend, struct err *err);
	/*
	 * Kinds whose programs are made, not read: appends the HloModuleProto that "NAME:..." stands for. `kind`, the full
	 * name of the space that goes with it, has room for SPACE_KIND_ROOM bytes. Else NULL.
	 */
	int (*make)(const char *program, struct buf *module, char *kind, struct err *err);
};
#define SPACE_KIND_ROOM 256

struct space_ops {
	const struct space_kind *kind;
	/* The module to compile for a configuration. */
	int (*apply)(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
	/* Smallest pairs of modules covering all differences between a and b, no two alike; none when they are equal. */
	int (*region)(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err);
	/* Did the compiled program honour the choices? `optimised`: HloModuleProto bytes of the executable. */
	int (*check)(struct space *s, const uint8_t *config, const void *optimised, size_t n,
		struct check_result *out, struct err *err);
	/* CTX_COUNT floats for each of `nodes` (distinct). */
	void (*context)(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out);
	/*
	 * Nodes whose context can differ between a and b, ascending and distinct, appended to *nodes (grown
	 * with MEM_GROW); `changed` are the sites in which they differ.
	 */
	void (*touched)(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
		uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap);
	/* What a configuration costs, in the base unit of the quantity: for those that the kind prices by formula, else NULL. */
	double (*formula)(struct space *s, const uint8_t *config, enum quantity q);
	/*
	 * Sets the defaults by the program as the compiler left it, and appends one sentence on how much of it could be
	 * said in choices; the account of the space has it in numbers. NULL: the compiler's own choices cannot be read back, the defaults stay as opened.
	 */
	int (*decode)(struct space *s, const struct graph *after, struct buf *said, struct err *err);
	/*
	 * Where the compiler did what no choice can say, appends the program written so that choices can say it, and
	 * returns how many instructions that adds; 0: nothing is appended. NULL: the program always stays as it is.
	 */
	uint32_t (*restate)(struct space *s, const struct graph *after, struct buf *module);
	const char *undecided; /* what the defaults are where the compiler shows none, for people */
	/* Appends a few words on what a configuration makes of the program ("31 groups, 4 of them fusions"); may be NULL. */
	void (*summary)(struct space *s, const uint8_t *config, struct buf *out);
	const struct space_start *starts; /* may be NULL */
	/*
	 * EFFECT_COUNT floats before the flip of `site` to `choice`, then EFFECT_COUNT after it. `config` is
	 * written to on the way and left as it was. What it depends on: the contexts of the site's node, its
	 * operands and its users. NULL where the space has no such notion.
	 */
	void (*effect)(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);
	/* What a choice would save against choice 0, very roughly, before anything was measured or learnt; may be NULL. */
	double (*promise)(struct space *s, uint32_t site, uint8_t choice);
	/* A choice in words, for people; may be NULL. */
	void (*words)(struct space *s, uint32_t site, uint8_t choice, struct buf *out);
	/* What a choice makes of the site's place, as a program in text, for people; may be NULL. */
	void (*picture)(struct space *s, uint32_t site, uint8_t choice, struct buf *out);
	/*
	 * The operations of a site's place, each alone in a module (region.a, region.key[0]): as they are, and as a choice makes
	 * them. For rivals that believe a program costs what its operations cost one by one; may be NULL.
	 */
	int (*operators)(struct space *s, uint32_t site, uint8_t choice, struct regions *before, struct regions *after,
		struct err *err);
	/* Frees what does not lie in the memory of the space; may be NULL. */
	void (*release)(struct space *s);
};

struct space {
	const struct space_ops *ops;
	const struct graph *graph;
	char kind[SPACE_KIND_ROOM]; /* in full: opens the same space again */
	uint32_t n_sites, n_ties;
	uint32_t stride; /* room for a site's choices in tables by site and choice: the most of any, SPACE_STRIDE at least */
	struct site *site;	/* ascending by node */
	uint32_t *site_of;	/* per node: its site, or NONE */
	uint64_t hash;		/* of the site table: proves that a space was rebuilt the same */
	struct space_account account;
	struct arena mem;
	void *own;
};

/* The kind of a full name, NULL for the one decided where nothing was asked for; NULL with a sentence that names all. */
const struct space_kind *space_kind_find(const char *kind, struct err *err);
/* The kind that makes the program of this name, so that no file is read; NULL: none does. */
const struct space_kind *space_maker(const char *program);
/* The full names of all kinds, for people: a text that lasts. */
const char *space_kind_forms(void);
const struct space_price *space_prices(const struct space_kind *k);
/* The quantities that the kind can price, for people: a text that lasts. */
const char *space_priced(const struct space_kind *k);
/* The full name of a kind without some of its rules ("a,b"), for kinds whose rules have names; -1: too long. */
int space_kind_without(const char *kind, const char *rules, char out[SPACE_KIND_ROOM], struct err *err);
/* The start of that name, or NULL. */
const struct space_start *space_start_find(const struct space *s, const char *name);

/*
 * Opens a space by the full name of its kind (NULL: see above) over a graph for a backend ("cpu", "sim", ...). `dflt`
 * (n_sites bytes, may be NULL) sets the defaults, e.g. those a store kept. NULL with a sentence on failure.
 */
struct space *space_open(const char *kind, const char *backend, const struct graph *g,
	const uint8_t *dflt, size_t n_dflt, struct err *err);
void space_free(struct space *s); /* accepts NULL */

/* For the open functions: sites whose hashes (one per site) are equal become one tie class. */
void space_tie(struct space *s, const uint64_t *hash);

/* Configurations: n_sites bytes owned by the caller. */
void space_default(const struct space *s, uint8_t *config);
void space_random(const struct space *s, double density, struct rng *r, uint8_t *config);
static inline uint64_t config_hash(const struct space *s, const uint8_t *config)
{
	return hash_choices(config, s->n_sites);
}
/* Sets one site; returns the updated hash. */
static inline uint64_t config_flip(uint8_t *config, uint64_t hash, uint32_t site, uint8_t choice)
{
	hash = hash_change(hash, site, config[site], choice);
	config[site] = choice;
	return hash;
}
/* Refuses a configuration with a choice out of range (it may come from a file). */
int config_valid(const struct space *s, const uint8_t *config, size_t n, struct err *err);

#endif
