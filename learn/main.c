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
#include "base/re.h"
#include "base/stop.h"
#include "learn/apart.h"
#include "learn/blas.h"
#include "learn/keep.h"
#include "learn/report.h"
#include "learn/shelf.h"
#include "learn/show.h"
#include "learn/team.h"
#include "learn/train.h"

struct settings {
	struct opt_list dbs;
	const char *out, *report, *eval, *holdout, *backend, *cost;
	double kernel_us; /* OPT_AUTO: by the backend */
	int64_t width, head, layers, batch, threads, seed, limit, patience, least_steps;
	bool leave_one_out, json, blind, linear, current_only, quiet, score_training, keep, force, models;
	struct train_options train;
};

/* The exit status of a training whose model was not put in place. */
#define NOT_KEPT 3

static int parse(struct settings *s, int argc, char **argv, struct err *err)
{
	struct train_options *o = &s->train;
	const struct opt table[] = {
		OPT_SECTION("Data"),
		OPT_LIST('d', "db", &s->dbs, "FILE", "database of measurements; may be repeated"),
		OPT_STR(0, "backend", &s->backend, "NAME", "use runs on this one only (default: that of the first run)"),
		OPT_STR(0, "cost", &s->cost, "KIND", "measured, estimated or modelled (default: that of the first run)"),
		OPT_INT(0, "limit", &s->limit, 0, INT64_MAX, "samples per graph at most; 0: all"),
		OPT_NUM_AUTO(0, "kernel-us", &s->kernel_us, 0, 1000,
			"microseconds a kernel of a large program costs beyond its region, added to what was measured; auto: by the backend"),
		OPT_STR(0, "holdout", &s->holdout, "REGEX", "do not train on graphs with such names; score on them"),
		OPT_FLAG(0, "leave-one-out", &s->leave_one_out, "for every graph: train on the others, score on it"),
		OPT_STR(0, "eval", &s->eval, "MODEL", "train nothing; score this model"),
		OPT_FLAG(0, "score-training", &s->score_training, "score on the graphs trained on as well"),
		OPT_SECTION("Result"),
		OPT_STR('o', "out", &s->out, "FILE",
			"where the model goes; default: where search finds it, if it is better than the model that search uses now"),
		OPT_FLAG(0, "keep", &s->keep, "without --out: put a better model in that place"),
		OPT_FLAG(0, "force", &s->force, "put it there although it is not better"),
		OPT_FLAG(0, "models", &s->models, "train nothing; list the models that search can use"),
		OPT_STR(0, "report", &s->report, "FILE", "a page with curves and tables (HTML)"),
		OPT_FLAG(0, "json", &s->json, "scores as JSON on standard output"),
		OPT_FLAG('q', "quiet", &s->quiet, "no talk on standard error"),
		OPT_SECTION("Training"),
		OPT_NUM(0, "epochs", &o->epochs, 0.01, 1e6, "draws per example"),
		OPT_INT(0, "least-steps", &s->least_steps, 0, 1e9, "steps at least, however few the examples"),
		OPT_NUM(0, "seconds", &o->seconds, 0, 1e9, "at most, for each model; paces the learning rate; 0: no limit"),
		OPT_INT(0, "seed", &s->seed, 0, INT64_MAX, "of weights and draws"),
		OPT_INT('t', "threads", &s->threads, 1, 1024, "threads; the result does not depend on them"),
		OPT_INT(0, "batch", &s->batch, 1, 65536, "examples per step"),
		OPT_NUM(0, "rate", &o->adam.rate, 1e-9, 10, "learning rate at its highest"),
		OPT_NUM(0, "decay", &o->adam.decay, 0, 10, "weight decay"),
		OPT_NUM(0, "clip", &o->adam.clip, 0, 1e9, "norm of the gradient at most; 0: no limit"),
		OPT_NUM(0, "average", &o->adam.average, 0, 0.99999, "of the weights, running; 0: the last ones"),
		OPT_INT(0, "patience", &s->patience, 0, 1000, "stop after so many of 20 checks on held-out graphs got no better, "
			"and keep the best; 0: train to the end"),
		OPT_NUM(0, "top-draws", &o->top_draws, 0, 1, "share of draws from the largest advantages; 0: uniform"),
		OPT_NUM(0, "top-part", &o->top_part, 0, 1, "the share of examples that are called large"),
		OPT_NUM(0, "gain-draws", &o->gain_draws, 0, 1, "of those draws, the share from flips that improve"),
		OPT_NUM(0, "magnitude-weight", &o->magnitude_weight, 0, 1e3, "of the magnitude's loss"),
		OPT_NUM(0, "sign-weight", &o->sign_weight, 0, 1e3, "of the sign's loss"),
		OPT_NUM(0, "size-weight", &o->size_weight, 0, 1e3, "of the loss of the size of gains"),
		OPT_SECTION("Network"),
		OPT_INT(0, "width", &s->width, 1, LAYER_WIDTH, "numbers per node"),
		OPT_INT(0, "head", &s->head, 1, LAYER_WIDTH, "numbers per flip"),
		OPT_INT(0, "layers", &s->layers, 1, NET_LAYERS, "how many steps away a node can still matter"),
		OPT_SECTION("Only to show that they matter"),
		OPT_FLAG(0, "blind", &s->blind, "one mean over operands and users: no direction"),
		OPT_FLAG(0, "linear", &s->linear, "learn magnitudes without the logarithm"),
		OPT_FLAG(0, "current-only", &s->current_only, "each sample once, not from every choice"),
		OPT_END};
	const struct opt_program prog = {"learn", "--db FILE [OPTIONS]",
		"Learns from measured decisions which decisions matter and which improve, as a graph network "
		"that holds for graphs it has never seen, and says how well it does. Without --out one in eight kinds of "
		"surroundings is never trained on: there the new model is compared with the one that search uses now, and takes "
		"its place only if it is better. Exit status: 0, or 3 if the model was not put in place, or 1 after an error.",
		table};
	int n_words, rc = opt_parse(&prog, argc, argv, &n_words, err);

	if (rc != 0)
		return rc;
	if (n_words > 0)
		return err_set(err, "what is \"%s\"? Databases are given with --db", argv[0]);
	if (s->models)
		return 0;
	if (s->dbs.n == 0)
		return err_set(err, "no database: give at least one with --db");
	if (s->eval && (s->out || s->leave_one_out))
		return err_set(err, "--eval trains nothing, so --out and --leave-one-out make no sense with it");
	if (s->leave_one_out && (s->holdout || s->out))
		return err_set(err, "--leave-one-out decides itself what to hold out and keeps no model");
	s->keep = s->keep && !s->out && !s->eval && !s->leave_one_out;
	if (s->force && !s->keep)
		return err_set(err, "--force is for a model that goes where search finds it, and this one does not");
	if (s->keep && s->patience > 0)
		return err_set(err, "--patience chooses by what is held out, which then cannot judge the model; use --out");
	return 0;
}

