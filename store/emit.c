/*
 * emit.c - writes rows for people and for programs.
 *
 * JSON lines and CSV are written row by row, because a query may give millions of rows. A table needs
 * all its cells before it knows how wide they are. Numbers are printed with enough digits to read back
 * the same number.
 */
#include "store/emit.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"

#define CELL_WIDTH 72 /* longer text is cut in tables */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n > k && strcmp(text + n - k, end) == 0;
}

static void put_scaled(struct buf *out, double v, const char *const *unit, const double *scale, int n)
{
	int i = 0;

	while (i < n - 1 && fabs(v) < scale[i] * 0.9995)
		i++;
	buf_addf(out, "%.3g %s", v / scale[i], unit[i]);
}

static void put_seconds(struct buf *out, double v)
{
	static const char *const unit[] = {"d", "h", "min", "s", "ms", "us", "ns"};
	static const double scale[] = {172800, 7200, 120, 1, 1e-3, 1e-6, 1e-9}, one[] = {86400, 3600, 60};
	int i = 0;

	if (v == 0) {
		buf_adds(out, "0");
		return;
	}
	while (i < 3 && fabs(v) < scale[i])
		i++;
	if (i < 3)
		buf_addf(out, "%.3g %s", v / one[i], unit[i]);
	else
		put_scaled(out, v, unit + 3, scale + 3, 4);
}

static void put_bytes(struct buf *out, double v)
{
	static const char *const unit[] = {"GB", "MB", "kB", "B"};
	static const double scale[] = {1e9, 1e6, 1e3, 1};

	put_scaled(out, v, unit, scale, 4);
}

static void put_time(struct buf *out, int64_t us)
{
	time_t t = (time_t)(us / 1000000);
	struct tm tm;
	char text[32];

	strftime(text, sizeof text, "%Y-%m-%d %H:%M", localtime_r(&t, &tm));
	buf_adds(out, text);
}

/* Appends text for one line of a terminal: without control characters, and cut if it is long. */
static void put_text(struct buf *out, const char *p, size_t n)
{
	size_t cut = n > CELL_WIDTH ? CELL_WIDTH - 3 : n;

	while (cut < n && cut && ((unsigned char)p[cut] & 0xc0) == 0x80)
		cut--;
	for (size_t i = 0; i < cut; i++)
		buf_addch(out, (unsigned char)p[i] < 32 || p[i] == 127 ? ' ' : p[i]);
	if (cut < n)
		buf_adds(out, "...");
}

static void put_hex(struct buf *out, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%02x", p[i]);
}

static void put_real(struct buf *out, double v)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_adds(out, text);
}

/* Appends a value as tables show it, by its column's name. */
static void emit_value(struct buf *out, const char *column, sqlite3_value *v)
{
	int type = sqlite3_value_type(v);
	bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	size_t n;

	if (number && ends_with(column, "_s"))
		put_seconds(out, sqlite3_value_double(v));
	else if (number && ends_with(column, "_at"))
		put_time(out, sqlite3_value_int64(v));
	else if (number && ends_with(column, "_b"))
		put_bytes(out, sqlite3_value_double(v));
	else if (type == SQLITE_INTEGER)
		buf_addf(out, "%lld", (long long)sqlite3_value_int64(v));
	else if (type == SQLITE_FLOAT)
		buf_addf(out, "%.6g", sqlite3_value_double(v));
	else if (type == SQLITE_BLOB)
		buf_addf(out, "<%d bytes>", sqlite3_value_bytes(v));
	else if (type == SQLITE_TEXT) {
		const char *text = (const char *)sqlite3_value_text(v);

		n = (size_t)sqlite3_value_bytes(v);
		put_text(out, text, strcmp(column, "uuid") == 0 && n > 8 ? 8 : n);
	}
}

/* "delta_s" is headed "delta": the cells have their units. */
static void put_heading(struct buf *out, const char *name)
{
	size_t n = strlen(name);

	n -= ends_with(name, "_at") ? 3 : ends_with(name, "_s") || ends_with(name, "_b") ? 2 : 0;
	for (size_t i = 0; i < n; i++)
		buf_addch(out, name[i] == '_' ? ' ' : name[i]);
}

/* Roughly how many columns of a terminal a UTF-8 text takes: one per character. */
static size_t width_of(const char *p)
{
	size_t n = 0;

	for (; *p; p++)
		n += ((unsigned char)*p & 0xc0) != 0x80;
	return n;
}

