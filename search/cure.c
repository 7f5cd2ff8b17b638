/*
 * cure.c - see the header. An attempt takes seconds, or a minute where programs are large; so there are few, and none
 * begins late.
 */
#include "search/cure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "search/ruled.h"

#define COMPARING_SECONDS 30.0 /* as numbers_job.seconds */
#define CURING_SECONDS 120.0   /* after so many no further attempt begins, */
#define CURING_SHARE 0.5       /* ... or after this share of the search's, if that is more */
#define RULES 4		       /* taken back alone at most */
#define HALVES 6	       /* attempts at most */
#define LESS 0.9 /* the numbers are less wrong if this share of what was too much is left, or less */

struct ward {
	struct hunt *h;
	struct device *device;
	struct compiled own;	   /* compiled once, however many attempts there are */
	struct numbers_kept kept;  /* likewise */
	struct numbers was, said;  /* of h->config, and of the last attempt */
	uint8_t *before, *attempt; /* without anything that this kind decided; what is asked about */
	double start;
};

/* What an attempt takes back. */
struct blamed {
	uint32_t rules, places;
	double change;
	char what[sizeof ((struct hunt_withdrawn *)NULL)->what]; /* in words */
};

static void record(struct cure *c, const char *what, uint32_t places, double change, const struct numbers *said)
{
	*c = (struct cure){.change = change, .back.places = places};
	snprintf(c->back.what, sizeof c->back.what, "%s", what);
	snprintf(c->back.why, sizeof c->back.why, "%s", said->detail);
}

/* What the places gain, by the steps that changed them. */
static double believed(const struct hunt *h, const uint8_t *without)
{
	double change = 0;

	for (size_t k = 0; k < h->n_steps; k++)
		if (without[h->steps[k].site] != h->config[h->steps[k].site])
			change += h->steps[k].delta;
	return change;
}

static uint32_t places_without(const struct hunt *h, const uint8_t *without)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->s->n_sites; i++)
		n += without[i] != h->config[i];
	return n;
}

static void words_for_kind(const struct hunt *h, char *what, size_t room)
{
	snprintf(what, room, "the kind %s decided", h->s->ops->kind->name);
}

void cure_all(struct cure *c, const struct hunt *h, uint8_t *config, const struct numbers *said)
{
	char what[sizeof c->back.what];

	space_default(h->s, config);
	words_for_kind(h, what, sizeof what);
	record(c, what, places_without(h, config), h->running.value, said);
	c->all = true;
}

/* Compares the numbers of a configuration's program with those of the compiler's own. */
static int compare(struct ward *w, const uint8_t *config, struct err *err)
{
	struct lab *lab = w->h->lab;
	struct subject *u = &lab->subject;
	struct compiled tuned = {0};
	struct numbers_job job = {.device = w->device, .space = w->h->s, .original = &u->original, .config = config,
		.own = &w->own, .tuned = &tuned, .seconds = COMPARING_SECONDS, .how = lab->how, .kept = &w->kept};
	struct buf module = {0};
	int rc = lab_answer(lab, config, &module, err);

	job.module = lab->how >= COMPILE_CODEGEN ? &module : NULL; /* a form of the answer (form.h) */
	w->said = (struct numbers){0};
	if (rc == 0 && !w->own.handle)
		rc = spare_compile(&u->opened.spares, w->device, COMPILE_DEFAULT, &u->original, 0, &w->own, err);
	if (rc == 0)
		rc = spare_compile(&u->opened.spares, w->device, lab->how, &module, 0, &tuned, err);
	if (rc == 0 && w->own.outcome == OUTCOME_OK)
		w->said.outcome = tuned.outcome;
	if (rc == 0 && w->own.outcome == OUTCOME_OK && tuned.outcome == OUTCOME_OK)
		rc = numbers_check(&w->said, &job, err);
	if (device_drop(w->device, &tuned, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&tuned);
	buf_release(&module);
	return rc;
}

static bool right(const struct ward *w)
{
	return w->said.outcome == OUTCOME_OK;
}

static bool time_left(const struct ward *w)
{
	return now_seconds() - w->start < fmax(CURING_SECONDS, CURING_SHARE * hunt_seconds(w->h)) && !stop_asked();
}

/* Asks about w->attempt. If its numbers are right, it is the cure. */
static int attempt(struct ward *w, const struct blamed *b, struct cure *c, struct err *err)
{
	int rc;

	talk("the numbers are %s%s; once more without what %s in %u place%s", right(w) ? "right" : "refused: ",
		right(w) ? "" : w->said.detail, b->what, b->places, b->places == 1 ? "" : "s");
	rc = compare(w, w->attempt, err);
	if (rc == 0 && right(w))
		record(c, b->what, b->places, b->change, &w->was);
	return rc;
}

/* By how much a kind of input refuses. */
static double excess(const struct numbers_on *on)
{
	if (on->unlike > on->unlike_allowed)
		return (double)on->unlike / (double)(1 + on->unlike_allowed);
	return on->allowed > 0 ? on->difference / on->allowed : 0;
}

/* Takes what follows a rule out of w->attempt. */
static void blame(struct blamed *b, struct ward *w, const struct ruled *p)
{
	size_t n = strlen(b->what);
	char name[80];

	ruled_name(w->h, p, name, sizeof name);
	snprintf(b->what + n, sizeof b->what - n, "%s%s", b->rules ? ", " : "", name);
	b->rules++;
	b->places += p->places;
	b->change += p->change;
	ruled_without(w->h, p->rule, w->attempt, w->before, w->attempt);
}

/* Tries without each rule alone until the numbers are right. Sets helped[i] if they are less wrong without rule i. */
static int try_each(struct ward *w, const struct ruled *part, size_t n, bool *helped, struct cure *c, struct err *err)
{
	enum inputs first = w->kept.refused;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0 && !right(w) && time_left(w); i++) {
		struct blamed b = {.what = "follows the rule "};
		memcpy(w->attempt, w->h->config, w->h->s->n_sites);
		blame(&b, w, &part[i]);
		w->kept.refused = first;
		rc = attempt(w, &b, c, err);
		helped[i] = rc == 0 && w->said.on[first].compared &&
			excess(&w->said.on[first]) < LESS * excess(&w->was.on[first]);
	}
	return rc;
}

