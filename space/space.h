/*
 * space.h - a decision space: the one abstraction between a program and what tunes it.
 *
 * The words, which mean the same everywhere:
 *	site		a node of the graph at which something is decided
 *	choice		what is decided there, a number from 0; 0 is the plain one
 *	configuration	a choice for each site: one byte each
 *	default		the choice that the compiler itself makes, as far as choices can say it
 *	flip		a change of one site to another choice
 *	move		a change of any number of sites: from one configuration to another
 *	class, tie	sites whose surroundings are isomorphic are tied: they form a class
 *	part		a piece of the compiled program that is started on its own: a kernel
 *	region		a pair of small modules that show what a move costs (struct region)
 *
 * Only the space knows what a choice means: which consumers absorb a value (space/fusion), or a number in a
 * formula (space/toy). All others see sites, choices, classes and modules to compile.
 *
 * Configurations have a 64-bit hash (hash_choices in base/hash.h); config_flip updates it in O(1).
 *
 * A space borrows its graph, which must outlive it. Calls on one space are not thread-safe, because they use
 * scratch memory of the space; open one per thread.
 */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "base/quantity.h"
#include "base/rng.h"
#include "graph/graph.h"

struct site {
	uint32_t node;
	uint32_t tie;	 /* its class, 0..n_ties-1 */
	uint8_t choices; /* 2..SPACE_CHOICES */
	uint8_t dflt;	 /* the compiler's own choice, as far as it can be expressed */
};
#define SPACE_CHOICES 255 /* the most choices of a site */
#define SPACE_STRIDE 8	  /* the smallest `stride`; saved searches of spaces with few choices depend on it */

/*
 * Features: the numbers by which a kind describes, to a learner, a node in a configuration (its context) and a flip
 * (its effect). Which choices a site has, and which it may have, the learner sees by itself. Kinds whose choices make
 * groups of instructions, or leave each alone, share the usual features below. Any other kind names its own in
 * space_kind.features.
 */
enum space_scale {
	SCALE_PLAIN, /* about -1 to 4 as it is */
	SCALE_SIZE   /* a count or size of any magnitude, not negative */
};
struct space_feature {
	const char *name, *meaning; /* both are part of what a model was trained on: a change refuses old models */
	enum space_scale scale;
};
struct space_features {
	const struct space_feature *context, *effect;
	uint32_t n_context, n_effect;
};

enum space_context {
	CTX_KEPT,	  /* 1 if its value is written to memory */
	CTX_COPIES,	  /* how many groups compute it */
	CTX_GROUP_NODES,  /* of the largest group that computes it: nodes, ... */
	CTX_GROUP_INPUTS, /* ... values read, */
	CTX_GROUP_BYTES,  /* ... bytes read and written, */
	CTX_GROUP_FLOPS,  /* ... operations. */
	CTX_COUNT
};

/*
 * What one flip would do: totals over the parts of the program that it changes (for fusion: the groups that
 * differ), once before the flip and once after it. A learner can tell a gain from a loss by them.
 */
enum space_effect {
	EFFECT_PARTS,	   /* how many parts */
	EFFECT_NODES,	   /* instructions in them; each copy counts */
	EFFECT_LARGEST,	   /* instructions in the largest part */
	EFFECT_READ,	   /* bytes that they read */
	EFFECT_WRITTEN,	   /* bytes that they write */
	EFFECT_FLOPS,	   /* operations; repeated ones count each time */
	EFFECT_LOADS,	   /* elements fetched from memory; repeated ones count each time */
	EFFECT_ITERATIONS, /* elements of their results: the rounds of their outer loops */
	EFFECT_APART,	   /* fetched elements that do not lie beside those fetched in the round before */
	EFFECT_LINES,	   /* cache lines that all fetches go through, one after the other */
	EFFECT_VALUES,	   /* values that they read */
	EFFECT_CALLS,	   /* elements of functions such as exp */
	EFFECT_FOLDED,	   /* elements that reductions and products fold */
	EFFECT_INDEXED,	   /* elements asked for with an index that a reader makes of its own */
	EFFECT_SOUGHT,	   /* ... with an index that is itself a value: gathers, dynamic slices */
	EFFECT_SERIAL,	   /* operations and fetches of parts that cannot be computed in vectors */
	EFFECT_OVER,	   /* ... of parts that may write over a value that they alone read */
	EFFECT_LONE_FOLDED, /* elements folded by parts of one instruction, which may have code of their own */
	EFFECT_LONE_MOVED, /* elements moved by parts of one instruction, likewise */
	EFFECT_LIBRARY,	   /* operations and fetches of parts that a library computes */
	EFFECT_COUNT
};

