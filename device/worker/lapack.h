/*
 * lapack.h - gives a plugin the routines of LAPACK that JAX calls in programs for a processor.
 */
#ifndef DEVICE_WORKER_LAPACK_H
#define DEVICE_WORKER_LAPACK_H

#include "device/worker/ffi.h"
#ifdef HAVE_PJRT

/*
 * Registers all of schemas/lapack.def for this platform of the plugin, as XLA names it. A plugin that cannot register
 * routines is left as it is. NULL, or the plugin's error.
 */
PJRT_Error *lapack_register(const PJRT_Api *api, const char *platform);
/* The routine of this name in a program, "lapack_spotrf_ffi"; NULL: there is none. */
ffi_handler *lapack_handler(const char *name);

#endif
#endif
