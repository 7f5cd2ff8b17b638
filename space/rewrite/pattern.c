/*
 * pattern.c - finds a pattern in a program, and writes its other side.
 *
 * Each dimension of each value belongs to an axis. We start at the last value and go down to its operands. Each
 * operation tells which dimensions of its operands belong to which of its result, and which are new (those that a
 * product or a sum adds up). The letter of an axis follows from the values that have it: in a product, axes of both
 * operands and the result have one letter, axes of both operands only have another, and so on. If a value is read
 * twice, its axes from both readers become one. Transpositions on the way down are ignored.
 *
 * Products that are written are as precise as those that were found, which must agree in that. Where there were none,
 * the numbers were multiplied one by one, so the product has the highest precision: by default some backends round what
 * they multiply.
 *
 * A second variant puts barriers behind operands that are smaller than the result. Without them the compiler computes
 * such an operand anew for each number of the result. A product would read it from memory.
 *
 * A written value has its axes in any order. They get a common one only when two values are added, and at the end.
 */
#include "space/rewrite/pattern.h"

#include <string.h>

#define AXES 48

struct binding { /* the node and the axes of a value of the pattern */
	uint32_t node;
	bool bound;
	uint32_t rank;
	uint8_t axis[DRAFT_RANK]; /* per dimension */
};

struct matcher {
	const struct pattern *p;
	const struct graph *g;
	struct found *f;
	struct binding value[PATTERN_VALUES];
	int64_t size[AXES];
	uint8_t letter[AXES]; /* 1 + letter; 0: not known yet */
	uint8_t same[AXES];   /* union-find */
	uint32_t n_axes, n_outer; /* outer: axes of the last value */
	const Hlo__HloInstructionProto *dot; /* a product that was found, or NULL */
};

static uint8_t root_of(const struct matcher *m, uint8_t a)
{
	while (m->same[a] != a)
		a = m->same[a];
	return a;
}

static int new_axis(struct matcher *m, int64_t size)
{
	if (m->n_axes == AXES)
		return -1;
	m->size[m->n_axes] = size;
	m->letter[m->n_axes] = 0;
	m->same[m->n_axes] = (uint8_t)m->n_axes;
	return (int)m->n_axes++;
}

/* Gives an axis the one letter of this set; false if it has another one, or the set is empty. */
static bool give_letter(struct matcher *m, uint8_t axis, uint32_t set)
{
	uint8_t *l = &m->letter[root_of(m, axis)];

	if (set == 0 || set & (set - 1))
		return false;
	for (uint8_t i = 0; i < 26; i++)
		if (set >> i & 1) {
			if (*l && *l != i + 1)
				return false;
			*l = (uint8_t)(i + 1);
		}
	return true;
}

static bool unite(struct matcher *m, uint8_t a, uint8_t b)
{
	a = root_of(m, a);
	b = root_of(m, b);
	if (a == b)
		return true;
	if (m->size[a] != m->size[b] || (a < m->n_outer && b < m->n_outer))
		return false;
	if (m->letter[a] && m->letter[b] && m->letter[a] != m->letter[b])
		return false;
	m->letter[a] = m->letter[a] ? m->letter[a] : m->letter[b];
	if (b < a) { /* keep the outer axis */
		m->letter[b] = m->letter[a];
		m->same[a] = b;
	} else {
		m->same[b] = a;
	}
	return true;
}

static bool computed_by(const struct pattern *p, uint32_t value)
{
	for (uint32_t i = 0; i < p->n_match; i++)
		if (p->match[i].value == value)
			return true;
	return false;
}

