/*
 * sketch.c - passes messages along all edges, by sequential tree-reweighted message passing (Kolmogorov 2006), with
 * prices for memory.
 *
 * A message tells what each choice of a variable costs by what a neighbour knows. A pass visits all variables in their
 * order, or against it. A variable adds its own costs and all messages to it, and tells a share of the sums to the
 * neighbours that come later: for each of their choices, the least over its own. The share is one over the number of
 * messages that it sends, in the direction in which these are more. So nothing counts twice. In a chain of variables
 * the messages are exact.
 *
 * During the pass an answer is written: a variable takes the choice that costs least beside the choices of the
 * neighbours that have chosen already, and by the messages of the others.
 *
 * Then prices change, as in a subgradient method: where the sketch exceeds the memory, the price rises in proportion;
 * all prices sink a little. The steps become smaller whenever a sketch fits.
 *
 * What it is worth: two answers of net M of iopddl differ in 2,700 of its 3,222 variables, all connected. Even without
 * a limit of memory, exact elimination of areas of up to 1e7 entries ended at 61 times 10^9 after 14 s; sketches end at
 * 46 after 9 s. The best answer of net B differs in 108 of 152 variables from the one at 1.7 times its cost where most
 * walks ended; sketches lead to it within half a second.
 */
#include "space/net/sketch.h"

#include <math.h>
#include <string.h>

#define FORBIDDEN (REDUCED_NEVER / 8) /* messages are at most that: as much as all allowed costs together */
#define SINK 0.99	/* the share of a price that remains after a pass */
#define CALMER 0.98	/* the rate shrinks by this when a sketch fits, */
#define LEAST_RATE 0.01 /* but not below this */

/*
 * Finds, for each link, its other end. We go through the links by the variable that they lead to: first we list them
 * so, then we note where that variable has its own link to each neighbour.
 */
static void find_ends(struct sketch *d, size_t links)
{
	const struct reduced *m = d->m;
	size_t *first = MEM_NEW(m->n_vars + 2, size_t), *place = MEM_NEW(m->n_vars + 1, size_t);
	struct end {
		uint32_t v, i;
	} *end = MEM_NEW(links + 1, struct end);

	for (uint32_t v = 0; v < m->n_vars; v++)
		for (uint32_t i = 0; i < m->var[v].n_links; i++)
			first[m->var[v].link[i].other + 2]++;
	for (uint32_t v = 2; v < m->n_vars + 2; v++)
		first[v] += first[v - 1];
	for (uint32_t v = 0; v < m->n_vars; v++)
		for (uint32_t i = 0; i < m->var[v].n_links; i++)
			end[first[m->var[v].link[i].other + 1]++] = (struct end){v, i};
	for (uint32_t o = 0; o < m->n_vars; o++) {
		const struct var *a = &m->var[o];
		for (uint32_t i = 0; i < a->n_links; i++)
			place[a->link[i].other] = i;
		for (size_t e = first[o]; e < first[o + 1]; e++) {
			size_t link = d->link_at[end[e].v] + end[e].i, back = place[end[e].v];
			d->out_at[link] = d->in_at[d->link_at[o] + back];
			d->back[link] = a->link[back].cost;
			d->work += (double)a->choices * m->var[end[e].v].choices / 2;
		}
	}
	mem_free(first);
	mem_free(place);
	mem_free(end);
}

struct sketch *sketch_new(const struct reduced *m)
{
	struct sketch *d = MEM_NEW(1, struct sketch);
	size_t links = 0, choices = 0, told = 0, most = 0;

