/*
 * said.c - when a whole program is asked about, although moves are priced by regions.
 *
 * A compiler for hardware that is not here says what a program costs, and always the same. So a whole program is as
 * exact as a region, only dearer. Regions are not exact there: they leave out what the compiler makes of a region
 * together with what surrounds it, above all which kernels it joins. Single errors are a microsecond, a kernel's start,
 * but a search keeps what looks best, and so it gathers those that look too good. Searches of 60 evaluations believed
 * that they had won 314 of 487 us on a U-Net, and the whole program had 33 of them.
 *
 * Two rules follow, for who wants them (cost_options.ask_wholes):
 *
 *	instead	Where regions would take more than half as long to compile as the program, the program is priced. Half,
 *		because about every second move promises something and then needs the program as well. So small programs
 *		are always priced as they are, and whoever changes half of all decisions at once is answered sooner, and
 *		truly.
 *	after	What regions promise is a gain only if the whole program says so. Where they promise nothing it is not
 *		asked.
 *
 * Of a large program regions stay the only way. So programs that are asked about after regions may come to FREE bytes
 * together, and SHARE times as many as the regions had. Bytes stand for the time that compiling takes: what a search
 * finds must not depend on how fast a machine is, or on what a store knows already. (With 16 MB and as many as the
 * regions had, a search of the U-Net was true for twelve evaluations and then believed 105 us of 48.)
 */
#include "cost/own.h"

#define FREE ((double)(64 << 20)) /* about a minute of compiling for a GPU */
#define SHARE 8
#define EACH ((double)(32 << 10)) /* a region takes as long as so many bytes more: it is two programs to set up */

/* The bytes of the program, which are much the same in all configurations. */
static int know_program(struct cost *c, struct err *err)
{
	struct buf module = {0};
	int rc;

	if (c->program)
		return 0;
	rc = space_apply_default(c->space, &module, err);
	c->program = module.len;
	buf_release(&module);
	return rc;
}

int cost_asks_instead(struct cost *c, const struct regions *r, bool *out, struct err *err)
{
	double bytes = 0;

	*out = false;
	if (!c->said || !c->o.ask_wholes)
		return 0;
	if (know_program(c, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n; i++)
		bytes += (double)(r->v[i].a.len + r->v[i].b.len) + EACH;
	*out = bytes > (double)c->program / 2;
	return 0;
}

bool cost_asks_after(struct cost *c, const uint8_t *a)
{
	double more;

	if (!c->said || !c->o.ask_wholes)
		return false;
	more = (double)c->program * (cost_knows_figure(c, a) ? 1 : 2);
	if (c->wholes + more > FREE + SHARE * c->regions)
		return false;
	c->wholes += more;
	return true;
}
