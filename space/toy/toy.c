/*
 * toy.c - a random quadratic cost over choices.
 *
 *	cost(y) = base + sum over sites i of u_i(y_i) + sum over edges (i, j) of w_ij(y_i, y_j)
 *
 * in seconds, over the operand edges between sites. Choice 0 is plain: u_i(0) = w_ij(0, .) =
 * w_ij(., 0) = 0. A term is a size times a taste. The size depends on the site's elements and opcode,
 * and is heavy-tailed as in real programs. The taste, between -1 and 1, is a hash of the opcodes and
 * choices, which is the same in all toys, plus a little of a hash of the seed. So what is learnt on one
 * toy holds in another, but not exactly. base makes every cost positive.
 *
 * A term depends only on what the site and its neighbours do by themselves. So sites with the same
 * neighbours, which are in one class, have the same terms.
 *
 * A toy has a second cost, in bytes, which depends on each site alone, so its optimum is known without a search. It
 * favours other choices than the seconds do. So tests can make one cost small within a limit on the other.
 *
 * A formula gives the cost (space_ops.formula); no device is needed. There are regions too, one for each
 * connected set of changed sites. Their modules are empty, because no small program costs what a toy's
 * term says. Their keys cover exactly the terms that change.
 */
#include "space/toy/toy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_PER_ELEMENT 1e-9
#define NOISE 0.3		/* how much the seed bends the taste that all toys share */
#define COUPLING 0.5		/* the weight of a pair, if that of a single site is 1 */
#define BYTES_SALT 0x6279746573 /* makes the taste in bytes differ from that in seconds */
#define LEAST_COST 0.1		/* the least cost, as a share of the sum of all sizes */

struct toy_edge {
	uint32_t a, b; /* sites: producer, consumer */
	double *w;     /* [choices * choices], of b fastest */
};

struct toy {
	uint32_t choices;
	uint64_t seed;
	double base;
	uint64_t *local; /* per node: a hash of what it does by itself */
	double *u;	 /* [n_sites * choices] */
	struct toy_edge *edge;
	uint32_t n_edges;
	uint32_t *first, *of; /* CSR: edges of each site, both directions */
	uint32_t *stack;      /* scratch: n_sites places */
	uint8_t *seen;	      /* scratch, all zero between calls */
};

static struct toy *toy_of(const struct space *s)
{
	return s->own;
}

static bool is_toy(const char *name)
{
	return strncmp(name, "toy:", 4) == 0;
}

/* Reads the numbers after "toy:", with ':' between them; returns how many, or -1. */
static int numbers(const char *name, uint64_t *v, int room)
{
	const char *p = name + 3;
	int n = 0;

	for (; *p == ':' && n < room; n++) {
		char *end;
		if (p[1] < '0' || p[1] > '9')
			return -1;
		v[n] = strtoull(p + 1, &end, 10);
		p = end;
	}
	return *p ? -1 : n;
}

int toy_parse(const char *name, struct toy_spec *spec, struct err *err)
{
	uint64_t v[3] = {40, 3, 1};

	if (!is_toy(name) || (strcmp(name, "toy:") != 0 && numbers(name, v, 3) < 0))
		return err_set(err, "%.100s is not of the form toy:SITES:CHOICES:SEED", name);
	if (v[0] < 1 || v[0] > TOY_SITES)
		return err_set(err, "%.100s: a toy has 1 to %d sites", name, TOY_SITES);
	if (v[1] < 2 || v[1] > TOY_CHOICES)
		return err_set(err, "%.100s: a site has 2 to %d choices", name, TOY_CHOICES);
	*spec = (struct toy_spec){(uint32_t)v[0], (uint32_t)v[1], v[2]};
	return 0;
}

void toy_kind_name(const struct toy_spec *spec, char *kind)
{
	snprintf(kind, SPACE_KIND_ROOM, "toy:%llu:%u", (unsigned long long)spec->seed, spec->choices);
}

