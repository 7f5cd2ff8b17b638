/*
 * check_store_versions.c - stores of all earlier versions, tests/stores/vN.sqlite.zst, can be read as they are, and can
 * be brought to today's version. Then they have today's schema, and all their steps replay.
 *
 * The one of today's version guards the schema: changing it without raising the version fails here.
 */
#include "tests/test.h"
#include "tests/store_fixture.h"
#include "store/sql.h"

static char *folder;
static int version;

static const char *bin(void)
{
	return getenv("BIN") ? getenv("BIN") : "bin";
}

/* A fresh copy of the store of this version. */
static int unpack(char *path, size_t n, struct err *err)
{
	char from[100];
	struct buf b = {0};
	int rc;

	snprintf(from, sizeof from, "tests/stores/v%d.sqlite.zst", version);
	snprintf(path, n, "%s/v%d.sqlite", folder, version);
	rc = io_read_file(from, IO_FILE_LIMIT, &b, err);
	if (rc == 0)
		rc = io_write_file(path, b.data, b.len, err);
	buf_release(&b);
	return rc;
}

/* Appends the schema without blanks and comments. */
static void schema_of(struct store *s, struct buf *out)
{
	struct err err = {0};
	sqlite3_stmt *q = sql_query(s, &err, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name",
		"");

	while (q && sql_step(s, q, &err) == 1) {
		for (const char *p = sql_text(q, 0); *p; p++) {
			if (p[0] == '-' && p[1] == '-')
				p += strcspn(p, "\n");
			if (!*p)
				break;
			if (!strchr(" \t\n", *p))
				buf_addch(out, *p);
		}
		buf_addch(out, '\n');
	}
	CHECK_STR(err.text, "");
}

/* Looking at an old store changes nothing in it. */
static void an_old_store_is_read_as_it_is(void)
{
	struct err err = {0};
	char path[300], program[1600];
	struct store *s;
	struct buf before = {0}, after = {0};
	struct run_info *v;
	size_t n = 0;

	CHECK_INT(unpack(path, sizeof path, &err), 0);
	CHECK_INT(io_read_file(path, IO_FILE_LIMIT, &before, &err), 0);
	s = store_open(path, STORE_READ, NULL, &err);
	CHECK_STR(err.text, "");
	if (!CHECK(s != NULL))
		return;
	CHECK_INT(store_runs(s, &v, &n, &err), 0);
	CHECK(n == 1 && v[0].steps == 200);
	run_infos_free(v, n);
	store_close(s);
	snprintf(program, sizeof program, "%s/store verify --quiet %s >/dev/null && rm "
		"-f %s/all && %s/store merge --quiet %s/all %s >/dev/null", bin(), path, folder, bin(), folder, path);
	CHECK_INT(system(program), 0);
	CHECK_INT(io_read_file(path, IO_FILE_LIMIT, &after, &err), 0);
	CHECK(before.len == after.len && memcmp(before.data, after.data, after.len) == 0);
	buf_release(&before);
	buf_release(&after);
}

/* Its environments are found by what they said of themselves, once; another build of the plugin is another one. */
static void an_old_environment_is_the_first_build_that_matches(void)
{
	struct err err = {0};
	char path[300];
	struct store *s = CHECK_INT(unpack(path, sizeof path, &err), 0) ? store_open(path, STORE_WRITE, NULL, &err)
		: NULL;
	sqlite3_stmt *q = s ? sql_query(s, &err, "SELECT e.id, m.description, "
		"e.backend, e.platform, e.version, e.compile_options,"
		" e.kind FROM environment e JOIN machine m ON m.id = e.machine", "") : NULL;
	char text[5][600];
	int64_t was = 0, got[4] = {0};
	int kind = 0;

	if (CHECK(q && sql_step(s, q, &err) == 1)) {
		was = sqlite3_column_int64(q, 0);
		for (int i = 0; i < 5; i++)
			snprintf(text[i], sizeof text[i], "%s", sql_text(q, i + 1));
		kind = sqlite3_column_int(q, 6);
		sql_done(q);
		struct environment e = {text[0], text[1], text[2], text[3], text[4], (enum cost_kind)kind, NULL, NULL,
			QUANTITY_SECONDS};
		CHECK_INT(store_environment(s, &e, &got[0], &err), 0);
		e.device = "an accelerator";
		e.build = "b1";
		CHECK_INT(store_environment(s, &e, &got[1], &err), 0);
		e.device = "";
		CHECK_INT(store_environment(s, &e, &got[2], &err), 0);
		e.build = "b2";
		CHECK_INT(store_environment(s, &e, &got[3], &err), 0);
		CHECK_INT(got[0], was);
		CHECK(got[1] != was);
		CHECK_INT(got[2], was);
		CHECK(got[3] != was && got[3] != got[1]);
		e.build = "b1";
		CHECK_INT(store_environment(s, &e, &got[0], &err), 0);
		CHECK_INT(got[0], was);
	}
	CHECK_STR(err.text, "");
	store_close(s);
}

static void an_old_store_is_brought_to_today(void)
{
	struct err err = {0};
	char path[300], fresh[300], program[1600];
	struct store *s = unpack(path, sizeof path, &err) == 0 ? store_open(path, STORE_WRITE, NULL, &err) : NULL, *f;
	struct buf a = {0}, b = {0};
	struct run_info *v;
	size_t n = 0;
	int64_t now = 0;

	CHECK_STR(err.text, "");
	if (!CHECK(s != NULL))
		return;
	snprintf(fresh, sizeof fresh, "%s/fresh.sqlite", folder);
	f = store_open(fresh, STORE_CREATE, NULL, &err);
	schema_of(s, &a);
	schema_of(f, &b);
	CHECK_STR(a.data, b.data);
	CHECK_INT(sql_int(s, &err, &now, "PRAGMA user_version", ""), 1);
	CHECK_INT(now, STORE_VERSION);
	CHECK_INT(store_runs(s, &v, &n, &err), 0);
	CHECK(n == 1 && v[0].steps == 200 && v[0].state == RUN_STOPPED && v[0].seed == 11);
	run_infos_free(v, n);
	store_close(s);
	store_close(f);
	buf_release(&a);
	buf_release(&b);
	snprintf(program, sizeof program, "%s/store verify --quiet %s "
		">/dev/null && %s/store merge --quiet %s %s >/dev/null", bin(), path, bin(), fresh, path);
	CHECK_INT(system(program), 0);
	CHECK_STR(err.text, "");
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	for (version = 1; version <= STORE_VERSION; version++) {
		RUN(an_old_store_is_read_as_it_is);
		RUN(an_old_store_is_brought_to_today);
	}
	version = 1;
	RUN(an_old_environment_is_the_first_build_that_matches);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
