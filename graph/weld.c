/*
 * weld.c - see weld.h.
 *
 * A node is fit if it may be part of a kernel that is made of several. What does nothing at run time (an element of a
 * tuple, a bitcast) goes along where it stands between two of a row, and else stays outside: a row reads an element,
 * and not the tuple.
 */
#include "graph/weld_own.h"

#include <string.h>

#define KERNELS_MOST 256     /* in one row: the time of compiling a function grows faster than its length */
#define PRODUCT_MOST 16384.0 /* operations; a larger product is faster in the compiler's own kernels for it */

/* Does it do nothing at run time, wherever it stands? */
static bool is_loose(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[v].opcode;

	return op == OP_TUPLE || op == OP_GET_TUPLE_ELEMENT || op == OP_BITCAST;
}

static bool is_given(const struct graph *g, uint32_t v)
{
	return g->node[v].opcode == OP_PARAMETER || g->node[v].opcode == OP_CONSTANT;
}

/* The types that the generator multiplies; it knows no others, and sums over one dimension only. */
static bool product_can_be_generated(const struct node *n)
{
	static const uint8_t types[] = {DT_F16, DT_F32, DT_F64, DT_C64, DT_C128, DT_S32, DT_S64, DT_U32, DT_U64};
	const Hlo__DotDimensionNumbers *d = n->proto->dot_dimension_numbers;

	return n->flops <= PRODUCT_MOST && d && d->n_lhs_contracting_dimensions == 1 &&
	       memchr(types, n->dtype, sizeof types);
}

/* Can the generator of such kernels compute the operation? For some it would have to call the runtime. */
static bool can_be_generated(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	switch (n->opcode) {
	case OP_DOT:
		return product_can_be_generated(n);
	case OP_FUSION:
		return strcmp(n->proto->fusion_kind, "kLoop") == 0 || strcmp(n->proto->fusion_kind, "kOutput") == 0;
	case OP_WHILE:
	case OP_CONDITIONAL:
	case OP_CALL:
	case OP_REDUCE:
	case OP_REDUCE_WINDOW:
	case OP_MAP:
		return true;
	case OP_DYNAMIC_RESHAPE:
	case OP_GET_DIMENSION_SIZE:
	case OP_SET_DIMENSION_SIZE:
		return false;
	default:
		return opcode_facts(n->opcode)->class == CLASS_ELEMENTWISE ||
		       opcode_facts(n->opcode)->class == CLASS_MOVE;
	}
}

/* May the node be inside of what is welded? */
static bool may_be_inside(const struct welder *w, uint32_t v)
{
	const struct node *n = &w->g->node[v];
	bool may = is_loose(w->g, v) || is_given(w->g, v) ||
		   (!(n->flags & NODE_SIDE_EFFECT) && can_be_generated(w->g, v));

	for (uint32_t k = 0; k < n->n_called; k++)
		may = may && w->whole[node_calls(w->g, v)[k]];
	return may;
}

/* Bytes that one execution moves. */
static double moved(const struct welder *w, uint32_t v)
{
	const struct node *n = &w->g->node[v];
	double sum = 0;

	if (node_is_kernel(w->g, v)) {
		sum = (double)n->bytes;
		for (uint32_t k = 0; k < n->n_operands; k++)
			sum += (double)w->g->node[node_operands(w->g, v)[k]].bytes;
	} else if (opcode_facts(n->opcode)->class == CLASS_CALL) {
		for (uint32_t k = 0; k < n->n_called; k++)
			sum += w->moves[node_calls(w->g, v)[k]];
	}
	return sum;
}

static uint32_t kernels(const struct welder *w, uint32_t v)
{
	bool is = node_is_kernel(w->g, v);
	uint32_t sum = is;

	for (uint32_t k = 0; !is && k < w->g->node[v].n_called; k++)
		sum += w->kernels[node_calls(w->g, v)[k]];
	return sum;
}

static void add_up(struct welder *w, uint32_t c)
{
	const struct comp *comp = &w->g->comp[c];

	w->whole[c] = true;
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		w->whole[c] = w->whole[c] && may_be_inside(w, v);
		w->moves[c] += moved(w, v);
		w->kernels[c] += kernels(w, v);
	}
}

/* A control dependency would have to be carried to the call. */
static bool is_fit(const struct welder *w, uint32_t v)
{
	return !is_loose(w->g, v) && !is_given(w->g, v) && !(w->g->node[v].flags & NODE_CONTROL) &&
	       may_be_inside(w, v) && moved(w, v) <= w->how->most && kernels(w, v) <= KERNELS_MOST;
}

/*
 * Orders the computation so that rows are long: in even phases what is fit, in odd ones all else, each as soon as its
 * operands allow. Control dependencies bind as they stand, so where there are any, the order stays.
 */
static void order(struct welder *w, uint32_t c)
{
	const struct comp *comp = &w->g->comp[c];
	uint32_t *at = MEM_NEW(comp->n_nodes + 2, uint32_t), *out = w->order + comp->first;
	bool bound = false;

	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		uint32_t phase = 0;
		for (uint32_t k = 0; k < w->g->node[v].n_operands; k++) {
			uint32_t before = w->phase[node_operands(w->g, v)[k]];
			phase = before > phase ? before : phase;
		}
		if (!is_loose(w->g, v) && !is_given(w->g, v))
			phase += phase % 2 != !is_fit(w, v);
		w->phase[v] = phase;
		bound = bound || (w->g->node[v].flags & NODE_CONTROL);
	}
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
		at[(bound ? 0 : w->phase[v]) + 1]++;
	for (uint32_t p = 1; p < comp->n_nodes + 2; p++)
		at[p] += at[p - 1];
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
		out[at[bound ? 0 : w->phase[v]]++] = v;
	mem_free(at);
}

