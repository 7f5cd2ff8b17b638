/*
 * page.c - see page.h. Memory changes at ticks only, so it is drawn as steps. A net has up to a hundred thousand
 * ticks, more than a picture has columns; each column shows the most memory in its ticks, so that no peak is lost.
 */
#include "space/net/page.h"

#include <math.h>
#include "base/page.h"
#include "space/net/tally.h"

#define COLUMNS 600

struct course { /* the most memory in each column */
	double time[2 * COLUMNS], most[2 * COLUMNS];
	size_t n;
};

static void draw_steps(const struct tally *t, struct course *c)
{
	double begin = (double)t->tick[0], end = (double)t->tick[t->n_ticks - 1], width = (end - begin) / COLUMNS;
	uint32_t at = 0;

	c->n = 0;
	for (int i = 0; i < COLUMNS; i++) {
		double until = begin + (i + 1) * width, most = (double)t->usage[at];
		for (; at + 1 < t->n_ticks && (double)t->tick[at + 1] < until; at++)
			most = fmax(most, (double)t->usage[at + 1]);
		for (int side = 0; side < 2; side++) {
			c->time[c->n] = begin + (i + side) * width;
			c->most[c->n++] = most;
		}
	}
}

static void add_row(const struct tally *t, const char *name, struct buf *out)
{
	char cost[41], peak[41];
	struct buf text = {0};
	uint32_t at;

	buf_addf(&text, "cost %s", network_sum_text(t->cost, cost));
	network_sum_text(tally_peak(t, &at), peak);
	if (t->n_ticks)
		buf_addf(&text, "; memory at most %s, at time %lld", peak, (long long)t->tick[at]);
	if (t->never || t->over > 0)
		buf_addf(&text, "; not allowed: %u forbidden choices%s", t->never,
			t->over > 0 ? ", more memory than there is" : "");
	page_row(out, name, text.data);
	buf_release(&text);
}

void network_page(const struct network *net, const uint32_t *before, const uint32_t *after, struct buf *out)
{
	static const char *const colours[] = {PAGE_GREY, PAGE_GREEN}, *const names[] = {"default", "found"};
	const uint32_t *answer[] = {before, after};
	struct plot p = {.out = out, .x_label = "time"};
	struct course course[2] = {0};
	char limit[41];

	buf_adds(out, "<h2>The two answers</h2>\n");
	page_table(out);
	for (int k = 0; k < 2; k++) {
		struct tally t;
		tally_init(&t, net);
		tally_set(&t, answer[k]);
		add_row(&t, names[k], out);
		if (t.n_ticks > 1)
			draw_steps(&t, &course[k]);
		for (size_t i = 0; i < course[k].n; i++)
			p.y.high = fmax(p.y.high, course[k].most[i]);
		tally_release(&t);
	}
	if (net->limited)
		page_row(out, "limit", network_sum_text(net->limit, limit));
	page_table_end(out);
	if (course[0].n == 0)
		return;
	buf_addf(out, "<h2>Memory over time</h2>\n<p>Grey: default; green: found%s.</p>\n",
		net->limited ? "; blue: the limit" : "");
	p.x = (struct axis){course[0].time[0], course[0].time[course[0].n - 1]};
	p.y.high = net->limited ? fmax(p.y.high, (double)net->limit) * 1.05 : p.y.high;
	plot_begin(&p);
	if (net->limited)
		plot_line(&p, (double[]){p.x.low, p.x.high}, (double[]){(double)net->limit, (double)net->limit}, 2,
			PAGE_BLUE);
	for (int k = 0; k < 2; k++)
		plot_line(&p, course[k].time, course[k].most, course[k].n, colours[k]);
	plot_end(&p);
}
