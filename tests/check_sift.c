/*
 * check_sift.c - what else the places of a block could be: that a search asks by places, and whole programs decide.
 *
 * A concatenation takes as long as it has rows, and a product of the largest size so long that two of them are dearer
 * than one with its concatenation. Nothing is run: the device adds that up.
 */
#include <string.h>
#include "device/ops.h"
#include "search/hunt.h"
#include "search/scorer.h"
#include "tests/products_bed.h"

#define ROWS (16u << (PRODUCTS - 1)) /* of the largest product */
#define DEAR (ROWS + 100.0)	     /* what it takes, in units of a row */

struct adder {
	struct device d;
	double takes[4096];
	uint32_t n, wholes;
};

static int add_up(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err)
{
	struct adder *a = (struct adder *)d;
	double *takes = &a->takes[++a->n];
	struct graph g;

	(void)format, (void)want;
	CHECK(a->n < 4096 && graph_parse(&g, p, n, "module", err) == 0);
	*takes = 1000;
	for (uint32_t v = 0; v < g.n_nodes; v++)
		if (g.node[v].opcode == OP_CONCATENATE)
			*takes += (double)g.node[v].proto->shape->dimensions[0];
		else if (g.node[v].opcode == OP_DOT && g.node[v].proto->shape->dimensions[0] == ROWS)
			*takes += DEAR;
	graph_release(&g);
	a->wholes += how != COMPILE_REGION;
	out->handle = a->n;
	return 0;
}

static int drop(struct device *d, uint32_t handle, struct err *err)
{
	(void)d, (void)handle, (void)err;
	return 0;
}

static int subtract(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	const double *takes = ((struct adder *)d)->takes;

	(void)p, (void)err;
	*out = (struct timing){.delta = 1e-6 * (takes[b] - takes[a]), .delta_se = 1e-9, .seconds_a = 1e-6 * takes[a],
		.seconds_b = 1e-6 * takes[b], .pairs = 10, .ratio_se = 1e-6};
	out->ratio = (takes[b] - takes[a]) / takes[a];
	return 0;
}

static int run_alone(struct device *d, uint32_t a, const struct precision *p, struct timing *out, struct err *err)
{
	return subtract(d, a, a, p, out, err);
}

static int compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o, struct comparison *out,
	struct err *err)
{
	(void)d, (void)a, (void)b, (void)o, (void)out, (void)err;
	return 0;
}

struct search {
	struct adder device;
	struct space *s;
	struct lab lab;
	struct hunt h;
};

static bool begin(struct search *x, double seconds)
{
	static const struct device_ops ops = {.compile = add_up, .drop = drop, .pair = subtract, .run = run_alone,
		.compare = compare};
	const struct hunt_options o = {.budget = 100, .seed = 1, .alpha = 100, .adapt = true, .tied = true,
		.seconds = seconds, .part_known = true};
	struct scorer scorer;
	struct err err = {0};

	memset(x, 0, sizeof *x);
	x->device.d.ops = &ops;
	x->s = open_space(PRODUCTS);
	x->lab = (struct lab){.space = x->s,
		.cost = cost_new(x->s, &x->device.d, &(struct cost_options){.part_seconds = -1}, &err)};
	if (!CHECK(x->lab.cost))
		return false;
	scorer = scorer_of_space(x->s);
	hunt_prepare(&x->h, &o, &x->lab);
	x->h.default_seconds = 1e-2;
	hunt_stand(&x->h, &scorer);
	return true;
}

static void end(struct search *x)
{
	hunt_release(&x->h);
	cost_free(x->lab.cost);
	close_space(x->s);
}

/* The first candidate is a block of all, which is kept. Then each product is asked for, and the dear one is refused. */
static void a_block_is_sifted(void)
{
	struct err err = {0};
	struct search x;
	uint32_t wholes;

	if (!begin(&x, 3600))
		return;
	CHECK_INT(hunt_next(&x.h, &err), 1);
	CHECK_INT(x.h.kept, 1);
	for (uint32_t i = 0; i < PRODUCTS; i++)
		CHECK_INT(x.h.config[i], 1);
	wholes = x.device.wholes;
	for (uint32_t i = 0; i < PRODUCTS; i++) {
		CHECK_INT(hunt_next(&x.h, &err), 1);
		CHECK_INT(x.h.kept, 1); /* an answer alone changes nothing */
	}
	CHECK_INT(x.device.wholes, wholes);
	CHECK_INT(x.h.evaluations, 1 + PRODUCTS);
	CHECK_INT(hunt_next(&x.h, &err), 1);
	CHECK(x.device.wholes > wholes);
	CHECK_INT(x.h.kept, 2);
	for (uint32_t i = 0; i < PRODUCTS; i++)
		CHECK_INT(x.h.config[i], graph.node[x.s->site[i].node].proto->shape->dimensions[0] != ROWS);
	CHECK_INT(hunt_next(&x.h, &err), 1); /* it is over: another block is tried */
	CHECK(!hunt_asks(&x.h));
	end(&x);
}

/* Without a clock nothing is asked, so that the same evaluations follow whenever a search is taken up again. */
static void a_search_by_evaluations_asks_nothing(void)
{
	struct err err = {0};
	struct search x;

	if (!begin(&x, 0))
		return;
	for (int i = 0; i < 2; i++)
		CHECK_INT(hunt_next(&x.h, &err), 1);
	CHECK_INT(x.h.kept, 1);
	CHECK(!x.h.sift);
	end(&x);
}

/* What stands is another configuration meanwhile: the answers are of no use. */
static void what_is_asked_of_another_configuration_is_dropped(void)
{
	struct err err = {0};
	struct search x;
	double seconds;

	if (!begin(&x, 3600))
		return;
	for (int i = 0; i < 3; i++)
		CHECK_INT(hunt_next(&x.h, &err), 1);
	x.h.hash++;
	CHECK_INT(hunt_offer_question(&x.h, &seconds, &err), 0);
	CHECK(!hunt_propose_sifted(&x.h));
	end(&x);
}

int main(void)
{
	RUN(a_block_is_sifted);
	RUN(a_search_by_evaluations_asks_nothing);
	RUN(what_is_asked_of_another_configuration_is_dropped);
	return test_done();
}
