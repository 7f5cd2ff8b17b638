/*
 * features.c - what a learner sees of a placement: what a group costs where it is, and how busy and full its device is.
 *
 * Loads are kept up to date move by move (standing_load.c), on a copy of the problem whose figures are whole multiples
 * of a power of two: sums of them are exact, so what is seen depends on the configuration alone, not on the way to it.
 *
 * Where time counts, the context also says how critical a node is: the share of the whole time that the longest path
 * through it takes in the present schedule. One schedule serves all nodes of a configuration.
 */
#include <math.h>
#include <string.h>
#include "space/place/place_own.h"
#include "space/place/schedule.h"

#define FINEST 40 /* figures are multiples of the worst case over two to this power */

static const struct space_feature contexts[] = {
	{"time", "of the group where it is, in hundredths of a node's time", SCALE_SIZE},
	{"in", "transfers of the values that it reads from other devices, in the same unit", SCALE_SIZE},
	{"out", "transfers of its values to other devices, in the same unit", SCALE_SIZE},
	{"busy", "the load of its device over the largest load", SCALE_PLAIN},
	{"full", "the share of its device's memory that is taken, at most 4", SCALE_PLAIN},
	{"critical", "the longest path through it over the whole time, where time counts", SCALE_PLAIN},
};
static const struct space_feature effects[] = {
	{"time", "of the group where it is, in hundredths of a node's time", SCALE_SIZE},
	{"in", "transfers of the values that it reads from other devices, in the same unit", SCALE_SIZE},
	{"out", "transfers of its values to other devices, in the same unit", SCALE_SIZE},
	{"load", "of its device, in the same unit", SCALE_SIZE},
	{"largest", "load of all devices, in the same unit", SCALE_SIZE},
	{"smooth", "the eighth root of the sum of the eighth powers of all loads, in the same unit", SCALE_SIZE},
	{"full", "thousandths of its device's memory that are taken", SCALE_SIZE},
	{"wrong", "1 if it cannot run there", SCALE_PLAIN},
};
#define N_CONTEXTS (sizeof contexts / sizeof *contexts)
#define N_EFFECTS (sizeof effects / sizeof *effects)
const struct space_features place_features = {contexts, effects, N_CONTEXTS, N_EFFECTS};

const uint32_t *place_devices(const struct space *s, const uint8_t *config)
{
	struct place_space *q = place_own(s);

	for (uint32_t i = 0; i < s->n_sites; i++)
		q->by_group[q->group[i]] = config[i];
	place_spread(&q->p, q->by_group, q->device);
	return q->device;
}

static double *round_all(struct arena *mem, const double *v, uint32_t n, double grain)
{
	double *out = ARENA_NEW(mem, n + 1, double);

	for (uint32_t i = 0; i < n; i++)
		out[i] = grain > 0 ? rint(v[i] / grain) * grain : v[i];
	return out;
}

/* The power of two that is a 2^FINEST-th of a sum, about. */
static double grain_of(double sum)
{
	int exponent;

	frexp(sum, &exponent);
	return sum > 0 && isfinite(sum) ? ldexp(1, exponent - FINEST) : 0;
}

void place_begin_features(struct space *s)
{
	struct place_space *o = place_own(s);
	const struct place *p = &o->p;
	double time = grain_of(o->worst), size = 0, least = 0;

	o->rounded = *p;
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		double best = INFINITY;
		size += p->size[v];
		for (uint32_t d = 0; d < p->n_devices; d++)
			best = fmin(best, p->on[d][v]);
		least += best;
	}
	o->rounded.size = round_all(&s->mem, p->size, p->n_nodes, grain_of(size));
	o->rounded.transfer = round_all(&s->mem, p->transfer, p->n_nodes, time);
	for (uint32_t d = 0; d < p->n_devices; d++)
		o->rounded.on[d] = d && p->on[d] == p->on[d - 1] ? o->rounded.on[d - 1]
			: round_all(&s->mem, p->on[d], p->n_nodes, time);
	standing_load_init(&o->now, &o->rounded);
	standing_load_set(&o->now, o->now.device);
	o->memory = size;
	for (uint32_t d = 0; d < p->n_devices; d++)
		o->memory = isfinite(p->room[d]) ? fmin(o->memory, p->room[d]) : o->memory;
	o->memory = fmax(o->memory, 1) / 1000;
	o->unit = fmax(least / fmax(s->n_sites, 1) / 100, 1e-15);
	o->critical = ARENA_NEW(&s->mem, p->n_nodes + 1, double);
	o->scheduled = ARENA_NEW(&s->mem, s->n_sites + 1, uint8_t);
}

