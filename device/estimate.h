/*
 * estimate.h - what the compiler for a target says that a program would take (schemas/estimate.def).
 *
 * It is the opinion of a model, never a time: whoever prints it says whose.
 */
#ifndef DEVICE_ESTIMATE_H
#define DEVICE_ESTIMATE_H

#include "base/err.h"
#include "base/outcome.h"
#include "device/sim/roofline.h"

/* A program's price, and who gave it. */
struct priced { /* all zero is empty */
	double seconds;
	uint32_t kernels;  /* that are started, loops counted once; of those */
	uint32_t modelled; /* ... priced by the compiler's model, */
	uint32_t ours;	   /* ... and by our roofline, where it has none */
	double our_seconds; /* of `seconds` */
	enum outcome outcome; /* refused: it holds a kernel whose price means nothing */
	char detail[200];
};

struct estimator {
	const char *backend;
	void (*read)(const struct graph *g, const char *target, struct priced *out); /* NULL: the plugin's own figure counts */
	const char *whose;
	const char *options; /* make the compiler write its prices */
	const char *stop;    /* stop it before code is generated; "": it goes to its end */
	const char *left;    /* the end of the name of the file that is left then */
};

/* NULL: nobody estimates anything there. */
const struct estimator *estimator_find(const char *backend);

/* estimate_reified.c: the prices that XLA:GPU writes beside each kernel. */
void estimate_reified(const struct graph *g, const char *target, struct priced *out);

#endif