/* Binds a value of the pattern to a node with these axes; false if that does not fit. */
static bool bind(struct matcher *m, uint32_t value, uint32_t node, uint32_t user, const uint8_t *axis)
{
	struct binding *b = &m->value[value];
	uint8_t moved[DRAFT_RANK];

	memcpy(moved, axis, m->g->node[node].rank);
	if (computed_by(m->p, value)) {
		if (b->bound || !rule_only_for(m->g, node, user))
			return false;
		while (m->g->node[node].opcode == OP_TRANSPOSE) {
			uint8_t was[DRAFT_RANK];
			memcpy(was, moved, sizeof was);
			for (uint32_t i = 0; i < m->g->node[node].rank; i++)
				moved[m->g->node[node].proto->dimensions[i]] = was[i];
			if (m->f->n_inside == FOUND_INSIDE)
				return false;
			m->f->inside[m->f->n_inside++] = node;
			user = node;
			node = node_operands(m->g, node)[0];
			if (!rule_only_for(m->g, node, user))
				return false;
		}
		if (m->f->n_inside == FOUND_INSIDE)
			return false;
		m->f->inside[m->f->n_inside++] = node;
	} else if (b->bound) { /* the same value, from another reader */
		if (b->node != node)
			return false;
		for (uint32_t i = 0; i < b->rank; i++)
			if (!unite(m, b->axis[i], moved[i]))
				return false;
		return true;
	} else if (!rule_plain_any(m->g, node)) {
		return false;
	}
	*b = (struct binding){.node = node, .bound = true, .rank = m->g->node[node].rank};
	memcpy(b->axis, moved, b->rank);
	return true;
}

static uint32_t letters(const struct matcher *m, uint32_t value)
{
	return m->p->value[value].letters;
}

static bool match_dot(struct matcher *m, const struct pattern_line *l)
{
	const struct binding *y = &m->value[l->value];
	uint32_t a = letters(m, l->operand[0]), b = letters(m, l->operand[1]), r = letters(m, l->value), at = 0;
	const uint32_t *x = node_operands(m->g, y->node);
	uint8_t axis[2][DRAFT_RANK];
	int64_t rest[DRAFT_RANK];
	struct dot_dims d;

	if (!rule_dot_any(m->g, y->node, &d))
		return false;
	if (m->dot && !rule_as_precise(m->dot, m->g->node[y->node].proto))
		return false;
	m->dot = m->g->node[y->node].proto;
	for (uint32_t k = 0; k < d.n_batch; k++, at++) {
		axis[0][d.batch[0][k]] = axis[1][d.batch[1][k]] = y->axis[at];
		if (!give_letter(m, y->axis[at], a & b & r))
			return false;
	}
	for (int side = 0; side < 2; side++) {
		uint32_t n = dot_rest(&d, side, m->g->node[x[side]].rank, rest);
		for (uint32_t k = 0; k < n; k++, at++) {
			axis[side][rest[k]] = y->axis[at];
			if (!give_letter(m, y->axis[at], side ? r & b & ~a : r & a & ~b))
				return false;
		}
	}
	for (uint32_t k = 0; k < d.n_sum; k++) {
		int n = new_axis(m, rule_dim(m->g, x[0], d.sum[0][k]));
		if (n < 0 || !give_letter(m, (uint8_t)n, a & b & ~r))
			return false;
		axis[0][d.sum[0][k]] = axis[1][d.sum[1][k]] = (uint8_t)n;
	}
	return bind(m, l->operand[0], x[0], y->node, axis[0]) && bind(m, l->operand[1], x[1], y->node, axis[1]);
}

static bool match_elementwise(struct matcher *m, const struct pattern_line *l, uint16_t opcode)
{
	const struct binding *y = &m->value[l->value];
	const uint32_t *x = node_operands(m->g, y->node);
	uint8_t axis[DRAFT_RANK];

	if (m->g->node[y->node].opcode != opcode || x[0] == x[1])
		return false;
	memcpy(axis, y->axis, sizeof axis);
	return bind(m, l->operand[0], x[0], y->node, axis) && bind(m, l->operand[1], x[1], y->node, axis);
}

