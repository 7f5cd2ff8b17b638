/*
 * worth.c - see the header. Parameters are asked first, because people set these themselves; then sites by their
 * promise, if the kind knows one. So those left out are likely to be worth little.
 */
#include "search/worth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/page.h"
#include "base/progress.h"
#include "base/stop.h"

#define PART 0.3     /* of the search's seconds, and at least this many: */
#define LEAST 10.0
#define MOST_ROWS 40 /* of the page */

static int by_cost(const void *a, const void *b)
{
	const struct worth_row *x = a, *y = b;

	return x->cost != y->cost ? x->cost < y->cost ? 1 : -1 : (x->site > y->site) - (x->site < y->site);
}

/* What stops the program from running, or fitting, comes first. */
static int by_loss(const void *a, const void *b)
{
	const struct worth_row *x = a, *y = b;
	bool bad = x->outcome != OUTCOME_OK, worse = y->outcome != OUTCOME_OK;

	return bad != worse ? (bad ? -1 : 1) : by_cost(a, b);
}

static double promise(struct space *s, uint32_t site, uint8_t choice)
{
	if (s->graph->node[s->site[site].node].opcode == OP_PARAMETER)
		return INFINITY;
	return s->ops->promise ? s->ops->promise(s, site, choice) : 0;
}

static void list_sites(struct worths *w, struct space *s, const uint8_t *config)
{
	w->row = MEM_NEW(s->n_sites + 1, struct worth_row);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (config[i] != s->site[i].dflt)
			w->row[w->differ++] = (struct worth_row){.site = i, .cost = promise(s, i, config[i])};
	qsort(w->row, w->differ, sizeof *w->row, by_cost);
}

int worth_find(struct worths *w, const struct hunt *h, struct cost *cost, struct err *err)
{
	struct space *s = h->s;
	double end = now_seconds() + fmax(LEAST, PART * hunt_seconds(h));
	uint8_t *without;
	int rc = 0;

	*w = (struct worths){0};
	if (!cost || !s->ops->by_hand || !cost_exact(cost))
		return 0;
	list_sites(w, s, h->config);
	without = mem_alloc(s->n_sites + 1);
	memcpy(without, h->config, s->n_sites);
	while (w->n < w->differ && rc == 0 && now_seconds() < end && !stop_asked()) {
		struct worth_row *r = &w->row[w->n];
		struct delta d;
		without[r->site] = s->site[r->site].dflt;
		rc = cost_delta(cost, h->config, without, &d, err);
		without[r->site] = h->config[r->site];
		if (rc < 0 || d.cut)
			break;
		r->outcome = d.outcome;
		r->cost = d.outcome == OUTCOME_OK ? d.seconds : 0;
		w->n++;
	}
	qsort(w->row, w->n, sizeof *w->row, by_loss);
	mem_free(without);
	return rc;
}

void worth_release(struct worths *w)
{
	mem_free(w->row);
	*w = (struct worths){0};
}

void worth_json(const struct worths *w, const struct space *s, struct json *j)
{
	if (!w->differ)
		return;
	json_array(j, "worth");
	for (uint32_t i = 0; i < w->n; i++) {
		const struct worth_row *r = &w->row[i];
		json_object(j, NULL);
		json_int(j, "site", r->site);
		json_str(j, "name", s->graph->node[s->site[r->site].node].proto->name);
		json_str(j, "outcome", outcome_name(r->outcome));
		if (r->outcome == OUTCOME_OK)
			json_num(j, "cost", r->cost);
		json_end(j);
	}
	json_end(j);
}

static void add_row(const struct worth_row *r, const struct hunt *h, struct buf *out)
{
	const struct space *s = h->s;
	const Hlo__HloInstructionProto *in = s->graph->node[s->site[r->site].node].proto;
	struct buf words = {0};

	buf_adds(out, "<tr><td><code>");
	page_text(out, in->metadata && *in->metadata->op_name ? in->metadata->op_name : in->name);
	buf_adds(out, "</code></td><td>");
	if (s->ops->words)
		s->ops->words(h->s, r->site, h->config[r->site], &words);
	page_text(out, words.data ? words.data : "");
	buf_release(&words);
	if (r->outcome == OUTCOME_OK)
		buf_addf(out, "</td><td class=n>%+.3f %s</td></tr>\n", quantity_in_unit(h->quantity, r->cost),
			quantity_unit(h->quantity));
	else
		buf_addf(out, "</td><td class=n>%s</td></tr>\n", outcome_name(r->outcome));
}

void worth_page(const struct worths *w, const struct hunt *h, struct buf *out)
{
	if (!w->n)
		return;
	buf_addf(out, "<h2>What each is worth</h2>\n<p>How much more it would cost if one alone were as in the best %s "
		"again. Some need each other, and some do the same as another, so their sum says nothing.",
		h->s->ops->by_hand);
	if (w->n > MOST_ROWS)
		buf_addf(out, " The %d that matter most of %u; <code>config.json</code> has them all.", MOST_ROWS,
			w->n);
	if (w->n < w->differ)
		buf_addf(out, " %u of %u were not asked, for want of time.", w->differ - w->n, w->differ);
	buf_adds(out, "</p>\n<table><tr><th>tensor</th><th>found</th><th class=n>without it</th></tr>\n");
	for (uint32_t i = 0; i < w->n && i < MOST_ROWS; i++)
		add_row(&w->row[i], h, out);
	buf_adds(out, "</table>\n");
}
