/*
 * merge.c - merges shards, the stores of many machines, into one store.
 *
 * A run is known by its uuid, everything it refers to by a hash of its content. So temporary tables map
 * each shard's ids to ours, and SQL alone copies its rows. A run only ever gets more steps, so we copy
 * the steps after our last one. This makes merging
 *   - idempotent: the second time there are no such steps;
 *   - resumable: it commits every CHUNK steps, and a chunk is a valid run (with its keyframes);
 *   - fit for shards that are being written: merge tonight, and again tomorrow.
 * If both have a run, all their common steps are compared before anything is added: two copies of a shard that were
 * both continued have the same uuid, but are not the same run. To compare the last one alone would not do: of several
 * chains it is a step of one, and that one may not have parted.
 *
 * A run that was made here and went on in a copy gets the copy's steps, but not its state. So it cannot go on here any
 * more: its own state is that of an earlier step, and is dropped.
 *
 * Measurements of rules that now write something else are wrong, and facts are never rewritten. So a merge into a new
 * store can leave out all runs of some graphs, which are then collected anew.
 *
 * All shards are looked at before OUT is opened, so a name that is wrong changes nothing.
 *
 * SQLite's backup first copies each shard beside OUT. It sees one moment of the shard and does not disturb
 * its writer. Attaching shards that seem idle was faster by a fifth, but wrong if a collector starts on one
 * meanwhile. A shard packed with zstd, as measurements are shipped, is first unpacked beside OUT. Both files have names
 * that no other has: a user's OUT.snapshot is not ours, and two merges may read into stores of one folder. What a merge
 * that was killed left of them, the next one into OUT removes: it is OUT's only writer.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/sweep.h"
#include "store/blob.h"
#include "store/cmd.h"
#include "store/code.h"
#include "store/fact.h"

#define CHUNK 100000 /* steps per transaction */

/* Of the header of an SQLite file: its length, and where the number of the application stands, big-endian. */
#define SQLITE_HEADER 100
#define SQLITE_APPLICATION 68

struct merge {
	struct store *s;
	const char *shard, *without; /* without: the names of graphs that are left out, a regular expression; or NULL */
	struct progress progress;
	uint64_t runs, steps, left_out; /* left_out: runs */
};

struct pair { /* a run there and here */
	int64_t from, to, have, all; /* steps we have, steps there are */
};

/* Copies one moment of the shard into a file of our own, migrated to today's version. */
static int snapshot(struct merge *m, struct store *in, const char *path, struct err *err)
{
	sqlite3 *to = NULL;
	sqlite3_backup *b;
	int rc = sqlite3_open(path, &to);

	if (rc == SQLITE_OK) /* the copy is thrown away, so it need not survive a power cut */
		rc = sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", in->db, "main") : NULL;
	if (b) {
		sqlite3_backup_step(b, -1);
		rc = sqlite3_backup_finish(b);
	}
	if (rc != SQLITE_OK || !b)
		err_set(err, "%s cannot be copied to %s: %s", m->shard, path, sqlite3_errmsg(to));
	sqlite3_close(to);
	return rc == SQLITE_OK && b ? 0 : -1;
}