static bool match_sum(struct matcher *m, const struct pattern_line *l)
{
	const struct binding *y = &m->value[l->value];
	const Hlo__HloInstructionProto *in = m->g->node[y->node].proto;
	uint32_t a = letters(m, l->operand[0]), r = letters(m, l->value), at = 0, x;
	uint8_t axis[DRAFT_RANK];

	if (!rule_is_sum(m->g, y->node))
		return false;
	x = node_operands(m->g, y->node)[0];
	for (uint32_t i = 0; i < m->g->node[x].rank; i++) {
		bool gone = false;
		for (size_t k = 0; k < in->n_dimensions; k++)
			gone |= in->dimensions[k] == i;
		int n = gone ? new_axis(m, rule_dim(m->g, x, i)) : y->axis[at++];
		if (n < 0 || (gone && !give_letter(m, (uint8_t)n, a & ~r)))
			return false;
		axis[i] = (uint8_t)n;
	}
	return bind(m, l->operand[0], x, y->node, axis);
}

static bool match_broadcast(struct matcher *m, const struct pattern_line *l)
{
	const struct binding *y = &m->value[l->value];
	const Hlo__HloInstructionProto *in = m->g->node[y->node].proto;
	uint32_t a = letters(m, l->operand[0]), r = letters(m, l->value);
	uint8_t axis[DRAFT_RANK] = {0};
	bool kept[DRAFT_RANK] = {false};

	if (m->g->node[y->node].opcode != OP_BROADCAST)
		return false;
	for (size_t i = 0; i < in->n_dimensions; i++) {
		axis[i] = y->axis[in->dimensions[i]];
		kept[in->dimensions[i]] = true;
	}
	for (uint32_t i = 0; i < y->rank; i++) /* these axes have a new letter */
		if (!kept[i] && !give_letter(m, y->axis[i], r & ~a))
			return false;
	return bind(m, l->operand[0], node_operands(m->g, y->node)[0], y->node, axis);
}

static bool match_line(struct matcher *m, const struct pattern_line *l)
{
	switch (l->op) {
	case PATTERN_DOT:
		return match_dot(m, l);
	case PATTERN_ADD:
		return match_elementwise(m, l, OP_ADD);
	case PATTERN_SUBTRACT:
		return match_elementwise(m, l, OP_SUBTRACT);
	case PATTERN_MULTIPLY:
		return match_elementwise(m, l, OP_MULTIPLY);
	case PATTERN_SUM:
		return match_sum(m, l);
	case PATTERN_BROADCAST:
		return match_broadcast(m, l);
	}
	return false;
}

static bool has_axis(const struct matcher *m, const struct binding *b, uint8_t axis)
{
	for (uint32_t k = 0; k < b->rank; k++)
		if (root_of(m, b->axis[k]) == axis)
			return true;
	return false;
}

/* Names the axes that no operation has named: by the letter that all values with the axis have, and no other value. */
static bool name_the_rest(struct matcher *m)
{
	for (uint8_t a = 0; a < m->n_axes; a++) {
		uint32_t set = (1u << 26) - 1;
		if (m->same[a] != a || m->letter[a])
			continue;
		for (uint32_t i = 0; i < m->p->n_values; i++)
			if (m->value[i].bound)
				set &= has_axis(m, &m->value[i], a) ? letters(m, i) : ~letters(m, i);
		if (!give_letter(m, a, set))
			return false;
	}
	return true;
}

/* Has every axis of every value one of that value's letters? */
static bool letters_agree(const struct matcher *m)
{
	for (uint32_t i = 0; i < m->p->n_values; i++)
		for (uint32_t k = 0; m->value[i].bound && k < m->value[i].rank; k++) {
			uint8_t l = m->letter[root_of(m, m->value[i].axis[k])];
			if (!l || !(letters(m, i) >> (l - 1) & 1))
				return false;
			for (uint32_t j = 0; j < k; j++)
				if (root_of(m, m->value[i].axis[j]) == root_of(m, m->value[i].axis[k]))
					return false;
		}
	return true;
}

