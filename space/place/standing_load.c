/*
 * standing_load.c - keeps loads up to date.
 *
 * A value is transferred if another device than its maker's has a consumer of it. So for each node we count consumers
 * per device; a bit per device says whether that count is above 0. A move takes the transfers of all touched values
 * out of the loads, changes the counts, and adds the transfers again.
 */
#include "space/place/standing_load.h"

#include <math.h>
#include <string.h>

void standing_load_init(struct standing_load *s, const struct place *p)
{
	*s = (struct standing_load){.p = p};
	s->device = MEM_NEW(p->n_groups + 1, uint32_t);
	s->consumers = MEM_NEW((size_t)p->n_nodes * p->n_devices + 1, uint32_t);
	s->needed = MEM_NEW(p->n_nodes + 1, uint64_t);
	s->touched = MEM_NEW(p->n_nodes + 1, uint32_t);
	s->mark = MEM_NEW(p->n_nodes + 1, bool);
	s->group_size = MEM_NEW(p->n_groups + 1, double);
	s->accelerates = MEM_NEW(p->n_groups + 1, bool);
	memset(s->accelerates, true, p->n_groups);
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		s->group_size[p->group[v]] += p->size[v];
		s->accelerates[p->group[v]] &= p->supported[v];
	}
}

void standing_load_release(struct standing_load *s)
{
	mem_free(s->device);
	mem_free(s->consumers);
	mem_free(s->needed);
	mem_free(s->touched);
	mem_free(s->mark);
	mem_free(s->group_size);
	mem_free(s->accelerates);
	*s = (struct standing_load){0};
}

/* Adds (sign 1) or takes away (-1) what the transfers of v's value cost the accelerators. */
static void add_transfer(struct standing_load *s, uint32_t v, double sign)
{
	const struct place *p = s->p;
	uint64_t own = (uint64_t)1 << s->device[p->group[v]], where = s->needed[v] & ~own;

	for (where = where ? where | own : 0; where; where &= where - 1) {
		uint32_t d = (uint32_t)__builtin_ctzll(where);
		if (d < p->n_accelerators)
			s->load[d] += sign * p->transfer[v];
	}
}

/* Counts one consumer of v's value more, or one less, on a device. */
static void count(struct standing_load *s, uint32_t v, uint32_t device, bool more)
{
	uint32_t *n = &s->consumers[(size_t)v * s->p->n_devices + device];

	*n += more ? 1 : UINT32_MAX;
	if (*n)
		s->needed[v] |= (uint64_t)1 << device;
	else
		s->needed[v] &= ~((uint64_t)1 << device);
}

static void add_time(struct standing_load *s, uint32_t v, uint32_t device, double sign)
{
	s->load[device] += sign * s->p->on[device][v];
}

void standing_load_set(struct standing_load *s, const uint32_t *device)
{
	const struct place *p = s->p;

	if (device != s->device)
		memcpy(s->device, device, p->n_groups * sizeof *device);
	memset(s->consumers, 0, (size_t)p->n_nodes * p->n_devices * sizeof *s->consumers);
	memset(s->needed, 0, p->n_nodes * sizeof *s->needed);
	memset(s->load, 0, sizeof s->load);
	memset(s->used, 0, sizeof s->used);
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		uint32_t d = s->device[p->group[v]];
		add_time(s, v, d, 1);
		s->used[d] += p->size[v];
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++)
			count(s, p->in[k], d, true);
	}
	for (uint32_t v = 0; v < p->n_nodes; v++)
		add_transfer(s, v, 1);
}

/* Lists in touched[] the nodes of the group and the nodes whose values they read, each once; returns how many. */
static uint32_t touch(struct standing_load *s, uint32_t group)
{
	const struct place *p = s->p;
	uint32_t n = 0;

	for (uint32_t i = p->group_first[group]; i < p->group_first[group + 1]; i++) {
		uint32_t v = p->member[i];
		if (!s->mark[v])
			s->touched[n++] = v;
		s->mark[v] = true;
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++) {
			if (!s->mark[p->in[k]])
				s->touched[n++] = p->in[k];
			s->mark[p->in[k]] = true;
		}
	}
	return n;
}

void standing_load_move(struct standing_load *s, uint32_t group, uint32_t device)
{
	const struct place *p = s->p;
	uint32_t old = s->device[group], n;

	if (old == device)
		return;
	n = touch(s, group);
	for (uint32_t i = 0; i < n; i++)
		add_transfer(s, s->touched[i], -1);
	for (uint32_t i = p->group_first[group]; i < p->group_first[group + 1]; i++) {
		uint32_t v = p->member[i];
		add_time(s, v, old, -1);
		add_time(s, v, device, 1);
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++) {
			count(s, p->in[k], old, false);
			count(s, p->in[k], device, true);
		}
	}
	s->device[group] = device;
	s->used[old] -= s->group_size[group];
	s->used[device] += s->group_size[group];
	for (uint32_t i = 0; i < n; i++) {
		add_transfer(s, s->touched[i], 1);
		s->mark[s->touched[i]] = false;
	}
}

bool standing_load_fits(const struct standing_load *s, uint32_t group, uint32_t device)
{
	if (device < s->p->n_accelerators && !s->accelerates[group])
		return false;
	return s->used[device] + s->group_size[group] <= s->p->room[device];
}

double standing_load_most(const struct standing_load *s)
{
	double most = 0;

	for (uint32_t d = 0; d < s->p->n_devices; d++)
		most = s->load[d] > most ? s->load[d] : most;
	return most;
}

double standing_load_energy(const struct standing_load *s)
{
	double most = standing_load_most(s), sum = 0;

	if (most <= 0)
		return 0;
	for (uint32_t d = 0; d < s->p->n_devices; d++) {
		double x = s->load[d] / most;
		x *= x;
		x *= x;
		sum += x * x;
	}
	return most * sqrt(sqrt(sqrt(sum)));
}

void place_spread(const struct place *p, const uint32_t *by_group, uint32_t *by_node)
{
	for (uint32_t v = 0; v < p->n_nodes; v++)
		by_node[v] = by_group[p->group[v]];
}
