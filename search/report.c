/*
 * report.c - writes the page: verdict, curve, what changed, where, and on what machine.
 *
 * The curve is drawn twice, against evaluations and against seconds. Names from the program come from a file,
 * so they are escaped.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/opt.h"
#include "base/page.h"
#include "search/mend.h"
#include "search/output.h"

/* What the whole program said now and then: a dot with its 95% interval. */
static void add_checks(struct buf *b, const struct plot *p, const struct hunt *h, bool by_time, double unit)
{
	for (size_t i = 0; i < h->n_check; i++) {
		const struct hunt_check *c = &h->check[i];
		double x = plot_x(p, by_time ? c->seconds : (double)c->evaluation), half = 1.96 * c->se;
		double from = plot_y(p, unit * (c->whole - half)), to = plot_y(p, unit * (c->whole + half));
		buf_addf(b, "<g stroke='#b4481e' fill='#b4481e'><path d='M%.1f %.1fV%.1f'/>", x, from, to);
		buf_addf(b, "<circle cx='%.1f' cy='%.1f' r='3'/></g>", x, plot_y(p, unit * c->whole));
	}
}

/* Gain of the best so far, in percent of the default, as steps. */
static void add_curve(struct buf *b, const struct hunt *h, bool by_time)
{
	double end = by_time ? hunt_seconds(h) : (double)h->evaluations, unit = -100 / h->default_seconds;
	struct plot p = {.out = b, .x = {0, end}, .y = {0, 0.1}, .x_label = by_time ? "seconds" : "evaluations",
		.y_unit = "%"};

	for (size_t i = 0; i < h->n_curve; i++) {
		double g = unit * h->curve[i].best;
		p.y.high = fmax(p.y.high, 1.1 * g);
		p.y.low = fmin(p.y.low, 1.1 * g);
	}
	for (size_t i = 0; i < h->n_check; i++) {
		p.y.high = fmax(p.y.high, unit * (h->check[i].whole - 2.2 * h->check[i].se));
		p.y.low = fmin(p.y.low, unit * (h->check[i].whole + 2.2 * h->check[i].se));
	}
	plot_begin(&p);
	buf_adds(b, "<path fill='none' stroke='#1a7f4b' stroke-width='2' d='");
	for (size_t i = 0; i <= h->n_curve; i++) {
		const struct hunt_point *c = &h->curve[i < h->n_curve ? i : h->n_curve - 1];
		double at = i == h->n_curve ? end : by_time ? c->seconds : (double)c->evaluation;
		buf_addf(b, i ? "H%.1fV%.1f" : "M%.1f %.1f", plot_x(&p, at), plot_y(&p, unit * c->best));
	}
	buf_adds(b, "'/>");
	add_checks(b, &p, h, by_time, unit);
	plot_end(&p);
}

/* Decimals that show two digits of an error. */
static int decimals(double error)
{
	return error > 0 ? (int)fmin(4, fmax(0, 1 - floor(log10(error)))) : 3;
}

/* A choice in words, if the kind has some and does not show it in a picture; else its number. */
static void add_choice(struct buf *b, struct space *s, uint32_t site, uint8_t choice)
{
	struct buf words = {0};

	if (s->ops->words && !s->ops->picture)
		s->ops->words(s, site, choice, &words);
	else
		buf_addf(&words, "%u", choice);
	page_text(b, words.data);
	buf_release(&words);
}

static void add_steps(struct buf *b, const struct hunt *h)
{
	const struct space *s = h->s;

	buf_addf(b, "<h2>What changed, in order</h2>\n<table><tr><th class=n>evaluation</th><th>instruction</th>"
		    "<th>where it comes from</th><th>choice</th><th class=n>sites</th><th class=n>%s</th>"
		    "<th class=n>&plusmn;</th></tr>\n", quantity_unit(h->quantity));
	for (size_t i = 0; i < h->n_steps; i++) {
		const struct hunt_step *t = &h->steps[i];
		const Hlo__HloInstructionProto *in = s->graph->node[s->site[t->site].node].proto;
		buf_addf(b, "<tr><td class=n>%llu</td><td><code>", (unsigned long long)t->evaluation);
		page_text(b, in->name);
		buf_adds(b, "</code></td><td><code>");
		page_text(b, in->metadata ? in->metadata->op_name : "");
		double delta = quantity_in_unit(h->quantity, t->delta), se = quantity_in_unit(h->quantity, t->se);
		int places = decimals(se);
		buf_adds(b, "</code></td><td>");
		add_choice(b, h->s, t->site, t->from);
		buf_adds(b, " &rarr; ");
		add_choice(b, h->s, t->site, t->to);
		buf_addf(b, "</td><td class=n>%u</td>", t->n_flips);
		buf_addf(b, "<td class=n>%.*f</td><td class=n>%.*f</td></tr>\n", places, delta, places, se);
	}
	buf_adds(b, "</table>\n");
	if (s->ops->kind->choices) {
		buf_adds(b, "<p>What a choice means: ");
		page_text(b, s->ops->kind->choices);
		buf_adds(b, " &ldquo;Sites&rdquo; counts what was decided alike in one step. Figures are of the moment "
			    "when the step was taken, by its regions.</p>\n");
	}
}

