/*
 * net_own.h - a net as a decision space, for the files of this folder.
 */
#ifndef SPACE_NET_NET_OWN_H
#define SPACE_NET_NET_OWN_H

#include "space/net/net.h"
#include "space/net/tally.h"

struct net_space {
	struct network net;
	struct tally now;
	uint32_t *node_of;   /* [n_nodes] node of the graph */
	uint32_t *number;    /* [nodes of the graph] node of the net, or NONE */
	uint32_t *net_of;    /* [n_sites] node of the net */
	uint32_t *choice;    /* [n_nodes] scratch; nodes without a site always take 0 */
	double spread;		/* how far all costs can differ together */
	double shift;		/* what is added to every cost, so that it is at least 1 */
	double unit, memory;	/* a hundredth of a node's cost, a thousandth of the limit */
	int64_t *cheapest;	/* [n_nodes] */
	float *pressure;     /* [n_nodes] the most memory in use while it is alive, by default, over the limit */
	float *span;	/* [n_nodes] the share of time in which it is alive */
	double *promised;    /* [n_sites, stride]; NULL: not computed yet */
};

static inline struct net_space *net_own(const struct space *s)
{
	return s->own;
}

extern const struct space_features net_features;

int net_make(const char *program, struct buf *module, char *kind, struct err *err);
/* net_open.c. Reads the problem that the program holds, and finds sites and defaults; the caller releases. */
int net_begin(struct space *s, struct err *err);

/* net_features.c. net_stand brings the tally to a configuration. */
void net_stand(const struct space *s, const uint8_t *config);
void net_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t count, float *out);
void net_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);
double net_grain(const struct space *s, enum quantity q);
double net_promise(struct space *s, uint32_t site, uint8_t choice);

#endif
