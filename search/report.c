/*
 * report.c - the page: verdict, curve, what changed, where, and on what machine.
 *
 * One file without scripts or references: styles and the two curves (against evaluations and against
 * seconds) are written inline, so it can be mailed and opened years later. Names from the program are
 * escaped: they come from a file.
 */
#include <math.h>
#include <stdio.h>
#include "base/opt.h"
#include "search/output.h"

static void add_text(struct buf *b, const char *s)
{
	for (; s && *s; s++)
		switch (*s) {
		case '<':
			buf_adds(b, "&lt;");
			break;
		case '>':
			buf_adds(b, "&gt;");
			break;
		case '&':
			buf_adds(b, "&amp;");
			break;
		case '"':
			buf_adds(b, "&quot;");
			break;
		default:
			buf_addch(b, *s);
		}
}

static const char style[] =
	"body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1c2430}"
	"h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}.verdict{font-size:1.15em;padding:.8em 1em;"
	"border-left:5px solid #888;background:#f4f5f7}.tuned{border-color:#1a7f4b}table{border-collapse:"
	"collapse;width:100%}td,th{text-align:left;padding:.25em .7em .25em 0;border-bottom:1px solid #dde1e6;"
	"vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}code{font-size:.92em;"
	"word-break:break-all}svg{width:49%;height:auto}figure{margin:0}figcaption{color:#5a6472;font-size:.9em}";

struct axis {
	double low, high;
};

