/*
 * stage.c - see stage.h.
 */
#include "device/stage.h"

#include <stddef.h>
#include <string.h>

static const struct stage stages[] = {
#define STAGE(kind, backend, pass, extract, apply) {kind, backend, pass, extract, apply},
#include "schemas/stage.def"
#undef STAGE
};

const struct stage *stage_find(const char *kind, const char *backend)
{
	size_t n = kind ? strcspn(kind, "/:") : 0;

	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
		const struct stage *s = &stages[i];
		if (strcmp(s->backend, backend) == 0 && (!kind || (strlen(s->kind) == n && memcmp(s->kind, kind, n) == 0)))
			return s;
	}
	return NULL;
}
