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

/*
 * The site whose prediction holds for each class and choice: with --tied one of those that stand alike is predicted
 * (infer_tied), the first. The caller frees it.
 */
static uint32_t *list_leads(const struct space *s, const uint8_t *config)
{
	uint32_t *lead = mem_alloc((size_t)s->n_ties * s->stride * sizeof *lead);

	for (uint32_t i = s->n_sites; i-- > 0;)
		lead[(size_t)s->site[i].tie * s->stride + config[i]] = i;
	return lead;
}

/* What all flips of a move are worth, each alone; `from` is where the model was moved to. */
static float model_sum(void *ctx, const uint8_t *from, const uint8_t *to)
{
	const struct model_scorer *m = ctx;
	const struct space *s = m->believes;
	uint32_t *lead = list_leads(s, from);
	float sum = 0;

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (from[i] != to[i])
			sum += model_score(ctx, lead[(size_t)s->site[i].tie * s->stride + from[i]], to[i]);
	mem_free(lead);
	return sum;
}

void scorer_believe(struct model_scorer *m)
{
	struct space *s = m->believes;
	uint8_t *plain = s ? MEM_NEW(s->n_sites + 1, uint8_t) : NULL;
	uint32_t *lead;

	if (!s)
		return;
	lead = list_leads(s, plain);
	infer_move(m->f, plain);
	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint8_t k = 1; k < s->site[i].choices; k++) {
			const struct prediction *p = &infer_site(m->f, lead[(size_t)s->site[i].tie * s->stride])[k];
			s->ops->believe(s, i, k, p->p_improve > 0.5f ? (double)p->gain : 0);
		}
	mem_free(lead);
	mem_free(plain);
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
		.rate = m->r ? model_rate : m->believes ? model_sum : NULL};

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
