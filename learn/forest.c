/*
 * forest.c - walks down trees, and packs and reads them.
 */
#include "learn/forest.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"

void forest_release(struct forest *f)
{
	mem_free(f->node);
	mem_free(f->root);
	*f = (struct forest){0};
}

uint32_t forest_leaf(const struct forest *f, size_t t, const float *row)
{
	uint32_t at = f->root[t];

	while (f->node[at].column != FOREST_LEAF)
		at = f->node[at].child + !(row[f->node[at].column] <= f->node[at].value);
	return at;
}

float forest_predict(const struct forest *f, const float *row)
{
	double sum = (double)f->base;

	for (size_t t = 0; t < f->n_trees; t++)
		sum += (double)f->node[forest_leaf(f, t, row)].value;
	return (float)sum;
}

static float take_float(struct cursor *c)
{
	float x = cursor_f32(c);

	c->bad |= !isfinite(x);
	return x;
}

void forest_pack(const struct forest *f, struct buf *out)
{
	buf_f32(out, f->base);
	buf_u32(out, (uint32_t)f->n_trees);
	for (size_t i = 0; i < f->n_trees; i++)
		buf_u32(out, f->root[i]);
	buf_u32(out, (uint32_t)f->n_nodes);
	for (size_t i = 0; i < f->n_nodes; i++) {
		buf_u32(out, f->node[i].column);
		buf_u32(out, f->node[i].child);
		buf_f32(out, f->node[i].value);
	}
}

void forest_parse(struct forest *f, uint32_t n_columns, struct cursor *c)
{
	*f = (struct forest){.base = take_float(c)};
	f->n_trees = f->cap_trees = cursor_count(c, 4);
	f->root = MEM_NEW(f->n_trees + 1, uint32_t);
	for (size_t i = 0; i < f->n_trees; i++)
		f->root[i] = cursor_u32(c);
	f->n_nodes = f->cap_nodes = cursor_count(c, 12);
	f->node = MEM_NEW(f->n_nodes + 1, struct tree_node);
	for (size_t i = 0; i < f->n_nodes; i++) {
		uint32_t column = cursor_u32(c), child = cursor_u32(c);
		f->node[i] = (struct tree_node){take_float(c), child, (uint16_t)column};
		if (column != FOREST_LEAF)
			c->bad |= column >= n_columns || child <= i || f->n_nodes < 2 || child > f->n_nodes - 2;
	}
	for (size_t i = 0; i < f->n_trees; i++)
		c->bad |= f->root[i] >= f->n_nodes;
}