static bool find(struct matcher *m, const struct pattern *p, const struct graph *g, uint32_t v, struct found *f)
{
	uint8_t axis[DRAFT_RANK];

	*m = (struct matcher){.p = p, .g = g, .f = f};
	if (!rule_plain_any(g, v) || !g->node[v].elements)
		return false;
	for (uint32_t i = 0; i < g->node[v].rank; i++)
		axis[i] = (uint8_t)new_axis(m, rule_dim(g, v, i));
	m->n_outer = m->n_axes;
	uint32_t root = p->match[p->n_match - 1].value;
	m->value[root] = (struct binding){.node = v, .bound = true, .rank = g->node[v].rank};
	memcpy(m->value[root].axis, axis, g->node[v].rank);
	for (uint32_t i = p->n_match; i-- > 0;)
		if (!m->value[p->match[i].value].bound || !match_line(m, &p->match[i]))
			return false;
	return name_the_rest(m) && letters_agree(m);
}

/* Has every value that would be written as few dimensions as a draft can hold? It has all axes of its letters. */
static bool can_be_written(const struct matcher *m)
{
	for (uint32_t i = 0; i < m->p->n_write; i++) {
		uint32_t set = letters(m, m->p->write[i].value), rank = 0;
		for (uint32_t a = 0; a < m->n_axes; a++)
			rank += m->same[a] == a && (set >> (m->letter[a] - 1) & 1);
		if (rank > DRAFT_RANK)
			return false;
	}
	return true;
}

/* Is a value that the pattern reads smaller than its result? */
static bool is_smaller(const struct matcher *m, uint32_t value, uint32_t result)
{
	return m->value[value].bound && m->g->node[m->value[value].node].elements < m->g->node[result].elements;
}

bool pattern_match(const struct pattern *p, const struct graph *g, uint32_t v, struct found *f)
{
	struct matcher m;
	uint32_t small = 0;

	if (!find(&m, p, g, v, f) || !can_be_written(&m))
		return false;
	while (small < p->n_values && !is_smaller(&m, small, v))
		small++;
	f->variants = small < p->n_values ? f->variants : 1;
	for (uint32_t i = 0; p->measures[i]; i++) {
		bool letter = p->measures[i + 1] != NULL; /* the last one is PATTERN_COMPLEX */
		f->measure[i] = letter || rule_plain_complex(g, v);
		for (uint32_t a = 0; letter && a < m.n_axes; a++)
			if (m.same[a] == a && m.letter[a] == p->measures[i][0] - 'a' + 1)
				f->measure[i] *= (double)m.size[a];
	}
	return true;
}

/* ---- writing ---- */

struct written {
	Hlo__HloInstructionProto *x;
	uint8_t axis[2 * DRAFT_RANK];
	uint32_t rank;
};

static int place_of(const struct written *w, uint8_t axis)
{
	for (uint32_t i = 0; i < w->rank; i++)
		if (w->axis[i] == axis)
			return (int)i;
	return -1;
}

static struct written in_order(struct draft *d, struct written w, const uint8_t *axis)
{
	int64_t perm[DRAFT_RANK];

	for (uint32_t i = 0; i < w.rank; i++) {
		BUG_ON(place_of(&w, axis[i]) < 0);
		perm[i] = place_of(&w, axis[i]);
	}
	w.x = draft_transpose(d, w.x, perm);
	memcpy(w.axis, axis, w.rank);
	return w;
}

static bool has_letter(const struct matcher *m, uint32_t set, uint8_t axis)
{
	return set >> (m->letter[axis] - 1) & 1;
}

