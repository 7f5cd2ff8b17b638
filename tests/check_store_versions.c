/*
 * check_store_versions.c - stores of every version there was, tests/stores/vN.sqlite.zst, can be read
 * today: each is brought to today's version, has today's schema, and all its steps replay.
 *
 * The one of today's version guards the schema: changing it without raising the version fails here.
 */
#include "tests/test.h"
#include "tests/store_fixture.h"
#include "store/sql.h"

static char *folder;
static int version;

static struct store *unpacked(char *path, size_t n, struct err *err)
{
	char from[100];
	struct buf b = {0};
	struct store *s = NULL;

	snprintf(from, sizeof from, "tests/stores/v%d.sqlite.zst", version);
	snprintf(path, n, "%s/v%d.sqlite", folder, version);
	if (io_read_file(from, IO_FILE_LIMIT, &b, err) == 0 && io_write_file(path, b.data, b.len, err) == 0)
		s = store_open(path, STORE_WRITE, NULL, err);
	buf_release(&b);
	return s;
}

/* What the schema says, without the blanks and comments people put into it. */
static void schema_of(struct store *s, struct buf *out)
{
	struct err err = {0};
	sqlite3_stmt *q = sql_query(s, &err, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name", "");

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

static void an_old_store_is_brought_to_today(void)
{
	struct err err = {0};
	char path[300], fresh[300], program[1600];
	struct store *s = unpacked(path, sizeof path, &err), *f;
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
	snprintf(program, sizeof program, "%s/store verify --quiet %s >/dev/null && %s/store merge --quiet %s %s >/dev/null",
		getenv("BIN") ? getenv("BIN") : "bin", path, getenv("BIN") ? getenv("BIN") : "bin", fresh, path);
	CHECK_INT(system(program), 0);
	CHECK_STR(err.text, "");
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	for (version = 1; version <= STORE_VERSION; version++)
		RUN(an_old_store_is_brought_to_today);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
