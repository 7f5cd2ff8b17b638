/*
 * report.c - the verb report: a page about the nights of a store, for people (nights.h).
 *
 * Four plots: how samples add up; the default's own cost over time, each program relative to its own median, so that a
 * machine that drifts moves all dots and a program that changed moves its own; how much of every program is covered;
 * and how well each model predicted what it was judged on. Then a table each of programs, stretches and models.
 *
 * Vertical lines in the second plot are where another version of the plugin begins. Its programs have medians of their
 * own, because costs of two environments are not compared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/io.h"
#include "base/page.h"
#include "base/stat.h"
#include "store/cmd.h"
#include "store/nights.h"

#define DAY 86400.0

static void put_time(struct buf *b, double at)
{
	time_t t = (time_t)at;
	struct tm tm;
	char text[32];

	if (gmtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm) > 0)
		buf_adds(b, text);
}

static void cell(struct buf *b, const char *format, double x) __attribute__((format(printf, 2, 0)));
static void cell(struct buf *b, const char *format, double x)
{
	buf_adds(b, "<td class=n>");
	if (isnan(x))
		buf_adds(b, "&ndash;");
	else
		buf_addf(b, format, x);
	buf_adds(b, "</td>");
}

static void cell_text(struct buf *b, const char *text)
{
	buf_adds(b, "<td>");
	page_text(b, text);
	buf_adds(b, "</td>");
}

static void cell_cost(struct buf *b, enum quantity q, double x)
{
	char text[QUANTITY_TEXT];

	buf_addf(b, "<td class=n>%s</td>", isnan(x) || q >= QUANTITY_COUNT ? "&ndash;" : quantity_text(q, x, text));
}

/* The first and the last time of all stretches. */
static struct axis span(const struct nights *n)
{
	struct axis a = {INFINITY, -INFINITY};

	for (size_t i = 0; i < n->n_stretches; i++) {
		a.low = fmin(a.low, n->stretch[i].started);
		a.high = fmax(a.high, n->stretch[i].ended);
	}
	return a;
}

/* Times go by hours since the first stretch, or by days if that was long ago. */
struct ruler {
	double from, unit;
	struct axis x;
	const char *label;
};

static struct ruler ruler_of(const struct nights *n)
{
	struct axis a = span(n);
	bool days = a.high - a.low > 4 * DAY;
	struct ruler r = {a.low, days ? DAY : 3600, {0, 0}, days ? "days since the first stretch" :
		"hours since the first stretch"};

	r.x.high = (a.high - a.low) / r.unit;
	return r;
}

static double place(const struct ruler *r, double at)
{
	return (at - r->from) / r->unit;
}

static void plot_samples(const struct nights *n, const struct ruler *r, struct buf *b)
{
	struct plot p = {.out = b, .x = r->x, .y = {0, (double)(n->samples + n->trials)}, .x_label = r->label,
		.y_label = "steps"};
	double *x = MEM_NEW(4 * n->n_stretches + 2, double), *y = x + 2 * n->n_stretches + 1, sum = 0;
	size_t k = 0;

	for (size_t i = 0; i < n->n_stretches; i++) {
		const struct stretch *t = &n->stretch[i];
		x[k] = place(r, t->started), y[k++] = sum;
		sum += t->end - t->first;
		x[k] = place(r, t->ended), y[k++] = sum;
	}
	plot_begin(&p);
	plot_line(&p, x, y, k, PAGE_GREEN);
	plot_end(&p);
	mem_free(x);
}

/* Where, from one stretch to the next, the version of the plugin changes. */
static void mark_versions(const struct nights *n, const struct ruler *r, const struct plot *p)
{
	for (size_t i = 1; i < n->n_stretches; i++) {
		double x[2] = {place(r, n->stretch[i].started), place(r, n->stretch[i].started)};
		double y[2] = {p->y.low, p->y.high};
		if (strcmp(n->stretch[i].version, n->stretch[i - 1].version) != 0)
			plot_line(p, x, y, 2, PAGE_BLUE);
	}
}

