/*
 * ffi.c - registers routines with a plugin, and reads what a compiled program calls them with.
 *
 * When a routine is registered, the plugin calls it once, with a frame that asks for the version of the interface that
 * the routine was built for. Within a major version the structs only grow at their ends, and we use the first version's
 * fields. So the answer is the plugin's own version.
 */
#include "device/worker/ffi.h"
#ifdef HAVE_PJRT
#include <string.h>
#include "hlo/op.h"

#define API_MAJOR 0
#define CODE_INTERNAL 13 /* of an error */

/* Does a struct of this size have the field? */
#define REACHES(size, type, field) ((size) >= offsetof(type, field) + sizeof(((type *)NULL)->field))

const struct ffi_extension *ffi_find(const PJRT_Api *api)
{
	for (const PJRT_Extension_Base *e = api->extension_start; e; e = e->next)
		if (e->type == PJRT_Extension_Type_FFI &&
			REACHES(e->struct_size, struct ffi_extension, register_handler)) {
			const struct ffi_extension *found = (const struct ffi_extension *)(const void *)e;
			return found->register_handler ? found : NULL;
		}
	return NULL;
}

PJRT_Error *ffi_register(const struct ffi_extension *e, const char *name, const char *platform, ffi_handler *handler)
{
	struct ffi_register_args a = {.struct_size = sizeof a,
		.name = name,
		.name_size = strlen(name),
		.platform = platform,
		.platform_size = strlen(platform)};

	*(ffi_handler **)&a.handler = handler;
	return e->register_handler(&a);
}

bool ffi_metadata(struct ffi_frame *f)
{
	struct ffi_metadata *m;

	if (!f->extra || f->extra->type != FFI_METADATA)
		return false;
	m = ((struct ffi_metadata_extra *)(void *)f->extra)->metadata;
	m->version.major = API_MAJOR;
	m->version.minor = f->api && f->api->version.major == API_MAJOR ? f->api->version.minor : 1;
	m->traits = 0;
	if (REACHES(m->struct_size, struct ffi_metadata, state_type))
		m->state_type = 0;
	return true;
}

int ffi_attribute(const struct ffi_frame *f, const char *name, int dtype, int64_t *out)
{
	const struct ffi_attributes *a = &f->attributes;

	for (int64_t i = 0; i < a->n; i++) {
		const struct ffi_scalar *s = a->value[i];
		if (a->name[i]->n != strlen(name) || memcmp(a->name[i]->data, name, a->name[i]->n) != 0)
			continue;
		if (a->type[i] != FFI_SCALAR || s->dtype != dtype)
			return -1;
		switch (dtype) {
		case DT_PRED:
		case DT_U8:
			*out = *(const uint8_t *)s->value;
			return 0;
		case DT_S32:
			*out = *(const int32_t *)s->value;
			return 0;
		default:
			return -1;
		}
	}
	return -1;
}

struct ffi_error *ffi_fail(const struct ffi_frame *f, const char *message)
{
	struct ffi_error_args a = {.struct_size = sizeof a, .message = message, .code = CODE_INTERNAL};

	return f->api->error_create(&a);
}
#endif
