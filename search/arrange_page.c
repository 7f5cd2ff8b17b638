/*
 * arrange_page.c - writes what a search for an arrangement found: report.html, config.json, and the summary.
 */
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "base/page.h"
#include "search/arrange.h"

#define SHOWN 30 /* values alive at the peak that the page lists */

static void draw(const struct arrange *a, struct buf *out)
{
	static const char *const colours[] = {PAGE_GREY, PAGE_BLUE, PAGE_GREEN};
	struct plot p = {.out = out, .x_label = "instructions of the entry, in their order",
		.y_unit = quantity_unit(QUANTITY_BYTES)};
	double *x = MEM_NEW(a->way[0].course.n + 1, double), *y = MEM_NEW(a->way[0].course.n + 1, double), most = 0;

	for (uint32_t w = 0; w < a->n_ways; w++)
		for (uint32_t i = 0; i < a->way[w].course.n; i++)
			most = (double)a->way[w].course.alive[i] > most ? (double)a->way[w].course.alive[i] : most;
	p.x = (struct axis){0, a->way[0].course.n};
	p.y = (struct axis){0, quantity_in_unit(QUANTITY_BYTES, most)};
	plot_begin(&p);
	for (uint32_t w = 0; w < a->n_ways; w++) {
		for (uint32_t i = 0; i < a->way[w].course.n; i++) {
			x[i] = i;
			y[i] = quantity_in_unit(QUANTITY_BYTES, (double)a->way[w].course.alive[i]);
		}
		plot_line(&p, x, y, a->way[w].course.n, w + 1 == a->n_ways ? PAGE_GREEN : colours[w]);
	}
	plot_end(&p);
	mem_free(x);
	mem_free(y);
}

static void show_holders(struct arrange *a, const char *name, const uint8_t *config, struct buf *out)
{
	struct holders h;
	struct buf text = {0};

	a->lab->space->ops->kind->arranging->holders(a->lab->space, config, &h);
	holders_text(&h, SHOWN, &text);
	buf_addf(out, "<h2>What lives at the peak: %s</h2>\n<pre>", name);
	page_text(out, text.data);
	buf_adds(out, "</pre>\n");
	holders_release(&h);
	buf_release(&text);
}

/* Says how far the last way is from the least that any arrangement needs; "" if that is not known. */
static void tell_least(const struct arrange *a, char *out, size_t n)
{
	const struct arrangement *found = &a->way[a->n_ways - 1];
	char text[QUANTITY_TEXT];

	quantity_text(QUANTITY_BYTES, (double)a->least, text);
	*out = 0;
	if (a->least && a->proved)
		snprintf(out, n, "%s in every arrangement, by the model: there is no better one", text);
	else if (a->least && a->least < found->bytes)
		snprintf(out, n, "%s in every arrangement, by the model: at most %.2f%% less than what was found", text,
			100 * (1 - (double)a->least / (double)found->bytes));
}

