/* mapped.c - see mapped.h. Where the allocator is not glibc's, nothing changes. */
#include "device/worker/mapped.h"

#include <limits.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Blocks of at most so many bytes are kept by the allocator, whose limit grows with what is freed until it is set. */
#define LARGE (32 << 20)
#define BLOCKS 65536 /* that may be mapped by themselves: the allocator's own limit */

static bool kept, ever;

bool mapped_anew(uint64_t bytes)
{
	return bytes > LARGE;
}

void mapped_keep(bool keep)
{
	if (keep == kept)
		return;
	kept = keep;
	ever = true;
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_MMAP_MAX, keep ? 0 : BLOCKS);
	mallopt(M_TRIM_THRESHOLD, keep ? INT_MAX : LARGE); /* of what is free at the end, */
#endif
}

void mapped_forget(void)
{
#ifdef __GLIBC__
	if (ever && !kept)
		malloc_trim(0); /* ... and between blocks */
#endif
}
