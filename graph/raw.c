/*
 * raw.c - turns ids into indices, without trusting them.
 *
 * The id of an instruction is unique at least in its computation: in newer files its upper half is the
 * computation's id, in older ones ids count through the module. The id of a computation is unique in the module.
 * Both are looked up in one hash table with the key (id, owner); the owner of a computation is the module. An id
 * that occurs twice is refused, and so is a reference to an id that does not exist.
 */
#include "graph/own.h"

#define MODULE NONE /* the owner of computations */

struct slot {
	int64_t id;
	uint32_t owner, index; /* an empty slot has the index NONE */
};

struct map {
	struct slot *slot;
	size_t mask;
};

static void map_init(struct map *m, struct arena *mem, size_t n)
{
	size_t size = 16;
	while (size < 2 * n)
		size *= 2;
	m->slot = ARENA_NEW(mem, size, struct slot);
	m->mask = size - 1;
	for (size_t i = 0; i < size; i++)
		m->slot[i].index = NONE;
}

static struct slot *map_slot(const struct map *m, uint32_t owner, int64_t id)
{
	size_t h = (size_t)hash_mix((uint64_t)id, owner) & m->mask;
	while (m->slot[h].index != NONE && (m->slot[h].id != id || m->slot[h].owner != owner))
		h = (h + 1) & m->mask;
	return &m->slot[h];
}

static bool map_put(struct map *m, uint32_t owner, int64_t id, uint32_t index)
{
	struct slot *s = map_slot(m, owner, id);
	if (s->index != NONE)
		return false;
	*s = (struct slot){id, owner, index};
	return true;
}

static uint32_t map_get(const struct map *m, uint32_t owner, int64_t id)
{
	return map_slot(m, owner, id)->index;
}

static int offence(struct raw *r, uint32_t i, const char *what, int64_t id)
{
	return err_set(r->err, "%s: instruction %.100s of computation %.100s %s %lld", r->file,
		r->in[i]->name, r->m->computations[r->comp[i]]->name, what, (long long)id);
}

static int count(struct raw *r, size_t *edges, size_t *calls)
{
	size_t n = 0;
	*edges = *calls = 0;
	for (size_t c = 0; c < r->m->n_computations; c++) {
		const Hlo__HloComputationProto *p = r->m->computations[c];
		if (p->n_instructions == 0)
			return err_set(r->err, "%s: computation %.100s has no instructions", r->file, p->name);
		n += p->n_instructions;
		for (size_t i = 0; i < p->n_instructions; i++) {
			*edges += p->instructions[i]->n_operand_ids + p->instructions[i]->n_control_predecessor_ids;
			*calls += p->instructions[i]->n_called_computation_ids;
		}
	}
	if (n > NODE_LIMIT || *edges > NODE_LIMIT || *calls > NODE_LIMIT)
		return err_set(r->err, "%s has more than %u instructions, operands or calls", r->file, NODE_LIMIT);
	r->n = (uint32_t)n;
	r->n_comps = (uint32_t)r->m->n_computations;
	return 0;
}

static int number(struct raw *r, struct map *map)
{
	uint32_t i = 0;
	for (uint32_t c = 0; c < r->n_comps; c++) {
		const Hlo__HloComputationProto *p = r->m->computations[c];
		r->first[c] = i;
		if (!map_put(map, MODULE, p->id, c))
			return err_set(r->err, "%s: two computations have the id %lld, one is %.100s", r->file,
				(long long)p->id, p->name);
		for (size_t k = 0; k < p->n_instructions; k++, i++) {
			r->in[i] = p->instructions[k];
			r->comp[i] = c;
			if (!map_put(map, c, r->in[i]->id, i))
				return offence(r, i, "repeats the id", r->in[i]->id);
		}
		r->root[c] = map_get(map, c, p->root_id);
		if (r->root[c] == NONE)
			return err_set(r->err, "%s: the root of computation %.100s should be %lld, which is not in it",
				r->file, p->name, (long long)p->root_id);
	}
	r->first[r->n_comps] = i;
	r->entry = map_get(map, MODULE, r->m->entry_computation_id);
	if (r->entry == NONE)
		return err_set(r->err, "%s: its entry computation should be %lld, which is not in it", r->file,
			(long long)r->m->entry_computation_id);
	return 0;
}

static int connect(struct raw *r, const struct map *map, uint32_t i, uint32_t *dep, uint32_t *call)
{
	const Hlo__HloInstructionProto *in = r->in[i];
	r->dep_first[i] = *dep;
	for (size_t k = 0; k < in->n_operand_ids; k++) {
		r->dep[*dep] = map_get(map, r->comp[i], in->operand_ids[k]);
		if (r->dep[(*dep)++] == NONE)
			return offence(r, i, "reads what is not in its computation:", in->operand_ids[k]);
	}
	for (size_t k = 0; k < in->n_control_predecessor_ids; k++) {
		r->dep[*dep] = map_get(map, r->comp[i], in->control_predecessor_ids[k]);
		if (r->dep[(*dep)++] == NONE)
			return offence(r, i, "waits for what is not in its computation:",
				in->control_predecessor_ids[k]);
	}
	r->call_first[i] = *call;
	for (size_t k = 0; k < in->n_called_computation_ids; k++) {
		r->call[*call] = map_get(map, MODULE, in->called_computation_ids[k]);
		if (r->call[(*call)++] == NONE)
			return offence(r, i, "calls a computation that is not there:", in->called_computation_ids[k]);
	}
	return 0;
}

int raw_resolve(struct raw *r)
{
	size_t edges, calls;
	if (count(r, &edges, &calls) < 0)
		return -1;
	r->in = ARENA_NEW(&r->tmp, r->n, Hlo__HloInstructionProto *);
	r->comp = ARENA_NEW(&r->tmp, r->n, uint32_t);
	r->first = ARENA_NEW(&r->tmp, r->n_comps + 1, uint32_t);
	r->root = ARENA_NEW(&r->tmp, r->n_comps, uint32_t);
	r->dep = ARENA_NEW(&r->tmp, edges, uint32_t);
	r->dep_first = ARENA_NEW(&r->tmp, r->n + 1, uint32_t);
	r->call = ARENA_NEW(&r->tmp, calls, uint32_t);
	r->call_first = ARENA_NEW(&r->tmp, r->n + 1, uint32_t);
	struct map map;
	map_init(&map, &r->tmp, (size_t)r->n + r->n_comps);
	if (number(r, &map) < 0)
		return -1;
	uint32_t dep = 0, call = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (connect(r, &map, i, &dep, &call) < 0)
			return -1;
	r->dep_first[r->n] = dep;
	r->call_first[r->n] = call;
	return 0;
}