static double nice_step(double range)
{
	double p = pow(10, floor(log10(range / 4 + 1e-30))), m = range / 4 / p;

	return p * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

enum { WIDE = 480, HIGH = 280, LEFT = 56, BOTTOM = 40, TOP = 12, RIGHT = 12 };

static double x_of(const struct axis *a, double v)
{
	return LEFT + (v - a->low) / (a->high - a->low) * (WIDE - LEFT - RIGHT);
}

static double y_of(const struct axis *a, double v)
{
	return HIGH - BOTTOM - (v - a->low) / (a->high - a->low) * (HIGH - BOTTOM - TOP);
}

static void add_axes(struct buf *b, const struct axis *x, const struct axis *y, const char *label)
{
	double step = nice_step(x->high - x->low);

	for (double v = ceil(x->low / step) * step; v <= x->high * 1.0001; v += step)
		buf_addf(b, "<text x='%.1f' y='%d' font-size='11' text-anchor='middle' fill='#5a6472'>%g</text>",
			x_of(x, v), HIGH - BOTTOM + 16, v);
	step = nice_step(y->high - y->low);
	for (double v = ceil(y->low / step) * step; v <= y->high * 1.0001; v += step)
		buf_addf(b, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#dde1e6'/><text x='%d' y='%.1f' "
			    "font-size='11' text-anchor='end' fill='#5a6472'>%.3g%%</text>",
			LEFT, WIDE - RIGHT, y_of(y, v), y_of(y, v), LEFT - 6, y_of(y, v) + 4, fabs(v) < step / 1e6 ? 0 : v);
	buf_addf(b, "<text x='%d' y='%d' font-size='12' text-anchor='middle' fill='#1c2430'>%s</text>",
		(WIDE + LEFT) / 2, HIGH - 6, label);
}

/* Gain of the best so far, in percent of the default, as steps with their error band. */
static void add_curve(struct buf *b, const struct hunt *h, bool by_time)
{
	double end = by_time ? hunt_seconds(h) : (double)h->evaluations, unit = -100 / h->default_seconds;
	struct axis x = {0, end > 0 ? end : 1}, y = {0, 0.1};
	double px = 0, py = 0;

	for (size_t i = 0; i < h->n_curve; i++) {
		double g = unit * h->curve[i].best;
		y.high = fmax(y.high, 1.1 * g);
		y.low = fmin(y.low, 1.1 * g);
	}
	buf_addf(b, "<svg viewBox='0 0 %d %d' xmlns='http://www.w3.org/2000/svg' role='img'>", WIDE, HIGH);
	add_axes(b, &x, &y, by_time ? "seconds" : "evaluations");
	buf_adds(b, "<path fill='none' stroke='#1a7f4b' stroke-width='2' d='");
	for (size_t i = 0; i <= h->n_curve; i++) {
		const struct hunt_point *p = &h->curve[i < h->n_curve ? i : h->n_curve - 1];
		double at = i == h->n_curve ? end : by_time ? p->seconds : (double)p->evaluation;
		px = x_of(&x, fmin(at, end));
		py = y_of(&y, unit * p->best);
		if (i == 0)
			buf_addf(b, "M%.1f %.1f", px, py);
		else
			buf_addf(b, "H%.1fV%.1f", px, py);
	}
	buf_adds(b, "'/>");
	buf_adds(b, "</svg>");
}

static void add_row(struct buf *b, const char *what, const char *value)
{
	buf_addf(b, "<tr><td>%s</td><td>", what);
	add_text(b, value);
	buf_adds(b, "</td></tr>\n");
}

static void add_steps(struct buf *b, const struct hunt *h)
{
	const struct space *s = h->s;

	buf_adds(b, "<h2>What changed, in order</h2>\n<table><tr><th class=n>evaluation</th><th>instruction</th>"
		    "<th>where it comes from</th><th>choice</th><th class=n>sites</th><th class=n>&micro;s</th>"
		    "<th class=n>&plusmn;</th></tr>\n");
	for (size_t i = 0; i < h->n_steps; i++) {
		const struct hunt_step *t = &h->steps[i];
		const Hlo__HloInstructionProto *in = s->graph->node[s->site[t->site].node].proto;
		buf_addf(b, "<tr><td class=n>%llu</td><td><code>", (unsigned long long)t->evaluation);
		add_text(b, in->name);
		buf_adds(b, "</code></td><td><code>");
		add_text(b, in->metadata ? in->metadata->op_name : "");
		buf_addf(b, "</code></td><td>%u &rarr; %u</td><td class=n>%u</td><td class=n>%.3f</td><td class=n>%.3f</td></tr>\n",
			t->from, t->to, t->n_flips, 1e6 * t->delta, 1e6 * t->se);
	}
	buf_adds(b, "</table>\n");
}

static void add_search(struct buf *b, const struct result *r)
{
	const struct hunt *h = r->hunt;
	char line[200];
	uint32_t differ = 0;

	for (uint32_t i = 0; i < h->s->n_sites; i++)
		differ += h->config[i] != h->s->site[i].dflt;
	buf_adds(b, "<h2>The search</h2>\n<table>\n");
	add_row(b, "Strategy", r->strategy);
	add_row(b, "Model", r->model ? r->model : "none");
	snprintf(line, sizeof line, "%u, of which %u differ from the default", h->s->n_sites, differ);
	add_row(b, "Sites", line);
	snprintf(line, sizeof line, "%llu in %.1f s; %llu measured, %llu served by a cache",
		(unsigned long long)h->evaluations, hunt_seconds(h), (unsigned long long)h->measured,
		(unsigned long long)h->cached);
	add_row(b, "Evaluations", line);
	snprintf(line, sizeof line, "%llu kept, %llu refuted when measured again, %llu corrections by the whole program",
		(unsigned long long)h->kept, (unsigned long long)h->refuted, (unsigned long long)h->drifts);
	add_row(b, "Candidates", line);
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (h->failed[o]) {
			snprintf(line, sizeof line, "%llu", (unsigned long long)h->failed[o]);
			add_row(b, outcome_name((enum outcome)o), line);
		}
	buf_adds(b, "</table>\n");
}

static void add_environment(struct buf *b, const struct result *r)
{
	buf_adds(b, "<h2>Where it was measured</h2>\n<table>\n");
	if (r->device) {
		add_row(b, "Machine", r->device->machine);
		add_row(b, "Device", r->device->platform);
		add_row(b, "Plugin", r->device->version);
	}
	add_row(b, "Cost", cost_kind_name(r->verdict->kind));
	add_row(b, "Program", opt_version());
	buf_adds(b, "</table>\n");
}

void report_write(const struct result *r, struct buf *b)
{
	buf_adds(b, "<!doctype html><html lang=en><meta charset=utf-8><title>vantage: ");
	add_text(b, r->graph);
	buf_addf(b, "</title><style>%s</style>\n<h1>", style);
	add_text(b, r->graph);
	buf_addf(b, "</h1>\n<p class='verdict%s'>", r->verdict->tuned ? " tuned" : "");
	add_text(b, r->verdict->sentence);
	buf_adds(b, "</p>\n");
	if (r->hunt->n_curve && r->hunt->default_seconds > 0) {
		buf_adds(b, "<figure>");
		add_curve(b, r->hunt, false);
		add_curve(b, r->hunt, true);
		buf_adds(b, "<figcaption>Time saved by the best configuration so far, in percent of the default, as "
			    "summed from regions during the search. The verdict above is measured anew.</figcaption></figure>\n");
	}
	add_search(b, r);
	if (r->hunt->n_steps)
		add_steps(b, r->hunt);
	add_environment(b, r);
	buf_adds(b, "</html>\n");
}
