/*
 * gzip.c - unpacks gzip data through zlib.
 *
 * A gzip file is one or more members, one after the other; their contents are joined. As with zstd, memory
 * follows the data that is really there: output grows in pieces and stops one byte beyond the limit. Each
 * member's checksum is checked by zlib.
 */
#include "base/gzip.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#define PIECE 65536
#define WITH_GZIP_HEADER (16 + MAX_WBITS)

bool gzip_is(const void *p, size_t n)
{
	return n >= 3 && memcmp(p, "\x1f\x8b\x08", 3) == 0;
}

/* Gives zlib the next stretch of input: zlib's counter is narrower than size_t. */
static void feed(z_stream *z, size_t left)
{
	z->avail_in = left > UINT_MAX / 2 ? UINT_MAX / 2 : (uInt)left;
}

/* One call of inflate. Returns 1 at the end of the last member, 0 to go on, -1 on damage. */
static int inflate_some(z_stream *z, const uint8_t *end, size_t room, struct buf *out, struct err *err)
{
	size_t piece = out->len < PIECE ? PIECE : out->len;

	piece = piece > room ? room : piece;
	piece = piece > UINT_MAX / 2 ? UINT_MAX / 2 : piece;
	buf_reserve(out, piece);
	z->next_out = (Bytef *)out->data + out->len;
	z->avail_out = (uInt)piece;
	feed(z, (size_t)(end - z->next_in));
	int rc = inflate(z, Z_NO_FLUSH);
	size_t made = piece - z->avail_out;
	out->len += made;
	out->data[out->len] = '\0';
	if (rc == Z_STREAM_END)
		return z->next_in == end || inflateReset(z) != Z_OK;
	if (rc == Z_MEM_ERROR)
		BUG("zlib has no memory");
	if (rc != Z_OK && rc != Z_BUF_ERROR)
		return err_set(err, "damaged gzip data: %s", z->msg ? z->msg : "not the end it promises");
	if (z->next_in == end && made < piece)
		return err_set(err, "gzip data ends early");
	return 0;
}

int gzip_unpack(const void *p, size_t n, size_t limit, struct buf *out, struct err *err)
{
	const uint8_t *end = (const uint8_t *)p + n;
	size_t start = out->len;
	z_stream z = {.next_in = (Bytef *)(uintptr_t)p};
	int rc = 0;

	if (inflateInit2(&z, WITH_GZIP_HEADER) != Z_OK)
		BUG("zlib gave no stream");
	while (rc == 0) {
		size_t got = out->len - start;
		if (got > limit)
			rc = err_set(err, "unpacks to more than the limit of %zu bytes", limit);
		else
			rc = inflate_some(&z, end, limit - got + 1, out, err);
	}
	inflateEnd(&z);
	if (rc > 0 && out->len - start > limit)
		rc = err_set(err, "unpacks to more than the limit of %zu bytes", limit);
	return rc < 0 ? -1 : 0;
}
