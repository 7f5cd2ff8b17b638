/*
 * cure.h - finds what to take back of a configuration, so that the program computes the right numbers.
 *
 * An attempt is compiled, and its numbers are compared (numbers.h). It is not timed, because that takes minutes. What
 * does not depend on the attempt is done once for all of them (numbers_kept.h).
 *
 * If the kind goes by rules (space_ops.rule), each attempt takes back what follows one rule. The rule that is believed
 * to gain least comes first. If no rule alone is at fault, one attempt takes back all those without which the numbers
 * were less wrong. If that does not help, or there are no rules, half of the places are taken back, then half of that
 * half, as long as the numbers are right. If no attempt is right, everything is taken back.
 */
#ifndef SEARCH_CURE_H
#define SEARCH_CURE_H

#include "search/hunt.h"
#include "search/numbers.h"

struct cure { /* all zero: the numbers are right, so nothing has to be taken back */
	struct hunt_withdrawn back;
	double change; /* believed: seconds of the program by what is taken back */
	bool all;      /* everything is, without asking what the numbers are then */
};

/* Writes what is left of h->config into `config`. */
int cure_find(struct cure *c, struct hunt *h, struct device *d, uint8_t *config, struct err *err);

/* Takes back everything that this kind decided, because of what was said of the numbers. */
void cure_all(struct cure *c, const struct hunt *h, uint8_t *config, const struct numbers *said);

#endif