static void take_over(struct settings *s)
{
	struct train_options *o = &s->train;

	o->size.width = (uint32_t)s->width;
	o->size.head = (uint32_t)s->head;
	o->size.layers = (uint32_t)s->layers;
	o->size.blind = s->blind;
	o->linear = s->linear;
	o->current_only = s->current_only;
	o->batch = (uint32_t)s->batch;
	o->threads = (uint32_t)s->threads;
	o->seed = (uint64_t)s->seed;
	o->patience = (uint32_t)s->patience;
	o->least_steps = (uint64_t)s->least_steps;
}

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

/* Marks the graphs whose name the pattern matches. */
static int mark_held(const struct data *d, const char *pattern, bool *held, struct err *err)
{
	struct re *re = re_new(pattern, err);
	uint32_t n = 0;

	if (!re)
		return err_prefix(err, "--holdout");
	for (uint32_t i = 0; i < d->n_graphs; i++) {
		held[i] = re_match(re, d->graph[i].name, strlen(d->graph[i].name));
		n += held[i];
	}
	re_free(re);
	if (n == 0) {
		struct buf names = {0};
		for (uint32_t i = 0; i < d->n_graphs; i++)
			buf_addf(&names, "%s%s", i ? ", " : "", d->graph[i].name);
		err_set(err, "--holdout %s matches no graph; there are: %s", pattern, names.data ? names.data : "none");
		buf_release(&names);
		return -1;
	}
	return 0;
}

/* What the callback of the training needs to write a checkpoint. */
struct checkpoint {
	const struct settings *settings;
	const struct dataset *ds;
	const bool *held;
};

static struct model model_of(const struct settings *s, const struct dataset *ds, const bool *held,
	const struct net *net, const struct train_result *r)
{
	struct training t = {.ds = ds, .databases = &s->dbs, .options = &s->train, .result = r, .held = held,
		.kernel_us = s->kernel_us, .apart = s->keep};
	struct model m = {.net = *net};

	facts_of(&t, &m.facts);
	return m;
}

