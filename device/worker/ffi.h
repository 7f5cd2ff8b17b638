/*
 * ffi.h - XLA's interface for routines that are called by a compiled program, as its C header xla/ffi/api/c_api.h
 * declares it, and PJRT's extension that registers such routines. No plugin ships these two headers, so the structs are
 * declared here, with what we use of them: the order of their fields is a fact. New versions only add fields at the
 * end, and each struct says how long it is.
 *
 *	ffi_find	the plugin's extension
 *	ffi_register	registers a routine under a name
 *	ffi_metadata	answers the plugin's question about a routine, if that is what the call is
 *	ffi_attribute	an attribute that is a number
 *	ffi_fail	an error to return
 */
#ifndef DEVICE_WORKER_FFI_H
#define DEVICE_WORKER_FFI_H

#include <stddef.h>
#ifdef HAVE_PJRT
#include <pjrt_c_api.h>

struct ffi_extra { /* other structs may follow one, in a list */
	size_t struct_size;
	int type;
	struct ffi_extra *next;
};

struct ffi_span {
	const char *data;
	size_t n;
};

struct ffi_buffer {
	size_t struct_size;
	struct ffi_extra *extra;
	int dtype; /* XLA's number of it (schemas/dtype.def) */
	void *data;
	int64_t rank, *dims;
};

struct ffi_list { /* of arguments, or of results */
	size_t struct_size;
	struct ffi_extra *extra;
	int64_t n;
	int *type; /* FFI_BUFFER */
	struct ffi_buffer **value;
};
enum { FFI_BUFFER = 1 };

struct ffi_scalar {
	int dtype;
	void *value;
};

struct ffi_attributes { /* sorted by name */
	size_t struct_size;
	struct ffi_extra *extra;
	int64_t n;
	int *type;
	struct ffi_span **name;
	void **value; /* a struct ffi_scalar, where the type is FFI_SCALAR */
};
enum { FFI_SCALAR = 3 };

struct ffi_version {
	size_t struct_size;
	struct ffi_extra *extra;
	int major, minor;
};

struct ffi_error;
struct ffi_error_args {
	size_t struct_size;
	struct ffi_extra *extra;
	const char *message;
	int code;
};

struct ffi_api {
	size_t struct_size;
	struct ffi_extra *extra;
	struct ffi_version version;
	const void *internal;
	struct ffi_error *(*error_create)(struct ffi_error_args *args);
};

struct ffi_frame { /* a call */
	size_t struct_size;
	struct ffi_extra *extra;
	const struct ffi_api *api;
	void *context;
	int stage;
	struct ffi_list in, out;
	struct ffi_attributes attributes;
};
enum { FFI_EXECUTE = 3 };

struct ffi_metadata {
	size_t struct_size;
	struct ffi_version version;
	uint32_t traits;
	int64_t state_type;
};
struct ffi_metadata_extra {
	struct ffi_extra base;
	struct ffi_metadata *metadata;
};
enum { FFI_METADATA = 1 };

/* A routine: NULL, or an error that the plugin takes over. */
typedef struct ffi_error *ffi_handler(struct ffi_frame *f);

struct ffi_register_args {
	size_t struct_size;
	const char *name;
	size_t name_size;
	void *handler;
	const char *platform;
	size_t platform_size;
	int traits;
};

struct ffi_extension {
	PJRT_Extension_Base base;
	void *type_register, *user_data_add;
	PJRT_Error *(*register_handler)(struct ffi_register_args *args);
};

/* NULL: the plugin has none that registers routines. */
const struct ffi_extension *ffi_find(const PJRT_Api *api);
PJRT_Error *ffi_register(const struct ffi_extension *e, const char *name, const char *platform, ffi_handler *handler);
/* True if the call only asks what the routine is; the answer is then in the frame. */
bool ffi_metadata(struct ffi_frame *f);
/* Puts the number into *out; -1 if the call has none of this name and of this type, which XLA numbers. */
int ffi_attribute(const struct ffi_frame *f, const char *name, int dtype, int64_t *out);
struct ffi_error *ffi_fail(const struct ffi_frame *f, const char *message);

#endif
#endif
