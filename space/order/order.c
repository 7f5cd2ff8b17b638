/*
 * order.c - implements the space of orders.
 *
 * What the learner sees of a node are facts about the compiler's own order, which no flip changes.
 */
#include "space/order/order.h"

#include <stdio.h>
#include <string.h>
#include "space/order/course.h"
#include "space/order/list.h"
#include "space/order/own.h"
#include "space/order/write.h"

static double formula(struct space *s, const uint8_t *config, enum quantity q)
{
	(void)q; /* this kind prices nothing but bytes */
	return (double)order_bytes(s, config);
}

static int apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)err;
	order_set(s, config);
	order_write(&order_of(s)->p, module);
	return 0;
}

/* The region is the whole program, because no smaller piece has the same peak. */
static int region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct region *r;

	if (memcmp(a, b, s->n_sites) == 0)
		return 0;
	MEM_GROW(&out->v, &out->cap, out->n + 1);
	r = &out->v[out->n++];
	*r = (struct region){.key = {config_hash(s, a), config_hash(s, b)}, .times = 1, .copies = 1,
		.n_nodes = s->graph->n_nodes};
	r->key[0] = hash_mix(r->key[0], s->hash);
	r->key[1] = hash_mix(r->key[1], s->hash);
	return apply(s, a, &r->a, err) < 0 || apply(s, b, &r->b, err) < 0 ? -1 : 0;
}

static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n, struct check_result *out,
	struct err *err)
{
	struct order *o = order_of(s);
	struct graph g = {0};
	uint32_t same = 0, all = 0;
	struct err said = {0};

	if (graph_parse(&g, optimised, n, "the compiled program", err) < 0)
		return -1;
	order_set(s, config);
	*out = (struct check_result){0};
	order_forget(o);
	if (order_read(&o->p, g.module, &same, &all, &said) < 0)
		snprintf(out->detail, sizeof out->detail, "%.230s", said.text);
	else if (same < all)
		snprintf(out->detail, sizeof out->detail, "%u of %u instructions do not run where they were put",
			all - same, all);
	for (uint32_t c = 0; c < s->graph->n_comps; c++)
		out->asked += program_line(&o->p, c)->n;
	out->found = all;
	out->equal = same;
	graph_release(&g);
	return 0;
}

static const struct space_feature context_features[] = {
	{"place", "share of the computation that stands before it in the compiler's order", SCALE_PLAIN},
	{"peak", "how far from where most memory is needed, in shares of the computation", SCALE_PLAIN},
	{"life", "how long what it makes is alive, summed, in shares of the computation", SCALE_PLAIN},
	{"alive", "bytes alive when it runs, in shares of the peak", SCALE_PLAIN},
	{"made", "bytes that it makes, in shares of the peak", SCALE_PLAIN},
	{"freed", "bytes that it reads last, in shares of the peak", SCALE_PLAIN},
};
static const struct space_features features = {.context = context_features,
	.n_context = sizeof context_features / sizeof *context_features};

static void context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	(void)config; /* all facts are about the compiler's order */
	for (uint32_t k = 0; k < n; k++) {
		const struct fact *f = &order_of(s)->fact[nodes[k]];
		*out++ = f->place;
		*out++ = f->peak;
		*out++ = f->life;
		*out++ = f->alive;
		*out++ = f->made;
		*out++ = f->freed;
	}
}

static int decode(struct space *s, const struct graph *after, struct buf *said, struct err *err)
{
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	char text[QUANTITY_TEXT];

	(void)after;
	(void)err;
	buf_addf(said, "%u instructions in the compiler's order, which needs %s by our model of its memory",
		s->graph->n_nodes, quantity_text(QUANTITY_BYTES, (double)order_bytes(s, config), text));
	mem_free(config);
	return 0;
}

static void summary(struct space *s, const uint8_t *config, struct buf *out)
{
	struct order *o = order_of(s);
	uint32_t moved = 0, all = 0;

	order_set(s, config);
	for (uint32_t c = 0; c < s->graph->n_comps; c++)
		for (uint32_t i = 0; i < program_line(&o->p, c)->n; i++, all++)
			moved += o->p.order[c][i] != o->base[ORDER_COMPILER][c][i];
	buf_addf(out, "%u of %u instructions elsewhere than the compiler has them", moved, all);
}

static void fill_compiler(struct space *s, uint8_t *config)
{
	order_base_set(s, config, ORDER_COMPILER);
}

static void fill_depth_first(struct space *s, uint8_t *config)
{
	order_base_set(s, config, ORDER_DEPTH_FIRST);
}

static const struct space_start starts[] = {{"compiler", fill_compiler}, {"depth-first", fill_depth_first}, {0}};

static void close_space(struct space *s)
{
	program_release(&order_of(s)->p);
}

static const struct space_ops order_ops = {
	.release = close_space,
	.kind = &order_kind,
	.apply = apply,
	.region = region,
	.check = check,
	.context = context,
	.touched = space_touched_sites,
	.formula = formula,
	.decode = decode,
	.undecided = "the order in which the program lists its instructions",
	.summary = summary,
	.starts = starts,
};

