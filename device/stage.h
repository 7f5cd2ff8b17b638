/*
 * stage.h - where in a backend's pipeline a kind of decision is made (schemas/stage.def).
 */
#ifndef DEVICE_STAGE_H
#define DEVICE_STAGE_H

#include <stdbool.h>
#include "device/pipeline.h"

struct stage {
	const char *kind, *backend;
	const char *pass;    /* that decides, as a regular expression */
	const char *extract; /* debug options to dump the modules around it; DIR stands for the folder */
	const char *apply;   /* debug options that run only what follows it; PASSES stands for its passes */
	/* this stage decides which instructions share a kernel, and the probe proves that no later pass joins more */
	bool grouped;
	/* this stage decides how the optimised program is arranged in memory, and the compiler is stopped there */
	bool arranged;
};

/* Another way in which the compiler itself decides. */
struct stage_way {
	const char *kind, *backend, *name;
	const char *options; /* debug options that ask for it */
};
/* The other way at a stage; NULL if there is none. */
const struct stage_way *stage_way(const struct stage *s);

/* `kind` may be a full name ("fusion/binary"); NULL: the first that the backend has. NULL: there is none. */
const struct stage *stage_find(const char *kind, const char *backend);

/* The stage at which the backend arranges programs in memory; NULL: it has none. */
const struct stage *stage_arranging(const char *backend);

/* Are the passes to apply with to be read from the plugin? */
bool stage_wants_passes(const struct stage *s);
/* Appends `apply` with the passes that follow in p (pipeline_find was done). */
void stage_apply(const struct stage *s, const struct pipeline *p, struct buf *out);

#endif
