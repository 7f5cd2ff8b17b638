/*
 * tune.c - anneals the orders of a program, one computation after another.
 *
 * Annealing cools down twice, each time by the share of time that is used up. First come quick moves: many moves are
 * judged by the weights that values have at the moment, and then the whole program is settled. That misses the largest
 * gains in a program that returns much, such as a training step: a value in the memory of a result weighs nothing, and
 * one that just lost its place there weighs all its bytes. So then come exact moves: the program is settled after each
 * move, and decides whether it is taken. What a move seems to gain by the present weights only decides whether it is
 * tried at all; some moves are tried however bad they seem. If no values are in the memory of results, quick moves are
 * exact already, and they get most of the time.
 *
 * Between the two, beams (beam.h) make the peak smaller. Such an order has few live bytes, but its heap may have gaps
 * of some percent. So exact moves begin there even if the order is not the best so far, and are judged by the heap from
 * the start. Late in the search they go on from the best order. If values are in the memory of results, the peak says
 * less, and judging by the heap from the start takes too long (ResNet needed up to a tenth more bytes): then the order
 * of the beams is kept only if it is the best so far.
 *
 * If orders are counted instead of seconds, there are few of them, and thinking costs nothing: moves that lie apart are
 * made in one order (anneal.h), quick ones as many as find room, exact ones from one to some. Partial orders in beams
 * count as their share of an order.
 *
 * Live bytes and bytes of the heap differ by gaps (heap.h). The heap counts in the end. So late in the search, if the
 * gaps are large enough, moves are judged by the heap, too. If tens of thousands of values are alive together, laying
 * out the heap takes seconds; for such a program live bytes stand for it, and a caller who wants the heap asks for it
 * afterwards.
 */
#include "space/order/tune.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "space/order/anneal.h"
#include "space/order/beam.h"
#include "space/order/bound.h"
#include "space/order/heap.h"

#define ROUND_LEAST 500	  /* quick moves between two settlings, at least ... */
#define ROUND_MOST 4000	  /* ... and at most, because the clock is read only then */
#define ROUNDS 16	  /* if orders are counted, they are settled so many times, ... */
#define ROUND_FEWEST 4	  /* ... and not before there are so many */
#define EXACT_ROUND 32	  /* exact moves between two looks at the clock */
#define FIRST 0.15	  /* the share of the time for quick moves ... */
#define FIRST_ALONE 0.8	  /* ... if weights hardly change, or the line is large */
#define LAST 0.6	  /* gaps count after this share of the time ... */
#define GAPS 0.002	  /* ... if they take more than this share of the heap */
#define FIRST_COUNTED 0.4 /* ... but less if orders are counted: closing the gaps takes many of them, ... */
#define COOLER 0.3	  /* ... and then exact moves begin at this share of the temperature */
#define BACK 0.75	  /* after this share of the time annealing goes on from the best order */
#define LARGE 16384	  /* lines with more steps are large: they settle so slowly that exact moves would be few */
#define HARDLY 0.01	  /* weights hardly change if results and rooms have less than this share of the peak */
#define WIDEST 128	  /* partial sequences in the widest beam */
#define PRESS 0.15	  /* the share of the time for beams, at most */
#define AGAIN 3		  /* exact moves begin at a temperature so many times as hot */
#define DOUBT 4		  /* whether an exact move is tried is decided at a temperature so many times as hot */
#define TOGETHER 32	  /* the most moves in one order that is settled, if orders are counted */
#define BLIND 0.05	  /* the share of exact moves that are tried however bad they seem */
#define EACH 0.25	  /* the share of the time for each of two orders to start from */
#define SOFT 0.2	  /* the weight of live bytes in the judgement, once gaps count */

