/*
 * export.c - writes samples for other programs as JSON lines or CSV; export_npz.c has the third format.
 *
 * JSON lines have one object per step. CSV has one line per choice of a sample, because its rows must be
 * alike. It leaves out trials, which have no single site.
 */
#include "store/export.h"
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"

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
	char *part = NULL;
	int rc, fd = x->r->out ? io_open_neighbour(x->r->out, &part, err) : STDOUT_FILENO;

	if (fd < 0)
		return -1;
	if (part)
		w.file = fdopen(fd, "w");
	BUG_ON(!w.file);
	if (csv)
		buf_adds(&w.out,
			"run,step,chain,graph,space,config,site,before,chosen,choice,kind,outcome,delta,se,bound\n");
	rc = selection_walk(x, csv ? step_csv : step_jsonl, &w, err) < 0 || flush(&w, 0, err) < 0 ? -1 : 0;
	if (rc == 0 && fflush(w.file) != 0)
		rc = err_errno(err, "the output cannot be written");
	if (part) {
		if (fclose(w.file) != 0 && rc == 0)
			rc = err_errno(err, "%s cannot be written", x->r->out);
		if (rc == 0 && rename(part, x->r->out) < 0)
			rc = err_errno(err, "%s cannot be put in place", x->r->out);
		if (rc < 0)
			remove(part);
	}
	buf_release(&w.out);
	mem_free(part);
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
