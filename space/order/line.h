/*
 * line.h - a computation as a problem of ordering: steps, the values they make and read, and what each value weighs.
 *
 * A step is an instruction. A value begins at the step that makes it and dies after the last step that reads it, in
 * whatever order the steps run; what is alive together needs memory together. Steps that run other computations need
 * the memory of these while they run (`inside`). Nothing here knows HLO: synthetic graphs are lines, too.
 *
 * At a step the values that it reads and those that it makes are alive together, but for a pair of `shares`: where the
 * read one dies at that step, the made one takes its place.
 *
 * Some steps do nothing (parameters, constants): they are pinned, which is to say that they come first in every order.
 *
 * A line is built by adding its parts (line_init, line_pin, line_after, line_value, line_reads, line_shares), then
 * line_finish once. It does not change any more then, but for the bytes of values and what is inside a step;
 * line_release frees it.
 */
#ifndef SPACE_ORDER_LINE_H
#define SPACE_ORDER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_pair {
	uint32_t a, b;
};
struct line_pairs { /* while a line is being built */
	struct line_pair *v;
	size_t n, cap;
};
struct line_list { /* per owner its items, ascending and distinct: item[first[i]] ... item[first[i + 1] - 1] */
	uint32_t *first, *item;
};

struct line_value {
	uint32_t maker; /* step */
	uint64_t bytes;
};

struct line {
	uint32_t n, n_values;
	struct line_value *value;
	int64_t *inside;		/* per step: bytes needed while it runs, besides what is alive around it */
	uint8_t *pinned;		/* per step */
	uint32_t n_pinned;
	struct line_list before, after; /* per step: the steps that must come before it, and after it */
	struct line_list reads, makes;	/* per step: values */
	struct line_list readers;	/* per value: steps */
	struct line_list twins; /* per value: others, of its size, whose place it takes where they die at its maker */
	struct line_pairs edges, uses, shares; /* until line_finish */
	size_t cap_values;
};

void line_init(struct line *l, uint32_t steps);
/* Only for a step that comes after no other. */
void line_pin(struct line *l, uint32_t step);
/* Step `b` comes after step `a`. */
void line_after(struct line *l, uint32_t a, uint32_t b);
/* A value that `maker` makes; returns its number. */
uint32_t line_value(struct line *l, uint32_t maker, uint64_t bytes);
/* `step` reads it, and so comes after its maker. */
void line_reads(struct line *l, uint32_t step, uint32_t value);
/* `made` may be written over `read`, which its maker reads and which is as large. No two values that a step makes over
 * the same one. */
void line_shares(struct line *l, uint32_t made, uint32_t read);
void line_finish(struct line *l);
void line_release(struct line *l); /* accepts an empty one */

/* Is it an order of all steps in which each comes after those that it must? */
bool line_legal(const struct line *l, const uint32_t *order);
/* Puts what is pinned first, and leaves all else in its sequence. */
void line_settle(const struct line *l, uint32_t *order);

#endif
