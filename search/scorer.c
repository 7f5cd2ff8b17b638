/*
 * scorer.c - see the header: the guide knows no models, and models know no search.
 */
#include "search/scorer.h"

static const uint32_t *model_move(void *ctx, const uint8_t *config, uint32_t *n)
{
	struct model_scorer *m = ctx;

	infer_move(m->f, config);
	return infer_changed(m->f, n);
}

static float by(const struct model_scorer *m, const struct prediction *p)
{
	return m->by == INFER_MAGNITUDE ? p->magnitude : m->by == INFER_IMPROVE ? p->p_improve : p->gain;
}

static float model_score(void *ctx, uint32_t site, uint8_t choice)
{
	struct model_scorer *m = ctx;

	return by(m, &infer_site(m->f, site)[choice]);
}

static float model_rate(void *ctx, const uint8_t *from, const uint8_t *to)
{
	struct model_scorer *m = ctx;
	struct prediction p = rater_move(m->r, from, to);

	return by(m, &p);
}

static void model_learn(void *ctx, uint32_t site, uint8_t choice, double amount)
{
	struct model_scorer *m = ctx;

	infer_learn(m->f, site, choice, amount);
}

static void model_save(void *ctx, struct buf *out)
{
	struct model_scorer *m = ctx;

	infer_save(m->f, out);
}

static void model_load(void *ctx, struct cursor *in)
{
	struct model_scorer *m = ctx;

	infer_load(m->f, in);
}

struct scorer scorer_of_model(struct model_scorer *m)
{
	struct scorer s = {.ctx = m, .move = model_move, .score = model_score,
		.rate = m->r ? model_rate : NULL};

	if (m->learns && infer_adapt(m->f)) {
		s.learn = model_learn;
		s.save = model_save;
		s.load = model_load;
	}
	return s;
}

static const uint32_t *space_move(void *ctx, const uint8_t *config, uint32_t *n)
{
	static const uint32_t none;

	(void)ctx;
	(void)config;
	*n = 0;
	return &none;
}

static float space_score(void *ctx, uint32_t site, uint8_t choice)
{
	struct space *s = ctx;

	return (float)s->ops->promise(s, site, choice);
}

struct scorer scorer_of_space(struct space *s)
{
	return (struct scorer){.ctx = s, .move = space_move, .score = space_score};
}