/* A number in [-1, 1) from a hash. */
static double spread(uint64_t h)
{
	return (double)(h >> 11) * 0x1p-52 - 1;
}

/* A hash of the opcode's name: its number may change from one version to the next. */
static uint64_t opcode_hash(const struct graph *g, uint32_t v)
{
	const char *name = opcode_name(g->node[v].opcode);
	return hash64(name, strlen(name), 0);
}

static double size_of(const struct graph *g, uint32_t v)
{
	double weight = 1 + spread(hash_mix(opcode_hash(g, v), 0x77)) * 0.8;
	return SECONDS_PER_ELEMENT * (double)g->node[v].elements * weight;
}

static double taste(const struct toy *t, uint64_t opcodes, uint64_t own, uint32_t k, uint32_t l)
{
	double shared = spread(hash_mix(hash_mix(opcodes, k), l));
	double bent = spread(hash_mix(hash_mix(hash_mix(own, t->seed), k), l));
	return (1 - NOISE) * shared + NOISE * bent;
}

static void set_single(struct space *s, uint32_t site, double *low)
{
	struct toy *t = toy_of(s);
	uint32_t v = s->site[site].node;
	double *u = t->u + (size_t)site * t->choices, least = 0;

	for (uint32_t k = 1; k < t->choices; k++) {
		u[k] = size_of(s->graph, v) * taste(t, opcode_hash(s->graph, v), t->local[v], k, 0);
		least = u[k] < least ? u[k] : least;
	}
	*low += least;
}

static void set_pair(struct space *s, struct toy_edge *e, double *low)
{
	struct toy *t = toy_of(s);
	uint32_t a = s->site[e->a].node, b = s->site[e->b].node, n = t->choices;
	double sa = size_of(s->graph, a), sb = size_of(s->graph, b), least = 0;
	uint64_t opcodes = hash_mix(opcode_hash(s->graph, a), opcode_hash(s->graph, b));

	e->w = ARENA_NEW(&s->mem, n * n, double);
	for (uint32_t k = 1; k < n; k++)
		for (uint32_t l = 1; l < n; l++) {
			double w = COUPLING * (sa < sb ? sa : sb) *
				taste(t, opcodes, hash_mix(t->local[a], t->local[b]), k, l);
			e->w[k * n + l] = w;
			least = w < least ? w : least;
		}
	*low += least;
}

static void set_terms(struct space *s)
{
	struct toy *t = toy_of(s);
	double sizes = 0, low = 0;

	t->u = ARENA_NEW(&s->mem, (size_t)s->n_sites * t->choices, double);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		set_single(s, i, &low);
		sizes += size_of(s->graph, s->site[i].node);
	}
	for (uint32_t i = 0; i < t->n_edges; i++)
		set_pair(s, &t->edge[i], &low);
	t->base = LEAST_COST * sizes - low;
}

static bool is_site(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	return node_is_compiled(g, v) && n->dtype != DT_TUPLE && n->elements > 0 &&
		n->opcode != OP_PARAMETER && n->opcode != OP_CONSTANT;
}

static void find_sites(struct space *s)
{
	const struct graph *g = s->graph;
	struct toy *t = toy_of(s);

	s->site_of = arena_alloc(&s->mem, g->n_nodes * sizeof *s->site_of);
	t->local = arena_alloc(&s->mem, g->n_nodes * sizeof *t->local);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		t->local[v] = hash_mix(hash_mix(opcode_hash(g, v), n->dtype), n->elements);
		s->site_of[v] = is_site(g, v) ? s->n_sites++ : NONE;
	}
	s->site = ARENA_NEW(&s->mem, s->n_sites, struct site);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (s->site_of[v] != NONE)
			s->site[s->site_of[v]] = (struct site){.node = v, .choices = (uint8_t)t->choices};
}