static int check_not_same(const char *shard, const char *into, struct err *err)
{
	struct stat a, b;

	if (stat(shard, &a) == 0 && stat(into, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return err_set(err, "%s cannot be merged into itself", shard);
	return 0;
}

/* Does a packed file hold a store? Only the header is looked at, which is SQLite's. */
static int check_packed(const char *shard, struct err *err)
{
	static const char magic[] = "SQLite format 3";
	static const uint8_t application[] = {STORE_APPLICATION >> 24, STORE_APPLICATION >> 16 & 0xff,
		STORE_APPLICATION >> 8 & 0xff, STORE_APPLICATION & 0xff};
	struct buf data = {0};
	int rc = io_read_file(shard, IO_FILE_LIMIT, &data, err);

	if (rc == 0 && (data.len < SQLITE_HEADER || memcmp(data.data, magic, sizeof magic) != 0 ||
		memcmp(data.data + SQLITE_APPLICATION, application, sizeof application) != 0))
		rc = err_set(err, "%s is packed, and what is packed in it is no store", shard);
	buf_release(&data);
	return rc;
}

int cmd_merge_check(struct request *r, struct err *err)
{
	struct store_options force = {.force = true};
	struct store *s;

	if (r->n_words == 0)
		return err_set(err, "merge needs the store to merge into, and at least one to merge");
	for (int i = 0; i < r->n_words; i++) {
		if (check_not_same(r->word[i], r->path, err) < 0)
			return -1;
		if (store_packed(r->word[i])) {
			if (check_packed(r->word[i], err) < 0)
				return -1;
			continue;
		}
		s = store_open(r->word[i], STORE_READ, &force, err);
		if (!s)
			return -1;
		store_close(s);
	}
	return 0;
}

/* Makes an empty file beside OUT, and returns its name; NULL with a sentence. The caller frees it with drop_file. */
static char *neighbour(const struct merge *m, struct err *err)
{
	char *name;
	int fd = io_open_neighbour(store_path(m->s), &name, err);

	if (fd >= 0)
		close(fd);
	return name;
}

/* Opens the shard; *unpacked is the file to be deleted when it is closed, or NULL. */
static struct store *open_shard(const struct merge *m, char **unpacked, struct err *err)
{
	struct store_options force = {.force = true}; /* reading a copy, not living there */
	struct buf data = {0};
	struct store *s;
	int rc = 0;

	*unpacked = NULL;
	if (store_packed(m->shard)) {
		rc = io_read_file(m->shard, IO_FILE_LIMIT, &data, err);
		if (rc == 0 && (rc = (*unpacked = neighbour(m, err)) ? 0 : -1) == 0)
			rc = io_write_file(*unpacked, data.data, data.len, err);
		buf_release(&data);
	}
	if (rc < 0)
		return NULL;
	s = store_open(*unpacked ? *unpacked : m->shard, STORE_READ, &force, err);
	if (!s && *unpacked)
		err_prefix(err, "%s", m->shard);
	return s;
}

static void drop_file(char *path)
{
	static const char *const end[] = {"", "-wal", "-shm", "-journal"};
	struct buf b = {0};

	for (size_t i = 0; path && i < 4; i++) {
		buf_reset(&b);
		buf_addf(&b, "%s%s", path, end[i]);
		unlink(b.data);
	}
	buf_release(&b);
	mem_free(path);
}

static int attach(struct merge *m, struct err *err)
{
	char *unpacked, *uri, *copy = NULL;
	struct store *in = open_shard(m, &unpacked, err);
	int rc = in && (copy = neighbour(m, err)) ? snapshot(m, in, copy, err) : -1;

	store_close(in);
	drop_file(unpacked);
	if (rc == 0) {
		uri = store_uri(copy, "?immutable=1");
		rc = sql_run(m->s, err, "ATTACH ? AS shard", "t", uri);
		mem_free(uri);
	}
	drop_file(copy); /* it stays open; a merge that is killed from now on leaves nothing */
	return rc;
}

/* Lists the shard's graphs that are wanted, and the runs that are left out because one of theirs is not. */
static int select_graphs(struct merge *m, struct err *err)
{
	int64_t n;

	if (sql_run(m->s, err, "CREATE TEMP TABLE wanted AS SELECT id FROM shard.graph WHERE ?1 IS NULL OR"
		" NOT name REGEXP ?1", "t", m->without) < 0 ||
		sql_exec(m->s, "CREATE TEMP TABLE left_out AS SELECT DISTINCT c.run FROM shard.chain c"
		" JOIN shard.space p ON p.id = c.space WHERE p.graph NOT IN wanted", err) < 0 ||
		sql_int(m->s, err, &n, "SELECT count(*) FROM left_out", "") < 0)
		return -1;
	m->left_out += (uint64_t)n;
	return 0;
}

/* Adds facts about the wanted graphs by their content, and fills the tables that map their ids to ours. */
static int map_facts(struct merge *m, struct err *err)
{
	return sql_exec(m->s,
		"INSERT OR IGNORE INTO main.machine (description) SELECT description FROM shard.machine;"
		"INSERT OR IGNORE INTO main.environment (hash, machine, "
		"backend, platform, version, compile_options, kind, device, build, quantity) SELECT e.hash, o.id, "
		"e.backend, e.platform, e.version, e.compile_options, e.kind, e.device,"
		" e.build, e.quantity FROM shard.environment e"
		" JOIN shard.machine a ON a.id = e.machine JOIN main.machine o ON o.description = a.description;"
		"CREATE TEMP TABLE map_environment AS SELECT a.id AS old, o.id AS new FROM shard.environment a"
		" JOIN main.environment o ON o.hash = a.hash;"
		"INSERT OR IGNORE INTO main.blob (hash, size, data) SELECT hash, size, data FROM shard.blob WHERE id IN"
		" (SELECT blob FROM shard.graph WHERE id IN wanted);"
		"INSERT OR IGNORE INTO main.graph (blob, name, nodes, "
		"computations, edges) SELECT o.id, g.name, g.nodes, g.computations, g.edges FROM shard.graph g JOIN "
		"shard.blob a ON a.id = g.blob JOIN main.blob o ON o.hash = a.hash WHERE g.id IN wanted;"
		"CREATE TEMP TABLE map_graph AS SELECT g.id AS old, h.id AS new FROM "
		"shard.graph g JOIN shard.blob a ON a.id = g.blob JOIN main.blob o ON o.hash = a.hash JOIN main.graph "
		"h ON h.blob = o.id WHERE g.id IN wanted;"
		"INSERT OR IGNORE INTO main.space (identity, graph, kind, "
		"backend, hash, sites, ties, choices, dflt, node) SELECT p.identity, g.new, p.kind, p.backend, p.hash, "
		"p.sites, p.ties, p.choices, p.dflt, p.node FROM shard.space p"
		" JOIN map_graph g ON g.old = p.graph;"
		"CREATE TEMP TABLE map_space AS SELECT a.id AS old, o.id AS new FROM shard.space a JOIN main.space o ON"
		" o.identity = a.identity;"
		"INSERT OR IGNORE INTO main.region SELECT e.new, r.key0, r.key1, "
		"r.at, r.delta, r.se, r.seconds_a, r.seconds_b, r.pairs, r.kind, r.outcome, r.deadline, r.load, "
		"r.memory FROM shard.region r JOIN map_environment e ON e.old = r.environment", err);
}

/* Checks the hashes of the new blobs, so that a damaged one does not spread. */
static int check_new_blobs(struct merge *m, int64_t after, struct err *err)
{
	struct buf b = {0};
	int64_t id = after;
	int rc;

	while ((rc = sql_int(m->s, err, &id, "SELECT min(id) FROM main.blob WHERE id > ?", "i", id)) == 1) {
		buf_reset(&b);
		if (blob_get(m->s, id, &b, NULL, err) < 0) {
			rc = err_prefix(err, "merging %s", m->shard);
			break;
		}
	}
	buf_release(&b);
	return rc;
}

static int last_blob(struct merge *m, int64_t *id, struct err *err)
{
	return sql_int(m->s, err, id, "SELECT coalesce(max(id), 0) FROM main.blob", "") < 0 ? -1 : 0;
}

static int last_space(struct merge *m, int64_t *id, struct err *err)
{
	return sql_int(m->s, err, id, "SELECT coalesce(max(id), 0) FROM main.space", "") < 0 ? -1 : 0;
}

/* Checks the identities of the new spaces, for the same reason. */
static int check_new_spaces(struct merge *m, int64_t after, struct err *err)
{
	struct stored_space p;
	int64_t id = after;
	int rc;

	while ((rc = sql_int(m->s, err, &id, "SELECT min(id) FROM main.space WHERE id > ?", "i", id)) == 1) {
		if (store_get_space(m->s, id, &p, err) < 0)
			return err_prefix(err, "merging %s", m->shard);
		stored_space_release(&p);
	}
	return rc;
}

/* Finds the run here by its uuid, or makes it. */
static int place_run(struct merge *m, struct pair *p, struct err *err)
{
	int rc = sql_int(m->s, err, &p->to, "SELECT o.id FROM shard.run a "
		"JOIN main.run o ON o.uuid = a.uuid WHERE a.id = ?",
		"i", p->from);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		if (sql_int(m->s, err, &p->to, "SELECT coalesce(max(id), 0) + 1 FROM main.run", "") < 0 ||
			sql_run(m->s, err, "INSERT INTO main.run SELECT ?, r.uuid, "
			"r.kind, r.program, r.settings, r.policy, r.seed,"
				" e.new FROM shard.run r JOIN "
				"map_environment e ON e.old = r.environment WHERE r.id = ?",
				"ii", p->to, p->from) < 0)
			return -1;
		m->runs++;
	}
	return sql_int(m->s, err, &p->have, "SELECT " SQL_STEPS(main, "?1"), "i", p->to) < 0 ||
		sql_int(m->s, err, &p->all, "SELECT " SQL_STEPS(shard, "?1"), "i", p->from) < 0 ? -1 : 0;
}

/*
 * Compares all steps that both have, and the keyframes up to there: two copies may differ in one chain only, and go on
 * alike in the others. No step has a gap before it, so it is enough to look up there what is here.
 */
static int check_same_run(struct merge *m, const struct pair *p, struct err *err)
{
	int64_t both = p->have < p->all ? p->have : p->all, step = 0;
	int rc = sql_int(m->s, err, &step, "SELECT min(step) FROM (SELECT o.id - ?1 AS step FROM main.sample o"
			" LEFT JOIN shard.sample a ON a.id = o.id - ?1 + ?2 WHERE o.id >= ?1 AND o.id < ?1 + ?3 AND"
			" (a.chain, a.site, a.chosen, a.kind, a.outcome, a.costs) IS NOT"
			" (o.chain, o.site, o.chosen, o.kind, o.outcome, o.costs)"
			" UNION ALL SELECT o.id - ?1 FROM main.trial o LEFT JOIN"
			" shard.trial a ON a.id = o.id - ?1 + ?2 WHERE o.id >= ?1 AND o.id < ?1 + ?3 AND"
			" (a.chain, a.flips, a.delta, a.se, a.taken, a.kind, a.outcome) IS NOT"
			" (o.chain, o.flips, o.delta, o.se, o.taken, o.kind, o.outcome)"
			" UNION ALL SELECT o.step FROM main.keyframe o LEFT JOIN"
			" shard.keyframe a ON a.run = ?2 >> 32 AND a.step = o.step AND a.n = o.n"
			" WHERE o.run = ?1 >> 32 AND o.step < ?3 AND"
			" (a.chain, a.jump, a.hash) IS NOT (o.chain, o.jump, o.hash))", "iii", RUN_BASE(p->to),
		RUN_BASE(p->from), both);

	if (rc <= 0)
		return rc;
	return err_set(err, "run %lld of %s and run %lld of %s have the same uuid but differ at step %lld: a copy of "
		"the shard was continued twice; leave one of them out", (long long)p->from, m->shard, (long long)p->to,
		store_path(m->s), (long long)step);
}

/* Copies the steps from `low` to below `high`, and what belongs to them. */
static int copy_steps(struct merge *m, const struct pair *p, int64_t low, int64_t high, struct err *err)
{
	int64_t a = RUN_BASE(p->from) + low, b = RUN_BASE(p->from) + (high < UINT32_MAX ? high : UINT32_MAX);
	int64_t shift = RUN_BASE(p->to) - RUN_BASE(p->from), blob;

	return last_blob(m, &blob, err) < 0 ||
		sql_run(m->s, err, "INSERT INTO main.sample SELECT id + ?, "
		"chain, site, chosen, kind, outcome, costs FROM"
			" shard.sample WHERE id >= ? AND id < ? ORDER BY id", "iii", shift, a, b) < 0 ||
		sql_run(m->s, err, "INSERT INTO main.trial SELECT id + ?, "
		"chain, flips, delta, se, taken, kind, outcome FROM"
			" shard.trial WHERE id >= ? AND id < ? ORDER BY id", "iii", shift, a, b) < 0 ||
		sql_run(m->s, err, "INSERT OR IGNORE INTO main.keyframe SELECT ?, "
		"step, n, chain, sweep, jump, hash, config FROM"
			" shard.keyframe WHERE run = ? AND step >= ? AND step < ?", "iiii", p->to, p->from, low,
			high) < 0 ||
		sql_run(m->s, err, "INSERT OR IGNORE INTO main.anchor SELECT ?, "
		"step, n, chain, sweep, default_seconds, whole,"
			" whole_se, running, running_se, reanchored, kind, outcome "
			"FROM shard.anchor WHERE run = ? AND step >= ?"
			" AND step < ?", "iiii", p->to, p->from, low, high) < 0 ||
		sql_run(m->s, err, "INSERT OR IGNORE INTO main.blob (hash, "
		"size, data) SELECT b.hash, b.size, b.data FROM"
			" shard.measurement q JOIN shard.blob b ON b.id = q.raw "
			"WHERE q.run = ? AND q.step >= ? AND q.step < ?",
			"iii", p->from, low, high) < 0 ||
		sql_run(m->s, err, "INSERT OR IGNORE INTO main.measurement "
		"SELECT ?, q.step, q.n, q.key0, q.key1, q.seconds_a,"
			" q.seconds_b, q.delta, q.se, q.pairs, q.instances, "
			"q.kind, q.outcome, o.id FROM shard.measurement q LEFT JOIN shard.blob b ON b.id = q.raw LEFT "
			"JOIN main.blob o ON o.hash = b.hash"
			" WHERE q.run = ? AND q.step >= ? AND q.step < ?", "iiii", p->to, p->from, low, high) < 0 ||
		sql_run(m->s, err, "INSERT OR IGNORE INTO main.failure SELECT ?, "
		"step, n, at, key0, key1, outcome, signal, detail"
			" FROM shard.failure WHERE run = ? AND step >= ? AND step < ?", "iiii", p->to, p->from, low,
			high) < 0 ||
		sql_run(m->s, err, "INSERT OR IGNORE INTO main.finding "
		"SELECT ?, step, n, chain, hash, config, delta, se,"
			" default_seconds, kind, how, details FROM "
			"shard.finding WHERE run = ? AND step >= ? AND step < ?",
			"iiii", p->to, p->from, low, high) < 0 ||
		check_new_blobs(m, blob, err) < 0 ? -1 : 0;
}

/* Copies the chains, with the first chunk, and the stints, whose ends may have been added since. */
static int copy_frame(struct merge *m, const struct pair *p, struct err *err)
{
	return sql_run(m->s, err, "INSERT OR IGNORE INTO main.chain SELECT ?, "
		"c.number, s.new, c.start, c.tau, c.base_seconds"
			" FROM shard.chain c JOIN map_space s ON s.old = c.space WHERE c.run = ?", "ii", p->to,
			p->from) < 0 ||
		sql_run(m->s, err, "INSERT INTO main.stint SELECT ?, n, first_step, "
		"program, host, started, ended, state, summary"
			" FROM shard.stint WHERE run = ? ON CONFLICT (run, n) DO UPDATE SET ended = excluded.ended,"
			" state = excluded.state, summary = excluded.summary WHERE main.stint.ended IS NULL", "ii",
			p->to, p->from) < 0 ? -1 : 0;
}

static int drop_state(struct merge *m, const struct pair *p, struct err *err)
{
	if (p->all <= p->have)
		return 0;
	return sql_run(m->s, err, "DELETE FROM main.resume WHERE run = ?", "i", p->to);
}

static int merge_run(struct merge *m, int64_t from, struct err *err)
{
	struct pair p = {.from = from};

	if (sql_write(m->s, err) < 0 || place_run(m, &p, err) < 0 || check_same_run(m, &p, err) < 0 ||
		copy_frame(m, &p, err) < 0 || drop_state(m, &p, err) < 0)
		return -1;
	/* The last chunk takes along what was committed after the last step. */
	for (int64_t low = p.have, high; low <= p.all; low = high) {
		high = p.all - low <= CHUNK ? p.all + 1 : low + CHUNK;
		if (copy_steps(m, &p, low, high, err) < 0 || store_commit(m->s, err) < 0 || sql_write(m->s, err) < 0)
			return -1;
		m->steps += (uint64_t)((high > p.all ? p.all : high) - low);
		progress_update(&m->progress, m->steps, m->shard);
	}
	return store_commit(m->s, err);
}

static int merge_shard(struct merge *m, struct err *err)
{
	int64_t run = 0, blob, space;
	int rc;

	if (sql_write(m->s, err) < 0 || last_blob(m, &blob, err) < 0 || last_space(m, &space, err) < 0 ||
		select_graphs(m, err) < 0 || map_facts(m, err) < 0 || check_new_blobs(m, blob, err) < 0 ||
		check_new_spaces(m, space, err) < 0 || store_commit(m->s, err) < 0)
		return -1;
	while ((rc = sql_int(m->s, err, &run, "SELECT min(id) FROM shard.run WHERE id > ? AND id NOT IN left_out", "i",
		run)) == 1)
		if (merge_run(m, run, err) < 0)
			return -1;
	return rc;
}

/*
 * SQLite names no file when a page is damaged, so a damaged page of the shard is taken for one of ours: says whose it
 * is. Always -1.
 */
static int blame(struct merge *m, struct err *err)
{
	struct err ignored;
	sqlite3_stmt *q = sql_query(m->s, &ignored, "PRAGMA shard.quick_check(1)", "");
	bool sound = q && sql_step(m->s, q, &ignored) == 1 && strcmp(sql_text(q, 0), "ok") == 0;

	sql_done(q);
	return sound ? -1 : err_set(err, "%s is damaged, and nothing more of it was merged: run `store verify`, "
		"restore a copy, or save what can be read with `sqlite3 %s .recover`", m->shard, m->shard);
}

static int merge_one(struct merge *m, struct err *err)
{
	struct err ignored;
	int rc;

	rc = attach(m, err);
	if (rc == 0) {
		rc = merge_shard(m, err) < 0 ? blame(m, err) : 0;
		sql_exec(m->s, "DROP TABLE IF EXISTS temp.wanted; DROP TABLE IF EXISTS temp.left_out;"
			" DROP TABLE IF EXISTS temp.map_environment; DROP TABLE IF EXISTS temp.map_graph;"
			" DROP TABLE IF EXISTS temp.map_space", &ignored);
		/* Its statements must be gone before it can be detached. */
		sql_forget(m->s);
		sql_exec(m->s, "DETACH shard", &ignored);
	}
	return rc;
}

static int tell(const struct merge *m, const struct request *r, struct err *err)
{
	unsigned long long runs = m->runs, steps = m->steps, left_out = m->left_out;
	struct buf b = {0};
	int rc;

	if (r->format == EMIT_JSON)
		buf_addf(&b, "{\"shards\": %d, \"new_runs\": %llu, \"new_steps\": %llu, \"runs_left_out\": %llu}\n",
			r->n_words, runs, steps, left_out);
	else
		buf_addf(&b, "%s: %llu new runs and %llu new steps from %d shard%s", store_path(m->s), runs, steps,
			r->n_words, r->n_words == 1 ? "" : "s");
	if (r->format != EMIT_JSON && m->without)
		buf_addf(&b, "; %llu run%s left out", left_out, left_out == 1 ? "" : "s");
	if (r->format != EMIT_JSON)
		buf_addch(&b, '\n');
	rc = io_print(&b, err);
	buf_release(&b);
	return rc;
}

int cmd_merge(struct request *r, struct err *err)
{
	struct merge m = {.s = r->s, .without = r->without};
	int rc = 0;

	/* Every reference copied was checked where it was written; verify checks them all again. */
	if (sql_exec(m.s, "PRAGMA foreign_keys = OFF", err) < 0 || cmd_functions(m.s, err) < 0)
		return -1;
	sweep_neighbours(store_path(m.s));
	progress_start(&m.progress, "steps merged", 0, cmd_talk(r));
	for (int i = 0; i < r->n_words && rc == 0; i++) {
		m.shard = r->word[i];
		rc = merge_one(&m, err);
	}
	progress_end(&m.progress);
	return rc < 0 ? -1 : tell(&m, r, err);
}