/* Does the node make or read a value that takes temporary memory? */
static bool is_site(const struct order *o, uint32_t v)
{
	const struct graph *g = o->p.graph;
	const struct line *l = &o->p.values.line[g->node[v].comp];
	uint32_t step = v - g->comp[g->node[v].comp].first;

	if (!l->n || opcode_facts(g->node[v].opcode)->class == CLASS_STRUCTURE)
		return false;
	for (uint32_t k = l->reads.first[step]; k < l->reads.first[step + 1]; k++)
		if (l->value[l->reads.item[k]].bytes)
			return true;
	for (uint32_t k = l->makes.first[step]; k < l->makes.first[step + 1]; k++)
		if (l->value[l->makes.item[k]].bytes)
			return true;
	return false;
}

static void find_sites(struct space *s)
{
	const struct graph *g = s->graph;
	struct order *o = order_of(s);
	uint32_t root = g->comp[g->entry].root;
	uint64_t *class;

	s->site_of = arena_alloc(&s->mem, (g->n_nodes + 1) * sizeof *s->site_of);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		s->site_of[v] = NONE;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (is_site(o, v) || v == root)
			s->site_of[v] = s->n_sites++;
	s->site = ARENA_NEW(&s->mem, s->n_sites + 1, struct site);
	class = MEM_NEW(s->n_sites, uint64_t);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (s->site_of[v] != NONE) {
			s->site[s->site_of[v]] = (struct site){.node = v, .choices = v == root ? ORDER_BASES
				: ORDER_CHOICES};
			class[s->site_of[v]] = v; /* no two sites are tied, because their places in the order differ */
		}
	o->base_site = s->site_of[root];
	for (uint32_t c = 0, i = 0; c <= g->n_comps; c++) {
		while (i < s->n_sites && (c == g->n_comps || s->site[i].node < g->comp[c].first))
			i++;
		o->first_site[c] = i;
	}
	space_tie(s, class);
	mem_free(class);
}

static void find_facts(struct space *s, uint32_t comp)
{
	struct order *o = order_of(s);
	const struct line *l = program_line(&o->p, comp);
	struct course c;
	double peak;
	uint32_t worst;

	course_init(&c, l, o->p.order[comp]);
	peak = course_peak(&c) ? (double)course_peak(&c) : 1;
	worst = course_where(&c, course_peak(&c));
	for (uint32_t v = 0; v < l->n; v++) {
		struct fact *f = &o->fact[s->graph->comp[comp].first + v];
		double n = l->n, at = c.place[v];
		f->place = (float)(at / n);
		f->alive = (float)((double)c.bytes[c.place[v]] / peak);
		f->peak = (float)((at > worst ? at - worst : worst - at) / n);
		for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++) {
			uint32_t x = l->makes.item[k];
			f->made += (float)((double)l->value[x].bytes / peak);
			f->life += (float)((c.place[c.last[x]] - at) / n);
		}
		for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++)
			if (c.last[l->reads.item[k]] == v)
				f->freed += (float)((double)l->value[l->reads.item[k]].bytes / peak);
	}
	course_release(&c);
}

static void set_bases(struct space *s)
{
	struct order *o = order_of(s);
	const struct graph *g = s->graph;

	for (int b = 0; b < ORDER_BASES; b++) {
		o->base[b] = ARENA_NEW(&s->mem, g->n_comps, uint32_t *);
		for (uint32_t c = 0; c < g->n_comps; c++)
			o->base[b][c] = ARENA_NEW(&s->mem, program_line(&o->p, c)->n, uint32_t);
		program_copy_orders(&o->p, o->base[b], o->p.order);
	}
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (program_line(&o->p, c)->n)
			list_depth_first(program_line(&o->p, c), o->base[ORDER_DEPTH_FIRST][c]);
}

static int order_open(struct space *s, const char *backend, struct err *err)
{
	struct order *o = ARENA_NEW(&s->mem, 1, struct order);
	uint32_t most = 0;

	if (strcmp(s->kind, order_kind.name) != 0)
		return err_set(err, "there is no decision space called %.60s: \"%s\" takes nothing behind its name",
			s->kind, order_kind.name);
	s->ops = &order_ops;
	s->own = o;
	program_open_for(&o->p, s->graph, backend);
	for (uint32_t c = 0; c < s->graph->n_comps; c++)
		most = program_line(&o->p, c)->n > most ? program_line(&o->p, c)->n : most;
	o->shift = ARENA_NEW(&s->mem, most, double);
	o->made = ARENA_NEW(&s->mem, s->graph->n_comps, uint64_t);
	o->first_site = ARENA_NEW(&s->mem, s->graph->n_comps + 1, uint32_t);
	o->fact = ARENA_NEW(&s->mem, s->graph->n_nodes, struct fact);
	set_bases(s);
	find_sites(s);
	program_settle(&o->p);
	for (uint32_t c = 0; c < s->graph->n_comps; c++)
		if (program_line(&o->p, c)->n)
			find_facts(s, c);
	return 0;
}

static const struct space_price prices[] = {{QUANTITY_BYTES, PRICING_FORMULA}, {QUANTITY_SECONDS, PRICING_WHOLE},
	{QUANTITY_SECONDS, PRICING_NONE}};

const struct space_kind order_kind = {
	.name = "order",
	.forms = "order",
	.about = "in which order instructions run, for less memory",
	.choices = "A choice moves an instruction against the base order: 0 "
		"not at all, then by 2, 10 and 30 percent of its computation and all the way, odd numbers to the "
		"front, even ones to the back. That of the result says which base: 0 "
		"the compiler's own order, 1 depth first, 2 one that was found otherwise.",
	.prices = prices,
	.features = &features,
	.limits = "seconds:+2%",
	.open = order_open,
	.arranging = &order_arranging,
};
