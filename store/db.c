/*
 * db.c - opens a store: checks whose file it is, whether we may write it, and its version.
 *
 * There are two locks. SQLite's own locks keep the file consistent between any programs. Our lock, an
 * flock(2) on the file for as long as a writer has it open, keeps a second collector away. The two would
 * write in turns, which is consistent but useless, because they would disturb each other's measurements.
 * The kernel drops the lock when its holder dies. We take it before SQLite opens the file and give it back
 * after SQLite has closed it, because closing any descriptor of a file drops SQLite's POSIX locks on it.
 *
 * WAL needs memory that is shared between the programs that have the file open. Network file systems do not
 * give that, and their locks often do not work. So files on them are refused unless forced. A reader opens
 * one transaction and keeps it: it sees the store as it was when opened. It never blocks the writer, but it
 * keeps the WAL from being cut back, so it should not stay open for hours.
 */
#include "store/db.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/outcome.h"
#include "store/sql.h"

static const char schema[] = {
#include "schemas/store.sql.h"
	, 0};

const char *store_network_name(long type)
{
	switch ((uint32_t)type) {
#define NETFS(number, name) case number: return name;
#include "schemas/netfs.def"
#undef NETFS
	}
	return NULL;
}

static int check_network(const char *path, struct err *err)
{
	char *copy = mem_strdup(path);
	struct statfs fs;
	const char *name;
	int rc = statfs(dirname(copy), &fs);

	mem_free(copy);
	if (rc < 0)
		return err_errno(err, "the folder of %s cannot be used", path);
	name = store_network_name((long)fs.f_type);
	if (!name)
		return 0;
	return err_set(err, "%s is on a network file system (%s), where "
		"locks and shared memory are not reliable enough to keep a store safe: write to a local disk and "
		"merge, or use --force", path, name);
}

bool store_packed(const char *path)
{
	char start[4];
	FILE *f = fopen(path, "rb");
	bool yes = f && fread(start, 1, sizeof start, f) == sizeof start && io_is_packed(start, sizeof start);

	if (f)
		fclose(f);
	return yes;
}

static int check_file(const char *path, enum store_mode mode, const struct store_options *o, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return err_errno(err, "%s cannot be opened", path);
		if (mode != STORE_CREATE)
			return err_set(err, "%s does not exist", path);
	} else if (!S_ISREG(st.st_mode)) {
		return err_set(err, "%s is not a regular file, so it is no store", path);
	} else if (st.st_size == 0 && mode != STORE_CREATE) {
		return err_set(err, "%s is empty: not a store yet", path);
	} else if (store_packed(path)) {
		return err_set(err, "%s is packed: `store merge OUT %s` unpacks it into a store", path, path);
	}
	return o->force ? 0 : check_network(path, err);
}

static int take_lock(struct store *s, bool wait, struct err *err)
{
	s->lock = open(s->path, O_RDWR | O_CLOEXEC | (s->mode == STORE_CREATE ? O_CREAT : 0), 0644);
	if (s->lock < 0)
		return errno == EACCES || errno == EROFS || errno == EPERM
			? err_set(err, "%s is read-only for this user: it cannot be written", s->path)
			: err_errno(err, "%s cannot be opened for writing", s->path);
	if (flock(s->lock, LOCK_EX | LOCK_NB) == 0 || (wait && flock(s->lock, LOCK_EX) == 0))
		return 0;
	if (errno == EWOULDBLOCK)
		return err_set(err, "%s is being written by another program, "
			"and one at a time may: wait for it (--wait), "
			"or write to a file of your own and merge", s->path);
	return err_errno(err, "waiting for the writer of %s", s->path);
}

/* The path as a URI; what follows its "?" says how to open the file. */
char *store_uri(const char *path, const char *how)
{
	struct buf b = {0};

	buf_adds(&b, "file:");
	for (; *path; path++)
		if (strchr("?#%", *path))
			buf_addf(&b, "%%%02x", (unsigned char)*path);
		else
			buf_addch(&b, *path);
	buf_adds(&b, how);
	return buf_detach(&b, NULL);
}

/* Sets up a connection before its first statement. */
static int configure(struct store *s, struct err *err)
{
	int off = 0;

	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, (int)(s->busy * 1000));
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &off);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &off);
	if (s->mode == STORE_READ)
		return sql_exec(s, "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; BEGIN;"
			" SELECT 1 FROM sqlite_schema LIMIT 1", err);
	return sql_exec(s, "PRAGMA cell_size_check = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		" PRAGMA journal_size_limit = 67108864; PRAGMA foreign_keys = ON", err);
}