/*
 * A region: two modules, a with what a move removes from the program and b with what it adds. The difference of their
 * costs, times `times`, is the difference that this makes to the program. A move may give several regions.
 */
struct region {
	uint64_t key[2];	   /* hash of a, hash of b. Isomorphic regions have the same key in any program;
				      the reverse move has the swapped key and the opposite price */
	double times;		   /* executions per run of the program: copies times the trip counts of their loops */
	uint32_t copies;	   /* how many places of the program it stands for */
	uint32_t n_nodes;	   /* on the larger side */
	uint32_t parts[2];	   /* how many parts a and b have */
	bool whole;		   /* a and b are whole programs, as no smaller pair has this difference: the last, it
				      counts alone */
	bool screen;		   /* it comes before a whole one, which is only worth running if the screens promise
				      a gain */
	bool alike;		   /* a and b should compute the same numbers but for rounding; else it has no price */
	struct buf a, b;	   /* HloModuleProto bytes: before, after */
};
struct regions { /* all zero is empty; regions_release accepts it */
	struct region *v;
	size_t n, cap;
	size_t most, written; /* bytes: whoever cuts may stop before more are written (0: never); so many were */
	bool beyond;	      /* it stopped, and the regions are not all there */
};
void region_release(struct region *r); /* what it holds */
void regions_release(struct regions *r);
/* Regions of the same pair become one, executed so many times more. */
void regions_join(struct regions *r);

struct check_result {
	uint32_t asked, found, equal; /* parts: in the configuration, in the executable, in both */
	char detail[240];	      /* the first difference, for people; empty if the choices were honoured */
};

/* A reason why the choices cannot say what the compiler did to some parts of the program. */
struct space_cause {
	const char *name, *meaning; /* for programs, for people */
	uint32_t parts;
	char first[130]; /* where the first of them differs, for people */
};

/* The account: how well choices can say what the compiler did. `decode` fills it; all zero: nothing was decoded. */
struct space_account {
	uint32_t parts, equal; /* parts of the compiled program (for fusion: groups); those that choices say exactly */
	uint32_t added;	       /* instructions that `restate` added to the program before */
	uint32_t n_causes;     /* all causes that the kind knows, also those that did not occur */
	struct space_cause *cause;
};

struct space;

/* A configuration that a search may start from, or be compared with: of a simple rule, or another compiler's. */
struct space_start {
	const char *name; /* NULL ends a list */
	void (*fill)(struct space *s, uint8_t *config);
};

/*
 * How the moves of a kind are priced in a quantity. Regions and whole programs run on the device, whose figures are
 * of the device's own quantity. Compiled: a figure is read off the whole compiled program; it is exact, for example the
 * bytes of its temporary memory. Formula: space_ops.formula gives it, without a device.
 */
enum pricing { PRICING_NONE, PRICING_REGION, PRICING_WHOLE, PRICING_COMPILED, PRICING_FORMULA };
struct space_price {
	enum quantity quantity;
	enum pricing how; /* PRICING_NONE ends a list */
};

/* How long a kind looks by itself (space_kind.solve); all zero: one second, on all cores. */
struct space_effort {
	double seconds;
	uint64_t steps, seed; /* steps: the most, so that the answer is reproducible; 0: by the clock */
	uint32_t jobs;	      /* threads; 0: one for each core */
	bool (*stop)(void);   /* may be NULL */
};

