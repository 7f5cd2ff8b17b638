/*
 * turns.c - runs a program to count what its text does not say: the turns of its loops, and the runs of its branches.
 *
 * All are counted by one program, because a large one takes as long to compile as the user's own. So conditionals that
 * hold next to nothing of the program are no reason to count. The results are read by comparing them with a program
 * that returns as many zeros, so a device need only be able to compare outputs. The inputs are those of every
 * measurement.
 */
#include "ready/turns.h"

#include "graph/turns.h"

#define AT_ONCE 512u /* computations: each has a constant as long as there are counts */
#define WORTH 0.01   /* of the program's instructions, that a conditional's branches hold at least */

/* Writes a program that returns n zeros. */
static int write_zeros(uint32_t n, struct buf *out, struct err *err)
{
	struct buf text = {0};
	struct graph g;
	int rc;

	buf_adds(&text, "HloModule zeros\nENTRY main {\n  z = s32[] constant(0)\n  ROOT t = (");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%ss32[]", i ? ", " : "");
	buf_adds(&text, ") tuple(");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%sz", i ? ", " : "");
	buf_adds(&text, ")\n}\n");
	rc = graph_parse(&g, text.data, text.len, "zeros", err);
	if (rc == 0)
		graph_write(&g, out);
	graph_release(&g);
	buf_release(&text);
	return rc;
}

static int compile(struct device *d, const struct buf *module, struct compiled *out, struct err *err)
{
	return device_compile(d, COMPILE_APPLIED, "hlo", module->data, module->len, 0, out, err);
}

/* Compares the counting program with zeros: runs[i] gets what they differ by; it stays if that cannot be told. */
static int compare_with_zeros(struct device *d, const struct buf module[2], double *runs, uint32_t n, struct err *err)
{
	struct compiled side[2] = {{0}, {0}};
	struct comparison c = {0};
	bool told = true;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0 && told; i++) {
		rc = compile(d, &module[i], &side[i], err);
		told = rc == 0 && side[i].outcome == OUTCOME_OK;
	}
	if (told)
		rc = device_compare(d, &side[0], &side[1], NULL, &c, err);
	for (uint32_t i = 0; i < n && told && rc == 0 && c.outcome == OUTCOME_OK && i < c.n_outputs; i++)
		runs[i] = c.output[i].max_abs;
	comparison_release(&c);
	for (int i = 0; i < 2; i++) {
		if (side[i].handle && rc == 0)
			rc = device_drop(d, &side[i], err);
		compiled_release(&side[i]);
	}
	return rc;
}

/* Counts the runs of each of these computations; -1 if the program cannot tell. */
static int count_runs(struct device *d, const struct graph *g, const uint32_t *comp, uint32_t n, double *runs,
	struct err *err)
{
	struct buf module[2] = {{0}, {0}};
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		runs[i] = -1;
	if (turns_program(g, comp, n, &module[0])) {
		rc = write_zeros(n, &module[1], err);
		if (rc == 0)
			rc = compare_with_zeros(d, module, runs, n, err);
	}
	buf_release(&module[0]);
	buf_release(&module[1]);
	return rc;
}

/* How many of the computations that a node calls are to be counted: the body of a loop, all branches. */
static uint32_t counted_of(const struct node *v)
{
	return v->opcode == OP_WHILE ? 1 : v->n_called;
}

/* The instructions of each computation, with those of what it calls. */
static double *sizes(const struct graph *g)
{
	double *size = MEM_NEW(g->n_comps, double);

	for (uint32_t v = 0; v < g->n_nodes; v++) { /* callees first */
		size[g->node[v].comp]++;
		for (uint32_t k = 0; k < g->node[v].n_called; k++)
			size[g->node[v].comp] += size[node_calls(g, v)[k]];
	}
	return size;
}

/* Is it a loop or a conditional of which nothing is known and that can be counted? */
static bool unknown(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	if (n->opcode != OP_WHILE && n->opcode != OP_CONDITIONAL)
		return false;
	return (n->opcode == OP_WHILE ? n->trip_count : turns_noted(n->proto, 0)) < 0 && n->n_called <= AT_ONCE &&
	       turns_countable(g, node_calls(g, v)[0]);
}

static bool worth_counting(const struct graph *g, uint32_t v, const double *size)
{
	double inside = 0;

	for (uint32_t k = 0; k < g->node[v].n_called; k++)
		inside += size[node_calls(g, v)[k]];
	return g->node[v].opcode == OP_WHILE || inside >= WORTH * g->n_nodes;
}

struct counted {
	uint32_t node[AT_ONCE], n_nodes; /* loops and conditionals, */
	uint32_t comp[AT_ONCE], n;	 /* ... and what of them is counted, in the same order */
};

/* Lists what to count next, callers before callees, from node *below downwards. */
static void list_next(const struct graph *g, uint32_t *below, struct counted *c)
{
	c->n = c->n_nodes = 0;
	for (; *below > 0; --*below) {
		uint32_t v = *below - 1, n = counted_of(&g->node[v]);
		if (!unknown(g, v))
			continue;
		if (c->n + n > AT_ONCE)
			return;
		c->node[c->n_nodes++] = v;
		for (uint32_t k = 0; k < n; k++)
			c->comp[c->n++] = node_calls(g, v)[k];
	}
}

bool turns_unknown(const struct graph *g)
{
	double *size = sizes(g);
	bool any = false;

	for (uint32_t v = 0; v < g->n_nodes && !any; v++)
		any = unknown(g, v) && worth_counting(g, v, size);
	mem_free(size);
	return any;
}

/* Notes what one execution of each node does, from the runs in all of them. */
static bool note(struct graph *g, const struct counted *c, double *runs)
{
	bool noted = false;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		uint32_t v = c->node[i], n = counted_of(&g->node[v]);
		double entered = turns_entered(g, v);
		for (uint32_t k = 0; k < n && entered > 0; k++)
			runs[k] = runs[k] < 0 ? -1 : runs[k] / entered;
		if (entered > 0 && runs[0] >= 0) {
			if (g->node[v].opcode == OP_WHILE)
				g->node[v].trip_count = runs[0];
			turns_note(g, v, runs, n);
			noted = true;
		}
		runs += n;
	}
	return noted;
}

int count_turns(struct device *d, struct graph *g, bool *noted, struct err *err)
{
	uint32_t below = g->n_nodes;
	struct counted c;
	double runs[AT_ONCE];
	int rc = 0;

	*noted = false;
	if (device_info(d)->kind != COST_MEASURED || !device_info(d)->can_run || !turns_unknown(g))
		return 0;
	for (list_next(g, &below, &c); c.n > 0 && rc == 0; list_next(g, &below, &c)) {
		rc = count_runs(d, g, c.comp, c.n, runs, err);
		if (rc == 0 && note(g, &c, runs))
			*noted = true;
	}
	return rc;
}