/* Opens a store without a -wal file, in a folder that we may not write to, as a file that nobody changes. */
static int open_immutable(struct store *s, struct err *err)
{
	char *uri = store_uri(s->path, "?immutable=1");
	int rc;

	sqlite3_close(s->db);
	s->db = NULL;
	rc = sqlite3_open_v2(uri, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	mem_free(uri);
	if (rc != SQLITE_OK)
		return sql_fail(s, rc, err);
	return configure(s, err);
}

static bool has_wal(const char *path)
{
	struct buf b = {0};
	struct stat st;
	bool has;

	buf_addf(&b, "%s-wal", path);
	has = stat(b.data, &st) == 0 && st.st_size > 0;
	buf_release(&b);
	return has;
}

static int connect_file(struct store *s, struct err *err)
{
	int flags = s->mode == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	struct err first = {0};
	char *uri = store_uri(s->path, "");
	int rc = sqlite3_open_v2(uri, &s->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

	mem_free(uri);
	if (rc == SQLITE_OK && configure(s, &first) == 0)
		return 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_extended_errcode(s->db);
	if (s->mode == STORE_READ && ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) &&
		!has_wal(s->path))
		return open_immutable(s, err);
	return sql_fail(s, rc, err);
}

static int fill_words(struct store *s, struct err *err)
{
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (sql_run(s, err, "INSERT INTO outcome VALUES (?, ?, ?)", "itt", (int64_t)i,
			    outcome_name((enum outcome)i), outcome_meaning((enum outcome)i)) < 0)
			return -1;
	for (int i = 0; i < COST_KIND_COUNT; i++)
		if (sql_run(s, err, "INSERT INTO cost_kind VALUES (?, ?, ?)", "itt", (int64_t)i,
			    cost_kind_name((enum cost_kind)i), cost_kind_meaning((enum cost_kind)i)) < 0)
			return -1;
	return 0;
}

static int create(struct store *s, struct err *err)
{
	if (sql_write(s, err) < 0 || sql_exec(s, schema, err) < 0 || fill_words(s, err) < 0)
		return -1;
	return store_commit(s, err);
}

/*
 * Reads an older store through a copy that is migrated to today's version; the file stays as it is. The copy has no
 * name (it is SQLite's temporary database) and goes with the connection.
 */
static int read_older(struct store *s, struct err *err)
{
	sqlite3 *copy = NULL;
	int rc = sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(copy, "main", s->db, "main") : NULL;

	if (b) {
		sqlite3_backup_step(b, -1);
		rc = sqlite3_backup_finish(b);
	}
	if (rc != SQLITE_OK || !b) {
		err_set(err, "%s is an older store, and there is no room for "
			"the copy to read it by: %s; `store compact %s` "
			"brings the file itself to version %d", s->path, sqlite3_errmsg(copy), s->path, STORE_VERSION);
		sqlite3_close(copy);
		return -1;
	}
	sql_forget(s);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(s->db);
	s->db = copy;
	if (store_migrate(s, store_migrations, store_n_migrations, STORE_VERSION, err) < 0)
		return -1;
	return configure(s, err);
}

/* Is the file a store of ours, and of which version? */
static int check_version(struct store *s, struct err *err)
{
	int64_t application, version, tables;

	if (sql_int(s, err, &application, "PRAGMA application_id", "") < 0 ||
		sql_int(s, err, &version, "PRAGMA user_version", "") < 0 ||
		sql_int(s, err, &tables, "SELECT count(*) FROM sqlite_schema", "") < 0)
		return -1;
	/* An empty file: the program that created it was killed before it filled it. We fill it. */
	if (application == 0 && version == 0 && tables == 0)
		return s->mode == STORE_CREATE ? create(s, err)
					       : err_set(err, "%s is empty: not a store yet", s->path);
	if (application != STORE_APPLICATION)
		return err_set(err, "%s is an SQLite file of another program, not a store", s->path);
	if (version > STORE_VERSION)
		return err_set(err, "%s is a store of version %lld, newer than this program, which knows up to %d: "
			"use a newer vantage", s->path, (long long)version, STORE_VERSION);
	if (version == STORE_VERSION)
		return 0;
	if (s->mode == STORE_READ)
		return read_older(s, err);
	return store_migrate(s, store_migrations, store_n_migrations, STORE_VERSION, err);
}

/*
 * The number of a run is shifted into the ids of its steps, so one that no program of ours gives out would lead to
 * those of another. A table that cannot be read is for others to report: verify still answers what it can.
 */
static int check_runs(struct store *s, struct err *err)
{
	struct err ignored;
	int64_t id;

	if (sql_int(s, &ignored, &id, "SELECT id FROM run WHERE id < 1 UNION ALL SELECT id FROM run WHERE id >= "
			"0x7fffffff LIMIT 1", "") != 1)
		return 0;
	return err_set(err, "%s has a run with the number %lld, which no run can have: the file is damaged", s->path,
		(long long)id);
}

struct store *store_open(const char *path, enum store_mode mode, const struct store_options *o, struct err *err)
{
	static const struct store_options none;
	struct store *s = NULL;

	if (!o)
		o = &none;
	if (check_file(path, mode, o, err) < 0)
		return NULL;
	s = MEM_NEW(1, struct store);
	s->path = mem_strdup(path);
	s->mode = mode;
	s->lock = -1;
	s->busy = o->busy > 0 ? o->busy : 5;
	if ((mode != STORE_READ && take_lock(s, o->wait, err) < 0) || connect_file(s, err) < 0 ||
		check_version(s, err) < 0 || check_runs(s, err) < 0) {
		store_close(s);
		return NULL;
	}
	return s;
}

int store_commit(struct store *s, struct err *err)
{
	if (s->mode == STORE_READ || sqlite3_get_autocommit(s->db))
		return 0;
	return sql_run(s, err, "COMMIT", "");
}

static void roll_back(struct store *s)
{
	sql_forget(s);
	if (s->db && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	roll_back(s);
	if (sqlite3_close(s->db) != SQLITE_OK)
		BUG("%s closed while in use", s->path);
	if (s->lock >= 0)
		close(s->lock);
	mem_free(s->path);
	mem_free(s);
}

void store_abandon(struct store *s)
{
	struct err ignored = {0};
	char *path = mem_strdup(s->path);
	int64_t any;
	bool empty;

	roll_back(s);
	empty = sql_int(s, &ignored, &any, "SELECT 1 FROM run LIMIT 1", "") == 0;
	store_close(s);
	if (empty)
		unlink(path);
	mem_free(path);
}

const char *store_path(const struct store *s)
{
	return s->path;
}

void store_uuid(char uuid[37])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t b[16];
	char *out = uuid;

	if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
		BUG("getrandom gave no 16 bytes");
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		*out++ = hex[b[i] >> 4];
		*out++ = hex[b[i] & 15];
	}
	*out = 0;
}
