/*
 * check_part.c - the charge for a kernel is one figure everywhere.
 *
 * A draw of `collect`, a step of `search` and the example that `learn` makes of a sample must have the same charge; the
 * store has the cost without it. The device is our performance model, pretending to measure.
 */
#include <math.h>
#include "collect/gibbs.h"
#include "lab/lab.h"
#include "device/ops.h"
#include "space/part.h"
#include "learn/data.h"
#include "tests/test.h"

#define PROGRAM "examples/graphs/held-out/graph-network.pb.zst" /* a large one: it pays all */
#define SITES 200

static void known_where_it_was_measured(void)
{
	CHECK(part_seconds("cpu", COST_MEASURED) > 0);
	CHECK(part_seconds("cpu", COST_ESTIMATED) == 0);
	CHECK(part_seconds("sim", COST_MODELLED) == 0);
	CHECK(part_seconds("sim", COST_MEASURED) == 0);
	CHECK(part_seconds("libwhatever.so", COST_MEASURED) == part_seconds("cpu", COST_MEASURED));
	CHECK(part_seconds("whatever", COST_MEASURED) == 0);
}

static struct device *open_as_cpu(struct err *err)
{
	struct device_options on = {.backend = "sim"};
	struct device *d = device_open(&on, err);

	if (d) {
		strcpy(d->info.backend, "cpu");
		d->info.kind = COST_MEASURED;
	}
	return d;
}

/* One sample of a site, seen by all three. */
static void one_site(struct lab *lab, struct cost *plain, struct data *data, uint32_t graph, uint32_t site,
	double each, uint32_t *charged)
{
	uint8_t *config = mem_alloc(lab->space->n_sites), *flip = mem_alloc(lab->space->n_sites);
	struct sample x = {0};
	struct estimate moved;
	struct err err = {0};
	struct delta d, without;
	const struct example *e;
	struct rng r;

	rng_seed(&r, site);
	space_default(lab->space, config);
	memcpy(flip, config, lab->space->n_sites);
	CHECK(gibbs_step(lab->cost, lab->space, config, site, 1e-3, &r, &x, &moved, &err) == 0);
	flip[site] = x.chosen;
	CHECK(cost_delta(lab->cost, config, flip, &d, &err) == 0 && cost_delta(plain, config, flip, &without,
		&err) == 0);
	CHECK_NEAR(d.seconds, without.seconds + each * d.parts, 1e-15);
	CHECK_NEAR(moved.value, d.seconds, 1e-15);
	CHECK_NEAR(x.choice[x.chosen].delta - x.choice[config[site]].delta, without.seconds, 1e-15);
	*charged += d.added != 0;
	data_sample(data, graph, config, &x);
	e = &data->example[data->n_examples - 1];
	while (e->from != config[site])
		e--;
	for (uint8_t i = 0; i < e->n_flips; i++)
		if (e->label[i].to == x.chosen)
			CHECK_NEAR(e->label[i].advantage, d.seconds, 1e-15);
	mem_free(config);
	mem_free(flip);
}

static void one_for_all(void)
{
	struct cost_options co = {0}, none = {.part_seconds = -1};
	struct err err = {0};
	struct device *d = open_as_cpu(&err);
	struct lab lab = {0};
	struct cost *plain;
	struct data data;
	double each;
	uint32_t graph, charged = 0;

	if (!CHECK(d && lab_open(&lab, PROGRAM, "fusion", d, &co, NULL, &err) == 0)) {
		printf("%s\n", err.text);
		return;
	}
	plain = cost_new(lab.space, d, &none, &err);
	each = part_seconds("cpu", COST_MEASURED) * part_share(lab.space);
	CHECK(each > 0 && cost_part(lab.cost) == each && cost_part(plain) == 0);
	/* twice as long a run leaves room for twice the charge, and a charge for each of its kernels for half of it */
	CHECK_NEAR(part_most(lab.space, 2e-3), 2 * part_most(lab.space, 1e-3), 1e-12);
	CHECK(part_most(lab.space, 1e-3) < 0.5e-3 / 230 && part_most(lab.space, 1e-3) > 0.5e-3 / lab.space->n_sites);
	data_init(&data, 1);
	data.part_seconds = part_seconds("cpu", COST_MEASURED);
	graph = data_graph(&data, "graph-network", lab.space);
	for (uint32_t site = 0; site < SITES; site++)
		one_site(&lab, plain, &data, graph, site, each, &charged);
	CHECK(charged > SITES / 10);
	data_release(&data);
	cost_free(plain);
	lab_release(&lab);
	device_close(d);
}

int main(void)
{
	RUN(known_where_it_was_measured);
	RUN(one_for_all);
	return test_done();
}