struct tuner {
	struct program *p;
	const struct tune_options *o;
	struct tune_result *out;
	struct rng *rng;
	double share_done, share; /* of all the time: the share used up to here, and this computation's in this pass */
	double began, seconds;	  /* when this computation began, and its time */
	uint64_t moves;		  /* its moves; 0: it ends by the clock */
	double first;		  /* the share of its time for quick moves */
	double again;		  /* exact moves begin at a temperature so many times as hot */
	uint32_t *best, *old;
	uint64_t *weights; /* a copy of the line's weights and `inside`, for the last order that was taken */
	uint64_t best_bytes, best_peak;
	bool gaps;
	struct bound bound;
	bool dear; /* laying out the heap takes too long */
	bool rooms; /* values are in the memory of results, so the bound of a single line says little */
};

/* Returns the bytes of the settled program, of which `live` are the live bytes. */
static uint64_t heap_of(const struct tuner *t, uint64_t live)
{
	return t->dear ? live + t->p->tables : program_bytes(t->p);
}

/* Can no other order of this computation be better? */
static bool at_end(const struct tuner *t, uint32_t comp)
{
	const struct program *p = t->p;

	if (bound_reached(&t->bound, t->best_bytes))
		return true;
	return !t->rooms && t->best_peak <= t->bound.comp[comp] &&
		values_rounded(&p->values, t->best_bytes) <= p->peak[p->graph->entry] + p->tables;
}

static double done(const struct tuner *t, uint32_t comp, const struct anneal *k)
{
	double share = t->moves ? (double)k->orders / (double)t->moves : (now_seconds() - t->began) / t->seconds;

	return at_end(t, comp) || (t->o->stop && t->o->stop()) ? 1 : share;
}

static double warmth(const struct tuner *t, double share)
{
	double hot = t->o->hot > 0 ? t->o->hot : ANNEAL_HOT, cold = t->o->cold > 0 ? t->o->cold : ANNEAL_COLD;

	if (share < t->first)
		return hot * pow(cold / hot, share / t->first);
	hot *= t->again;
	return hot * pow(cold / hot, (share - t->first) / (1 - t->first));
}

/*
 * Keeps the present order of a computation if the settled program is the best so far. The heap is laid out only if the
 * live bytes allow that, because it cannot be smaller.
 */
static void consider(struct tuner *t, uint32_t comp, uint64_t bytes)
{
	struct program *p = t->p;

	if (bytes + p->tables >= values_rounded(&p->values, t->best_bytes + 1))
		return;
	bytes = heap_of(t, bytes);
	if (bytes > t->best_bytes || (bytes == t->best_bytes && p->peak[comp] >= t->best_peak))
		return;
	t->best_bytes = bytes;
	t->best_peak = p->peak[comp];
	memcpy(t->best, p->order[comp], program_line(p, comp)->n * sizeof *t->best);
}

static void keep_weights(struct tuner *t, const struct line *l)
{
	for (uint32_t i = 0; i < l->n_values; i++)
		t->weights[i] = l->value[i].bytes;
	for (uint32_t i = 0; i < l->n; i++)
		t->weights[l->n_values + i] = (uint64_t)l->inside[i];
}

static void restore_weights(const struct tuner *t, struct line *l)
{
	for (uint32_t i = 0; i < l->n_values; i++)
		l->value[i].bytes = t->weights[i];
	for (uint32_t i = 0; i < l->n; i++)
		l->inside[i] = (int64_t)t->weights[l->n_values + i];
}

static void go_back(struct tuner *t, uint32_t comp)
{
	memcpy(t->p->order[comp], t->best, program_line(t->p, comp)->n * sizeof *t->best);
	program_settle(t->p);
	keep_weights(t, program_line(t->p, comp));
}

/* How many quick moves, or orders with many of them, come before the next settling. */
static uint32_t round_of(const struct tuner *t, const struct anneal *k)
{
	uint32_t n = k->course->line->n, round = n < ROUND_LEAST ? ROUND_LEAST : n > ROUND_MOST ? ROUND_MOST : n;
	uint64_t left = t->moves - k->orders, quick = (uint64_t)(t->first * (double)t->moves) / ROUNDS;

	if (!t->moves)
		return round;
	round = quick < ROUND_FEWEST ? ROUND_FEWEST : quick < round ? (uint32_t)quick : round;
	return left < round ? (uint32_t)left : round;
}

