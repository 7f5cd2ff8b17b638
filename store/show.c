/*
 * show.c - the verbs info, ls and show: they tell what is in a store, each by a handful of queries.
 *
 * Nothing here counts the rows of `sample`, which would read a large file from end to end. Failed samples have an
 * index of their own.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/cmd.h"

#define FAILED_OF(run) \
	"(SELECT count(*) FROM sample WHERE id >= " run " << 32 AND id < (" run " + 1) << 32 AND outcome <> 0)"
#define LAST_STINT(column, run) "(SELECT " column " FROM stint WHERE run = " run " ORDER BY n DESC LIMIT 1)"

enum progress_mode cmd_talk(const struct request *r)
{
	return !r->quiet && isatty(STDERR_FILENO) ? PROGRESS_TTY : PROGRESS_QUIET;
}

int cmd_info(struct request *r, struct err *err)
{
	struct emit e = {.s = r->s, .format = r->format};
	struct stat st = {0};
	int rc;

	stat(store_path(r->s), &st);
	rc = emit_one(&e, "store", sql_query(r->s, err, "SELECT ? AS file, ? AS size_b,"
			" (SELECT user_version FROM pragma_user_version) AS version,"
			" (SELECT count(*) FROM run) AS runs,"
			" (SELECT sum(" SQL_STEPS(main, "r.id") ") FROM run r) AS steps,"
			" (SELECT count(*) FROM graph) AS graphs, (SELECT count(*) FROM space) AS spaces,"
			" (SELECT count(*) FROM environment) AS environments, "
			"(SELECT count(*) FROM region) AS cached_regions, (SELECT count(*) FROM measurement) AS "
			"measurements, (SELECT count(*) FROM failure) AS failures,"
			" (SELECT count(*) FROM anchor) AS anchors, (SELECT max(at) FROM rebuilt) AS rebuilt_at",
			"ti", store_path(r->s), (int64_t)st.st_size), err) < 0 ||
		emit_rows(&e, "environments", sql_query(r->s, err, "SELECT e.id, e.backend, "
		"k.name AS cost, e.quantity, e.platform, e.version,"
			" e.build, e.device AS accelerator, m.description AS machine, (SELECT "
			"count(*) FROM run WHERE environment = e.id) AS runs"
			" FROM environment e JOIN machine m ON m.id = e.machine "
			"JOIN cost_kind k ON k.id = e.kind ORDER BY e.id", ""), err) < 0 ? -1 : 0;
	return emit_end(&e, rc, err);
}

static sqlite3_stmt *runs_query(struct request *r, struct err *err)
{
	return sql_query(r->s, err, "SELECT r.id AS run, r.uuid, r.kind, e.backend, k.name AS cost, r.policy, "
		LAST_STINT("state", "r.id") " AS state, " LAST_STINT("host", "r.id") " AS host,"
		" (SELECT count(*) FROM chain WHERE run = r.id) AS chains, " SQL_STEPS(main, "r.id") " AS steps,"
		FAILED_OF("r.id") " AS failed, (SELECT min(started) FROM stint WHERE run = r.id) AS started_at, "
		LAST_STINT("ended", "r.id") " AS ended_at"
		" FROM run r JOIN environment e ON e.id = r.environment "
		"JOIN cost_kind k ON k.id = e.kind ORDER BY r.id", "");
}

static sqlite3_stmt *graphs_query(struct request *r, struct err *err)
{
	return sql_query(r->s, err, "SELECT g.id AS graph, g.name, g.nodes, "
		"g.edges, b.size AS size_b, p.kind AS space, p.sites, p.ties, (SELECT count(DISTINCT run) FROM chain "
		"WHERE space = p.id) AS runs,"
		" (SELECT sum(samples) FROM sigma WHERE space = p.id) AS rebuilt_samples,"
		" (SELECT min(sigma) FROM sigma WHERE space = p.id) AS sigma_s"
		" FROM graph g JOIN blob b ON b.id = g.blob LEFT JOIN space p ON p.graph = g.id ORDER BY g.id, p.id",
		"");
}

static const char *const lists[] = {"runs", "graphs"};

int cmd_ls(struct request *r, struct err *err)
{
	struct emit e = {.s = r->s, .format = r->format};
	const char *what = r->n_words ? r->word[0] : NULL;
	int rc = 0;

	if (what && strcmp(what, "runs") != 0 && strcmp(what, "graphs") != 0) {
		const char *near = opt_nearest(what, lists, 2);
		return err_set(err, "ls lists runs or graphs, not %s%s%s", what, near ? "; did you mean " : "", near
			? near : "");
	}
	if (!what || *what == 'r')
		rc = emit_rows(&e, "runs", runs_query(r, err), err);
	if (rc == 0 && (!what || *what == 'g'))
		rc = emit_rows(&e, "graphs", graphs_query(r, err), err);
	return emit_end(&e, rc, err);
}

/* Prefers a run's number to a uuid that happens to begin with the same digits. */
#define IS_RUN "CASE WHEN EXISTS (SELECT 1 FROM run WHERE CAST(id AS TEXT) = ?1) THEN CAST(id AS TEXT) = ?1" \
	" ELSE substr(uuid, 1, length(?1)) = lower(?1) END"

