/*
 * net.h - nets (network.h) as a kind of decision, beside programs.
 *
 * Wherever a program is named, these name a net:
 *
 *	net:FILE		 a problem of the iopddl contest, NAME.json or NAME.json.gz
 *	net:cut:NODES:SEED:FILE	 a connected piece of it with so many nodes, around a random one
 *	net:NODES:CHOICES:SEED	 a made-up layered one
 */
#ifndef SPACE_NET_NET_H
#define SPACE_NET_NET_H

#include "space/net/network.h"
#include "space/space.h"

#define NET_PROGRAM "net:%s" /* the file's path */
#define NET_TARGET "vantage.net.node"
#define NET_PROBLEM "vantage.net.problem"

extern const struct space_kind net_kind;

/* net_make.c. Appends the problem, as text, of a made-up net; of a piece of one with `nodes` nodes. */
void net_layered(uint32_t nodes, uint32_t choices, uint64_t seed, struct buf *text);
void net_cut(const struct network *net, uint32_t nodes, uint64_t seed, struct buf *text);

#endif