	*d = (struct sketch){.m = m};
	standing_init(&d->made, m);
	d->own_at = MEM_NEW(m->n_vars + 1, size_t);
	d->link_at = MEM_NEW(m->n_vars + 1, size_t);
	for (uint32_t v = 0; v < m->n_vars; v++) {
		d->own_at[v] = choices;
		d->link_at[v] = links;
		choices += m->var[v].choices;
		links += m->var[v].n_links;
		most = m->var[v].choices > most ? m->var[v].choices : most;
	}
	d->in_at = MEM_NEW(links + 1, size_t);
	d->out_at = MEM_NEW(links + 1, size_t);
	d->back = MEM_NEW(links + 1, const double *);
	for (uint32_t v = 0; v < m->n_vars; v++)
		for (uint32_t i = 0; i < m->var[v].n_links; i++) {
			d->in_at[d->link_at[v] + i] = told;
			told += m->var[v].choices;
		}
	find_ends(d, links);
	d->told = MEM_NEW(told + 1, double);
	d->own = MEM_NEW(choices + 1, double);
	d->sum = MEM_NEW(most + 1, double);
	d->x = MEM_NEW(m->n_vars + 1, uint16_t);
	d->price = MEM_NEW(m->n_ticks + 1, double);
	d->prices = MEM_NEW(m->n_ticks + 1, double);
	d->work += (double)choices + m->n_ticks;
	return d;
}

void sketch_free(struct sketch *d)
{
	if (!d)
		return;
	standing_release(&d->made);
	mem_free(d->own_at);
	mem_free(d->link_at);
	mem_free(d->in_at);
	mem_free(d->out_at);
	mem_free(d->back);
	mem_free(d->told);
	mem_free(d->own);
	mem_free(d->sum);
	mem_free(d->x);
	mem_free(d->price);
	mem_free(d->prices);
	mem_free(d);
}

void sketch_begin(struct sketch *d, double rate)
{
	const struct reduced *m = d->m;

	for (uint32_t v = 0; v < m->n_vars; v++) {
		const struct var *a = &m->var[v];
		for (uint32_t i = 0; i < a->n_links; i++)
			memset(d->told + d->in_at[d->link_at[v] + i], 0, a->choices * sizeof *d->told);
	}
	memset(d->price, 0, (m->n_ticks + 1) * sizeof *d->price);
	d->rate = rate;
	d->backward = false;
}

/* Adds up what each choice costs by itself: its cost, and its memory at the present prices. */
static void price_choices(struct sketch *d)
{
	const struct reduced *m = d->m;

	for (uint32_t t = 0; t < m->n_ticks; t++)
		d->prices[t + 1] = d->prices[t] + d->price[t];
	for (uint32_t v = 0; v < m->n_vars; v++) {
		const struct var *a = &m->var[v];
		double *own = d->own + d->own_at[v];
		memcpy(own, a->cost, a->choices * sizeof *own);
		for (uint32_t i = 0; i < a->n_uses; i++) {
			double price = d->prices[a->use[i].to] - d->prices[a->use[i].from];
			for (uint32_t k = 0; k < a->choices && price > 0; k++)
				own[k] += a->use[i].usage[k] * price;
		}
	}
}

/* Is the other end of a link visited after v in this pass? */
static bool is_later(const struct sketch *d, uint32_t v, uint32_t other)
{
	return d->backward ? other < v : other > v;
}

/* Takes the choice that costs least beside those taken already, and by what the others tell. */
static uint16_t choose(const struct sketch *d, uint32_t v, const uint16_t *x)
{
	const struct var *a = &d->m->var[v];
	uint32_t best = 0;

	memcpy(d->sum, d->own + d->own_at[v], a->choices * sizeof *d->sum);
	for (uint32_t i = 0; i < a->n_links; i++) {
		size_t link = d->link_at[v] + i;
		uint32_t o = a->link[i].other;
		const double *cost = is_later(d, v, o) ? d->told + d->in_at[link]
						       : d->back[link] + (size_t)x[o] * a->choices;
		for (uint32_t k = 0; k < a->choices; k++)
			d->sum[k] += cost[k];
	}
	for (uint32_t k = 1; k < a->choices; k++)
		best = d->sum[k] < d->sum[best] ? k : best;
	return (uint16_t)best;
}

