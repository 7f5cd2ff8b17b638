/*
 * selection.c - the steps that `store export` was asked for: of one run or all, of programs with certain names.
 */
#include <string.h>
#include "base/mem.h"
#include "store/export.h"

static int load_spaces(struct selection *x, struct err *err)
{
	sqlite3_stmt *q = sql_query(x->r->s, err, "SELECT p.id, g.name FROM "
		"space p JOIN graph g ON g.id = p.graph ORDER BY 1", "");
	size_t cap = 0;
	int rc;

	if (!q)
		return -1;
	while ((rc = sql_step(x->r->s, q, err)) == 1) {
		const char *name = sql_text(q, 1);

		MEM_GROW(&x->space, &cap, x->n_spaces + 1);
		x->space[x->n_spaces].space = sqlite3_column_int64(q, 0);
		x->space[x->n_spaces].taken = !x->graph || re_match(x->graph, name, strlen(name));
		x->space[x->n_spaces++].graph = mem_strdup(name);
	}
	return rc;
}

int selection_open(struct selection *x, struct request *r, struct err *err)
{
	int rc;

	*x = (struct selection){.r = r};
	if (r->run) {
		rc = cmd_find_run(r->s, r->run, &x->only, err);
		if (rc <= 0)
			return rc < 0 ? -1 : err_set(err, "%s has no run %s: see `store ls`", store_path(r->s), r->run);
	}
	if (r->graph && !(x->graph = re_new(r->graph, err)))
		return -1;
	return load_spaces(x, err) < 0 || store_runs(r->s, &x->runs, &x->n_runs, err) < 0 ? -1 : 0;
}

void selection_close(struct selection *x)
{
	for (size_t i = 0; i < x->n_spaces; i++)
		mem_free(x->space[i].graph);
	mem_free(x->space);
	re_free(x->graph);
	run_infos_free(x->runs, x->n_runs);
}

int selection_space(const struct selection *x, int64_t space)
{
	size_t low = 0, high = x->n_spaces; /* they are sorted */

	while (low < high) {
		size_t mid = (low + high) / 2;
		if (x->space[mid].space < space)
			low = mid + 1;
		else
			high = mid;
	}
	return low < x->n_spaces && x->space[low].space == space && x->space[low].taken ? (int)low : -1;
}

static int walk_run(struct selection *x, const struct run_info *r, step_fn *fn, void *ctx, struct err *err)
{
	struct replay *p = replay_open(x->r->s, r->id, err);
	struct sums sums = {0};
	struct sum *before;
	struct step t;
	int rc = p ? sums_open(&sums, x->r->s, r, err) : -1;

	while (rc == 0 && (rc = replay_next(p, &t, err)) == 1) {
		before = sums_before(&sums, &t, err);
		rc = before ? 0 : -1;
		if (rc == 0 && t.step % x->r->every == 0 && selection_space(x, t.space) >= 0)
			rc = fn(ctx, r, &t, before, err);
		if (rc == 0)
			sums_take(&sums, &t);
	}
	sums_close(&sums);
	replay_close(p);
	return rc;
}

/* Has the run a chain in a space that was asked for? 1 yes, 0 no, -1 error. */
static int is_taken(struct selection *x, const struct run_info *r, struct err *err)
{
	int64_t space = 0;
	int rc;

	if (x->only && r->id != x->only)
		return 0;
	while ((rc = sql_int(x->r->s, err, &space, "SELECT min(space) FROM chain WHERE run = ? AND space > ?", "ii",
			r->id, space)) == 1)
		if (selection_space(x, space) >= 0)
			return 1;
	return rc;
}

int selection_walk(struct selection *x, step_fn *fn, void *ctx, struct err *err)
{
	for (size_t i = 0; i < x->n_runs; i++) {
		int rc = is_taken(x, &x->runs[i], err);

		if (rc < 0 || (rc == 1 && walk_run(x, &x->runs[i], fn, ctx, err) < 0))
			return -1;
	}
	return 0;
}

int selection_walk_space(struct selection *x, int64_t space, int64_t environment, step_fn *fn, void *ctx,
	struct err *err)
{
	for (size_t i = 0; i < x->n_runs; i++) {
		const struct run_info *r = &x->runs[i];
		int64_t one;
		int rc = 0;

		if ((!x->only || r->id == x->only) && r->environment == environment)
			rc = sql_int(x->r->s, err, &one, "SELECT 1 FROM chain WHERE space = ? AND run = ? LIMIT 1",
				"ii", space, r->id);
		if (rc < 0 || (rc == 1 && walk_run(x, r, fn, ctx, err) < 0))
			return -1;
	}
	return 0;
}
