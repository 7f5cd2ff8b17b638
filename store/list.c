/*
 * list.c - lists the runs in a store.. run.c writes them.
 */
#include <string.h>
#include "base/mem.h"
#include "store/code.h"
#include "store/replay.h"
#include "store/sql.h"

const char *run_state_name(enum run_state state)
{
	static const char *const names[] = {"running", "stopped", "finished", "failed"};

	return names[state];
}

/* Returns the state of this name; of a name that no state has, RUN_FAILED. */
static enum run_state state_of(const char *name)
{
	int i = 0;

	while (i < RUN_FAILED && strcmp(run_state_name((enum run_state)i), name) != 0)
		i++;
	return (enum run_state)i;
}

static void fill(sqlite3_stmt *q, struct run_info *r)
{
	int64_t kind = sqlite3_column_int64(q, 10);

	r->id = sqlite3_column_int64(q, 0);
	r->uuid = mem_strdup(sql_text(q, 1));
	r->kind = mem_strdup(sql_text(q, 2));
	r->policy = mem_strdup(sql_text(q, 3));
	r->settings = mem_strdup(sql_text(q, 4));
	r->program = mem_strdup(sql_text(q, 5));
	r->host = mem_strdup(sql_text(q, 6));
	r->seed = (uint64_t)sqlite3_column_int64(q, 7);
	r->environment = sqlite3_column_int64(q, 8);
	r->backend = mem_strdup(sql_text(q, 9));
	r->cost_kind = kind > 0 && kind < COST_KIND_COUNT ? (enum cost_kind)kind : 0;
	r->chains = (uint32_t)sqlite3_column_int64(q, 11);
	r->steps = (uint32_t)sqlite3_column_int64(q, 12);
	r->started = (double)sqlite3_column_int64(q, 13) / 1e6;
	r->last = (double)sqlite3_column_int64(q, 14) / 1e6;
	r->state = state_of(sql_text(q, 15));
	r->machine = mem_strdup(sql_text(q, 16));
	r->quantity = quantity_find(sql_text(q, 17));
	r->version = mem_strdup(sql_text(q, 18));
}

int store_runs(struct store *s, struct run_info **out, size_t *n, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err,
		"SELECT r.id, r.uuid, r.kind, r.policy, r.settings, r.program,"
		" (SELECT host FROM stint WHERE run = r.id ORDER BY n DESC LIMIT "
		"1), r.seed, r.environment, e.backend, e.kind, (SELECT count(*) FROM chain WHERE run = r.id),"
		SQL_STEPS(main, "r.id") ","
		" (SELECT started FROM stint WHERE run = r.id ORDER BY n LIMIT 1),"
		" (SELECT coalesce(ended, started) FROM stint WHERE run = r.id ORDER BY n DESC LIMIT 1),"
		" (SELECT state FROM stint WHERE run = r.id ORDER BY n DESC LIMIT 1),"
		" m.description, e.quantity, e.version"
		" FROM run r JOIN environment e ON e.id = r.environment "
		"JOIN machine m ON m.id = e.machine ORDER BY r.id", "");
	size_t cap = 0;
	int rc;

	*out = NULL;
	*n = 0;
	if (!q)
		return -1;
	while ((rc = sql_step(s, q, err)) == 1) {
		MEM_GROW(out, &cap, *n + 1);
		fill(q, &(*out)[*n]);
		if ((*out)[(*n)++].quantity < QUANTITY_COUNT)
			continue;
		rc = err_set(err, "%s: the costs of run %s are in \"%s\", which this program does not know", s->path,
			sql_text(q, 1), sql_text(q, 17));
		break;
	}
	if (rc < 0) {
		sql_done(q);
		run_infos_free(*out, *n);
		*out = NULL;
		*n = 0;
	}
	return rc;
}

void run_infos_free(struct run_info *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		mem_free(v[i].uuid);
		mem_free(v[i].kind);
		mem_free(v[i].policy);
		mem_free(v[i].settings);
		mem_free(v[i].program);
		mem_free(v[i].host);
		mem_free(v[i].backend);
		mem_free(v[i].machine);
		mem_free(v[i].version);
	}
	mem_free(v);
}
