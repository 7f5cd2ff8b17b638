/*
 * asked.h - what a device was asked about whose prices take long, so that nothing is asked twice.
 *
 * A configuration is known by its hash. Many configurations come to the same: the partitioner makes one program of
 * them, because it would have laid a tensor out so anyway, or because nothing depends on it. So what counts is the
 * content of the program that was made, which our model's partitioner tells in a fraction of a second.
 */
#ifndef SEARCH_ASKED_H
#define SEARCH_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct asked { /* all zero is empty */
	uint64_t *config;
	struct digest *made;
	size_t n, cap, n_made, cap_made;
};

/* Adds a configuration and the program that was made of it; a digest of zeros: none was made. */
void asked_add(struct asked *a, uint64_t config, const struct digest *made);
bool asked_has(const struct asked *a, uint64_t config);
/* Was this program made of a configuration that was added? */
bool asked_made(const struct asked *a, const struct digest *made);
void asked_release(struct asked *a);

#endif
