/*
 * schedule.c - see schedule.h.
 *
 * The ready nodes are a heap by priority, so a schedule of n nodes and e edges takes n log n + e steps. Which device a
 * value has reached is a bit per device.
 *
 * Memory is made of events: a value takes memory on its own device from the start of its node, and on another device
 * from when it is sent there, until the last node there that reads it has run; on its own device also until it has been
 * sent everywhere. What nobody reads is a result, and stays to the end. The problems without a machine say nothing of
 * values; their nodes take memory all the time (place_used).
 */
#include "space/place/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct making {
	const struct place *p;
	const double *priority;
	struct schedule *s;
	uint32_t *heap, n, *waits;
	uint64_t *there; /* [n_nodes] the devices that the value has been sent to */
	double free_at[PLACE_DEVICES];
	double *link; /* [n_devices, n_devices] when the link is free */
	uint32_t *last; /* [n_nodes] the last transfer of the node's value + 1; 0: none */
	uint32_t *next; /* [transfers] the one before it + 1 */
	size_t next_cap;
};

static bool before(const struct making *m, uint32_t a, uint32_t b)
{
	return m->priority[a] != m->priority[b] ? m->priority[a] > m->priority[b] : a < b;
}

static void push(struct making *m, uint32_t v)
{
	uint32_t i = m->n++;

	for (; i && before(m, v, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = v;
}

static uint32_t pop(struct making *m)
{
	uint32_t top = m->heap[0], v = m->heap[--m->n], i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= m->n)
			break;
		if (child + 1 < m->n && before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], v))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = v;
	return top;
}

double schedule_transfer(const struct place *p, uint32_t node, uint32_t from, uint32_t to)
{
	if (from == to)
		return 0;
	if (p->machine)
		return machine_send(p->machine, p->bytes[node], from, to);
	return ((from < p->n_accelerators) + (to < p->n_accelerators)) * p->transfer[node];
}

/* Returns when the value of node u is on the device, and sends it there unless it was sent before. */
static double arrival(struct making *m, uint32_t u, uint32_t to)
{
	struct schedule *s = m->s;
	uint32_t from = s->device[u], n = m->p->n_devices;
	struct transfer t = {u, to, 0, 0};
	double *link = &m->link[from * n + to];

	if (from == to)
		return s->end[u];
	for (uint32_t i = m->there[u] >> to & 1 ? m->last[u] : 0; i; i = m->next[i - 1])
		if (s->transfer[i - 1].to == to)
			return s->transfer[i - 1].end;
	if (m->p->machine && m->p->machine->synchronous)
		t.begin = fmax(fmax(m->free_at[from], m->free_at[to]), s->end[u]);
	else
		t.begin = fmax(*link, s->end[u]);
	t.end = t.begin + schedule_transfer(m->p, u, from, to);
	if (m->p->machine && m->p->machine->synchronous)
		m->free_at[from] = m->free_at[to] = t.end;
	else
		*link = t.end;
	MEM_GROW(&s->transfer, &s->cap, s->n_transfers + 1);
	MEM_GROW(&m->next, &m->next_cap, s->n_transfers + 1);
	m->next[s->n_transfers] = m->last[u];
	s->transfer[s->n_transfers++] = t;
	m->last[u] = (uint32_t)s->n_transfers;
	m->there[u] |= (uint64_t)1 << to;
	return t.end;
}

static void run(struct making *m, uint32_t v)
{
	const struct place *p = m->p;
	struct schedule *s = m->s;
	uint32_t d = s->device[v];
	double start = 0;

	for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++)
		start = fmax(start, arrival(m, p->in[k], d));
	s->start[v] = fmax(start, m->free_at[d]);
	s->end[v] = s->start[v] + p->on[d][v];
	s->busy[d] += p->on[d][v];
	m->free_at[d] = s->end[v];
	s->finish = fmax(s->finish, s->end[v]);
	for (uint32_t k = p->out_first[v]; k < p->out_first[v + 1]; k++)
		if (--m->waits[p->out[k]] == 0)
			push(m, p->out[k]);
}