void arrange_page(struct arrange *a, struct buf *out)
{
	char title[200], text[2][QUANTITY_TEXT], value[160];

	snprintf(title, sizeof title, "vantage: %.150s", a->lab->subject.name);
	page_begin(out, title, a->lab->subject.name);
	buf_adds(out, "<p>");
	page_text(out, a->sentence);
	buf_addf(out, "</p>\n<h2>Temporary memory over the program</h2>\n"
		"<p>Grey: %s; blue: the compiler's other way; green: tuned. Bytes alive at each "
		"instruction, by our model of the compiler's memory.</p>\n", a->derived
		? "what was decided, in the compiler's order" : "the compiler's default");
	draw(a, out);
	page_table(out);
	if (a->derived)
		page_row(out, "default", quantity_text(QUANTITY_BYTES, (double)a->default_bytes, text[0]));
	for (uint32_t w = 0; w < a->n_ways; w++) {
		quantity_text(QUANTITY_BYTES, (double)a->way[w].bytes, text[0]);
		quantity_text(QUANTITY_BYTES, (double)a->way[w].course.bytes, text[1]);
		if (a->stage)
			snprintf(value, sizeof value, "%s by the compiler, %s by the model", text[0], text[1]);
		else
			snprintf(value, sizeof value, "%s by the model", text[1]);
		page_row(out, a->way[w].name, value);
	}
	tell_least(a, value, sizeof value);
	if (*value)
		page_row(out, "at least", value);
	snprintf(value, sizeof value, "%llu moves in %.1f s; the compiler was asked %u times, %.2f s each",
		(unsigned long long)a->moves, a->seconds, a->labels, a->labels ? a->label_seconds / a->labels : 0);
	page_row(out, "Search", value);
	page_table_end(out);
	show_holders(a, a->derived ? "decided, in the compiler's order" : "the compiler's default", a->way[0].config,
		out);
	show_holders(a, "tuned", a->way[a->n_ways - 1].config, out);
	page_end(out);
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
		json_uint(j, "model", a->way[w].course.bytes);
		json_end(j);
	}
	json_end(j);
	if (a->least) {
		json_uint(j, "least_bytes", a->least);
		json_bool(j, "proved_least", a->proved);
	}
	if (a->estimated) {
		json_str(j, "estimator", a->estimator);
		json_num(j, "default_seconds", a->seconds_default);
		json_num(j, "tuned_seconds", a->seconds_tuned);
	} else if (a->set->unverified || !a->stage) {
		json_bool(j, "unverified", true);
	} else {
		if (a->derived)
			json_str(j, "numbers", outcome_name(a->verdict.numbers.outcome));
		else if (a->examined)
			json_bool(j, "numbers_equal", a->numbers_equal);
		json_num(j, "time_more", -a->verdict.gain);
		json_num(j, "time_more_low", -a->verdict.high);
		json_num(j, "time_more_high", -a->verdict.low);
		json_num(j, "default_seconds", a->verdict.default_seconds);
	}
	json_uint(j, "moves", a->moves);
	json_num(j, "search_seconds", a->seconds);
	json_uint(j, "labels", a->labels);
	json_num(j, "label_seconds", a->label_seconds);
}

void arrange_config(struct arrange *a, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};
	const struct arrangement *answer = &a->way[a->tuned || a->forgone ? a->n_ways - 1 : 0];

	json_object(&j, NULL);
	add_figures(a, &j);
	a->lab->space->ops->kind->arranging->write(a->lab->space, answer->config, &j, "sequence");
	json_end(&j);
	buf_addch(out, '\n');
}

/* As in the summary of other searches, so that a reader of those needs nothing else. */
static void add_verdict(const struct arrange *a, struct json *j)
{
	const struct arrangement *found = NULL;
	double gain;

	for (uint32_t w = 0; w < a->n_ways; w++)
		if (strcmp(a->way[w].name, "tuned") == 0)
			found = &a->way[w];
	gain = found && a->default_bytes ? 1 - (double)found->bytes / (double)a->default_bytes : 0;
	json_object(j, "verdict");
	json_bool(j, "tuned", a->tuned);
	json_str(j, "sentence", a->sentence);
	json_str(j, "quantity", quantity_name(a->set->room ? QUANTITY_SECONDS : QUANTITY_BYTES));
	json_num(j, "gain", a->set->room ? a->verdict.gain : gain);
	json_num(j, "gain_low", a->set->room ? a->verdict.low : gain);
	json_num(j, "gain_high", a->set->room ? a->verdict.high : gain);
	json_end(j);
}

void arrange_summary(const struct arrange *a, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};
	char text[QUANTITY_TEXT], least[160];

	if (a->set->json) {
		json_object(&j, NULL);
		add_figures(a, &j);
		add_verdict(a, &j);
		json_end(&j);
		buf_addch(out, '\n');
		return;
	}
	buf_addf(out, "%s\n", a->sentence);
	if (a->derived)
		buf_addf(out, "%-12s %s\n", "default", quantity_text(QUANTITY_BYTES, (double)a->default_bytes, text));
	for (const struct arrangement *w = a->way; w < a->way + a->n_ways; w++)
		buf_addf(out, "%-12s %s\n", w->name, quantity_text(QUANTITY_BYTES, (double)w->bytes, text));
	tell_least(a, least, sizeof least);
	if (*least)
		buf_addf(out, "%-12s %s\n", "at least", least);
	buf_addf(out, "%s/report.html\n", a->set->dir);
}
