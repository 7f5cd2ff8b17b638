/*
 * verify.c - checks whether everything in a store is still as it was written.
 *
 * It asks six questions, and answers each for the whole file even if the one before found damage: is every
 * page of the SQLite file sound, do all references lead somewhere, does every blob have its hash, does every
 * space have its identity, does every chain replay to its hashes, does every step belong to a run.
 */
#include <string.h>
#include "base/io.h"
#include "store/blob.h"
#include "store/cmd.h"
#include "store/code.h"
#include "store/replay.h"

struct audit {
	struct request *r;
	struct json json;
	struct buf out;
	uint64_t problems, blobs, runs, samples, trials, findings;
	struct progress progress;
};

static void problem(struct audit *v, const char *what)
{
	v->problems++;
	if (v->r->format == EMIT_JSON)
		json_str(&v->json, NULL, what);
	else
		buf_addf(&v->out, "DAMAGED: %s\n", what);
}

/* Prints the rows of a query that should give none; more than 20 tell nothing new. */
static int complaints(struct audit *v, const char *sql, const char *fine, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int rc, n = 0;

	if (sql_prepare(v->r->s, sql, &q, err) < 0)
		return -1;
	while ((rc = sql_step(v->r->s, q, err)) == 1 && n++ < 20)
		if (!fine || strcmp(sql_text(q, 0), fine) != 0)
			problem(v, sql_text(q, 0));
	sqlite3_finalize(q);
	return rc < 0 ? -1 : 0;
}

/*
 * The runs that rows of a table belong to, as SQL: one look at its key for each run. To look at the ends of the table
 * alone is not enough, because what belongs to no run may lie between two that are there.
 */
#define RUNS_OF(table) \
	"SELECT run FROM (WITH RECURSIVE r (run) AS (SELECT min(id) >> 32 FROM " #table " UNION ALL SELECT" \
	" (SELECT min(id) >> 32 FROM " #table " WHERE id > (run << 32 | 0xffffffff)) FROM r WHERE run IS NOT NULL)" \
	" SELECT run FROM r WHERE run IS NOT NULL)"

static int verify_file(struct audit *v, struct err *err)
{
	return complaints(v, "SELECT integrity_check FROM pragma_integrity_check", "ok", err) < 0 ||
		complaints(v, "SELECT 'a row of ' || \"table\" || ' refers to a ' || parent || ' that is missing'"
			" FROM pragma_foreign_key_check", NULL, err) < 0 ||
		complaints(v, "SELECT 'steps are there of run ' || run || ', which is not' FROM ("
			RUNS_OF(sample) " UNION " RUNS_OF(trial) ") WHERE run NOT IN (SELECT id FROM run)", NULL,
			err) < 0 ? -1 : 0;
}

static int verify_blobs(struct audit *v, struct err *err)
{
	sqlite3_stmt *q = NULL;
	struct buf bytes = {0};
	struct err why = {0};
	int rc;

	if (sql_prepare(v->r->s, "SELECT id FROM blob", &q, err) < 0)
		return -1;
	while ((rc = sql_step(v->r->s, q, err)) == 1) {
		buf_reset(&bytes);
		if (blob_get(v->r->s, sqlite3_column_int64(q, 0), &bytes, NULL, &why) < 0)
			problem(v, why.text);
		progress_update(&v->progress, ++v->blobs, NULL);
	}
	sqlite3_finalize(q);
	buf_release(&bytes);
	return rc;
}

static void verify_run(struct audit *v, const struct run_info *r)
{
	struct err why = {0};
	struct replay *p = replay_open(v->r->s, r->id, &why);
	struct step t;
	uint64_t steps = 0;
	int rc = -1;

	while (p && (rc = replay_next(p, &t, &why)) == 1) {
		steps++;
		v->samples += !t.is_trial;
		v->trials += t.is_trial;
		if (steps % 4096 == 0)
			progress_update(&v->progress, v->samples + v->trials, NULL);
	}
	if (rc < 0)
		problem(v, why.text);
	else
		v->runs++;
	replay_close(p);
}

