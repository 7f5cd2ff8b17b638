/*
 * mapped_in.c - see the header. The environment has three parts. All threads share one arena, the only one that keeps
 * more than 64 MiB. No block gets a mapping of its own. Free memory at the end of the arena is not given back. (In JAX
 * on two cores an 8-bit language model with 52 MiB of temporary memory maps in 13,455 pages a run, 4,494 without the
 * first part, and none with all three.)
 */
#include "search/mapped_in.h"

#include <math.h>
#include <stdio.h>
#include "base/quantity.h"

#define FAULT_SECONDS 0.5e-6 /* a page at least; 2.3 us were seen */
#define FAULT_SHARE 0.01     /* of a run, from which on it is worth a word */

const char *const mapped_in_environment[] = {"MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=1000000000",
	"MALLOC_TRIM_THRESHOLD_=2000000000", NULL};

bool mapped_in_matters(const struct mapped_in *m, double seconds)
{
	return seconds > 0 && fmax(m->dflt, m->tuned) * FAULT_SECONDS > FAULT_SHARE * seconds;
}

void mapped_in_words(const struct mapped_in *m, char *out, size_t n)
{
	char dflt[QUANTITY_TEXT], tuned[QUANTITY_TEXT];
	char times[2 * QUANTITY_TEXT + 80] = "both are faster, and the gain is another";

	if (m->kept_dflt > 0)
		snprintf(times, sizeof times, "they take %s and %s (timed once, in a process of its own)",
			quantity_text(QUANTITY_SECONDS, m->kept_dflt, dflt),
			quantity_text(QUANTITY_SECONDS, m->kept_tuned, tuned));
	snprintf(out, n,
		"A run of the default maps %.0f pages of memory anew, one of the tuned program %.0f. Where memory "
		"stays mapped, %s: with glibc, run them with %s %s %s in the environment.",
		m->dflt, m->tuned, times, mapped_in_environment[0], mapped_in_environment[1],
		mapped_in_environment[2]);
}