int cmd_find_run(struct store *s, const char *word, int64_t *id, struct err *err)
{
	int64_t n;

	if (sql_int(s, err, &n, "SELECT count(*) FROM run WHERE " IS_RUN, "t", word) < 0)
		return -1;
	if (n > 1)
		return err_set(err, "%lld runs of %s begin with %s: give more of the uuid", (long long)n, store_path(s),
			word);
	if (n == 0)
		return 0;
	return sql_int(s, err, id, "SELECT id FROM run WHERE " IS_RUN, "t", word);
}

static int show_run_facts(struct emit *e, int64_t id, struct err *err)
{
	return emit_one(e, "run", sql_query(e->s, err, "SELECT r.id AS run, r.uuid || '' AS uuid, r.kind, r.policy, "
			LAST_STINT("state", "r.id") " AS state, "
			SQL_STEPS(main, "r.id") " AS steps, r.program, r.settings,"
			" printf('%llu', r.seed) AS seed, e.backend, k.name AS cost, e.quantity, "
			"e.platform, e.version, e.build, e.compile_options, e.device AS accelerator, m.description AS "
			"machine FROM run r JOIN environment e ON e.id = r.environment JOIN machine m ON"
			" m.id = e.machine JOIN cost_kind k ON k.id = e.kind WHERE r.id = ?", "i", id), err) < 0 ||
		emit_rows(e, "stints",
		sql_query(e->s, err, "SELECT n, host, program, first_step, started AS started_at,"
			" ended AS ended_at, state, summary FROM stint WHERE run = ? ORDER BY n", "i", id), err) < 0 ||
		emit_rows(e, "chains", sql_query(e->s, err, "SELECT c.number AS "
		"chain, g.name AS graph, p.kind AS space, p.sites,"
			" c.start, c.tau, c.base_seconds AS default_s, "
			"(SELECT count(*) FROM keyframe WHERE run = c.run AND chain = c.number) AS keyframes FROM "
			"chain c JOIN space p ON p.id = c.space JOIN graph g ON"
			" g.id = p.graph WHERE c.run = ? ORDER BY 1", "i", id), err) < 0 ? -1 : 0;
}

static int show_run(struct emit *e, int64_t id, struct err *err)
{
	return show_run_facts(e, id, err) < 0 ||
		emit_rows(e, "anchors (last 20)",
		sql_query(e->s, err, "SELECT * FROM (SELECT step, chain, sweep, default_seconds AS"
			" default_s, whole AS whole_s, whole_se AS whole_se_s, "
			"running AS running_s, running_se AS running_se_s, reanchored, o.name AS outcome FROM anchor "
			"JOIN outcome o ON o.id = outcome WHERE run = ?"
			" ORDER BY step DESC, n DESC LIMIT 20) ORDER BY step", "i", id), err) < 0 ||
		emit_rows(e, "findings",
		sql_query(e->s, err, "SELECT f.step, f.chain, f.how, k.name AS cost, f.delta AS delta_s,"
			" f.se AS se_s, f.default_seconds AS default_s FROM finding f JOIN cost_kind k ON k.id = f.kind"
			" WHERE run = ? ORDER BY step, n", "i", id), err) < 0 ||
		emit_rows(e, "failed samples",
		sql_query(e->s, err, "SELECT o.name AS outcome, count(*) AS samples FROM sample"
			" JOIN outcome o ON o.id = outcome WHERE sample.id "
			">= ?1 << 32 AND sample.id < (?1 + 1) << 32 AND"
			" outcome <> 0 GROUP BY 1 ORDER BY 2 DESC", "i", id), err) < 0 ||
		emit_rows(e, "failures (last 10)",
		sql_query(e->s, err, "SELECT * FROM (SELECT step, at AS at_at, o.name AS outcome,"
			" signal, detail FROM failure JOIN outcome o ON o.id = outcome WHERE run = ?"
			" ORDER BY step DESC, n DESC LIMIT 10) ORDER BY step", "i", id), err) < 0 ? -1 : 0;
}