/* Tries without all the rules that helped, if there are several. */
static int try_together(struct ward *w, const struct ruled *part, size_t n, const bool *helped, struct cure *c,
	struct err *err)
{
	struct blamed b = {.what = "follows the rules "};

	memcpy(w->attempt, w->h->config, w->h->s->n_sites);
	for (size_t i = 0; i < n; i++)
		if (helped[i])
			blame(&b, w, &part[i]);
	return b.rules < 2 || !time_left(w) ? 0 : attempt(w, &b, c, err);
}

static int try_rules(struct ward *w, struct cure *c, struct err *err)
{
	bool helped[RULES] = {false};
	struct ruled *part;
	size_t n;
	int rc = 0;

	part = ruled_list(w->h, w->before, &n);
	if (n > 1) {
		n = n < RULES ? n : RULES;
		rc = try_each(w, part, n, helped, c, err);
		if (rc == 0 && !right(w))
			rc = try_together(w, part, n, helped, c, err);
	}
	mem_free(part);
	return rc;
}

/* Asks about the configuration without so many of the places, from the first on. */
static int try_range(struct ward *w, const uint32_t *place, uint32_t n, struct cure *c, struct err *err)
{
	struct blamed b = {.places = n};

	words_for_kind(w->h, b.what, sizeof b.what);
	memcpy(w->attempt, w->h->config, w->h->s->n_sites);
	for (uint32_t i = 0; i < n; i++)
		w->attempt[place[i]] = w->before[place[i]];
	b.change = believed(w->h, w->attempt);
	return attempt(w, &b, c, err);
}

/* Takes back half of the places, the first or the second, then half of these. Each attempt that is right is kept. */
static int try_halves(struct ward *w, struct cure *c, uint8_t *config, struct err *err)
{
	uint32_t *place = MEM_NEW(w->h->s->n_sites + 1, uint32_t), first = 0, n = 0;
	bool second = false;
	int rc = 0;

	for (uint32_t i = 0; i < w->h->s->n_sites; i++)
		if (w->h->config[i] != w->before[i])
			place[n++] = i;
	for (int k = 0; k < HALVES && n > 1 && rc == 0 && time_left(w); k++) {
		uint32_t half = n / 2, from = second ? first + half : first, count = second ? n - half : half;
		rc = try_range(w, place + from, count, c, err);
		if (rc == 0 && right(w)) {
			memcpy(config, w->attempt, w->h->s->n_sites);
			first = from;
			n = count;
			second = false;
		} else if (second) {
			break;
		} else {
			second = true;
		}
	}
	mem_free(place);
	return rc;
}

/* The numbers of the hunt's configuration are refused: takes back what makes them so. */
static int find(struct ward *w, struct cure *c, uint8_t *config, struct err *err)
{
	int rc = w->h->s->ops->rule ? try_rules(w, c, err) : 0;

	if (rc == 0 && c->back.places)
		memcpy(config, w->attempt, w->h->s->n_sites);
	else if (rc == 0)
		rc = try_halves(w, c, config, err);
	if (rc == 0 && !c->back.places) {
		talk("the numbers are refused: %s; so all that this kind decided is taken back", w->was.detail);
		cure_all(c, w->h, config, &w->was);
	}
	return rc;
}

int cure_find(struct cure *c, struct hunt *h, struct device *d, uint8_t *config, struct err *err)
{
	struct ward w = {.h = h, .device = d, .start = now_seconds(), .before = MEM_NEW(h->s->n_sites + 1, uint8_t),
		.attempt = MEM_NEW(h->s->n_sites + 1, uint8_t)};
	int rc;

	*c = (struct cure){0};
	space_default(h->s, w.before);
	memcpy(config, h->config, h->s->n_sites);
	rc = compare(&w, config, err);
	w.was = w.said;
	if (rc == 0 && !right(&w) && !w.said.silent)
		rc = find(&w, c, config, err);
	if (device_drop(d, &w.own, rc == 0 ? err : NULL) < 0)
		rc = -1;
	if (numbers_forget(&w.kept, d, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&w.own);
	mem_free(w.before);
	mem_free(w.attempt);
	return rc;
}
