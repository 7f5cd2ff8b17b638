/*
 * pattern.h - a pattern: a rule of rewriting in a few lines of text.
 *
 *	match t[b m l] = dot a[b m k] x[b k l]
 *	match y[b m n] = dot t c[b l n]
 *	write u[b k n] = dot x c
 *	write y = dot a u
 *
 * A value has a name and a letter for each of its dimensions. The letters may be left out if they are known already. A
 * letter stands for any number of dimensions, also none, in any order; the program decides which. The operations are
 * dot, add, subtract, multiply, sum (over the letters that the result does not have) and broadcast (along the letters
 * that only the result has). The last line of each part computes the value that is replaced. The place reads the values
 * that no line computes.
 */
#ifndef SPACE_REWRITE_PATTERN_H
#define SPACE_REWRITE_PATTERN_H

#include "space/rewrite/rule.h"

#define PATTERN_VALUES 12
#define PATTERN_LINES 8
#define PATTERN_COMPLEX "complex" /* a measure: 1 if the numbers are complex, else 0 */

enum pattern_op { PATTERN_DOT, PATTERN_ADD, PATTERN_SUBTRACT, PATTERN_MULTIPLY, PATTERN_SUM, PATTERN_BROADCAST };

struct pattern_line {
	enum pattern_op op;
	uint32_t value, operand[2], n_operands; /* of pattern.value */
};

struct pattern {
	struct {
		char name[8];
		uint32_t letters; /* a bit for each letter, 'a' first */
		bool known;	  /* were its letters given? */
	} value[PATTERN_VALUES];
	struct pattern_line match[PATTERN_LINES], write[PATTERN_LINES];
	uint32_t n_values, n_match, n_write;
	const char *measures[FOUND_MEASURES + 1]; /* the letters, in order, for their sizes; and PATTERN_COMPLEX */
};

/* Adds the text of a line "match" or "write"; -1 with a sentence. */
int pattern_line(struct pattern *p, struct arena *mem, const char *text, bool write, struct err *err);
/*
 * Checks the whole pattern: each line's value is used, and the last value is the same in both parts. -1 with a
 * sentence.
 */
int pattern_check(const struct pattern *p, struct err *err);
bool pattern_match(const struct pattern *p, const struct graph *g, uint32_t v, struct found *f);
/* Variant 2 keeps operands that are smaller than the result in memory. */
Hlo__HloInstructionProto *pattern_write(const struct pattern *p, struct draft *d, const struct found *f,
	uint32_t variant);

#endif