static struct written write_dot(struct matcher *m, struct draft *d, uint32_t set, const struct written *a,
	const struct written *b)
{
	const struct written *side[2] = {a, b};
	struct written y = {.rank = 0};
	struct dot_dims dims = {.n_batch = 0};
	int64_t rest[DRAFT_RANK];

	for (uint32_t i = 0; i < a->rank; i++) {
		int k = place_of(b, a->axis[i]);
		if (k < 0)
			continue;
		bool kept = has_letter(m, set, a->axis[i]);
		int64_t(*to)[DRAFT_RANK] = kept ? dims.batch : dims.sum;
		uint32_t *n = kept ? &dims.n_batch : &dims.n_sum;
		to[0][*n] = i;
		to[1][(*n)++] = k;
		if (kept)
			y.axis[y.rank++] = a->axis[i];
	}
	for (int s = 0; s < 2; s++) {
		uint32_t n = dot_rest(&dims, s, side[s]->rank, rest);
		for (uint32_t k = 0; k < n; k++)
			y.axis[y.rank++] = side[s]->axis[rest[k]];
	}
	y.x = draft_dot(d, a->x, b->x, &dims, m->dot);
	return y;
}

static struct written write_sum(struct matcher *m, struct draft *d, uint32_t set, const struct written *a)
{
	struct written y = {.rank = 0};
	int64_t gone[DRAFT_RANK];
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->rank; i++)
		if (has_letter(m, set, a->axis[i]))
			y.axis[y.rank++] = a->axis[i];
		else
			gone[n++] = i;
	y.x = draft_sum(d, a->x, gone, n);
	return y;
}

static struct written write_broadcast(struct matcher *m, struct draft *d, uint32_t set, const struct written *a)
{
	struct written y = {.rank = 0};
	int64_t dims[DRAFT_RANK], map[DRAFT_RANK];

	for (uint8_t i = 0; i < m->n_axes; i++)
		if (m->same[i] == i && has_letter(m, set, i)) {
			BUG_ON(y.rank == DRAFT_RANK);
			dims[y.rank] = m->size[i];
			y.axis[y.rank++] = i;
		}
	for (uint32_t i = 0; i < a->rank; i++)
		map[i] = place_of(&y, a->axis[i]);
	y.x = draft_broadcast(d, a->x, dims, y.rank, map);
	return y;
}

static struct written write_line(struct matcher *m, struct draft *d, const struct pattern_line *l,
	const struct written *value)
{
	static const char *const opcode[] = {
		[PATTERN_ADD] = "add", [PATTERN_SUBTRACT] = "subtract", [PATTERN_MULTIPLY] = "multiply"};
	const struct written *a = &value[l->operand[0]], *b = &value[l->operand[1]];
	uint32_t set = letters(m, l->value);
	struct written y = *a;

	switch (l->op) {
	case PATTERN_DOT:
		return write_dot(m, d, set, a, b);
	case PATTERN_SUM:
		return write_sum(m, d, set, a);
	case PATTERN_BROADCAST:
		return write_broadcast(m, d, set, a);
	case PATTERN_ADD:
	case PATTERN_SUBTRACT:
	case PATTERN_MULTIPLY:
		break;
	}
	y.x = draft_binary(d, opcode[l->op], a->x, in_order(d, *b, a->axis).x);
	return y;
}

Hlo__HloInstructionProto *pattern_write(const struct pattern *p, struct draft *d, const struct found *f,
	uint32_t variant)
{
	struct written value[PATTERN_VALUES] = {{.rank = 0}};
	struct found again = {.anchor = f->anchor};
	struct matcher m;
	uint32_t root = p->match[p->n_match - 1].value;
	uint8_t order[DRAFT_RANK];

	BUG_ON(!find(&m, p, d->g, f->anchor, &again));
	for (uint32_t i = 0; i < p->n_values; i++) {
		const struct binding *b = &m.value[i];
		value[i].x = b->bound ? draft_value(d, b->node) : NULL;
		if (variant == 2 && is_smaller(&m, i, f->anchor))
			value[i].x = draft_unary(d, "opt-barrier", value[i].x);
		value[i].rank = b->rank;
		for (uint32_t k = 0; k < b->rank; k++)
			value[i].axis[k] = root_of(&m, b->axis[k]);
	}
	memcpy(order, value[root].axis, sizeof order);
	for (uint32_t i = 0; i < p->n_write; i++)
		value[p->write[i].value] = write_line(&m, d, &p->write[i], value);
	return in_order(d, value[root], order).x;
}
