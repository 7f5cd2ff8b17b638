/*
 * anneal.c - draws moves of steps, and takes those that make an order better.
 *
 * A pull goes backwards through the window and marks the predecessors of each marked step, so one pass finds all that
 * must come along. Then the marked steps are written first and the others behind them, both in their old sequence. A
 * push does the same the other way round.
 */
#include "space/order/anneal.h"

#include <math.h>
#include "base/mem.h"

#define WIDEST 4096	/* the longest distance of a move that is not aimed */
#define AIM_EVERY 64	/* aim is taken after so many moves, plus one ... */
#define AIM_STEPS 256	/* ... for each so many steps, because taking aim walks over the whole line */
#define NARROW 512	/* steps: moves with a longer window are drawn less often, in proportion to their length */
#define AIMED 0.5	/* the share of moves that are aimed, if all windows are short */
#define NEAR 0.98	/* positions with this share of the peak are aimed at */
#define CROWDED 80	/* moves that find no room in an order before it is full */

/* Pulls the step at position `at` to position `to`. Writes the window's new sequence; returns its length, or 0. */
static uint32_t pull(const struct course *c, uint32_t at, uint32_t to, uint8_t *mark, uint32_t *out)
{
	const struct line *l = c->line;
	uint32_t n = at - to + 1, moved = 0, front = 0, back;

	mark[c->order[at]] = 1;
	for (uint32_t p = at + 1; p-- > to;) {
		uint32_t v = c->order[p];
		if (!mark[v])
			continue;
		moved++;
		for (uint32_t k = l->before.first[v]; k < l->before.first[v + 1]; k++)
			if (c->place[l->before.item[k]] >= to)
				mark[l->before.item[k]] = 1;
	}
	back = moved;
	for (uint32_t p = to; p <= at; p++) {
		uint32_t v = c->order[p];
		out[mark[v] ? front++ : back++] = v;
		mark[v] = 0;
	}
	return moved < n ? n : 0;
}

/* Pushes the step at position `at` to position `to`. Otherwise like pull. */
static uint32_t push(const struct course *c, uint32_t at, uint32_t to, uint8_t *mark, uint32_t *out)
{
	const struct line *l = c->line;
	uint32_t n = to - at + 1, stay = n, front = 0, back;

	mark[c->order[at]] = 1;
	for (uint32_t p = at; p <= to; p++) {
		uint32_t v = c->order[p];
		if (!mark[v])
			continue;
		stay--;
		for (uint32_t k = l->after.first[v]; k < l->after.first[v + 1]; k++)
			if (c->place[l->after.item[k]] <= to)
				mark[l->after.item[k]] = 1;
	}
	back = stay;
	for (uint32_t p = at; p <= to; p++) {
		uint32_t v = c->order[p];
		out[mark[v] ? back++ : front++] = v;
		mark[v] = 0;
	}
	return stay > 0 ? n : 0;
}

uint32_t anneal_move(const struct course *c, uint32_t step, int64_t far, uint8_t *mark, uint32_t *out, uint32_t *first)
{
	int64_t at = c->place[step], to = at + far, front = c->line->n_pinned;

	if (at < front)
		return 0;
	to = to < front ? front : to >= c->line->n ? (int64_t)c->line->n - 1 : to;
	*first = (uint32_t)(to < at ? to : at);
	if (to == at)
		return 0;
	return to < at ? pull(c, (uint32_t)at, (uint32_t)to, mark, out) : push(c, (uint32_t)at, (uint32_t)to, mark,
		out);
}

int64_t anneal_distance(struct anneal *k)
{
	double d = exp(rng_unit(k->rng) * log((double)k->widest + 1));

	return rng_u64(k->rng) & 1 ? (int64_t)d : -(int64_t)d;
}

/* Decides whether the last trial is taken. The temperature is a share of the peak; heat is a power of the peak. */
static bool accepted(struct anneal *k, double warmth)
{
	double now = k->course->heat, then = k->course->trial.heat;

	if (then <= now)
		return true;
	return rng_unit(k->rng) < exp(-log(then / now) / COURSE_POWER / warmth);
}

/* Returns one of the positions near the peak, each with the same probability. */
static uint32_t worst_place(struct anneal *k)
{
	const struct course *c = k->course;
	uint64_t near = (uint64_t)(NEAR * (double)course_peak(c));
	uint32_t found = 0, at = c->line->n;

	for (uint32_t b = 0; b < c->n_blocks; b++)
		for (uint32_t p = b * COURSE_BLOCK; c->block[b] >= near && p < c->line->n && p < (b + 1) * COURSE_BLOCK;
			p++)
			if (c->bytes[p] >= near && rng_below(k->rng, ++found) == 0)
				at = p;
	return at;
}

/* The weight with which a move is drawn: the bytes that it may win, and less if its window is long. */
static double worth(double bytes, uint32_t span)
{
	return span > NARROW ? bytes * NARROW / span : bytes;
}

void anneal_aim(struct anneal *k)
{
	const struct course *c = k->course;
	const struct line *l = c->line;
	uint32_t at = worst_place(k);
	double sum = 0, bytes = 0;

	k->aim.n = 0;
	k->aim.at = at;
	for (uint32_t i = 0; i < l->n_values && at < l->n; i++) {
		uint32_t maker = c->place[l->value[i].maker], last = c->place[c->last[i]];
		if (!l->value[i].bytes || maker > at || last < at)
			continue;
		bytes += 2 * (double)l->value[i].bytes;
		k->aim.value[k->aim.n / 2] = i;
		k->aim.up_to[k->aim.n++] = sum += worth((double)l->value[i].bytes, at - maker);
		k->aim.up_to[k->aim.n++] = sum += worth((double)l->value[i].bytes, last - at);
	}
	k->aim.share = bytes > 0 ? AIMED * sum / bytes : 0;
}

