/*
 * report.h - writes a page about a training: how it went, and how far its predictions can be trusted.
 */
#ifndef LEARN_REPORT_H
#define LEARN_REPORT_H

#include "learn/dataset.h"
#include "learn/eval.h"
#include "learn/train.h"

struct report_curve { /* one training */
	const char *without;	/* the graph held out; NULL when that is not what it is about */
	struct train_result result;
};

struct report { /* everything is borrowed */
	const struct dataset *ds;
	const struct evaluation *eval;
	const struct report_curve *curve; /* none when a model was read from a file */
	size_t n_curves;
	const char *model;	/* path, or NULL */
	const char *kept;	/* what became of it, sentences; or NULL */
	const char *facts;	/* its provenance, JSON; or NULL */
	bool seen;		/* some of the graphs evaluated were trained on */
};
void report_page(const struct report *r, struct buf *b);

#endif
