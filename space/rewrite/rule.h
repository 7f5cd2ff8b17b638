/*
 * rule.h - the rules of rewriting, read from the files beside this one.
 *
 * A family of rules is one file, FAMILY.rules, which is built into the program (schemas/rules.md has the format). A
 * rule tells where it applies, what it may write there (its variants), when that is offered, how it is priced and,
 * roughly, what it promises to save. Where it applies and what it writes is a pattern in the file itself (pattern.c),
 * or C code: a `struct rule_code`. tests/check_rewrite_proof.c proves each rule, or names the test that does.
 */
#ifndef SPACE_REWRITE_RULE_H
#define SPACE_REWRITE_RULE_H

#include "space/rewrite/draft.h"

#define FOUND_INSIDE 12	 /* the most nodes that a rule may replace besides its anchor */
#define FOUND_MEASURES 12
#define RULE_VARIANTS 4

/* A place: nodes of the program to which a rule applies. */
struct found {
	uint32_t anchor;	       /* the node whose value is computed in another way */
	uint32_t inside[FOUND_INSIDE]; /* nodes that the new way looks through */
	uint32_t n_inside;
	uint32_t leader; /* of a rule that joins: the node that is computed together with the anchor; else NONE */
	uint32_t side;	 /* ... which operand both have in common */
	bool prepared;	 /* ... whether the other operands of both are prepared once (hoist.c) */
	double measure[FOUND_MEASURES]; /* the rule's code or its pattern names them */
	uint32_t variants;		/* how many of the rule's variants make sense here */
};

static inline bool found_inside(const struct found *f, uint32_t v)
{
	for (uint32_t i = 0; i < f->n_inside; i++)
		if (f->inside[i] == v)
			return true;
	return false;
}

struct rule_code {
	const char *name;
	const char *const *measures; /* names, NULL at the end */
	/* Does it apply to this node? Fills all of `found` except the anchor. */
	bool (*match)(const struct graph *g, uint32_t v, struct found *f);
	/* Writes variant 1, 2 ...; returns the value that replaces the anchor's, with its shape. */
	Hlo__HloInstructionProto *(*write)(struct draft *d, const struct found *f, uint32_t variant);
	/*
	 * A rule that joins computes several nodes with a common operand at once. It has these two instead of `write`.
	 * `alike` returns a hash that is equal for nodes that can be joined; 0: this node cannot. `join` writes what
	 * computes n of them, and sets the value of each.
	 */
	uint64_t (*alike)(const struct graph *g, uint32_t v, uint32_t side);
	void (*join)(struct draft *d, const uint32_t *node, uint32_t n, uint32_t side,
		Hlo__HloInstructionProto **value);
};

struct expr;
struct pattern;
struct rule {
	const char *name, *family, *about;
	const char *variant[RULE_VARIANTS];
	bool kept[RULE_VARIANTS]; /* does it write what the variant before it does, and keep the result in memory? */
	uint32_t n_variants;
	bool whole;			/* is it priced by whole programs? Otherwise by its region */
	bool onednn;			/* is it only for backends that have this library? */
	bool asked;			/* ... for people who ask for it, because it loses digits on some inputs? */
	bool blind;			/* ... and does a place alone not show whether it gains? */
	const struct rule_code *code;	/* or NULL: */
	struct pattern *pattern;
	struct expr *when, *promise; /* NULL: always; nothing */
};

struct rules { /* all zero is empty */
	struct arena mem;
	struct rule *rule;
	size_t n, cap;
};

/* Reads all families that are built in. -1 with a sentence that has file and line. */
int rules_load(struct rules *r, struct err *err);
/* Reads one family from text; its name is for sentences and reports. Tests try texts that are not built in. */
int rules_parse(struct rules *r, const char *family, const char *text, size_t n, struct err *err);
void rules_release(struct rules *r);

/* Does the rule apply at v, and does its condition hold? Fills `f`. */
bool rule_match(const struct rule *r, const struct graph *g, uint32_t v, struct found *f);
/* The same for a rule that joins: does it apply at v with this leader? */
bool rule_match_joined(const struct rule *r, const struct graph *g, uint32_t v, uint32_t leader, uint32_t side,
	struct found *f);
