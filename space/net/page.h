/*
 * page.h - draws, for a report, the memory of two answers of a net over time, beside the limit.
 */
#ifndef SPACE_NET_PAGE_H
#define SPACE_NET_PAGE_H

#include "space/net/network.h"

/* Appends HTML (base/page.h); the first answer is grey, the second green, the limit blue. */
void network_page(const struct network *net, const uint32_t *before, const uint32_t *after, struct buf *out);

#endif
