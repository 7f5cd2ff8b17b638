/*
 * integer.h - integer programs of columns that are 0 or 1, solved by a program of the system.
 *
 *	uint32_t x = integer_column(&p, cost)
 *	integer_row(&p, '>', 1), integer_term(&p, x, 1), ..	each row is what its terms add up to, and a bound
 *	integer_solve(&p, seconds, value, &proved, &err)	makes the sum of the costs of columns that are 1 small
 *	integer_release(&p)
 */
#ifndef SEARCH_INTEGER_H
#define SEARCH_INTEGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct integer_row {
	char sense; /* '<', '=' or '>': at most, exactly, at least */
	double bound;
	size_t first; /* of its terms, which end where those of the next row begin */
};
struct integer_term {
	uint32_t column;
	double times;
};
struct integer { /* all zero is empty */
	double *cost;
	struct integer_row *row;
	struct integer_term *term;
	size_t n, n_rows, n_terms, cap, cap_rows, cap_terms;
};

uint32_t integer_column(struct integer *p, double cost);
void integer_row(struct integer *p, char sense, double bound);
void integer_term(struct integer *p, uint32_t column, double times); /* of the last row */
/*
 * Fills `value` (a byte for each column). `proved` becomes whether no solution is better; if the time was over first,
 * it is the best one found. -1 with a sentence if there is no solver, which names those that can be installed, or no
 * solution.
 */
int integer_solve(const struct integer *p, double seconds, uint8_t *value, bool *proved, struct err *err);
bool integer_solver_exists(void);
void integer_release(struct integer *p);

#endif
