/*
 * trees.c - does with three forests what forest.c does with one.
 */
#include "learn/trees.h"

void trees_release(struct trees *t)
{
	for (int k = 0; k < OUT_COUNT; k++)
		forest_release(&t->forest[k]);
	*t = (struct trees){0};
}

void trees_predict(const struct trees *t, const float *row, size_t n, real *out)
{
	for (size_t i = 0; i < n; i++, row += ROW_COLUMNS)
		for (int k = 0; k < OUT_COUNT; k++)
			*out++ = (real)forest_predict(&t->forest[k], row);
}

void trees_pack(const struct trees *t, struct buf *out)
{
	buf_u32(out, t->n_columns);
	for (int k = 0; k < OUT_COUNT && t->n_columns; k++)
		forest_pack(&t->forest[k], out);
}

void trees_parse(struct trees *t, const uint32_t *column, uint32_t n, struct cursor *c)
{
	uint32_t theirs = cursor_u32(c);

	c->bad |= theirs != 0 && theirs != n;
	t->n_columns = theirs ? ROW_COLUMNS : 0;
	for (int k = 0; k < OUT_COUNT && t->n_columns && !c->bad; k++) {
		struct forest *f = &t->forest[k];
		forest_parse(f, n, c);
		for (size_t i = 0; i < f->n_nodes && !c->bad; i++)
			if (f->node[i].column != FOREST_LEAF)
				f->node[i].column = (uint16_t)column[f->node[i].column];
	}
}
