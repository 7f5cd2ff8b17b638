/*
 * migrate.c - brings an older store to today's version, all of it or nothing.
 *
 * All steps run in one transaction, so a kill or a full disk in the middle leaves the old store. Foreign
 * keys are checked before the commit, so that a step that loses a parent is noticed. Columns that a step adds
 * stand last in schemas/store.sql, too, because ALTER TABLE adds them there.
 */
#include "store/sql.h"

static const struct migration steps[] = {
	{1, "ALTER TABLE environment ADD COLUMN device TEXT NOT NULL DEFAULT '';"
	    "ALTER TABLE environment ADD COLUMN build TEXT NOT NULL DEFAULT '';"
	    "ALTER TABLE region ADD COLUMN deadline REAL;"
	    "ALTER TABLE region ADD COLUMN load REAL;"
	    "ALTER TABLE region ADD COLUMN memory INTEGER"},
	{2, "ALTER TABLE environment ADD COLUMN quantity TEXT NOT NULL DEFAULT 'seconds'"},
};
const struct migration *const store_migrations = steps;
const size_t store_n_migrations = sizeof steps / sizeof *steps;

static const struct migration *step_from(const struct migration *m, size_t n, int64_t version)
{
	for (size_t i = 0; i < n; i++)
		if (m[i].from == version)
			return &m[i];
	return NULL;
}

static int migrate_steps(struct store *s, const struct migration *m, size_t n, int64_t version,
	int target, struct err *err)
{
	char pragma[64];

	for (; version < target; version++) {
		const struct migration *step = step_from(m, n, version);

		if (!step) {
			err_set(err, "%s is of version %lld, which this program cannot bring to %d", s->path,
				(long long)version, target);
			sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
			return -1;
		}
		if (sql_exec(s, step->sql, err) < 0)
			return -1;
	}
	sqlite3_snprintf(sizeof pragma, pragma, "PRAGMA user_version = %d", target);
	return sql_exec(s, pragma, err);
}

int store_migrate(struct store *s, const struct migration *m, size_t n, int target, struct err *err)
{
	int64_t version, broken = 0;

	/* Foreign keys cannot be switched inside a transaction; tables are made anew without them. */
	if (sql_exec(s, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", err) < 0)
		return -1;
	/* Read under the lock: another program may have migrated it meanwhile. */
	if (sql_int(s, err, &version, "PRAGMA user_version", "") < 0)
		return -1;
	if (migrate_steps(s, m, n, version, target, err) < 0)
		return err_prefix(err, "migrating from version %lld", (long long)version);
	if (sql_int(s, err, &broken, "SELECT count(*) FROM pragma_foreign_key_check", "") < 0)
		return -1;
	if (broken) {
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return err_set(err, "%s: migrating from version %lld would "
			"lose %lld references; the file is left as it was",
			s->path, (long long)version, (long long)broken);
	}
	return sql_exec(s, "COMMIT; PRAGMA foreign_keys = ON", err);
}
