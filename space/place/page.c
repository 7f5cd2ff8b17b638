/*
 * page.c - see page.h.
 *
 * Loads are bars, grey for the default and green for what was found. A timeline has a row for each device: a box is
 * what the device computes without a pause, a thin blue line above it is a value that is sent to it. Boxes narrower
 * than a pixel would be a hundred thousand; what follows within half a pixel is one box.
 */
#include "space/place/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/page.h"
#include "space/place/schedule.h"

#define WIDTH 840.0
#define LEFT 120.0
#define ROW 26.0

static void name_device(const struct place *p, uint32_t d, struct buf *out)
{
	if (p->machine)
		machine_device_name(p->machine, d, out);
	else if (d < p->n_accelerators)
		buf_addf(out, "accelerator %u", d);
	else
		buf_addf(out, "processor %u", d - p->n_accelerators);
}

static void draw_name(const struct place *p, uint32_t d, double y, struct buf *out)
{
	buf_addf(out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"12\">", LEFT - 8, y);
	name_device(p, d, out);
	buf_adds(out, "</text>\n");
}

static void begin_drawing(double height, struct buf *out)
{
	buf_addf(out, "<svg viewBox=\"0 0 %.0f %.0f\" "
		"style=\"width:100%%;max-width:none\" font-family=\"sans-serif\">\n", LEFT + WIDTH + 60,
		height);
}

/* Two bars for each device. A value that is no number, or infinite, has none. `limit` may be NULL. */
static void draw_bars(const struct place *p, const double *first, const double *second, const double *limit,
	const char *unit, struct buf *out)
{
	double most = 0;

	for (uint32_t d = 0; d < p->n_devices; d++) {
		most = fmax(most, fmax(first[d], second[d]));
		most = limit && isfinite(limit[d]) ? fmax(most, limit[d]) : most;
	}
	most = most > 0 ? most : 1;
	begin_drawing(p->n_devices * ROW + 8, out);
	for (uint32_t d = 0; d < p->n_devices; d++) {
		double y = d * ROW + 4;
		draw_name(p, d, y + 15, out);
		buf_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"9\" fill=\"%s\"/>\n", LEFT, y,
			first[d] / most * WIDTH, PAGE_GREY);
		buf_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"9\" fill=\"%s\"/>\n", LEFT, y + 10,
			second[d] / most * WIDTH, PAGE_GREEN);
		buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%.4g%s</text>\n",
			LEFT + fmax(first[d], second[d]) / most * WIDTH + 5, y + 14, second[d], unit);
		if (limit && isfinite(limit[d]))
			buf_addf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
				"stroke-width=\"2\"/>\n", LEFT + limit[d] / most * WIDTH,
				LEFT + limit[d] / most * WIDTH, y - 2, y + 21, PAGE_BLUE);
	}
	buf_adds(out, "</svg>\n");
}

struct box {
	double begin, end;
};

static int by_begin(const void *a, const void *b)
{
	const struct box *x = a, *y = b;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void draw_boxes(struct box *v, size_t n, double scale, double y, double height, const char *colour,
	struct buf *out)
{
	if (n > 1)
		qsort(v, n, sizeof *v, by_begin);
	for (size_t i = 0; i < n;) {
		double begin = v[i].begin, end = v[i].end;
		for (i++; i < n && (v[i].begin - end) * scale < 0.5; i++)
			end = fmax(end, v[i].end);
		buf_addf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\"/>\n",
			LEFT + begin * scale, y, fmax((end - begin) * scale, 0.4), height, colour);
	}
}

static void draw_timeline(const struct place *p, const struct schedule *s, double scale, const char *colour,
	struct buf *out)
{
	struct box *v = MEM_NEW(p->n_nodes + s->n_transfers + 1, struct box);

	begin_drawing(p->n_devices * ROW + 24, out);
	for (uint32_t d = 0; d < p->n_devices; d++) {
		double y = d * ROW + 4;
		size_t n = 0;
		draw_name(p, d, y + 15, out);
		for (size_t i = 0; i < s->n_transfers; i++)
			if (s->transfer[i].to == d)
				v[n++] = (struct box){s->transfer[i].begin, s->transfer[i].end};
		draw_boxes(v, n, scale, y, 4, PAGE_BLUE, out);
		n = 0;
		for (uint32_t k = 0; k < p->n_nodes; k++)
			if (s->device[k] == d)
				v[n++] = (struct box){s->start[k], s->end[k]};
		draw_boxes(v, n, scale, y + 5, 15, colour, out);
	}
	buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">0</text>\n", LEFT, p->n_devices * ROW + 18);
	buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"end\">%.6g%s</text>\n</svg>\n",
		LEFT + s->finish * scale, p->n_devices * ROW + 18, p->machine ? s->finish * 1e3 : s->finish,
		p->machine ? " ms" : "");
	mem_free(v);
}

