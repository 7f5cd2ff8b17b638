/*
 * arrange_page.c - writes the result of a search for an order: a page with memory over the program, config.json, a summary.
 */
#include <stdio.h>
#include "base/json.h"
#include "base/page.h"
#include "search/arrange.h"
#include "space/order/holders.h"
#include "space/order/order.h"

#define SHOWN 30 /* values alive at the peak that the page lists */

static void draw(const struct arrange *a, struct buf *out)
{
	static const char *const colours[] = {PAGE_GREY, PAGE_BLUE, PAGE_BLUE, PAGE_GREEN};
	struct plot p = {.out = out, .x_label = "instructions of the entry, in their order", .y_unit = quantity_unit(QUANTITY_BYTES)};
	double *x = MEM_NEW(a->way[0].n + 1, double), *y = MEM_NEW(a->way[0].n + 1, double), most = 0;

	for (uint32_t w = 0; w < a->n_ways; w++)
		for (uint32_t i = 0; i < a->way[w].n; i++)
			most = a->way[w].alive[i] > most ? a->way[w].alive[i] : most;
	p.x = (struct axis){0, a->way[0].n};
	p.y = (struct axis){0, quantity_in_unit(QUANTITY_BYTES, most)};
	plot_begin(&p);
	for (uint32_t w = 0; w < a->n_ways; w++) {
		for (uint32_t i = 0; i < a->way[w].n; i++) {
			x[i] = i;
			y[i] = quantity_in_unit(QUANTITY_BYTES, a->way[w].alive[i]);
		}
		plot_line(&p, x, y, a->way[w].n, w + 1 == a->n_ways ? PAGE_GREEN : colours[w]);
	}
	plot_end(&p);
	mem_free(x);
	mem_free(y);
}

static void show_holders(struct arrange *a, const char *name, enum order_base base, struct buf *out)
{
	struct space *s = a->lab->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	struct holders h;
	struct buf text = {0};

	order_base_set(s, config, base);
	order_set(s, config);
	holders_find(&h, order_program(s));
	holders_text(&h, SHOWN, &text);
	buf_addf(out, "<h2>What lives at the peak: %s</h2>\n<pre>", name);
	page_text(out, text.data);
	buf_adds(out, "</pre>\n");
	holders_release(&h);
	buf_release(&text);
	mem_free(config);
}

void arrange_page(struct arrange *a, struct buf *out)
{
	char title[200], text[2][QUANTITY_TEXT], value[120];

	snprintf(title, sizeof title, "vantage: %.150s", a->lab->subject.name);
	page_begin(out, title, a->lab->subject.name);
	buf_adds(out, "<p>");
	page_text(out, a->sentence);
	buf_adds(out, "</p>\n<h2>Temporary memory over the program</h2>\n<p>Grey: the compiler's default; blue: its other way; green: "
		"tuned. Bytes alive at each instruction, by our model of the compiler's memory.</p>\n");
	draw(a, out);
	page_table(out);
	for (uint32_t w = 0; w < a->n_ways; w++) {
		snprintf(value, sizeof value, "%s by the compiler, %s by the model",
			quantity_text(QUANTITY_BYTES, (double)a->way[w].bytes, text[0]),
			quantity_text(QUANTITY_BYTES, (double)a->way[w].model, text[1]));
		page_row(out, a->way[w].name, value);
	}
	snprintf(value, sizeof value, "%llu moves in %.1f s; the compiler was asked %u times, %.2f s each",
		(unsigned long long)a->moves, a->seconds, a->labels, a->labels ? a->label_seconds / a->labels : 0);
	page_row(out, "Search", value);
	page_table_end(out);
	show_holders(a, "the compiler's default", ORDER_COMPILER, out);
	show_holders(a, "tuned", ORDER_FOUND, out);
	page_end(out);
}

static void add_orders(struct arrange *a, struct json *j)
{
	struct space *s = a->lab->space;
	const struct graph *g = s->graph;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	struct program *p;

	order_base_set(s, config, a->tuned ? ORDER_FOUND : ORDER_COMPILER);
	order_set(s, config);
	p = order_program(s);
	json_object(j, "sequence");
	for (uint32_t c = 0; c < g->n_comps; c++) {
		if (!program_line(p, c)->n)
			continue;
		json_array(j, g->comp[c].proto->name);
		for (uint32_t i = 0; i < program_line(p, c)->n; i++)
			json_str(j, NULL, g->node[g->comp[c].first + p->order[c][i]].proto->name);
		json_end(j);
	}
	json_end(j);
	mem_free(config);
}

static void add_figures(const struct arrange *a, struct json *j)
{
	json_str(j, "graph", a->lab->subject.name);
	json_str(j, "space", a->lab->space->kind);
	json_bool(j, "tuned", a->tuned);
	json_str(j, "sentence", a->sentence);
	json_uint(j, "default_bytes", a->default_bytes);
	json_object(j, "ways");
	for (uint32_t w = 0; w < a->n_ways; w++) {
		json_object(j, a->way[w].name);
		json_uint(j, "bytes", a->way[w].bytes);
		json_uint(j, "model", a->way[w].model);
		json_end(j);
	}
	json_end(j);
	json_bool(j, "bits_equal", a->bits_equal);
	json_num(j, "time_more", -a->verdict.gain);
	json_num(j, "time_more_low", -a->verdict.high);
	json_num(j, "time_more_high", -a->verdict.low);
	json_num(j, "default_seconds", a->verdict.default_seconds);
	json_uint(j, "moves", a->moves);
	json_num(j, "search_seconds", a->seconds);
	json_uint(j, "labels", a->labels);
	json_num(j, "label_seconds", a->label_seconds);
}

void arrange_config(struct arrange *a, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	add_figures(a, &j);
	add_orders(a, &j);
	json_end(&j);
	buf_addch(out, '\n');
}

void arrange_summary(const struct arrange *a, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};
	char text[QUANTITY_TEXT];

	if (a->set->json) {
		json_object(&j, NULL);
		add_figures(a, &j);
		json_end(&j);
		buf_addch(out, '\n');
		return;
	}
	buf_addf(out, "%s\n", a->sentence);
	for (uint32_t w = 0; w < a->n_ways; w++)
		buf_addf(out, "%-12s %s\n", a->way[w].name, quantity_text(QUANTITY_BYTES, (double)a->way[w].bytes, text));
	buf_addf(out, "%s/report.html\n", a->set->dir);
}
