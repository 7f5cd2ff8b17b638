/*
 * check_buf.c - everything that is written can be read back; data that is cut off is marked bad, and no read goes
 * beyond its end.
 */
#include "base/buf.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/rng.h"
#include "tests/test.h"

static void text(void)
{
	struct buf b = {0};
	buf_adds(&b, "a");
	buf_addch(&b, 'b');
	buf_addf(&b, "%d%s", 12, "c");
	buf_add(&b, NULL, 0);
	CHECK_STR(b.data, "ab12c");
	CHECK_INT(b.len, 5);
	buf_reset(&b);
	CHECK_STR(b.data, "");
	for (int n = 0; n < 300; n++) { /* formatted text of every length around the first guess */
		buf_reset(&b);
		buf_addf(&b, "%*s", n, "");
		CHECK_INT(b.len, n);
		CHECK_INT(strlen(b.data), n);
	}
	buf_release(&b);
	CHECK(b.data == NULL && b.len == 0 && b.cap == 0);
	buf_release(&b);
}

static void detach_hands_over(void)
{
	struct buf b = {0};
	size_t n = 7;
	char *empty = buf_detach(&b, &n);
	CHECK_STR(empty, "");
	CHECK_INT(n, 0);
	free(empty);
	buf_adds(&b, "mine");
	char *mine = buf_detach(&b, NULL);
	CHECK_STR(mine, "mine");
	CHECK(b.data == NULL);
	free(mine);
}

/* Files hold these bytes, so they must never change. */
static void layout(void)
{
	struct buf b = {0};
	static const char want[] = "\x01\x04\x03\x02\x01\x08\x07\x06\x05\x04\x03\x02\x01"
				   "\0\0\0\0\0\0\xf8\xbf\xac\x02\x02\0\0\0hi";
	buf_u8(&b, 1);
	buf_u32(&b, 0x01020304);
	buf_u64(&b, 0x0102030405060708);
	buf_f64(&b, -1.5);
	buf_varint(&b, 300);
	buf_str(&b, "hi");
	CHECK_INT(b.len, sizeof(want) - 1);
	CHECK(memcmp(b.data, want, sizeof(want) - 1) == 0);
	buf_release(&b);
}

enum { U8, U32, U64, F64, VARINT, BLOB, KINDS };

/* Returns a value of random width, so that varints of all lengths occur. */
static uint64_t some_value(struct rng *r)
{
	return rng_u64(r) >> rng_below(r, 64);
}

static void write_one(struct buf *b, int kind, uint64_t v)
{
	double d;
	memcpy(&d, &v, sizeof(d));
	switch (kind) {
	case U8: buf_u8(b, (uint8_t)v); break;
	case U32: buf_u32(b, (uint32_t)v); break;
	case U64: buf_u64(b, v); break;
	case F64: buf_f64(b, d); break;
	case VARINT: buf_varint(b, v); break;
	case BLOB: buf_blob(b, &v, v % 9); break;
	}
}

/* Reads one value; true if it is the value that was written. */
static bool read_one(struct cursor *c, int kind, uint64_t v)
{
	double d;
	size_t n;
	const void *p;
	switch (kind) {
	case U8: return cursor_u8(c) == (uint8_t)v;
	case U32: return cursor_u32(c) == (uint32_t)v;
	case U64: return cursor_u64(c) == v;
	case F64: d = cursor_f64(c); return memcmp(&d, &v, sizeof(d)) == 0;
	case VARINT: return cursor_varint(c) == v;
	default: p = cursor_blob(c, &n); return p && n == v % 9 && memcmp(p, &v, n) == 0;
	}
}

static void reads_back(void)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct rng r, again;
		struct buf b = {0};
		rng_seed(&r, seed);
		again = r;
		for (int i = 0; i < 50; i++) {
			int kind = (int)rng_below(&r, KINDS);
			write_one(&b, kind, some_value(&r));
		}
		uint8_t *exact = mem_alloc(b.len);
		memcpy(exact, b.data, b.len);
		struct cursor c = cursor_of(exact, b.len);
		int wrong = 0;
		for (int i = 0; i < 50; i++) {
			int kind = (int)rng_below(&again, KINDS);
			wrong += !read_one(&c, kind, some_value(&again));
		}
		CHECK_INT(wrong, 0);
		CHECK(cursor_done(&c));
		CHECK_INT(cursor_u8(&c), 0);
		CHECK(c.bad && !cursor_done(&c));
		mem_free(exact);
		buf_release(&b);
	}
}

/* The bytes are cut at every length: some read goes bad, all reads after it give 0, and no read goes too far. */
static void truncated_is_bad(void)
{
	struct buf b = {0};
	for (int kind = 0; kind < KINDS; kind++)
		write_one(&b, kind, 0xfffffffffffffff8);
	for (size_t n = 0; n < b.len; n++) {
		uint8_t *exact = mem_alloc(n);
		memcpy(exact, b.data, n);
		struct cursor c = cursor_of(exact, n);
		for (int kind = 0; kind < KINDS; kind++)
			read_one(&c, kind, 0);
		CHECK(c.bad);
		CHECK(cursor_u64(&c) == 0 && cursor_varint(&c) == 0 && cursor_f64(&c) == 0);
		CHECK(cursor_count(&c, 1) == 0 && cursor_bytes(&c, 0) == NULL && cursor_left(&c) == 0);
		char *s = cursor_str(&c);
		CHECK_STR(s, "");
		mem_free(s);
		mem_free(exact);
	}
	buf_release(&b);
}

static void counts_are_bounded(void)
{
	struct buf b = {0};
	buf_u32(&b, 4);
	buf_u64(&b, 0);
	struct cursor c = cursor_of(b.data, b.len);
	CHECK_INT(cursor_count(&c, 2), 4); /* 4 items of 2 bytes in 8 bytes: just fits */
	c = cursor_of(b.data, b.len);
	CHECK_INT(cursor_count(&c, 3), 0);
	CHECK(c.bad);
	buf_reset(&b);
	buf_u32(&b, UINT32_MAX);
	c = cursor_of(b.data, b.len);
	char *s = cursor_str(&c); /* four billion bytes claimed, none there */
	CHECK_STR(s, "");
	CHECK(c.bad);
	mem_free(s);
	buf_release(&b);
}

static void overlong_varints_are_bad(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool bad;
		uint64_t value;
	} table[] = {
		{"\x00", 1, false, 0},
		{"\x7f", 1, false, 127},
		{"\x80\x01", 2, false, 128},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, false, UINT64_MAX},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, true, 0}, /* a 65th bit */
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, true, 0},
		{"\x80", 1, true, 0},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cursor c = cursor_of(table[i].bytes, table[i].n);
		CHECK(cursor_varint(&c) == table[i].value);
		CHECK_INT(c.bad, table[i].bad);
	}
}

static void nothing_is_readable(void)
{
	struct cursor c = cursor_of(NULL, 0);
	CHECK(cursor_done(&c));
	CHECK(cursor_bytes(&c, 0) != NULL && cursor_done(&c));
	CHECK(cursor_bytes(&c, SIZE_MAX) == NULL && c.bad);
}

int main(void)
{
	RUN(text);
	RUN(detach_hands_over);
	RUN(layout);
	RUN(reads_back);
	RUN(truncated_is_bad);
	RUN(counts_are_bounded);
	RUN(overlong_varints_are_bad);
	RUN(nothing_is_readable);
	return test_done();
}
