/*
 * ahead.c - see ahead.h.
 */
#include "search/ahead.h"

#include <stdio.h>
#include <string.h>
#include "device/backend.h"
#include "device/stage.h"
#include "ready/user_program.h"
#include "search/lead.h"

#define LARGE 2000 /* instructions, from which on a program may take minutes to compile */

/* Does the kind decide at a pass of this compiler that runs its programs? */
static bool at_a_pass(const char *kind, const struct backend *b)
{
	const struct stage *s = stage_find(kind, b->name);

	return s && *s->pass && !s->arranged && b->kind == COST_MEASURED;
}

static bool is_large(const char *path)
{
	struct user_program p = {0};
	struct err ignored;
	bool large = user_program_is_hlo(path) && user_program_fetch(&p, path, NULL, &ignored) == 0 &&
		     p.graph.n_nodes >= LARGE;

	user_program_release(&p);
	return large;
}

/* Is it worth it? With --from and --resume the earlier kind has decided already, mostly. */
static bool saves(const struct settings *set, const char *later)
{
	struct err ignored;
	const struct backend *b = backend_find(set->device, &ignored);

	return b && !strchr(set->device, ':') && !at_a_pass(set->space, b) && at_a_pass(later, b) && !set->from &&
	       !set->resume && !set->unverified && strcmp(set->graph, "-") != 0 && is_large(set->graph);
}

static int open_for(const char *kind, struct session *s, struct err *err)
{
	struct settings set = *s->set;
	struct session later = {.set = &set};
	struct subject program = {0};
	int rc;

	set.space = kind;
	rc = session_open_device(&later, err);
	if (rc == 0) {
		session_heed_stop(&later, true);
		rc = subject_open(&program, set.graph, kind, later.device, err);
	}
	if (rc == 0) {
		spare_share(&program.opened.spares, COMPILE_DEFAULT, &program.original, &s->ahead);
		rc = (int)lead_turns(s->set, &program);
	}
	subject_release(&program);
	session_close(&later);
	return rc;
}

int ahead_open(struct session *s, struct err *err)
{
	char kind[SPACE_KIND_ROOM];

	if (!s->next)
		return LEAD_BOTH;
	snprintf(kind, sizeof kind, "%.*s", (int)strcspn(s->next, ","), s->next);
	return saves(s->set, kind) ? open_for(kind, s, err) : LEAD_BOTH;
}

void ahead_take(struct session *s)
{
	struct subject *program = &s->lab.subject;
	const struct spare *own = spare_get(&s->ahead, COMPILE_DEFAULT, &program->original);

	if (!own)
		return;
	program->extract_seconds = own->seconds;
	spare_share(&s->ahead, COMPILE_DEFAULT, &program->original, &program->opened.spares);
}
