/*
 * proto.c - see proto.h.
 */
#include "base/proto.h"

enum { VARINT = 0, EIGHT_BYTES = 1, LENGTH = 2, FOUR_BYTES = 5 };

static void take_varint(struct cursor *c, struct proto_field *f)
{
	f->at = c->p;
	f->value = cursor_varint(c);
	f->width = (size_t)(c->p - f->at);
}

bool proto_next(struct cursor *c, struct proto_field *f)
{
	uint64_t tag, len;

	if (!cursor_left(c))
		return false;
	tag = cursor_varint(c);
	*f = (struct proto_field){.number = tag >> 3};
	switch (tag & 7) {
	case VARINT:
		take_varint(c, f);
		break;
	case EIGHT_BYTES:
		cursor_bytes(c, 8);
		break;
	case LENGTH:
		len = cursor_varint(c);
		if (len > cursor_left(c)) {
			c->bad = true;
			return false;
		}
		f->len = (size_t)len;
		f->data = f->len ? cursor_bytes(c, f->len) : (const uint8_t *)"";
		break;
	case FOUR_BYTES:
		cursor_bytes(c, 4);
		break;
	default:
		c->bad = true;
	}
	return !c->bad;
}

bool proto_next_packed(struct cursor *c, struct proto_field *f)
{
	if (!cursor_left(c))
		return false;
	*f = (struct proto_field){0};
	take_varint(c, f);
	return !c->bad;
}
