/*
 * mend.c - see the header. Rules are taken back one at a time: the first answer whose numbers are right stays. If none
 * is, before other kinds those are taken back together without which the numbers were less wrong. If that does not help
 * either, all that the last kind decided is taken back.
 */
#include "search/mend.h"

#include <stdio.h>
#include <string.h>
#include "base/stop.h"
#include "base/talk.h"
#include "search/ruled.h"

#define COMPARING_SECONDS 30.0 /* as numbers_job.seconds */
#define TRIES 4 /* rules at most: each takes a compilation, and comparing the numbers */
#define LESS 0.9 /* the numbers are less wrong if this share of what was too much is left, or less */

static void note(struct hunt *h, const char *what, uint32_t places, const struct numbers *said)
{
	struct hunt_withdrawn *w = &h->withdrawn;

	w->places = places;
	snprintf(w->what, sizeof w->what, "%s", what);
	snprintf(w->why, sizeof w->why, "%s", said->detail);
}

void mend_words(const struct hunt *h, struct buf *out)
{
	const struct hunt_withdrawn *w = &h->withdrawn;

	if (w->places)
		buf_addf(out, "What %s was taken back in %u place%s: with it, %.250s.", w->what, w->places,
			w->places == 1 ? "" : "s", w->why);
}

/* The configuration without the rule becomes the hunt's. */
static void drop(struct hunt *h, const struct ruled *p, const uint8_t *config)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		h->hash = config_flip(h->config, h->hash, i, config[i]);
	h->running.value -= p->change;
	hunt_add_point(h);
}

/* The answer without p, which is called `what`, becomes the answer. */
static void adopt(struct verdict *v, struct hunt *h, const struct ruled *p, const char *what, const uint8_t *config,
	const struct verdict *mended)
{
	struct buf words = {0};

	note(h, what, p->places, &v->numbers);
	mend_words(h, &words);
	*v = *mended;
	snprintf(v->compared, sizeof v->compared, "%.440s %.350s", words.data, mended->compared);
	buf_release(&words);
	drop(h, p, config);
}

/* What answers are compared with: compiled once, however many answers there are. */
struct theirs {
	struct device *device;
	struct compiled own;
	struct numbers_kept kept;
};

