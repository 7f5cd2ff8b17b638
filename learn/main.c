/*
 * main.c - the program `learn`: databases in, a model out, and what it is worth.
 *
 * Three modes: train one model (perhaps holding graphs out and scoring on them); --leave-one-out trains
 * a model per graph on all the others and scores it on that graph, which is the honest answer to "will
 * it work on mine?"; --eval scores a model from a file. Tables go to standard output, talk to stderr.
 *
 * A model that is trained goes to --out; or, without it, to the place where search looks for one, if it is
 * better than the model that search would take now (keep.h). The exit status is 3 if it is not.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/json.h"
#include "base/opt.h"
#include "base/stop.h"
#include "learn/apart.h"
#include "learn/blas.h"
#include "learn/holdout.h"
#include "learn/keep.h"
#include "learn/report.h"
#include "learn/settings.h"
#include "learn/shelf.h"
#include "learn/show.h"
#include "learn/team.h"
#include "learn/train.h"

/* The exit status of a training whose model was not put in place. */
#define NOT_KEPT 3

static void talk(const struct settings *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void talk(const struct settings *s, const char *fmt, ...)
{
	va_list ap;

	if (s->quiet)
		return;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* What the callback of the training needs to write a checkpoint. */
struct checkpoint {
	const struct settings *settings;
	const struct dataset *ds;
	const bool *held;
	const struct model *model; /* that is being fitted: its unit, and its trees, which are whole by then */
	char *path; /* of the file beside --out; NULL before the first */
};

static void set_facts(const struct settings *s, const struct dataset *ds, const bool *held,
	const struct train_result *r, struct model *m)
{
	struct training t = {.ds = ds, .databases = &s->dbs, .options = &s->fit, .result = r, .held = held,
		.kernel_us = s->kernel_us, .apart = s->keep};

	facts_of(&t, &m->facts);
}

/* Writes what there is so far beside the place of the model, where one that is good may be. */
static int write_checkpoint(struct checkpoint *c, const struct model *m, struct err *err)
{
	int fd;

	if (!c->path) {
		if ((fd = io_open_neighbour(c->settings->out, &c->path, err)) < 0)
			return -1;
		close(fd);
		talk(c->settings, "until it is trained, the model so far is in %s", c->path);
	}
	return model_write(m, c->path, err);
}

static void on_point(void *ctx, const struct net *net, const struct train_point *p)
{
	struct checkpoint *c = ctx;
	const struct train_result so_far = {.steps = p->step};
	struct model m = {.net = *net, .trees = c->model->trees, .unit = c->model->unit};
	struct err err = {0};
	char held[40] = "";

	if (!isnan(p->held_loss))
		snprintf(held, sizeof held, "  held out %.4f", p->held_loss);
	talk(c->settings, "%3.0f%%  step %6llu  %5.0f s  loss %.4f%s%s", 100 * p->done, (unsigned long long)p->step,
		p->seconds, p->loss, held, p->best && c->settings->fit.net.patience ? "  kept" : "");
	if (!c->settings->out || io_in_place(c->settings->out, &err) != 0)
		return;
	set_facts(c->settings, c->ds, c->held, &so_far, &m);
	if (write_checkpoint(c, &m, &err) < 0)
		talk(c->settings, "learn: no checkpoint: %s", err.text);
	model_facts_release(&m.facts);
}

static int read_all(const struct settings *s, uint32_t layers, enum progress_mode mode, struct dataset *ds,
	struct err *err)
{
	struct dataset_options o = DATASET_DEFAULTS;

	o.backend = s->backend;
	o.cost = s->cost;
	o.limit = (uint64_t)s->limit;
	o.other_weight = s->eval ? 1 : s->other_weight;
	o.talk = mode;
	if (s->kernel_us >= 0)
		o.part_seconds = s->kernel_us * 1e-6;
	dataset_init(ds, layers);
	for (size_t i = 0; i < s->dbs.n; i++)
		if (dataset_read(ds, s->dbs.item[i], &o, err) < 0)
			return -1;
	return 0;
}

/* For keep: the same data for another number of layers. */
static int read_again(void *ctx, uint32_t layers, struct dataset *out, struct err *err)
{
	return read_all(ctx, layers, PROGRESS_QUIET, out, err) < 0 ? -1 : dataset_finish(out, err);
}

static int load(const struct settings *s, struct dataset *ds, struct err *err)
{
	/* Trees look at the target alone. */
	uint32_t layers = learner_has_net(s->fit.learner) ? s->fit.net.size.layers : 1;

	if (read_all(s, layers, s->quiet ? PROGRESS_QUIET : PROGRESS_AUTO, ds, err) < 0)
		return -1;
	if (dataset_finish(ds, err) < 0)
		return -1;
	if (ds->notes.len)
		talk(s, "%.*s", (int)ds->notes.len - 1, ds->notes.data);
	talk(s, "%llu samples of %zu graphs, %zu examples; costs %s %s on %s; products by %s",
		(unsigned long long)ds->n_samples, ds->data.n_graphs, ds->data.n_examples, cost_kind_name(ds->kind),
		quantity_name(ds->quantity), ds->backend, gemm_name());
	if (ds->n_other > 0)
		talk(s, "%llu of these samples were not measured by \"%s\": they count %g",
			(unsigned long long)ds->n_other, ds->version, s->eval ? 1 : s->other_weight);
	if (!s->keep)
		return 0;
	apart_mark(&ds->data);
	return keep_prepare(ds, err);
}

/* The scores, and what became of the model, to standard output; and the page if one is wanted. */
static int deliver(const struct settings *s, const struct report *r, const struct kept *kept, struct err *err)
{
	struct buf b = {0};
	int rc;

	if (s->json) {
		struct json j = {.out = &b, .pretty = true};
		json_object(&j, NULL);
		show_json(&r->ds->data, r->eval, &j, "graphs");
		if (kept)
			kept_json(kept, &j, "model");
		json_end(&j);
		buf_addch(&b, '\n');
	} else {
		if (r->eval->n_graphs)
			show_text(&r->ds->data, r->eval, r->ds->quantity, &b);
		if (kept)
			kept_text(kept, &b);
	}
	rc = io_print(&b, err);
	if (rc == 0 && s->report) {
		buf_reset(&b);
		report_page(r, &b);
		rc = io_write_file(s->report, b.data, b.len, err);
	}
	buf_release(&b);
	return rc;
}

/* Fits a model and writes it if it is to go to a file; model_release. */
static int make_model(const struct settings *s, const struct dataset *ds, const bool *held, struct model *m,
	struct train_result *r, struct err *err)
{
	struct checkpoint c = {s, ds, held, m, NULL};
	struct fit_options o = s->fit;
	int rc;

	o.net.progress = on_point;
	o.net.ctx = &c;
	rc = fit(&ds->data, held, &o, m, r, err);
	if (rc == 0)
		set_facts(s, ds, held, r, m);
	if (rc == 0 && s->out)
		rc = model_write(m, s->out, err);
	if (c.path)
		unlink(c.path);
	mem_free(c.path);
	if (rc == 0)
		talk(s, "%llu draws in %.1f s: %.0f a second%s", (unsigned long long)r->draws, r->seconds,
			(double)r->draws / r->seconds, r->stopped ? "; stopped early" : "");
	return rc;
}

/* Puts the model in its place, or not; and what the page says of it. */
static int keep_or_not(const struct settings *s, const struct dataset *ds, const bool *held, const struct model *m,
	struct kept *kept, struct err *err)
{
	struct settings mine = *s;
	struct keep_options o = {.force = s->force, .threads = s->fit.net.threads, .read = read_again, .ctx = &mine};
	int rc = keep(ds, held, m, &o, kept, err);

	if (kept->notes.len)
		talk(s, "%.*s", (int)kept->notes.len - 1, kept->notes.data);
	return rc;
}

static int train_one(const struct settings *s, const struct dataset *ds, struct err *err)
{
	size_t n = ds->data.n_graphs;
	bool *held = MEM_NEW(n, bool), *known = MEM_NEW(n, bool), *which = MEM_NEW(n, bool);
	struct evaluation e = {0};
	struct report_curve curve = {0};
	struct report r = {.ds = ds, .eval = &e, .curve = &curve, .n_curves = 1, .model = s->out,
		.seen = s->score_training};
	struct kept kept = {0};
	struct model m = {0};
	struct team *team = team_new(s->fit.net.threads);
	struct buf said = {0};
	int rc = -1;

	if ((s->holdout && holdout_mark(&ds->data, s->holdout, held, err) < 0) ||
		make_model(s, ds, held, &m, &curve.result, err) < 0)
		goto out;
	for (size_t i = 0; i < n; i++) {
		known[i] = !held[i];
		which[i] = (held[i] || s->score_training) && !ds->data.graph[i].other;
	}
	evaluate(&ds->data, which, known, &m, team, &e);
	r.facts = m.facts.provenance;
	if (s->keep) {
		if (keep_or_not(s, ds, held, &m, &kept, err) < 0)
			goto out;
		kept_text(&kept, &said);
		r.model = kept.placed ? kept.path.data : NULL;
		r.kept = said.data;
	}
	rc = deliver(s, &r, s->keep ? &kept : NULL, err);
	if (rc == 0 && s->keep && !kept.placed)
		rc = NOT_KEPT;
out:
	model_release(&m);
	kept_release(&kept);
	buf_release(&said);
	train_result_release(&curve.result);
	evaluation_release(&e);
	team_free(team);
	mem_free(held), mem_free(known), mem_free(which);
	return rc;
}

/* Puts the graphs of `from` into `all`; their items stay where they are, in arenas the caller keeps. */
static void append(struct evaluation *all, const struct evaluation *from)
{
	for (uint32_t i = 0; i < from->n_graphs; i++)
		all->graph[all->n_graphs++] = from->graph[i];
}

/* Numbers the part of each graph; graphs of one name are in one. `parts` 0: a part for each name. Returns how many. */
static uint32_t number_parts(const struct data *d, uint32_t parts, uint32_t *part)
{
	uint32_t n = 0;

	for (size_t i = 0; i < d->n_graphs; i++) {
		size_t k = 0;
		while (strcmp(d->graph[k].name, d->graph[i].name) != 0)
			k++;
		part[i] = k < i ? part[k] : parts ? n % parts : n;
		n += k == i;
	}
	return parts && parts < n ? parts : n;
}

/* Holds out one part; returns whether there is anything to score in it. Everything in it is unknown. */
static bool hold(const struct data *d, const uint32_t *part, uint32_t which, bool *scored, bool *known)
{
	bool any = false;

	for (size_t i = 0; i < d->n_graphs; i++) {
		known[i] = part[i] != which;
		scored[i] = !known[i] && !d->graph[i].other;
		any |= scored[i] && d->graph[i].n_examples > 0;
	}
	return any;
}

/*
 * Of the programs that are known leaves only `most`, drawn at random. Programs are told apart by `one`: their parts, if
 * each were left out alone.
 */
static void draw_programs(const uint32_t *one, size_t n, uint32_t most, uint64_t seed, bool *known)
{
	uint32_t *list = MEM_NEW(n + 1, uint32_t), k = 0;
	bool *drawn = MEM_NEW(n + 1, bool);
	struct rng r;

	for (size_t i = 0; i < n; i++)
		if (known[i] && !drawn[one[i]]) {
			drawn[one[i]] = true;
			list[k++] = one[i];
		}
	rng_seed2(&r, seed, 55);
	rng_shuffle(&r, list, k);
	for (uint32_t i = most; i < k; i++)
		drawn[list[i]] = false;
	for (size_t i = 0; i < n; i++)
		known[i] = known[i] && drawn[one[i]];
	mem_free(list);
	mem_free(drawn);
}

/* The name of the first graph that is scored on. */
static const char *first_of(const struct data *d, const bool *scored)
{
	size_t i = 0;

	while (!scored[i])
		i++;
	return d->graph[i].name;
}

static int leave_one_out(const struct settings *s, const struct dataset *ds, struct err *err)
{
	const struct data *d = &ds->data;
	size_t n = d->n_graphs;
	bool *scored = MEM_NEW(n, bool), *known = MEM_NEW(n, bool);
	bool *untaught = MEM_NEW(n, bool); /* not trained on: those held out, and with --programs others */
	uint32_t *one = MEM_NEW(n, uint32_t), *part = MEM_NEW(n, uint32_t);
	uint32_t parts = number_parts(d, (uint32_t)s->parts, part);
	struct evaluation all = {0}, *each = MEM_NEW(n, struct evaluation);
	struct report_curve *curve = MEM_NEW(n, struct report_curve);
	struct report r = {.ds = ds, .eval = &all, .curve = curve};
	struct team *team = team_new(s->fit.net.threads);
	int rc = 0;

	number_parts(d, 0, one);
	all.graph = ARENA_NEW(&all.mem, n, struct eval_graph);
	for (uint32_t i = 0; i < parts && rc == 0 && !stop_asked(); i++) {
		struct model m = {0};
		if (!hold(d, part, i, scored, known))
			continue;
		if (s->programs)
			draw_programs(one, n, (uint32_t)s->programs, (uint64_t)s->seed * 1000 + i, known);
		for (size_t k = 0; k < n; k++)
			untaught[k] = !known[k];
		talk(s, "without %s%s:", first_of(d, scored), s->parts ? " and the rest of its part" : "");
		rc = make_model(s, ds, untaught, &m, &curve[r.n_curves].result, err);
		curve[r.n_curves++].without = first_of(d, scored);
		if (rc == 0) {
			evaluate(d, scored, known, &m, team, &each[i]);
			append(&all, &each[i]);
		}
		model_release(&m);
	}
	if (rc == 0) {
		evaluation_average(&all);
		rc = deliver(s, &r, NULL, err);
	}
	for (size_t i = 0; i < n; i++) {
		evaluation_release(&each[i]);
		train_result_release(&curve[i].result);
	}
	evaluation_release(&all);
	team_free(team);
	mem_free(untaught), mem_free(one), mem_free(part), mem_free(each), mem_free(curve);
	mem_free(scored), mem_free(known);
	return rc;
}

static int score(const struct settings *s, const struct dataset *ds, const struct model *m, struct err *err)
{
	size_t n = ds->data.n_graphs;
	bool *which = MEM_NEW(n, bool), *known = MEM_NEW(n, bool);
	struct team *team = team_new(s->fit.net.threads);
	struct evaluation e = {0};
	struct report r = {.ds = ds, .eval = &e, .model = s->eval, .facts = m->facts.provenance, .seen = true};
	int rc = -1;

	if (model_fits(m, s->foreign ? m->facts.backend : ds->backend, ds->space, s->foreign ? m->facts.kind : ds->kind,
		ds->quantity, err) < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		which[i] = true;
	if (s->holdout && holdout_mark(&ds->data, s->holdout, which, err) < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		known[i] = s->holdout && !which[i];
	evaluate(&ds->data, which, known, m, team, &e);
	rc = deliver(s, &r, NULL, err);
out:
	evaluation_release(&e);
	team_free(team);
	mem_free(which), mem_free(known);
	return rc;
}

static int list_models(const struct settings *s, struct err *err)
{
	struct buf b = {0};
	int rc;

	shelf_list(&b, s->json);
	rc = io_print(&b, err);
	buf_release(&b);
	return rc;
}

static int run(struct settings *s, struct err *err)
{
	struct model *m = NULL;
	struct dataset ds = {0};
	int rc = -1;

	if ((s->out && io_may_write(s->out, err) < 0) || (s->report && io_may_write(s->report, err) < 0))
		return -1;
	if (s->holdout && !s->eval && holdout_check(s->holdout, &s->dbs, err) < 0)
		return -1;
	if (s->eval) {
		m = model_read(s->eval, err);
		if (!m)
			return -1;
		s->fit.net.size.layers = m->net.size.layers ? m->net.size.layers : 1;
		s->fit.learner = LEARNER_GNN; /* as far as reading goes */
	}
	if (load(s, &ds, err) == 0)
		rc = m ? score(s, &ds, m, err) : s->leave_one_out ? leave_one_out(s, &ds, err) : train_one(s, &ds, err);
	dataset_release(&ds);
	model_free(m);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings s;
	struct err err = {0};
	int rc;

	err_program("learn");
	stop_on_signals(STOP_WHEN_ASKED);
	settings_init(&s);
	rc = settings_parse(&s, argc, argv, &err);
	if (rc == 0)
		rc = s.models ? list_models(&s, &err) : run(&s, &err);
	settings_release(&s);
	return rc < 0 ? err_exit(&err) : rc == NOT_KEPT ? NOT_KEPT : 0;
}
