/*
 * mend.c - see the header. Rules are taken back one at a time, never two: the first answer whose numbers are right
 * stays.
 */
#include "search/mend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/stop.h"
#include "base/talk.h"

#define COMPARING_SECONDS 30.0 /* as numbers_job.seconds */
#define TRIES 4 /* rules at most: each takes a compilation, and comparing the numbers */

struct part { /* what follows one rule */
	uint32_t rule, site, places; /* site: one of them */
	double change;		     /* believed: seconds of the program by the steps that took its choices */
};

static uint32_t rule_of(const struct hunt *h, uint32_t site, uint8_t choice)
{
	return choice ? h->s->ops->rule(h->s, site, choice) : 0;
}

static struct part *part_of(struct part *v, size_t n, uint32_t rule)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].rule == rule)
			return &v[i];
	return NULL;
}

static int by_change(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->change != y->change)
		return x->change < y->change ? 1 : -1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

/* Lists the rules that the answer follows, the one that is believed to gain least first. */
static struct part *list_parts(const struct hunt *h, size_t *n)
{
	struct part *v = NULL;
	size_t cap = 0;

	*n = 0;
	for (uint32_t i = 0; i < h->s->n_sites; i++) {
		uint32_t rule = rule_of(h, i, h->config[i]);
		struct part *p = part_of(v, *n, rule);
		if (rule == 0)
			continue;
		if (!p) {
			MEM_GROW(&v, &cap, *n + 1);
			p = &v[(*n)++];
			*p = (struct part){.rule = rule, .site = i};
		}
		p->places++;
	}
	for (size_t k = 0; k < h->n_steps; k++) {
		const struct hunt_step *s = &h->steps[k];
		struct part *p = part_of(v, *n, rule_of(h, s->site, s->to ? s->to : s->from));
		if (p)
			p->change += s->delta;
	}
	if (*n)
		qsort(v, *n, sizeof *v, by_change);
	return v;
}

/* The rule's name: what comes before the colon in the words for a choice. */
static void name_rule(const struct hunt *h, const struct part *p, char *name, size_t room)
{
	struct buf words = {0};

	if (h->s->ops->words)
		h->s->ops->words(h->s, p->site, h->config[p->site], &words);
	snprintf(name, room, "%.*s", (int)strcspn(words.len ? words.data : "", ":"), words.len ? words.data : "");
	buf_release(&words);
}

static void take_back(const struct hunt *h, uint32_t rule, uint8_t *config)
{
	memcpy(config, h->config, h->s->n_sites);
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		if (rule_of(h, i, config[i]) == rule)
			config[i] = 0;
}

/* The configuration without the rule becomes the hunt's. */
static void drop(struct hunt *h, const struct part *p, const uint8_t *config)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		h->hash = config_flip(h->config, h->hash, i, config[i]);
	h->running.value -= p->change;
	hunt_add_point(h);
}

/* The answer without the rule becomes the answer. */
static void adopt(struct verdict *v, struct hunt *h, const struct part *p, const uint8_t *config,
	const struct verdict *mended)
{
	struct numbers was = v->numbers;
	char name[80];

	name_rule(h, p, name, sizeof name);
	*v = *mended;
	snprintf(v->compared, sizeof v->compared,
		"What follows the rule %s was taken back in %u place%s: with it, %.250s. %.350s", name, p->places,
		p->places == 1 ? "" : "s", was.detail, mended->compared);
	drop(h, p, config);
}

/* Compares the numbers of a configuration's program with those of the compiler's own, both compiled if need be. */
static int compare(struct hunt *h, struct device *d, const uint8_t *config, struct numbers *out, struct err *err)
{
	struct subject *u = &h->lab->subject;
	struct compiled own = {0}, tuned = {0};
	struct numbers_job job = {d, h->s, &u->original, config, NULL, &own, &tuned, COMPARING_SECONDS,
		h->lab->how};
	struct buf module = {0};
	int rc = lab_answer(h->lab, config, &module, err);

	job.module = h->lab->how >= COMPILE_CODEGEN ? &module : NULL; /* a form of the answer (form.h) */
	*out = (struct numbers){0};
	if (rc == 0)
		rc = spare_compile(&u->opened.spares, d, COMPILE_DEFAULT, &u->original, 0, &own, err);
	if (rc == 0)
		rc = spare_compile(&u->opened.spares, d, h->lab->how, &module, 0, &tuned, err);
	if (rc == 0 && own.outcome == OUTCOME_OK)
		out->outcome = tuned.outcome;
	if (rc == 0 && own.outcome == OUTCOME_OK && tuned.outcome == OUTCOME_OK)
		rc = numbers_check(out, &job, err);
	if (device_drop(d, &own, rc == 0 ? err : NULL) < 0 || device_drop(d, &tuned, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&own);
	compiled_release(&tuned);
	buf_release(&module);
	return rc;
}

/* Takes everything back. */
static void give_up(struct hunt *h)
{
	uint8_t *dflt = MEM_NEW(h->s->n_sites + 1, uint8_t);
	struct part all = {.change = h->running.value};

	space_default(h->s, dflt);
	drop(h, &all, dflt);
	mem_free(dflt);
}

int mend_before_others(struct hunt *h, struct device *d, struct err *err)
{
	struct numbers said;
	struct part *part;
	uint8_t *config;
	size_t n;
	int rc;

	if (!h->s->ops->rule || device_info(d)->kind != COST_MEASURED || !device_info(d)->can_run)
		return 0;
	rc = compare(h, d, h->config, &said, err);
	if (rc < 0 || said.outcome == OUTCOME_OK || said.silent)
		return rc;
	part = list_parts(h, &n);
	config = MEM_NEW(h->s->n_sites + 1, uint8_t);
	for (size_t i = 0; n > 1 && i < n && i < TRIES && rc == 0 && said.outcome != OUTCOME_OK; i++) {
		char name[80];
		name_rule(h, &part[i], name, sizeof name);
		talk("the numbers are refused: %s; once more without what follows the rule %s", said.detail, name);
		take_back(h, part[i].rule, config);
		rc = compare(h, d, config, &said, err);
		if (rc == 0 && said.outcome == OUTCOME_OK)
			drop(h, &part[i], config);
	}
	if (rc == 0 && said.outcome != OUTCOME_OK) {
		talk("the numbers are refused: %s; so the program is left as it is", said.detail);
		give_up(h);
	}
	mem_free(part);
	mem_free(config);
	return rc;
}

int mend_answer(struct verdict *v, struct hunt *h, const struct verdict_options *o, struct err *err)
{
	struct verdict mended;
	struct part *part;
	uint8_t *config;
	size_t n;
	int rc = 0;

	if (v->outcome != OUTCOME_OK || v->numbers.outcome != OUTCOME_WRONG_NUMBERS || v->numbers.silent ||
		!h->s->ops->rule)
		return 0;
	part = list_parts(h, &n);
	config = MEM_NEW(h->s->n_sites + 1, uint8_t);
	for (size_t i = 0; n > 1 && i < n && i < TRIES && rc == 0 && !stop_asked(); i++) {
		char name[80];
		name_rule(h, &part[i], name, sizeof name);
		talk("the numbers are refused: %s; once more without what follows the rule %s", v->numbers.detail,
			name);
		take_back(h, part[i].rule, config);
		rc = verdict_reach(&mended, h->lab, config, o, err);
		if (rc == 0 && mended.outcome == OUTCOME_OK && mended.numbers.outcome == OUTCOME_OK) {
			adopt(v, h, &part[i], config, &mended);
			break;
		}
	}
	mem_free(part);
	mem_free(config);
	return rc;
}
