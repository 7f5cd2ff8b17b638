/*
 * host.c - a device that is a worker process holding a plugin.
 */
#include "device/ops.h"

struct device *host_open(const struct device_options *o, struct err *err)
{
	err_set(err, "the backend %s is not available in this build", o->backend ? o->backend : "cpu");
	return NULL;
}
