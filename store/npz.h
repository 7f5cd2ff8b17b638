/*
 * npz.h - NumPy's .npz: a zip archive of .npy arrays, stored without compression.
 *
 *	struct npz z = {0};
 *	npz_open(&z, path, &err);
 *	npz_array(&z, "edge_index", "<i8", (uint64_t[]){n, 2}, 2, &err);
 *	npz_data(&z, v, n_bytes, &err); ...	as often as it takes to fill the shape
 *	npz_close(&z, &err);			writes the directory and renames into place
 *
 * Arrays are C-ordered and little-endian. An archive of 4 GiB or more would need zip64 and is refused.
 */
#ifndef STORE_NPZ_H
#define STORE_NPZ_H

#include <stdio.h>
#include "base/buf.h"
#include "base/err.h"

struct npz {
	FILE *file;
	char *path, *part;
	struct buf directory;
	uint32_t n, crc;
	uint64_t at;		/* bytes written */
	uint64_t start, left;	/* of the array in hand: local header, bytes still to come */
	char name[64];
};

int npz_open(struct npz *z, const char *path, struct err *err);
int npz_array(struct npz *z, const char *name, const char *type, const uint64_t *shape, int rank, struct err *err);
int npz_data(struct npz *z, const void *p, size_t n, struct err *err);
int npz_close(struct npz *z, struct err *err);
void npz_abandon(struct npz *z); /* accepts an empty or closed one */

#endif