/* Draws the number of one of the aimed moves, by their weights. */
static uint32_t aimed(struct anneal *k)
{
	double x = rng_unit(k->rng) * k->aim.up_to[k->aim.n - 1];
	uint32_t low = 0, high = k->aim.n - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (k->aim.up_to[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Draws an aimed move: a value is to be made after the position aimed at, or to be dead before it. The order may have
 * changed since aim was taken.
 */
static uint32_t aimed_move(struct anneal *k, uint32_t *first)
{
	const struct course *c = k->course;
	uint32_t move = aimed(k), v = k->aim.value[move / 2], maker = c->line->value[v].maker, last = c->last[v];
	int64_t at = k->aim.at, spare = (int64_t)exp(rng_unit(k->rng) * 4);

	if (move % 2 == 0)
		return anneal_move(c, maker, at - c->place[maker] + spare, k->mark, k->sequence, first);
	return anneal_move(c, last, at - c->place[last] - spare, k->mark, k->sequence, first);
}

uint32_t anneal_next(struct anneal *k, uint32_t *first)
{
	uint32_t step;
	int64_t far;

	k->moves++;
	k->orders += !k->apart;
	if (k->aim.n && rng_unit(k->rng) < k->aim.share)
		return aimed_move(k, first);
	step = k->free_step[rng_below(k->rng, k->n_free)];
	do
		far = anneal_distance(k);
	while (rng_unit(k->rng) >= worth(1, (uint32_t)(far < 0 ? -far : far)));
	return anneal_move(k->course, step, far, k->mark, k->sequence, first);
}

/* Tries a move, and takes it if it is good enough. */
static void try_move(struct anneal *k, uint32_t first, uint32_t n, double warmth)
{
	course_try(k->course, first, n, k->sequence);
	if (!accepted(k, warmth))
		return;
	k->taken++;
	course_take(k->course);
}

void anneal_fresh(struct anneal *k)
{
	k->orders++;
	k->now++;
}

/* Has the present order a move in that window? */
static bool overlaps(const struct anneal *k, uint32_t first, uint32_t n)
{
	for (uint32_t p = first; p < first + n; p++)
		if (k->seen[p] == k->now)
			return true;
	return false;
}

static void cover(struct anneal *k, uint32_t first, uint32_t n)
{
	for (uint32_t p = first; p < first + n; p++)
		k->seen[p] = k->now;
}

/* Looks at one order, with as many moves as soon find room. */
static void look_at_order(struct anneal *k, double warmth)
{
	uint32_t first, n, made = 0;

	anneal_aim(k);
	for (int crowded = 0; crowded < CROWDED && (!k->most || made < k->most);) {
		n = anneal_next(k, &first);
		if (n == 0 || overlaps(k, first, n)) {
			crowded++;
			continue;
		}
		cover(k, first, n);
		try_move(k, first, n, warmth);
		made++;
	}
	anneal_fresh(k);
}

void anneal_moves(struct anneal *k, uint32_t orders, double warmth)
{
	for (uint32_t i = 0; i < orders && k->n_free; i++) {
		uint32_t first, n;
		if (k->apart) {
			look_at_order(k, warmth);
			continue;
		}
		if (i % (AIM_EVERY + k->course->line->n / AIM_STEPS) == 0)
			anneal_aim(k);
		n = anneal_next(k, &first);
		if (n > 0)
			try_move(k, first, n, warmth);
	}
}

/* Does the step's position matter? Values count even if they weigh nothing now: they may lose their room. */
static bool is_free(const struct line *l, uint32_t v)
{
	return !l->pinned[v] && (l->makes.first[v] < l->makes.first[v + 1] ||
		l->reads.first[v] < l->reads.first[v + 1]);
}

bool anneal_can(const struct line *l)
{
	uint32_t v = 0;

	while (v < l->n && !is_free(l, v))
		v++;
	return v < l->n;
}

static void find_free(struct anneal *k)
{
	const struct line *l = k->course->line;

	for (uint32_t v = 0; v < l->n; v++)
		if (is_free(l, v))
			k->free_step[k->n_free++] = v;
}

void anneal_init(struct anneal *k, struct course *c, struct rng *r)
{
	*k = (struct anneal){.course = c, .rng = r, .widest = c->line->n < WIDEST ? c->line->n : WIDEST, .now = 1};
	k->seen = MEM_NEW(c->line->n, uint32_t);
	k->mark = MEM_NEW(c->line->n, uint8_t);
	k->sequence = MEM_NEW(c->line->n, uint32_t);
	k->free_step = MEM_NEW(c->line->n, uint32_t);
	k->aim.value = MEM_NEW(c->line->n_values, uint32_t);
	k->aim.up_to = MEM_NEW(2 * (size_t)c->line->n_values, double);
	find_free(k);
}

void anneal_release(struct anneal *k)
{
	mem_free(k->seen);
	mem_free(k->mark);
	mem_free(k->sequence);
	mem_free(k->free_step);
	mem_free(k->aim.value);
	mem_free(k->aim.up_to);
}
