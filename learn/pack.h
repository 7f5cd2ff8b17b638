/*
 * pack.h - examples as one batch of the network.
 *
 * The neighbourhoods of all examples are laid side by side ring by ring: first all targets, then all
 * nodes one step away, and so on, so that each layer runs on the first rows of one large matrix. They
 * stay separate: nodes that two examples share stand in the batch twice, for their configurations differ.
 */
#ifndef LEARN_PACK_H
#define LEARN_PACK_H

#include "learn/data.h"

struct pack { /* all zero is empty; reused from batch to batch */
	struct arena mem;
	struct batch batch;
	uint32_t *owner;	/* per flip: which of the examples given */
	const struct flip_label **label; /* per flip */
};
void pack_examples(struct pack *p, const struct data *d, const uint32_t *example, uint32_t n);
void pack_release(struct pack *p);

#endif