/*
 * A kind of decision: one folder below space/, and its row in schemas/kind.def. The full name of a space is the kind's
 * name, alone or followed by '/' or ':' and text that the kind itself reads ("fusion/binary", "toy:7").
 */
struct space_kind {
	const char *name;
	const char *forms;   /* the full names that exist, for people */
	const char *about;   /* what is decided, in a few words for --help; may be NULL */
	const char *choices; /* what the number of a choice means, in sentences for people; may be NULL */
	/*
	 * The quantities in which its moves can be priced; the first is the default objective of a search. NULL:
	 * seconds by regions, and bytes as compiled. Read it with space_prices.
	 */
	const struct space_price *prices;
	/* The limits (base/limit.h) of a search to which the user gave neither objective nor limit; NULL: none. */
	const char *limits;
	const struct space_features *features; /* NULL: the usual ones */
	/* Called by space_open with graph and kind set; fills sites, ties, ops. */
	int (*open)(struct space *s, const char *backend, struct err *err);
	/*
	 * For kinds whose programs are made, not read; NULL for others. Appends the HloModuleProto that "NAME:..."
	 * stands for, and writes the full name of its space into `kind`, which has room for SPACE_KIND_ROOM bytes.
	 */
	int (*make)(const char *program, struct buf *module, char *kind, struct err *err);
	/* Returns how many devices programs of this full name are for, 1 where it does not say; NULL: always 1. */
	uint32_t (*devices)(const char *kind);
	/*
	 * Looks for a good configuration in the kind's own way, which knows the formula and needs no prices; a search
	 * then takes that unless told otherwise. May be NULL. -1 with a sentence if it finds none that is allowed.
	 */
	int (*solve)(struct space *s, const struct space_effort *e, uint8_t *config, struct err *err);
	const struct space_option *options;	 /* of its own on the command line; NULL: none */
	const struct space_arranging *arranging; /* for kinds that arrange programs in memory (arranging.h), or NULL */
	/*
	 * For a kind whose answers are programs like those that users hand in, so that another kind can go on with
	 * them: the start (space_start) that sets all places to what promises most by itself. NULL for others.
	 */
	const char *leads;
	/* Decides about programs before any compiler saw them, and wants no calls in them (graph/uncall.h). */
	bool flat;
	const char *answer_file; /* the file in the folder of a search into which `answer` writes, or NULL */
};
#define SPACE_KIND_ROOM 256

/* An option that a kind adds to the command line: another way to say what its full name says. */
struct space_option {
	const char *name; /* "mesh"; NULL ends a list */
	const char *value, *meaning; /* for --help */
	/* Writes the full name `kind` with the option's value added; -1 with a sentence if they do not fit. */
	int (*add)(const char *kind, const char *value, char out[SPACE_KIND_ROOM], struct err *err);
};

/*
 * What an open space can do. Every space needs kind, apply, region, check, context and touched; formula, if the kind
 * prices by formula; and decode or undecided. Whatever else is NULL cannot be done. tests/full_grow.sh has the smallest
 * kind.
 */
