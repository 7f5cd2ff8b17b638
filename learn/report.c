/*
 * report.c - see report.h.
 *
 * Four plots. The learning curve: loss on what is trained on, and on held-out graphs where there are any.
 * Calibration: of all flips said to improve with probability p, the share that did; only flips clear of
 * their error count, so random measuring errors do not pull it to one half. Predicted against measured
 * magnitude, on the scale the network learns. And the share of all possible gain against the share of
 * flips tried in the predicted order: what a search buys.
 */
#include "learn/report.h"

#include <math.h>
#include <stdio.h>
#include "base/opt.h"
#include "base/page.h"
#include "base/stat.h"

#define DOTS 3000 /* drawn at most: the page stays small */
#define BINS 10
#define STEPS 40

static double top_of(const struct report *r)
{
	double *x = NULL, top;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < r->n_curves; i++)
		for (size_t k = 0; k < r->curve[i].result.n_points; k++) {
			const struct train_point *p = &r->curve[i].result.point[k];
			MEM_GROW(&x, &cap, n + 2);
			x[n++] = p->loss;
			if (!isnan(p->held_loss))
				x[n++] = p->held_loss;
		}
	top = n ? 1.2 * stat_quantile(x, n, 0.95) : 1;
	mem_free(x);
	return top;
}

static void learning_curve(const struct report *r, struct buf *b)
{
	struct plot p = {.out = b, .x = {0, 100}, .y = {0, top_of(r)}, .x_label = "percent of the training done",
		.y_label = "loss"};

	plot_begin(&p);
	for (size_t i = 0; i < r->n_curves; i++) {
		const struct train_result *t = &r->curve[i].result;
		double *x = MEM_NEW(3 * t->n_points, double), *loss = x + t->n_points, *held = loss + t->n_points;
		for (size_t k = 0; k < t->n_points; k++) {
			x[k] = 100 * t->point[k].done;
			loss[k] = t->point[k].loss;
			held[k] = t->point[k].held_loss;
		}
		plot_line(&p, x, loss, t->n_points, PAGE_GREEN);
		plot_line(&p, x, held, t->n_points, PAGE_BLUE);
		mem_free(x);
	}
	plot_end(&p);
}

static void calibration(const struct report *r, struct buf *b)
{
	struct plot p = {.out = b, .x = {0, 1}, .y = {0, 1}, .x_label = "said to improve with probability",
		.y_label = "share that did"};
	double said[BINS] = {0}, did[BINS] = {0}, n[BINS] = {0};
	static const double ends[2] = {0, 1};

	for (uint32_t g = 0; g < r->eval->n_graphs; g++)
		for (size_t i = 0; i < r->eval->graph[g].n; i++) {
			const struct eval_item *x = &r->eval->graph[g].item[i];
			int bin = (int)fmin(BINS - 1, floor(x->p_improve * BINS));
			if (x->advantage == 0 || fabs(x->advantage) <= 2 * x->se)
				continue;
			said[bin] += x->p_improve;
			did[bin] += x->advantage < 0;
			n[bin]++;
		}
	plot_begin(&p);
	plot_line(&p, ends, ends, 2, PAGE_GREY);
	for (int k = 0; k < BINS; k++) {
		double x = said[k] / n[k], y = did[k] / n[k]; /* not a number: not drawn */
		plot_dots(&p, &x, &y, 1, 3 + log10(1 + n[k]), PAGE_GREEN);
	}
	plot_end(&p);
}

