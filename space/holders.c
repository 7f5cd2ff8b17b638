/*
 * holders.c - tells people which values are in memory at a program's peak (arranging.h).
 */
#include "base/mem.h"
#include "base/quantity.h"
#include "space/arranging.h"

void holders_release(struct holders *h)
{
	mem_free(h->v);
	arena_release(&h->mem);
	*h = (struct holders){0};
}

void holders_text(const struct holders *h, uint32_t most, struct buf *out)
{
	char text[QUANTITY_TEXT];

	buf_addf(out, "%s at step %llu of %llu (%s)\n", quantity_text(QUANTITY_BYTES, (double)h->bytes, text),
		(unsigned long long)h->at + 1, (unsigned long long)h->steps, h->step);
	for (uint32_t i = 0; i < h->n && i < most; i++) {
		const struct holder *x = &h->v[i];
		buf_addf(out, "  %10s  %s %s", quantity_text(QUANTITY_BYTES, (double)x->bytes, text),
			x->inside ? "inside of" : x->shape, x->name);
		if (*x->op)
			buf_addf(out, "  %s", x->op);
		if (*x->file)
			buf_addf(out, "  %s:%d", x->file, x->line);
		buf_addch(out, '\n');
	}
	if (h->n > most)
		buf_addf(out, "  and %u more\n", h->n - most);
}
