/* cluster.h - groups that change together: what one region is made of. Inside space/fusion/ only. */
#ifndef SPACE_FUSION_CLUSTER_H
#define SPACE_FUSION_CLUSTER_H

#include "space/fusion/own.h"

struct cluster { /* all zero is empty */
	struct nodes roots[2]; /* of groups, as they are before and after */
};

/* Writes the region of a cluster. Adds groups to the cluster that make what the other side only computes by the way. */
void cluster_region(struct space *s, const uint8_t *const config[2], struct cluster *p, struct region *out);
/*
 * joined.c: adds to both sides the groups that the move leaves alone and the compiler may join with those that it
 * changes. Nothing, if the backend joins none.
 */
void cluster_add_joined(struct space *s, const uint8_t *const config[2], struct cluster *p);
/*
 * together.c: unites changed sites (union and find) if the compiler may join a group that one of them changes with a
 * group that another one changes. `groups`: per site, those that it changes.
 */
void cluster_find_together(struct space *s, const uint8_t *const config[2], const struct cluster *groups, uint32_t n,
	uint32_t *parent);
/* Over how many elements a group runs: those of its result, or those that threads fold together. */
uint64_t cluster_rounds(const struct graph *g, const struct nodes *members);
/* Adds the values that a group reads from memory and that are no constants. */
void cluster_add_reads(const struct space *s, const uint8_t *config, const struct nodes *members, struct nodes *out);
/*
 * waits.c: for each input of a region, those of its results from which it comes by a way outside (`waits`, one per
 * input, empty before).
 */
void cluster_find_waits(const struct space *s, const struct cluster *p, const struct nodes *results,
	const struct nodes *inputs, struct nodes *waits);
/* joined.c: puts the results of a region into the order in which the compiler joins them in the program. */
void cluster_order_results(const struct space *s, struct nodes *results);
/* The smaller key of a region: the same whichever side is called a. */
uint64_t cluster_key(const struct region *r);

#endif
