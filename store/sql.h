/*
 * sql.h - the inside of a store: statements, bound and checked in one call. Only for store/.
 *
 *	sql_run(s, err, "INSERT INTO t VALUES (?, ?, ?)", "itb", (int64_t)n, name, bytes, n_bytes)
 *
 * A statement is prepared once: its text must be a literal, whose address is the key. `format` has a letter
 * per parameter: i int64_t, d double, t text (NULL is null), b bytes and size_t, n null. A failure gives one
 * sentence (sql_fail) and ends the transaction. A query is stepped until it returns 0 or -1, or ended early by
 * sql_done; until then the same literal must not be used again.
 */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include "base/buf.h"
#include "store/db.h"

#define STORE_VERSION 3
#define STORE_APPLICATION 0x56414e54

struct store {
	sqlite3 *db;
	char *path;
	enum store_mode mode;
	int lock; /* descriptor that holds the writer's lock, or -1 */
	double busy;
	size_t n_cached;
	struct {
		const char *sql;
		sqlite3_stmt *stmt;
	} cached[96];
};

/* Turns a result code into a sentence and rolls back; returns -1. */
int sql_fail(struct store *s, int rc, struct err *err);
/* Opens the writing transaction if none is open. */
int sql_write(struct store *s, struct err *err);
int sql_run(struct store *s, struct err *err, const char *sql, const char *format, ...);
/* A query ready to be stepped, or NULL. */
sqlite3_stmt *sql_query(struct store *s, struct err *err, const char *sql, const char *format, ...);
int sql_step(struct store *s, sqlite3_stmt *q, struct err *err); /* 1 row, 0 no more, -1 */
void sql_done(sqlite3_stmt *q);					  /* accepts NULL */
/* Reads the first column of the first row: 1 found, 0 no row (or null), -1 error. */
int sql_int(struct store *s, struct err *err, int64_t *out, const char *sql, const char *format, ...);
/* Prepares a statement for the caller: for texts that are no literals, or that are stepped side by side. */
int sql_prepare(struct store *s, const char *sql, sqlite3_stmt **out, struct err *err);
/* Runs several statements without parameters. */
int sql_exec(struct store *s, const char *sql, struct err *err);

/*
 * The number of steps of a run, as SQL; `run` is SQL, too. It is the largest step plus one, found through the primary
 * keys: to count rows would read a file of a million samples from end to end.
 */
#define SQL_STEPS(schema, run) \
	"(1 + max(" SQL_LAST_ID(schema, sample, run) ", " SQL_LAST_ID(schema, trial, run) ") - (" run " << 32))"
#define SQL_LAST_ID(schema, table, run) \
	"coalesce((SELECT max(id) FROM " #schema "." #table \
	" WHERE id >= " run " << 32 AND id < (" run " + 1) << 32), (" run " << 32) - 1)"

/* Columns; text comes back as "" where it is null. */
const char *sql_text(sqlite3_stmt *q, int column);
double sql_real(sqlite3_stmt *q, int column); /* NaN where it is null */
/* Unpacks the zstd bytes of a column; they must give exactly `size` bytes. Sentences name `what`. */
int sql_unpack(struct store *s, sqlite3_stmt *q, int column, size_t size, const char *what,
	struct buf *out, struct err *err);
/* Ends all prepared statements; none may be in use. */
void sql_forget(struct store *s);
int64_t sql_last_id(struct store *s);
int64_t sql_now(void); /* microseconds since 1970 */

/* The URI to attach a file: "file:PATH" and `how` ("?mode=ro", "?immutable=1", ""); the caller frees. */
char *store_uri(const char *path, const char *how);

/* One row per former version: migrate.c. */
struct migration {
	int from;
	const char *sql; /* makes version from + 1; user_version is set after it */
};
int store_migrate(struct store *s, const struct migration *m, size_t n, int target, struct err *err);
extern const struct migration *const store_migrations;
extern const size_t store_n_migrations;

#endif