struct row { /* being made, of a computation's order */
	uint32_t from, to;
	double moves;
	uint32_t kernels;
};

static bool reads_row(const struct welder *w, uint32_t v, uint32_t row)
{
	bool reads = false;

	for (uint32_t k = 0; k < w->g->node[v].n_operands; k++)
		reads = reads || w->row[node_operands(w->g, v)[k]] == row;
	return reads;
}

static bool read_in_row(const struct welder *w, uint32_t v, uint32_t row)
{
	bool read = false;

	for (uint32_t k = 0; k < w->g->node[v].n_users; k++)
		read = read || w->row[node_users(w->g, v)[k]] == row;
	return read;
}

/*
 * Ends a row. What is loose and nobody in it reads goes behind it, all else that is no part of it before it. A row of
 * one kernel is none.
 */
static void end_row(struct welder *w, uint32_t *o, struct row *r)
{
	uint32_t *sorted = MEM_NEW(r->to - r->from + 1, uint32_t), n = 0, row = w->n_rows;
	bool *behind = MEM_NEW(r->to - r->from + 1, bool);

	for (uint32_t i = r->to; i-- > r->from;) {
		bool member = w->row[o[i]] == row;
		behind[i - r->from] = member && is_loose(w->g, o[i]) && !read_in_row(w, o[i], row);
		if (behind[i - r->from])
			w->row[o[i]] = NONE;
	}
	for (int part = 0; part < 3; part++)
		for (uint32_t i = r->from; i < r->to; i++)
			if ((behind[i - r->from] ? 2 : w->row[o[i]] == row) == part)
				sorted[n++] = o[i];
	memcpy(o + r->from, sorted, n * sizeof *sorted);
	for (uint32_t i = r->from; r->kernels < 2 && i < r->to; i++)
		w->row[o[i]] = NONE;
	if (r->kernels >= 2) {
		w->n_rows++;
		w->welded.into++;
		w->welded.kernels += r->kernels;
		w->welded.starts += (r->kernels - 1) * w->g->comp[w->g->node[o[r->from]].comp].trips;
	}
	mem_free(sorted);
	mem_free(behind);
	*r = (struct row){.from = r->to, .to = r->to};
}

static void find_rows(struct welder *w, uint32_t c)
{
	const struct comp *comp = &w->g->comp[c];
	uint32_t *o = w->order + comp->first;
	struct row r = {0};

	order(w, c);
	for (uint32_t i = 0; i < comp->n_nodes; i++) {
		uint32_t v = o[i], k = kernels(w, v);
		bool bound = w->g->node[v].flags & NODE_CONTROL, fit = is_fit(w, v);
		bool loose = (is_loose(w->g, v) || is_given(w->g, v)) && !bound;
		double bytes = fit ? moved(w, v) : 0;
		if ((!fit && !loose) || (fit && (r.moves + bytes > w->how->most || r.kernels + k > KERNELS_MOST)))
			end_row(w, o, &r);
		r.to = i + 1;
		if (fit || (loose && reads_row(w, v, w->n_rows)))
			w->row[v] = w->n_rows;
		if (!fit && !loose)
			r.from = i + 1;
		r.moves += bytes;
		r.kernels += fit ? k : 0;
	}
	end_row(w, o, &r);
}

/* What is called from outside of rows may have rows itself. */
static void want_called(struct welder *w, uint32_t c)
{
	const struct comp *comp = &w->g->comp[c];

	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		uint16_t op = w->g->node[v].opcode;
		bool controls = op == OP_WHILE || op == OP_CONDITIONAL || op == OP_CALL;
		for (uint32_t k = 0; controls && w->row[v] == NONE && k < w->g->node[v].n_called; k++)
			w->wanted[node_calls(w->g, v)[k]] = true;
	}
}

int weld(const void *module, size_t n, const struct welding *how, struct buf *out, struct welded *welded,
	struct err *err)
{
	struct graph g = {0};
	int rc = graph_parse(&g, module, n, "the program to weld", err);
	struct welder w = {.g = &g, .how = how};

	if (rc == 0) {
		w.whole = ARENA_NEW(&g.mem, g.n_comps, bool);
		w.moves = ARENA_NEW(&g.mem, g.n_comps, double);
		w.kernels = ARENA_NEW(&g.mem, g.n_comps, uint32_t);
		w.wanted = ARENA_NEW(&g.mem, g.n_comps, bool);
		w.phase = ARENA_NEW(&g.mem, g.n_nodes, uint32_t);
		w.order = ARENA_NEW(&g.mem, g.n_nodes, uint32_t);
		w.row = ARENA_NEW(&g.mem, g.n_nodes, uint32_t);
		memset(w.row, 0xff, g.n_nodes * sizeof *w.row);
		w.wanted[g.entry] = true;
		for (uint32_t c = 0; c < g.n_comps; c++)
			add_up(&w, c);
		for (uint32_t c = g.n_comps; c-- > 0;)
			if (w.wanted[c]) {
				find_rows(&w, c);
				want_called(&w, c);
			}
		if (w.n_rows)
			weld_write(&w, out);
	}
	*welded = w.welded;
	graph_release(&g);
	return rc;
}
