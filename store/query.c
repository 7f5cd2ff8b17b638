/*
 * query.c - runs SQL that the user types: read-only, with a few functions for looking into a store.
 *
 *	text REGEXP pattern		PCRE2; compiled once per query
 *	cost(costs, k)			seconds of choice k relative to the reference; null: it failed
 *	cost_se(costs, k)		its standard error
 *	cost_outcome(costs, k)		"ok", "crashed", ...
 *	sample.id >> 32, & 0xffffffff	run and step; the view `samples` has them by name
 *
 * SQLite asks us about each thing that a statement would do. That it is called read-only is not enough: so is COMMIT,
 * which ends the reading at one moment, and PRAGMA query_only, which takes the guard away; ATTACH makes files.
 */
#include <math.h>
#include <string.h>
#include "base/re.h"
#include "store/cmd.h"
#include "store/code.h"

static void free_re(void *re)
{
	re_free(re);
}

/* X REGEXP Y is regexp(Y, X). */
static void regexp(sqlite3_context *c, int n, sqlite3_value **v)
{
	struct re *re = sqlite3_get_auxdata(c, 0);
	const char *pattern = (const char *)sqlite3_value_text(v[0]);
	const char *text = (const char *)sqlite3_value_text(v[1]);
	struct err err = {0};

	(void)n;
	if (!pattern || !text)
		return;
	if (!re) {
		re = re_new(pattern, &err);
		if (!re) {
			sqlite3_result_error(c, err.text, -1);
			return;
		}
		sqlite3_set_auxdata(c, 0, re, free_re);
		re = sqlite3_get_auxdata(c, 0);
		if (!re) {
			sqlite3_result_error_nomem(c);
			return;
		}
	}
	sqlite3_result_int(c, re_match(re, text, (size_t)sqlite3_value_bytes(v[1])));
}

/* Serves all three functions; the user data says which. */
static void cost_column(sqlite3_context *c, int n, sqlite3_value **v)
{
	const char *which = sqlite3_user_data(c);
	const void *p = sqlite3_value_blob(v[0]);
	int64_t k = sqlite3_value_int64(v[1]);
	struct sample x;
	uint16_t proof;

	(void)n;
	if (!p || decode_costs(p, (size_t)sqlite3_value_bytes(v[0]), &x, &proof) < 0 || k < 0 || k >= x.n_choices)
		return;
	if (*which == 'o')
		sqlite3_result_text(c, outcome_name(x.choice[k].outcome), -1, SQLITE_STATIC);
	else
		sqlite3_result_double(c, *which == 's' ? x.choice[k].se : x.choice[k].delta);
}

int cmd_functions(struct store *s, struct err *err)
{
	static const struct {
		const char *name, *which;
		void (*fn)(sqlite3_context *, int, sqlite3_value **);
	} f[] = {{"regexp", "", regexp}, {"cost", "delta", cost_column}, {"cost_se", "se", cost_column},
		{"cost_outcome", "outcome", cost_column}};

	for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
		int rc = sqlite3_create_function(s->db, f[i].name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC |
			SQLITE_INNOCUOUS, (void *)(uintptr_t)f[i].which, f[i].fn, NULL, NULL);
		if (rc != SQLITE_OK)
			return sql_fail(s, rc, err);
	}
	return 0;
}

static int add_view(struct store *s, struct err *err)
{
	return sql_exec(s, "PRAGMA query_only = OFF; CREATE TEMP VIEW samples AS "
		"SELECT s.id >> 32 AS run, s.id & 0xffffffff AS step, s.chain, c.space, s.site, s.chosen, k.name AS "
		"kind, o.name AS outcome, s.costs FROM main.sample s JOIN"
		" main.cost_kind k ON k.id = s.kind JOIN main.outcome o ON o.id = s.outcome JOIN main.chain c ON"
		" c.run = s.id >> 32 AND c.number = s.chain; PRAGMA query_only = ON", err);
}

/* Is it a pragma that tells something, and sets nothing? */
static bool tells(const char *pragma, const char *value)
{
	static const char *const state[] = {"application_id", "collation_list", "compile_options", "database_list",
		"encoding", "freelist_count", "function_list", "journal_mode", "page_count", "page_size",
		"schema_version", "user_version", NULL};
	static const char *const about[] = {"foreign_key_check", "foreign_key_list", "index_info", "index_list",
		"index_xinfo", "integrity_check", "quick_check", "table_info", "table_list", "table_xinfo", NULL};

	for (const char *const *p = state; *p && !value; p++)
		if (sqlite3_stricmp(*p, pragma) == 0)
			return true;
	for (const char *const *p = about; *p; p++)
		if (sqlite3_stricmp(*p, pragma) == 0)
			return true;
	return false;
}

static int only_reads(void *ctx, int action, const char *a, const char *b, const char *database, const char *view)
{
	(void)ctx, (void)database, (void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_PRAGMA:
		return tells(a, b) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_UPDATE: /* to declare pragma_table_info and its like; a statement that does it is not read-only */
		return strcmp(a, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
	}
	return SQLITE_DENY;
}

int cmd_query(struct request *r, struct err *err)
{
	struct emit e = {.s = r->s, .format = r->format};
	sqlite3_stmt *q = NULL;
	const char *rest;
	int rc;

	if (r->n_words != 1)
		return err_set(err, "query needs one SQL statement, quoted for the shell");
	if (cmd_functions(r->s, err) < 0 || add_view(r->s, err) < 0)
		return -1;
	sqlite3_set_authorizer(r->s->db, only_reads, NULL);
	rc = sqlite3_prepare_v2(r->s->db, r->word[0], -1, &q, &rest);
	if (rc == SQLITE_AUTH || (q && !sqlite3_stmt_readonly(q))) {
		sqlite3_finalize(q);
		return err_set(err, "query only reads: facts are never rewritten");
	}
	if (rc != SQLITE_OK)
		return err_set(err, "that SQL is not understood: %s", sqlite3_errmsg(r->s->db));
	if (!q)
		return err_set(err, "there is no SQL statement in \"%s\"", r->word[0]);
	if (rest[strspn(rest, " \t\r\n;")])
		rc = err_set(err, "one statement at a time, please; this follows the first: %s", rest);
	else
		rc = emit_rows(&e, NULL, q, err);
	sqlite3_finalize(q);
	return emit_end(&e, rc, err);
}