static void plot_clocks(const struct nights *n, const struct ruler *r, struct buf *b)
{
	struct plot p = {.out = b, .x = r->x, .y = {-5, 5}, .x_label = r->label,
		.y_label = "the default, against its median", .y_unit = "%"};
	double *x, *y, *drift = MEM_NEW(2 * n->n_stretches + 1, double), *middle = drift + n->n_stretches;
	size_t most = 1, k = 0;

	for (size_t i = 0; i < n->n_programs; i++)
		most += n->program[i].n_clock;
	x = MEM_NEW(2 * most, double), y = x + most;
	for (size_t i = 0; i < n->n_programs; i++)
		for (size_t c = 0; c < n->program[i].n_clock; c++) {
			x[k] = place(r, n->program[i].clock[c].at);
			y[k++] = 100 * (n->program[i].clock[c].seconds / watched_median(&n->program[i]) - 1);
		}
	if (k)
		p.y = (struct axis){fmin(-5, stat_quantile(y, k, 0.02)), fmax(5, stat_quantile(y, k, 0.98))};
	for (size_t i = 0; i < n->n_stretches; i++) {
		middle[i] = place(r, (n->stretch[i].started + n->stretch[i].ended) / 2);
		drift[i] = 100 * nights_drift(n, &n->stretch[i]);
	}
	plot_begin(&p);
	mark_versions(n, r, &p);
	plot_dots(&p, x, y, k, 2, PAGE_GREY);
	plot_line(&p, middle, drift, n->n_stretches, PAGE_GREEN);
	plot_dots(&p, middle, drift, n->n_stretches, 4, PAGE_GREEN);
	plot_end(&p);
	mem_free(x);
	mem_free(drift);
}

static void plot_coverage(const struct nights *n, struct buf *b)
{
	struct plot p = {.out = b, .x = {0, 1}, .y = {0, 100}, .x_label = "sites of a program (log10)",
		.y_label = "sites with a sample", .y_unit = "%"};
	double *x = MEM_NEW(2 * n->n_programs + 2, double), *y = x + n->n_programs + 1;

	for (size_t i = 0; i < n->n_programs; i++) {
		const struct watched *w = &n->program[i];
		x[i] = log10(fmax(1, w->n_sites));
		y[i] = 100.0 * w->covered / fmax(1, w->n_sites);
		p.x.high = fmax(p.x.high, ceil(x[i]));
	}
	plot_begin(&p);
	plot_dots(&p, x, y, n->n_programs, 3, PAGE_GREEN);
	plot_end(&p);
	mem_free(x);
}

/* The depth of each model, and a line through those that took their place. */
static void plot_lessons(const struct lessons *l, struct buf *b)
{
	struct plot p = {.out = b, .x = {1, (double)l->n}, .y = {0, 50}, .x_label = "models, in the order of training",
		.y_label = "gains lie this far down the list", .y_unit = "%"};
	double *x = MEM_NEW(3 * l->n + 3, double), *y = x + l->n + 1, *placed = y + l->n + 1;

	for (size_t i = 0; i < l->n; i++) {
		x[i] = (double)i + 1;
		y[i] = 100 * l->item[i].depth;
		placed[i] = l->item[i].placed ? y[i] : NAN;
	}
	plot_begin(&p);
	plot_dots(&p, x, y, l->n, 3, PAGE_GREY);
	plot_line(&p, x, placed, l->n, PAGE_GREEN);
	plot_dots(&p, x, placed, l->n, 4, PAGE_GREEN);
	plot_end(&p);
	mem_free(x);
}

/* The clocks of one program, small; the height is 10% to either side of their median. */
static void spark(const struct watched *w, struct buf *b)
{
	double median = watched_median(w), from = w->n_clock ? w->clock[0].at : 0;
	double length = w->n_clock ? fmax(1, w->clock[w->n_clock - 1].at - from) : 1;

	buf_adds(b, "<td>");
	if (w->n_clock > 1) {
		buf_adds(b, "<svg viewBox='0 0 100 20' style='width:5em' role='img'><path d='M0 10L100 10'"
			" stroke='#dde1e6'/><path fill='none' stroke='" PAGE_GREEN "' stroke-width='1.5' d='");
		for (size_t i = 0; i < w->n_clock; i++)
			buf_addf(b, "%c%.1f %.1f", i ? 'L' : 'M', 100 * (w->clock[i].at - from) / length,
				10 - fmax(-9, fmin(9, 100 * (w->clock[i].seconds / median - 1))));
		buf_adds(b, "'/></svg>");
	}
	buf_adds(b, "</td>");
}

static double spread(const struct watched *w)
{
	double *x = MEM_NEW(w->n_clock + 1, double), s;

	for (size_t i = 0; i < w->n_clock; i++)
		x[i] = w->clock[i].seconds;
	s = w->n_clock > 1 ? (stat_quantile(x, w->n_clock, 0.75) - stat_quantile(x, w->n_clock, 0.25)) /
		stat_median(x, w->n_clock) : NAN;
	mem_free(x);
	return s;
}

