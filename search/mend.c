/*
 * mend.c - see the header. Rules are taken back one at a time, never two: the first answer whose numbers are right
 * stays.
 */
#include "search/mend.h"

#include <stdio.h>
#include "base/stop.h"
#include "base/talk.h"
#include "search/ruled.h"

#define COMPARING_SECONDS 30.0 /* as numbers_job.seconds */
#define TRIES 4 /* rules at most: each takes a compilation, and comparing the numbers */

/* The configuration without the rule becomes the hunt's. */
static void drop(struct hunt *h, const struct ruled *p, const uint8_t *config)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		h->hash = config_flip(h->config, h->hash, i, config[i]);
	h->running.value -= p->change;
	hunt_add_point(h);
}

/* The answer without the rule becomes the answer. */
static void adopt(struct verdict *v, struct hunt *h, const struct ruled *p, const uint8_t *config,
	const struct verdict *mended)
{
	struct numbers was = v->numbers;
	char name[80];

	ruled_name(h, p, name, sizeof name);
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
	struct ruled all = {.change = h->running.value};

	space_default(h->s, dflt);
	drop(h, &all, dflt);
	mem_free(dflt);
}

int mend_before_others(struct hunt *h, struct device *d, struct err *err)
{
	struct numbers said;
	struct ruled *part;
	uint8_t *config;
	size_t n;
	int rc;

	if (!h->s->ops->rule || device_info(d)->kind != COST_MEASURED || !device_info(d)->can_run)
		return 0;
	rc = compare(h, d, h->config, &said, err);
	if (rc < 0 || said.outcome == OUTCOME_OK || said.silent)
		return rc;
	config = MEM_NEW(2 * h->s->n_sites + 1, uint8_t);
	part = ruled_list(h, config + h->s->n_sites, &n);
	for (size_t i = 0; n > 1 && i < n && i < TRIES && rc == 0 && said.outcome != OUTCOME_OK; i++) {
		char name[80];
		ruled_name(h, &part[i], name, sizeof name);
		talk("the numbers are refused: %s; once more without what follows the rule %s", said.detail, name);
		ruled_without(h, part[i].rule, h->config, config + h->s->n_sites, config);
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
	struct ruled *part;
	uint8_t *config;
	size_t n;
	int rc = 0;

	if (v->outcome != OUTCOME_OK || v->numbers.outcome != OUTCOME_WRONG_NUMBERS || v->numbers.silent ||
		!h->s->ops->rule)
		return 0;
	config = MEM_NEW(2 * h->s->n_sites + 1, uint8_t);
	part = ruled_list(h, config + h->s->n_sites, &n);
	for (size_t i = 0; n > 1 && i < n && i < TRIES && rc == 0 && !stop_asked(); i++) {
		char name[80];
		ruled_name(h, &part[i], name, sizeof name);
		talk("the numbers are refused: %s; once more without what follows the rule %s", v->numbers.detail,
			name);
		ruled_without(h, part[i].rule, h->config, config + h->s->n_sites, config);
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