/* Finds the edges between sites, and lists those of each site. */
static void find_edges(struct space *s)
{
	const struct graph *g = s->graph;
	struct toy *t = toy_of(s);

	t->edge = ARENA_NEW(&s->mem, g->n_edges, struct toy_edge);
	t->first = ARENA_NEW(&s->mem, s->n_sites + 2, uint32_t);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct node *n = &g->node[s->site[i].node];
		for (uint32_t k = 0; k < n->n_users; k++) {
			uint32_t j = s->site_of[g->users[n->user + k]];
			if (j == NONE)
				continue;
			t->edge[t->n_edges++] = (struct toy_edge){.a = i, .b = j};
			t->first[i + 2]++;
			t->first[j + 2]++;
		}
	}
	for (uint32_t i = 2; i < s->n_sites + 2; i++)
		t->first[i] += t->first[i - 1];
	t->of = ARENA_NEW(&s->mem, 2 * (size_t)t->n_edges, uint32_t);
	for (uint32_t e = 0; e < t->n_edges; e++) {
		t->of[t->first[t->edge[e].a + 1]++] = e;
		t->of[t->first[t->edge[e].b + 1]++] = e;
	}
}

static uint64_t neighbourhood(const struct space *s, uint32_t v)
{
	const struct graph *g = s->graph;
	const struct toy *t = toy_of(s);
	uint64_t h = t->local[v], users = 0;

	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		h = hash_mix(h, t->local[node_operands(g, v)[k]]);
	for (uint32_t k = 0; k < g->node[v].n_users; k++)
		users += hash_mix(0x75, t->local[node_users(g, v)[k]]);
	return hash_mix(h, users);
}

/* Half of the classes default to the best choice of the site alone, the others to 0. */
static uint8_t default_choice(const struct space *s, uint32_t site, uint64_t class)
{
	const struct toy *t = toy_of(s);
	const double *u = t->u + (size_t)site * t->choices;
	uint8_t best = 0;

	for (uint8_t k = 1; k < t->choices; k++)
		best = u[k] < u[best] ? k : best;
	return hash_mix(class, t->seed) & 1 ? best : 0;
}

static void set_ties(struct space *s)
{
	uint64_t *class = MEM_NEW(s->n_sites, uint64_t);

	for (uint32_t i = 0; i < s->n_sites; i++) {
		class[i] = neighbourhood(s, s->site[i].node);
		s->site[i].dflt = default_choice(s, i, class[i]);
	}
	space_tie(s, class);
	mem_free(class);
}

/* Single sites only: up to twice the elements of each, by a hash of what it is and of its choice. */
static double bytes_of(const struct space *s, const uint8_t *y)
{
	const struct toy *t = toy_of(s);
	double bytes = 0;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint32_t v = s->site[i].node;
		double taste_of_it = spread(hash_mix(hash_mix(t->local[v], t->seed), y[i] + BYTES_SALT));
		bytes += floor((double)s->graph->node[v].elements * (1 + taste_of_it));
	}
	return bytes;
}

static double formula(struct space *s, const uint8_t *y, enum quantity q)
{
	const struct toy *t = toy_of(s);
	double cost = t->base;

	if (q == QUANTITY_BYTES)
		return bytes_of(s, y);

	for (uint32_t i = 0; i < s->n_sites; i++)
		cost += t->u[(size_t)i * t->choices + y[i]];
	for (uint32_t e = 0; e < t->n_edges; e++) {
		const struct toy_edge *x = &t->edge[e];
		cost += x->w[y[x->a] * t->choices + y[x->b]];
	}
	return cost;
}

static int apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)config;
	(void)err;
	graph_write(s->graph, module);
	return 0;
}

/* The hash of the terms of one edge in one configuration. */
static uint64_t edge_key(const struct space *s, const struct toy_edge *e, const uint8_t *y)
{
	const struct toy *t = toy_of(s);
	uint64_t h = hash_mix(t->local[s->site[e->a].node], t->local[s->site[e->b].node]);
	return hash_mix(hash_mix(h, y[e->a]), y[e->b]);
}

