/*
 * export.c - writes samples for other programs as JSON lines or CSV; export_npz.c has the third format.
 *
 * JSON lines have one object per step. CSV has one line per choice of a sample, because its rows must be
 * alike. It leaves out trials, which have no single site.
 */
#include "store/export.h"
#include <math.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"

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

static int selection_open(struct selection *x, struct request *r, struct err *err)
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

static void selection_close(struct selection *x)
{
	for (size_t i = 0; i < x->n_spaces; i++)
		mem_free(x->space[i].graph);
	mem_free(x->space);
	re_free(x->graph);
	run_infos_free(x->runs, x->n_runs);
}

int selection_space(const struct selection *x, int64_t space)
{
	for (size_t i = 0; i < x->n_spaces; i++)
		if (x->space[i].space == space)
			return x->space[i].taken ? (int)i : -1;
	return -1;
}

typedef int step_fn(void *ctx, const struct run_info *run, const struct step *t, const struct sum *before,
	struct err *err);

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

int selection_walk(struct selection *x, step_fn *fn, void *ctx, struct err *err)
{
	for (size_t i = 0; i < x->n_runs; i++)
		if ((!x->only || x->runs[i].id == x->only) && walk_run(x, &x->runs[i], fn, ctx, err) < 0)
			return -1;
	return 0;
}

struct writer {
	struct selection *x;
	struct buf out;
	FILE *file;
};

static int flush(struct writer *w, size_t above, struct err *err)
{
	if (w->out.len <= above)
		return 0;
	if (fwrite(w->out.data, 1, w->out.len, w->file) != w->out.len)
		return err_errno(err, "the output cannot be written");
	buf_reset(&w->out);
	return 0;
}

static void json_choices(struct json *j, const struct sample *s)
{
	json_array(j, "choices");
	for (int k = 0; k < s->n_choices; k++) {
		const struct choice_cost *c = &s->choice[k];

		json_object(j, NULL);
		json_str(j, "outcome", outcome_name(c->outcome));
		if (c->outcome == OUTCOME_OK) {
			json_num(j, "delta", c->delta);
			json_num(j, "se", c->se);
		}
		if (c->bound)
			json_bool(j, "bound", true);
		json_end(j);
	}
	json_end(j);
}

static void json_trial(struct json *j, const struct trial *t)
{
	json_array(j, "flips");
	for (uint32_t i = 0; i < t->n_flips; i++) {
		json_array(j, NULL);
		json_uint(j, NULL, t->flip[i].site);
		json_uint(j, NULL, t->flip[i].choice);
		json_end(j);
	}
	json_end(j);
	json_num(j, "delta", t->delta);
	json_num(j, "se", t->se);
	json_bool(j, "bound", t->bound);
	json_bool(j, "taken", t->taken);
	json_str(j, "outcome", outcome_name(t->outcome));
}

static int step_jsonl(void *ctx, const struct run_info *run, const struct step *t, const struct sum *before,
	struct err *err)
{
	struct writer *w = ctx;
	struct json j = {.out = &w->out};

	json_object(&j, NULL);
	json_str(&j, "run", run->uuid);
	json_uint(&j, "step", t->step);
	json_uint(&j, "chain", t->chain);
	json_str(&j, "graph", w->x->space[selection_space(w->x, t->space)].graph);
	json_int(&j, "space", t->space);
	json_hex(&j, "config", t->hash);
	json_num(&j, "above_default", before->known ? before->value : (double)NAN);
	json_str(&j, "kind", cost_kind_name(t->is_trial ? t->trial.kind : t->sample.kind));
	if (t->is_trial) {
		json_trial(&j, &t->trial);
	} else {
		json_uint(&j, "site", t->sample.site);
		json_uint(&j, "before", t->config[t->sample.site]);
		json_uint(&j, "chosen", t->sample.chosen);
		json_choices(&j, &t->sample);
	}
	json_end(&j);
	buf_addch(&w->out, '\n');
	return flush(w, 1 << 20, err);
}

static int step_csv(void *ctx, const struct run_info *run, const struct step *t, const struct sum *before,
	struct err *err)
{
	struct writer *w = ctx;
	const struct sample *s = &t->sample;
	const char *graph = w->x->space[selection_space(w->x, t->space)].graph;

	(void)before;
	for (int k = 0; !t->is_trial && k < s->n_choices; k++) {
		const struct choice_cost *c = &s->choice[k];

		buf_addf(&w->out, "%s,%u,%u,", run->uuid, t->step, t->chain);
		emit_csv(&w->out, graph, strlen(graph));
		buf_addf(&w->out, ",%lld,%016llx,%u,%u,%u,%d,%s,%s,", (long long)t->space, (unsigned long long)t->hash,
			s->site, t->config[s->site], s->chosen, k, cost_kind_name(s->kind), outcome_name(c->outcome));
		if (c->outcome == OUTCOME_OK)
			buf_addf(&w->out, "%.9g,%.4g,%d\n", c->delta, c->se, c->bound);
		else
			buf_adds(&w->out, ",,\n");
	}
	return flush(w, 1 << 20, err);
}

/* Writes to standard output or to a file, which appears once it is whole. */
static int export_text(struct selection *x, struct err *err)
{
	struct writer w = {.x = x, .file = stdout};
	bool csv = x->r->export_format == EXPORT_CSV;
	struct buf part = {0};
	int rc;

	buf_addf(&part, "%s.part", x->r->out ? x->r->out : "");
	if (x->r->out && !(w.file = fopen(part.data, "w"))) {
		rc = err_errno(err, "%s cannot be written", part.data);
		buf_release(&part);
		return rc;
	}
	if (csv)
		buf_adds(&w.out,
			"run,step,chain,graph,space,config,site,before,chosen,choice,kind,outcome,delta,se,bound\n");
	rc = selection_walk(x, csv ? step_csv : step_jsonl, &w, err) < 0 || flush(&w, 0, err) < 0 ? -1 : 0;
	if (rc == 0 && fflush(w.file) != 0)
		rc = err_errno(err, "the output cannot be written");
	if (x->r->out) {
		if (fclose(w.file) != 0 && rc == 0)
			rc = err_errno(err, "%s cannot be written", part.data);
		if (rc == 0 && rename(part.data, x->r->out) < 0)
			rc = err_errno(err, "%s cannot be put in place", x->r->out);
		if (rc < 0)
			remove(part.data);
	}
	buf_release(&w.out);
	buf_release(&part);
	return rc;
}

int cmd_export(struct request *r, struct err *err)
{
	struct selection x;
	int rc;

	if (r->n_words)
		return err_set(err, "export takes one store; merge first to export several");
	rc = selection_open(&x, r, err);
	if (rc == 0)
		rc = r->export_format == EXPORT_NPZ ? export_npz(&x, err) : export_text(&x, err);
	selection_close(&x);
	return rc;
}