static void program_row(const struct watched *w, struct buf *b)
{
	buf_adds(b, "<tr>");
	cell_text(b, w->name);
	buf_addf(b, "<td class=n>%u</td><td class=n>%llu</td>", w->n_sites, (unsigned long long)w->samples);
	cell(b, "%.0f%%", 100.0 * w->covered / fmax(1, w->n_sites));
	buf_addf(b, "<td class=n>%llu</td>", (unsigned long long)w->failed);
	cell_cost(b, w->quantity, w->error);
	cell(b, "%.0f%%", 100 * w->clear);
	cell(b, "%.0f%%", 100 * w->cached);
	cell_cost(b, w->quantity, watched_median(w));
	cell(b, "%.1f%%", 100 * spread(w));
	spark(w, b);
	cell(b, "%.2f%%", 100 * w->best);
	buf_adds(b, "</tr>\n");
}

static void program_table(const struct nights *n, struct buf *b)
{
	const struct watched *before = NULL;

	buf_adds(b, "<h2>Programs</h2>\n<table><tr><th>program</th><th class=n>sites</th><th class=n>samples</th><th"
		" class=n>covered</th><th class=n>failed</th><th class=n>error</th><th class=n>clear</th><th"
		" class=n>cached</th><th class=n>default</th><th class=n>spread</th><th>over time</th><th"
		" class=n>best</th></tr>\n");
	for (size_t i = 0; i < n->n_programs; i++) {
		const struct watched *w = &n->program[i];
		if (before && strcmp(before->name, w->name) == 0 && strcmp(before->version, w->version) != 0) {
			buf_adds(b, "<tr><td colspan=12>the same program by ");
			page_text(b, w->version);
			buf_adds(b, ":</td></tr>\n");
		}
		program_row(w, b);
		before = w;
	}
	buf_adds(b, "</table>\n<figure><figcaption>Covered: sites with a sample. Error: the median standard error of a"
		" price. Clear: prices further from 0 than twice their error. Cached: regions that were priced before,"
		" where a stretch has ended. Spread: between the quartiles of the default's own cost; the lines show"
		" it over time, 10% to either side. Best: the lowest cost seen, against the default; a sum of measured"
		" steps, no verdict.</figcaption></figure>\n");
}

static void stretch_table(const struct nights *n, struct buf *b)
{
	buf_adds(b, "<h2>Stretches</h2>\n<table><tr><th>began (UTC)</th><th"
		" class=n>hours</th><th>what</th><th>host</th><th>plugin</th><th class=n>steps</th><th"
		" class=n>regions</th><th class=n>cached</th><th class=n>drift</th><th>state</th></tr>\n");
	for (size_t i = 0; i < n->n_stretches; i++) {
		const struct stretch *t = &n->stretch[i];
		buf_adds(b, "<tr><td>");
		put_time(b, t->started);
		buf_adds(b, "</td>");
		cell(b, "%.1f", (t->ended - t->started) / 3600);
		cell_text(b, t->kind);
		cell_text(b, t->host);
		cell_text(b, t->version);
		buf_addf(b, "<td class=n>%u</td>", t->end - t->first);
		cell(b, "%.0f", t->regions);
		cell(b, "%.0f%%", 100 * t->cached);
		cell(b, "%+.1f%%", 100 * nights_drift(n, t));
		cell_text(b, t->open ? "no end is stored" : t->state);
		buf_adds(b, "</tr>\n");
	}
	buf_adds(b, "</table>\n<figure><figcaption>Drift: how much dearer the defaults were than over all stretches"
		" with the same plugin, the median over programs.</figcaption></figure>\n");
}

static void lesson_row(const struct lesson *l, struct buf *b)
{
	buf_adds(b, "<tr><td>");
	put_time(b, l->at);
	buf_adds(b, "</td>");
	cell_text(b, l->place);
	cell_text(b, l->learner);
	buf_addf(b, "<td class=n>%lld</td><td class=n>%lld</td>", (long long)l->decisions, (long long)l->programs);
	cell(b, "%.1f%%", 100 * l->depth);
	cell(b, "%.1f%%", 100 * l->before);
	buf_adds(b, "<td class=n>");
	if (isnan(l->low))
		buf_adds(b, "&ndash;");
	else
		buf_addf(b, "%+.1f to %+.1f", 100 * l->low, 100 * l->high);
	buf_addf(b, "</td><td class=n>%lld</td>", (long long)l->flips);
	cell_text(b, l->verdict);
	cell_text(b, l->placed ? "yes" : "no");
	buf_adds(b, "</tr>\n");
}