static int theirs_forget(struct theirs *t, struct err *err)
{
	int rc = device_drop(t->device, &t->own, err);

	if (numbers_forget(&t->kept, t->device, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&t->own);
	return rc;
}

/* Compares the numbers of a configuration's program with those of the compiler's own. */
static int compare(struct hunt *h, struct theirs *t, const uint8_t *config, struct numbers *out, struct err *err)
{
	struct subject *u = &h->lab->subject;
	struct compiled tuned = {0};
	struct numbers_job job = {.device = t->device, .space = h->s, .original = &u->original, .config = config,
		.own = &t->own, .tuned = &tuned, .seconds = COMPARING_SECONDS, .how = h->lab->how, .kept = &t->kept};
	struct buf module = {0};
	int rc = lab_answer(h->lab, config, &module, err);

	job.module = h->lab->how >= COMPILE_CODEGEN ? &module : NULL; /* a form of the answer (form.h) */
	*out = (struct numbers){0};
	if (rc == 0 && !t->own.handle)
		rc = spare_compile(&u->opened.spares, t->device, COMPILE_DEFAULT, &u->original, 0, &t->own, err);
	if (rc == 0)
		rc = spare_compile(&u->opened.spares, t->device, h->lab->how, &module, 0, &tuned, err);
	if (rc == 0 && t->own.outcome == OUTCOME_OK)
		out->outcome = tuned.outcome;
	if (rc == 0 && t->own.outcome == OUTCOME_OK && tuned.outcome == OUTCOME_OK)
		rc = numbers_check(out, &job, err);
	if (device_drop(t->device, &tuned, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&tuned);
	buf_release(&module);
	return rc;
}

/* Returns all that this kind decided, and writes into `config` what is left without it. */
static struct ruled everything(const struct hunt *h, uint8_t *config)
{
	struct ruled all = {.change = h->running.value};

	space_default(h->s, config);
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		all.places += config[i] != h->config[i];
	return all;
}

static void words_for_all(const struct hunt *h, char *what, size_t room)
{
	snprintf(what, room, "the kind %s decided", h->s->ops->kind->name);
}

/* Takes everything back. */
static void give_up(struct hunt *h, const struct numbers *said)
{
	uint8_t *dflt = MEM_NEW(h->s->n_sites + 1, uint8_t);
	struct ruled all = everything(h, dflt);
	char what[100];

	words_for_all(h, what, sizeof what);
	note(h, what, all.places, said);
	drop(h, &all, dflt);
	mem_free(dflt);
}

/* By how much a kind of input refuses. */
static double excess(const struct numbers_on *on)
{
	if (on->unlike > on->unlike_allowed)
		return (double)on->unlike / (double)(1 + on->unlike_allowed);
	return on->allowed > 0 ? on->difference / on->allowed : 0;
}

/* Several rules in words: "follows the rules a, b". */
struct blamed {
	uint32_t rules, places;
	char what[sizeof ((struct hunt_withdrawn *)NULL)->what];
};

static void blame(struct blamed *b, const struct hunt *h, const struct ruled *p)
{
	size_t n = strlen(b->what);
	char name[80];

	ruled_name(h, p, name, sizeof name);
	snprintf(b->what + n, sizeof b->what - n, "%s%s", b->rules ? ", " : "", name);
	b->rules++;
	b->places += p->places;
}

/* Tries without each rule alone until the numbers are right. Sets helped[i] if they are less wrong without rule i. */
static int try_each(struct hunt *h, struct theirs *t, const struct ruled *part, size_t n, bool *helped, uint8_t *config,
	struct numbers *said, struct err *err)
{
	enum inputs first = t->kept.refused;
	const struct numbers was = *said;
	int rc = 0;

	for (size_t i = 0; n > 1 && i < n && rc == 0 && said->outcome != OUTCOME_OK; i++) {
		struct blamed b = {.what = "follows the rule "};
		blame(&b, h, &part[i]);
		talk("the numbers are refused: %s; once more without what %s", said->detail, b.what);
		ruled_without(h, part[i].rule, h->config, config + h->s->n_sites, config);
		t->kept.refused = first;
		rc = compare(h, t, config, said, err);
		helped[i] = rc == 0 && said->on[first].compared &&
			excess(&said->on[first]) < LESS * excess(&was.on[first]);
		if (rc == 0 && said->outcome == OUTCOME_OK) {
			note(h, b.what, b.places, &was);
			drop(h, &part[i], config);
		}
	}
	return rc;
}

/* Tries without all the rules that helped, if there are several. */
static int try_together(struct hunt *h, struct theirs *t, const struct ruled *part, size_t n, const bool *helped,
	uint8_t *config, struct numbers *said, struct err *err)
{
	struct blamed b = {.what = "follows the rules "};
	const struct numbers was = *said;
	int rc;

	memcpy(config, h->config, h->s->n_sites);
	for (size_t i = 0; i < n; i++)
		if (helped[i]) {
			ruled_without(h, part[i].rule, config, config + h->s->n_sites, config);
			blame(&b, h, &part[i]);
		}
	if (b.rules < 2)
		return 0;
	talk("the numbers are refused: %s; once more without what %s", said->detail, b.what);
	rc = compare(h, t, config, said, err);
	if (rc < 0 || said->outcome != OUTCOME_OK)
		return rc;
	note(h, b.what, b.places, &was);
	for (size_t i = 0; i < n; i++)
		if (helped[i])
			drop(h, &part[i], config);
	return 0;
}

/* The numbers of the hunt's configuration are refused, as *said says: takes back what makes them so. */
static int take_back(struct hunt *h, struct theirs *t, struct numbers *said, struct err *err)
{
	uint8_t *config = MEM_NEW(2 * h->s->n_sites + 1, uint8_t);
	bool helped[TRIES] = {false};
	const struct numbers was = *said;
	struct ruled *part;
	size_t n, tries;
	int rc;

	part = ruled_list(h, config + h->s->n_sites, &n);
	tries = n < TRIES ? n : TRIES;
	rc = try_each(h, t, part, tries, helped, config, said, err);
	if (rc == 0 && said->outcome != OUTCOME_OK)
		rc = try_together(h, t, part, tries, helped, config, said, err);
	if (rc == 0 && said->outcome != OUTCOME_OK) {
		talk("the numbers are refused: %s; so the program is left as it is", said->detail);
		give_up(h, &was);
	}
	mem_free(part);
	mem_free(config);
	return rc;
}

int mend_before_others(struct hunt *h, struct device *d, struct err *err)
{
	struct theirs t = {.device = d};
	struct numbers said;
	int rc;

	if (!h->s->ops->rule || device_info(d)->kind != COST_MEASURED || !device_info(d)->can_run)
		return 0;
	rc = compare(h, &t, h->config, &said, err);
	if (rc == 0 && said.outcome != OUTCOME_OK && !said.silent)
		rc = take_back(h, &t, &said, err);
	if (theirs_forget(&t, rc == 0 ? err : NULL) < 0)
		rc = -1;
	return rc;
}

static bool refused(const struct verdict *v)
{
	return v->outcome == OUTCOME_OK && v->numbers.outcome == OUTCOME_WRONG_NUMBERS && !v->numbers.silent;
}

/* Asks once more, of `config`, which is the hunt's without p. */
static int ask_without(struct verdict *v, struct hunt *h, const struct verdict_options *o, const struct ruled *p,
	const char *what, const uint8_t *config, struct err *err)
{
	struct verdict mended;
	int rc;

	talk("the numbers are refused: %s; once more without what %s", v->numbers.detail, what);
	rc = verdict_reach(&mended, h->lab, config, o, err);
	if (rc == 0 && mended.outcome == OUTCOME_OK && mended.numbers.outcome == OUTCOME_OK)
		adopt(v, h, p, what, config, &mended);
	return rc;
}

/* Asks without each rule of this kind, one at a time. `config` has room for two, and is all zero. */
static int mend_by_rules(struct verdict *v, struct hunt *h, const struct verdict_options *o, uint8_t *config,
	struct err *err)
{
	uint8_t *before = config + h->s->n_sites;
	char name[80], what[100];
	struct ruled *part;
	size_t n;
	int rc = 0;

	part = ruled_list(h, before, &n);
	for (size_t i = 0; n > 1 && i < n && i < TRIES && rc == 0 && refused(v) && !stop_asked(); i++) {
		ruled_name(h, &part[i], name, sizeof name);
		snprintf(what, sizeof what, "follows the rule %s", name);
		ruled_without(h, part[i].rule, h->config, before, config);
		rc = ask_without(v, h, o, &part[i], what, config, err);
	}
	mem_free(part);
	return rc;
}

/* Asks without anything that this kind decided. What is left is what the kinds before it made. */
static int mend_by_kind(struct verdict *v, struct hunt *h, const struct verdict_options *o, uint8_t *config,
	struct err *err)
{
	struct ruled all = everything(h, config);
	char what[100];

	words_for_all(h, what, sizeof what);
	return all.places ? ask_without(v, h, o, &all, what, config, err) : 0;
}

int mend_answer(struct verdict *v, struct hunt *h, const struct verdict_options *o, struct err *err)
{
	uint8_t *config = MEM_NEW(2 * h->s->n_sites + 1, uint8_t);
	int rc = 0;

	if (refused(v) && h->s->ops->rule)
		rc = mend_by_rules(v, h, o, config, err);
	if (rc == 0 && refused(v) && h->lab->derived && !stop_asked())
		rc = mend_by_kind(v, h, o, config, err);
	mem_free(config);
	return rc;
}
