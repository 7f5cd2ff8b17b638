/*
 * by_hand.c - prices each start, makes the best of them the default, and writes the table of all.
 */
#include "search/by_hand.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/estimate.h"
#include "search/fits.h"

/* What the compiler made of it: bytes that a device needs, and what it sends. */
static int read_compiled(struct by_hand_row *r, struct lab *lab, struct device *d, const uint8_t *config,
	struct err *err)
{
	struct buf module = {0};
	struct compiled c = {0};
	struct graph g = {0};
	int rc = lab->space->ops->apply(lab->space, config, &module, err);

	if (rc == 0)
		rc = device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, WANT_OPTIMISED | WANT_MEMORY,
			&c, err);
	if (rc == 0 && c.outcome == OUTCOME_OK && c.optimised.len) {
		rc = graph_parse(&g, c.optimised.data, c.optimised.len, "the compiled program", err);
		if (rc == 0) {
			collective_sum(&g, device_info(d)->spread, &r->exchanges);
			strip_read(&r->strip, &g, device_info(d));
		}
		graph_release(&g);
	}
	r->bytes = (double)(c.peak_bytes ? c.peak_bytes : c.temp_bytes);
	if (c.handle)
		rc = device_drop(d, &c, rc == 0 ? err : NULL) < 0 ? -1 : rc;
	compiled_release(&c);
	buf_release(&module);
	return rc;
}

/* How far beyond the limits; those that are relative hold against the best, so only absolute ones count here. */
static int read_limits(struct by_hand_row *r, struct lab *lab, const uint8_t *config, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < lab->n_limits && rc == 0; i++) {
		struct timing t = {0};
		if (lab->limit[i].limit.relative)
			continue;
		rc = cost_whole(lab->limit[i].cost, config, config, NULL, &t, err);
		if (rc == 0 && t.outcome != OUTCOME_OK)
			r->outcome = t.outcome;
		else if (rc == 0)
			r->excess += limit_excess(&lab->limit[i].limit, 0, t.seconds_b);
		timing_release(&t);
	}
	return rc;
}

/* A program whose price was known is not compiled again only to describe it, where compiling takes long. */
static bool is_described(const struct device *d, bool asked)
{
	return asked || !estimate_screen(device_info(d)->family);
}

/* The price of a whole program: a figure, or, where programs are timed, what it takes beside the default. */
static int price(struct lab *lab, const uint8_t *config, struct timing *t, struct err *err)
{
	uint8_t *dflt = mem_alloc(lab->space->n_sites + 1);
	double seconds = 0;
	int rc = 0;

	memcpy(dflt, config, lab->space->n_sites);
	if (!cost_whole_exact(lab->cost)) {
		space_default(lab->space, dflt);
		rc = cost_default_seconds(lab->cost, &seconds, NULL, err);
	}
	rc = rc == 0 ? cost_whole(lab->cost, dflt, config, NULL, t, err) : rc;
	if (!cost_whole_exact(lab->cost))
		t->seconds_b = t->identical ? seconds : seconds * exp(t->ratio);
	mem_free(dflt);
	return rc;
}

int by_hand_row_price(struct by_hand_row *r, struct lab *lab, struct device *d, const uint8_t *config, struct err *err)
{
	uint64_t asked = cost_totals(lab->cost)->asked;
	struct timing t = {0};
	int rc = price(lab, config, &t, err);

	r->outcome = t.outcome;
	r->cost = t.seconds_b;
	timing_release(&t);
	if (rc == 0 && r->outcome == OUTCOME_OK)
		rc = read_limits(r, lab, config, err);
	if (rc == 0 && r->outcome == OUTCOME_OK && is_described(d, cost_totals(lab->cost)->asked > asked))
		rc = read_compiled(r, lab, d, config, err);
	return rc;
}

bool by_hand_is_better(const struct by_hand_row *a, const struct by_hand_row *b)
{
	if ((a->outcome == OUTCOME_OK) != (b->outcome == OUTCOME_OK))
		return a->outcome == OUTCOME_OK;
	return a->excess != b->excess ? a->excess < b->excess : a->cost < b->cost;
}

/* Makes it the default, whose time is then to be measured anew. */
static void make_default(struct lab *lab, const uint8_t *config)
{
	for (uint32_t i = 0; i < lab->space->n_sites; i++)
		lab->space->site[i].dflt = config[i];
	cost_set_default(lab->cost, 0, 0);
}

