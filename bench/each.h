/*
 * each.h - the main of a bench that goes through programs named on its command line, on one device.
 */
#ifndef BENCH_EACH_H
#define BENCH_EACH_H

#include "base/opt.h"
#include "device/device.h"

struct each_on { /* read after the options */
	int64_t core;
	const char *device;
};
#define EACH_ON {.core = -1, .device = "cpu"}
#define OPT_EACH_ON(on) \
	OPT_INT(0, "core", &(on)->core, -1, 1023, "core to use; -1: the least loaded"), \
		OPT_STR(0, "device", &(on)->device, "NAME", "cpu, NAME@VERSION, or the path of a plugin")

/* Calls `one` for each program, with `settings` as they are. */
static inline int each_program(const struct opt_program *prog, int argc, char **argv, const struct each_on *on,
	int (*one)(const char *path, struct device *d, const void *settings, struct err *err), const void *settings)
{
	struct device_options o = {0};
	struct device *d = NULL;
	struct err err = {0};
	int n = 0, rc;

	err_program(prog->name);
	rc = opt_parse(prog, argc, argv, &n, &err);
	o.core = (int)on->core + 1;
	o.backend = on->device;
	if (rc == 0 && !(d = device_open(&o, &err)))
		rc = -1;
	for (int i = 0; rc == 0 && i < n; i++)
		rc = one(argv[i], d, settings, &err);
	device_close(d);
	return rc < 0 ? err_exit(&err) : 0;
}

#endif
