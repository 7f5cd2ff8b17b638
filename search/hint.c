/*
 * hint.c - says what else could be decided about a program.
 *
 * People name no kind of decision, and the default one may have nothing to give where another has a lot: a training
 * step of an image network was 0.2% slower at best after all that fusion tried, and took 42% less time with its
 * convolutions written in another way. To count the places and to add up their promises takes a fraction of a second.
 * Promises are rules of thumb, often several times too small or too large, so they decide nothing but this sentence.
 */
#include "search/hint.h"

#include "base/mem.h"
#include "device/backend.h"
#include "space/space.h"

#define WORTH_A_WORD 0.01 /* of the program's time */

/* Sets each place to what promises most by itself, and adds the promises up; `n` is how many promise anything. */
static double promised(struct space *s, uint32_t *n)
{
	const struct space_start *start = space_start_find(s, s->ops->kind->leads);
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	double sum = 0;

	*n = 0;
	if (start && s->ops->promise) {
		start->fill(s, config);
		for (uint32_t i = 0; i < s->n_sites; i++)
			if (config[i]) {
				sum += s->ops->promise(s, i, config[i]);
				++*n;
			}
	}
	mem_free(config);
	return sum;
}

void hint_other(const struct lab *lab, double default_seconds, struct buf *out)
{
	const struct space_kind *here = lab->space->ops->kind, *other = space_leader();
	const struct buf *original = &lab->subject.original;
	struct graph g;
	struct space *s;
	struct err ignored;
	uint32_t n;

	if (!other || here == other || here != space_kind_find(NULL, NULL) || lab->quantity != QUANTITY_SECONDS ||
		graph_parse(&g, original->data, original->len, lab->subject.name, &ignored) < 0)
		return;
	s = space_open(other->name, backend_first(), &g, NULL, 0, &ignored);
	if (s && promised(s, &n) > WORTH_A_WORD * default_seconds)
		buf_addf(out, "%u place%s of the program could be computed in another way before %s is decided, which "
			"may be worth more: --space %s,%s tries both", n, n > 1 ? "s" : "", here->name, other->name,
			here->name);
	space_free(s);
	graph_release(&g);
}
