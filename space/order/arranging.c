/*
 * arranging.c - makes orders known to search and inspect, through space/arranging.h: it reads what the compiler says of
 * an order, and searches for a better one.
 *
 * The space has three bases (order.h). The configuration of all zeros is the compiler's own order. An order that was
 * read from the compiler becomes the second base; an order that a search found becomes the third.
 */
#include "base/mem.h"
#include "hlo/module.h"
#include "space/arranging.h"
#include "space/order/course.h"
#include "space/order/holders.h"
#include "space/order/order.h"
#include "space/order/own.h"
#include "space/order/strategy.h"
#include "space/order/write.h"

static const char *strategy(size_t i)
{
	return order_strategies[i].name;
}

/* Gives the program the orders of a configuration, and settles it (program.h). */
static struct program *in_order(struct space *s, const uint8_t *config)
{
	order_set(s, config);
	return order_program(s);
}

static int take(struct space *s, const void *proto, size_t n, uint8_t *config, struct err *err)
{
	struct arena mem = {0};
	Hlo__HloModuleProto *m = hlo_unpack(&mem, proto, n, "the arranged program", err);
	int rc = m ? order_read(order_program(s), m, NULL, NULL, err) : -1;

	arena_release(&mem);
	if (rc < 0)
		return -1;
	order_set_base(s, ORDER_DEPTH_FIRST);
	order_base_set(s, config, ORDER_DEPTH_FIRST);
	return 0;
}

static int look(struct space *s, const struct space_look *o, uint8_t *config, struct space_looked *out, struct err *err)
{
	const struct order_strategy *how = o->strategy ? order_strategy_find(o->strategy) : order_strategies;
	struct tune_options t = {.seconds = o->seconds, .moves = o->moves, .stop = o->stop, .progress = o->progress,
		.with = o->with};
	struct tune_result r = {0};
	struct rng rng;
	struct program *p;

	if (!how)
		return err_set(err, "--strategy %.60s is not for orders", o->strategy);
	if (o->other)
		t.other = order_base_orders(s, order_base_of(s, o->other));
	p = in_order(s, o->from);
	rng_seed(&rng, o->seed);
	if (how->run(p, &t, &rng, &r, err) < 0)
		return -1;
	*out = (struct space_looked){.moves = r.moves, .least = r.least, .proved = r.proved, .seconds = r.seconds};
	order_set_base(s, ORDER_FOUND);
	order_base_set(s, config, ORDER_FOUND);
	return 0;
}

static void untold(struct space *s)
{
	program_as_listed(order_program(s));
}

static void course(struct space *s, const uint8_t *config, struct space_course *out)
{
	const struct program *p = order_of_config(s, config);
	const struct course *c = &p->course[p->graph->entry];

	*out = (struct space_course){.n = c->line->n, .bytes = order_bytes(s, config)};
	out->alive = MEM_NEW(out->n + 1, uint64_t);
	for (uint32_t i = 0; i < out->n; i++)
		out->alive[i] = c->bytes[i];
}

static void find_holders(struct space *s, const uint8_t *config, struct holders *out)
{
	holders_find(out, in_order(s, config));
}

static void write_orders(struct space *s, const uint8_t *config, struct json *j, const char *name)
{
	const struct graph *g = s->graph;
	struct program *p = in_order(s, config);

	json_object(j, name);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		if (!program_line(p, c)->n)
			continue;
		json_array(j, g->comp[c].proto->name);
		for (uint32_t i = 0; i < program_line(p, c)->n; i++)
			json_str(j, NULL, g->node[g->comp[c].first + p->order[c][i]].proto->name);
		json_end(j);
	}
	json_end(j);
}

const struct space_arranging order_arranging = {
	.strategy = strategy,
	.figure = order_figure,
	.take = take,
	.look = look,
	.untold = untold,
	.course = course,
	.holders = find_holders,
	.write = write_orders,
};