/* Nothing that people do by hand fits: the first scheme that does takes its place. */
static int find_fitting(struct by_hand *l, struct lab *lab, struct device *d, uint8_t *config, struct err *err)
{
	struct by_hand_row *r = &l->row[l->n];
	uint8_t *from = mem_alloc(lab->space->n_sites + 1);
	uint32_t prices = 0;
	int rc;

	lab->space->ops->starts[l->best].fill(lab->space, from);
	rc = fits_find(lab, from, config, &prices, err);
	l->labels += prices;
	mem_free(from);
	if (rc == 0)
		return err_set(err, "no %s fits, and none of %u others: %s", l->called, prices,
			outcome_meaning(l->row[l->best].outcome));
	if (rc < 0)
		return -1;
	*r = (struct by_hand_row){.name = "first that fits"};
	l->best = l->n++;
	talk("no %s fits; the search begins at the first of %u others that does", l->called, prices);
	return by_hand_row_price(r, lab, d, config, err);
}

/* Nothing that people do by hand has a price, and memory is not why: says what the compiler said. Returns -1. */
static int tell_why(const struct by_hand *l, struct lab *lab, struct device *d, uint8_t *config, struct err *err)
{
	enum outcome outcome = l->row[l->best].outcome;
	struct buf module = {0};
	struct compiled c = {0};
	int rc;

	lab->space->ops->starts[l->best].fill(lab->space, config);
	rc = lab->space->ops->apply(lab->space, config, &module, err);
	if (rc == 0)
		rc = device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, 0, &c, err);
	if (rc == 0 && c.handle)
		rc = device_drop(d, &c, err);
	if (rc == 0)
		err_set(err, "no %s can be priced: %s%s%.*s", l->called, outcome_meaning(outcome),
			c.detail[0] ? ": " : "", (int)fmin(300, (double)strcspn(c.detail, "\n")), c.detail);
	compiled_release(&c);
	buf_release(&module);
	return -1;
}

static bool any_too_large(const struct by_hand *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->row[i].outcome == OUTCOME_OOM)
			return true;
	return false;
}

#define LONG 5.0 /* seconds; whoever waits so long for a price is told */

/* Says what one that took long costs, and how many may take as long. */
static void talk_row(const struct by_hand *l, const struct by_hand_row *r, double seconds,
	const struct space_start *next)
{
	char cost[QUANTITY_TEXT], time[32], more[32] = "";
	uint32_t left = 0;

	if (seconds < LONG)
		return;
	for (; next->name; next++)
		left++;
	if (left)
		snprintf(more, sizeof more, "; %u more to ask", left);
	talk("%s: %s (asking took %s%s)", r->name, r->outcome == OUTCOME_OK ? quantity_text(l->quantity, r->cost, cost)
		: outcome_meaning(r->outcome), talk_seconds(seconds, time, sizeof time), more);
}

int by_hand_price(struct by_hand *l, struct lab *lab, struct device *d, struct err *err)
{
	struct space *s = lab->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	int rc = 0;

	*l = (struct by_hand){.quantity = cost_quantity(lab->cost), .called = s->ops->by_hand};
	for (const struct space_start *p = s->ops->starts; d && s->n_sites && l->called && p && p->name && rc == 0;
		p++) {
		if (l->n == BY_HAND_MOST - 2 || (stop_asked() && l->n && l->row[l->best].outcome == OUTCOME_OK))
			break;
		double start = now_seconds();
		l->row[l->n] = (struct by_hand_row){.name = p->name};
		p->fill(s, config);
		rc = by_hand_row_price(&l->row[l->n], lab, d, config, err);
		if (by_hand_is_better(&l->row[l->n], &l->row[l->best]))
			l->best = l->n;
		talk_row(l, &l->row[l->n], now_seconds() - start, p + 1);
		l->labels++;
		l->n++;
	}
	if (rc == 0 && l->n && l->row[l->best].outcome != OUTCOME_OK)
		rc = any_too_large(l) ? find_fitting(l, lab, d, config, err) : tell_why(l, lab, d, config, err);
	else if (rc == 0 && l->n)
		s->ops->starts[l->best].fill(s, config);
	if (rc == 0 && l->n && l->row[l->best].bytes <= 0)
		rc = read_compiled(&l->row[l->best], lab, d, config, err);
	if (rc == 0 && l->n) {
		make_default(lab, config);
		lab->reference = l->row[l->best].name;
	}
	mem_free(config);
	return rc;
}

