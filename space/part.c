/*
 * part.c - the charge for a kernel: seconds of the device (schemas/backend.def) times the program's share.
 *
 * On XLA:CPU (bench/kernel) a kernel costs nothing beyond its region in programs of 15 to 19 kernels (-0.1 +- 0.1 us),
 * 0.31 us in one of 105, and 0.4 to 1.1 us in those of 195 to 637. In a loop only the first turn pays. The likely
 * cause: a kernel's code has left the caches by the time it runs again.
 */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "space/part.h"

/* A program of FEW_PARTS kernels pays nothing, one of MANY_PARTS pays all; between them the share grows evenly. */
#define FEW_PARTS 30
#define MANY_PARTS 230
#define MOST 0.5 /* of a run's time, that all charges together can be */

double part_seconds(const char *backend, enum cost_kind kind)
{
	static const struct {
		const char *name;
		double seconds;
	} known[] = {
#define BACKEND(opener, name, plugin, client, topology, env, region, traits, cost, part, fetch) {name, part},
#include "schemas/backend.def"
#undef BACKEND
	};

	if (kind != COST_MEASURED)
		return 0;
	if (strstr(backend, ".so"))
		return known[0].seconds;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, backend) == 0)
			return known[i].seconds;
	return 0;
}

/* Counts the kernels of a configuration that run: the values that it writes to memory, without mere renames. */
static uint32_t count_parts(struct space *s, const uint8_t *config)
{
	const struct graph *g = s->graph;
	uint32_t n = 0;

	if (s->ops->kind->features) /* its decisions start no kernels */
		return 0;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		float context[CTX_COUNT];
		if (opcode_is_idle(g->node[v].opcode) || g->comp[g->node[v].comp].trips == 0)
			continue;
		s->ops->context(s, config, &v, 1, context);
		n += context[CTX_KEPT] > 0;
	}
	return n;
}

static double default_parts(struct space *s)
{
	uint8_t *config = mem_alloc(s->n_sites + 1);
	double n;

	space_default(s, config);
	n = count_parts(s, config);
	mem_free(config);
	return n;
}

double part_most(struct space *s, double seconds)
{
	return MOST * seconds / fmax(default_parts(s), 1);
}

double part_share(struct space *s)
{
	double n = default_parts(s);

	return n <= FEW_PARTS ? 0 : n >= MANY_PARTS ? 1 : (n - FEW_PARTS) / (MANY_PARTS - FEW_PARTS);
}
