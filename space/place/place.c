/*
 * place.c - builds a problem's arrays, and computes the cost of a placement in the plainest way.
 *
 * Searches keep costs up to date in faster ways (standing_load.c). These functions are the reference: every answer that
 * is kept was computed by them.
 */
#include "space/place/place.h"

#include <math.h>
#include <string.h>
#include "base/json.h"
#include "base/sort.h"
#include "space/place/schedule.h"

void place_release(struct place *p)
{
	arena_release(&p->mem);
	*p = (struct place){0};
}

void place_alloc(struct place *p, uint32_t nodes, uint32_t edges)
{
	struct arena *mem = &p->mem;

	p->n_nodes = nodes;
	p->id = ARENA_NEW(mem, nodes + 1, int64_t);
	p->time[0] = ARENA_NEW(mem, nodes + 1, double);
	p->time[1] = ARENA_NEW(mem, nodes + 1, double);
	p->size = ARENA_NEW(mem, nodes + 1, double);
	p->transfer = ARENA_NEW(mem, nodes + 1, double);
	p->supported = ARENA_NEW(mem, nodes + 1, bool);
	p->group = ARENA_NEW(mem, nodes + 1, uint32_t);
	p->from = ARENA_NEW(mem, edges + 1, uint32_t);
	p->to = ARENA_NEW(mem, edges + 1, uint32_t);
}

/* Lists, for each node in by[] (one end of the edges), the nodes in what[] at the other end, without repetitions. */
static void index_edges(struct place *p, const uint32_t *by, const uint32_t *what, uint32_t **first, uint32_t **list)
{
	uint32_t *at = MEM_NEW(p->n_nodes + 2, uint32_t), n = 0;

	*first = ARENA_NEW(&p->mem, p->n_nodes + 1, uint32_t);
	*list = ARENA_NEW(&p->mem, p->n_edges + 1, uint32_t);
	for (uint32_t e = 0; e < p->n_edges; e++)
		at[by[e] + 2]++;
	for (uint32_t v = 2; v < p->n_nodes + 2; v++)
		at[v] += at[v - 1];
	for (uint32_t e = 0; e < p->n_edges; e++)
		(*list)[at[by[e] + 1]++] = what[e];
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		uint32_t begin = at[v], end = at[v + 1];
		sort_u32(*list + begin, end - begin);
		(*first)[v] = n;
		for (uint32_t i = begin; i < end; i++)
			if (i == begin || (*list)[i] != (*list)[i - 1])
				(*list)[n++] = (*list)[i];
	}
	(*first)[p->n_nodes] = n;
	mem_free(at);
}

static int find_order(struct place *p, struct err *err)
{
	uint32_t *waits = MEM_NEW(p->n_nodes + 1, uint32_t), n = 0;

	p->order = ARENA_NEW(&p->mem, p->n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		waits[v] = p->in_first[v + 1] - p->in_first[v];
		if (waits[v] == 0)
			p->order[n++] = v;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = p->order[i];
		for (uint32_t k = p->out_first[v]; k < p->out_first[v + 1]; k++)
			if (--waits[p->out[k]] == 0)
				p->order[n++] = p->out[k];
	}
	mem_free(waits);
	if (n < p->n_nodes)
		return err_set(err, "the edges go round in a circle: %u of %u nodes wait for themselves",
			p->n_nodes - n, p->n_nodes);
	return 0;
}

/* For problems without a machine: accelerators are alike, and so are processors. */
static void fill_devices(struct place *p)
{
	for (uint32_t d = 0; d < p->n_devices && !p->on[0]; d++)
		p->room[d] = d < p->n_accelerators ? p->memory : INFINITY;
	for (uint32_t d = p->n_devices; d-- > 0 && !p->on[d];)
		p->on[d] = p->time[d >= p->n_accelerators];
	p->rank = ARENA_NEW(&p->mem, p->n_nodes + 1, double);
	for (uint32_t i = p->n_nodes; i-- > 0;) {
		uint32_t v = p->order[i];
		double most = 0, least = INFINITY;
		for (uint32_t k = p->out_first[v]; k < p->out_first[v + 1]; k++)
			most = fmax(most, p->rank[p->out[k]] + p->transfer[v]);
		for (uint32_t d = 0; d < p->n_devices; d++)
			least = fmin(least, p->on[d][v]);
		p->rank[v] = most + least;
	}
}