static void stand(const struct space *s, const uint8_t *config)
{
	struct place_space *o = place_own(s);

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (o->now.device[o->group[i]] != config[i])
			standing_load_move(&o->now, o->group[i], config[i]);
}

struct aspects {
	double time, in, out;
	bool wrong;
};

/* Is node u's value read on the device by anybody but this group's nodes? */
static bool read_there(const struct place_space *o, uint32_t u, uint32_t group, uint32_t device)
{
	const struct place *p = &o->rounded;

	for (uint32_t k = p->out_first[u]; k < p->out_first[u + 1]; k++)
		if (p->group[p->out[k]] != group && o->now.device[p->group[p->out[k]]] == device)
			return true;
	return false;
}

static struct aspects look_at(const struct place_space *o, uint32_t group)
{
	const struct place *p = &o->rounded;
	uint32_t d = o->now.device[group];
	struct aspects a = {.wrong = d < p->n_accelerators && !o->now.accelerates[group]};

	for (uint32_t i = p->group_first[group]; i < p->group_first[group + 1]; i++) {
		uint32_t v = p->member[i];
		a.time += p->on[d][v];
		a.out += o->now.needed[v] & ~((uint64_t)1 << d) ? p->transfer[v] : 0;
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++) {
			uint32_t u = p->in[k];
			if (o->now.device[p->group[u]] != d && !read_there(o, u, group, d))
				a.in += p->transfer[u];
		}
	}
	return a;
}

static double fullness(const struct place_space *o, uint32_t device)
{
	double room = o->rounded.room[device];

	return isfinite(room) ? o->now.used[device] / fmax(room, 1) : 0;
}

static void find_critical(struct space *s, const uint8_t *config)
{
	struct place_space *o = place_own(s);
	struct schedule made;

	if (o->goal != PLACE_TIME || (o->has_schedule && memcmp(config, o->scheduled, s->n_sites) == 0))
		return;
	schedule_make(&o->p, place_devices(s, config), NULL, &made);
	for (uint32_t v = 0; v < o->p.n_nodes; v++)
		o->critical[v] = made.finish > 0 ? fmin((made.start[v] + o->p.rank[v]) / made.finish, 4) : 0;
	schedule_release(&made);
	memcpy(o->scheduled, config, s->n_sites);
	o->has_schedule = true;
}

void place_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t count, float *out)
{
	const struct place_space *o = place_own(s);
	double largest;

	stand(s, config);
	find_critical(s, config);
	largest = standing_load_most(&o->now);
	for (uint32_t i = 0; i < count; i++, out += N_CONTEXTS) {
		uint32_t t = o->task_of[nodes[i]];
		memset(out, 0, N_CONTEXTS * sizeof *out);
		if (t == NONE)
			continue;
		uint32_t d = o->now.device[o->rounded.group[t]];
		struct aspects a = look_at(o, o->rounded.group[t]);
		out[0] = (float)(a.time / o->unit);
		out[1] = (float)(a.in / o->unit);
		out[2] = (float)(a.out / o->unit);
		out[3] = (float)(largest > 0 ? o->now.load[d] / largest : 0);
		out[4] = (float)fmin(fullness(o, d), 4);
		out[5] = (float)o->critical[t];
	}
}

static void write_effect(const struct place_space *o, uint32_t group, float *out)
{
	uint32_t d = o->now.device[group];
	struct aspects a = look_at(o, group);
	const double v[N_EFFECTS] = {a.time / o->unit, a.in / o->unit, a.out / o->unit, o->now.load[d] / o->unit,
		standing_load_most(&o->now) / o->unit, standing_load_energy(&o->now) / o->unit, 1000 * fullness(o, d),
		a.wrong};

	for (size_t i = 0; i < N_EFFECTS; i++)
		out[i] = (float)v[i];
}

void place_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out)
{
	struct place_space *o = place_own(s);

	stand(s, config);
	write_effect(o, o->group[site], out);
	standing_load_move(&o->now, o->group[site], choice);
	write_effect(o, o->group[site], out + N_EFFECTS);
}

/* Memory counts in thousandths of the smallest device's, or of all sizes together if those are less. */
double place_grain(const struct space *s, enum quantity q)
{
	const struct place_space *o = place_own(s);

	return q == QUANTITY_BYTES ? o->memory : o->unit * o->second;
}
