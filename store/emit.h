/*
 * emit.h - what a query gives, as a table for people or as JSON, JSON lines or CSV for programs.
 *
 * One query serves all: programs get its columns as they are; for people the end of a column's name
 * says what the number is: `delta_s` seconds ("12.3 us"), `started_at` microseconds since 1970
 * ("2026-11-21 07:31"), `size_b` bytes ("1.2 MB"), `uuid` (its first 8 digits).
 */
#ifndef STORE_EMIT_H
#define STORE_EMIT_H

#include <stdio.h>
#include "base/json.h"
#include "store/sql.h"

enum emit_format { EMIT_TABLE, EMIT_JSON, EMIT_JSONL, EMIT_CSV };

struct emit { /* set store, format; the rest is zero */
	struct store *s;
	enum emit_format format;
	struct buf out;
	struct json json;
	bool started;
};

/*
 * Steps through a query. With a key (and TABLE or JSON) it is a part of a larger answer: a heading
 * and a table, or a member of one object. `one`: a single row, shown as names and values.
 */
int emit_rows(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err);
int emit_one(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err);
/* Ends the answer and writes it to stdout; -1 when that fails (a full disk behind it). Releases. */
int emit_end(struct emit *e, struct err *err);

/* A value the way tables show it, by its column's name. */
void emit_value(struct buf *out, const char *column, sqlite3_value *v);
/* One CSV field, quoted where it must be. */
void emit_csv(struct buf *out, const char *text, size_t n);

#endif
