/*
 * parts.c - runs the program on several devices of this machine, and compares its outputs with those of one device.
 */
#include "search/parts.h"

#include <stdio.h>
#include "base/talk.h"
#include "device/backend.h"
#include "device/machine.h"
#include "graph/work.h"

#define PARTS_SECONDS 30.0
#define PARTS_RATE 1e10	   /* operations that a core does a second, as far as anybody can say beforehand */
#define PARTS_MEMORY 3 /* what goes in and comes out, on each device, and as much again for what is between */

/* Is there room for so many whole copies, and time? */
static bool has_room(const struct lab *lab, uint32_t devices, char *why, size_t n)
{
	const struct graph *g = &lab->subject.graph;
	const struct comp *c = &g->comp[g->entry];
	double bytes = (double)g->node[c->root].bytes, there = (double)machine_available(), work;
	char time[32];

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		bytes += g->node[v].opcode == OP_PARAMETER ? (double)g->node[v].bytes : 0;
	work = graph_operations(g) * devices / PARTS_RATE; /* the program as it was given is whole on each */
	if (work > PARTS_SECONDS) {
		snprintf(why, n,
			"Its numbers were not compared: one run as %u devices would take %s of a core of this machine. "
			"A smaller one of the same program, with the same decisions, is soon compared.",
			devices, talk_seconds(work, time, sizeof time));
		return false;
	}
	bytes *= PARTS_MEMORY * (double)devices;
	if (there <= 0 || bytes <= there / 2)
		return true;
	snprintf(why, n,
		"Its numbers were not compared: %u devices would take %.1f GiB of this machine's memory, which has "
		"%.1f GiB left.",
		devices, bytes / 0x1p30, there / 0x1p30);
	return false;
}

static int compare(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d, struct err *err)
{
	struct compiled side[2] = {{0}, {0}};
	const struct buf *original = &lab->subject.original;
	struct buf module = {0};
	struct numbers_job job = {.device = d, .space = lab->space, .original = original, .config = config,
		.own = &side[0], .tuned = &side[1], .seconds = PARTS_SECONDS};
	int rc = lab->space->ops->apply_whole(lab->space, config, &module, err);

	if (rc == 0)
		rc = device_compile(d, COMPILE_DEFAULT, "hlo", original->data, original->len, 0, &side[0], err);
	if (rc == 0 && side[0].outcome == OUTCOME_OK)
		rc = device_compile(d, COMPILE_DEFAULT, "hlo", module.data, module.len, 0, &side[1], err);
	if (rc == 0 && side[0].outcome != OUTCOME_OK)
		snprintf(v->compared, sizeof v->compared,
			"Its numbers were not compared: the program as it was given does not run here (%.200s).",
			side[0].detail);
	else if (rc == 0 && side[1].outcome != OUTCOME_OK)
		v->numbers = (struct numbers){.outcome = side[1].outcome};
	else if (rc == 0)
		rc = numbers_check(&v->numbers, &job, err);
	if (rc == 0 && v->numbers.outcome != OUTCOME_OK && !v->numbers.detail[0])
		snprintf(v->numbers.detail, sizeof v->numbers.detail, "%.300s", side[1].detail);
	for (int i = 0; i < 2; i++)
		compiled_release(&side[i]);
	buf_release(&module);
	return rc;
}

int parts_check(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	struct err *err)
{
	const struct space_ops *ops = lab->space->ops;
	uint32_t devices = spread_devices(o->spread);
	struct device_options here = *o;
	struct device *d;
	struct err why = {{0}};
	int rc;

	if (!ops->apply_whole || ops->prepares || !v->measured || v->outcome != OUTCOME_OK)
		return 0;
	if (o->parts_only) {
		snprintf(v->compared, sizeof v->compared, "Its numbers were not compared, as --unverified asks.");
		return 0;
	}
	if (!has_room(lab, devices, v->compared, sizeof v->compared))
		return 0;
	here.backend = backend_first();
	here.untimed = true;
	d = device_open(&here, &why);
	if (!d) {
		snprintf(v->compared, sizeof v->compared, "Its numbers were not compared: %.300s.", why.text);
		return 0;
	}
	talk("running what was found on this machine's cores, as %u devices, to compare its numbers", devices);
	rc = compare(v, lab, config, d, err);
	device_close(d);
	if (rc == 0)
		verdict_tell(v);
	return rc;
}