/* The memory of the device that needs most, over time. */
static void draw_course(const struct place *p, const struct schedule *s, struct buf *out)
{
	struct course_point *c;
	double peak[PLACE_DEVICES];
	uint32_t fullest = 0;
	struct plot plot = {.out = out, .x_label = "milliseconds", .y_unit = " MiB"};
	double *x, *y;
	size_t n, k = 0;

	schedule_peaks(p, s, peak);
	for (uint32_t d = 1; d < p->n_devices; d++)
		fullest = peak[d] > peak[fullest] ? d : fullest;
	n = schedule_course(p, s, fullest, &c);
	x = MEM_NEW(2 * n + 1, double);
	y = MEM_NEW(2 * n + 1, double);
	for (size_t i = 0; i < n; i++)
		for (int side = i == 0; side < 2; side++) {
			x[k] = c[i].time * 1e3;
			y[k++] = c[side ? i : i - 1].bytes / 0x1p20;
		}
	buf_adds(out, "<h2>Memory over time: ");
	name_device(p, fullest, out);
	buf_addf(out, "</h2>\n<p>The device that needs most%s.</p>\n",
		isfinite(p->room[fullest]) ? "; blue: what it has" : "");
	plot.x = (struct axis){0, s->finish * 1e3};
	plot.y.high = fmax(peak[fullest], isfinite(p->room[fullest]) ? p->room[fullest] : 0) / 0x1p20 * 1.05;
	plot_begin(&plot);
	if (isfinite(p->room[fullest]))
		plot_line(&plot, (double[]){0, plot.x.high}, (double[]){p->room[fullest] / 0x1p20,
			p->room[fullest] / 0x1p20}, 2, PAGE_BLUE);
	plot_line(&plot, x, y, k, PAGE_GREEN);
	plot_end(&plot);
	mem_free(x), mem_free(y), mem_free(c);
}

static void add_times(const struct place *p, const struct schedule *s, struct buf *out)
{
	static const char *const colours[] = {PAGE_GREY, PAGE_GREEN};
	double scale = WIDTH / fmax(fmax(s[0].finish, s[1].finish), 1e-300);

	buf_adds(out, "<h2>When each device does what</h2>\n<p>Grey: default; green: found. A box is what a device "
		"computes without a pause, blue above it what is sent to it.</p>\n");
	for (int k = 0; k < 2; k++)
		draw_timeline(p, &s[k], scale, colours[k], out);
	if (p->held)
		draw_course(p, &s[1], out);
}

void place_page(const struct place *p, enum place_goal goal, const uint32_t *before, const uint32_t *after,
	struct buf *out)
{
	double load[2][PLACE_DEVICES] = {{0}}, used[2][PLACE_DEVICES] = {{0}}, room[PLACE_DEVICES], most = 0;
	const uint32_t *device[] = {before, after};
	struct schedule s[2];

	for (int k = 0; k < 2; k++) {
		schedule_make(p, device[k], NULL, &s[k]);
		if (goal == PLACE_TIME) {
			schedule_peaks(p, &s[k], used[k]);
			for (uint32_t d = 0; d < p->n_devices; d++)
				load[k][d] = s[k].busy[d] * (p->machine ? 1e3 : 1);
		} else {
			place_used(p, device[k], used[k]);
			place_busy(p, device[k], load[k]);
		}
		for (uint32_t d = 0; d < p->n_devices; d++)
			most = fmax(most, used[k][d] /= 0x1p20);
	}
	for (uint32_t d = 0; d < p->n_devices; d++)
		room[d] = p->room[d] / 0x1p20;
	buf_addf(out, "<h2>Load of each device</h2>\n<p>%s. Grey: default; green, and in figures: found.</p>\n",
		goal == PLACE_TIME ? "The time in which it computes" : "Its nodes, and the transfers from and to it");
	draw_bars(p, load[0], load[1], NULL, p->machine ? " ms" : "", out);
	if (most > 0) {
		buf_adds(out, "<h2>Memory of each device</h2>\n<p>Grey: default; green, and in figures: found; blue: "
			"what there is.</p>\n");
		draw_bars(p, used[0], used[1], room, " MiB", out);
	}
	if (goal == PLACE_TIME)
		add_times(p, s, out);
	schedule_release(&s[0]);
	schedule_release(&s[1]);
}