/* Makes many quick moves, and settles. */
static void quick_round(struct tuner *t, uint32_t comp, struct anneal *k, double warm)
{
	const struct course *c = k->course;

	anneal_moves(k, round_of(t, k), warm);
	memcpy(t->p->order[comp], c->order, c->line->n * sizeof *c->order);
	consider(t, comp, program_settle(t->p));
}

/* Returns the figure by which exact moves are judged: a logarithm of bytes. */
static double judge(struct tuner *t, const struct course *c)
{
	double soft = log(course_soft(c));

	return t->gaps ? (1 - SOFT) * log((double)program_bytes(t->p) + 1) + SOFT * soft : soft;
}

/* Draws a move that is worth a try: its first position in *first; returns its length, or 0 if it finds none soon. */
static uint32_t next_move(struct anneal *k, double warm, uint32_t *first)
{
	struct course *c = k->course;

	for (int i = 0; i < EXACT_ROUND; i++) {
		uint32_t n = anneal_next(k, first);
		if (!n)
			continue;
		if (rng_unit(k->rng) < BLIND)
			return n;
		course_try(c, *first, n, k->sequence);
		if (rng_unit(k->rng) < exp(-log(c->trial.heat / c->heat) / COURSE_POWER / warm / DOUBT))
			return n;
	}
	return 0;
}

/* Is the settled order good enough, after one that was judged `now`? */
static bool settled_well(struct tuner *t, const struct course *c, double warm, double *now)
{
	double then = judge(t, c);

	if (then > *now && rng_unit(t->rng) >= exp(-(then - *now) / warm))
		return false;
	*now = then;
	return true;
}

/*
 * Makes one or more moves that lie apart, all in one order, and settles: takes them, or takes all of them back. Those
 * that seem too bad by the present weights are left out, so two orders are looked at.
 */
static void exact_order(struct tuner *t, uint32_t comp, struct anneal *k, double warm, double *now)
{
	struct program *p = t->p;
	struct line *l = program_line(p, comp);
	uint32_t *order = p->order[comp];

	memcpy(t->old, order, l->n * sizeof *order);
	k->most = (uint32_t)exp(rng_unit(k->rng) * log(TOGETHER));
	anneal_moves(k, 1, DOUBT * warm);
	k->most = 0;
	memcpy(order, k->course->order, l->n * sizeof *order);
	consider(t, comp, program_settle(p));
	anneal_fresh(k);
	if (settled_well(t, k->course, warm, now)) {
		keep_weights(t, l);
		return;
	}
	memcpy(order, t->old, l->n * sizeof *order);
	restore_weights(t, l);
	course_set(k->course, order);
}

/* Makes exact moves: each is judged by the settled program, and taken back if it is not good enough. */
static void exact_round(struct tuner *t, uint32_t comp, struct anneal *k, double warm)
{
	struct program *p = t->p;
	struct line *l = program_line(p, comp);
	uint32_t *order = p->order[comp], *old = t->old;
	double now = judge(t, k->course);

	anneal_aim(k);
	for (int i = 0; i < EXACT_ROUND && k->apart && k->orders + 1 < t->moves; i++)
		exact_order(t, comp, k, warm, &now);
	if (k->apart && k->orders + 1 == t->moves)
		anneal_fresh(k); /* one order is left, which is not enough */
	for (int i = 0; i < EXACT_ROUND && !k->apart; i++) {
		uint32_t first, size = next_move(k, warm, &first);
		if (!size)
			continue;
		memcpy(old, order + first, size * sizeof *old);
		memcpy(order + first, k->sequence, size * sizeof *old);
		consider(t, comp, program_settle(p));
		if (settled_well(t, k->course, warm, &now)) {
			keep_weights(t, l);
			continue;
		}
		memcpy(order + first, old, size * sizeof *old);
		restore_weights(t, l);
		course_set(k->course, order);
	}
	program_settle(p);
	keep_weights(t, l);
}

