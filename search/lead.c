/*
 * lead.c - see lead.h.
 *
 * People name no kind of decision, and the default one may have nothing to give where another has a lot: of a training
 * step of an image network fusion found nothing, and its convolutions written in another way took 42% off it. So a kind
 * whose answers are programs, with which the default kind can go on, is decided first where it promises anything.
 * Counting its places and adding up what they promise takes a fraction of a second. Promises are rules of thumb, often
 * many times too small or too large (of 0.3% came 5%, of 15% nothing), so they only decide what is tried. What is tried
 * takes up to half of the search; if it has found nothing by a quarter and a few candidates, the rest is the next
 * kind's. What it leaves is the next kind's, too.
 *
 * A search without --seconds would wait long for whole programs of minutes, by which such a kind is priced. It may take
 * ten times as long as opening the program, and at least two minutes. The whole program has the last word on what is
 * handed on, however long that takes (drift.c). Where it would take several times what the kind has, nothing is tried.
 * (An LSTM, unrolled, takes 86 s to compile. Of a search of 40 s, 220 s went into rewriting it.) Where that is known
 * before the kind begins, there is time for one kind, and it is this one: of a GPT's training step of 16 layers,
 * rewriting alone took 29%, and both 36%. But a program that the compiler blows up (ready/subject.h) is the next
 * kind's: rewriting found nothing in a ray marcher, and another rule of fusion took 95% off it.
 */
#include "search/lead.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/talk.h"
#include "device/backend.h"
#include "graph/work.h"
#include "ready/user_program.h"
#include "search/earlier.h"

#define WORTH 0.002	   /* of the program's time, at the least */
#define CORE_RATE 1e11	   /* operations that a core does a second, at the most */
#define LEAD_SHARE 0.5	   /* of what is left, for kinds that others follow */
#define PATIENCE 0.5	   /* of that, if nothing was found */
#define TIMES_OPENING 10.0 /* seconds, if the user gave none */
#define LEAST_SECONDS 120.0
#define CHECK_MOST 3.0	   /* times what a kind has, for one check of the whole program */

/* Adds up what each place would save by the choice that promises most. */
static double promised(struct space *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n_sites && s->ops->promise; i++) {
		double most = 0;
		for (uint8_t k = 1; k < s->site[i].choices; k++)
			most = fmax(most, s->ops->promise(s, i, k));
		sum += most;
	}
	return sum;
}

bool lead_promises(const struct graph *g, double seconds)
{
	const struct space_kind *leader = space_leader();
	struct space *s = leader ? space_open(leader->name, backend_first(), g, NULL, 0, NULL) : NULL;
	double sum = s ? promised(s) : 0;

	space_free(s);
	return sum > WORTH * seconds;
}

/* Does a search by these settings time programs, beginning from the default, with nothing else to keep to? */
static bool times_programs(const struct settings *set)
{
	struct err ignored;
	const struct backend *b = backend_find(set->device, &ignored);

	return b && b->kind == COST_MEASURED && (b->traits & ON_HOST) && !set->unverified && set->limits.n == 0 &&
	       (!set->objective || quantity_find(set->objective) == QUANTITY_SECONDS) &&
	       set->strategy == STRATEGY_GUIDED && !space_maker(set->graph) &&
	       !settings_begin_elsewhere(set);
}

/* The seconds that a run takes at the least. */
static double least_seconds(const struct graph *g)
{
	return graph_operations(g) / CORE_RATE;
}

/*
 * Does anything promise to be worth deciding first? -1: it cannot be read here, which is told when it is opened, or can
 * then be lowered.
 */
static int promises(const char *path)
{
	struct user_program p = {0};
	struct err ignored;
	int worth = user_program_fetch(&p, path, NULL, &ignored);

	if (worth == 0)
		worth = lead_promises(&p.graph, least_seconds(&p.graph));
	user_program_release(&p);
	return worth;
}

