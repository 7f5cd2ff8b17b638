/*
 * pool_fixture.h - a device with helpers on the fake plugin, and what they are to compile.
 */
#ifndef TESTS_POOL_FIXTURE_H
#define TESTS_POOL_FIXTURE_H

#include "device/pool_own.h"
#include "tests/device_fixture.h"

static inline struct device *pool_fixture_open(int jobs, bool quiet)
{
	struct device_options o = {.backend = fixture_plugin, .jobs = jobs, .quiet_pairs = quiet, .deadline = 60};
	struct err err = {{0}};
	struct device *d = device_open(&o, &err);

	if (!CHECK(d))
		printf("  %s\n", err.text);
	return d;
}

static inline void pool_fixture_expect(struct device *d, const char *const *script, size_t n, uint32_t copies)
{
	struct agenda agenda = {0};

	for (size_t i = 0; i < n; i++) {
		struct buf module = {0};
		fixture_program(script[i], &module);
		agenda_add(&agenda, &module, copies);
	}
	device_expect(d, &agenda);
	agenda_release(&agenda);
}

#endif
