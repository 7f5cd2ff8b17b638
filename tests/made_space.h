/*
 * made_space.h - opens the space of a problem that a kind makes up itself, for tests.
 */
#ifndef TESTS_MADE_SPACE_H
#define TESTS_MADE_SPACE_H

#include "base/buf.h"
#include "space/space.h"
#include "tests/test.h"

static struct space *open_made(const struct space_kind *by, const char *program, struct graph *g)
{
	struct buf module = {0};
	char kind[SPACE_KIND_ROOM];
	struct err err = {0};
	struct space *s = NULL;

	if (by->make(program, &module, kind, &err) == 0 && graph_parse(g, module.data, module.len, program, &err) == 0)
		s = space_open(kind, "sim", g, NULL, 0, &err);
	if (!CHECK(s != NULL))
		printf("\t%s: %s\n", program, err.text);
	buf_release(&module);
	return s;
}

#endif