static int show_graph(struct emit *e, int64_t id, struct err *err)
{
	return emit_one(e, "graph", sql_query(e->s, err, "SELECT g.id AS graph, "
		"g.name, lower(hex(b.hash)) AS sha256, b.size AS"
			" size_b, length(b.data) AS packed_b, g.nodes, "
			"g.computations, g.edges FROM graph g JOIN blob b ON"
			" b.id = g.blob WHERE g.id = ?", "i", id), err) < 0 ||
		emit_rows(e, "spaces", sql_query(e->s, err, "SELECT p.id AS space, p.kind, p.backend, p.sites, p.ties,"
			" printf('%016x', p.hash) AS hash, (SELECT count(*) FROM "
			"chain WHERE space = p.id) AS chains FROM space p"
			" WHERE p.graph = ? ORDER BY 1", "i", id), err) < 0 ||
		emit_rows(e, "runs", sql_query(e->s, err, "SELECT DISTINCT r.id AS run, "
		"r.uuid, r.kind, c.space, e.backend, k.name AS"
			" cost FROM chain c JOIN run r ON r.id = c.run JOIN "
			"space p ON p.id = c.space JOIN environment e ON"
			" e.id = r.environment JOIN cost_kind k ON k.id = e.kind WHERE p.graph = ? ORDER BY 1", "i",
			id), err) < 0 ||
		emit_rows(e, "label scale (by `store rebuild`)",
		sql_query(e->s, err, "SELECT s.space, e.backend, k.name AS cost,"
			" s.samples, s.advantages, s.sigma AS sigma_s FROM sigma s "
			"JOIN environment e ON e.id = s.environment JOIN"
			" cost_kind k ON k.id = e.kind JOIN space p ON p.id = s.space WHERE p.graph = ? ORDER BY 1",
			"i", id), err) < 0 ||
		emit_rows(e, "best (by `store rebuild`)",
		sql_query(e->s, err, "SELECT b.space, e.backend, k.name AS cost, b.how,"
			" b.delta AS delta_s, b.se AS se_s, b.default_seconds "
			"AS default_s, b.run, b.step FROM best b JOIN environment e ON e.id = b.environment JOIN "
			"cost_kind k ON k.id = e.kind JOIN space p ON p.id = b.space"
			" WHERE p.graph = ? ORDER BY 1, 4", "i", id), err) < 0 ? -1 : 0;
}

/* Graphs of this name, or whose hash begins so; a short word is no hash. */
#define GRAPHS_CALLED "FROM graph g JOIN blob b ON b.id = g.blob WHERE g.name = ?1 OR" \
	" (length(?1) >= 4 AND substr(lower(hex(b.hash)), 1, length(?1)) = lower(?1))"

static int find_graph(struct store *s, const char *word, int64_t *id, struct err *err)
{
	int64_t n;

	if (sql_int(s, err, &n, "SELECT count(*) " GRAPHS_CALLED, "t", word) < 0)
		return -1;
	if (n > 1)
		return err_set(err, "%lld graphs of %s are called %s: give the "
			"first digits of the hash (`store query %s \"SELECT name, hex(hash) FROM graph g JOIN blob b "
			"ON b.id = g.blob\"`)", (long long)n, store_path(s), word,
			store_path(s));
	if (n == 0)
		return 0;
	return sql_int(s, err, id, "SELECT g.id " GRAPHS_CALLED, "t", word);
}

int cmd_show(struct request *r, struct err *err)
{
	struct emit e = {.s = r->s, .format = r->format};
	int64_t id;
	int rc;

	if (r->n_words != 1)
		return err_set(err, "show needs one run (uuid, its first digits, or number) or graph (name or hash)");
	/* A graph by its name first: names are rarely digits, runs have unique prefixes. */
	rc = find_graph(r->s, r->word[0], &id, err);
	if (rc == 1)
		rc = show_graph(&e, id, err) < 0 ? -1 : 1;
	else if (rc == 0 && (rc = cmd_find_run(r->s, r->word[0], &id, err)) == 1)
		rc = show_run(&e, id, err) < 0 ? -1 : 1;
	if (rc == 0)
		return err_set(err, "%s has no run and no graph %s: see `store ls %s`", store_path(r->s), r->word[0],
			store_path(r->s));
	return emit_end(&e, rc < 0 ? -1 : 0, err);
}
