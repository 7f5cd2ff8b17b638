/*
 * page.c - see page.h. Names come from files, so they are escaped; numbers in SVG have one decimal,
 * which is a tenth of a pixel.
 */
#include "base/page.h"

#include <math.h>
#include <stdbool.h>

void page_text(struct buf *b, const char *s)
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
	"vertical-align:top}td.n,th.n{text-align:right;"
	"font-variant-numeric:tabular-nums;white-space:nowrap}code{font-size:.92em;"
	"word-break:break-all}svg{width:49%;height:auto}figure{margin:0}figcaption{color:#5a6472;font-size:.9em}";

void page_begin(struct buf *b, const char *title, const char *heading)
{
	buf_adds(b, "<!doctype html><html lang=en><meta charset=utf-8><title>");
	page_text(b, title);
	buf_addf(b, "</title><style>%s</style>\n<h1>", style);
	page_text(b, heading);
	buf_adds(b, "</h1>\n");
}

void page_end(struct buf *b)
{
	buf_adds(b, "</html>\n");
}

void page_table(struct buf *b)
{
	buf_adds(b, "<table>\n");
}

void page_row(struct buf *b, const char *what, const char *value)
{
	buf_addf(b, "<tr><td>%s</td><td>", what);
	page_text(b, value);
	buf_adds(b, "</td></tr>\n");
}

void page_table_end(struct buf *b)
{
	buf_adds(b, "</table>\n");
}

enum { WIDE = 480, HIGH = 280, LEFT = 56, BOTTOM = 40, TOP = 12, RIGHT = 12 };

static double within(const struct axis *a, double v)
{
	return (fmin(fmax(v, a->low), a->high) - a->low) / (a->high - a->low);
}

double plot_x(const struct plot *p, double v)
{
	return LEFT + within(&p->x, v) * (WIDE - LEFT - RIGHT);
}

double plot_y(const struct plot *p, double v)
{
	return HIGH - BOTTOM - within(&p->y, v) * (HIGH - BOTTOM - TOP);
}

/* The step between labels: 1, 2 or 5 times a power of ten, so that there are about four. */
static double nice_step(const struct axis *a)
{
	double rough = (a->high - a->low) / 4, p = pow(10, floor(log10(rough))), m = rough / p;

	return p * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static double first_tick(const struct axis *a, double step)
{
	return ceil(a->low / step - 1e-9) * step;
}

static double round_zero(double v, double step)
{
	return fabs(v) < step / 1e6 ? 0 : v;
}

static void x_axis(const struct plot *p)
{
	double step = nice_step(&p->x);

	for (double v = first_tick(&p->x, step); v <= p->x.high + step / 1e6; v += step)
		buf_addf(p->out, "<text x='%.1f' y='%d' font-size='11' text-anchor='middle' fill='#5a6472'>%g</text>",
			plot_x(p, v), HIGH - BOTTOM + 16, round_zero(v, step));
	buf_addf(p->out, "<text x='%d' y='%d' font-size='12' text-anchor='middle' fill='#1c2430'>%s</text>",
		(WIDE + LEFT) / 2, HIGH - 6, p->x_label);
}

static void y_axis(const struct plot *p)
{
	double step = nice_step(&p->y);

	for (double v = first_tick(&p->y, step); v <= p->y.high + step / 1e6; v += step)
		buf_addf(p->out, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#dde1e6'/><text x='%d' y='%.1f' "
			"font-size='11' text-anchor='end' fill='#5a6472'>%.6g%s</text>", LEFT, WIDE - RIGHT,
			plot_y(p, v), plot_y(p, v), LEFT - 6, plot_y(p, v) + 4, round_zero(v, step), p->y_unit
			? p->y_unit : "");
	if (p->y_label)
		buf_addf(p->out, "<text transform='rotate(-90 12 %d)' "
			"x='12' y='%d' font-size='12' text-anchor='middle' "
			"fill='#1c2430'>%s</text>", (HIGH - BOTTOM + TOP) / 2, (HIGH - BOTTOM + TOP) / 2, p->y_label);
}

static void widen(struct axis *a)
{
	if (!(a->low < a->high))
		*a = isfinite(a->low) ? (struct axis){a->low, a->low + 1} : (struct axis){0, 1};
}

void plot_begin(struct plot *p)
{
	widen(&p->x);
	widen(&p->y);
	buf_addf(p->out, "<svg viewBox='0 0 %d %d' xmlns='http://www.w3.org/2000/svg' role='img'>", WIDE, HIGH);
	x_axis(p);
	y_axis(p);
}

void plot_line(const struct plot *p, const double *x, const double *y, size_t n, const char *colour)
{
	bool any = false;

	buf_addf(p->out, "<path fill='none' stroke='%s' stroke-width='2' d='", colour);
	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]) || isnan(y[i]))
			continue;
		buf_addf(p->out, "%c%.1f %.1f", any ? 'L' : 'M', plot_x(p, x[i]), plot_y(p, y[i]));
		any = true;
	}
	buf_adds(p->out, "'/>");
}

void plot_dots(const struct plot *p, const double *x, const double *y, size_t n, double radius, const char *colour)
{
	buf_addf(p->out, "<g fill='%s' fill-opacity='.45'>", colour);
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]) && !isnan(y[i]))
			buf_addf(p->out, "<circle cx='%.1f' cy='%.1f' r='%.1f'/>", plot_x(p, x[i]), plot_y(p, y[i]),
				radius);
	buf_adds(p->out, "</g>");
}

void plot_end(const struct plot *p)
{
	buf_adds(p->out, "</svg>\n");
}
