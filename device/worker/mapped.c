/* mapped.c - see mapped.h. Where the allocator is not glibc's, nothing changes. */
#include "device/worker/mapped.h"

#include <limits.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>

/* Where the allocator's own limits end up, which grow with what is freed, until they are set once. */
#define LARGE (32 << 20)
#define BLOCKS 65536

void mapped_keep(bool keep)
{
	static bool kept;

	if (keep == kept)
		return;
	kept = keep;
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_MMAP_MAX, keep ? 0 : BLOCKS);
	mallopt(M_TRIM_THRESHOLD, keep ? INT_MAX : 2 * LARGE);
	if (!keep)
		malloc_trim(0);
}
#else
void mapped_keep(bool keep)
{
	(void)keep;
}
#endif
