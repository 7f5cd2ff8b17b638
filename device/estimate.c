/*
 * estimate.c - finds the estimator of a backend in the table of schemas/estimate.def.
 */
#include "device/estimate.h"

#include <string.h>

#define estimate_cycles_each NULL
#define estimate_reified_each NULL

static const struct estimator estimators[] = {
#define ESTIMATE(backend, reader, whose, options, stop, left, brief) \
	{backend, estimate_##reader, NULL, estimate_##reader##_each, whose, options, stop, left, brief},
#define SCHEDULED(backend, reader, whose, options, left) \
	{backend, NULL, estimate_##reader, NULL, whose, "", options, left, ""},
#include "schemas/estimate.def"
};

const char *estimate_screen(const char *backend)
{
	static const struct {
		const char *backend, *screen;
	} screens[] = {
#define SCREEN(...) {__VA_ARGS__},
#include "schemas/estimate.def"
	};

	for (size_t i = 0; i < sizeof screens / sizeof *screens; i++)
		if (strcmp(screens[i].backend, backend) == 0)
			return screens[i].screen;
	return NULL;
}

const struct estimator *estimator_find(const char *backend, struct spread spread)
{
	const struct estimator *found = NULL;

	for (size_t i = 0; i < sizeof estimators / sizeof *estimators; i++) {
		const struct estimator *e = &estimators[i];
		if (strcmp(e->backend, backend) == 0 && (!e->schedule || spread_devices(spread) > 1))
			found = e; /* one for several devices comes later, and counts for these */
	}
	return found;
}