/* Lowers all values so that the least is 0, and returns by how much. */
static double lower(double *v, uint32_t n)
{
	double least = INFINITY;

	for (uint32_t k = 0; k < n; k++)
		least = v[k] < least ? v[k] : least;
	for (uint32_t k = 0; k < n; k++)
		v[k] -= least;
	return least;
}

/* Lowers out[] to row[] plus a number where that is less. Most of the time goes here. */
static void take_least(double *restrict out, const double *restrict row, double plus, uint32_t n)
{
	uint32_t l = 0;

	for (; l + 4 <= n; l += 4)
		for (uint32_t i = l; i < l + 4; i++)
			out[i] = row[i] + plus < out[i] ? row[i] + plus : out[i];
	for (; l < n; l++)
		out[l] = row[l] + plus < out[l] ? row[l] + plus : out[l];
}

/* Tells the other end of a link what its choices cost. sum[] has what v's choices cost by all that v knows. */
static void tell(struct sketch *d, uint32_t v, uint32_t i, double share)
{
	const struct var *a = &d->m->var[v];
	uint32_t n = d->m->var[a->link[i].other].choices;
	const double *in = d->told + d->in_at[d->link_at[v] + i];
	double *out = d->told + d->out_at[d->link_at[v] + i];

	for (uint32_t l = 0; l < n; l++)
		out[l] = INFINITY;
	for (uint32_t k = 0; k < a->choices; k++) {
		double cost = share * d->sum[k] - in[k];
		const double *row = a->link[i].cost + (size_t)k * n;
		if (cost >= FORBIDDEN)
			continue;
		take_least(out, row, cost, n);
	}
	lower(out, n);
	for (uint32_t l = 0; l < n; l++)
		out[l] = out[l] < FORBIDDEN ? out[l] : FORBIDDEN; /* also where nothing is possible: inf - inf */
}

static void visit(struct sketch *d, uint32_t v)
{
	const struct var *a = &d->m->var[v];
	uint32_t later = 0, most;

	memcpy(d->sum, d->own + d->own_at[v], a->choices * sizeof *d->sum);
	for (uint32_t i = 0; i < a->n_links; i++) {
		const double *told = d->told + d->in_at[d->link_at[v] + i];
		later += is_later(d, v, a->link[i].other);
		for (uint32_t k = 0; k < a->choices; k++)
			d->sum[k] += told[k];
	}
	lower(d->sum, a->choices);
	most = later > a->n_links - later ? later : a->n_links - later;
	for (uint32_t i = 0; i < a->n_links; i++)
		if (is_later(d, v, a->link[i].other))
			tell(d, v, i, 1.0 / most);
}

/* Raises prices where the sketch needs too much; the sum of what is added, times the limit, is a share of `worth`. */
static void change_prices(struct sketch *d, double worth)
{
	const struct reduced *m = d->m;
	const struct standing *made = &d->made;
	double most = 0, raise;

	if (isinf(worth))
		worth = fmod(made->cost, REDUCED_NEVER); /* of what is allowed */
	raise = made->over > 0 ? d->rate * (fabs(worth) + 1) / (fabs(m->limit) + 1) / made->over : 0;
	for (uint32_t t = 0; t < m->n_ticks; t++) {
		double excess = made->usage[t] - m->limit;
		d->price[t] = SINK * d->price[t] + (excess > 0 ? raise * excess : 0);
		most = fmax(most, d->price[t]);
	}
	if (made->over <= 0 && most > 0)
		d->rate = fmax(LEAST_RATE, CALMER * d->rate);
}

void sketch_write(struct sketch *d, double worth)
{
	uint32_t n = d->m->n_vars;

	price_choices(d);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = d->backward ? n - 1 - i : i;
		d->x[v] = choose(d, v, d->x);
		visit(d, v);
	}
	d->backward = !d->backward;
	standing_set(&d->made, d->x);
	change_prices(d, worth);
}
