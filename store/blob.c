/*
 * blob.c - keeps large bytes by their content.
 *
 * A blob that cannot be unpacked years later is worth nothing. So we read it back, unpack it and check
 * its hash before the transaction that holds it can be committed, and again whenever it is read.
 */
#include "store/blob.h"
#include <string.h>
#include "base/io.h"

int blob_get(struct store *s, int64_t id, struct buf *out, struct digest *hash, struct err *err)
{
	size_t before = out->len, size;
	struct digest want, got;
	sqlite3_stmt *q = sql_query(s, err, "SELECT hash, size, data FROM blob WHERE id = ?", "i", id);
	int rc;

	if (!q || (rc = sql_step(s, q, err)) < 0)
		return -1;
	if (rc == 0)
		return err_set(err, "%s: blob %lld is missing: the file is damaged", s->path, (long long)id);
	size = (size_t)sqlite3_column_int64(q, 1);
	if (sqlite3_column_bytes(q, 0) != sizeof want || size > BLOB_LIMIT)
		rc = err_set(err, "%s: blob %lld has no valid hash and size: the file is damaged", s->path,
			(long long)id);
	else {
		memcpy(&want, sqlite3_column_blob(q, 0), sizeof want);
		rc = sql_unpack(s, q, 2, size, "a blob", out, err);
	}
	sql_done(q);
	if (rc < 0)
		return -1;
	sha256_of(out->data ? out->data + before : "", size, &got);
	if (memcmp(&want, &got, sizeof want) != 0)
		return err_set(err, "%s: blob %lld does not have the hash it is kept under: the file is damaged",
			s->path, (long long)id);
	if (hash)
		*hash = got;
	return 0;
}

static int blob_insert(struct store *s, const void *p, size_t n, int level, const struct digest *hash,
	int64_t *id, struct err *err)
{
	struct buf packed = {0}, back = {0};
	int rc;

	io_pack(p, n, level, &packed);
	rc = sql_run(s, err, "INSERT INTO blob (hash, size, data) VALUES (?, ?, ?)", "bib", hash, sizeof *hash,
		(int64_t)n, packed.data, packed.len);
	if (rc == 0) {
		*id = sql_last_id(s);
		rc = blob_get(s, *id, &back, NULL, err);
	}
	buf_release(&packed);
	buf_release(&back);
	return rc;
}

int blob_put(struct store *s, const void *p, size_t n, int level, int64_t *id, struct err *err)
{
	struct digest hash;
	int rc;

	if (n > BLOB_LIMIT)
		return err_set(err, "%s: %zu bytes are more than a store keeps in one piece (%zu)", s->path, n,
			BLOB_LIMIT);
	sha256_of(p, n, &hash);
	if (sql_write(s, err) < 0)
		return -1;
	rc = sql_int(s, err, id, "SELECT id FROM blob WHERE hash = ?", "b", &hash, sizeof hash);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	return blob_insert(s, p, n, level, &hash, id, err);
}