/* Adds a program as text: only the lines of its entry. */
static void add_picture(struct buf *b, struct space *s, uint32_t site, uint8_t choice)
{
	struct buf text = {0};
	const char *entry;

	s->ops->picture(s, site, choice, &text);
	entry = text.data ? strstr(text.data, "ENTRY") : NULL;
	buf_adds(b, "<td style='vertical-align:top'><pre>");
	page_text(b, entry ? entry : text.data);
	buf_adds(b, "</pre></td>");
	buf_release(&text);
}

/* Adds the places that differ from the default, before and after; equal places once. */
static void add_places(struct buf *b, const struct hunt *h)
{
	struct space *s = h->s;
	uint32_t *copies = MEM_NEW((size_t)s->n_ties * s->stride + 1, uint32_t);
	bool any = false;

	for (uint32_t i = 0; i < s->n_sites; i++)
		copies[(size_t)s->site[i].tie * s->stride + h->config[i]]++;
	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint32_t *n = &copies[(size_t)s->site[i].tie * s->stride + h->config[i]];
		if (h->config[i] == s->site[i].dflt || *n == 0)
			continue;
		buf_adds(b, any ? "" : "<h2>Each place, before and after</h2>\n<table>");
		any = true;
		buf_adds(b, "<tr><th colspan=2><code>");
		page_text(b, s->graph->node[s->site[i].node].proto->name);
		buf_adds(b, "</code> &mdash; ");
		s->ops->words(s, i, h->config[i], b);
		if (*n > 1)
			buf_addf(b, " (%u places alike)", *n);
		buf_adds(b, "</th></tr>\n<tr>");
		add_picture(b, s, i, s->site[i].dflt);
		add_picture(b, s, i, h->config[i]);
		buf_adds(b, "</tr>\n");
		*n = 0;
	}
	buf_adds(b, any ? "</table>\n" : "");
	mem_free(copies);
}

static void add_search(struct buf *b, const struct result *r)
{
	const struct hunt *h = r->hunt;
	struct buf model = {0};
	char line[200];
	uint32_t differ = 0, idle = space_idle_sites(h->s, h->quantity);
	int n;

	for (uint32_t i = 0; i < h->s->n_sites; i++)
		differ += h->config[i] != h->s->site[i].dflt;
	buf_adds(b, "<h2>The search</h2>\n");
	page_table(b);
	page_row(b, "Strategy", r->strategy);
	if (r->advisor->model)
		advisor_text(r->advisor, &model);
	page_row(b, "Model", model.len ? model.data : "none");
	buf_release(&model);
	n = snprintf(line, sizeof line, "%u, of which %u differ from the default", h->s->n_sites, differ);
	if (idle)
		snprintf(line + n, sizeof line - (size_t)n, "; %u are in parts that do not run here", idle);
	page_row(b, "Sites", line);
	snprintf(line, sizeof line, "%llu in %.1f s; %llu measured, %llu served by a cache",
		(unsigned long long)h->evaluations, hunt_seconds(h), (unsigned long long)h->measured,
		(unsigned long long)h->cached);
	page_row(b, "Evaluations", line);
	snprintf(line, sizeof line,
		"%llu kept, %llu refuted when measured again, %llu corrections by the whole program",
		(unsigned long long)h->kept, (unsigned long long)h->refuted, (unsigned long long)h->drifts);
	page_row(b, "Candidates", line);
	if (h->part.value > 0 || h->part.se > 0) {
		snprintf(line, sizeof line, "%.2f us beyond its region, each %s", 1e6 * h->part.value,
			space_part(h->s));
		page_row(b, "Charged", line);
	}
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (h->failed[o]) {
			snprintf(line, sizeof line, "%llu", (unsigned long long)h->failed[o]);
			page_row(b, outcome_name((enum outcome)o), line);
		}
	page_table_end(b);
}

