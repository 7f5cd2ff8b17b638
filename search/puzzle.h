/*
 * puzzle.h - `search` on a public problem of placement instead of a program: no compiler, no device, a formula.
 *
 * Such a problem is a JSON file, perhaps packed: a net of the iopddl contest (space/net), or operations to be placed
 * on devices, of dnn-partitioning (space/place). The answer is in the form in which its owners want it.
 */
#ifndef SEARCH_PUZZLE_H
#define SEARCH_PUZZLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"

struct puzzle_settings {
	const char *path;
	const char *out; /* file for the answer; NULL: standard output */
	double seconds;
	int64_t seed, jobs, steps;
	bool json, quiet;
	int strategy, goal; /* of placing: enum placing_strategy, enum place_goal; */
	const struct opt_list *given; /* the names of the options on the command line, to refuse those without effect */
};

/* Appends the name of the program that stands for the problem (space_kind.make), for --strategy. goal -1: not named. */
int puzzle_program(const char *path, int goal, struct buf *name, struct err *err);
int puzzle_solve(const struct puzzle_settings *set, struct err *err);

#endif