static void lesson_table(const struct lessons *l, struct buf *b)
{
	buf_adds(b, "<h2>Models</h2>\n");
	if (l->n == 0)
		buf_adds(b, "<p>No model of these costs has been judged: <code>learn</code> without --out leaves a"
			" line about each beside the models.</p>\n");
	else {
		buf_adds(b, "<table><tr><th>learnt (UTC)</th><th>for</th><th>learner</th><th class=n>decisions</th><th"
			" class=n>programs</th><th class=n>depth</th><th class=n>of the old</th><th class=n>better"
			" by</th><th class=n>flips</th><th>verdict</th><th>in place</th></tr>\n");
		for (size_t i = 0; i < l->n; i++)
			lesson_row(&l->item[i], b);
		buf_adds(b, "</table>\n<figure><figcaption>Depth: how far down the list of flips, sorted by the model,"
			" the measured gains lie (50%: any order), on decisions that it was not trained on. Better by:"
			" points, 95%.</figcaption></figure>\n");
	}
	if (l->unread || l->elsewhere)
		buf_addf(b, "<p>Left out: %zu models for other devices or decisions, %zu lines that are no whole"
			" line.</p>\n",
			l->elsewhere, l->unread);
}

/* One paragraph that says it all. */
static void say(const struct nights *n, struct buf *b)
{
	const struct watched *best = NULL;
	uint64_t sites = 0, covered = 0;
	double worst = 0;
	struct axis a = span(n);

	for (size_t i = 0; i < n->n_programs; i++) {
		const struct watched *w = &n->program[i];
		sites += w->n_sites, covered += w->covered;
		if (w->best < (best ? best->best : 0))
			best = w;
	}
	for (size_t i = 0; i < n->n_stretches; i++)
		worst = fabs(nights_drift(n, &n->stretch[i])) > fabs(worst) ? nights_drift(n, &n->stretch[i]) : worst;
	buf_addf(b, "<p class=verdict>%llu samples and %llu trials of %zu program%s in %zu stretch%s",
		(unsigned long long)n->samples, (unsigned long long)n->trials, n->n_programs, n->n_programs == 1 ? "" :
			"s",
		n->n_stretches, n->n_stretches == 1 ? "" : "es");
	if (n->n_stretches) {
		buf_adds(b, ", ");
		put_time(b, a.low);
		buf_adds(b, " to ");
		put_time(b, a.high);
		buf_adds(b, " UTC");
	}
	if (sites)
		buf_addf(b, ". %.0f%% of %llu sites have a sample", 100.0 * (double)covered / (double)sites,
			(unsigned long long)sites);
	if (best) {
		buf_addf(b, ". The best seen is %.1f%% below the default (", -100 * best->best);
		page_text(b, best->name);
		buf_adds(b, ")");
	}
	if (worst != 0)
		buf_addf(b, ". The stretch that drifted most was %.1f%% %s than the others", 100 * fabs(worst),
			worst < 0 ? "faster" : "slower");
	buf_adds(b, ".</p>\n");
}

void nights_page(const struct nights *n, const struct lessons *l, const char *store, struct buf *b)
{
	struct ruler r = ruler_of(n);
	const char *slash = strrchr(store, '/');

	page_begin(b, "vantage: the nights", slash ? slash + 1 : store);
	say(n, b);
	buf_adds(b, "<figure>");
	if (n->n_stretches) {
		plot_samples(n, &r, b);
		plot_clocks(n, &r, b);
		plot_coverage(n, b);
	}
	if (l->n)
		plot_lessons(l, b);
	buf_adds(b, "<figcaption>The default: a grey dot is one program once, against its own median; green is the"
		" median over programs in each stretch; a blue line is where another version of the plugin begins."
		" Models: green took their place.</figcaption></figure>\n");
	program_table(n, b);
	stretch_table(n, b);
	lesson_table(l, b);
	page_end(b);
}

int cmd_report(struct request *r, struct err *err)
{
	struct nights n = {0};
	struct lessons l = {0};
	struct buf page = {0};
	int rc = -1;

	if (r->n_words)
		return err_set(err, "report takes one store; \"%s\" is too much", r->word[0]);
	if (!r->out)
		return err_set(err, "where to? Name the page: store report %s --out nights.html", store_path(r->s));
	if (nights_read(r->s, &n, err) == 0 && lessons_read(r->s, r->models, &l, err) == 0) {
		nights_page(&n, &l, store_path(r->s), &page);
		rc = io_write_file(r->out, page.data, page.len, err);
	}
	buf_release(&page);
	lessons_release(&l);
	nights_release(&n);
	return rc;
}