static int write_model(const struct settings *s, const struct dataset *ds, const bool *held, const struct net *net,
	const struct train_result *r, struct err *err)
{
	struct model m = model_of(s, ds, held, net, r);
	int rc = model_write(&m, s->out, err);

	model_facts_release(&m.facts);
	return rc;
}

static void on_point(void *ctx, const struct net *net, const struct train_point *p)
{
	const struct checkpoint *c = ctx;
	const struct train_result so_far = {.steps = p->step};
	struct err err = {0};

	char held[40] = "";

	if (!isnan(p->held_loss))
		snprintf(held, sizeof held, "  held out %.4f", p->held_loss);
	talk(c->settings, "%3.0f%%  step %6llu  %5.0f s  loss %.4f%s%s", 100 * p->done, (unsigned long long)p->step,
		p->seconds, p->loss, held, p->best && c->settings->train.patience ? "  kept" : "");
	if (c->settings->out && write_model(c->settings, c->ds, c->held, net, &so_far, &err) < 0)
		talk(c->settings, "learn: no checkpoint: %s", err.text);
}

static int read_all(const struct settings *s, uint32_t layers, enum progress_mode mode, struct dataset *ds,
	struct err *err)
{
	struct dataset_options o = {.backend = s->backend, .cost = s->cost, .limit = (uint64_t)s->limit,
		.part_seconds = s->kernel_us < 0 ? -1 : s->kernel_us * 1e-6, .talk = mode};

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
	if (read_all(s, s->train.size.layers, s->quiet ? PROGRESS_QUIET : PROGRESS_AUTO, ds, err) < 0)
		return -1;
	if (ds->notes.len)
		talk(s, "%.*s", (int)ds->notes.len - 1, ds->notes.data);
	if (dataset_finish(ds, err) < 0)
		return -1;
	talk(s, "%llu samples of %zu graphs, %zu examples; costs %s %s on %s; products by %s",
		(unsigned long long)ds->n_samples, ds->data.n_graphs, ds->data.n_examples, cost_kind_name(ds->kind),
		quantity_name(ds->quantity), ds->backend, gemm_name());
	if (!s->keep)
		return 0;
	apart_mark(&ds->data);
	return keep_prepare(ds, err);
}

/* The scores, and what became of the model, to standard output; and the page if one is wanted. */
static int deliver(const struct settings *s, const struct report *r, const struct kept *kept, struct err *err)
{
	struct buf b = {0};
	int rc = 0;

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
	if (b.len)
		fwrite(b.data, 1, b.len, stdout);
	if (s->report) {
		buf_reset(&b);
		report_page(r, &b);
		rc = io_write_file(s->report, b.data, b.len, err);
	}
	buf_release(&b);
	return rc;
}

static int fit(const struct settings *s, const struct dataset *ds, const bool *held, struct net *net,
	struct train_result *r, struct err *err)
{
	struct checkpoint c = {s, ds, held};
	struct train_options o = s->train;
	int rc;

	o.progress = on_point;
	o.ctx = &c;
	rc = train(&ds->data, held, &o, net, r, err);
	if (rc == 0)
		talk(s, "%llu draws in %.1f s: %.0f a second%s", (unsigned long long)r->draws, r->seconds,
			(double)r->draws / r->seconds, r->stopped ? "; stopped early" : "");
	if (rc == 0 && s->out)
		rc = write_model(s, ds, held, net, r, err);
	return rc;
}

/* Puts the model in its place, or not; and what the page says of it. */
static int keep_or_not(const struct settings *s, const struct dataset *ds, const bool *held, const struct model *m,
	struct kept *kept, struct err *err)
{
	struct settings mine = *s;
	struct keep_options o = {.force = s->force, .threads = s->train.threads, .read = read_again, .ctx = &mine};
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
	struct report r = {.ds = ds, .eval = &e, .curve = &curve, .n_curves = 1, .model = s->out, .seen = s->score_training};
	struct kept kept = {0};
	struct model m = {0};
	struct team *team = team_new(s->train.threads);
	struct buf said = {0};
	int rc = -1;