static void put_padded(struct buf *out, const char *cell, size_t width, bool right, bool last)
{
	size_t pad = width - width_of(cell);

	if (right)
		for (size_t i = 0; i < pad; i++)
			buf_addch(out, ' ');
	buf_adds(out, cell);
	for (size_t i = 0; !right && !last && i < pad; i++)
		buf_addch(out, ' ');
	buf_adds(out, last ? "\n" : "  ");
}

struct grid {
	char **cell; /* heading first, row by row */
	size_t n, cap, columns;
	bool *right;
};

static void add_cell(struct grid *g, struct buf *b)
{
	buf_addch(b, 0);
	MEM_GROW(&g->cell, &g->cap, g->n + 1);
	g->cell[g->n++] = mem_strdup(b->data);
	buf_reset(b);
}

static void print_grid(struct buf *out, struct grid *g)
{
	size_t *width = MEM_NEW(g->columns, size_t);

	for (size_t i = 0; i < g->n; i++) {
		size_t w = width_of(g->cell[i]);
		if (w > width[i % g->columns])
			width[i % g->columns] = w;
	}
	for (size_t i = 0; i < g->n; i++)
		put_padded(out, g->cell[i], width[i % g->columns], g->right[i % g->columns],
			i % g->columns == g->columns - 1);
	mem_free(width);
}

static int rows_table(struct emit *e, sqlite3_stmt *q, struct err *err)
{
	struct grid g = {.columns = (size_t)sqlite3_column_count(q)};
	struct buf b = {0};
	int rc;

	g.right = MEM_NEW(g.columns, bool);
	for (size_t c = 0; c < g.columns; c++) {
		put_heading(&b, sqlite3_column_name(q, (int)c));
		add_cell(&g, &b);
		g.right[c] = true;
	}
	while ((rc = sql_step(e->s, q, err)) == 1)
		for (size_t c = 0; c < g.columns; c++) {
			int type = sqlite3_column_type(q, (int)c);

			g.right[c] = g.right[c] && type != SQLITE_TEXT && type != SQLITE_BLOB;
			emit_value(&b, sqlite3_column_name(q, (int)c), sqlite3_column_value(q, (int)c));
			add_cell(&g, &b);
		}
	if (rc == 0)
		print_grid(&e->out, &g);
	for (size_t i = 0; i < g.n; i++)
		mem_free(g.cell[i]);
	mem_free(g.cell);
	mem_free(g.right);
	buf_release(&b);
	return rc;
}

static void json_value(struct json *j, const char *key, sqlite3_stmt *q, int c)
{
	struct buf b = {0};

	switch (sqlite3_column_type(q, c)) {
	case SQLITE_INTEGER:
		json_int(j, key, sqlite3_column_int64(q, c));
		break;
	case SQLITE_FLOAT:
		json_num(j, key, sqlite3_column_double(q, c));
		break;
	case SQLITE_TEXT:
		json_str(j, key, sql_text(q, c));
		break;
	case SQLITE_BLOB:
		buf_adds(&b, "");
		put_hex(&b, sqlite3_column_blob(q, c), (size_t)sqlite3_column_bytes(q, c));
		json_str(j, key, b.data ? b.data : "");
		break;
	default:
		json_str(j, key, NULL);
	}
	buf_release(&b);
}

static void json_row(struct json *j, const char *key, sqlite3_stmt *q)
{
	json_object(j, key);
	for (int c = 0; c < sqlite3_column_count(q); c++)
		json_value(j, sqlite3_column_name(q, c), q, c);
	json_end(j);
}

static int flush(struct emit *e, size_t above, struct err *err)
{
	if (e->out.len <= above)
		return 0;
	if (fwrite(e->out.data, 1, e->out.len, stdout) != e->out.len)
		return err_errno(err, "the output cannot be written");
	buf_reset(&e->out);
	return 0;
}

static int rows_json(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err)
{
	int rc;

	json_array(&e->json, key);
	while ((rc = sql_step(e->s, q, err)) == 1) {
		json_row(&e->json, NULL, q);
		if (flush(e, 1 << 20, err) < 0)
			return -1;
	}
	json_end(&e->json);
	return rc;
}

static int rows_jsonl(struct emit *e, sqlite3_stmt *q, struct err *err)
{
	int rc;

	while ((rc = sql_step(e->s, q, err)) == 1) {
		struct json j = {.out = &e->out};

		json_row(&j, NULL, q);
		buf_addch(&e->out, '\n');
		if (flush(e, 1 << 20, err) < 0)
			return -1;
	}
	return rc;
}

