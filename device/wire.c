/*
 * wire.c - frames between host and worker.
 *
 * Both ends check a header before they believe it: a length above the limit or an unknown type
 * means that the stream is out of step, and nothing after it can be trusted.
 */
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "device/wire.h"

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void wire_header(uint8_t out[WIRE_HEADER], enum wire_type type, uint32_t id, size_t length)
{
	BUG_ON(length > WIRE_LIMIT);
	put32(out, (uint32_t)length);
	put32(out + 4, (uint32_t)type);
	put32(out + 8, id);
}

int wire_parse_header(const uint8_t in[WIRE_HEADER], struct frame *f, struct err *err)
{
	f->length = get32(in);
	f->type = get32(in + 4);
	f->id = get32(in + 8);
	if (f->length > WIRE_LIMIT)
		return err_set(err,
			"the other end of the worker's pipe announced a frame of %u bytes, more "
			"than the "
			"limit of %u",
			f->length, WIRE_LIMIT);
	if (f->type == 0 || f->type >= WIRE_TYPES)
		return err_set(err,
			"the other end of the worker's pipe sent a frame of unknown type %u",
			f->type);
	return 0;
}

int wire_send(int fd, enum wire_type type, uint32_t id, const struct buf *payload, struct err *err)
{
	uint8_t header[WIRE_HEADER];
	size_t n = payload ? payload->len : 0;
	if (n > WIRE_LIMIT)
		return err_set(
			err, "a frame of %zu bytes is more than the limit of %u", n, WIRE_LIMIT);
	wire_header(header, type, id, n);
	if (io_write_full(fd, header, sizeof header, err) < 0)
		return -1;
	return n ? io_write_full(fd, payload->data, n, err) : 0;
}

int wire_receive(int fd, struct frame *f, struct err *err)
{
	uint8_t header[WIRE_HEADER];
	int rc = io_read_full(fd, header, sizeof header, err);
	if (rc <= 0)
		return rc;
	if (wire_parse_header(header, f, err) < 0)
		return -1;
	buf_reset(&f->payload);
	if (f->length == 0)
		return 1;
	buf_reserve(&f->payload, f->length);
	rc = io_read_full(fd, f->payload.data, f->length, err);
	if (rc == 0)
		return err_set(err, "the other end of the worker's pipe closed inside a frame");
	f->payload.len = rc > 0 ? f->length : 0;
	return rc;
}

void wire_text(struct cursor *c, char *out, size_t n)
{
	size_t len;
	const char *p = cursor_blob(c, &len);
	if (len >= n)
		len = n - 1;
	if (len)
		memcpy(out, p, len);
	out[len] = 0;
}

void wire_blob(struct cursor *c, struct buf *out)
{
	size_t len;
	const void *p = cursor_blob(c, &len);
	if (len) /* an empty buf then needs no release */
		buf_add(out, p, len);
}