int by_hand_add_found(struct by_hand *l, struct lab *lab, struct device *d, const uint8_t *config, double cost,
	struct err *err)
{
	struct by_hand_row *r = &l->row[l->n];

	if (!l->n || l->found)
		return 0;
	*r = (struct by_hand_row){.name = "found", .cost = cost};
	l->found = true;
	l->n++;
	return read_compiled(r, lab, d, config, err);
}

void by_hand_json(const struct by_hand *l, struct json *j)
{
	if (!l->n)
		return;
	json_array(j, "by_hand");
	for (uint32_t i = 0; i < l->n; i++) {
		const struct by_hand_row *r = &l->row[i];
		json_object(j, NULL);
		json_str(j, "name", r->name);
		json_str(j, "outcome", outcome_name(r->outcome));
		if (r->outcome == OUTCOME_OK) {
			json_num(j, "cost", r->cost);
			json_num(j, "bytes_per_device", r->bytes);
			json_object(j, "bytes_sent");
			for (int c = 0; c < COLLECTIVES; c++)
				json_num(j, collective_name((enum collective)c), r->exchanges.bytes[c]);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	json_str(j, "best_by_hand", l->row[l->best].name);
}

/* "22.9 ms  312.0 MiB  all-reduce 12 MiB, all-gather 3 MiB" */
static void add_row(const struct by_hand *l, const struct by_hand_row *r, const char *between, struct buf *out)
{
	char text[QUANTITY_TEXT];
	bool any = false;

	if (r->outcome != OUTCOME_OK) {
		buf_addf(out, "%s%s%s%s", outcome_meaning(r->outcome), between, "", between);
		return;
	}
	buf_addf(out, "%s%s", quantity_text(l->quantity, r->cost, text), between);
	buf_addf(out, "%s%s", r->bytes > 0 ? quantity_text(QUANTITY_BYTES, r->bytes, text) : "", between);
	for (int c = 0; c < COLLECTIVES; c++) {
		if (r->exchanges.count[c] == 0)
			continue;
		buf_addf(out, "%s%s %s", any ? ", " : "", collective_name((enum collective)c),
			quantity_text(QUANTITY_BYTES, r->exchanges.bytes[c], text));
		any = true;
	}
	buf_adds(out, any ? "" : r->bytes > 0 ? "nothing" : "not asked again");
}

void by_hand_text(const struct by_hand *l, struct buf *out)
{
	if (l->n)
		buf_addf(out, "  %-16s %s, memory of a device, what it sends in a run\n", l->called,
			quantity_noun(l->quantity));
	for (uint32_t i = 0; i < l->n; i++) {
		buf_addf(out, "%c %-16s ", i == l->best ? '*' : ' ', l->row[i].name);
		add_row(l, &l->row[i], "  ", out);
		buf_addch(out, '\n');
	}
}

/* The best by hand and what was found, one below the other. */
static void add_strips(const struct by_hand *l, struct buf *out)
{
	const struct by_hand_row *best = &l->row[l->best], *found = &l->row[l->n - 1];
	double longest = fmax(strip_seconds(&best->strip), strip_seconds(&found->strip));

	if (longest <= 0)
		return;
	buf_adds(out, "<p>What a device does in one run, from left to right, by our model, which hides no exchange "
		"behind work:</p>\n<table>\n");
	strip_draw(&best->strip, best->name, longest, out);
	if (l->found)
		strip_draw(&found->strip, found->name, longest, out);
	buf_adds(out, "</table>\n");
}

void by_hand_page(const struct by_hand *l, struct buf *out)
{
	if (!l->n)
		return;
	buf_addf(out, "<h2>What people do by hand</h2>\n<p>Each %s was priced before "
		"the search, which began at the best (%s).</p>\n"
		"<table><tr><th>by hand</th><th>%s</th><th>memory of a device</th><th>what a device sends in a "
		"run</th></tr>\n",
		l->called, l->row[l->best].name, quantity_noun(l->quantity));
	for (uint32_t i = 0; i < l->n; i++) {
		bool bold = i == l->best || (l->found && i + 1 == l->n);
		buf_addf(out, "<tr%s><td style=\"white-space:nowrap\">%s</td><td style=\"white-space:nowrap\">",
			bold ? " style=\"font-weight:bold\"" : "", l->row[i].name);
		add_row(l, &l->row[i], "</td><td>", out);
		buf_adds(out, "</td></tr>\n");
	}
	buf_adds(out, "</table>\n");
	add_strips(l, out);
}
