/*
 * sql.c - runs statements, and says what SQLite's failures mean.
 *
 * SQLite has some hundred codes. A person needs to know which of six things happened: the disk is full, the
 * disk failed, or the file is read-only, damaged, locked by another program, or not a store. Whatever it was,
 * the transaction is rolled back. All that was committed before is safe: WAL with full sync keeps that promise.
 */
#include "store/sql.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include "base/io.h"
#include "base/mem.h"

static const char kept[] = "what was stored before is safe";

static int fail_io(struct store *s, int rc, struct err *err)
{
	int code = sqlite3_system_errno(s->db);

	if (code == EFBIG)
		return err_set(err, "%s cannot grow: the limit on file sizes (ulimit -f) is reached; %s",
			s->path, kept);
	if (code == ENOSPC || code == EDQUOT)
		return err_set(err, "%s cannot grow: no space is left on its disk; %s", s->path, kept);
	if (rc == SQLITE_IOERR_SHORT_READ || rc == SQLITE_IOERR_CORRUPTFS || rc == SQLITE_IOERR_DATA)
		return err_set(err, "%s is damaged: it is shorter than it says", s->path);
	return err_set(err, "%s cannot be read or written (%s); %s", s->path,
		code ? strerror(code) : sqlite3_errmsg(s->db), kept);
}

static int fail_sentence(struct store *s, int rc, struct err *err)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, "%s is locked by another program (waited %.3g s); end that one, or try again; %s",
			s->path, s->busy, kept);
	case SQLITE_FULL:
		return err_set(err, "%s cannot grow: no space is left on its disk; %s", s->path, kept);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(err, "%s is read-only for this user", s->path);
	case SQLITE_CANTOPEN:
		return err_set(err, "%s cannot be opened: the file, or its folder "
			"for the -wal file beside it, is not accessible", s->path);
	case SQLITE_NOTADB:
		return err_set(err, "%s is no store: not an SQLite file, or its first page is damaged", s->path);
	case SQLITE_CORRUPT:
		return err_set(err, "%s is damaged (%s): run `store verify`, "
			"restore a copy, or save what can be read with "
			"`sqlite3 %s .recover`", s->path, sqlite3_errmsg(s->db), s->path);
	case SQLITE_IOERR:
		return fail_io(s, rc, err);
	default:
		return err_set(err, "%s: SQLite says: %s", s->path, sqlite3_errmsg(s->db));
	}
}

int sql_fail(struct store *s, int rc, struct err *err)
{
	fail_sentence(s, rc, err);
	if (s->mode != STORE_READ && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

int sql_prepare(struct store *s, const char *sql, sqlite3_stmt **out, struct err *err)
{
	int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);

	return rc == SQLITE_OK ? 0 : sql_fail(s, rc, err);
}

/* The prepared statement of a literal. Its address is the key, because it is looked up at every sample. */
static sqlite3_stmt *cached(struct store *s, const char *sql, struct err *err)
{
	size_t i;

	for (i = 0; i < s->n_cached; i++)
		if (s->cached[i].sql == sql)
			return s->cached[i].stmt;
	BUG_ON(i == sizeof s->cached / sizeof *s->cached);
	if (sql_prepare(s, sql, &s->cached[i].stmt, err) < 0)
		return NULL;
	s->cached[i].sql = sql;
	s->n_cached++;
	return s->cached[i].stmt;
}

static int bind_one(sqlite3_stmt *q, int at, char type, va_list *ap)
{
	const char *text;
	const void *p;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(q, at, va_arg(*ap, int64_t));
	case 'd':
		return sqlite3_bind_double(q, at, va_arg(*ap, double));
	case 't':
		text = va_arg(*ap, const char *);
		return sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
	case 'b':
		p = va_arg(*ap, const void *);
		return sqlite3_bind_blob64(q, at, p, va_arg(*ap, size_t), SQLITE_STATIC);
	case 'n':
		return sqlite3_bind_null(q, at);
	}
	BUG("no such parameter: %c", type);
}

