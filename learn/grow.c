/*
 * grow.c - see grow.h.
 *
 * A histogram holds, per column and bin, the sums over the rows of one leaf. When a leaf is cut, only the rows of the
 * smaller half are added up; the other half's histogram is the parent's minus that. The rows of a leaf stand together
 * in one list. A cut divides the list in place and keeps the order, so sums are the same in every run.
 */
#include "learn/grow.h"

#include <math.h>
#include <string.h>

struct cell { /* of a histogram: sums over the rows in one bin */
	double g, h;
	uint32_t n;
};

struct cut {
	double gain; /* 0: there is none */
	uint32_t column;
	uint8_t code; /* codes up to it go left */
};

struct leaf {
	uint32_t node;	      /* of the forest */
	uint32_t first, n;    /* its rows in the list */
	struct cell sum, *hist;
	struct cut best;
};

struct grower {
	struct arena mem;
	const struct bins *b;
	struct grow_options o;
	uint32_t *column, n_columns; /* those of this tree in front; how many */
	uint32_t *row, *aside;
	struct leaf *leaf;
	uint32_t n_leaves;
	uint8_t *code; /* per node of this tree: of its cut */
	size_t cap_code;
};

static size_t cells(const struct grower *w)
{
	return (size_t)w->n_columns * BINS_MOST;
}

struct grower *grower_new(const struct bins *b, const struct grow_options *o)
{
	struct grower *w = MEM_NEW(1, struct grower);

	w->b = b;
	w->o = *o;
	w->n_columns = (uint32_t)ceil(o->columns * b->n_columns);
	w->n_columns = w->n_columns < 1 ? 1 : w->n_columns;
	w->column = ARENA_NEW(&w->mem, b->n_columns, uint32_t);
	for (uint32_t c = 0; c < b->n_columns; c++)
		w->column[c] = c;
	w->row = ARENA_NEW(&w->mem, b->n_rows, uint32_t);
	w->aside = ARENA_NEW(&w->mem, b->n_rows, uint32_t);
	w->leaf = ARENA_NEW(&w->mem, o->leaves, struct leaf);
	for (uint32_t i = 0; i < o->leaves; i++)
		w->leaf[i].hist = ARENA_NEW(&w->mem, cells(w), struct cell);
	return w;
}

void grower_free(struct grower *w)
{
	if (!w)
		return;
	mem_free(w->code);
	arena_release(&w->mem);
	mem_free(w);
}

static void fill(const struct grower *w, const struct grow_rows *rows, struct leaf *l)
{
	const struct bins *b = w->b;

	memset(l->hist, 0, cells(w) * sizeof *l->hist);
	for (uint32_t i = l->first; i < l->first + l->n; i++) {
		uint32_t row = w->row[i];
		const uint8_t *code = b->code + (size_t)row * b->n_columns;
		double g = (double)rows->g[row], h = (double)rows->h[row];
		for (uint32_t k = 0; k < w->n_columns; k++) {
			struct cell *x = &l->hist[(size_t)k * BINS_MOST + code[w->column[k]]];
			x->g += g;
			x->h += h;
			x->n++;
		}
	}
}

/* What a leaf of these sums lowers the loss by, twice. */
static double worth(const struct grower *w, double g, double h)
{
	return g * g / (h + w->o.lambda);
}

static void find_cut(const struct grower *w, struct leaf *l)
{
	double whole = worth(w, l->sum.g, l->sum.h);

	l->best = (struct cut){0};
	for (uint32_t k = 0; k < w->n_columns; k++) {
		const struct cell *x = l->hist + (size_t)k * BINS_MOST;
		struct cell left = {0};
		for (uint32_t c = 0; c < w->b->n_edges[w->column[k]]; c++) {
			double gain;
			left.g += x[c].g;
			left.h += x[c].h;
			left.n += x[c].n;
			if (left.n < w->o.least)
				continue;
			if (l->n - left.n < w->o.least)
				break;
			gain = worth(w, left.g, left.h) + worth(w, l->sum.g - left.g, l->sum.h - left.h) - whole;
			if (gain > l->best.gain * (1 + 1e-9) + 1e-12)
				l->best = (struct cut){gain, w->column[k], (uint8_t)c};
		}
	}
}

