/*
 * mem.h - memory: checked allocation, and arenas.
 *
 * Running out of host memory ends the process, in one place (mem.c), with a sentence: no caller
 * checks. Sizes that come from a file must be compared with a named limit before they get here.
 *
 * What dies together is allocated together: one arena per graph, batch or run. Arena memory is
 * aligned to 16 bytes, not zeroed unless asked, and never freed one by one.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);		     /* never NULL; size 0 gives a unique pointer */
void *mem_alloc_aligned(size_t size, size_t alignment); /* the alignment is a power of 2, and of pointers at least */
void *mem_zalloc(size_t count, size_t size); /* zeroed; overflow of the product aborts */
void *mem_realloc(void *old, size_t count, size_t size);
char *mem_strdup(const char *s);
void mem_free(void *p); /* free(), accepts NULL */

#define MEM_NEW(count, type) ((type *)mem_zalloc((size_t)(count), sizeof(type)))

/* Makes room for `need` elements in a growable array, doubling its capacity: MEM_GROW(&v, &cap, n + 1). */
#define MEM_GROW(array, cap, need) \
	((void)((need) > *(cap) ? (*(array) = mem_grow(*(array), (cap), (need), sizeof **(array)), 0) : 0))
void *mem_grow(void *old, size_t *cap, size_t need, size_t size);

struct arena_block;
struct arena { /* all zero is an empty arena */
	struct arena_block *block;
	char *next, *end;
	size_t used; /* bytes handed out, for reports and limits */
};

void *arena_alloc(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t count, size_t size);
void *arena_dup(struct arena *a, const void *p, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *a);   /* forgets everything, keeps the largest block for reuse */
void arena_release(struct arena *a); /* frees everything; accepts an empty or released arena */

#define ARENA_NEW(a, count, type) ((type *)arena_zalloc((a), (size_t)(count), sizeof(type)))

#endif
