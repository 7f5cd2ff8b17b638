/*
 * words.h - the vocabulary of HLO text, expanded from schemas/hlo_attr.def, hlo_op.def and
 * hlo_enum.def, for the reader (hlo/text/) and the printer (hlo/print/) alike.
 */
#ifndef HLO_WORDS_H
#define HLO_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hlo/op.h"

enum word_kind {
	WORDS_NONE,
	WORDS_FFT,
	WORDS_TRANSPOSE,
	WORDS_DISTRIBUTION,
	WORDS_RNG,
	WORDS_PADDING,
	WORDS_PRECISION,
	WORDS_DOT,
	WORDS_SCHEDULE,
	WORDS_API,
	WORDS_CONVOLUTION,
	WORDS_ACCURACY,
	WORDS_ALIAS,
	WORDS_SHARDING,
	WORDS_REDUCTION,
	WORDS_DIRECTION,
	WORDS_COMPARISON,
	WORDS_FUSION,
	WORDS_GROUP_MODE
};

enum attr_form {
	FORM_IGNORED,	     /* a word of the list; it is dropped */
	FORM_SKIPPED,	     /* braces with anything in them; they are dropped */
	FORM_INT,	     /* 3 */
	FORM_DIMENSION,	     /* 3; in the message it is a list of one */
	FORM_BOOL,	     /* true */
	FORM_TRISTATE,	     /* true; in the message 1 is true, 2 is false or not written */
	FORM_FLOAT,	     /* 0.001 */
	FORM_WORD,	     /* a word of the list; a number in the message */
	FORM_WORDS,	     /* {highest,default} */
	FORM_NAME,	     /* a word of the list; a string in the message */
	FORM_STRING,	     /* "x" */
	FORM_STRING_OR_JSON, /* "x" or {"a":1} */
	FORM_INTS,	     /* {0,1} */
	FORM_BOOLS,	     /* {true,false}, or one without braces */
	FORM_INT_LISTS,	     /* {{1,2},{3}}; one list in the message */
	FORM_PAIRS,	     /* {{0,1},{1,0}} */
	FORM_DEVICES,	     /* {{0,1},{2,3}} or [2,2]<=[4] or mesh['x'=4] {'x'} */
	FORM_SLICE,	     /* {[0:8:2], [1:2]} */
	FORM_PADDING,	     /* 0_1x2_3_1 */
	FORM_WINDOW,	     /* {size=2x2 stride=1x2 pad=0_0x1_1 ...} */
	FORM_DIM_LABELS,     /* bf01_oi01->bf01 */
	FORM_SPARSITY,	     /* {lhs={sparsity=2x4 dimension=1}} */
	FORM_SHAPE,	     /* f32[2]{0} */
	FORM_SHAPES,	     /* {f32[2]{0}, s32[]} */
	FORM_LITERAL,	     /* f32[2] {1, 2} */
	FORM_ALIASING,	     /* {{0}: (1, {})} */
	FORM_SHARDING,	     /* {devices=[2,1]0,1} */
	FORM_DOMAIN,	     /* {kind="sharding", entry={...}, exit={...}} */
	FORM_METADATA,	     /* {op_name="a" source_line=3} */
	FORM_FRONTEND,	     /* {a="b",c={"d":1}} */
	FORM_STATISTICS,     /* {visualizing_index=0,a=1.5} */
	FORM_ORIGIN,	     /* {({"a" {0}}, {"b"})} */
	FORM_ACCURACY,	     /* {mode=highest} or {tolerance={atol=1,ulps=2}} */
	FORM_PREDECESSORS,   /* {a, b} */
	FORM_COMPUTATION,    /* name or { instructions } */
	FORM_COMPUTATIONS,   /* {name, name} */
	FORM_MODULE_ALIAS,   /* { {0}: (1, {}, may-alias) } */
	FORM_DONOR,	     /* { (0, {}) } */
	FORM_ENTRY_LAYOUT    /* {(f32[2]{0})->f32[]} */
};

enum shape_rule {
	SHAPE_GIVEN,
	SHAPE_FIRST,
	SHAPE_SECOND,
	SHAPE_LIKE,
	SHAPE_TUPLE,
	SHAPE_ELEMENT,
	SHAPE_CALLED,
	SHAPE_U32,
	SHAPE_TOKEN,
	SHAPE_DEPENDENCY,
	SHAPE_INFEED,
	SHAPE_SEND,
	SHAPE_RECV,
	SHAPE_RECV_DONE
};

struct attr_row {
	const char *key, *name; /* the name is the key without its prefix */
	enum attr_form form;
	enum word_kind words;
	int fallback;
	const char *path;
};

#define ATTR_LIMIT 192
struct attr_set { /* indices of rows, ascending as in hlo_op.def */
	uint8_t n, row[40];
	uint64_t required; /* bit i: row[i] */
};

struct op_row {
	bool known;
	int operands; /* how many; -1: any number */
	int calls;    /* how many computations; -1: any number */
	enum shape_rule shape;
	struct attr_set attrs; /* its own; the common ones are not listed */
};

/* All rows by opcode and by key; the first caller makes it, once per process. */
struct hlo_words {
	struct attr_row attr[ATTR_LIMIT];
	uint8_t n_attr;
	struct op_row op[OP_COUNT + 1];
	struct attr_set common, metadata, location, frame, module, comp;
};
const struct hlo_words *hlo_words(void);

/* The row of that key; a BUG if there is none. */
const struct attr_row *hlo_attr(const char *key);

/* The number of a word, or -1; the word of a number, or NULL. */
int hlo_word_number(enum word_kind kind, const char *s, size_t n);
const char *hlo_word(enum word_kind kind, int64_t number);
/* "a, b or c", for sentences. */
void hlo_word_list(enum word_kind kind, char *out, size_t size);

#endif
