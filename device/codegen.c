/*
 * codegen.c - see codegen.h.
 */
#include "device/codegen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph/transforms.h"

static const struct codegen ways[] = {
#define ALWAYS(...)
#define CODEGEN(...) {__VA_ARGS__},
#define WELDED(...)
#define NEEDED(...)
#include "schemas/codegen.def"
};
static const struct {
	const char *backend, *option;
	bool (*who)(const struct graph *g);
} needs[] = {
#define ALWAYS(...)
#define CODEGEN(...)
#define WELDED(...)
#define NEEDED(...) {__VA_ARGS__},
#include "schemas/codegen.def"
};
struct of_backend {
	const char *backend, *text;
};
static const struct of_backend welds[] = {
#define ALWAYS(...)
#define CODEGEN(...)
#define WELDED(...) {__VA_ARGS__},
#define NEEDED(...)
#include "schemas/codegen.def"
}, always[] = {
#define ALWAYS(...) {__VA_ARGS__},
#define CODEGEN(...)
#define WELDED(...)
#define NEEDED(...)
#include "schemas/codegen.def"
};
#define N_OF(table) (sizeof table / sizeof *table)
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

uint32_t codegen_for_memory(void)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < N_WAYS; i++)
		found |= (uint32_t)(ways[i].mib > 0) << i;
	return found;
}

uint32_t codegen_rivals(unsigned i)
{
	size_t name = strcspn(ways[i].option, "=") + 1;
	uint32_t found = 0;

	for (unsigned k = 0; k < N_WAYS; k++)
		if (k != i && strncmp(ways[k].option, ways[i].option, name) == 0)
			found |= UINT32_C(1) << k;
	return found;
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

/* The text in the backend's row of n; NULL: it has none. */
static const char *text_of(const struct of_backend *row, size_t n, const char *backend)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(row[i].backend, backend) == 0)
			return row[i].text;
	return NULL;
}

const char *codegen_weld(const char *backend)
{
	return text_of(welds, N_OF(welds), backend);
}

const char *codegen_always(const char *backend)
{
	const char *options = text_of(always, N_OF(always), backend);

	return options ? options : "";
}

/* Are there two transforms at least? Most programs have none, and need not be read to know. */
static bool has_transforms(const char *p, size_t n)
{
	static const char opcode[] = {2 << 3 | 2, 3, 'f', 'f', 't'}; /* as HloInstructionProto holds it */
	const char *first = memmem(p, n, opcode, sizeof opcode), *rest = first ? first + sizeof opcode : p + n;

	return memmem(rest, (size_t)(p + n - rest), opcode, sizeof opcode) != NULL;
}

const char *codegen_needed(const char *backend, const void *p, size_t n)
{
	struct graph g = {0};
	struct err ignored;
	const char *needed = "";

	if (!has_transforms(p, n))
		return needed;
	if (graph_parse(&g, p, n, "it", &ignored) == 0)
		for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
			if (strcmp(needs[i].backend, backend) == 0 && needs[i].who(&g))
				needed = needs[i].option;
	graph_release(&g);
	return needed;
}
