/*
 * order.c - puts a program in one order, whatever order its file has.
 *
 * The text and the binary form of a program list instructions differently, and so do two versions of
 * a compiler. But a stored configuration is one choice per node, by number. So the numbers must follow
 * from the program alone. Each computation is walked depth-first from its root, and a node gets its
 * number when all that it needs has one: first its operands, then its control predecessors, as listed.
 * Computations are walked in the same way from the entry, in the order in which that walk meets the
 * calls. So operands come before users, and callees before callers.
 *
 * What the root does not need (unused parameters, side effects) is walked before the root, from each
 * such instruction that nobody reads: parameters by number, the others by a hash of what they compute.
 * If two of these are equal in everything, the file's order decides, which then makes no difference.
 * Computations that nobody calls come last.
 *
 * A node that the walk meets again before it has a number is on a cycle. So is one that it never meets.
 */
#include <stdlib.h>
#include <string.h>
#include "graph/attr.h"
#include "graph/own.h"

enum { NEW, OPEN, DONE };

struct frame {
	uint32_t at, next;
};

struct orderer {
	struct raw *r;
	uint8_t *state;
	struct frame *stack;
	uint32_t *list; /* per computation, at its first: its instructions in our order */
	uint32_t n;	/* of the computation at hand */
	uint8_t *read; /* per instruction: does another one depend on it? */
};

static int cycle(struct orderer *o, uint32_t i)
{
	const struct raw *r = o->r;
	return err_set(r->err, "%s: instruction %.100s of computation %.100s depends on itself", r->file,
		r->in[i]->name, r->m->computations[r->comp[i]]->name);
}

/* Walks depth-first from one instruction and lists what is not listed yet. */
static int visit(struct orderer *o, uint32_t from, uint32_t *list)
{
	const struct raw *r = o->r;
	uint32_t depth = 0;
	if (o->state[from] == DONE)
		return 0;
	o->stack[depth++] = (struct frame){from, r->dep_first[from]};
	o->state[from] = OPEN;
	while (depth) {
		struct frame *f = &o->stack[depth - 1];
		if (f->next == r->dep_first[f->at + 1]) {
			o->state[f->at] = DONE;
			list[o->n++] = f->at;
			depth--;
			continue;
		}
		uint32_t d = r->dep[f->next++];
		if (o->state[d] == OPEN)
			return cycle(o, d);
		if (o->state[d] == NEW) {
			o->state[d] = OPEN;
			o->stack[depth++] = (struct frame){d, r->dep_first[d]};
		}
	}
	return 0;
}

struct sink_key {
	uint64_t key;
	uint32_t at;
	bool hashed;
};

