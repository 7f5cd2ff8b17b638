/*
 * show.c - writes an evaluation as a table and as JSON.
 */
#include "learn/show.h"

#include <math.h>

static void percent(struct buf *out, double x)
{
	if (isnan(x))
		buf_adds(out, "     -");
	else
		buf_addf(out, "%6.0f", 100 * x);
}

static void row(struct buf *out, const char *name, const double *recall, double spearman, const double *gain)
{
	buf_addf(out, "  %-14s", name);
	for (int s = 0; s < SHARES; s++)
		percent(out, recall ? recall[s] : NAN);
	if (isnan(spearman))
		buf_adds(out, "         -");
	else
		buf_addf(out, "  %8.2f", spearman);
	buf_adds(out, "  ");
	for (int s = 0; s < SHARES; s++)
		percent(out, gain[s]);
	buf_addch(out, '\n');
}

static void block(struct buf *out, const char *name, const struct eval_graph *g, enum quantity q)
{
	buf_addf(out, "%s: %zu flips, %zu clear of their error, %zu of "
		"those improve (%.3g %s in all); sign right %.0f%%"
		" (commoner sign: %.0f%%)\n", name, g->n, g->n_significant, g->n_improving,
		quantity_in_unit(q, g->possible), quantity_unit(q), 100 * g->signs, 100 * g->signs_majority);
	buf_adds(out, "  said to improve: ");
	if (isnan(g->improving_precision))
		buf_adds(out, "none");
	else
		buf_addf(out, "%.0f%% do", 100 * g->improving_precision);
	if (!isnan(g->improving_recall))
		buf_addf(out, "; of those that do, %.0f%% are", 100 * g->improving_recall);
	buf_addch(out, '\n');
	buf_adds(out, "  order by        recall@1     5    10    20  Spearman  gain@1     5    10    20\n");
	for (int r = 0; r < RIVALS; r++)
		if (r != BY_PROMISE || !isnan(g->recall[r][AT_10]))
			row(out, rival_name((enum rival)r), g->recall[r], g->spearman[r], g->gain[r]);
	row(out, "magnitude", NULL, NAN, g->gain_by_magnitude);
	row(out, "sign", g->recall_by_sign, NAN, g->gain_by_sign);
}

void show_text(const struct data *d, const struct evaluation *e, enum quantity q, struct buf *out)
{
	for (uint32_t i = 0; i < e->n_graphs; i++)
		block(out, d->graph[e->graph[i].graph].name, &e->graph[i], q);
	if (e->n_graphs > 1)
		block(out, "mean", &e->mean, q);
	if (e->n_graphs == 0)
		buf_adds(out, "no graph to evaluate\n");
}

static void shares(struct json *j, const char *key, const double *x)
{
	json_array(j, key);
	for (int s = 0; s < SHARES; s++)
		json_num(j, NULL, x[s]);
	json_end(j);
}

static void object(struct json *j, const char *name, const struct eval_graph *g)
{
	json_object(j, NULL);
	json_str(j, "graph", name);
	json_uint(j, "flips", g->n);
	json_uint(j, "significant", g->n_significant);
	json_uint(j, "improving", g->n_improving);
	json_num(j, "possible_seconds", g->possible);
	json_num(j, "signs", g->signs);
	json_num(j, "signs_majority", g->signs_majority);
	json_num(j, "improving_precision", g->improving_precision);
	json_num(j, "improving_recall", g->improving_recall);
	for (int r = 0; r < RIVALS; r++) {
		json_object(j, rival_name((enum rival)r));
		shares(j, "recall", g->recall[r]);
		shares(j, "gain", g->gain[r]);
		json_num(j, "spearman", g->spearman[r]);
		json_end(j);
	}
	shares(j, "gain_by_magnitude", g->gain_by_magnitude);
	shares(j, "gain_by_sign", g->gain_by_sign);
	shares(j, "recall_by_sign", g->recall_by_sign);
	json_num(j, "gain_spearman", g->gain_spearman);
	json_end(j);
}

void show_json(const struct data *d, const struct evaluation *e, struct json *j, const char *key)
{
	json_array(j, key);
	for (uint32_t i = 0; i < e->n_graphs; i++)
		object(j, d->graph[e->graph[i].graph].name, &e->graph[i]);
	if (e->n_graphs > 1)
		object(j, "mean", &e->mean);
	json_end(j);
}
