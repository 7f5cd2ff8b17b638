/*
 * pipeline.h - the passes that a compiler runs, in their order, and where among them a kind of decision is made.
 *
 * XLA says on stderr which passes it runs when asked to (pipeline_log). That is every pass in its order, also
 * those that change nothing, which a dump of modules leaves out. A pass that holds others (a nested pipeline) is
 * followed by what it holds.
 */
#ifndef DEVICE_PIPELINE_H
#define DEVICE_PIPELINE_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* To be in the environment of the process that compiles, up to a NULL. Whoever called us may have silenced XLA: importing JAX does. */
extern const char *const pipeline_log[];

struct pipeline_step {
	const char *name;
	bool outermost; /* not a pass, but the beginning of a pipeline that no pass holds */
};

struct pipeline { /* all zero is empty */
	struct pipeline_step *step;
	size_t n, cap, decides; /* decides: the step that decides (pipeline_find) */
	struct arena mem;
};

/* Reads what the compiler printed, whatever else stands there. Without any pass n is 0. */
void pipeline_read(struct pipeline *p, const char *log, size_t n);
void pipeline_release(struct pipeline *p);

/* Finds the pass that decides, by a regular expression. -1 with a sentence where it is not run, or more than once. */
int pipeline_find(struct pipeline *p, const char *pass, struct err *err);

/*
 * What xla_enable_hlo_passes_only takes: the names of the passes behind the one that decides, each once, "a,b,c". A name
 * enables its pass wherever it stands, so one that also runs before the decision is left out: a simplifier that stands
 * there may forget layouts, and run on a program that has them it makes another of it. Those of a nested pipeline run
 * all the same, since its own name enables it whole.
 */
void pipeline_after(const struct pipeline *p, struct buf *out);
/* The names that were left out. */
void pipeline_again(const struct pipeline *p, struct buf *out);

/* As a text to keep; load says -1 to anything that is not such a text. */
void pipeline_save(const struct pipeline *p, struct buf *out);
int pipeline_load(struct pipeline *p, const char *text, size_t n);

#endif
