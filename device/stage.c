/*
 * stage.c - finds stages in the table of schemas/stage.def, and writes the options that apply decisions there.
 */
#include "device/stage.h"

#include <stddef.h>
#include <string.h>

static const struct stage stages[] = {
#define STAGE(...) {__VA_ARGS__, false, false},
#define GROUPED(...) {__VA_ARGS__, true, false},
#define ARRANGED(...) {__VA_ARGS__, false, true},
#include "schemas/stage.def"
#undef STAGE
};

static const struct stage_way ways[] = {
#define STAGE(...)
#define WAY(kind, backend, name, options) {kind, backend, name, options},
#include "schemas/stage.def"
#undef STAGE
};

const struct stage_way *stage_way(const struct stage *s)
{
	for (const struct stage_way *w = ways; w < ways + sizeof ways / sizeof *ways; w++)
		if (strcmp(w->kind, s->kind) == 0 && strcmp(w->backend, s->backend) == 0)
			return w;
	return NULL;
}

const struct stage *stage_find(const char *kind, const char *backend)
{
	size_t n = kind ? strcspn(kind, "/:") : 0;

	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
		const struct stage *s = &stages[i];
		if (strcmp(s->backend, backend) == 0 &&
			(!kind || (strlen(s->kind) == n && memcmp(s->kind, kind, n) == 0)))
			return s;
	}
	return NULL;
}

const struct stage *stage_arranging(const char *backend)
{
	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
		if (stages[i].arranged && strcmp(stages[i].backend, backend) == 0)
			return &stages[i];
	return NULL;
}

#define PASSES "PASSES"

bool stage_wants_passes(const struct stage *s)
{
	return strstr(s->apply, PASSES);
}

void stage_apply(const struct stage *s, const struct pipeline *p, struct buf *out)
{
	const char *at = strstr(s->apply, PASSES);

	buf_add(out, s->apply, at ? (size_t)(at - s->apply) : strlen(s->apply));
	if (at) {
		pipeline_after(p, out);
		buf_adds(out, at + sizeof PASSES - 1);
	}
}
