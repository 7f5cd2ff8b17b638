/*
 * chosen.c - see the header.
 */
#include "search/chosen.h"

#include "base/mem.h"
#include "base/stop.h"
#include "search/rival.h"

/* Lets the kind look by itself. */
static int ask_kind(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct space_effort e = {.seconds = set->seconds, .steps = (uint64_t)set->steps, .seed = (uint64_t)set->seed,
		.jobs = set->jobs > 0 ? (uint32_t)set->jobs : 0, .stop = stop_asked};
	const struct space_kind *kind = s->lab.space->ops->kind;

	if (!kind->solve)
		return err_set(err, "decisions of the kind %s have no strategy of their own: take guided, random, "
			"brkga or sweep", kind->name);
	if (e.seconds <= 0 && e.steps == 0)
		e.seconds = SOLVE_SECONDS;
	return kind->solve(s->lab.space, &e, s->given, err);
}

static void make_room(struct session *s)
{
	if (!s->given)
		s->given = mem_alloc(s->lab.space->n_sites + 1);
}

/* Lets another device say what is worth pricing, if there is one for that: s->given is then what was found. */
static int ask_screen(struct session *s, bool *chosen, struct err *err)
{
	char name[64];

	if (!screen_find(s, name, sizeof name))
		return 0;
	*chosen = true;
	make_room(s);
	return screen_search(&s->screen, s, name, s->given, err);
}

/*
 * Lets a rival (rival.h), or the kind itself, choose the configuration, if the strategy says so: s->given is then what
 * it chose.
 */
static int ask_rival(struct session *s, bool *chosen, struct err *err)
{
	const struct settings *set = s->set;
	struct rival_options ro = {.alpha = set->strategy == STRATEGY_TASO ? RIVAL_ALPHA : 0,
		.extract = set->strategy == STRATEGY_TENSAT, .budget = (uint64_t)set->budget,
		.seconds = set->seconds};

	if (set->strategy < STRATEGY_TASO || set->strategy > STRATEGY_SELF)
		return 0;
	*chosen = true;
	make_room(s);
	if (set->strategy == STRATEGY_SELF)
		return ask_kind(s, err);
	return rival_search(&s->lab, s->device, &ro, s->given, &s->rival, err);
}

int chosen_by_others(struct session *s, bool *chosen, struct err *err)
{
	*chosen = false;
	return ask_rival(s, chosen, err) < 0 ? -1 : ask_screen(s, chosen, err);
}
