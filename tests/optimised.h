/*
 * optimised.h - compiles a module with the real compiler, for tests that compare two results.
 */
#ifndef TESTS_OPTIMISED_H
#define TESTS_OPTIMISED_H

#include "device/device.h"
#include "tests/test.h"

/* Returns the hash of the optimised program; 0 if it does not compile. */
static inline uint64_t optimised(struct device *device, const struct buf *module)
{
	struct compiled c = {0};
	struct err err = {0};
	uint64_t hash = 0;
	if (!CHECK(device_compile(device, COMPILE_DEFAULT, "hlo", module->data, module->len, 0, &c, &err) == 0))
		printf("%s\n", err.text);
	else if (CHECK_INT(c.outcome, OUTCOME_OK))
		hash = c.hash;
	else
		printf("%s\n", c.detail);
	device_drop(device, &c, &err);
	compiled_release(&c);
	return hash;
}

#endif
