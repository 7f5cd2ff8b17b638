/*
 * residual.c - see residual.h. Sums are made in the order of the measurements, so a search that goes on from a saved
 * state gets the same bits.
 */
#include "learn/residual.h"

#include <math.h>
#include <string.h>

struct told {
	float row[ROW_COLUMNS];
	float p_off, size_off;
	bool improved;
};

struct residual {
	const struct trees *trees;
	uint32_t marks, n;
	struct told told[RESIDUAL_MOST];
	uint16_t *mark; /* RESIDUAL_MOST x marks */
};

/* Likeness is by the trees of magnitude and sign; those of the size of gains know few flips. */
static const enum net_out asked[] = {OUT_MAGNITUDE, OUT_SIGN};
enum { ASKED = sizeof asked / sizeof *asked };

struct residual *residual_new(const struct model *m)
{
	struct residual *r;

	if (!m->trees.n_columns || !(m->unit > 0))
		return NULL;
	r = MEM_NEW(1, struct residual);
	r->trees = &m->trees;
	for (int i = 0; i < ASKED; i++)
		r->marks += (uint32_t)m->trees.forest[asked[i]].n_trees;
	r->mark = MEM_NEW((size_t)RESIDUAL_MOST * r->marks + 1, uint16_t);
	return r;
}

void residual_free(struct residual *r)
{
	if (!r)
		return;
	mem_free(r->mark);
	mem_free(r);
}

uint32_t residual_marks(const struct residual *r)
{
	return r->marks;
}

uint32_t residual_count(const struct residual *r)
{
	return r->n;
}

void residual_mark(const struct residual *r, const float *row, uint16_t *mark)
{
	for (int i = 0; i < ASKED; i++) {
		const struct forest *f = &r->trees->forest[asked[i]];
		for (size_t t = 0; t < f->n_trees; t++)
			*mark++ = (uint16_t)(forest_leaf(f, t, row) - f->root[t]);
	}
}

bool residual_tell(struct residual *r, const float *row, const real *out, double advantage)
{
	struct told *t = &r->told[r->n];

	if (r->n == RESIDUAL_MOST)
		return false;
	memcpy(t->row, row, sizeof t->row);
	t->improved = advantage < 0;
	t->p_off = (float)t->improved - (float)logistic(out[OUT_SIGN]);
	t->size_off = t->improved ? (float)(log1p(-advantage) - fmax(0, (double)out[OUT_SIZE])) : 0;
	residual_mark(r, row, r->mark + (size_t)r->n++ * r->marks);
	return true;
}

static float alike(const uint16_t *a, const uint16_t *b, uint32_t n)
{
	uint32_t same = 0;
	float share;

	for (uint32_t i = 0; i < n; i++)
		same += a[i] == b[i];
	share = n ? (float)same / (float)n : 0;
	return share * share * share * share;
}

void residual_add(const struct residual *r, uint32_t from, const uint16_t *mark, struct residual_sums *s)
{
	for (uint32_t i = from; i < r->n; i++) {
		const struct told *t = &r->told[i];
		float k = alike(mark, r->mark + (size_t)i * r->marks, r->marks);
		s->p += k * t->p_off;
		s->p_weight += k;
		s->size += t->improved ? k * t->size_off : 0;
		s->size_weight += t->improved ? k : 0;
	}
}

void residual_correct(const struct residual_sums *s, real *out)
{
	double p = (double)logistic(out[OUT_SIGN]) + (double)(s->p / (1 + s->p_weight));

	if (s->p_weight == 0)
		return;
	p = fmin(fmax(p, 1e-4), 1 - 1e-4);
	out[OUT_SIGN] = (real)log(p / (1 - p));
	out[OUT_SIZE] = (real)(fmax(0, (double)out[OUT_SIZE]) + (double)(s->size / (1 + s->size_weight)));
}

void residual_save(const struct residual *r, struct buf *out)
{
	buf_u32(out, r->n);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct told *t = &r->told[i];
		buf_blob(out, t->row, sizeof t->row);
		buf_f64(out, (double)t->p_off);
		buf_f64(out, (double)t->size_off);
		buf_u8(out, t->improved);
	}
}

void residual_load(struct residual *r, struct cursor *in)
{
	uint32_t n = cursor_count(in, sizeof r->told->row);

	in->bad |= n > RESIDUAL_MOST;
	for (r->n = 0; r->n < n && !in->bad; r->n++) {
		struct told *t = &r->told[r->n];
		size_t size;
		const void *row = cursor_blob(in, &size);
		if ((in->bad |= size != sizeof t->row))
			return;
		memcpy(t->row, row, size);
		t->p_off = (float)cursor_f64(in);
		t->size_off = (float)cursor_f64(in);
		t->improved = cursor_u8(in);
		residual_mark(r, t->row, r->mark + (size_t)r->n * r->marks);
	}
}
