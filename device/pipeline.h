/*
 * pipeline.h - lists the passes that a compiler runs, in order, and finds the one that decides.
 *
 * XLA prints the passes that it runs on stderr if it is asked to (pipeline_log): every pass, in order. A dump of
 * modules leaves out the passes that change nothing. A pass that holds others (a nested pipeline) is followed by those.
 */
#ifndef DEVICE_PIPELINE_H
#define DEVICE_PIPELINE_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/*
 * NAME=VALUE, up to a NULL, for the environment of the process that compiles. Our caller may have silenced XLA, as JAX
 * does.
 */
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
 * Appends the value for xla_enable_hlo_passes_only: the names of the passes after the one that decides, each once,
 * "a,b,c". A name enables its pass wherever it is. So a pass that also runs before the decision is left out: a
 * simplifier there may drop layouts, and would change a program that has them. The passes of a nested pipeline run in
 * any case, because the pipeline's own name enables all of it.
 */
void pipeline_after(const struct pipeline *p, struct buf *out);
/* The names that were left out. */
void pipeline_again(const struct pipeline *p, struct buf *out);

/* Writes it as text to keep. load returns -1 for a text that is not of this form. */
void pipeline_save(const struct pipeline *p, struct buf *out);
int pipeline_load(struct pipeline *p, const char *text, size_t n);

#endif