struct space_ops {
	const struct space_kind *kind;
	/* The module to compile for a configuration. */
	int (*apply)(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
	/*
	 * Writes a program whose numbers can be compared with the default's, for kinds whose `apply` does not. A kind
	 * that splits values over devices writes the same program with whole values going in and out. A kind that cuts
	 * a program in two (prepares) writes both parts as one. Else NULL.
	 */
	int (*apply_whole)(struct space *s, const uint8_t *config, struct buf *module, struct err *err);
	/* The regions of the move from a to b, no two of them alike; none when a and b are equal. */
	int (*region)(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err);
	/* Did the compiler honour the choices: does the executable (HloModuleProto bytes) do what they say? */
	int (*check)(struct space *s, const uint8_t *config, const void *optimised, size_t n,
		struct check_result *out, struct err *err);
	/* Writes the features of each of `nodes`, which are distinct, node by node. */
	void (*context)(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out);
	/*
	 * Appends the nodes whose context or choice can differ between a and b, ascending and distinct, to *nodes
	 * (grown with MEM_GROW). `changed` are the sites in which a and b differ.
	 */
	void (*touched)(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
		uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap);
	/*
	 * Seconds that a part of a region (struct region) costs in its program beyond what the region shows, in a
	 * program of any size, and what such a part is called. 0 and NULL: a part is a kernel (space/part.h).
	 */
	double part_seconds;
	const char *part;
	/* Returns the cost of a configuration, in the base unit of `q`; NULL if the kind prices nothing by formula. */
	double (*formula)(struct space *s, const uint8_t *config, enum quantity q);
	/*
	 * Reads the program as the compiler left it: sets the defaults and the account, and appends a sentence on how
	 * much of it choices can say. NULL: the compiler's own choices cannot be read back, and the defaults stay as
	 * opened.
	 */
	int (*decode)(struct space *s, const struct graph *after, struct buf *said, struct err *err);
	/*
	 * If the compiler did what no choice can say, appends the program, rewritten so that choices can say it.
	 * Returns how many instructions that adds; if 0, nothing is appended. NULL: the program is never rewritten.
	 */
	uint32_t (*restate)(struct space *s, const struct graph *after, struct buf *module);
	/*
	 * If the compiler made kernels that no choice can say, not even of a rewritten program, appends the program
	 * with these kernels in it, as the compiler made them; or without kernels that it made before the decision, if
	 * choices can say those. Returns how many; if 0, nothing is appended. It is asked of the new program again
	 * until it appends nothing, and comes before `restate`; NULL: there are no such kernels.
	 */
	uint32_t (*adopt)(struct space *s, const struct graph *after, struct buf *module);
	const char *undecided; /* what the defaults are if the compiler's cannot be read, for people */
	/* Appends a few words on the program under a configuration ("31 groups, 4 of them fusions"); may be NULL. */
	void (*summary)(struct space *s, const uint8_t *config, struct buf *out);
	const struct space_start *starts; /* may be NULL */
	/*
	 * What one start is called, if the starts are what people do by hand ("layout made by hand"); else NULL. A
	 * search prices all of them first, makes the best of them the default, and must beat it.
	 */
	const char *by_hand;
	/*
	 * Writes the features of the flip of `site` to `choice`: all as they are before it, then all as they are after
	 * it. Changes `config` meanwhile, and sets it back. The result changes only when the context of the site's
	 * node, of its operands or of its users changes. NULL if the space cannot tell.
	 */
	void (*effect)(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);
	/* The same of a move of any number of sites; of one flip they are equal. NULL: only flips can be told. */
	void (*effect_of)(struct space *s, const uint8_t *from, const uint8_t *to, float *out);
	/*
	 * Takes choices back that together ask for what the compiler never does, although each may be made alone.
	 * Returns how many. NULL: all configurations are allowed.
	 */
	uint32_t (*allow)(struct space *s, uint8_t *config);
	/*
	 * What a typical cost of this program is, in the base unit of `q`, for kinds whose features are relative to it
	 * because each problem counts in a unit of its own. NULL: all programs count alike, as in seconds.
	 */
	double (*grain)(const struct space *s, enum quantity q);
	/* Guesses, before anything was measured or learnt, what a choice would save against choice 0; may be NULL. */
	double (*promise)(struct space *s, uint32_t site, uint8_t choice);
	/* Are moves of this site priced by whole programs, which is dear if the program is large? NULL: none is. */
	bool (*dear)(const struct space *s, uint32_t site);
	/*
	 * Takes what a model expects a choice to save, in any unit, 0 if it rather loses. From then on schemes go by
	 * that instead of what the kind guesses. NULL: the kind does not ask.
	 */
	void (*believe)(struct space *s, uint32_t site, uint8_t choice, double saves);
	/*
	 * Names flips that may pay only together with the flip of `site` to `choice`: at most `most` other sites and
	 * what they would choose. Returns how many. NULL: flips pay alone.
	 */
	uint32_t (*together)(struct space *s, const uint8_t *config, uint32_t site, uint8_t choice, uint32_t *sites,
		uint8_t *choices, uint32_t most);
	/*
	 * Draws the k-th scheme: a configuration that the kind makes from another by a rule, with many flips at once.
	 * Returns false beyond the last. The most promising come first. A scheme that changes nothing is no candidate.
	 * NULL: there are none.
	 */
	bool (*scheme)(struct space *s, const uint8_t *config, uint32_t k, uint8_t *out);
	/*
	 * A search took the move from a to b, at the price of its regions. A kind that has two ways to price moves uses
	 * this to stay with one, since what one way gives and the other takes back would never end. A search that goes
	 * on tells all it took as one move, but not `at_once`. NULL: there is one way.
	 */
	void (*taken)(struct space *s, const uint8_t *a, const uint8_t *b, bool at_once);
	/*
	 * Would choice 0 at the site say less, and be as good wherever it costs no more? A search then takes back what
	 * changes nothing. NULL: nothing is taken back.
	 */
	bool (*plain)(struct space *s, const uint8_t *config, uint32_t site);
	/*
	 * The rule that a choice follows, counted from 1. If the numbers of an answer are refused, what follows one
	 * rule is taken back, and then what follows another. NULL: choices follow no rules.
	 */
	uint32_t (*rule)(struct space *s, uint32_t site, uint8_t choice);
	/* A choice in words, for people; may be NULL. */
	void (*words)(struct space *s, uint32_t site, uint8_t choice, struct buf *out);
	/* What a choice makes of the site's place, as a program in text, for people; may be NULL. */
	void (*picture)(struct space *s, uint32_t site, uint8_t choice, struct buf *out);
	/*
	 * Writes the operations of a site's place, each alone in a module (region.a, region.key[0]): as they are, and
	 * as a choice makes them. Rivals that add up the costs of single operations need it; may be NULL.
	 */
	int (*operators)(struct space *s, uint32_t site, uint8_t choice, struct regions *before, struct regions *after,
		struct err *err);
	/*
	 * Appends, for the page of a search, HTML that shows what two configurations make of the program; may be NULL.
	 */
	void (*page)(struct space *s, const uint8_t *before, const uint8_t *after, struct buf *out);
	/*
	 * Writes the operations that compute a node by a choice of its site (0, or no site: as it is), each alone in a
	 * module, and appends the nodes that they read. Returns 1; 0 if the choice also changes other nodes. For rivals
	 * that choose among all ways to compute a program; may be NULL.
	 */
	int (*alternative)(struct space *s, uint32_t node, uint8_t choice, struct regions *ops, uint32_t **reads,
		size_t *n_reads, size_t *cap_reads, struct err *err);
	/* Writes the decisions for the users of the program, into the kind's answer_file; may be NULL. */
	void (*answer)(struct space *s, const uint8_t *config, struct buf *out);
	/*
	 * Does `apply` write only one of two programs? It then takes, in place of some parameters, values that the
	 * other program computes once for many runs. `answer` writes that other program, `apply_whole` both as one.
	 * Even the default is then not the user's own program.
	 */
	bool prepares;
	/* Frees what does not lie in the memory of the space; may be NULL. */
	void (*release)(struct space *s);
};

struct space {
	const struct space_ops *ops;
	const struct graph *graph;
	char kind[SPACE_KIND_ROOM]; /* the full name, which opens the same space again */
	uint32_t n_sites, n_ties;
	uint32_t stride;	/* row length of tables by site and choice: the most choices, at least SPACE_STRIDE */
	struct site *site;	/* ascending by node */
	uint32_t *site_of;	/* per node: its site, or NONE */
	uint64_t hash;		/* of the site table: proves that a space was rebuilt the same */
	struct space_account account;
	struct arena mem;
	void *own;
};

/* The kind with this full name; NULL asks for the default kind. Returns NULL with a sentence that lists all kinds. */
const struct space_kind *space_kind_find(const char *kind, struct err *err);
/* Iterates over all kinds: returns the one after `last`, the first after NULL, NULL at the end. */
const struct space_kind *space_kind_next(const struct space_kind *last);
/* The kind that makes the program of this name, so that no file is read; NULL if none does. */
const struct space_kind *space_maker(const char *program);
/* The kind that says `leads`, or NULL. */
const struct space_kind *space_leader(void);
/* Is that file a public problem, by its name: NAME.json, perhaps .gz or .zst? But "net:NAME.json" is a program. */
bool space_is_problem(const char *path);
/* The full names of all kinds, for people; the text lasts as long as the process. */
const char *space_kind_forms(void);
/* The same, each with what is decided, and then `more`: for --help. The text lasts until the next call. */
const char *space_kind_words(const char *more);
/*
 * Are the prices of decisions about this program all given by a formula, so that no device is needed? `kind` is what
 * the user asked for; a program that a kind makes is of that kind.
 */
bool space_needs_no_device(const char *program, const char *kind);
/* The quantities in which the kind can price, and how: its own list, or the usual one if it has none. */
const struct space_price *space_prices(const struct space_kind *k);
/* The names of these quantities, for people; the text lasts until the next call. */
const char *space_priced(const struct space_kind *k);
/* Iterates over the options of all kinds: returns the one after `last`, the first after NULL, NULL at the end. */
const struct space_option *space_option_next(const struct space_option *last);
/*
 * Writes the full name `kind` with an option's value added. `kind` may be a list with commas; the option then goes to
 * those of its own kind. -1 with a sentence if there is none; NULL: the user named no kind.
 */
int space_option_add(const struct space_option *o, const char *kind, const char *value, char out[SPACE_KIND_ROOM],
	struct err *err);
/* Writes `kind`, `between` and the value, whose commas become colons as in all full names; -1: it is too long. */
int space_kind_extend(const char *kind, const char *between, const char *value, char out[SPACE_KIND_ROOM],
	struct err *err);
/* What a part of a region is called, for people. */
static inline const char *space_part(const struct space *s)
{
	return s->ops->part ? s->ops->part : "kernel";
}

/* For how many devices programs of this kind (by its full name) are partitioned, 1 at least. */
uint32_t space_kind_devices(const char *kind);
/* For space_ops.context: the usual features where each instruction is a part of its own. */
void space_context_alone(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out);
/* For space_ops.touched: where a choice changes its site alone. */
void space_touched_sites(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap);
/* Appends nodes for space_ops.touched: sorts them, and leaves out what is there twice. */
void space_touched_nodes(uint32_t *nodes, size_t n, uint32_t **out, size_t *n_out, size_t *cap);
/* For space_ops.region, where a formula is the only price: one region with nothing in it. */
int space_region_formula(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err);
/* What the learner counts costs of this program in: its kind's grain, or 1. */
static inline double space_grain(const struct space *s, enum quantity q)
{
	return s->ops->grain ? s->ops->grain(s, q) : 1;
}
/* The start with this name, or NULL. */
const struct space_start *space_start_find(const struct space *s, const char *name);

/*
 * Opens the space with this full name (NULL: the default kind) over a graph, for a backend ("cpu", "sim", ...). `dflt`
 * (n_sites bytes, may be NULL) sets the defaults, e.g. those from a store. NULL with a sentence on failure.
 */
struct space *space_open(const char *kind, const char *backend, const struct graph *g,
	const uint8_t *dflt, size_t n_dflt, struct err *err);
void space_free(struct space *s); /* accepts NULL */

/* For the open functions: sites whose hashes (one per site) are equal become one tie class. */
void space_tie(struct space *s, const uint64_t *hash);

/* Configurations: n_sites bytes owned by the caller. */
void space_default(const struct space *s, uint8_t *config);
/* Writes the program with all choices at their defaults. */
int space_apply_default(struct space *s, struct buf *module, struct err *err);
/*
 * Can a choice of this site change such a cost, as far as is known? In a part of the program that never runs, such as a
 * branch that is not taken, none changes the time.
 */
bool space_matters(const struct space *s, uint32_t site, enum quantity q);
/* How many sites cannot. */
uint32_t space_idle_sites(const struct space *s, enum quantity q);
/* Draws a configuration that is allowed; before that, a site is not the plain one with probability `density`. */
void space_random(struct space *s, double density, struct rng *r, uint8_t *config);
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