void schedule_make(const struct place *p, const uint32_t *device, const double *priority, struct schedule *s)
{
	struct making m = {.p = p, .priority = priority ? priority : p->rank, .s = s};

	*s = (struct schedule){.device = device, .start = MEM_NEW(p->n_nodes + 1, double),
		.end = MEM_NEW(p->n_nodes + 1, double)};
	m.heap = MEM_NEW(p->n_nodes + 1, uint32_t);
	m.waits = MEM_NEW(p->n_nodes + 1, uint32_t);
	m.there = MEM_NEW(p->n_nodes + 1, uint64_t);
	m.last = MEM_NEW(p->n_nodes + 1, uint32_t);
	m.link = MEM_NEW((size_t)p->n_devices * p->n_devices + 1, double);
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		m.waits[v] = p->in_first[v + 1] - p->in_first[v];
		if (m.waits[v] == 0)
			push(&m, v);
	}
	while (m.n)
		run(&m, pop(&m));
	mem_free(m.heap), mem_free(m.waits), mem_free(m.there), mem_free(m.last), mem_free(m.next), mem_free(m.link);
}

void schedule_release(struct schedule *s)
{
	mem_free(s->start);
	mem_free(s->end);
	mem_free(s->transfer);
	*s = (struct schedule){0};
}

struct event {
	double time, change;
	uint32_t device;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->change > 0) - (y->change > 0); /* what ends makes room for what begins */
}

/* When the last node on the device that reads v's value has run; `least` if none reads it there. */
static double read_until(const struct place *p, const struct schedule *s, uint32_t v, uint32_t device, double least)
{
	for (uint32_t k = p->out_first[v]; k < p->out_first[v + 1]; k++)
		if (s->device[p->out[k]] == device)
			least = fmax(least, s->end[p->out[k]]);
	return least;
}

/* Lists where and when memory is taken and given back, by time; *n gets how many. */
static struct event *list_events(const struct place *p, const struct schedule *s, size_t *n)
{
	struct event *e = MEM_NEW(2 * ((size_t)p->n_nodes + s->n_transfers) + 1, struct event);
	double *until = MEM_NEW(p->n_nodes + 1, double);

	*n = 0;
	for (uint32_t v = 0; v < p->n_nodes; v++)
		until[v] = p->out_first[v] == p->out_first[v + 1] ? s->finish
			: read_until(p, s, v, s->device[v], s->end[v]);
	for (size_t i = 0; i < s->n_transfers; i++) {
		const struct transfer *t = &s->transfer[i];
		until[t->node] = fmax(until[t->node], t->end);
		e[(*n)++] = (struct event){t->begin, p->held[t->node], t->to};
		e[(*n)++] = (struct event){read_until(p, s, t->node, t->to, t->end), -p->held[t->node], t->to};
	}
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		e[(*n)++] = (struct event){s->start[v], p->held[v], s->device[v]};
		e[(*n)++] = (struct event){until[v], -p->held[v], s->device[v]};
	}
	if (*n > 1)
		qsort(e, *n, sizeof *e, by_time);
	mem_free(until);
	return e;
}

void schedule_peaks(const struct place *p, const struct schedule *s, double peak[PLACE_DEVICES])
{
	double now[PLACE_DEVICES];
	struct event *e;
	size_t n = 0;

	place_used(p, s->device, peak);
	if (!p->held)
		return;
	memcpy(now, peak, p->n_devices * sizeof *now);
	e = list_events(p, s, &n);
	for (size_t i = 0; i < n; i++) {
		now[e[i].device] += e[i].change;
		peak[e[i].device] = fmax(peak[e[i].device], now[e[i].device]);
	}
	mem_free(e);
}

size_t schedule_course(const struct place *p, const struct schedule *s, uint32_t device, struct course_point **out)
{
	double used[PLACE_DEVICES];
	struct event *e = NULL;
	size_t n = 0, k = 0;

	place_used(p, s->device, used);
	if (p->held)
		e = list_events(p, s, &n);
	*out = MEM_NEW(n + 2, struct course_point);
	(*out)[k++] = (struct course_point){0, used[device]};
	for (size_t i = 0; i < n; i++)
		if (e[i].device == device)
			(*out)[k++] = (struct course_point){e[i].time, used[device] += e[i].change};
	(*out)[k++] = (struct course_point){s->finish, used[device]};
	mem_free(e);
	return k;
}

bool schedule_fits(const struct place *p, const struct schedule *s)
{
	double peak[PLACE_DEVICES];
	bool limited = false;

	for (uint32_t d = 0; d < p->n_devices; d++)
		limited |= isfinite(p->room[d]);
	if (!limited || !p->held)
		return true; /* place_allowed has asked for what nodes take all the time */
	schedule_peaks(p, s, peak);
	for (uint32_t d = 0; d < p->n_devices; d++)
		if (peak[d] > p->room[d])
			return false;
	return true;
}
