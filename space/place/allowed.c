/*
 * allowed.c - whether a placement is allowed: where nodes may run, and what memory they take all the time.
 */
#include "space/place/place.h"

void place_used(const struct place *p, const uint32_t *device, double used[PLACE_DEVICES])
{
	for (uint32_t d = 0; d < p->n_devices; d++)
		used[d] = 0;
	for (uint32_t v = 0; v < p->n_nodes; v++)
		used[device[v]] += p->size[v];
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		uint64_t seen = 0;
		for (uint32_t k = p->input_first[i]; k < p->input_first[i + 1]; k++) {
			uint32_t d = device[p->input_reader[k]];
			used[d] += seen >> d & 1 ? 0 : p->input_bytes[i];
			seen |= (uint64_t)1 << d;
		}
	}
}

uint32_t place_misplaced(const struct place *p, const uint32_t *device)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < p->n_nodes; v++)
		n += device[v] >= p->n_devices || device[v] != device[p->member[p->group_first[p->group[v]]]] ||
			(device[v] < p->n_accelerators && !p->supported[v]);
	return n;
}

bool place_allowed(const struct place *p, const uint32_t *device)
{
	double used[PLACE_DEVICES];

	if (place_misplaced(p, device))
		return false;
	place_used(p, device, used);
	for (uint32_t d = 0; d < p->n_devices; d++)
		if (used[d] > p->room[d])
			return false;
	return true;
}
