/*
 * trial.c - tries orders and keeps the best; and the strategies that are a few lines each: random and sweep.
 */
#include "space/order/trial.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "space/order/anneal.h"
#include "space/order/list.h"

void trial_begin(struct trial *t, struct program *p, const struct tune_options *o, struct rng *r,
	struct tune_result *out)
{
	*t = (struct trial){.p = p, .o = o, .rng = r, .out = out, .began = now_seconds(), .bytes = UINT64_MAX};
	t->best = MEM_NEW(p->graph->n_comps, uint32_t *);
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		t->best[c] = mem_alloc(program_line(p, c)->n * sizeof **t->best);
	program_settle(p);
	*out = (struct tune_result){.before = program_bytes(p)};
	t->bytes = out->before;
	program_copy_orders(p, t->best, p->order);
	bound_find(&t->bound, p);
	out->least = t->bound.bytes;
}

uint64_t trial_bytes(struct trial *t)
{
	uint64_t bytes;

	program_settle(t->p);
	bytes = program_bytes(t->p);
	t->out->moves++;
	if (bytes < t->bytes) {
		t->bytes = bytes;
		program_copy_orders(t->p, t->best, t->p->order);
	}
	return bytes;
}

bool trial_more(struct trial *t)
{
	const struct tune_options *o = t->o;
	double share = o->moves ? (double)t->out->moves / (double)o->moves : (now_seconds() - t->began) / o->seconds;

	if (o->progress)
		o->progress(o->with, share < 1 ? share : 1, t->bytes);
	return share < 1 && !bound_reached(&t->bound, t->bytes) && !(o->stop && o->stop());
}

void trial_end(struct trial *t)
{
	program_copy_orders(t->p, t->p->order, t->best);
	program_settle(t->p);
	t->out->bytes = program_bytes(t->p);
	t->out->seconds = now_seconds() - t->began;
	t->out->proved = bound_reached(&t->bound, t->out->bytes);
	bound_release(&t->bound);
	for (uint32_t c = 0; c < t->p->graph->n_comps; c++)
		mem_free(t->best[c]);
	mem_free(t->best);
}

/* Shifts a random share of the steps, from few to all, by random distances; every scale is equally likely for both. */
static void shift_some(struct trial *t, uint32_t comp, uint32_t *const *base, double *shift)
{
	const struct line *l = program_line(t->p, comp);
	double share = exp(-rng_unit(t->rng) * log((double)l->n + 1));

	for (uint32_t v = 0; v < l->n; v++) {
		double far = exp(rng_unit(t->rng) * log((double)l->n + 1));
		shift[v] = rng_unit(t->rng) < share ? (rng_u64(t->rng) & 1 ? far : -far) : 0;
	}
	list_shifted(l, base[comp], shift, t->p->order[comp]);
}

uint32_t trial_longest(const struct trial *t)
{
	uint32_t most = 0;

	for (uint32_t c = 0; c < t->p->graph->n_comps; c++)
		most = program_line(t->p, c)->n > most ? program_line(t->p, c)->n : most;
	return most;
}

uint64_t trial_shift(struct trial *t, double *shift)
{
	for (uint32_t c = 0; c < t->p->graph->n_comps; c++)
		if (program_line(t->p, c)->n)
			shift_some(t, c, t->best, shift);
	return trial_bytes(t);
}

void random_run(struct trial *t)
{
	double *shift = MEM_NEW(trial_longest(t), double);

	while (trial_more(t))
		trial_shift(t, shift);
	mem_free(shift);
}

static const double distance[] = {-0.02, 0.02, -0.1, 0.1, -0.3, 0.3, -1, 1}; /* shares of a computation */

/* Tries all distances for one step. The step stays where the program needs least. */
static void sweep_step(struct trial *t, struct anneal *k, uint32_t comp, uint32_t step)
{
	struct program *p = t->p;
	uint32_t n = program_line(p, comp)->n, *order = p->order[comp];

	for (size_t d = 0; d < sizeof distance / sizeof *distance && trial_more(t); d++) {
		int64_t far = (int64_t)(distance[d] * n);
		uint32_t first, size;
		uint64_t before = t->bytes;
		program_copy_orders(p, p->order, t->best);
		course_set(k->course, order);
		size = anneal_move(k->course, step, far ? far : distance[d] < 0 ? -1 : 1, k->mark, k->sequence, &first);
		if (!size)
			continue;
		memcpy(order + first, k->sequence, size * sizeof *order);
		if (trial_bytes(t) == before) /* an equal order is kept: it may open a way to a better one */
			program_copy_orders(p, t->best, p->order);
	}
}

void sweep_run(struct trial *t)
{
	struct program *p = t->p;
	uint64_t tried = 1;

	while (tried && trial_more(t)) {
		tried = t->out->moves;
		for (uint32_t c = 0; c < p->graph->n_comps; c++) {
			struct anneal k;
			if (program_line(p, c)->n < 3)
				continue;
			anneal_init(&k, &p->course[c], t->rng);
			rng_shuffle(t->rng, k.free_step, k.n_free);
			for (uint32_t i = 0; i < k.n_free && trial_more(t); i++)
				sweep_step(t, &k, c, k.free_step[i]);
			anneal_release(&k);
		}
		tried = t->out->moves - tried;
	}
}