void emit_csv(struct buf *out, const char *p, size_t n)
{
	bool quote = false;

	for (size_t i = 0; i < n; i++)
		quote = quote || strchr(",\"\r\n", p[i]);
	if (!quote) {
		buf_add(out, p, n);
		return;
	}
	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"')
			buf_addch(out, '"');
		buf_addch(out, p[i]);
	}
	buf_addch(out, '"');
}

static void csv_value(struct buf *out, sqlite3_stmt *q, int c)
{
	int type = sqlite3_column_type(q, c);

	if (type == SQLITE_BLOB)
		put_hex(out, sqlite3_column_blob(q, c), (size_t)sqlite3_column_bytes(q, c));
	else if (type == SQLITE_FLOAT)
		put_real(out, sqlite3_column_double(q, c));
	else if (type != SQLITE_NULL)
		emit_csv(out, sql_text(q, c), (size_t)sqlite3_column_bytes(q, c));
}

static int rows_csv(struct emit *e, sqlite3_stmt *q, struct err *err)
{
	int rc, columns = sqlite3_column_count(q);

	for (int c = 0; c < columns; c++) {
		const char *name = sqlite3_column_name(q, c);

		buf_adds(&e->out, c ? "," : "");
		emit_csv(&e->out, name, strlen(name));
	}
	buf_addch(&e->out, '\n');
	while ((rc = sql_step(e->s, q, err)) == 1) {
		for (int c = 0; c < columns; c++) {
			buf_adds(&e->out, c ? "," : "");
			csv_value(&e->out, q, c);
		}
		buf_addch(&e->out, '\n');
		if (flush(e, 1 << 20, err) < 0)
			return -1;
	}
	return rc;
}

static void start(struct emit *e, const char *key)
{
	if (e->format == EMIT_TABLE && key) {
		buf_addf(&e->out, "%s%s\n", e->started ? "\n" : "", key);
	} else if (e->format == EMIT_JSON && !e->started) {
		e->json = (struct json){.out = &e->out, .pretty = true};
		if (key)
			json_object(&e->json, NULL);
	}
	e->started = true;
}

int emit_rows(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err)
{
	if (!q)
		return -1;
	start(e, key);
	switch (e->format) {
	case EMIT_JSON:
		return rows_json(e, key, q, err);
	case EMIT_JSONL:
		return rows_jsonl(e, q, err);
	case EMIT_CSV:
		return rows_csv(e, q, err);
	case EMIT_TABLE:
		break;
	}
	return rows_table(e, q, err);
}

static void one_table(struct emit *e, sqlite3_stmt *q)
{
	struct buf name = {0};
	size_t width = 0;

	for (int c = 0; c < sqlite3_column_count(q); c++) {
		buf_reset(&name);
		put_heading(&name, sqlite3_column_name(q, c));
		width = name.len > width ? name.len : width;
	}
	for (int c = 0; c < sqlite3_column_count(q); c++) {
		if (sqlite3_column_type(q, c) == SQLITE_NULL)
			continue;
		buf_reset(&name);
		put_heading(&name, sqlite3_column_name(q, c));
		buf_addf(&e->out, "%-*s  ", (int)width, name.data);
		/* There is room for all of it here. */
		if (sqlite3_column_type(q, c) == SQLITE_TEXT)
			buf_adds(&e->out, sql_text(q, c));
		else
			emit_value(&e->out, sqlite3_column_name(q, c), sqlite3_column_value(q, c));
		buf_addch(&e->out, '\n');
	}
	buf_release(&name);
}

int emit_one(struct emit *e, const char *key, sqlite3_stmt *q, struct err *err)
{
	int rc = q ? sql_step(e->s, q, err) : -1;

	if (rc < 0)
		return -1;
	start(e, key);
	if (rc == 1 && e->format == EMIT_JSON)
		json_row(&e->json, key, q);
	else if (rc == 1)
		one_table(e, q);
	sql_done(q);
	return 0;
}

int emit_end(struct emit *e, int rc, struct err *err)
{
	while (e->format == EMIT_JSON && e->json.depth)
		json_end(&e->json);
	if (e->format == EMIT_JSON && e->out.len)
		buf_addch(&e->out, '\n');
	if (rc == 0)
		rc = flush(e, 0, err);
	if (rc == 0 && fflush(stdout) != 0)
		rc = err_errno(err, "the output cannot be written");
	buf_release(&e->out);
	return rc;
}
