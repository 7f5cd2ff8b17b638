/*
 * names.c - see names.h.
 *
 * XLA's rule: a trailing ".N" is a number, the rest is the root, and each root gives out each number
 * once. A number that is taken is replaced by the lowest free one. The number 0 is not written. So
 * "a", "a", "a.1" become "a", "a.1", "a.2".
 */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "hlo/names.h"
#include "hlo/op.h"

static size_t find(const struct names *t, const char *s, size_t n)
{
	size_t at = hash64(s, n, 0) & (t->cap - 1);
	while (t->slot[at].s && (t->slot[at].n != n || memcmp(t->slot[at].s, s, n) != 0))
		at = (at + 1) & (t->cap - 1);
	return at;
}

uint32_t names_get(const struct names *t, const char *s, size_t n)
{
	if (!t->cap)
		return NAMES_NONE;
	const struct name_slot *e = &t->slot[find(t, s, n)];
	return e->s ? e->value : NAMES_NONE;
}

bool names_put(struct names *t, const char *s, size_t n, uint32_t value)
{
	if (t->used * 2 >= t->cap) {
		struct names old = *t;
		t->cap = old.cap ? old.cap * 2 : 32;
		t->slot = MEM_NEW(t->cap, struct name_slot);
		for (size_t i = 0; i < old.cap; i++)
			if (old.slot[i].s)
				t->slot[find(t, old.slot[i].s, old.slot[i].n)] = old.slot[i];
		mem_free(old.slot);
	}
	struct name_slot *e = &t->slot[find(t, s, n)];
	if (e->s)
		return false;
	*e = (struct name_slot){s, (uint32_t)n, value};
	t->used++;
	return true;
}

void names_release(struct names *t)
{
	mem_free(t->slot);
	*t = (struct names){0};
}

static size_t find_id(const struct uniquer *u, uint32_t root, int64_t id)
{
	size_t at = hash_mix(root, (uint64_t)id) & (u->cap_id - 1);
	while (u->id[at].root && (u->id[at].root != root || u->id[at].id != id))
		at = (at + 1) & (u->cap_id - 1);
	return at;
}

/* Takes a number of the root; false if it is taken already. */
static bool take_id(struct uniquer *u, uint32_t root, int64_t id)
{
	if (u->n_id * 2 >= u->cap_id) {
		struct used_id *old = u->id;
		size_t cap = u->cap_id;
		u->cap_id = cap ? cap * 2 : 64;
		u->id = MEM_NEW(u->cap_id, struct used_id);
		for (size_t i = 0; i < cap; i++)
			if (old[i].root)
				u->id[find_id(u, old[i].root, old[i].id)] = old[i];
		mem_free(old);
	}
	struct used_id *e = &u->id[find_id(u, root, id)];
	if (e->root)
		return false;
	*e = (struct used_id){root, id};
	u->n_id++;
	return true;
}

/* "name.12" gives 12 and the length of "name"; a name without a number gives 0 and its length. */
static int64_t split(const char *s, size_t n, size_t *root, bool *numbered)
{
	size_t dot = n;
	*root = n;
	*numbered = false;
	while (dot > 0 && s[dot - 1] != '.')
		dot--;
	if (dot < 2 || dot == n)
		return 0;
	size_t i = dot + (s[dot] == '-');
	int64_t v = 0;
	if (i == n)
		return 0;
	for (; i < n; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v,
			s[i] - '0', &v))
			return 0;
	*root = dot - 1;
	*numbered = true;
	return s[dot] == '-' ? -v : v;
}

char *uniquer_take(struct uniquer *u, struct arena *mem, const char *s, size_t n)
{
	size_t length;
	bool numbered;
	int64_t id = split(s, n, &length, &numbered);
	uint32_t root = names_get(&u->roots, s, length);
	if (root == NAMES_NONE) {
		root = (uint32_t)u->roots.used;
		MEM_GROW(&u->next, &u->cap_next, (size_t)root + 1);
		u->next[root] = 0;
		names_put(&u->roots, arena_dup(mem, s, length), length, root); /* s may be gone before the table */
	}
	if (!take_id(u, root + 1, id)) {
		while (!take_id(u, root + 1, u->next[root]))
			u->next[root]++;
		id = u->next[root]++;
	}
	if (id == 0)
		return arena_printf(mem, numbered ? "%.*s.0" : "%.*s", (int)length, s);
	return arena_printf(mem, "%.*s.%lld", (int)length, s, (long long)id);
}

void uniquer_release(struct uniquer *u)
{
	names_release(&u->roots);
	mem_free(u->next);
	mem_free(u->id);
	*u = (struct uniquer){0};
}

char *name_sanitized(struct arena *mem, const char *s, size_t n)
{
	bool type = dtype_of(s, n) != DT_INVALID;
	char *out = arena_alloc(mem, n + 2);
	memcpy(out, s, n);
	for (size_t i = 0; i < n; i++) {
		char c = out[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.' || c == '-')))
			out[i] = '_';
	}
	if (type)
		out[n++] = '_';
	out[n] = '\0';
	if (n >= 2 && memcmp(out, "__", 2) == 0 && strncmp(out, "__xla_", 6) != 0)
		out[0] = 'a';
	return out;
}