/* Makes the peak smaller by beams, one after another, and considers each order that they find. */
static void press_peak(struct tuner *t, uint32_t comp, struct anneal *k)
{
	struct course *c = k->course;
	struct beam_press b = {0};
	uint64_t before = k->orders, left;
	double orders = 0, began = done(t, comp, k);

	while (done(t, comp, k) < began + PRESS) {
		left = t->moves ? t->moves - k->orders : UINT64_MAX;
		b.widest = left > WIDEST ? WIDEST : (uint32_t)left - 1; /* no beam looks at more orders */
		if (!b.widest || !beam_press(c, &b, &orders))
			break;
		if (!b.vain) {
			memcpy(t->p->order[comp], c->order, c->line->n * sizeof *c->order);
			consider(t, comp, program_settle(t->p));
			orders++;
		}
		k->orders = before + (uint64_t)ceil(orders);
	}
}

/*
 * Makes the peak smaller by beams, and leaves their last order, from which exact moves go on; but not a worse one if
 * values are in the memory of results.
 */
static void press(struct tuner *t, uint32_t comp, struct anneal *k)
{
	struct program *p = t->p;
	uint64_t peak = course_peak(k->course), bytes;

	press_peak(t, comp, k);
	bytes = program_settle(p);
	if (t->rooms && heap_of(t, bytes) > t->best_bytes)
		go_back(t, comp);
	else if (!t->rooms && course_peak(k->course) < peak && !t->dear)
		t->gaps = (double)program_bytes(p) > (1 + GAPS) * (double)p->peak[p->graph->entry];
	keep_weights(t, program_line(p, comp));
}

/* Are enough bytes in the memory of results to matter? */
static bool weights_change(const struct program *p)
{
	double in = 0;

	for (uint32_t i = 0; i < p->n_values; i++)
		in += p->value[i].result || p->value[i].room != NONE ? (double)p->value[i].size : 0;
	return in > HARDLY * (double)p->peak[p->graph->entry];
}

/* Decides how a computation's time is shared between quick and exact moves. */
static void share_out(struct tuner *t, const struct line *l)
{
	t->rooms = weights_change(t->p);
	t->gaps = false;
	t->again = 1;
	t->first = FIRST_ALONE;
	if (t->rooms && l->n < LARGE) {
		t->first = FIRST;
		t->again = AGAIN;
	} else if (t->moves) {
		t->first = FIRST_COUNTED;
		t->again = COOLER;
	}
}

/* Makes quick moves, then beams, then exact moves, until the computation's time is over. */
static void tune_rounds(struct tuner *t, uint32_t comp, struct anneal *k)
{
	struct program *p = t->p;
	bool exact = false, pressed = false;
	double share;

	while ((share = done(t, comp, k)) < 1) {
		if (share >= t->first && !exact) {
			exact = true;
			pressed = !t->rooms;
			go_back(t, comp);
			press(t, comp, k);
			share = done(t, comp, k);
		}
		if (share >= BACK && pressed) {
			pressed = false;
			go_back(t, comp);
		}
		if (share >= LAST && exact && !t->gaps && (double)t->best_bytes > (1 + GAPS) *
			(double)p->peak[p->graph->entry])
			t->gaps = true;
		if (exact)
			exact_round(t, comp, k, warmth(t, share));
		else
			quick_round(t, comp, k, warmth(t, share));
		if (t->o->progress)
			t->o->progress(t->o->with, t->o->began + (1 - t->o->began) *
				(t->share_done - t->share * (1 - share)), t->best_bytes);
	}
	go_back(t, comp);
}

