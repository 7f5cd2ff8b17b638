/*
 * asked.c - two lists that are searched from end to end: a search asks a few dozen times, and each time takes seconds.
 */
#include "search/asked.h"

#include <string.h>
#include "base/mem.h"

static bool is_none(const struct digest *d)
{
	static const struct digest none;

	return memcmp(d, &none, sizeof none) == 0;
}

void asked_add(struct asked *a, uint64_t config, const struct digest *made)
{
	MEM_GROW(&a->config, &a->cap, a->n + 1);
	a->config[a->n++] = config;
	if (is_none(made) || asked_made(a, made))
		return;
	MEM_GROW(&a->made, &a->cap_made, a->n_made + 1);
	a->made[a->n_made++] = *made;
}

bool asked_has(const struct asked *a, uint64_t config)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->config[i] == config)
			return true;
	return false;
}

bool asked_made(const struct asked *a, const struct digest *made)
{
	for (size_t i = 0; i < a->n_made; i++)
		if (memcmp(&a->made[i], made, sizeof *made) == 0)
			return true;
	return false;
}

void asked_release(struct asked *a)
{
	mem_free(a->config);
	mem_free(a->made);
	*a = (struct asked){0};
}