static void sum_up(const struct grower *w, const struct grow_rows *rows, struct leaf *l)
{
	l->sum = (struct cell){.n = l->n};
	for (uint32_t i = l->first; i < l->first + l->n; i++) {
		l->sum.g += (double)rows->g[w->row[i]];
		l->sum.h += (double)rows->h[w->row[i]];
	}
}

/* Parts the leaf's rows in place, each side in its order; returns how many go left. */
static uint32_t part(struct grower *w, const struct leaf *l)
{
	const struct bins *b = w->b;
	uint32_t left = 0, right = 0, *row = w->row + l->first;

	for (uint32_t i = 0; i < l->n; i++)
		if (b->code[(size_t)row[i] * b->n_columns + l->best.column] <= l->best.code)
			row[left++] = row[i];
		else
			w->aside[right++] = row[i];
	memcpy(row + left, w->aside, right * sizeof *row);
	return left;
}

static uint32_t add_node(struct forest *f)
{
	MEM_GROW(&f->node, &f->cap_nodes, f->n_nodes + 1);
	f->node[f->n_nodes] = (struct tree_node){.column = FOREST_LEAF};
	return (uint32_t)f->n_nodes++;
}

/* Cuts leaf `at`; the right half becomes a new leaf. */
static void split(struct grower *w, const struct grow_rows *rows, uint32_t at, struct forest *f, uint32_t root)
{
	struct leaf *l = &w->leaf[at], *r = &w->leaf[w->n_leaves++], *small, *large;
	struct cell *whole = l->hist;
	uint32_t left = part(w, l), child = add_node(f);

	add_node(f);
	f->node[l->node] = (struct tree_node){w->b->edge[(size_t)l->best.column * BINS_MOST + l->best.code], child,
		(uint16_t)l->best.column};
	MEM_GROW(&w->code, &w->cap_code, f->n_nodes - root);
	w->code[l->node - root] = l->best.code;
	r->node = child + 1;
	r->first = l->first + left;
	r->n = l->n - left;
	l->node = child;
	l->n = left;
	small = l->n <= r->n ? l : r;
	large = l->n <= r->n ? r : l;
	if (small == l) { /* the larger half takes over the histogram of the whole */
		l->hist = r->hist;
		r->hist = whole;
	}
	fill(w, rows, small);
	for (size_t i = 0; i < cells(w); i++) {
		large->hist[i].g -= small->hist[i].g;
		large->hist[i].h -= small->hist[i].h;
		large->hist[i].n -= small->hist[i].n;
	}
	sum_up(w, rows, l);
	sum_up(w, rows, r);
	find_cut(w, l);
	find_cut(w, r);
}

static void add_to_all(const struct grower *w, const struct forest *f, uint32_t root, float *predicted)
{
	const struct bins *b = w->b;

	for (uint32_t i = 0; i < b->n_rows; i++) {
		const uint8_t *code = b->code + (size_t)i * b->n_columns;
		uint32_t at = root;
		while (f->node[at].column != FOREST_LEAF)
			at = f->node[at].child + (code[f->node[at].column] > w->code[at - root]);
		predicted[i] += f->node[at].value;
	}
}

void grow_tree(struct grower *w, const struct grow_rows *rows, struct rng *r, struct forest *f, float *predicted)
{
	uint32_t root = add_node(f);

	MEM_GROW(&f->root, &f->cap_trees, f->n_trees + 1);
	f->root[f->n_trees++] = root;
	rng_shuffle(r, w->column, w->b->n_columns);
	memcpy(w->row, rows->row, rows->n * sizeof *w->row);
	w->leaf[0].node = root;
	w->leaf[0].first = 0;
	w->leaf[0].n = rows->n;
	w->n_leaves = 1;
	fill(w, rows, &w->leaf[0]);
	sum_up(w, rows, &w->leaf[0]);
	find_cut(w, &w->leaf[0]);
	while (w->n_leaves < w->o.leaves) {
		uint32_t best = 0;
		for (uint32_t i = 1; i < w->n_leaves; i++)
			if (w->leaf[i].best.gain > w->leaf[best].best.gain)
				best = i;
		if (!(w->leaf[best].best.gain > 0))
			break;
		split(w, rows, best, f, root);
	}
	for (uint32_t i = 0; i < w->n_leaves; i++)
		f->node[w->leaf[i].node].value =
			(float)(-w->o.rate * w->leaf[i].sum.g / (w->leaf[i].sum.h + w->o.lambda));
	add_to_all(w, f, root, predicted);
}
