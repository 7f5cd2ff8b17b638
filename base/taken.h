/*
 * taken.h - what was read where it is gone after that: from standard input, and from pipes.
 *
 * A program is looked into before it is opened, and "-" or <(zcat FILE) can be read only once. So it is remembered, by
 * the file that a descriptor is of, for as long as the process lasts.
 */
#ifndef BASE_TAKEN_H
#define BASE_TAKEN_H

#include <sys/types.h>
#include "base/buf.h"

struct taken {
	dev_t device;
	ino_t inode;
	struct buf bytes; /* unpacked */
};

/* What was read before where this descriptor leads; NULL: nothing. Good until the next call of taken_keep. */
struct taken *taken_find(int fd);
/* Remembers what was read, unless it is nothing, or a file that can be read again; in place of `known`, if not NULL. */
void taken_keep(struct taken *known, int fd, const void *p, size_t n);

#endif
