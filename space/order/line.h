/*
 * line.h - a line: one computation as a problem of ordering, with its steps, the values that they make and read, and
 * the weight of each value.
 *
 * A step is an instruction. A value is alive from the step that makes it to the last step that reads it, in the order
 * in which the steps run. Values that are alive together need memory together; the weight of a value is the bytes that
 * it needs. A step that runs another computation needs the memory of that computation while it runs (`inside`). Nothing
 * here knows HLO: synthetic graphs are lines, too.
 *
 * At a step, the values that it reads and the values that it makes are alive together, with one exception: two values
 * may be twins (line_shares). If the read one dies at the step that makes the other, the other takes its place.
 *
 * Some steps do nothing (parameters, constants). They are pinned: they come first in every order.
 *
 * To build a line, call line_init, add to it with line_pin, line_after, line_value, line_reads and line_shares, and
 * call line_finish once. After that only the bytes of values and `inside` may change. line_release frees it.
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
	int64_t *inside;		/* per step: bytes that it needs while it runs, besides the values alive then */
	uint8_t *pinned;		/* per step */
	uint32_t n_pinned;
	struct line_list before, after; /* per step: the steps that must come before it, and after it */
	struct line_list reads, makes;	/* per step: values */
	struct line_list readers;	/* per value: steps */
	struct line_list twins; /* per value: values whose place it takes if they die at its maker */
	struct line_pairs edges, uses, shares; /* until line_finish */
	size_t cap_values;
};

void line_init(struct line *l, uint32_t steps);
/* Pins a step. It must not come after another step. */
void line_pin(struct line *l, uint32_t step);
/* Step `b` comes after step `a`. */
void line_after(struct line *l, uint32_t a, uint32_t b);
/* Adds a value that step `maker` makes; returns its number. */
uint32_t line_value(struct line *l, uint32_t maker, uint64_t bytes);
/* `step` reads the value, and so comes after its maker. */
void line_reads(struct line *l, uint32_t step, uint32_t value);
/*
 * `made` may be written over `read`. The maker of `made` must read `read`, both must be equally large, and no two
 * values of one maker may be written over the same value.
 */
void line_shares(struct line *l, uint32_t made, uint32_t read);
void line_finish(struct line *l);
void line_release(struct line *l); /* accepts an empty one */

/* Does the order have each step once, after all steps that it must come after? */
bool line_legal(const struct line *l, const uint32_t *order);
/* Moves the pinned steps of an order to the front. The others keep their sequence. */
void line_settle(const struct line *l, uint32_t *order);

#endif
