/*
 * takes.c - how long it takes to price a region.
 *
 * The pace, seconds by bytes of modules, is that of regions that were priced lately (pace.h). Whole programs have their
 * own: compiling one takes as long as whole programs took lately, and running it is not short, either. Where a move's
 * places are priced before a pair of whole programs, and that pair takes longer than the caller has (struct worth), the
 * places alone are its price.
 */
#include <math.h>
#include "cost/own.h"

/* Seconds for a byte. A program that took longer was compiled on a crowded machine, perhaps on another day. */
#define PACE_MOST 20e-6
#define RUNS 4 /* of each side of a pair of whole programs */

/*
 * Seconds for a pair of whole programs, of which `anew` sides are not kept. These are compiled, and each takes as long
 * as whole programs took lately. If none was compiled yet, their size tells, but they take no less than the program
 * took when it was opened, however crowded the machine was then. (A GPT of 48 layers takes its compiler five times as
 * long as any other program of that size. The first step of a search of 300 s was two such programs, and took more than
 * 120 s.)
 */
static double of_programs(const struct cost *c, unsigned anew, size_t bytes)
{
	double sides = anew * c->side_seconds;

	if (anew && sides == 0)
		sides = fmax(pace_of(&c->pace, bytes), c->program_seconds);
	return sides + 2 * RUNS * c->default_seconds;
}

int cost_region_takes(struct cost *c, const struct region *r, double *seconds, size_t *bytes, struct err *err)
{
	const struct buf *side[2] = {&r->a, &r->b};
	struct price ignored;
	int found = r->key[0] == r->key[1] ? 1 : cost_find(c, r->key, &ignored, err);
	unsigned anew = 0;
	size_t size = 0;

	if (found != 0)
		return found < 0 ? -1 : 0;
	for (int i = 0; i < 2; i++)
		if (!r->whole || !cost_is_kept(c, side[i])) {
			anew++;
			size += side[i]->len;
		}
	*bytes += size;
	*seconds += r->whole ? of_programs(c, anew, size) : pace_of(&c->pace, size);
	return 0;
}

int cost_by_places(struct cost *c, struct regions *r, bool *guess, struct err *err)
{
	double seconds = 0;
	size_t bytes = 0;

	*guess = false;
	if (c->worth.pair <= 0 || r->n < 2 || !r->v[r->n - 1].whole)
		return 0;
	if (cost_region_takes(c, &r->v[r->n - 1], &seconds, &bytes, err) < 0)
		return -1;
	*guess = seconds > c->worth.pair;
	if (*guess)
		region_release(&r->v[--r->n]);
	return 0;
}

double cost_takes_of(const struct cost *c, size_t bytes)
{
	return pace_of(&c->pace, bytes);
}

void cost_note_pace(struct cost *c, size_t bytes, double seconds)
{
	pace_add(&c->pace, bytes, seconds, false);
}

void cost_set_pace(struct cost *c, double seconds, size_t bytes)
{
	c->program_seconds = seconds;
	c->pace.each = bytes ? fmin(seconds / (double)bytes, PACE_MOST) : 0;
}
