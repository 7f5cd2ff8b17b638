/*
 * check_mem.c - every piece of an arena is aligned and keeps its bytes until the arena is released; compared with
 * plain malloc.
 */
#include "base/mem.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/rng.h"
#include "tests/test.h"

#define PIECES 3000

/* Fills n bytes with a pattern that only piece i has. */
static void fill(unsigned char *p, size_t n, size_t i)
{
	for (size_t k = 0; k < n; k++)
		p[k] = (unsigned char)(i * 31 + k * 7);
}

static void allocate_pieces(struct arena *a, uint64_t seed)
{
	static unsigned char *piece[PIECES], *copy[PIECES];
	static size_t size[PIECES];
	struct rng r;
	size_t sum = a->used;
	rng_seed(&r, seed);
	for (size_t i = 0; i < PIECES; i++) {
		size[i] = (size_t)rng_below(&r, i % 100 ? 200 : 100000);
		piece[i] = arena_alloc(a, size[i]);
		copy[i] = malloc(size[i] + 1);
		CHECK((uintptr_t)piece[i] % 16 == 0);
		fill(piece[i], size[i], i);
		fill(copy[i], size[i], i);
		sum += size[i];
	}
	CHECK(a->used >= sum && a->used < sum + 16 * PIECES + 1);
	size_t damaged = 0;
	for (size_t i = 0; i < PIECES; i++) {
		damaged += memcmp(piece[i], copy[i], size[i]) != 0;
		free(copy[i]);
	}
	CHECK_INT(damaged, 0);
}

static void pieces_do_not_touch(void)
{
	struct arena a = {0};
	allocate_pieces(&a, 1);
	arena_release(&a);
}

static void reset_forgets_and_reuses(void)
{
	struct arena a = {0};
	allocate_pieces(&a, 2);
	arena_reset(&a);
	CHECK_INT(a.used, 0);
	struct arena_block *kept = a.block;
	CHECK(kept != NULL);
	for (int i = 0; i < 1000; i++) {
		arena_reset(&a);
		arena_alloc(&a, 100000); /* one piece that fits what was kept: no new block */
		CHECK(a.block == kept);
	}
	allocate_pieces(&a, 3);
	arena_release(&a);
	arena_release(&a);
	CHECK(a.block == NULL && a.used == 0);
	arena_reset(&a);
	CHECK_INT(a.used, 0);
	allocate_pieces(&a, 4); /* a released arena is an empty one */
	arena_release(&a);
}

static void zeroed_and_copied(void)
{
	struct arena a = {0};
	memset(arena_alloc(&a, 3000), 0xff, 3000);
	arena_reset(&a);
	uint32_t *v = ARENA_NEW(&a, 500, uint32_t);
	uint32_t seen = 0;
	for (int i = 0; i < 500; i++)
		seen |= v[i];
	CHECK_INT(seen, 0);
	CHECK_STR(arena_strdup(&a, ""), "");
	CHECK_STR(arena_strdup(&a, "one"), "one");
	CHECK_STR(arena_printf(&a, "%s-%d", "two", 2), "two-2");
	char wide[5000], *printed = arena_printf(&a, "%*s", 4999, "x");
	snprintf(wide, sizeof(wide), "%*s", 4999, "x");
	CHECK_STR(printed, wide);
	CHECK(arena_dup(&a, NULL, 0) != arena_dup(&a, NULL, 0));
	arena_release(&a);
}

static void arrays_grow(void)
{
	uint64_t *v = NULL;
	size_t cap = 0, moves = 0;
	for (size_t n = 0; n < 100000; n++) {
		uint64_t *before = v;
		size_t had = cap;
		MEM_GROW(&v, &cap, n + 1);
		moves += cap != had;
		CHECK(cap > n && (had == cap) <= (before == v));
		v[n] = n * n;
	}
	size_t wrong = 0;
	for (size_t n = 0; n < 100000; n++)
		wrong += v[n] != n * n;
	CHECK_INT(wrong, 0);
	CHECK(moves <= 16); /* doubling, not creeping */
	mem_free(v);
	mem_free(NULL);
}

static void allocates_nothing_and_something(void)
{
	void *a = mem_alloc(0), *b = mem_alloc(0);
	CHECK(a && b && a != b);
	mem_free(a);
	mem_free(b);
	int *zeroed = MEM_NEW(10, int);
	CHECK(zeroed[0] == 0 && zeroed[9] == 0);
	zeroed = mem_realloc(zeroed, 20, sizeof(int));
	zeroed[19] = 1;
	mem_free(zeroed);
	char *s = mem_strdup("copy");
	CHECK_STR(s, "copy");
	mem_free(s);
}

static volatile size_t huge = SIZE_MAX / 2;

static void child_overflow(void)
{
	mem_free(mem_zalloc(huge, 16));
}

static void child_arena_overflow(void)
{
	struct arena a = {0};
	arena_alloc(&a, huge + 1000);
}

static void child_no_memory(void)
{
	mem_free(mem_alloc(huge - 1000));
}

static int status_of(void (*child)(void))
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		fclose(stderr);
		child();
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void absurd_sizes_end_the_process(void)
{
	int status = status_of(child_overflow);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = status_of(child_arena_overflow);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = status_of(child_no_memory);
	/* A sanitizer's allocator aborts by itself; ours says so and exits. */
	CHECK(WIFEXITED(status) ? WEXITSTATUS(status) == 1 : WIFSIGNALED(status));
}

#ifdef __SANITIZE_ADDRESS__
static void child_beyond_the_end(void)
{
	struct arena a = {0};
	volatile char *piece = arena_alloc(&a, 20);
	arena_alloc(&a, 20);
	piece[huge ? 20 : 0] = 1;
}

static void sanitizer_sees_the_end_of_a_piece(void)
{
	int status = status_of(child_beyond_the_end);
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 99);
}
#endif

int main(void)
{
	RUN(pieces_do_not_touch);
	RUN(reset_forgets_and_reuses);
	RUN(zeroed_and_copied);
	RUN(arrays_grow);
	RUN(allocates_nothing_and_something);
	RUN(absurd_sizes_end_the_process);
#ifdef __SANITIZE_ADDRESS__
	RUN(sanitizer_sees_the_end_of_a_piece);
#endif
	return test_done();
}
