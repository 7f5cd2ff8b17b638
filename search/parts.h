/*
 * parts.h - does a program that is split over several devices compute what it computes on one?
 *
 * The price of a split program comes from models and compilers; nothing was run. So what was found is run once on this
 * machine, whose cores stand for the devices. Each device gets all inputs whole (space_ops.apply_whole). The results
 * are compared with those of the program as it was given, by the same yardstick as for every tuned program (numbers.h).
 */
#ifndef SEARCH_PARTS_H
#define SEARCH_PARTS_H

#include "search/verdict.h"

/*
 * Sets the verdict's numbers and sentences, for kinds that split programs; does nothing for others. If this machine has
 * no memory or no plugin for it, v->compared says so, and the rest of the verdict stands.
 */
int parts_check(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	struct err *err);

#endif
