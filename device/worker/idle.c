/*
 * idle.c - see idle.h.
 */
#include "device/worker/idle.h"

#include <string.h>

#define DEAR 1.0 /* seconds of compiling from which on it is worth the memory */

void idle_put(struct idle *i, struct program *g)
{
	if (program_can_be_written(g) || program_seconds(g) < DEAR) {
		program_free(g);
		return;
	}
	program_rest(g);
	program_free(i->program[IDLE_MOST - 1]);
	memmove(i->program + 1, i->program, (IDLE_MOST - 1) * sizeof *i->program);
	i->program[0] = g;
}

struct program *idle_take(struct idle *i, const char *format, const void *code, size_t n, const char *options)
{
	struct program *g = NULL;
	int k = 0;

	while (k < IDLE_MOST && !(i->program[k] && program_is(i->program[k], format, code, n, options)))
		k++;
	if (k == IDLE_MOST)
		return NULL;
	g = i->program[k];
	memmove(i->program + k, i->program + k + 1, (size_t)(IDLE_MOST - 1 - k) * sizeof *i->program);
	i->program[IDLE_MOST - 1] = NULL;
	return g;
}
