/*
 * bases.c - the orders of a configuration: its choices become shifts of steps in its base (list.h).
 */
#include <string.h>
#include "base/hash.h"
#include "space/order/list.h"
#include "space/order/own.h"

const double order_shift[ORDER_CHOICES] = {0, -0.02, 0.02, -0.1, 0.1, -0.3, 0.3, -2, 2};

void order_forget(struct order *o)
{
	o->is_set = false;
	memset(o->config, 0, sizeof o->config);
	memset(o->orders, 0, sizeof o->orders);
	memset(o->made, 0, o->p.graph->n_comps * sizeof *o->made);
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

/* Makes the order of a computation, unless it has been made of the same choices. */
static void set_comp(struct space *s, const uint8_t *config, uint32_t comp, enum order_base which)
{
	struct order *o = order_of(s);
	const struct line *l = program_line(&o->p, comp);
	uint32_t *const *base = o->base[which], first = o->first_site[comp], n = o->first_site[comp + 1] - first;
	uint64_t made = hash64(config + first, n, which) | 1;

	if (o->made[comp] == made)
		return;
	o->made[comp] = made;

	for (uint32_t v = 0; v < l->n; v++) {
		uint32_t site = s->site_of[s->graph->comp[comp].first + v];
		o->shift[v] = site == NONE || site == o->base_site ? 0 : order_shift[config[site]] * l->n;
	}
	list_shifted(l, base[comp], o->shift, o->p.order[comp]);
}

/* Gives the program the orders of a configuration, but does not settle it. */
static void make_orders(struct space *s, const uint8_t *config)
{
	enum order_base base = order_base_of(s, config);

	for (uint32_t c = 0; c < s->graph->n_comps; c++)
		if (program_line(&order_of(s)->p, c)->n)
			set_comp(s, config, c, base);
}

static uint64_t hash_of_orders(struct order *o)
{
	uint64_t h = 0;

	for (uint32_t c = 0; c < o->p.graph->n_comps; c++)
		h = hash64(o->p.order[c], program_line(&o->p, c)->n * sizeof **o->p.order, h);
	return h;
}

void order_set(struct space *s, const uint8_t *config)
{
	struct order *o = order_of(s);
	uint64_t hash = config_hash(s, config);

	if (o->is_set && o->set == hash)
		return;
	make_orders(s, config);
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
	uint64_t hash = config_hash(s, config), orders;
	struct weighed *w = &o->config[hash % ORDER_WEIGHED], *as;

	if (w->known && w->hash == hash)
		return w->bytes;
	if (!o->is_set || o->set != hash) {
		make_orders(s, config);
		o->is_set = false;
	}
	orders = hash_of_orders(o);
	as = &o->orders[orders % ORDER_WEIGHED];
	if (!as->known || as->hash != orders) {
		order_set(s, config);
		*as = (struct weighed){orders, program_bytes(&o->p), true};
	}
	*w = (struct weighed){hash, as->bytes, true};
	return w->bytes;
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
