/*
 * estimate.c - finds the estimator of a backend in the table of schemas/estimate.def.
 */
#include "device/estimate.h"

#include <string.h>

#define estimate_optimal NULL

static const struct estimator estimators[] = {
#define ESTIMATE(backend, reader, whose, options, stop, left) {backend, estimate_##reader, whose, options, stop, left},
#include "schemas/estimate.def"
#undef ESTIMATE
};

const struct estimator *estimator_find(const char *backend)
{
	for (size_t i = 0; i < sizeof estimators / sizeof *estimators; i++)
		if (strcmp(estimators[i].backend, backend) == 0)
			return &estimators[i];
	return NULL;
}
