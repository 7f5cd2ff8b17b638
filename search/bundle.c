/*
 * bundle.c - several flips as one candidate, while hardly anything that is tried is worse.
 *
 * From a bad start most of what a model proposes is no loss: of sixty evaluations of a U-Net from random choices 34
 * were kept, and of a ranking model 20 were kept, 32 changed nothing and 8 were worse. Then the evaluations are the
 * bound, not the ideas, and one evaluation tells of many flips as well as of one. From the compiler's default nine
 * proposals in ten are worse, and flips that are tried together hide each other. Which of the two it is shows in what
 * became of the last candidates. So the size of a candidate follows them:
 *
 *	kept, and since the last that was kept none was worse	twice as many flips
 *	worse, or failed					half as many
 *	no change beyond the error				half as many, and the next one kept may double it
 *
 * A random start is known to be bad, so a search from there begins with FIRST flips. (From one flip the ranking model
 * took 36 evaluations until sizes grew. When a candidate that changes nothing counted as worse, they hardly grew at
 * all: a compiler that joins kernels by itself makes the same program of many configurations.) From the default sizes
 * came to two at most, until models were right more often.
 *
 * A bundle has the flips that promise most, drawn as single ones are, and only those that promise a gain. It is kept
 * or dropped as a whole. If it is dropped, nothing is known of any of its flips, and all are offered again. What
 * helpers make ahead is foreseen with the size of now.
 *
 * Where a price is measured region by region, a bundle costs as much time as its flips one by one, and hides the good
 * ones behind the bad. So a search that counts seconds tries bundles only where one question prices them whole; one
 * that counts evaluations has them everywhere. (In 60 s of WaveNet's fusion a quarter of the time went into bundles of
 * up to 138 flips that were dropped, each because of one.)
 *
 * Kinds that draw schemes (space_ops.scheme) have larger moves of their own. Random search draws no bundles: without
 * predictions it would add what is good to what is bad.
 */
#include <math.h>
#include "search/hunt.h"

#define LARGEST 4096 /* flips of one bundle, at most */
#define FIRST 16     /* of the first one from a random start */

bool hunt_bundles(const struct space *s, int strategy, int propose)
{
	return strategy == STRATEGY_GUIDED && propose == PROPOSE_SIGNED && !s->ops->scheme;
}

uint32_t hunt_bundle(const struct hunt *h)
{
	if (!h->o.bundles)
		return 1;
	return h->bundle ? h->bundle : h->o.start == HUNT_RANDOM ? FIRST : 1;
}

void hunt_bundled(struct hunt *h, const struct delta *d, bool kept)
{
	bool same = !kept && d->outcome == OUTCOME_OK && fabs(d->seconds) <= d->se;
	uint32_t size = hunt_bundle(h);

	if (!kept)
		h->bundle = size > 1 ? size / 2 : 1;
	else
		h->bundle = h->bundle_kept && size < LARGEST ? 2 * size : size;
	h->bundle_kept = kept || (same && h->bundle_kept);
}
