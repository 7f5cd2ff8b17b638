/*
 * tune.c - see tune.h.
 *
 * Cooling is by the share of time that is used up, and done twice. First quickly: many moves by the weights that values have
 * at the moment, then the whole program settled. That cannot see what most is to be won by where a program returns much, as
 * a training step does: a value that finds room in the memory of a result weighs nothing, one that just lost it weighs all. So
 * then exactly: every move is judged by the settled program. That is a hundred times slower and finds far more (a ResNet's
 * training step: 352 KiB quickly, 128 KiB exactly, in the same time).
 */
#include "space/order/tune.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "space/order/anneal.h"

#define ROUND_LEAST 500	  /* moves between settlings */
#define ROUND_MOST 4000	  /* ... so that the clock is looked at */
#define EXACT_ROUND 32	  /* moves between looks at the clock */
#define FIRST 0.15	  /* share of the time that moves by fixed weights get */
#define AGAIN 3		  /* how much hotter the exact ones begin */

struct tuner {
	struct program *p;
	const struct tune_options *o;
	struct tune_result *out;
	struct rng *rng;
	double share_done, share; /* of all the time: used by computations before, and given to this one */
	double began, seconds;	  /* of this computation */
	uint64_t moves;		  /* likewise: 0: by the clock */
	uint32_t *best, *old;
	uint64_t best_bytes, best_peak;
};

static double done(const struct tuner *t, const struct anneal *k)
{
	double share = t->moves ? (double)k->moves / (double)t->moves : (now_seconds() - t->began) / t->seconds;

	return t->o->stop && t->o->stop() ? 1 : share;
}

static double warmth(const struct tuner *t, double share)
{
	double hot = t->o->hot > 0 ? t->o->hot : ANNEAL_HOT, cold = t->o->cold > 0 ? t->o->cold : ANNEAL_COLD;

	if (share < FIRST)
		return hot * pow(cold / hot, share / FIRST);
	hot *= AGAIN;
	return hot * pow(cold / hot, (share - FIRST) / (1 - FIRST));
}

/* The program as it is settled: kept if it is the best so far. */
static void consider(struct tuner *t, uint32_t comp, uint64_t bytes)
{
	struct program *p = t->p;

	if (bytes > t->best_bytes || (bytes == t->best_bytes && p->peak[comp] >= t->best_peak))
		return;
	t->best_bytes = bytes;
	t->best_peak = p->peak[comp];
	memcpy(t->best, p->order[comp], program_line(p, comp)->n * sizeof *t->best);
}

static void go_back(struct tuner *t, uint32_t comp)
{
	memcpy(t->p->order[comp], t->best, program_line(t->p, comp)->n * sizeof *t->best);
	program_settle(t->p);
}

/* Many moves by the weights as they are, then settled. */
static void quick_round(struct tuner *t, uint32_t comp, struct anneal *k, double warm)
{
	const struct course *c = k->course;
	uint32_t n = c->line->n, round = n < ROUND_LEAST ? ROUND_LEAST : n > ROUND_MOST ? ROUND_MOST : n;

	anneal_moves(k, round, warm);
	memcpy(t->p->order[comp], c->order, n * sizeof *c->order);
	consider(t, comp, program_settle(t->p));
}

/* Moves that are each judged by the settled program. */
static void exact_round(struct tuner *t, uint32_t comp, struct anneal *k, double warm)
{
	struct program *p = t->p;
	uint32_t n = k->course->line->n, *order = p->order[comp], *old = t->old;
	double now = course_soft(k->course);

	for (int i = 0; i < EXACT_ROUND; i++) {
		uint32_t first, step = (uint32_t)rng_below(t->rng, n);
		uint32_t size = anneal_move(k->course, step, anneal_distance(k), k->mark, k->sequence, &first);
		double then;
		k->moves++;
		if (!size)
			continue;
		memcpy(old, order + first, size * sizeof *old);
		memcpy(order + first, k->sequence, size * sizeof *old);
		consider(t, comp, program_settle(p));
		then = course_soft(k->course);
		if (then <= now || rng_unit(t->rng) < exp(-log(then / now) / warm)) {
			now = then;
			continue;
		}
		memcpy(order + first, old, size * sizeof *old);
		course_set(k->course, order); /* with weights that are not its own, but moves only ask for places */
	}
	program_settle(p);
}

static void tune_line(struct tuner *t, uint32_t comp)
{
	struct program *p = t->p;
	uint32_t n = program_line(p, comp)->n;
	struct anneal k;
	bool exact = false;
	double share;

	t->best_bytes = program_settle(p);
	t->best_peak = p->peak[comp];
	t->best = mem_alloc(n * sizeof *t->best);
	t->old = mem_alloc(n * sizeof *t->old);
	memcpy(t->best, p->order[comp], n * sizeof *t->best);
	anneal_init(&k, &p->course[comp], t->rng);
	t->began = now_seconds();
	while ((share = done(t, &k)) < 1) {
		if (share >= FIRST && !exact) {
			exact = true;
			go_back(t, comp);
		}
		if (exact)
			exact_round(t, comp, &k, warmth(t, share));
		else
			quick_round(t, comp, &k, warmth(t, share));
		if (t->o->progress)
			t->o->progress(t->o->with, t->share_done + t->share * share, t->best_bytes);
	}
	go_back(t, comp);
	t->out->moves += k.moves;
	anneal_release(&k);
	mem_free(t->best);
	mem_free(t->old);
}

/* Does it hold anything of its own? Kernels that are called one by one hold nothing. */
static bool worth_it(const struct program *p, uint32_t comp)
{
	return p->values.line[comp].n > 2 && p->peak[comp] > 0;
}

void tune(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out)
{
	struct tuner t = {.p = p, .o = o, .out = out, .rng = r};
	double began = now_seconds(), steps = 0;

	*out = (struct tune_result){.before = program_settle(p)};
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		steps += worth_it(p, c) ? p->values.line[c].n : 0;
	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		if (!worth_it(p, c))
			continue;
		t.share = p->values.line[c].n / steps;
		t.seconds = o->seconds * t.share;
		t.moves = o->moves ? (uint64_t)((double)o->moves * t.share) + 1 : 0;
		tune_line(&t, c);
		t.share_done += t.share;
	}
	out->bytes = program_settle(p);
	out->seconds = now_seconds() - began;
}
