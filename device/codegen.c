/*
 * codegen.c - see codegen.h.
 */
#include "device/codegen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct codegen ways[] = {
#define CODEGEN(...) {__VA_ARGS__},
#include "schemas/codegen.def"
};
#define N_WAYS (sizeof ways / sizeof *ways)
_Static_assert(N_WAYS <= CODEGEN_MOST, "a set of ways is a number of 32 bits");

/* Is the word among the flags of the processor? */
static bool has(const char *flag)
{
	const char *path = getenv("VANTAGE_CPUINFO"), *blanks = " \t\n";
	FILE *f = fopen(path ? path : "/proc/cpuinfo", "re");
	char *line = NULL, *rest, *word;
	size_t room = 0;
	bool found = false;

	while (f && !found && getline(&line, &room, f) > 0) {
		if (strncmp(line, "flags", 5) != 0)
			continue;
		for (word = strtok_r(line, blanks, &rest); word && !found; word = strtok_r(NULL, blanks, &rest))
			found = strcmp(word, flag) == 0;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

uint32_t codegen_worth(const char *backend)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < N_WAYS; i++)
		if (strcmp(ways[i].backend, backend) == 0 && (!*ways[i].flag || has(ways[i].flag)))
			found |= UINT32_C(1) << i;
	return found;
}

const struct codegen *codegen_way(unsigned i)
{
	return i < N_WAYS ? &ways[i] : NULL;
}

void codegen_options(uint32_t which, const char *between, struct buf *out)
{
	const char *before = "";

	for (unsigned i = 0; i < N_WAYS; i++)
		if (which >> i & 1) {
			buf_addf(out, "%s%s", before, ways[i].option);
			before = between;
		}
}

void codegen_words(uint32_t which, struct buf *out)
{
	const char *before = "";

	for (unsigned i = 0; i < N_WAYS; i++)
		if (which >> i & 1) {
			buf_addf(out, "%s%s", before, ways[i].words);
			before = ", ";
		}
}

uint32_t codegen_read(const char *text)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < N_WAYS; i++)
		if (strstr(text, ways[i].option))
			found |= UINT32_C(1) << i;
	return found;
}