	if ((s->holdout && mark_held(&ds->data, s->holdout, held, err) < 0) ||
		fit(s, ds, held, &m.net, &curve.result, err) < 0)
		goto out;
	for (size_t i = 0; i < n; i++) {
		known[i] = !held[i];
		which[i] = held[i] || s->score_training;
	}
	evaluate(&ds->data, which, known, &m.net, team, &e);
	m = model_of(s, ds, held, &m.net, &curve.result);
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
	model_facts_release(&m.facts);
	net_release(&m.net);
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

/* Holds out every graph of the same name as graph i: it may stand several times. */
static void hold(const struct data *d, size_t i, bool *held, bool *known, bool *done)
{
	for (size_t k = 0; k < d->n_graphs; k++) {
		held[k] = strcmp(d->graph[k].name, d->graph[i].name) == 0;
		known[k] = !held[k];
		done[k] |= held[k];
	}
}

static int leave_one_out(const struct settings *s, const struct dataset *ds, struct err *err)
{
	const struct data *d = &ds->data;
	size_t n = d->n_graphs;
	bool *held = MEM_NEW(n, bool), *known = MEM_NEW(n, bool), *done = MEM_NEW(n, bool);
	struct evaluation all = {0}, *part = MEM_NEW(n, struct evaluation);
	struct report_curve *curve = MEM_NEW(n, struct report_curve);
	struct report r = {.ds = ds, .eval = &all, .curve = curve};
	struct team *team = team_new(s->train.threads);
	int rc = 0;

	all.graph = ARENA_NEW(&all.mem, n, struct eval_graph);
	for (size_t i = 0; i < n && rc == 0 && !stop_asked(); i++) {
		struct net net = {0};
		if (done[i] || d->graph[i].n_examples == 0)
			continue;
		hold(d, i, held, known, done);
		talk(s, "without %s:", d->graph[i].name);
		rc = fit(s, ds, held, &net, &curve[r.n_curves].result, err);
		curve[r.n_curves++].without = d->graph[i].name;
		if (rc == 0) {
			evaluate(d, held, known, &net, team, &part[i]);
			append(&all, &part[i]);
		}
		net_release(&net);
	}
	if (rc == 0) {
		evaluation_average(&all);
		rc = deliver(s, &r, NULL, err);
	}
	for (size_t i = 0; i < n; i++) {
		evaluation_release(&part[i]);
		train_result_release(&curve[i].result);
	}
	evaluation_release(&all);
	team_free(team);
	mem_free(part), mem_free(curve), mem_free(held), mem_free(known), mem_free(done);
	return rc;
}

static int score(const struct settings *s, const struct dataset *ds, const struct model *m, struct err *err)
{
	size_t n = ds->data.n_graphs;
	bool *which = MEM_NEW(n, bool), *known = MEM_NEW(n, bool);
	struct team *team = team_new(s->train.threads);
	struct evaluation e = {0};
	struct report r = {.ds = ds, .eval = &e, .model = s->eval, .facts = m->facts.provenance, .seen = true};
	int rc = -1;

	if (model_fits(m, ds->backend, ds->space, ds->kind, ds->quantity, err) < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		which[i] = true;
	if (s->holdout && mark_held(&ds->data, s->holdout, which, err) < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		known[i] = s->holdout && !which[i];
	evaluate(&ds->data, which, known, &m->net, team, &e);
	rc = deliver(s, &r, NULL, err);
out:
	evaluation_release(&e);
	team_free(team);
	mem_free(which), mem_free(known);
	return rc;
}

static int list_models(const struct settings *s)
{
	struct buf b = {0};

	shelf_list(&b, s->json);
	fputs(b.data, stdout);
	buf_release(&b);
	return 0;
}

static int run(struct settings *s, struct err *err)
{
	struct model *m = NULL;
	struct dataset ds = {0};
	int rc = -1;

	if (s->eval) {
		m = model_read(s->eval, err);
		if (!m)
			return -1;
		s->train.size.layers = m->net.size.layers;
	}
	if (load(s, &ds, err) == 0)
		rc = m ? score(s, &ds, m, err) : s->leave_one_out ? leave_one_out(s, &ds, err) : train_one(s, &ds, err);
	dataset_release(&ds);
	model_free(m);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings s = {.train = TRAIN_DEFAULTS, .seed = 1, .threads = 1, .kernel_us = OPT_AUTO, .keep = true};
	struct err err = {0};
	int rc;

	err_program("learn");
	stop_on_signals(STOP_WHEN_ASKED);
	s.width = s.train.size.width, s.head = s.train.size.head, s.layers = s.train.size.layers;
	s.batch = s.train.batch, s.patience = s.train.patience, s.least_steps = (int64_t)s.train.least_steps;
	rc = parse(&s, argc, argv, &err);
	if (rc == 0) {
		take_over(&s);
		rc = s.models ? list_models(&s) : run(&s, &err);
	}
	opt_list_release(&s.dbs);
	return rc < 0 ? err_exit(&err) : rc == NOT_KEPT ? NOT_KEPT : 0;
}