/* Adds the limits that the tuned program had to keep. */
static void add_limits(struct buf *b, const struct verdict *v)
{
	buf_adds(b, "<h2>Limits</h2>\n<table><tr><th>limit</th><th class=n>default</th><th class=n>tuned</th>"
		    "<th class=n>change</th><th>95% interval</th><th></th></tr>\n");
	for (uint32_t i = 0; i < v->n_limits; i++) {
		const struct verdict_limit *l = &v->limit[i];
		const struct weighed *w = &l->weighed;
		struct buf name = {0};
		char was[QUANTITY_TEXT], is[QUANTITY_TEXT];

		const char *state = l->state == LIMIT_KEPT ? "kept" : "cannot be told";

		limit_text(&l->limit, &name);
		quantity_text(l->limit.quantity, w->dflt, was);
		quantity_text(l->limit.quantity, w->tuned, is);
		buf_addf(b, "<tr><td>%s</td><td class=n>%s</td><td class=n>%s</td>", name.data, was, is);
		buf_addf(b, "<td class=n>%+.2f%%</td><td>", 100 * w->change);
		if (w->exact)
			buf_adds(b, "exact");
		else
			buf_addf(b, "%+.2f%% to %+.2f%%", 100 * w->low, 100 * w->high);
		buf_addf(b, "</td><td>%s</td></tr>\n", l->state == LIMIT_BROKEN ? "broken" : state);
		buf_release(&name);
	}
	buf_adds(b, "</table>\n");
}

/* On which inputs the numbers of both programs were compared. */
static void add_numbers(struct buf *b, const struct numbers *n)
{
	buf_adds(b, "<h2>Whether the numbers agree</h2>\n"
		    "<table><tr><th>inputs</th><th class=n>elements</th><th class=n>of these finite</th>"
		    "<th class=n>difference</th><th class=n>allowed</th><th></th></tr>\n");
	for (int i = 0; i < INPUTS_COUNT; i++) {
		const struct numbers_on *on = &n->on[i];
		if (!on->compared && on->own == OUTCOME_OK)
			continue;
		buf_addf(b, "<tr><td>%s</td>", numbers_inputs(n, (enum inputs)i));
		if (on->compared) {
			buf_addf(b, "<td class=n>%llu</td><td class=n>%llu</td>", (unsigned long long)on->elements,
				(unsigned long long)on->finite);
			buf_addf(b, "<td class=n>%.2g</td><td class=n>%.2g</td><td>%s</td>", on->difference,
				on->allowed, on->told ? "" : "tells nothing");
		} else {
			buf_addf(b, "<td colspan=5>not compared: the compiler's own program: %s</td>",
				outcome_meaning(on->own));
		}
		buf_adds(b, "</tr>\n");
	}
	buf_adds(b, "</table>\n<p>The compiler's own program against the tuned one, the output that comes closest to "
		    "what is allowed: relative difference, and ten times what rounding does to the program's own "
		    "outputs.</p>\n");
}

static void add_environment(struct buf *b, const struct result *r)
{
	char line[200], source[DEVICE_SOURCE];

	buf_adds(b, "<h2>Where it was measured</h2>\n");
	page_table(b);
	if (r->device) {
		page_row(b, "Machine", r->device->machine);
		page_row(b, "Device", r->device->device[0] ? r->device->device : r->device->platform);
		page_row(b, "Plugin", r->device->version);
	}
	snprintf(line, sizeof line, "%s, %s", quantity_name(r->hunt->quantity),
		r->device ? device_source(r->device, source, sizeof source) : cost_kind_name(r->verdict->kind));
	page_row(b, "Cost", line);
	if (r->verdict->measured && r->verdict->kind == COST_MEASURED) {
		snprintf(line, sizeof line, "%.0f by the default, %.0f by the tuned program",
			r->verdict->mapped_in.dflt, r->verdict->mapped_in.tuned);
		page_row(b, "Pages of memory mapped in by a run", line);
	}
	page_row(b, "Program", opt_version());
	page_table_end(b);
}

