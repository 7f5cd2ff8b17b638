/*
 * ring_select.c - see ring.h: what compares numbers, and what follows from it.
 *
 * The field has no order. There its representatives are compared, as for maximum and minimum: two programs that compare
 * the same numbers still agree.
 */
#include "graph/ring.h"

#include <string.h>

/* Does a compare with b as the direction says? -1: it is not known. */
static int holds(const Hlo__HloInstructionProto *compare, uint64_t a, uint64_t b)
{
	const char *says = compare->comparison_direction;
	int64_t x = (int64_t)a, y = (int64_t)b;
	const struct {
		const char *name;
		bool holds;
	} direction[] = {{"EQ", x == y}, {"NE", x != y}, {"GE", x >= y}, {"GT", x > y}, {"LE", x <= y}, {"LT", x < y}};

	for (size_t i = 0; says && i < sizeof direction / sizeof *direction; i++)
		if (strcmp(says, direction[i].name) == 0)
			return direction[i].holds;
	return -1;
}

int ring_compare(const struct ring_node *n)
{
	if (n->x[0]->n != n->out->n || n->x[1]->n != n->out->n)
		return -1;
	for (size_t i = 0; i < n->out->n; i++) {
		int is = holds(n->in, n->x[0]->v[i], n->x[1]->v[i]);
		if (is < 0)
			return -1;
		n->out->v[i] = (uint64_t)is;
	}
	return 0;
}

int ring_select(const struct ring_node *n)
{
	bool one = n->x[0]->n == 1; /* one truth may choose whole arrays */

	if ((!one && n->x[0]->n != n->out->n) || n->x[1]->n != n->out->n || n->x[2]->n != n->out->n)
		return -1;
	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = n->x[n->x[0]->v[one ? 0 : i] ? 1 : 2]->v[i];
	return 0;
}

/* The lower bound, what is bounded, the upper bound; a bound may be one number. */
int ring_clamp(const struct ring_node *n)
{
	bool low = n->x[0]->n == 1, high = n->x[2]->n == 1;

	if ((!low && n->x[0]->n != n->out->n) || n->x[1]->n != n->out->n || (!high && n->x[2]->n != n->out->n))
		return -1;
	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = ring_combine(n->ring, OP_MINIMUM, n->x[2]->v[high ? 0 : i],
			ring_combine(n->ring, OP_MAXIMUM, n->x[0]->v[low ? 0 : i], n->x[1]->v[i]));
	return 0;
}

/* "and" and "or" of truths. */
int ring_logic(const struct ring_node *n)
{
	bool both = n->g->node[n->v].opcode == OP_AND;

	if (n->g->node[n->v].dtype != DT_PRED || n->x[0]->n != n->out->n || n->x[1]->n != n->out->n)
		return -1;
	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = both ? n->x[0]->v[i] & n->x[1]->v[i] : n->x[0]->v[i] | n->x[1]->v[i];
	return 0;
}

int ring_iota(const struct ring_node *n)
{
	int64_t at[RING_RANK] = {0};
	size_t k = 0;

	do
		n->out->v[k++] = ring_number(n->ring, at[n->in->dimensions[0]]);
	while (ring_step(n->out->dim, n->out->rank, at));
	return 0;
}

/* Of the window at `at`, the place of the element that its comparison selects; -1: it has none; -2: it is not known. */
static int64_t selected(const struct ring_node *n, const int64_t *at)
{
	const struct comp *c = &n->g->comp[node_calls(n->g, n->v)[0]];
	const uint32_t *side = node_operands(n->g, c->root);
	int64_t tap[RING_RANK] = {0}, size[RING_RANK], from[RING_RANK], best = -1;
	bool turned = n->g->node[side[0]].proto->parameter_number == 1;

	for (uint32_t i = 0; i < n->out->rank; i++)
		size[i] = n->in->window->dimensions[i]->size;
	do {
		bool inside = true;
		for (uint32_t i = 0; i < n->out->rank; i++)
			inside &= ring_meets(n->in->window->dimensions[i], n->x[0]->dim[i], at[i], tap[i], &from[i]);
		if (!inside)
			continue;
		int64_t place = ring_place(n->x[0], from);
		uint64_t is = best < 0 ? 0 : n->x[0]->v[best], later = n->x[0]->v[place];
		int keeps = best < 0 ? 0 : holds(n->g->node[c->root].proto, turned ? later : is, turned ? is : later);
		if (keeps < 0)
			return -2;
		best = keeps ? best : place;
	} while (ring_step(size, n->out->rank, tap));
	return best;
}

/* Each number of operand 1 is added to the first one, at the place that its window selects. */
int ring_select_and_scatter(const struct ring_node *n)
{
	const struct comp *c = &n->g->comp[node_calls(n->g, n->v)[0]];
	const struct comp *adds = &n->g->comp[node_calls(n->g, n->v)[1]];
	int64_t at[RING_RANK] = {0};
	size_t k = 0;

	if (c->n_nodes != 3 || n->g->node[c->root].opcode != OP_COMPARE || adds->n_nodes != 3 ||
		n->g->node[adds->root].opcode != OP_ADD)
		return -1;
	for (size_t i = 0; i < n->out->n; i++)
		n->out->v[i] = n->x[2]->v[0];
	if (n->x[1]->n == 0)
		return 0;
	do {
		int64_t place = selected(n, at);
		if (place < -1)
			return -1;
		if (place >= 0)
			n->out->v[place] = ring_add(n->ring, n->out->v[place], n->x[1]->v[k]);
		k++;
	} while (ring_step(n->x[1]->dim, n->x[1]->rank, at));
	return 0;
}
