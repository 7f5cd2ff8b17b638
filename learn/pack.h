/*
 * pack.h - packs examples into one batch of the network.
 *
 * The neighbourhoods of all examples stand side by side: first all targets, then all nodes one step away, and so on. So
 * each layer runs on the first rows of one large matrix. A node that two examples share is in the batch twice, because
 * their configurations differ.
 */
#ifndef LEARN_PACK_H
#define LEARN_PACK_H

#include "learn/advice.h"
#include "learn/net.h"

struct pack { /* all zero is empty; reused from batch to batch */
	struct arena mem;
	struct batch batch;
	uint32_t *owner;	/* per flip: which of the examples given */
	const struct flip_label **label; /* per flip */
};
/* Inputs as `net` wants them; `a` may be NULL if it takes no advice. */
void pack_examples(struct pack *p, const struct data *d, const struct net *net, const struct advice *a,
	const uint32_t *example, uint32_t n);
void pack_release(struct pack *p);

#endif
