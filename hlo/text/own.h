/*
 * own.h - what the files that read HLO text share.
 *
 *	lex.c	    tokens, and sentences that point at a place
 *	value.c     numbers, strings, names, lists
 *	shape.c     shapes and layouts
 *	literal.c   constants
 *	attr.c	    attributes, by table
 *	form.c	    the forms that attributes are written in
 *	window.c    attributes about dimensions
 *	alias.c     attributes about buffers
 *	note.c	    notes beside the program
 *	shard.c     shardings and device lists
 *	op.c	    one instruction
 *	operand.c   its operands
 *	infer.c     its shape where none is written
 *	default.c   what else is not written
 *	async.c     instructions that wrap another
 *	frame.c     stack frames
 *	text.c	    computations and the module
 *
 * The reader looks one token ahead. An offence is whatever makes the text invalid. Only the first one is
 * noted; from then on the reader sees the end of the text, so every loop ends, and only the top has to ask
 * whether something failed. Pointers that functions return stay valid, and fields that were not read hold
 * their default.
 */
#ifndef HLO_TEXT_OWN_H
#define HLO_TEXT_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "hlo/field.h"
#include "hlo/names.h"
#include "hlo/op.h"
#include "hlo/shape.h"
#include "hlo/text/text.h"
#include "hlo/words.h"

/* A punctuation mark is its own kind. */
enum token_kind {
	T_END = 256,
	T_NAME,	  /* %name or name: */
	T_ATTR,	  /* name= */
	T_WORD,	  /* anything else of letters */
	T_LABELS, /* bf01_oi01->bf01 */
	T_PADS,	  /* 0_1x2_3 */
	T_SIZES,  /* 2x3x4 */
	T_REAL,	  /* 1.5e3, nan, -inf */
	T_INT,
	T_STRING, /* with its quotes */
	T_ARROW,  /* -> */
	T_ATMOST, /* <= */
	T_DOTS	  /* ... */
};

struct token {
	int kind;
	const char *s; /* without %, : and = */
	size_t n;
	const char *at; /* where it begins */
};

struct int_list {
	int64_t *v;
	size_t n, cap;
};
struct ptr_list {
	void **v;
	size_t n, cap;
};
void int_list_add(struct int_list *l, int64_t x);
void ptr_list_add(struct ptr_list *l, void *p);

struct lexer; /* what the pattern matched last */

struct text {
	const char *name, *begin, *end;
	const char *at; /* the first character after the current token */
	struct token tok;
	struct lexer *lexer;
	struct err *err;
	bool bad;
	int depth;
	struct arena *mem;
	const struct hlo_words *words;
	const struct attr_row *in_attr; /* the attribute being read, for sentences; or NULL */

	Hlo__HloModuleProto *m;
	struct ptr_list comps;	 /* Hlo__HloComputationProto, in the order of their ids */
	struct names comp_names; /* to the index in comps */
	int64_t entry;		 /* index, or -1 */
	const char *entry_at;
	struct uniquer comp_uniq, ins_uniq, anon_uniq;
	bool scheduled;
	struct ptr_list sequences;    /* Hlo__ScheduledSequence */
	Hlo__StackFrameIndex *frames; /* as the text has them, or NULL */
	bool layout_given; /* entry_computation_layout */
	size_t filled;	   /* bytes of constants filled in */
	uint32_t count32;  /* the counter that fills them in, for elements of 4 bytes */
	uint8_t count8;
	struct int_list ints;	  /* the list of numbers that is being read */
	struct buf scratch;
};

/* One computation while its instructions are read. Ids are local until it is complete. */
struct scope {
	Hlo__HloComputationProto *comp;
	struct ptr_list ins; /* Hlo__HloInstructionProto */
	struct names names;
	uint32_t root; /* or NAMES_NONE */
};

