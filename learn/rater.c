/*
 * rater.c - see the header.
 */
#include "learn/rater.h"

struct rater {
	const struct model *model;
	struct scene scene;
};

struct rater *rater_new(const struct model *m, struct space *s)
{
	struct rater *r;

	if (!s->ops->effect_of || !m->trees.n_columns)
		return NULL;
	r = MEM_NEW(1, struct rater);
	r->model = m;
	feature_open(&r->scene, s);
	return r;
}

void rater_free(struct rater *r)
{
	if (!r)
		return;
	feature_release(&r->scene);
	mem_free(r);
}

struct prediction rater_move(struct rater *r, const uint8_t *from, const uint8_t *to)
{
	struct space *s = r->scene.space;
	uint32_t lead = feature_lead(s, from, to), v;
	real context[NODE_CONTEXT], flip[FLIP_FEATURES], out[OUT_COUNT];
	float row[ROW_COLUMNS];
	double times = 1;
	struct guess g;

	if (lead == NONE)
		return (struct prediction){0};
	v = s->site[lead].node;
	feature_context(&r->scene, from, &v, 1, context, NODE_CONTEXT);
	feature_move(&r->scene, from, to, flip);
	row_fill(r->scene.fixed + (size_t)v * NODE_FIXED, context, flip, row);
	trees_predict(&r->model->trees, row, 1, out);
	if (r->model->unit > 0)
		times = space_grain(s, r->model->facts.quantity) * s->graph->comp[s->graph->node[v].comp].trips;
	g = guess_of(out, times);
	return (struct prediction){g.magnitude, g.p_improve, g.gain};
}
