/*
 * buf.h - a growing string of bytes, and a bounded cursor to read one back.
 *
 * A buf is always followed by a NUL byte once something was added, so text can be used as a C
 * string. Numbers are written little-endian. The cursor never reads past its end: the first read
 * that would sets `bad`, and that read and all later ones give 0, so a decoder checks once, at the
 * end. Counts that come from outside go through cursor_count, which compares them with what remains.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf { /* all zero is an empty buf */
	char *data;
	size_t len, cap;
};

void buf_release(struct buf *b);		/* frees and empties */
void buf_reset(struct buf *b);			/* length 0, keeps the memory */
char *buf_detach(struct buf *b, size_t *len);	/* hands over the memory; len may be NULL */
void buf_reserve(struct buf *b, size_t extra);	/* room for that many more bytes */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_addch(struct buf *b, int c);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);

void buf_u8(struct buf *b, uint8_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_f32(struct buf *b, float v);
void buf_f64(struct buf *b, double v);
void buf_varint(struct buf *b, uint64_t v);		  /* LEB128 */
void buf_blob(struct buf *b, const void *p, size_t n);	  /* u32 length, then the bytes */
void buf_str(struct buf *b, const char *s);		  /* a blob without the NUL */

struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

struct cursor cursor_of(const void *p, size_t n);
size_t cursor_left(const struct cursor *c);
uint8_t cursor_u8(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
float cursor_f32(struct cursor *c);
double cursor_f64(struct cursor *c);
uint64_t cursor_varint(struct cursor *c);
/* Reads a u32 count of items that take at least `size` bytes each; bad if so many cannot fit in what remains. */
uint32_t cursor_count(struct cursor *c, size_t size);
/* n raw bytes in place, or NULL. */
const void *cursor_bytes(struct cursor *c, size_t n);
/* A blob in place: its bytes and length; NULL and 0 when bad. */
const void *cursor_blob(struct cursor *c, size_t *n);
/* A string, copied with its NUL; the caller frees. Never NULL ("" when bad). */
char *cursor_str(struct cursor *c);
/* True when everything was read, exactly, and nothing was bad. */
bool cursor_done(const struct cursor *c);

/*
 * A struct kept as bytes. Its fields are listed once, and both directions are expanded from the list, so
 * that writing and reading cannot disagree:
 *
 *	#define POINT(F) F(u64, evaluation) F(f64, seconds)
 *	static void save(const struct point *at, struct buf *out) { POINT(FIELD_SAVE) }
 *	static void load(struct point *at, struct cursor *in) { POINT(FIELD_LOAD) }
 *	... n = cursor_count(&in, 0 POINT(FIELD_SIZE));
 */
#define FIELD_SAVE(type, field) buf_##type(out, at->field);
#define FIELD_LOAD(type, field) at->field = cursor_##type(in);
#define FIELD_SIZE(type, field) +FIELD_SIZE_##type
enum { FIELD_SIZE_u8 = 1, FIELD_SIZE_u32 = 4, FIELD_SIZE_u64 = 8, FIELD_SIZE_f64 = 8 };

#endif
