/*
 * rule.h - what a better graph may look like: rules, read from the files beside this one.
 *
 * A family of rules is one file, FAMILY.rules, built into the program; schemas/rules.md says how they are written.
 * A rule says where it applies, what it may write there (its variants), when that is worth offering, how it is
 * priced and, roughly, what it promises. Where it applies and what it writes is either a pattern in the file itself
 * (pattern.c) or the name of a `struct rule_code`, C that does both. No rule is used that
 * tests/check_rewrite_proof.c does not prove.
 */
#ifndef SPACE_REWRITE_RULE_H
#define SPACE_REWRITE_RULE_H

#include "space/rewrite/draft.h"

#define FOUND_INSIDE 12	 /* nodes that a rule may replace besides its anchor */
#define FOUND_MEASURES 12
#define RULE_VARIANTS 4

/* A place where a rule applies. */
struct found {
	uint32_t anchor;	       /* the node whose value is computed in another way */
	uint32_t inside[FOUND_INSIDE]; /* nodes that the new way looks through */
	uint32_t n_inside;
	double measure[FOUND_MEASURES]; /* as named by the rule's code or its pattern */
	uint32_t variants;		/* how many of the rule's make sense here */
};

struct rule_code {
	const char *name;
	const char *const *measures; /* names, NULL at the end */
	/* Does it apply to this node? Fills all of `found` but the anchor. */
	bool (*match)(const struct graph *g, uint32_t v, struct found *f);
	/* Writes variant 1, 2 ...; returns the value that takes the anchor's place, of its shape. */
	Hlo__HloInstructionProto *(*write)(struct draft *d, const struct found *f, uint32_t variant);
};

struct expr;
struct pattern;
struct rule {
	const char *name, *family, *about;
	const char *variant[RULE_VARIANTS];
	uint32_t n_variants;
	bool whole;			/* priced by whole programs; else by its region */
	uint16_t opcode;		/* of the anchor, OP_COUNT: any */
	const struct rule_code *code;	/* or NULL: */
	struct pattern *pattern;
	struct expr *when, *promise; /* NULL: always; nothing */
};

struct rules { /* all zero is empty */
	struct arena mem;
	struct rule *rule;
	size_t n, cap;
};

/* All families that were built in. A mistake in one is a sentence with file and line. */
int rules_load(struct rules *r, struct err *err);
/* One family from text; the name is for sentences and reports. */
int rules_parse(struct rules *r, const char *family, const char *text, size_t n, struct err *err);
void rules_release(struct rules *r);

/* Does it apply, and is it worth offering? */
bool rule_match(const struct rule *r, const struct graph *g, uint32_t v, struct found *f);
/* Nanoseconds that it saves there, very roughly; 0: nothing is said. */
double rule_promise(const struct rule *r, const struct found *f);
Hlo__HloInstructionProto *rule_write(const struct rule *r, struct draft *d, const struct found *f, uint32_t variant);

/* ---- expr.c: "a * (b + 2) <= 64 and c > 1", over named measures ---- */
/* NULL with a sentence; *at is moved behind it. `names` ends with NULL. */
struct expr *expr_parse(struct arena *mem, const char *text, const char *const *names, struct err *err);
double expr_value(const struct expr *e, const double *measure); /* conditions are 0 or 1 */

/* ---- what code of rules shares ---- */
static inline int64_t rule_dim(const struct graph *g, uint32_t v, int64_t i)
{
	return g->node[v].proto->shape->dimensions[i];
}
/*
 * An array of real numbers that addition does not round to a few digits, nothing dynamic, nothing that must stay as
 * it is; its shape is the one that its operands give it.
 */
bool rule_plain(const struct graph *g, uint32_t v);
/* fits.c: does an instruction have the shape that its operands give it? True for operations that no rule looks through. */
bool rule_fits(const struct graph *g, uint32_t v);
/* Plain, and read by `user` alone. */
bool rule_only_for(const struct graph *g, uint32_t v, uint32_t user);
/* The dimensions of a dot, if it is one that rules understand: operands and result of one type. */
bool rule_dot(const struct graph *g, uint32_t v, struct dot_dims *out);

#endif
