/*
 * brute.h - finds the best configuration of a small space whose cost is a formula, by trying all.
 */
#ifndef TESTS_BRUTE_H
#define TESTS_BRUTE_H

#include "space/space.h"

/* Counts through all configurations. Returns the least cost; `config` gets its configuration. */
static inline double brute_optimum(struct space *s, uint8_t *config)
{
	uint8_t *y = MEM_NEW(s->n_sites + 1, uint8_t); /* the last one turning means all were seen */
	double best = INFINITY;

	while (!y[s->n_sites]) {
		double cost = s->ops->formula(s, y, QUANTITY_SECONDS);
		uint32_t i = 0;
		if (cost < best) {
			best = cost;
			for (uint32_t k = 0; k < s->n_sites; k++)
				config[k] = y[k];
		}
		while (i < s->n_sites && y[i] + 1 == s->site[i].choices)
			y[i++] = 0;
		y[i]++;
	}
	mem_free(y);
	return best;
}

#endif