int place_finish(struct place *p, struct err *err)
{
	index_edges(p, p->from, p->to, &p->out_first, &p->out);
	index_edges(p, p->to, p->from, &p->in_first, &p->in);
	p->group_first = ARENA_NEW(&p->mem, p->n_groups + 2, uint32_t);
	p->member = ARENA_NEW(&p->mem, p->n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < p->n_nodes; v++)
		p->group_first[p->group[v] + 1]++;
	for (uint32_t g = 0; g < p->n_groups; g++)
		p->group_first[g + 1] += p->group_first[g];
	uint32_t *at = MEM_NEW(p->n_groups + 1, uint32_t);
	for (uint32_t v = 0; v < p->n_nodes; v++)
		p->member[p->group_first[p->group[v]] + at[p->group[v]]++] = v;
	mem_free(at);
	if (find_order(p, err) < 0)
		return -1;
	fill_devices(p);
	return 0;
}

static bool is_processor(const struct place *p, uint32_t device)
{
	return device >= p->n_accelerators;
}

double place_busy(const struct place *p, const uint32_t *device, double load[PLACE_DEVICES])
{
	double most = 0;

	for (uint32_t d = 0; d < p->n_devices; d++)
		load[d] = 0;
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		uint64_t needed = 0;
		load[device[v]] += p->on[device[v]][v];
		for (uint32_t i = p->out_first[v]; i < p->out_first[v + 1]; i++)
			needed |= (uint64_t)1 << device[p->out[i]];
		needed &= ~((uint64_t)1 << device[v]);
		if (needed)
			needed |= (uint64_t)1 << device[v];
		for (uint32_t d = 0; d < p->n_accelerators; d++)
			load[d] += needed >> d & 1 ? p->transfer[v] : 0;
	}
	for (uint32_t d = 0; d < p->n_devices; d++)
		most = load[d] > most ? load[d] : most;
	return most;
}

double place_load(const struct place *p, const uint32_t *device)
{
	double load[PLACE_DEVICES];

	return place_allowed(p, device) ? place_busy(p, device, load) : INFINITY;
}

/*
 * Finds the piece of each node (place.h), and returns the number of pieces. On an accelerator, nodes are in the same
 * piece if the paths to them have entered that accelerator equally often; if several paths lead to a node, the one that
 * entered most often counts. A node on a processor is a piece by itself.
 */
static uint32_t find_pieces(const struct place *p, const uint32_t *device, uint32_t *piece)
{
	uint32_t *visits = MEM_NEW(p->n_nodes + 1, uint32_t), n = 0; /* how often a path to the node entered, at most */

	for (uint32_t d = 0; d < p->n_accelerators; d++) {
		uint32_t most = 0;
		for (uint32_t i = 0; i < p->n_nodes; i++) {
			uint32_t v = p->order[i];
			bool here = device[v] == d;
			uint32_t r = here;
			for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++) {
				uint32_t u = p->in[k], with = visits[u] + (here && device[u] != d);
				r = with > r ? with : r;
			}
			visits[v] = r;
			if (!here)
				continue;
			piece[v] = n + r - 1;
			most = r > most ? r : most;
		}
		n += most;
	}
	for (uint32_t v = 0; v < p->n_nodes; v++)
		if (is_processor(p, device[v]))
			piece[v] = n++;
	mem_free(visits);
	return n;
}

struct pieces {
	uint32_t n;
	uint32_t *of;		/* [n_nodes] the piece of the node */
	uint32_t *first, *node; /* the nodes of each piece */
	uint32_t *waits;	/* [n] edges that come in from pieces not done yet */
	double *done;		/* [n] when the piece's results are in main memory */
	uint32_t *seen;		/* [n_nodes] 1 + the last piece that transferred this node's value in */
};

static void pieces_init(struct pieces *q, const struct place *p, const uint32_t *device)
{
	q->of = MEM_NEW(p->n_nodes + 1, uint32_t);
	q->n = find_pieces(p, device, q->of);
	q->first = MEM_NEW(q->n + 2, uint32_t);
	q->node = MEM_NEW(p->n_nodes + 1, uint32_t);
	q->waits = MEM_NEW(q->n + 1, uint32_t);
	q->done = MEM_NEW(q->n + 1, double);
	q->seen = MEM_NEW(p->n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < p->n_nodes; v++)
		q->first[q->of[v] + 2]++;
	for (uint32_t i = 2; i < q->n + 2; i++)
		q->first[i] += q->first[i - 1];
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		q->node[q->first[q->of[v] + 1]++] = v;
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++)
			q->waits[q->of[v]] += q->of[p->in[k]] != q->of[v];
	}
}

