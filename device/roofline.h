/*
 * roofline.h - how long a program would take: a performance model, exact and repeatable.
 */
#ifndef DEVICE_ROOFLINE_H
#define DEVICE_ROOFLINE_H

#include "graph/graph.h"

struct roofline { /* schemas/sim.def has the meanings */
#define SIM(field, ...) double field;
#include "schemas/sim.def"
#undef SIM
};
extern const struct roofline roofline_default;

/* Changes what the text of a description names; `name` is used in sentences. */
int roofline_parse(struct roofline *m, const char *text, const char *name, struct err *err);
int roofline_read(struct roofline *m, const char *path, struct err *err);

struct roofline_scratch { /* all zero is empty */
	double *asked;
	size_t cap;
};
void roofline_scratch_release(struct roofline_scratch *s);

/* Seconds of one run of one kernel: a fusion, or an instruction outside one. */
double roofline_kernel(const struct roofline *m, const struct graph *g, uint32_t v, struct roofline_scratch *s);
/* Seconds of one run of a program as it stands: every fusion, and every instruction outside one, a kernel. */
double roofline_seconds(const struct roofline *m, const struct graph *g, struct roofline_scratch *s);

#endif
