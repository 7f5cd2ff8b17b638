/*
 * buf.c - growing bytes, little-endian numbers, and the cursor that reads them back.
 *
 * Numbers are put together from bytes with shifts, so the encoding does not depend on the machine;
 * compilers turn the loops into one load or store where they can.
 */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"

void buf_release(struct buf *b)
{
	mem_free(b->data);
	*b = (struct buf){0};
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_detach(struct buf *b, size_t *len)
{
	buf_reserve(b, 0);
	char *data = b->data;
	if (len)
		*len = b->len;
	*b = (struct buf){0};
	return data;
}

void buf_reserve(struct buf *b, size_t extra)
{
	size_t need;
	if (__builtin_add_overflow(b->len, extra, &need) || ++need == 0)
		BUG("buffer of %zu bytes asked to grow by %zu", b->len, extra);
	MEM_GROW(&b->data, &b->cap, need);
	b->data[b->len] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	buf_reserve(b, n);
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_addch(struct buf *b, int c)
{
	char ch = (char)c;
	buf_add(b, &ch, 1);
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	buf_reserve(b, 64);
	size_t room = b->cap - b->len;
	int n = vsnprintf(b->data + b->len, room, fmt, ap);
	if (n < 0)
		BUG("unprintable format %s", fmt);
	if ((size_t)n >= room) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
	}
	b->len += (size_t)n;
	va_end(again);
}

static void add_le(struct buf *b, uint64_t v, size_t bytes)
{
	uint8_t le[8];
	for (size_t i = 0; i < 8; i++)
		le[i] = (uint8_t)(v >> (8 * i));
	buf_add(b, le, bytes);
}

void buf_u8(struct buf *b, uint8_t v)
{
	add_le(b, v, 1);
}

void buf_u32(struct buf *b, uint32_t v)
{
	add_le(b, v, 4);
}

void buf_u64(struct buf *b, uint64_t v)
{
	add_le(b, v, 8);
}

void buf_f32(struct buf *b, float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof(bits));
	add_le(b, bits, 4);
}

void buf_f64(struct buf *b, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	add_le(b, bits, 8);
}

void buf_varint(struct buf *b, uint64_t v)
{
	while (v >= 0x80) {
		buf_u8(b, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	buf_u8(b, (uint8_t)v);
}

void buf_blob(struct buf *b, const void *p, size_t n)
{
	if (n > UINT32_MAX)
		BUG("blob of %zu bytes does not fit a 32-bit length", n);
	buf_u32(b, (uint32_t)n);
	buf_add(b, p, n);
}

void buf_str(struct buf *b, const char *s)
{
	buf_blob(b, s, strlen(s));
}

struct cursor cursor_of(const void *p, size_t n)
{
	static const uint8_t nothing;
	const uint8_t *start = p ? p : &nothing;
	return (struct cursor){.p = start, .end = start + (p ? n : 0)};
}

size_t cursor_left(const struct cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->p);
}

const void *cursor_bytes(struct cursor *c, size_t n)
{
	if (c->bad || n > cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	const uint8_t *p = c->p;
	c->p += n;
	return p;
}

static uint64_t read_le(struct cursor *c, size_t bytes)
{
	const uint8_t *p = cursor_bytes(c, bytes);
	uint64_t v = 0;
	for (size_t i = 0; p && i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)read_le(c, 1);
}

uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)read_le(c, 4);
}

uint64_t cursor_u64(struct cursor *c)
{
	return read_le(c, 8);
}

float cursor_f32(struct cursor *c)
{
	uint32_t bits = cursor_u32(c);
	float v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

double cursor_f64(struct cursor *c)
{
	uint64_t bits = read_le(c, 8);
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Ten bytes at most, and the tenth may only hold the one bit that is left. */
uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(c);
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return c->bad ? 0 : v;
	}
	c->bad = true;
	return 0;
}

uint32_t cursor_count(struct cursor *c, size_t size)
{
	uint32_t n = cursor_u32(c);
	if (size && n > cursor_left(c) / size)
		c->bad = true;
	return c->bad ? 0 : n;
}

const void *cursor_blob(struct cursor *c, size_t *n)
{
	uint32_t len = cursor_u32(c);
	const void *p = cursor_bytes(c, len);
	*n = p ? len : 0;
	return p;
}

char *cursor_str(struct cursor *c)
{
	size_t n;
	const void *p = cursor_blob(c, &n);
	char *s = mem_alloc(n + 1);
	if (p)
		memcpy(s, p, n);
	s[n] = '\0';
	return s;
}

bool cursor_done(const struct cursor *c)
{
	return !c->bad && c->p == c->end;
}