static sqlite3_stmt *bound(struct store *s, struct err *err, const char *sql, const char *format, va_list *ap)
{
	sqlite3_stmt *q = cached(s, sql, err);
	int rc = SQLITE_OK;

	if (!q)
		return NULL;
	BUG_ON(sqlite3_stmt_busy(q));
	for (int i = 0; format[i] && rc == SQLITE_OK; i++)
		rc = bind_one(q, i + 1, format[i], ap);
	if (rc == SQLITE_OK)
		return q;
	sql_fail(s, rc, err);
	return NULL;
}

sqlite3_stmt *sql_query(struct store *s, struct err *err, const char *sql, const char *format, ...)
{
	va_list ap;
	sqlite3_stmt *q;

	va_start(ap, format);
	q = bound(s, err, sql, format, &ap);
	va_end(ap);
	return q;
}

int sql_step(struct store *s, sqlite3_stmt *q, struct err *err)
{
	int rc = sqlite3_step(q);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE) {
		fail_sentence(s, rc, err);
		sql_done(q);
		if (s->mode != STORE_READ && !sqlite3_get_autocommit(s->db))
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	sql_done(q);
	return 0;
}

void sql_done(sqlite3_stmt *q)
{
	sqlite3_reset(q);
	if (q)
		sqlite3_clear_bindings(q);
}

int sql_run(struct store *s, struct err *err, const char *sql, const char *format, ...)
{
	va_list ap;
	sqlite3_stmt *q;
	int rc;

	va_start(ap, format);
	q = bound(s, err, sql, format, &ap);
	va_end(ap);
	if (!q)
		return -1;
	while ((rc = sql_step(s, q, err)) == 1)
		;
	return rc;
}

int sql_int(struct store *s, struct err *err, int64_t *out, const char *sql, const char *format, ...)
{
	va_list ap;
	sqlite3_stmt *q;
	int rc;

	va_start(ap, format);
	q = bound(s, err, sql, format, &ap);
	va_end(ap);
	if (!q || (rc = sql_step(s, q, err)) < 0)
		return -1;
	if (rc == 0)
		return 0;
	rc = sqlite3_column_type(q, 0) != SQLITE_NULL;
	if (rc)
		*out = sqlite3_column_int64(q, 0);
	sql_done(q);
	return rc;
}

int sql_exec(struct store *s, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sql_fail(s, rc, err);
}

int sql_write(struct store *s, struct err *err)
{
	BUG_ON(s->mode == STORE_READ);
	if (!sqlite3_get_autocommit(s->db))
		return 0;
	return sql_run(s, err, "BEGIN IMMEDIATE", "");
}

const char *sql_text(sqlite3_stmt *q, int column)
{
	const char *t = (const char *)sqlite3_column_text(q, column);

	return t ? t : "";
}

double sql_real(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(q, column);
}

int sql_unpack(struct store *s, sqlite3_stmt *q, int column, size_t size, const char *what,
	struct buf *out, struct err *err)
{
	const void *p = sqlite3_column_blob(q, column);
	size_t n = (size_t)sqlite3_column_bytes(q, column), before = out->len;
	struct err why = {0};

	if (io_unpack(p, n, size, out, &why) < 0)
		return err_set(err, "%s: %s %s: the file is damaged", s->path, what, why.text);
	if (out->len - before != size)
		return err_set(err, "%s: %s has %zu bytes instead of %zu: the file is damaged", s->path, what,
			out->len - before, size);
	return 0;
}

void sql_forget(struct store *s)
{
	for (size_t i = 0; i < s->n_cached; i++)
		sqlite3_finalize(s->cached[i].stmt);
	s->n_cached = 0;
}

int64_t sql_last_id(struct store *s)
{
	return sqlite3_last_insert_rowid(s->db);
}

int64_t sql_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
