/*
 * bases.c - the orders of a configuration: its choices become shifts of steps in its base (list.h).
 */
#include <string.h>
#include "space/order/list.h"
#include "space/order/own.h"

const double order_shift[ORDER_CHOICES] = {0, -0.02, 0.02, -0.1, 0.1, -0.3, 0.3, -2, 2};

void order_forget(struct order *o)
{
	o->is_set = false;
	memset(o->weighed, 0, sizeof o->weighed);
}

uint32_t order_base_site(const struct space *s)
{
	return order_of(s)->base_site;
}

enum order_base order_base_of(const struct space *s, const uint8_t *config)
{
	uint32_t site = order_base_site(s);

	return site == NONE ? ORDER_COMPILER : (enum order_base)config[site];
}

void order_set_base(struct space *s, enum order_base base)
{
	struct order *o = order_of(s);

	program_copy_orders(&o->p, o->base[base], o->p.order);
	order_forget(o);
}

uint32_t *const *order_base_orders(const struct space *s, enum order_base base)
{
	return order_of(s)->base[base];
}

static void set_comp(struct space *s, const uint8_t *config, uint32_t comp, uint32_t *const *base)
{
	struct order *o = order_of(s);
	const struct line *l = program_line(&o->p, comp);

	for (uint32_t v = 0; v < l->n; v++) {
		uint32_t site = s->site_of[s->graph->comp[comp].first + v];
		o->shift[v] = site == NONE || site == o->base_site ? 0 : order_shift[config[site]] * l->n;
	}
	list_shifted(l, base[comp], o->shift, o->p.order[comp]);
}

void order_set(struct space *s, const uint8_t *config)
{
	struct order *o = order_of(s);
	uint64_t hash = config_hash(s, config);
	uint32_t *const *base = o->base[order_base_of(s, config)];

	if (o->is_set && o->set == hash)
		return;
	for (uint32_t c = 0; c < s->graph->n_comps; c++)
		if (program_line(&o->p, c)->n)
			set_comp(s, config, c, base);
	program_settle(&o->p);
	o->set = hash;
	o->is_set = true;
}

const struct program *order_of_config(struct space *s, const uint8_t *config)
{
	order_set(s, config);
	return &order_of(s)->p;
}

uint64_t order_bytes(struct space *s, const uint8_t *config)
{
	struct order *o = order_of(s);
	uint64_t hash = config_hash(s, config), at = hash % ORDER_WEIGHED;

	if (!o->weighed[at].known || o->weighed[at].set != hash) {
		order_set(s, config);
		o->weighed[at].set = hash;
		o->weighed[at].bytes = program_bytes(&o->p);
		o->weighed[at].known = true;
	}
	return o->weighed[at].bytes;
}

struct program *order_program(struct space *s)
{
	struct order *o = order_of(s);

	order_forget(o); /* the caller may change it */
	return &o->p;
}

void order_base_set(const struct space *s, uint8_t *config, enum order_base base)
{
	memset(config, 0, s->n_sites);
	if (order_base_site(s) != NONE)
		config[order_base_site(s)] = (uint8_t)base;
}
