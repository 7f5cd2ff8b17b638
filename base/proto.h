/*
 * proto.h - walks the fields of a protobuf message as they lie in its bytes, for readers that need few of them, or that
 * meet messages newer than our schema.
 *
 *	struct cursor c = cursor_of(p, n);
 *	struct proto_field f;
 *	while (proto_next(&c, &f))
 *		if (f.number == 3 && f.data) ...
 */
#ifndef BASE_PROTO_H
#define BASE_PROTO_H

#include "base/buf.h"

struct proto_field {
	uint64_t number;
	const uint8_t *data; /* of a field with a length, else NULL */
	size_t len;
	uint64_t value;	     /* of a varint ... */
	const uint8_t *at;   /* ... which begins here, else NULL */
	size_t width;	     /* and takes so many bytes */
};

/* The next field of a message: false at its end, and where it is broken, which is `bad` (cursor_done). */
bool proto_next(struct cursor *c, struct proto_field *f);
/* The next varint of a packed list, as a field of number 0. */
bool proto_next_packed(struct cursor *c, struct proto_field *f);

#endif