static void pieces_release(struct pieces *q)
{
	mem_free(q->of);
	mem_free(q->first);
	mem_free(q->node);
	mem_free(q->waits);
	mem_free(q->done);
	mem_free(q->seen);
}

/* Returns when a piece is done: its inputs are made, it transfers them in, computes, and transfers its results out. */
static double piece_done(const struct place *p, const uint32_t *device, struct pieces *q, uint32_t i)
{
	double start = 0, work = 0;

	for (uint32_t k = q->first[i]; k < q->first[i + 1]; k++) {
		uint32_t v = q->node[k];
		bool processor = is_processor(p, device[v]), leaves = false;
		work += p->on[device[v]][v];
		for (uint32_t e = p->in_first[v]; e < p->in_first[v + 1]; e++) {
			uint32_t u = p->in[e];
			if (q->of[u] == i)
				continue;
			start = fmax(start, q->done[q->of[u]]);
			if (!processor && q->seen[u] != i + 1)
				work += p->transfer[u];
			q->seen[u] = i + 1;
		}
		for (uint32_t e = p->out_first[v]; e < p->out_first[v + 1]; e++)
			leaves |= q->of[p->out[e]] != i;
		if (leaves && !processor)
			work += p->transfer[v];
	}
	return start + work;
}

double place_piecewise(const struct place *p, const uint32_t *device)
{
	struct pieces q;
	uint32_t *ready, n = 0;
	double last = 0;

	pieces_init(&q, p, device);
	ready = MEM_NEW(q.n + 1, uint32_t);
	for (uint32_t i = 0; i < q.n; i++)
		if (q.waits[i] == 0)
			ready[n++] = i;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t i = ready[r];
		q.done[i] = piece_done(p, device, &q, i);
		last = fmax(last, q.done[i]);
		for (uint32_t k = q.first[i]; k < q.first[i + 1]; k++)
			for (uint32_t v = q.node[k], e = p->out_first[v]; e < p->out_first[v + 1]; e++) {
				uint32_t j = q.of[p->out[e]];
				if (j != i && --q.waits[j] == 0)
					ready[n++] = j;
			}
	}
	if (n < q.n)
		last = INFINITY; /* pieces wait for each other */
	mem_free(ready);
	pieces_release(&q);
	return last;
}

double place_latency(const struct place *p, const uint32_t *device)
{
	return place_allowed(p, device) ? place_piecewise(p, device) : INFINITY;
}

double place_time(const struct place *p, const uint32_t *device)
{
	struct schedule s;
	double finish;

	if (!place_allowed(p, device))
		return INFINITY;
	schedule_make(p, device, NULL, &s);
	finish = schedule_fits(p, &s) ? s.finish : INFINITY;
	schedule_release(&s);
	return finish;
}

double place_memory(const struct place *p, const uint32_t *device)
{
	struct schedule s;
	double peak[PLACE_DEVICES], most = 0;

	if (!place_allowed(p, device))
		return INFINITY;
	schedule_make(p, device, NULL, &s);
	schedule_peaks(p, &s, peak);
	for (uint32_t d = 0; d < p->n_devices; d++)
		most = peak[d] <= p->room[d] ? fmax(most, peak[d]) : INFINITY;
	schedule_release(&s);
	return most;
}

double place_cost(const struct place *p, enum place_goal goal, const uint32_t *device)
{
	return goal == PLACE_LOAD ? place_load(p, device) : goal == PLACE_LATENCY ? place_latency(p, device)
		: goal == PLACE_TIME ? place_time(p, device) : place_memory(p, device);
}

void place_write(const struct place *p, enum place_goal goal, const uint32_t *device, struct buf *out)
{
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_num(&j, goal == PLACE_LOAD ? "maxLoad" : goal == PLACE_LATENCY ? "totalLatency"
		: goal == PLACE_TIME ? "totalTime" : "peakMemory", place_cost(p, goal, device));
	for (int processors = 0; processors < 2; processors++) {
		uint32_t d = processors ? p->n_accelerators : 0, end = processors ? p->n_devices : p->n_accelerators;
		json_array(&j, processors ? "cpus" : "fpgas");
		for (; d < end; d++) {
			json_object(&j, NULL);
			json_array(&j, "nodes");
			for (uint32_t v = 0; v < p->n_nodes; v++)
				if (device[v] == d)
					json_int(&j, NULL, p->id[v]);
			json_end(&j);
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
	buf_addch(out, '\n');
}
