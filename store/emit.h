/*
 * emit.h - writes what a query gives, as a table for people or as JSON, JSON lines or CSV for programs.
 *
 * One query serves all formats. Programs get its columns as they are. For people the end of a column's name
 * says how to show a number: `delta_s` is seconds ("12.3 us"), `started_at` microseconds since 1970
 * ("2026-11-21 07:31"), `size_b` bytes ("1.2 MB"), `uuid` shows its first 8 digits.
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
 * Steps through a query and writes its rows. With a key (in TABLE or JSON) they are a part of a larger
 * answer: a heading and a table, or a member of one object. With `one` the single row is shown as names and
 * values.
 */
int emit_rows(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err);
int emit_one(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err);
/*
 * Ends the answer, writes it to stdout and releases. `rc`: what came of the queries; if it is -1, the answer is
 * dropped. Returns -1 then, and if writing fails (for example on a full disk).
 */
int emit_end(struct emit *e, int rc, struct err *err);

/* Appends one CSV field, quoted if it must be. */
void emit_csv(struct buf *out, const char *text, size_t n);

#endif