/* A paragraph, unless the text is empty or NULL. */
static void add_paragraph(struct buf *b, const char *text)
{
	if (!text || !*text)
		return;
	buf_adds(b, "<p>");
	page_text(b, text);
	buf_adds(b, "</p>\n");
}

static void add_verdict(struct buf *b, const struct result *r)
{
	const struct verdict *v = r->verdict;
	char was[QUANTITY_TEXT], is[QUANTITY_TEXT];
	struct buf form = {0};

	buf_addf(b, "<p class='verdict%s'>", v->tuned ? " tuned" : "");
	page_text(b, v->sentence);
	if (v->measured && v->default_seconds > 0)
		buf_addf(b, "<br>%s %s%s, %s with what was found.",
			quantity_text(r->hunt->quantity, v->default_seconds, was), v->reference ? "with " : "by ",
			v->reference ? v->reference : "default",
			quantity_text(r->hunt->quantity, v->tuned_seconds, is));
	buf_adds(b, "</p>\n");
	add_paragraph(b, v->compared);
	if (v->tuned)
		form_text(r->form, &form);
	add_paragraph(b, form.data);
	add_paragraph(b, v->advice);
	if (verdict_attention(v)) {
		buf_adds(b, "<p><b>");
		page_text(b, verdict_attention(v));
		buf_adds(b, "</b></p>\n");
	}
	buf_release(&form);
}

static void add_curves(struct buf *b, const struct hunt *h)
{
	bool whole = h->lab->reference; /* priced as whole programs, against what people do by hand */

	buf_adds(b, "<figure>");
	add_curve(b, h, false);
	add_curve(b, h, true);
	buf_adds(b, "<figcaption>Saved by the best configuration so far, in percent of ");
	page_text(b, whole ? h->lab->reference : "the default");
	if (!whole)
		buf_adds(b, ", as summed from regions during the search");
	if (h->n_check)
		buf_adds(b, "; dots are the whole program measured against the decoded default, with 95% intervals");
	buf_adds(b, whole ? ", by the prices of whole programs. What was taken back afterwards is not counted."
		: ". The verdict above is measured anew, on whole programs.");
	buf_adds(b, "</figcaption></figure>\n");
}

/* What the kind itself shows of the default and of what was found. */
static void add_page(struct buf *b, const struct hunt *h)
{
	uint8_t *dflt = mem_alloc(h->s->n_sites + 1);

	space_default(h->s, dflt);
	h->s->ops->page(h->s, dflt, h->config, b);
	mem_free(dflt);
}

/* The page of the kind that decided first lies in the folder of its name beside this one. */
static void add_first(struct buf *b, const struct result *r)
{
	const char *kind = r->first ? r->first->s->ops->kind->name : NULL;
	struct buf words = {0};

	if (kind) {
		buf_addf(b, "<p>First came %llu evaluations of the kind %s, of which %llu were kept%s: "
			"<a href='%s/report.html'>what was decided there</a>.</p>\n",
			(unsigned long long)r->first->evaluations, kind, (unsigned long long)r->first->kept,
			r->before ? "" : ", and the program was left as it is", kind);
		mend_words(r->first, &words);
		add_paragraph(b, words.data);
	}
	buf_release(&words);
}

void report_write(const struct result *r, struct buf *b)
{
	const struct hunt *h = r->hunt;
	char title[200];

	snprintf(title, sizeof title, "vantage: %s", r->graph);
	page_begin(b, title, r->graph);
	add_verdict(b, r);
	by_hand_page(r->by_hand, b);
	if (h->n_curve && h->evaluations && h->default_seconds > 0 && !r->screen->turns)
		add_curves(b, h);
	if (r->verdict->n_limits)
		add_limits(b, r->verdict);
	if (h->s->ops->page)
		add_page(b, h);
	screen_page(r->screen, b);
	trim_page(r->trim, b);
	worth_page(r->worth, h, b);
	add_search(b, r);
	add_first(b, r);
	if (h->n_steps)
		add_steps(b, h);
	if (h->s->ops->picture && h->s->ops->words)
		add_places(b, h);
	if (r->verdict->measured && r->verdict->kind == COST_MEASURED)
		add_numbers(b, &r->verdict->numbers);
	add_environment(b, r);
	page_end(b);
}
