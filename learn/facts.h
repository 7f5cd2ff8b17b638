/*
 * facts.h - gathers, after a training, what a model was trained on, and tells it to people and to programs.
 */
#ifndef LEARN_FACTS_H
#define LEARN_FACTS_H

#include "base/json.h"
#include "base/opt.h"
#include "learn/dataset.h"
#include "learn/model.h"
#include "learn/fit.h"

struct training { /* everything is borrowed */
	const struct dataset *ds;
	const struct opt_list *databases;
	const struct fit_options *options;
	const struct train_result *result;
	const bool *held;  /* per graph of the dataset: not trained on */
	double kernel_us;  /* as it was asked for */
	bool apart;	   /* the decisions that apart.h names were kept from it */
};

/* Fills `out`, which owns what it is given; model_facts_release. */
void facts_of(const struct training *t, struct model_facts *out);

/*
 * How many programs it was trained on, and of how many decisions; those held out do not count. One that changed
 * between two collections is listed twice under its name, and counts once.
 */
uint32_t facts_trained_on(const struct model_facts *f, uint64_t *decisions);
/* "4634 decisions of 10 programs, measured 2026-11-20 to 2026-11-21 on AMD EPYC, 2 cores, ..." */
void facts_text(const struct model_facts *f, struct buf *out);
void facts_json(const struct model_facts *f, struct json *j, const char *key);

/* Was the model trained on decisions of this program? A model of format 1 does not say. */
enum facts_seen { SEEN_NOT, SEEN, SEEN_UNKNOWN };
enum facts_seen facts_seen(const struct model_facts *f, const struct digest *content);
/* "this program was one of them", ...; for JSON "no", "yes", "unknown". */
const char *facts_seen_text(enum facts_seen s);
const char *facts_seen_name(enum facts_seen s);

#endif
