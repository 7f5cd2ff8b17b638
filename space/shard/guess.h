/*
 * guess.h - what a layout is likely to cost, guessed from the sites alone: no partitioner is asked.
 *
 * It is far from exact. It is what a learner sees of a layout, and of a move between two (shard_features): how much
 * each device works, sums, moves and keeps. What these amount to is learnt from priced programs.
 */
#ifndef SPACE_SHARD_GUESS_H
#define SPACE_SHARD_GUESS_H

#include "space/shard/own.h"

enum load { /* of one device, in seconds of a machine of these years */
	LOAD_WORK,    /* of products, or their bytes if these take longer */
	LOAD_SUMMED,  /* exchanges of products whose summed dimension is split */
	LOAD_MOVED,   /* exchanges between a maker and a reader who disagree */
	LOAD_WEIGHTS, /* reading and replacing weights; tables count apart */
	LOAD_MOMENTS,
	LOAD_TABLES,
	LOAD_DATA,
	LOAD_COUNT
};

struct loads { /* all zero is empty */
	double of[LOAD_COUNT];
	double laid; /* the share of the work that is in products with a layout of their own */
};

/* After names are found: reads what products read. */
void shard_read_products(struct space *s);
void shard_guess(const struct space *s, const uint8_t *config, struct loads *out);

extern const struct space_features shard_features;
/* space_ops.context, effect, effect_of and grain. */
void shard_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out);
void shard_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);
void shard_effect_of(struct space *s, const uint8_t *from, const uint8_t *to, float *out);
double shard_grain(const struct space *s, enum quantity q);

#endif
