/*
 * row.c - puts the parts of a row side by side.
 */
#include "learn/row.h"

static void copy_node(const struct row_node *v, float *row)
{
	for (int i = 0; i < NODE_FIXED; i++)
		row[i] = (float)v->fixed[i];
	for (int i = 0; i < NODE_CONTEXT; i++)
		row[NODE_FIXED + i] = (float)v->context[i];
}

static void mean_of(const struct row_node *v, uint32_t n, float *row)
{
	double sum[NODE_FEATURES] = {0};

	for (uint32_t k = 0; k < n; k++) {
		for (int i = 0; i < NODE_FIXED; i++)
			sum[i] += (double)v[k].fixed[i];
		for (int i = 0; i < NODE_CONTEXT; i++)
			sum[NODE_FIXED + i] += (double)v[k].context[i];
	}
	for (int i = 0; i < NODE_FEATURES; i++)
		row[i] = n ? (float)(sum[i] / n) : 0;
}

void row_fill(const struct row_node *target, const real *flip, const struct row_node *user, uint32_t n_users,
	float *row)
{
	copy_node(target, row);
	for (int i = 0; i < FLIP_FEATURES; i++)
		row[ROW_FLIP + i] = (float)flip[i];
	mean_of(user, n_users, row + ROW_USERS);
}

void row_at_node(const struct scene *g, const real *x, uint32_t node, const real *flip, float *row)
{
	const real *v = x + (size_t)node * NODE_FEATURES;
	struct row_node target = {v, v + NODE_FIXED}, user[FEATURE_DEGREE];
	uint32_t n = 0;

	for (uint32_t i = g->user_first[node]; i < g->user_first[node + 1]; i++, n++) {
		v = x + (size_t)g->user_to[i] * NODE_FEATURES;
		user[n] = (struct row_node){v, v + NODE_FIXED};
	}
	row_fill(&target, flip, user, n, row);
}

uint32_t row_columns(uint32_t table, uint32_t *column)
{
	uint32_t nodes = feature_map(table, false, column), flips = feature_map(table, true, column + nodes);
	uint32_t n = nodes + flips;

	for (uint32_t i = nodes; i < n; i++)
		column[i] += ROW_FLIP;
	for (uint32_t i = 0; i < nodes && table >= ROW_USERS_SINCE; i++)
		column[n++] = ROW_USERS + column[i];
	return n;
}
