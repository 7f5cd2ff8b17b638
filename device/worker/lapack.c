/*
 * lapack.c - the routines of LAPACK that a program may call, by their names.
 *
 * jaxlib registers these names in its own process, with the OpenBLAS that SciPy brings along. A bare plugin has none of
 * them, and refuses the program. So the worker registers its own, made of the OpenBLAS that vantage is linked with.
 * They keep jaxlib's conventions: what is overwritten, how much memory LAPACK works in, and what its verdict (info) is.
 * The verdict is a result, and what becomes of it is up to the program: JAX puts NaN where a routine failed.
 *
 * OpenBLAS is loaded when a program first calls one, because it is large and few programs do. It has one thread
 * (schemas/backend.def sets its environment), as its other threads would run on cores that nobody gave us.
 */
#include "device/worker/lapack.h"
#ifdef HAVE_PJRT
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "device/worker/lapack_own.h"

static const char letters[] = "sdcz";
enum { TYPES = sizeof letters - 1 };

static const struct lapack_row rows[LAPACK_ROUTINES] = {
#define ROUTINE(function, real, complex, arguments, results, complex_results, copies) \
	{{real, complex}, arguments, {results, complex_results}, copies},
#include "schemas/lapack.def"
#undef ROUTINE
};

static int (*const functions[LAPACK_ROUTINES])(struct lapack_call *c) = {
#define ROUTINE(function, ...) lapack_##function,
#include "schemas/lapack.def"
#undef ROUTINE
};

static const char *name_of(enum lapack_routine r, unsigned type)
{
	return rows[r].name[letters[type] == 'c' || letters[type] == 'z'];
}

/* OpenBLAS, once a program has called it. */
static struct {
	pthread_once_t once;
	void (*code[LAPACK_ROUTINES][TYPES])(void);
	char why[200]; /* it is not there */
} blas = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
	static const char *const files[] = {"libopenblas.so.0", "libopenblas.so"};
	void *library = NULL;
	char name[32];

	for (size_t i = 0; i < sizeof files / sizeof *files && !library; i++)
		library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(blas.why, sizeof blas.why, "OpenBLAS cannot be loaded (%.150s)", dlerror());
		return;
	}
	for (unsigned r = 0; r < LAPACK_ROUTINES; r++)
		for (unsigned t = 0; t < TYPES; t++) {
			snprintf(name, sizeof name, "%c%s_", letters[t], name_of(r, t));
			*(void **)&blas.code[r][t] = dlsym(library, name);
		}
	snprintf(blas.why, sizeof blas.why, "the OpenBLAS here was built without it");
}

static struct ffi_error *answer(struct ffi_frame *f, enum lapack_routine r)
{
	struct lapack_call c = {.frame = f, .routine = r};
	char text[300];
	int rc;

	if (ffi_metadata(f) || f->stage != FFI_EXECUTE)
		return NULL;
	rc = lapack_begin(&c, &rows[r]);
	if (rc == 0) {
		pthread_once(&blas.once, load);
		c.code = blas.code[r][c.type];
		rc = c.code ? functions[r](&c) : lapack_wrong(&c, blas.why);
	}
	lapack_end(&c);
	if (rc == 0)
		return NULL;
	snprintf(text, sizeof text, "LAPACK's %s cannot be called: %s", rows[r].name[c.complex], c.why);
	return ffi_fail(f, text);
}

/* A plugin calls a routine with nothing that tells which one it is. */
#define ROUTINE(function, ...) \
	static struct ffi_error *call_##function(struct ffi_frame *f) \
	{ \
		return answer(f, LAPACK_##function); \
	}
#include "schemas/lapack.def"
#undef ROUTINE

static ffi_handler *const handlers[LAPACK_ROUTINES] = {
#define ROUTINE(function, ...) call_##function,
#include "schemas/lapack.def"
#undef ROUTINE
};

static void program_name(enum lapack_routine r, unsigned type, char name[32])
{
	snprintf(name, 32, "lapack_%c%s_ffi", letters[type], name_of(r, type));
}

ffi_handler *lapack_handler(const char *name)
{
	char own[32];

	for (unsigned r = 0; r < LAPACK_ROUTINES; r++)
		for (unsigned t = 0; t < TYPES; t++) {
			program_name(r, t, own);
			if (strcmp(own, name) == 0)
				return handlers[r];
		}
	return NULL;
}

PJRT_Error *lapack_register(const PJRT_Api *api, const char *platform)
{
	const struct ffi_extension *e = ffi_find(api);
	PJRT_Error *error = NULL;
	char name[32];

	for (unsigned r = 0; r < LAPACK_ROUTINES && e && !error; r++)
		for (unsigned t = 0; t < TYPES && !error; t++) {
			program_name(r, t, name);
			error = ffi_register(e, name, platform, handlers[r]);
		}
	return error;
}
#endif