static inline bool rule_joins(const struct rule *r)
{
	return r->code && r->code->join;
}
/* Has it a variant that keeps the result in memory? */
static inline bool rule_may_keep(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_variants; i++)
		if (r->kept[i])
			return true;
	return false;
}
/* How many nanoseconds it saves there, very roughly; 0 if the rule does not say. */
double rule_promise(const struct rule *r, const struct found *f);
Hlo__HloInstructionProto *rule_write(const struct rule *r, struct draft *d, const struct found *f, uint32_t variant);

/* ---- expr.c: "a * (b + 2) <= 64 and c > 1", over named measures ---- */
/* Reads an expression. `names` ends with NULL. Returns NULL with a sentence. */
struct expr *expr_parse(struct arena *mem, const char *text, const char *const *names, struct err *err);
double expr_value(const struct expr *e, const double *measure); /* conditions are 0 or 1 */

/* ---- what code of rules shares ---- */
/* A stride or dilation of a window, which a file may leave out. */
static inline int64_t rule_factor(int64_t v)
{
	return v > 0 ? v : 1;
}
static inline int64_t rule_dim(const struct graph *g, uint32_t v, int64_t i)
{
	return g->node[v].proto->shape->dimensions[i];
}
/*
 * Is it a value that rules can handle? That is an array of real numbers (those of 16 bits are computed as f32, see
 * draft.h) of a shape that follows from its operands; nothing dynamic, nor made of what is, and nothing that must stay
 * as it is.
 */
bool rule_plain(const struct graph *g, uint32_t v);
/* The same of numbers or truths of any type. */
bool rule_regular(const struct graph *g, uint32_t v);
/* The same of complex numbers. */
bool rule_plain_complex(const struct graph *g, uint32_t v);
static inline bool rule_plain_any(const struct graph *g, uint32_t v)
{
	return rule_plain(g, v) || rule_plain_complex(g, v);
}
/* fits.c: does its shape follow from its operands? True for all operations that no rule looks through. */
bool rule_fits(const struct graph *g, uint32_t v);
/* In the body of a loop: is this part i of what it carries, as it came into the turn? */
bool rule_stays(const struct graph *g, uint32_t v, int64_t i);
/* The turns of the loop around a node that leaves it as it is, seen through views; 0: there is none. */
double rule_stays_for(const struct graph *g, uint32_t v);
/* Is it plain, and read only by `user`? */
bool rule_only_for(const struct graph *g, uint32_t v, uint32_t user);
/* Reads a constant of one real number. */
bool rule_constant(const struct graph *g, uint32_t v, double *out);
/* Is it the constant 0? Not what is not a number. */
bool rule_is_zero(const struct graph *g, uint32_t v);
/* Is it of bf16 or f16? */
bool rule_in_16_bits(const struct graph *g, uint32_t v);
/* Is it a reduction that adds up, starting from 0? */
bool rule_is_sum(const struct graph *g, uint32_t v);
/* What a reduction or a window does with two numbers, if that is a sum, a product or an extreme; else NULL. */
const char *rule_combines(const struct graph *g, uint32_t v);
/* The same of sums and extremes, if it starts from the neutral element. */
const char *rule_applied(const struct graph *g, uint32_t v);
/* few.c: a sum of the terms of node v, a reduction or a window, with the sign that it has there where it is 0. */
Hlo__HloInstructionProto *rule_begun(struct draft *d, uint32_t v, Hlo__HloInstructionProto *sum);
/* Reads the dimensions of a dot. False if rules do not understand it: operands and result must have one type. */
bool rule_dot(const struct graph *g, uint32_t v, struct dot_dims *out);
/* The same for a product of numbers of 16 bits that is not rounded to these. */
bool rule_dot_wider(const struct graph *g, uint32_t v, struct dot_dims *out);
/* The same for a product of s8 that is added up in s32. */
bool rule_dot_whole(const struct graph *g, uint32_t v, struct dot_dims *out);
/*
 * The same for laws that only change how a product's sides lie. Its numbers may be narrower than their sums: of 16 or 8
 * bits.
 */