/* lex.c */
struct lexer *lexer_new(void);
void lexer_free(struct lexer *l);
void text_next(struct text *p);
/* Notes an offence, unless there is one already; the caret goes under `at`. Always returns false. */
bool text_wrong_at(struct text *p, const char *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool text_expected(struct text *p, const char *what); /* "expected X, found the current token" */
bool text_is(const struct text *p, int kind);
bool text_word_is(const struct text *p, const char *word); /* a T_WORD that reads so */
bool text_attr_is(const struct text *p, const char *name); /* a T_ATTR of that name */
bool text_accept_word(struct text *p, const char *word);   /* goes past the word if it is there */
bool text_accept_attr(struct text *p, const char *name);
bool text_accept(struct text *p, int kind);		   /* goes past it if it is there */
bool text_expect(struct text *p, int kind);
char text_peek(const struct text *p); /* the character after the current token and blanks; 0 at the end */
/*
 * A list is read by: for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) item(p);
 * This goes past the opening mark, the commas and the closing mark.
 */
bool text_first(struct text *p, int open, int close);
bool text_again(struct text *p, int close);
/* The first character after the string that begins at s, or NULL. */
const char *text_string_end(const char *s, const char *end);
bool text_enter(struct text *p); /* one level deeper; too deep is an offence. Call text_leave in any case */
void text_leave(struct text *p);

/* value.c */
int64_t text_int(struct text *p);
int64_t text_int_in(struct text *p, int64_t low, int64_t high);
double text_real(struct text *p);
bool text_bool(struct text *p);
/* A T_STRING, unescaped, in the arena, with a NUL after it. A NUL inside is an offence if n is NULL. */
char *text_string(struct text *p, size_t *n);
/* The text from "{" to its partner, unchanged. */
char *text_braces(struct text *p, size_t *n);
char *text_name(struct text *p, const char *what); /* T_NAME or T_WORD */
char *text_keep(struct text *p, const char *s, size_t n);

/* Messages, and lists of them; text_set_list frees the list. */
void *text_message(struct text *p, const ProtobufCMessageDescriptor *d);
void *text_add(struct text *p, struct ptr_list *l, const ProtobufCMessageDescriptor *d);
void text_set_list(struct text *p, const struct field *w, struct ptr_list *l);
void **text_keep_ptrs(struct text *p, const struct ptr_list *l);
int64_t *text_keep_ints(struct text *p, const struct int_list *l);

/* shape.c */
Hlo__ShapeProto *text_shape(struct text *p);
bool text_at_shape(const struct text *p);
Hlo__ShapeProto *shape_simple(struct text *p, uint8_t dtype); /* a scalar or a token */
/* A tuple of these shapes, which are not copied. One larger than any program needs is an offence at `at`. */
Hlo__ShapeProto *shape_tuple(struct text *p, Hlo__ShapeProto **v, size_t n, const char *at);

/* literal.c */
Hlo__Literal *text_literal(struct text *p, Hlo__ShapeProto *shape);
Hlo__Literal *text_shaped_literal(struct text *p); /* the shape stands before it; in a tuple, before each part */

/* attr.c */
/* Where attributes are read to: values into `message`, called computations into `called`. */
struct attr_target {
	void *message;
	void *extra; /* the wrapped instruction of an async-start, or NULL: gets its own and the common ones */
	struct scope *scope;
	struct ptr_list called[12]; /* by row; each holds Hlo__HloComputationProto */
	uint64_t seen[3];	    /* of attr_row, by index */
};
enum { ATTR_LIST, ATTR_BRACES };
void text_attrs(struct text *p, struct attr_target *t, const struct attr_set *const *sets, int n_sets, int how);
bool attr_seen(const struct attr_target *t, const char *key);
/* Notes that this attribute makes the instruction call c. */
void attr_call(struct text *p, struct attr_target *t, const struct attr_row *row, Hlo__HloComputationProto *c);
void attr_target_release(struct attr_target *t);
/* All called computations in the order of their rows. */
void attr_called(const struct attr_target *t, struct ptr_list *out);

/* form.c: reads one value into the field at the row's path. */
void text_form(struct text *p, struct attr_target *t, void *message, const struct attr_row *row);
void text_ints(struct text *p, int open, int close); /* into p->ints, replacing what was there */
int text_word_of(struct text *p, enum word_kind kind); /* the number of the word */

/* window.c */
void text_slices(struct text *p, const struct field *w);
void text_padding(struct text *p, const struct field *w);
void text_window(struct text *p, const struct field *w);
void text_dim_labels(struct text *p, const struct field *w);
void text_sparsity(struct text *p, const struct field *w);

/* alias.c */
int64_t *text_shape_index(struct text *p, size_t *n);
void text_aliasing(struct text *p, const struct field *w);
void text_module_alias(struct text *p, const struct field *w);
void text_donor(struct text *p, const struct field *w);
void text_entry_layout(struct text *p, const struct field *w);

/* note.c */
void text_metadata(struct text *p, Hlo__OpMetadata *m);
void text_frontend(struct text *p, const struct field *w);
void text_statistics(struct text *p, const struct field *w);
void text_origin(struct text *p, const struct field *w);

/* shard.c */
Hlo__OpSharding *text_sharding(struct text *p);
void text_devices(struct text *p, Hlo__HloInstructionProto *in);

/* What is known of an instruction before its attributes are read. */
struct line {
	struct scope *scope;
	Hlo__HloInstructionProto *in;
	Hlo__ShapeProto *shape; /* as written, or NULL */
	uint16_t op, wrapped; /* wrapped is OP_COUNT if it wraps nothing */
	const char *at;	 /* where the opcode begins */
	struct int_list operands;
};
static inline Hlo__HloInstructionProto *line_operand(const struct line *l, size_t i)
{
	return l->scope->ins.v[l->operands.v[i]];
}

/* op.c: "[ROOT] name = ..." */
void text_instruction(struct text *p, struct scope *s);
/* Reads an instruction without a name in place of an operand; appends its index to `out`. */
void text_nested(struct text *p, struct scope *s, struct int_list *out);
Hlo__HloInstructionProto *text_new_instruction(struct text *p, uint16_t op);
void text_set_operands(struct text *p, Hlo__HloInstructionProto *in, const struct int_list *v);
void text_set_called(struct text *p, Hlo__HloInstructionProto *in, const struct ptr_list *called);
uint16_t text_opcode(const char *s, size_t n); /* OP_COUNT if there is none */

/* operand.c: "(x, f32[] y, t#1)" */
void text_operands(struct text *p, struct scope *s, struct int_list *out);

/* infer.c */
Hlo__ShapeProto *infer_shape(struct text *p, const struct line *l, const struct ptr_list *called);

/* default.c: before the attributes are read, and after */
void default_before(struct text *p, Hlo__HloInstructionProto *in, uint16_t op, size_t n_operands);
void default_after(struct text *p, const struct line *l, Hlo__HloInstructionProto *in, uint16_t op);

/* async.c */
bool async_opcode(struct line *l, const char *s, size_t n); /* "dot-start"; fills op and wrapped */
bool async_is(uint16_t op);
void async_attrs(struct text *p, struct line *l, struct attr_target *t);
/* Ends a start's line: puts what it wraps into a computation of its own, which replaces those in `called`. */
void async_wrap(struct text *p, const struct line *l, Hlo__HloInstructionProto *root, struct ptr_list *called);
/* A computation run by an async operation runs on that operation's thread. */
void async_thread(const struct line *l, const struct ptr_list *called);

/* frame.c: the stack frames that instructions name, renumbered */
void text_frames(struct text *p);

/* text.c: "{ instructions }" of a computation of that name; NULL when bad */
Hlo__HloComputationProto *text_computation(struct text *p, const char *name);
/* Makes a computation from instructions that stand in no text; releases the scope. */
Hlo__HloComputationProto *text_close_scope(struct text *p, struct scope *s, const char *name);
uint32_t scope_add(struct text *p, struct scope *s, Hlo__HloInstructionProto *in, const char *name, size_t n,
	const char *at);

#endif