static void tune_line(struct tuner *t, uint32_t comp)
{
	struct program *p = t->p;
	struct line *l = program_line(p, comp);
	struct anneal k;

	t->best_bytes = heap_of(t, program_settle(p));
	t->best_peak = p->peak[comp];
	t->best = mem_alloc(l->n * sizeof *t->best);
	t->old = mem_alloc(l->n * sizeof *t->old);
	t->weights = mem_alloc(((size_t)l->n_values + l->n) * sizeof *t->weights);
	share_out(t, l);
	memcpy(t->best, p->order[comp], l->n * sizeof *t->best);
	anneal_init(&k, &p->course[comp], t->rng);
	k.apart = t->moves > 0;
	t->began = now_seconds();
	tune_rounds(t, comp, &k);
	t->out->moves += k.orders;
	anneal_release(&k);
	mem_free(t->best);
	mem_free(t->old);
	mem_free(t->weights);
}

/* Is the order of this computation worth tuning? One that holds no memory, or whose steps hold none, is not. */
static bool worth_it(const struct program *p, uint32_t comp)
{
	return p->values.line[comp].n > 2 && p->peak[comp] > 0 && anneal_can(&p->values.line[comp]);
}

/* Tunes all computations from the orders that the program has, in a share of the time. */
static void pass(struct tuner *t, double share)
{
	struct program *p = t->p;
	double steps = 0;
	uint64_t due; /* orders that are looked at by then */

	program_settle(p);
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		steps += worth_it(p, c) ? p->values.line[c].n : 0;
	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		if (!worth_it(p, c))
			continue;
		t->share = share * p->values.line[c].n / steps;
		t->seconds = t->o->seconds * t->share;
		t->share_done += t->share;
		due = (uint64_t)((double)t->o->moves * t->share_done + 0.5);
		t->moves = due > t->out->moves ? due - t->out->moves : 0;
		if (t->moves || !t->o->moves)
			tune_line(t, c);
	}
}

static uint64_t settled_bytes(const struct tuner *t)
{
	return heap_of(t, program_settle(t->p));
}

static uint32_t **copy_of_orders(const struct program *p)
{
	uint32_t **copy = MEM_NEW(p->graph->n_comps, uint32_t *);

	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		copy[c] = mem_alloc(p->values.line[c].n * sizeof **copy);
	program_copy_orders(p, copy, p->order);
	return copy;
}

static void free_orders(const struct program *p, uint32_t **orders)
{
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		mem_free(orders[c]);
	mem_free(orders);
}

/* Tunes from each of the two orders, and then from the better of the two answers. */
static void passes(struct tuner *t)
{
	struct program *p = t->p;
	uint32_t **first;
	uint64_t bytes;

	pass(t, EACH);
	bytes = settled_bytes(t);
	if (bound_reached(&t->bound, bytes))
		return;
	first = copy_of_orders(p);
	program_copy_orders(p, p->order, t->o->other);
	pass(t, EACH);
	if (settled_bytes(t) > bytes)
		program_copy_orders(p, p->order, first);
	pass(t, 1 - 2 * EACH);
	free_orders(p, first);
}

/* Takes the orders that are known to be best for their own lines, if they make the whole program better. */
static void try_exact(struct tuner *t)
{
	struct program *p = t->p;
	uint32_t **old = copy_of_orders(p);
	uint64_t before = settled_bytes(t);

	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		if (t->bound.order[c])
			memcpy(p->order[c], t->bound.order[c], p->values.line[c].n * sizeof **old);
	if (settled_bytes(t) >= before)
		program_copy_orders(p, p->order, old);
	free_orders(p, old);
}

void tune(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out)
{
	struct tuner t = {.p = p, .o = o, .out = out, .rng = r};
	double began = now_seconds();

	program_settle(p);
	t.dear = heap_work(p) > TUNE_DEAR;
	*out = (struct tune_result){.before = settled_bytes(&t)};
	bound_find(&t.bound, p);
	try_exact(&t);
	if (o->other)
		passes(&t);
	else
		pass(&t, 1);
	out->bytes = settled_bytes(&t);
	out->least = t.bound.bytes;
	out->proved = !t.dear && bound_reached(&t.bound, out->bytes); /* if it is dear, the gaps are not known */
	out->seconds = now_seconds() - began;
	bound_release(&t.bound);
}
