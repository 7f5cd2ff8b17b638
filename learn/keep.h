/*
 * keep.h - decides, at the end of a training without --out, whether the new model replaces the one that search uses.
 *
 * The old model, which search uses now, is the user's, or else the shipped one (shelf.h). Both are judged on the same
 * decisions (judge.h): those of a sampler that neither model was trained on. If these are too few, all decisions are
 * taken that the new model was not trained on. That favours the old model, so the new one may still be found better,
 * but is then never called worse. The new model is put in place
 *
 * if it is better by the rule of judge.h,
 * if there is no old model that this program can use, unless the new one is worse than a random order,
 * if the user asked for it (force).
 *
 * Reading the old model, judging and writing are done under one lock. Of two trainings that end at once, the second is
 * judged against the first.
 */
#ifndef LEARN_KEEP_H
#define LEARN_KEEP_H

#include "learn/facts.h"
#include "learn/judge.h"

struct keep_options {
	bool force;
	uint32_t threads;
	/* The same data for a network with so many layers; called where the old model has another number of them. */
	int (*read)(void *ctx, uint32_t layers, struct dataset *out, struct err *err);
	void *ctx;
};

struct kept { /* all zero is empty; kept_release */
	bool placed;		/* the new model was put in place */
	bool forced;		/* it was put in place only because of --force */
	bool flattered;		/* the old one may have been trained on what it was judged on */
	struct judged judged;
	struct buf path;	/* the place */
	struct buf old_path;	/* empty: there was no old one */
	struct model *old;
	struct buf notes;	/* what could not be used: lines */
};

/* Refuses, before the work, a place that cannot be written. */
int keep_prepare(const struct dataset *ds, struct err *err);
/* `held`: per graph, not trained on as a whole. */
int keep(const struct dataset *ds, const bool *held, const struct model *fresh, const struct keep_options *o,
	struct kept *out, struct err *err);
void kept_release(struct kept *k);

/* What happened and why, with the figures: two or three lines. */
void kept_text(const struct kept *k, struct buf *out);
void kept_json(const struct kept *k, struct json *j, const char *key);

#endif
