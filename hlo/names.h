/*
 * names.h - tables of names, and names made unique as XLA does, for the reader and the printer of HLO text.
 */
#ifndef HLO_NAMES_H
#define HLO_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/mem.h"

/* A table from strings to numbers. A string is given by pointer and length, and must outlive the table. */
struct name_slot {
	const char *s;
	uint32_t n, value;
};
struct names {
	struct name_slot *slot;
	size_t cap, used;
};
#define NAMES_NONE UINT32_MAX
uint32_t names_get(const struct names *t, const char *s, size_t n);
/* Adds a name; returns false, and changes nothing, if it is there already. */
bool names_put(struct names *t, const char *s, size_t n, uint32_t value);
void names_release(struct names *t);

/* Gives out each name once, by XLA's rule: "a", "a.1", "a.2" ... */
struct uniquer {
	struct names roots;
	int64_t *next; /* per root */
	size_t cap_next;
	struct used_id {
		uint32_t root; /* + 1; 0 is an empty slot */
		int64_t id;
	} *id;
	size_t cap_id, n_id;
};
char *uniquer_take(struct uniquer *u, struct arena *mem, const char *s, size_t n);
void uniquer_release(struct uniquer *u);
/* The name, with each character that XLA does not allow in a name replaced. */
char *name_sanitized(struct arena *mem, const char *s, size_t n);

#endif
