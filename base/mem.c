/*
 * mem.c - checked allocation and arenas.
 *
 * An arena is a chain of blocks, the newest first; allocation moves `next` forward in it. Blocks
 * double from 4 KiB to 1 MiB, so a small graph costs one small block and a large one few of them;
 * what is larger than that gets a block of its own size. Blocks hold a 16-byte header, malloc
 * aligns to 16, and every size is rounded up to 16, so every pointer is aligned to 16.
 *
 * Under the address sanitizer, memory that is not handed out is poisoned, and so are 16 bytes between
 * any two pieces: a run over the end of an array in an arena is seen as one over malloc's memory is.
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define GAP 16
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define GAP 0
#endif

#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

/* The one place where running out of memory ends the process. */
static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "vantage: out of memory: %zu more bytes were refused by the system\n", size);
	_exit(1);
}

void *mem_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p)
		out_of_memory(size);
	return p;
}

void *mem_alloc_aligned(size_t size, size_t alignment)
{
	void *p = NULL;
	if (posix_memalign(&p, alignment, size ? size : 1) != 0)
		out_of_memory(size);
	return p;
}

static size_t product(size_t count, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(count, size, &total))
		BUG("allocation of %zu times %zu bytes", count, size);
	return total;
}

void *mem_zalloc(size_t count, size_t size)
{
	size_t total = product(count, size);
	void *p = calloc(total ? total : 1, 1);
	if (!p)
		out_of_memory(total);
	return p;
}

void *mem_realloc(void *old, size_t count, size_t size)
{
	size_t total = product(count, size);
	void *p = realloc(old, total ? total : 1);
	if (!p)
		out_of_memory(total);
	return p;
}

char *mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(mem_alloc(n), s, n);
}

void mem_free(void *p)
{
	free(p);
}

void *mem_grow(void *old, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap < 8 ? 8 : product(*cap, 2);
	if (n < need)
		n = need;
	*cap = n;
	return mem_realloc(old, n, size);
}

struct arena_block {
	struct arena_block *older;
	size_t size; /* of the whole block, header included */
};
_Static_assert(sizeof(struct arena_block) == 16, "the header keeps what follows aligned to 16");

static void use_block(struct arena *a, struct arena_block *b)
{
	a->block = b;
	a->next = (char *)(b + 1);
	a->end = (char *)b + b->size;
	ASAN_POISON_MEMORY_REGION(a->next, b->size - sizeof(*b));
}

static void add_block(struct arena *a, size_t size)
{
	size_t want = a->block ? a->block->size * 2 : BLOCK_MIN;
	if (want > BLOCK_MAX)
		want = BLOCK_MAX;
	if (want < size + sizeof(struct arena_block))
		want = size + sizeof(struct arena_block);
	struct arena_block *b = mem_alloc(want);
	b->older = a->block;
	b->size = want;
	use_block(a, b);
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		BUG("arena allocation of %zu bytes", size);
	size_t room = size ? (size + 15) & ~(size_t)15 : 16;
	if (!a->block || (size_t)(a->end - a->next) < room + GAP)
		add_block(a, room + GAP);
	void *p = a->next;
	a->next += room + GAP;
	a->used += room;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	return p;
}

void *arena_zalloc(struct arena *a, size_t count, size_t size)
{
	size_t total = product(count, size);
	return memset(arena_alloc(a, total), 0, total);
}

void *arena_dup(struct arena *a, const void *p, size_t size)
{
	void *copy = arena_alloc(a, size);
	return size ? memcpy(copy, p, size) : copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_dup(a, s, strlen(s) + 1);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	int n;
	char *s;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	BUG_ON(n < 0);
	s = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

/* Frees all blocks but one of the largest, which is returned (NULL when there is none). */
static struct arena_block *drop_all_but_largest(struct arena *a)
{
	struct arena_block *kept = NULL, *older;
	for (struct arena_block *b = a->block; b; b = older) {
		older = b->older;
		if (!kept || b->size > kept->size) {
			free(kept);
			kept = b;
		} else {
			free(b);
		}
	}
	return kept;
}

void arena_reset(struct arena *a)
{
	struct arena_block *kept = drop_all_but_largest(a);
	*a = (struct arena){0};
	if (kept) {
		kept->older = NULL;
		use_block(a, kept);
	}
}

void arena_release(struct arena *a)
{
	free(drop_all_but_largest(a));
	*a = (struct arena){0};
}