/* Verifies every space, whether a run uses it or not. */
static int verify_spaces(struct audit *v, struct err *err)
{
	struct stored_space p;
	struct err why = {0};
	int64_t id = 0;
	int rc;

	while ((rc = sql_int(v->r->s, err, &id, "SELECT min(id) FROM space WHERE id > ?", "i", id)) == 1) {
		if (store_get_space(v->r->s, id, &p, &why) < 0)
			problem(v, why.text);
		else
			stored_space_release(&p);
	}
	return rc;
}

/* Checks the configurations in findings and derived rows against their hashes. */
static int verify_configs(struct audit *v, struct err *err)
{
	static const char sql[] = "SELECT f.config, p.sites, f.hash, f.run "
		"FROM finding f JOIN chain c ON c.run = f.run AND c.number = f.chain JOIN space p ON p.id = c.space "
		"UNION ALL SELECT b.config, p.sites, b.hash, b.run"
		" FROM best b JOIN space p ON p.id = b.space";
	struct buf config = {0};
	struct err why = {0};
	char text[120];
	sqlite3_stmt *q = NULL;
	int rc;

	if (sql_prepare(v->r->s, sql, &q, err) < 0)
		return -1;
	while ((rc = sql_step(v->r->s, q, err)) == 1) {
		uint32_t n = (uint32_t)sqlite3_column_int64(q, 1);

		buf_reset(&config);
		v->findings++;
		if (sql_unpack(v->r->s, q, 0, n, "a finding", &config, &why) < 0 ||
			hash_choices((const uint8_t *)config.data, n) != (uint64_t)sqlite3_column_int64(q, 2)) {
			snprintf(text, sizeof text, "a finding of run %lld does not have its hash",
				(long long)sqlite3_column_int64(q, 3));
			problem(v, text);
		}
	}
	sqlite3_finalize(q);
	buf_release(&config);
	return rc;
}

static void verify_all(struct audit *v)
{
	struct err why = {0};
	struct run_info *runs = NULL;
	size_t n = 0;

	/* A page that cannot be read ends this question, not the others. */
	progress_start(&v->progress, "blobs checked", 0, cmd_talk(v->r));
	if (verify_file(v, &why) < 0)
		problem(v, why.text);
	if (verify_blobs(v, &why) < 0)
		problem(v, why.text);
	if (verify_spaces(v, &why) < 0)
		problem(v, why.text);
	progress_end(&v->progress);
	progress_start(&v->progress, "steps replayed", 0, cmd_talk(v->r));
	if (store_runs(v->r->s, &runs, &n, &why) < 0)
		problem(v, why.text);
	for (size_t i = 0; i < n; i++)
		verify_run(v, &runs[i]);
	run_infos_free(runs, n);
	if (verify_configs(v, &why) < 0)
		problem(v, why.text);
	progress_end(&v->progress);
}

int cmd_verify(struct request *r, struct err *err)
{
	struct audit v = {.r = r};
	bool json = r->format == EMIT_JSON;
	int rc;

	v.json = (struct json){.out = &v.out, .pretty = true};
	if (json) {
		json_object(&v.json, NULL);
		json_str(&v.json, "file", store_path(r->s));
		json_array(&v.json, "problems");
	}
	verify_all(&v);
	if (json) {
		json_end(&v.json);
		json_uint(&v.json, "runs", v.runs);
		json_uint(&v.json, "samples", v.samples);
		json_uint(&v.json, "trials", v.trials);
		json_uint(&v.json, "blobs", v.blobs);
		json_uint(&v.json, "findings", v.findings);
		json_bool(&v.json, "ok", v.problems == 0);
		json_end(&v.json);
		buf_addch(&v.out, '\n');
	} else {
		buf_addf(&v.out, "%s: %s: %llu runs with %llu samples and %llu "
			"trials replay, %llu blobs and %llu configurations "
			"have their hashes\n", store_path(r->s), v.problems ? "DAMAGED" : "sound",
			(unsigned long long)v.runs, (unsigned long long)v.samples, (unsigned long long)v.trials,
			(unsigned long long)v.blobs, (unsigned long long)v.findings);
	}
	rc = io_print(&v.out, err) < 0 ? -1 : v.problems ? 1 : 0;
	buf_release(&v.out);
	return rc;
}