/*
 * Makes the region around a changed site: this site and all changed sites connected with it. Keys are sums
 * of the terms' hashes, because terms have no order. An edge between two changed sites is met twice, and
 * counts from its producer.
 */
static void take_place(struct space *s, const uint8_t *a, const uint8_t *b, uint32_t site,
	struct region *out)
{
	struct toy *t = toy_of(s);
	uint32_t n = 0;

	*out = (struct region){.key = {hash_mix(t->seed, t->choices), hash_mix(t->seed, t->choices)},
		.times = 1, .copies = 1};
	t->stack[n++] = site;
	t->seen[site] = 1;
	while (n) {
		uint32_t i = t->stack[--n];
		uint64_t local = t->local[s->site[i].node];
		out->n_nodes++;
		out->key[0] += hash_mix(local, a[i]);
		out->key[1] += hash_mix(local, b[i]);
		for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++) {
			const struct toy_edge *e = &t->edge[t->of[k]];
			uint32_t j = e->a == i ? e->b : e->a;
			bool changed = a[j] != b[j];
			if (!changed || e->a == i) {
				out->key[0] += edge_key(s, e, a);
				out->key[1] += edge_key(s, e, b);
			}
			if (changed && !t->seen[j]) {
				t->seen[j] = 1;
				t->stack[n++] = j;
			}
		}
	}
}

static int region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct toy *t = toy_of(s);

	(void)err;
	for (uint32_t i = 0; i < s->n_sites; i++) {
		if (a[i] == b[i] || t->seen[i])
			continue;
		MEM_GROW(&out->v, &out->cap, out->n + 1);
		take_place(s, a, b, i, &out->v[out->n++]);
	}
	memset(t->seen, 0, s->n_sites);
	return 0;
}

/* The choices are always honoured, because no compiler is asked. */
static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n,
	struct check_result *out, struct err *err)
{
	(void)config;
	(void)optimised;
	(void)n;
	(void)err;
	*out = (struct check_result){.asked = s->n_sites, .found = s->n_sites, .equal = s->n_sites};
	return 0;
}

static const struct space_ops toy_ops = {
	.kind = &toy_kind,
	.apply = apply,
	.region = region,
	.check = check,
	.context = space_context_alone,
	.touched = space_touched_sites,
	.formula = formula,
	.undecided = "the space's own",
};

static int toy_open(struct space *s, const char *backend, struct err *err)
{
	uint64_t v[2] = {0, 2};
	struct toy *t;

	(void)backend;
	if (numbers(s->kind, v, 2) < 1 || v[1] < 2 || v[1] > TOY_CHOICES)
		return err_set(err, "the decision space %.60s is not of the form toy:SEED or toy:SEED:CHOICES "
			"with 2 to %d choices", s->kind, TOY_CHOICES);
	t = ARENA_NEW(&s->mem, 1, struct toy);
	t->seed = v[0];
	t->choices = (uint32_t)v[1];
	s->ops = &toy_ops;
	s->own = t;
	find_sites(s);
	find_edges(s);
	set_terms(s);
	set_ties(s);
	t->stack = ARENA_NEW(&s->mem, s->n_sites, uint32_t);
	t->seen = ARENA_NEW(&s->mem, s->n_sites, uint8_t);
	return 0;
}

static int make(const char *program, struct buf *module, char *kind, struct err *err)
{
	struct toy_spec spec;

	if (toy_parse(program, &spec, err) < 0)
		return -1;
	toy_kind_name(&spec, kind);
	toy_graph(&spec, module);
	return 0;
}

const struct space_kind toy_kind = {
	.name = "toy",
	.forms = "toy:SEED:CHOICES",
	.about = "a made-up problem, for tests",
	.prices = (const struct space_price[]){{QUANTITY_SECONDS, PRICING_FORMULA}, {QUANTITY_BYTES, PRICING_FORMULA},
	{0}},
	.open = toy_open,
	.make = make,
};
