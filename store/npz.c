/*
 * npz.c - writes NumPy's .npz.
 *
 * An entry's header stands before its data and holds their checksum, which is known only after them. So we
 * write the header with zeros, and patch it when the array is full. The file grows under a temporary name and
 * is renamed when it is whole.
 */
#include "store/npz.h"
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"

#define LIMIT 0xfffff000u

static uint32_t crc_add(uint32_t crc, const void *data, size_t n)
{
	static uint32_t table[256];
	const uint8_t *p = data;

	if (!table[1])
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t v = i;
			for (int k = 0; k < 8; k++)
				v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
			table[i] = v;
		}
	crc = ~crc;
	while (n--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void put16(struct buf *b, uint32_t v)
{
	buf_u8(b, (uint8_t)v);
	buf_u8(b, (uint8_t)(v >> 8));
}

static int put(struct npz *z, const void *p, size_t n, struct err *err)
{
	if (z->at + n > LIMIT)
		return err_set(err, "%s would be larger than 4 GiB: take fewer steps (--every), or one run (--run)",
			z->path);
	if (fwrite(p, 1, n, z->file) != n)
		return err_errno(err, "%s cannot be written", z->part);
	z->at += n;
	return 0;
}

int npz_open(struct npz *z, const char *path, struct err *err)
{
	int fd;

	*z = (struct npz){.path = mem_strdup(path)};
	fd = io_open_neighbour(path, &z->part, err);
	if (fd < 0) {
		npz_abandon(z);
		return -1;
	}
	z->file = fdopen(fd, "wb");
	BUG_ON(!z->file);
	return 0;
}

/* Writes the fields that local header and directory share, from "version needed" to the length of the extras. */
static void put_common(struct npz *z, struct buf *b, uint32_t crc, uint32_t size)
{
	put16(b, 20);
	put16(b, 0);	  /* flags */
	put16(b, 0);	  /* stored */
	put16(b, 0);	  /* time and date: 1980-01-01, so that equal contents give equal files */
	put16(b, 33);
	buf_u32(b, crc);
	buf_u32(b, size);
	buf_u32(b, size);
	put16(b, (uint32_t)strlen(z->name));
	put16(b, 0);
}

static int put_local(struct npz *z, uint32_t crc, uint32_t size, struct err *err)
{
	struct buf b = {0};
	int rc;

	buf_u32(&b, 0x04034b50);
	put_common(z, &b, crc, size);
	buf_adds(&b, z->name);
	rc = put(z, b.data, b.len, err);
	buf_release(&b);
	return rc;
}

static size_t item_size(const char *type)
{
	size_t n = 0;

	for (const char *p = type + 2; *p; p++)
		n = n * 10 + (size_t)(*p - '0');
	return n;
}

/* Writes magic, version and dictionary, padded so that the data are aligned. */
static void put_shape(struct buf *b, const char *type, const uint64_t *shape, int rank)
{
	size_t pad;

	buf_add(b, "\x93NUMPY\x01\0\0\0", 10);
	buf_addf(b, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
	for (int i = 0; i < rank; i++)
		buf_addf(b, "%llu,%s", (unsigned long long)shape[i], i + 1 < rank ? " " : "");
	buf_adds(b, "), }");
	pad = 63 - b->len % 64;
	buf_addf(b, "%*s\n", (int)pad, "");
	b->data[8] = (char)(b->len - 10);
	b->data[9] = (char)((b->len - 10) >> 8);
}

/* Ends a full array: patches its header, and adds its entry to the directory. */
static int finish(struct npz *z, struct err *err)
{
	uint64_t end = z->at;
	uint32_t size = (uint32_t)(end - z->start - 30 - strlen(z->name));

	BUG_ON(z->left != 0);
	if (fseeko(z->file, (off_t)z->start, SEEK_SET) < 0)
		return err_errno(err, "%s cannot be written", z->part);
	z->at = z->start;
	if (put_local(z, z->crc, size, err) < 0)
		return -1;
	z->at = end;
	if (fseeko(z->file, (off_t)end, SEEK_SET) < 0)
		return err_errno(err, "%s cannot be written", z->part);
	buf_u32(&z->directory, 0x02014b50);
	put16(&z->directory, 20);
	put_common(z, &z->directory, z->crc, size);
	put16(&z->directory, 0); /* comment */
	put16(&z->directory, 0); /* disk */
	put16(&z->directory, 0); /* attributes */
	buf_u32(&z->directory, 0);
	buf_u32(&z->directory, (uint32_t)z->start);
	buf_adds(&z->directory, z->name);
	z->n++;
	return 0;
}

int npz_array(struct npz *z, const char *name, const char *type, const uint64_t *shape, int rank, struct err *err)
{
	struct buf b = {0};
	int rc;

	if (z->name[0] && finish(z, err) < 0)
		return -1;
	snprintf(z->name, sizeof z->name, "%s.npy", name);
	z->start = z->at;
	z->crc = 0;
	put_shape(&b, type, shape, rank);
	z->left = item_size(type);
	for (int i = 0; i < rank; i++)
		z->left = shape[i] && z->left > LIMIT / shape[i] ? LIMIT : z->left * shape[i];
	if (z->left >= LIMIT)
		z->at = LIMIT; /* fails now, not after 4 GiB */
	z->left += b.len;
	rc = put_local(z, 0, 0, err) < 0 || npz_data(z, b.data, b.len, err) < 0 ? -1 : 0;
	buf_release(&b);
	return rc;
}

int npz_data(struct npz *z, const void *p, size_t n, struct err *err)
{
	BUG_ON(n > z->left);
	z->left -= n;
	z->crc = crc_add(z->crc, p, n);
	return n ? put(z, p, n, err) : 0;
}

static int put_directory(struct npz *z, struct err *err)
{
	struct buf b = {0};
	uint64_t at = z->at;
	int rc;

	buf_u32(&b, 0x06054b50);
	put16(&b, 0);
	put16(&b, 0);
	put16(&b, z->n);
	put16(&b, z->n);
	buf_u32(&b, (uint32_t)z->directory.len);
	buf_u32(&b, (uint32_t)at);
	put16(&b, 0);
	rc = (z->directory.len && put(z, z->directory.data, z->directory.len, err) < 0) ||
		put(z, b.data, b.len, err) < 0 ? -1 : 0;
	buf_release(&b);
	return rc;
}

int npz_close(struct npz *z, struct err *err)
{
	int rc = (z->name[0] && finish(z, err) < 0) || put_directory(z, err) < 0 ? -1 : 0;

	if (rc == 0 && (fflush(z->file) != 0 || fsync(fileno(z->file)) < 0))
		rc = err_errno(err, "%s cannot be written", z->part);
	if (rc == 0 && rename(z->part, z->path) < 0)
		rc = err_errno(err, "%s cannot be put in place", z->path);
	npz_abandon(z);
	return rc;
}

void npz_abandon(struct npz *z)
{
	if (z->file) {
		fclose(z->file);
		unlink(z->part); /* gone already where it was renamed */
	}
	mem_free(z->path);
	mem_free(z->part);
	buf_release(&z->directory);
	memset(z, 0, sizeof *z);
}
