/*
 * cure.h - finds what to take back of a configuration, so that the program computes the right numbers.
 *
 * To ask the verdict about each attempt would be too dear: it measures. Here programs are only compiled, and their
 * numbers compared (numbers.h), which shares all that does not depend on the attempt (numbers_kept.h).
 *
 * Where the kind goes by rules (space_ops.rule), what follows one of them is taken back, of that first which is
 * believed to gain least; if none alone is at fault, then what follows all those that made it worse. Where there are no
 * rules, or none is at fault, half of the places are taken back, and half of these, as long as the numbers are right.
 * If they never are, everything is taken back.
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