static void magnitudes(const struct report *r, struct buf *b)
{
	struct plot p = {.out = b, .x_label = "measured, log(1 + |advantage| / sigma)", .y_label = "predicted"};
	size_t n = 0, every, k = 0;
	double *x, *y, most = 0, ends[2] = {0};

	for (uint32_t g = 0; g < r->eval->n_graphs; g++)
		n += r->eval->graph[g].n;
	every = n / DOTS + 1;
	x = MEM_NEW(n + 1, double), y = MEM_NEW(n + 1, double);
	for (uint32_t g = 0; g < r->eval->n_graphs; g++)
		for (size_t i = 0; i < r->eval->graph[g].n; i += every, k++) {
			const struct eval_item *e = &r->eval->graph[g].item[i];
			x[k] = log1p(fabs(e->advantage) / r->ds->data.graph[r->eval->graph[g].graph].sigma);
			y[k] = e->magnitude;
			most = fmax(most, fmax(x[k], y[k]));
		}
	p.x.high = p.y.high = ends[1] = most;
	plot_begin(&p);
	plot_line(&p, ends, ends, 2, PAGE_GREY);
	plot_dots(&p, x, y, k, 1.6, PAGE_GREEN);
	plot_end(&p);
	mem_free(x), mem_free(y);
}

/* Share of the possible gain in the first part of a graph's flips by predicted gain. */
static void gain_curve(const struct eval_graph *g, double *out)
{
	double *score = MEM_NEW(2 * g->n + 1, double), *value = score + g->n;

	for (size_t i = 0; i < g->n; i++) {
		score[i] = g->item[i].gain;
		value[i] = eval_gain(&g->item[i]);
	}
	out[0] = 0;
	for (int k = 1; k <= STEPS; k++)
		out[k] = share_found(score, value, g->n, (double)k / STEPS);
	mem_free(score);
}

static void gains(const struct report *r, struct buf *b)
{
	struct plot p = {.out = b, .x = {0, 100}, .y = {0, 100},
		.x_label = "percent of flips tried, in the predicted order",
		.y_label = "of the possible gain", .y_unit = "%"};
	double x[STEPS + 1], y[STEPS + 1], mean[STEPS + 1] = {0}, n = 0;
	static const double ends[2] = {0, 100};

	plot_begin(&p);
	plot_line(&p, ends, ends, 2, PAGE_GREY);
	for (uint32_t g = 0; g < r->eval->n_graphs; g++) {
		gain_curve(&r->eval->graph[g], y);
		if (isnan(y[1]))
			continue;
		n++;
		for (int k = 0; k <= STEPS; k++)
			mean[k] += 100 * y[k];
	}
	for (int k = 0; k <= STEPS; k++) {
		x[k] = 100.0 * k / STEPS;
		mean[k] /= n;
	}
	plot_line(&p, x, mean, STEPS + 1, PAGE_GREEN);
	plot_end(&p);
}

static void cell(struct buf *b, double x, bool percent)
{
	if (isnan(x))
		buf_adds(b, "<td class=n>&ndash;</td>");
	else
		buf_addf(b, percent ? "<td class=n>%.0f</td>" : "<td class=n>%.2f</td>", percent ? 100 * x : x);
}

static double best_trivial(const double recall[RIVALS][SHARES])
{
	double best = 0;

	for (int k = BY_MODEL + 1; k < BY_REPEAT; k++)
		best = fmax(best, recall[k][AT_10]);
	return best;
}

static void graph_row(struct buf *b, const char *name, const struct eval_graph *g)
{
	buf_adds(b, "<tr><td>");
	page_text(b, name);
	buf_addf(b, "</td><td class=n>%zu</td>", g->n);
	cell(b, g->recall[BY_MODEL][AT_10], true);
	cell(b, best_trivial(g->recall), true);
	cell(b, g->recall[BY_REPEAT][AT_10], true);
	cell(b, g->spearman[BY_MODEL], false);
	cell(b, g->signs, true);
	cell(b, g->improving_precision, true);
	cell(b, g->improving_recall, true);
	cell(b, g->gain[BY_MODEL][AT_10], true);
	cell(b, best_trivial(g->gain), true);
	cell(b, g->gain[BY_REPEAT][AT_10], true);
	cell(b, g->gain[BY_MODEL][AT_20], true);
	buf_adds(b, "</tr>\n");
}