static int by_key(const void *a, const void *b)
{
	const struct sink_key *x = a, *y = b;
	if (x->hashed != y->hashed)
		return x->hashed - y->hashed;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool is_parameter(const Hlo__HloInstructionProto *in)
{
	return strcmp(in->opcode, "parameter") == 0;
}

/* Gives each unread instruction a key: a hash of what it computes. Needs a topological order, any one. */
static int hash_unread(struct orderer *o, uint32_t c, struct sink_key *v, size_t n)
{
	const struct raw *r = o->r;
	uint32_t first = r->first[c], size = r->first[c + 1] - first;
	uint64_t *key = MEM_NEW(size, uint64_t);
	uint32_t *list = o->list + first;
	int rc = -1;
	o->n = 0;
	for (size_t i = 0; i < n; i++)
		if (visit(o, v[i].at, list) < 0)
			goto out;
	for (uint32_t i = 0; i < o->n; i++) {
		struct sink s = {.hash = 1};
		attr_instruction(&s, r->in[list[i]], ATTR_PROGRAM, true);
		for (uint32_t k = r->dep_first[list[i]]; k < r->dep_first[list[i] + 1]; k++)
			sink_word(&s, key[r->dep[k] - first]);
		key[list[i] - first] = s.hash;
	}
	for (size_t i = 0; i < n; i++)
		if (v[i].hashed)
			v[i].key = key[v[i].at - first];
	memset(o->state + first, NEW, size);
	rc = 0;
out:
	mem_free(key);
	return rc;
}

/* Walks from what nobody reads, other than the root: these nodes come first in our order. */
static int visit_unread(struct orderer *o, uint32_t c)
{
	const struct raw *r = o->r;
	struct sink_key *v = NULL;
	size_t n = 0, cap = 0, hashed = 0;
	int rc = 0;
	for (uint32_t i = r->first[c]; i < r->first[c + 1]; i++) {
		if (o->read[i] || i == r->root[c])
			continue;
		bool parameter = is_parameter(r->in[i]);
		MEM_GROW(&v, &cap, n + 1);
		v[n++] = (struct sink_key){(uint64_t)r->in[i]->parameter_number, i, !parameter};
		hashed += !parameter;
	}
	if (hashed > 1)
		rc = hash_unread(o, c, v, n);
	if (n > 1)
		qsort(v, n, sizeof(*v), by_key);
	o->n = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = visit(o, v[i].at, o->list + r->first[c]);
	mem_free(v);
	return rc;
}

static int order_instructions(struct orderer *o, uint32_t c)
{
	const struct raw *r = o->r;
	if (visit_unread(o, c) < 0 || visit(o, r->root[c], o->list + r->first[c]) < 0)
		return -1;
	for (uint32_t i = r->first[c]; i < r->first[c + 1]; i++)
		if (o->state[i] != DONE)
			return cycle(o, i);
	return 0;
}

/* The called computations of one computation, in the order in which its walk meets them. */
struct calls {
	uint32_t *first, *call;
};

static void list_calls(const struct orderer *o, struct calls *out)
{
	struct raw *r = o->r;
	out->first = ARENA_NEW(&r->tmp, r->n_comps + 1, uint32_t);
	out->call = ARENA_NEW(&r->tmp, r->call_first[r->n], uint32_t);
	uint32_t n = 0;
	for (uint32_t c = 0; c < r->n_comps; c++) {
		out->first[c] = n;
		for (uint32_t i = r->first[c]; i < r->first[c + 1]; i++)
			for (uint32_t k = r->call_first[o->list[i]]; k < r->call_first[o->list[i] + 1]; k++)
				out->call[n++] = r->call[k];
	}
	out->first[r->n_comps] = n;
}

/* Walks the calls depth-first; its depth is that of a recursion over computations. */
static int visit_comps(struct orderer *o, const struct calls *calls, uint8_t *state, uint32_t from,
	uint32_t *n)
{
	struct raw *r = o->r;
	struct frame stack[CALL_DEPTH];
	uint32_t depth = 0;
	if (state[from] == DONE)
		return 0;
	stack[depth++] = (struct frame){from, calls->first[from]};
	state[from] = OPEN;
	while (depth) {
		struct frame *f = &stack[depth - 1];
		if (f->next == calls->first[f->at + 1]) {
			state[f->at] = DONE;
			r->comp_order[(*n)++] = f->at;
			depth--;
			continue;
		}
		uint32_t d = calls->call[f->next++];
		if (state[d] == OPEN)
			return err_set(r->err, "%s: computation %.100s calls itself in the end", r->file,
				r->m->computations[d]->name);
		if (state[d] == DONE)
			continue;
		if (depth == CALL_DEPTH)
			return err_set(r->err, "%s: computations call each other more than %d deep", r->file,
				CALL_DEPTH);
		state[d] = OPEN;
		stack[depth++] = (struct frame){d, calls->first[d]};
	}
	return 0;
}

/*
 * Checks the depth of calls. The walk may meet a long chain of calls in pieces, so its own depth does not tell; we
 * count from callees to callers.
 */
static int check_depth(const struct raw *r, const struct calls *calls)
{
	uint16_t *depth = MEM_NEW(r->n_comps, uint16_t);
	int rc = 0;
	for (uint32_t i = 0; i < r->n_comps && rc == 0; i++) {
		uint32_t c = r->comp_order[i];
		for (uint32_t k = calls->first[c]; k < calls->first[c + 1]; k++)
			if (depth[calls->call[k]] >= depth[c])
				depth[c] = (uint16_t)(depth[calls->call[k]] + 1);
		if (depth[c] >= CALL_DEPTH)
			rc = err_set(r->err, "%s: computations call each other more than %d deep", r->file, CALL_DEPTH);
	}
	mem_free(depth);
	return rc;
}

static int order_comps(struct orderer *o)
{
	struct raw *r = o->r;
	struct calls calls;
	uint8_t *state = ARENA_NEW(&r->tmp, r->n_comps, uint8_t);
	list_calls(o, &calls);
	uint32_t n = 0;
	if (visit_comps(o, &calls, state, r->entry, &n) < 0)
		return -1;
	for (uint32_t c = 0; c < r->n_comps; c++)
		if (visit_comps(o, &calls, state, c, &n) < 0)
			return -1;
	return check_depth(r, &calls);
}

/* Gives the final numbers, computation by computation. */
static void number(struct orderer *o)
{
	struct raw *r = o->r;
	uint32_t n = 0;
	for (uint32_t k = 0; k < r->n_comps; k++) {
		uint32_t c = r->comp_order[k];
		r->comp_rank[c] = k;
		for (uint32_t i = r->first[c]; i < r->first[c + 1]; i++) {
			r->rank[o->list[i]] = n;
			r->order[n++] = o->list[i];
		}
	}
}

int raw_order(struct raw *r)
{
	struct orderer o = {.r = r};
	o.state = ARENA_NEW(&r->tmp, r->n, uint8_t);
	o.stack = ARENA_NEW(&r->tmp, r->n, struct frame);
	o.list = ARENA_NEW(&r->tmp, r->n, uint32_t);
	o.read = ARENA_NEW(&r->tmp, r->n, uint8_t);
	r->order = ARENA_NEW(&r->tmp, r->n, uint32_t);
	r->rank = ARENA_NEW(&r->tmp, r->n, uint32_t);
	r->comp_order = ARENA_NEW(&r->tmp, r->n_comps, uint32_t);
	r->comp_rank = ARENA_NEW(&r->tmp, r->n_comps, uint32_t);
	for (uint32_t k = 0; k < r->dep_first[r->n]; k++)
		o.read[r->dep[k]] = 1;
	for (uint32_t c = 0; c < r->n_comps; c++)
		if (order_instructions(&o, c) < 0)
			return -1;
	if (order_comps(&o) < 0)
		return -1;
	number(&o);
	return 0;
}
