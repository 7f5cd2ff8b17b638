/*
 * turns.c - runs a program to count what its text does not say: the turns of its loops.
 *
 * The count is the difference between the outputs of two programs: one adds 1 per turn, the other 0. So a device
 * need only be able to compare outputs. The inputs are those of every measurement.
 */
#include "ready/turns.h"

#include "graph/turns.h"

/* Counts the turns in all executions of a loop together; 0 if the program cannot tell. */
static int turns_in_all(struct device *d, const struct graph *g, uint32_t loop, double *turns, struct err *err)
{
	struct compiled side[2] = {{0}, {0}};
	struct comparison c = {0};
	struct buf module = {0};
	bool told = true;
	int rc = 0;

	*turns = 0;
	for (int step = 0; step < 2 && rc == 0 && told; step++) {
		buf_reset(&module);
		told = turns_program(g, loop, step, &module);
		if (told)
			rc = device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, 0, &side[step], err);
		told = told && rc == 0 && side[step].outcome == OUTCOME_OK;
	}
	if (told)
		rc = device_compare(d, &side[0], &side[1], NULL, &c, err);
	if (told && rc == 0 && c.outcome == OUTCOME_OK)
		*turns = c.all.max_abs;
	comparison_release(&c);
	for (int step = 0; step < 2; step++) {
		if (side[step].handle && rc == 0)
			rc = device_drop(d, &side[step], err);
		compiled_release(&side[step]);
	}
	buf_release(&module);
	return rc;
}

int count_turns(struct device *d, struct graph *g, bool *noted, struct err *err)
{
	double turns;

	*noted = false;
	if (device_info(d)->kind != COST_MEASURED)
		return 0;
	for (uint32_t v = g->n_nodes; v-- > 0;) { /* callers before callees */
		double entered = g->node[v].opcode == OP_WHILE && g->node[v].trip_count <= 0 ? turns_entered(g, v) : 0;
		if (entered <= 0)
			continue;
		if (turns_in_all(d, g, v, &turns, err) < 0)
			return -1;
		if (turns <= 0)
			continue;
		g->node[v].trip_count = turns / entered;
		turns_note(g, v, turns / entered);
		*noted = true;
	}
	return 0;
}