static void graph_table(const struct report *r, struct buf *b)
{
	buf_adds(b, "<h2>Graph by graph</h2>\n<table><tr><th>graph</th><th "
		"class=n>flips</th><th class=n>recall@10%</th><th class=n>best trivial</th><th class=n>measured "
		"twice</th><th class=n>Spearman</th><th class=n>signs right</th>"
		"<th class=n>said to improve, do</th><th class=n>improve, said so</th>"
		"<th class=n>gain@10%</th><th class=n>best trivial</th><th class=n>measured twice</th>"
		"<th class=n>gain@20%</th></tr>\n");
	for (uint32_t i = 0; i < r->eval->n_graphs; i++)
		graph_row(b, r->ds->data.graph[r->eval->graph[i].graph].name, &r->eval->graph[i]);
	if (r->eval->n_graphs > 1)
		graph_row(b, "mean", &r->eval->mean);
	buf_adds(b, "</table>\n");
}

static void verdict(const struct report *r, struct buf *b)
{
	const struct eval_graph *m = &r->eval->mean;

	buf_adds(b, "<p class=verdict>");
	if (r->eval->n_graphs == 0)
		buf_adds(b, "No graph was evaluated: hold some out to learn what the model is worth.");
	else
		buf_addf(b, "On %u graph%s %s, the first 10%% of flips by "
			"predicted magnitude hold %.0f%% of the 10%% that matter most (best trivial order: %.0f%%, "
			"measuring twice: %.0f%%); the first 10%% by predicted gain "
			"hold %.0f%% of all gain to be had (any order: 10%%).",
			r->eval->n_graphs, r->eval->n_graphs > 1 ? "s" : "",
			r->seen ? "of which some were trained on" : "never trained on",
			100 * m->recall[BY_MODEL][AT_10], 100 * best_trivial(m->recall),
			100 * m->recall[BY_REPEAT][AT_10], 100 * m->gain[BY_MODEL][AT_10]);
	buf_adds(b, "</p>\n");
}

static void training(const struct report_curve *c, struct buf *b)
{
	const struct train_result *t = &c->result;
	struct buf line = {0};

	buf_addf(&line, "%s%s%llu steps, %.1f s, %.0f draws a second%s", c->without ? c->without : "",
		c->without ? " held out: " : "", (unsigned long long)t->steps, t->seconds,
		(double)t->draws / fmax(t->seconds, 1e-9), t->stopped ? "; stopped early" : "");
	page_row(b, "Training", line.data);
	buf_release(&line);
}

static void facts(const struct report *r, struct buf *b)
{
	const struct dataset *ds = r->ds;
	char line[120];

	buf_adds(b, "<h2>What was learnt from</h2>\n");
	page_table(b);
	page_row(b, "Model", r->model ? r->model : "none kept");
	if (r->kept)
		page_row(b, "Compared", r->kept);
	snprintf(line, sizeof line, "%s, %s", quantity_name(ds->quantity), cost_kind_name(ds->kind));
	page_row(b, "Costs", line);
	page_row(b, "Backend", ds->backend);
	snprintf(line, sizeof line, "%llu of %zu graphs", (unsigned long long)ds->n_samples, ds->data.n_graphs);
	page_row(b, "Samples", line);
	for (size_t i = 0; i < r->n_curves; i++)
		training(&r->curve[i], b);
	if (ds->notes.len)
		page_row(b, "Left out", ds->notes.data);
	if (r->facts)
		page_row(b, "Provenance", r->facts);
	page_row(b, "Program", opt_version());
	page_table_end(b);
}

void report_page(const struct report *r, struct buf *b)
{
	page_begin(b, "vantage: what was learnt", "What was learnt");
	verdict(r, b);
	buf_adds(b, "<figure>");
	if (r->n_curves)
		learning_curve(r, b);
	if (r->eval->n_graphs) {
		gains(r, b);
		magnitudes(r, b);
		calibration(r, b);
	}
	buf_adds(b, "<figcaption>Green: the model, or its loss on what it "
		"is trained on. Blue: loss on held-out graphs. Grey: where perfect predictions would lie, or, for "
		"gains, any order at random. Calibration counts flips "
		"clear of twice their error; larger dots are more flips.</figcaption></figure>\n");
	if (r->eval->n_graphs)
		graph_table(r, b);
	facts(r, b);
	page_end(b);
}