bool rule_dot_laid(const struct graph *g, uint32_t v, struct dot_dims *out);
/* The same for a product of complex numbers. */
bool rule_dot_complex(const struct graph *g, uint32_t v, struct dot_dims *out);
/* The same for laws that hold for both. */
static inline bool rule_dot_any(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	return rule_dot(g, v, out) || rule_dot_complex(g, v, out);
}
/* The number of elements of an array's dimensions. */
double rule_size_of(const struct graph *g, uint32_t v, const int64_t *dims, uint32_t n);
/* The elements of a product's dimensions: those shared, of the rows, of the columns, those summed over. */
void rule_dot_sizes(const struct graph *g, uint32_t v, const struct dot_dims *dims, double *out);
/*
 * turn.c: the order of a side's dimensions in which those summed over are last. Do they stand before others now? Then
 * rule_turn_side writes that side turned in memory, and tells in `dims` where its dimensions are.
 */
bool rule_turning(const struct dot_dims *dims, int side, uint32_t rank, int64_t *order);
Hlo__HloInstructionProto *rule_turn_side(struct draft *d, Hlo__HloInstructionProto *x, int side, struct dot_dims *dims);
/* Is v a product that is turned, and nothing else? Fills the product's dimensions. */
bool rule_turned(const struct graph *g, uint32_t v, struct dot_dims *dims);
/* The same dimensions, for the operands in the other order. */
struct dot_dims rule_other_dims(const struct dot_dims *dims);
/* Writes the product u with its operands in the other order, the new first one turned in memory if `turn`. */
Hlo__HloInstructionProto *rule_other_first(struct draft *d, uint32_t u, bool turn);
/* The same where these stand for the second operand and the first; `dims` has their dimensions, in the old order. */
Hlo__HloInstructionProto *rule_exchanged(struct draft *d, uint32_t u, Hlo__HloInstructionProto *first,
	Hlo__HloInstructionProto *second, const struct dot_dims *dims);
/* Turns a product with its operands in the other order back; the new first one makes so many of its dimensions. */
Hlo__HloInstructionProto *rule_back(struct draft *d, Hlo__HloInstructionProto *x, uint32_t shared, uint32_t first);
/* pool.c: is it a sum or an extreme over windows that rules can handle? */
bool rule_window(const struct graph *g, uint32_t v);
/* Its input, spread and padded. */
Hlo__HloInstructionProto *rule_padded(struct draft *d, uint32_t v);
/* reread.c: operand k of a node, kept in memory if a loop that reads it so many times would compute much for that. */
Hlo__HloInstructionProto *rule_from_memory(struct draft *d, uint32_t v, uint32_t k, double times);
/* To read once counts as so many times, where vector code cannot run along the elements. */
#define RULE_ACROSS 4.0
/* The same for a node with a window, which reads an element as often as it sees it. */
Hlo__HloInstructionProto *rule_seen(struct draft *d, uint32_t v, uint32_t k);
/*
 * What the draft wrote for a node, kept in memory if one reader would compute much of it again, or, if `loops_count`,
 * several would. The same for what it wrote for each part of a tuple.
 */
Hlo__HloInstructionProto *rule_kept(struct draft *d, uint32_t v, Hlo__HloInstructionProto *x, bool loops_count);
void rule_kept_parts(struct draft *d, uint32_t v, Hlo__HloInstructionProto **part, uint32_t n);
/* network.c: an array sorted along a dimension, the smallest first, by comparing two elements at a time. */
Hlo__HloInstructionProto *rule_network(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim);
/*
 * library.c: can oneDNN compute with floats of this type; a product with these dimensions? Then rule_called writes it,
 * with results of a type.
 */
bool rule_called_type(const struct graph *g, uint32_t v);
bool rule_callable(const struct dot_dims *dims);
Hlo__HloInstructionProto *rule_called(struct draft *d, Hlo__HloInstructionProto *a, Hlo__HloInstructionProto *b,
	struct dot_dims dims, int32_t dtype);
/*
 * narrow.c: the node of a product's side, or of what is transposed into it, if the order of its other dimensions stays;
 * `dims` is then of that node. XLA multiplies it as it lies.
 */
uint32_t rule_wide_side(const struct graph *g, uint32_t v, int side, struct dot_dims *dims);
/* Do two products ask for the same precision? */
bool rule_as_precise(const Hlo__HloInstructionProto *a, const Hlo__HloInstructionProto *b);

#endif
