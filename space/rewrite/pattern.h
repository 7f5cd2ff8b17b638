/*
 * pattern.h - rules that a few lines of text say.
 *
 *	match t[b m l] = dot a[b m k] x[b k l]
 *	match y[b m n] = dot t c[b l n]
 *	write u[b k n] = dot x c
 *	write y = dot a u
 *
 * A value is a name and the letters of its dimensions, which may be left out where they are known. A letter stands for any
 * number of dimensions, none included, in any order: which they are follows from the program. The operations are dot, add, subtract,
 * multiply, sum (letters that are gone are summed over) and broadcast (letters that are new are repeated). The last line
 * of each part is the value in question. Values that no line computes are what the place reads.
 */
#ifndef SPACE_REWRITE_PATTERN_H
#define SPACE_REWRITE_PATTERN_H

#include "space/rewrite/rule.h"

#define PATTERN_VALUES 12
#define PATTERN_LINES 8

enum pattern_op { PATTERN_DOT, PATTERN_ADD, PATTERN_SUBTRACT, PATTERN_MULTIPLY, PATTERN_SUM, PATTERN_BROADCAST };

struct pattern_line {
	enum pattern_op op;
	uint32_t value, operand[2], n_operands; /* of pattern.value */
};

struct pattern {
	struct {
		char name[8];
		uint32_t letters; /* a bit each, 'a' first */
		bool known;	  /* its letters were said */
	} value[PATTERN_VALUES];
	struct pattern_line match[PATTERN_LINES], write[PATTERN_LINES];
	uint32_t n_values, n_match, n_write;
	const char *measures[FOUND_MEASURES + 1]; /* the letters, in order; their sizes are what conditions speak of */
};

/* Adds a line behind "match" or "write"; -1 with a sentence. */
int pattern_line(struct pattern *p, struct arena *mem, const char *text, bool write, struct err *err);
/* Is it whole? Each line's value is used, the last one's is the same in both parts. */
int pattern_check(const struct pattern *p, struct err *err);
bool pattern_match(const struct pattern *p, const struct graph *g, uint32_t v, struct found *f);
Hlo__HloInstructionProto *pattern_write(const struct pattern *p, struct draft *d, const struct found *f);

#endif
