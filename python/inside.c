/*
 * inside.c - a compiled program as one operation of a JAX program.
 *
 * jaxlib has a compiled way from Python to a program: it looks at the arguments' types, shapes and tree, allocates the
 * results, and makes arrays of them, in a few microseconds. Nothing that is written in Python comes near. So a small
 * program of jaxlib's is put around ours. It has one operation, a call of vantage_inside, to which jaxlib gives the
 * addresses of arguments and results (XLA's foreign function interface, version 0).
 *
 * PJRT cannot be told where to put results, so they are copied. Programs with large results are better called through
 * vantage_call_run. native.py chooses.
 *
 * The structures below are those of the interface, as far as they are read here. Each begins with its size and a list
 * of extensions. Later versions only add fields at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "python/call.h"

enum { EXTENSION_METADATA = 1, STAGE_EXECUTE = 3, CODE_INTERNAL = 13, ATTRIBUTE_SCALAR = 3 };

struct head {
	size_t size;
	struct extension *extensions;
};
struct extension {
	size_t size;
	int type;
	struct extension *next;
};
struct metadata { /* it is asked for once, when the function is registered */
	size_t size;
	struct { struct head head; int major, minor; } version;
};
struct metadata_extension {
	struct extension extension;
	struct metadata *metadata;
};
struct complaint {
	struct head head;
	const char *message;
	int code;
};
struct ffi {
	struct head head;
	struct { struct head head; int major, minor; } version;
	const void *internal;
	void *(*error)(struct complaint *);
};
struct buffer {
	struct head head;
	int type;
	void *data;
};
struct list { /* of arguments or results */
	struct head head;
	int64_t n;
	const int *types;
	struct buffer **at;
};
struct scalar {
	int type;
	const void *value;
};
struct attributes {
	struct head head;
	int64_t n;
	const int *types;
	const void *names;
	void **at;
};
struct frame {
	struct head head;
	const struct ffi *ffi;
	void *context;
	int stage;
	struct list in, out;
	struct attributes attributes;
};

void *vantage_inside(struct frame *f);

static void *complain(const struct frame *f, const char *message)
{
	struct complaint c = {.head.size = sizeof c, .message = message, .code = CODE_INTERNAL};

	return f->ffi->error(&c);
}

/* The program whose address is the only attribute. NULL if the call is not one of ours. */
static struct call *call_of(const struct frame *f)
{
	const struct attributes *a = &f->attributes;
	struct call *c;

	if (a->n != 1 || a->types[0] != ATTRIBUTE_SCALAR)
		return NULL;
	c = *(struct call *const *)((const struct scalar *)a->at[0])->value;
	if ((size_t)f->in.n != vantage_call_inputs(c) || (size_t)f->out.n != vantage_call_outputs(c))
		return NULL;
	return c;
}

/* What jaxlib calls: NULL, or an error of its own kind. */
void *vantage_inside(struct frame *f)
{
	struct extension *asked = f->head.extensions;
	struct call *c;
	char why[1024] = "out of memory";
	void **at, *error = NULL;

	if (asked && asked->type == EXTENSION_METADATA) {
		((struct metadata_extension *)asked)->metadata->version.major = 0;
		((struct metadata_extension *)asked)->metadata->version.minor = 1;
		return NULL;
	}
	if (f->stage != STAGE_EXECUTE)
		return NULL;
	c = call_of(f);
	if (!c)
		return complain(f, "a call of vantage's that is none");
	at = calloc((size_t)(f->in.n + f->out.n + 1), sizeof *at);
	for (int64_t i = 0; at && i < f->in.n; i++)
		at[i] = f->in.at[i]->data;
	for (int64_t i = 0; at && i < f->out.n; i++)
		at[f->in.n + i] = f->out.at[i]->data;
	if (!at || vantage_call_into(c, (const void *const *)at, at + f->in.n, why, sizeof why))
		error = complain(f, why);
	free(at);
	return error;
}
