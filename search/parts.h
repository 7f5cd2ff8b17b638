/*
 * parts.h - does a program that is split over several devices compute what it computes on one?
 *
 * Prices of a split program come from models and compilers; nobody ran anything. So what was found is run once where it
 * can be: on this machine's cores as so many devices, every one of which gets all inputs whole (space_ops.apply_whole).
 * Its results are held against those of the program as it was given, by the yardstick that every tuned program is held
 * to (numbers.h).
 */
#ifndef SEARCH_PARTS_H
#define SEARCH_PARTS_H

#include "search/verdict.h"

/*
 * For kinds that split programs, else nothing happens. Sets the verdict's numbers and sentences; where there is no
 * memory for it here, or no plugin, `compared` says so, and the verdict stands as it is.
 */
int parts_check(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	struct err *err);

#endif