bool lead_belatedly(const struct settings *set, const struct graph *g)
{
	return set->kinds_open && lead_promises(g, least_seconds(g));
}

void lead_take(struct settings *set)
{
	snprintf(set->kind, sizeof set->kind, "%s,%s", space_leader()->name, space_kind_find(NULL, NULL)->name);
	set->space = set->kind;
	set->kinds_chosen = true;
	set->kinds_open = false;
	if (!set->from)
		talk("parts of the program could be computed in another way, so --space %s", set->space);
}

void lead_settle(struct settings *set)
{
	struct err ignored;
	int worth;

	if (strcmp(set->space, LEAD_AUTO) != 0)
		return;
	set->space = space_kind_find(NULL, NULL)->name;
	if (set->from && earlier_kind(set->from, set->kind, sizeof set->kind) && space_kind_find(set->kind, &ignored))
		set->space = set->kind;
	if (!space_leader() || !times_programs(set))
		return;
	worth = set->from ? earlier_followed(set->from) : promises(set->graph);
	set->kinds_open = worth < 0 && !user_program_is_hlo(set->graph);
	if (worth > 0)
		lead_take(set);
}

void lead_from(const char *kind, struct buf *path, struct settings *set)
{
	if (!set->from)
		return;
	buf_addf(path, "%s/%.*s", set->from, (int)strcspn(kind, "/:"), kind);
	set->from = path->data;
	set->budget = 0;
}

void lead_allow(struct hunt_options *o, const struct settings *set)
{
	o->seconds = LEAD_SHARE * set->seconds;
	o->budget = (uint64_t)(LEAD_SHARE * (double)set->budget);
	o->patience = PATIENCE;
	o->handed = true;
}

/* Says so, if a check of the whole program takes several times what the kind has; `what` comes of it. */
static bool is_too_long(double check, double seconds, const char *what)
{
	char need[32], given[32];

	if (check <= CHECK_MOST * seconds)
		return false;
	talk("%s: to run such a program once beside the compiler's own takes about %s, and there are %s for all of "
	     "that; more --seconds allow it", what, talk_seconds(check, need, sizeof need),
		talk_seconds(seconds, given, sizeof given));
	return true;
}

enum lead_turns lead_turns(const struct settings *set, const struct subject *program)
{
	bool blown = subject_is_blown(program);

	if (!set->kinds_chosen || set->seconds <= 0 ||
		!is_too_long(2 * program->extract_seconds, LEAD_SHARE * set->seconds,
			blown ? "nothing is computed in another way"
			      : "nothing is decided after what is computed in another way"))
		return LEAD_BOTH;
	return blown ? LEAD_LATER : LEAD_FIRST;
}

void lead_bound(struct hunt *h, const struct settings *set, double opening)
{
	struct hunt_options *o = &h->o;

	if (!set->kinds_chosen)
		return;
	if (o->seconds <= 0)
		o->seconds = fmax(TIMES_OPENING * opening, LEAST_SECONDS);
	if (h->s->n_sites > 0 && is_too_long(hunt_check_seconds(h), o->seconds, "nothing is computed in another way"))
		o->budget = 0;
}

void lead_spend(const struct hunt *h, struct settings *set)
{
	int64_t used = (int64_t)(h->evaluations - h->known); /* the last ones were known already */

	if (set->seconds > 0)
		set->seconds = fmax(set->seconds - hunt_seconds(h), (1 - LEAD_SHARE) * set->seconds);
	set->budget -= used < set->budget ? used : set->budget;
}

bool lead_found(const struct hunt *h)
{
	uint8_t *dflt = mem_alloc(h->s->n_sites + 1);
	bool same;

	space_default(h->s, dflt);
	same = memcmp(dflt, h->config, h->s->n_sites) == 0;
	mem_free(dflt);
	return !same && (h->kept == 0 || h->running.value < 0); /* what the user began with stands */
}
