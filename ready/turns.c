/*
 * turns.c - runs a program to count what its text does not say: the turns of its loops.
 *
 * All loops are counted by one program, because a large one takes as long to compile as the user's own. Its results
 * are read by comparing them with a program that returns as many zeros, so a device need only be able to compare
 * outputs. The inputs are those of every measurement.
 */
#include "ready/turns.h"

#include "graph/turns.h"

#define AT_ONCE 32u /* each count makes the states of all loops on its way wider */

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

/* Compares the counting program with zeros: turns[i] gets what they differ by; 0 if that cannot be told. */
static int compare_with_zeros(struct device *d, const struct buf module[2], double *turns, uint32_t n, struct err *err)
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
		turns[i] = c.output[i].max_abs;
	comparison_release(&c);
	for (int i = 0; i < 2; i++) {
		if (side[i].handle && rc == 0)
			rc = device_drop(d, &side[i], err);
		compiled_release(&side[i]);
	}
	return rc;
}

/* Counts the turns in all executions of each of these loops together; 0 if the program cannot tell. */
static int turns_in_all(struct device *d, const struct graph *g, const uint32_t *loop, uint32_t n, double *turns,
	struct err *err)
{
	struct buf module[2] = {{0}, {0}};
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		turns[i] = 0;
	if (turns_program(g, loop, n, &module[0])) {
		rc = write_zeros(n, &module[1], err);
		if (rc == 0)
			rc = compare_with_zeros(d, module, turns, n, err);
	}
	buf_release(&module[0]);
	buf_release(&module[1]);
	return rc;
}

/* Lists the next loops whose turns have to be counted, callers before callees, from node *below downwards. */
static uint32_t next_loops(const struct graph *g, uint32_t *below, uint32_t *loop)
{
	uint32_t n = 0;

	while (n < AT_ONCE && *below > 0) {
		uint32_t v = --*below;
		if (g->node[v].opcode == OP_WHILE && g->node[v].trip_count <= 0 && turns_countable(g, v))
			loop[n++] = v;
	}
	return n;
}

bool turns_unknown(const struct graph *g)
{
	uint32_t loop[AT_ONCE], below = g->n_nodes;

	return next_loops(g, &below, loop) > 0;
}

int count_turns(struct device *d, struct graph *g, bool *noted, struct err *err)
{
	uint32_t loop[AT_ONCE], below = g->n_nodes, n;
	double turns[AT_ONCE];

	*noted = false;
	if (device_info(d)->kind != COST_MEASURED || !device_info(d)->can_run)
		return 0;
	while ((n = next_loops(g, &below, loop)) > 0) {
		if (turns_in_all(d, g, loop, n, turns, err) < 0)
			return -1;
		for (uint32_t i = 0; i < n; i++) {
			double entered = turns_entered(g, loop[i]);
			if (entered <= 0 || turns[i] <= 0)
				continue;
			g->node[loop[i]].trip_count = turns[i] / entered;
			turns_note(g, loop[i], turns[i] / entered);
			*noted = true;
		}
	}
	return 0;
}
