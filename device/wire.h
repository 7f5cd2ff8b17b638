/*
 * wire.h - frames between host and worker, see schemas/worker.md.
 *
 * A frame is a header of 12 bytes (u32 payload length, u32 type, u32 request number, little-endian)
 * and the payload. The socket is never blocking without a deadline on the host's side; the worker
 * simply blocks.
 */
#ifndef DEVICE_WIRE_H
#define DEVICE_WIRE_H

#include "base/buf.h"
#include "base/err.h"

#define WIRE_PROTOCOL 14u /* schemas/worker.md says the same */
#define WIRE_FD 3 /* the worker's end of the socket pair */
#define WIRE_HEADER 12u
#define WIRE_LIMIT ((uint32_t)1 << 30) /* of a payload */

enum wire_type {
	WIRE_SETUP = 1, /* the first: which plugin, which core */
	WIRE_COMPILE,
	WIRE_DROP,
	WIRE_MEASURE,
	WIRE_COMPARE,
	WIRE_QUIT,
	WIRE_TYPES
};

struct frame {
	uint32_t length, type, id;
	struct buf payload;
};

/* Sends one frame on a blocking socket. */
int wire_send(int fd, enum wire_type type, uint32_t id, const struct buf *payload, struct err *err);
/* Returns 1 with a frame, whose payload replaces the old one; 0 at a clean end; -1 for a frame cut off or nonsense. */
int wire_receive(int fd, struct frame *f, struct err *err);

void wire_header(uint8_t out[WIRE_HEADER], enum wire_type type, uint32_t id, size_t length);
/* Fills length, type and id; refuses a length above WIRE_LIMIT and types that do not exist. */
int wire_parse_header(const uint8_t in[WIRE_HEADER], struct frame *f, struct err *err);

/* cursor_str into a fixed place, cut if too long. */
void wire_text(struct cursor *c, char *out, size_t n);
/* A blob copied into an empty buf. */
void wire_blob(struct cursor *c, struct buf *out);

#endif
