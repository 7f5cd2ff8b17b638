/*
 * check_toy.c - the toy has the sizes that are asked for, a quadratic cost, true ties, and a known optimum.
 */
#include <math.h>
#include <stdlib.h>
#include "base/stat.h"
#include "space/toy/toy.h"
#include "tests/test.h"
#include "tests/brute.h"

struct toy_case {
	struct buf module;
	struct graph graph;
	struct space *s;
};

/* Fills the case in place, because its space points to the graph inside it. */
static void open_case(struct toy_case *c, uint32_t sites, uint32_t choices, uint64_t seed)
{
	struct toy_spec spec = {sites, choices, seed};
	struct err err = {0};
	char kind[64];

	*c = (struct toy_case){0};
	toy_graph(&spec, &c->module);
	toy_kind_name(&spec, kind);
	if (graph_parse(&c->graph, c->module.data, c->module.len, "toy", &err) < 0 ||
		!(c->s = space_open(kind, "sim", &c->graph, NULL, 0, &err))) {
		printf("toy:%u:%u:%llu: %s\n", sites, choices, (unsigned long long)seed, err.text);
		exit(1);
	}
}

static void close_case(struct toy_case *c)
{
	space_free(c->s);
	graph_release(&c->graph);
	buf_release(&c->module);
}

static double cost(struct toy_case *c, const uint8_t *y)
{
	return c->s->ops->formula(c->s, y, QUANTITY_SECONDS);
}

static void names_are_parsed(void)
{
	static const struct {
		const char *name;
		int rc;
		uint32_t sites, choices;
		uint64_t seed;
	} table[] = {{"toy:", 0, 40, 3, 1}, {"toy:12", 0, 12, 3, 1}, {"toy:12:2", 0, 12, 2, 1},
		{"toy:12:2:9", 0, 12, 2, 9}, {"toy:0:2:9", -1, 0, 0, 0}, {"toy:12:1:9", -1, 0, 0, 0},
		{"toy:12:201:9", -1, 0, 0, 0}, {"toy:12:2:9:1", -1, 0, 0, 0}, {"toy:-1", -1, 0, 0, 0},
		{"toy:a", -1, 0, 0, 0}, {"toy::", -1, 0, 0, 0}, {"toy:99999999", -1, 0, 0, 0}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct toy_spec s = {0};
		int rc = toy_parse(table[i].name, &s, NULL);
		if (!CHECK_INT(rc, table[i].rc) || !CHECK_INT(s.sites, table[i].sites) ||
			!CHECK_INT(s.choices, table[i].choices) || !CHECK_INT(s.seed, table[i].seed))
			printf("\tname %s\n", table[i].name);
	}
}

static void graph_has_the_sites(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 7, 50, 1000, 22000};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct toy_case c;
		uint32_t n = sizes[i] > 1000 ? (uint32_t)test_cases((int)sizes[i]) : sizes[i];
		open_case(&c, n, 3, 11 + i);
		struct buf again = {0};
		struct toy_spec spec = {n, 3, 11 + i};
		CHECK_INT(c.s->n_sites, n);
		CHECK_INT(c.s->site[0].choices, 3);
		toy_graph(&spec, &again);
		CHECK(again.len == c.module.len && memcmp(again.data, c.module.data, again.len) == 0);
		buf_release(&again);
		close_case(&c);
	}
}

static void cost_is_positive_and_repeatable(void)
{
	struct toy_case c, d, e;
	open_case(&c, 300, 5, 3);
	open_case(&d, 300, 5, 3);
	open_case(&e, 300, 5, 4);
	uint8_t y[300];
	struct rng r;
	rng_seed(&r, 1);
	CHECK_INT(c.s->hash, d.s->hash);
	for (int k = 0; k < 100; k++) {
		space_random(c.s, rng_unit(&r), &r, y);
		CHECK(cost(&c, y) > 0);
		CHECK(cost(&c, y) == cost(&d, y));
		CHECK(cost(&c, y) != cost(&e, y));
	}
	close_case(&c);
	close_case(&d);
	close_case(&e);
}

/* Changing three sites changes the cost by single and pair effects alone. */
static void cost_is_quadratic(void)
{
	struct toy_case c;
	open_case(&c, 30, 3, 21);
	struct rng r;
	rng_seed(&r, 2);
	for (int k = 0; k < 300; k++) {
		uint8_t y[30], v[8][30];
		uint32_t i[3];
		double f[8];
		space_random(c.s, 0.5, &r, y);
		for (int j = 0; j < 3; j++)
			i[j] = (uint32_t)rng_below(&r, 30);
		if (i[0] == i[1] || i[1] == i[2] || i[0] == i[2])
			continue;
		for (int m = 0; m < 8; m++) {
			memcpy(v[m], y, 30);
			for (int j = 0; j < 3; j++)
				v[m][i[j]] = m >> j & 1 ? (uint8_t)((y[i[j]] + 1) % 3) : y[i[j]];
			f[m] = cost(&c, v[m]);
		}
		CHECK_NEAR(f[7] - f[6] - f[5] - f[3] + f[4] + f[2] + f[1] - f[0], 0, 1e-12 * f[0]);
	}
	close_case(&c);
}

/* Sites of a class, flipped alone from the plain configuration, cost the same. */
static void ties_are_true(void)
{
	struct toy_case c;
	open_case(&c, 400, 3, 5);
	uint8_t y[400] = {0};
	double *seen = MEM_NEW(c.s->n_ties, double), plain = cost(&c, y);
	uint32_t *members = MEM_NEW(c.s->n_ties, uint32_t), shared = 0;
	for (uint32_t i = 0; i < 400; i++) {
		const struct site *t = &c.s->site[i];
		double d;
		y[i] = 2;
		d = cost(&c, y) - plain;
		y[i] = 0;
		if (members[t->tie]++)
			CHECK_NEAR(d, seen[t->tie], 1e-9 * plain);
		seen[t->tie] = d;
	}
	for (uint32_t k = 0; k < c.s->n_ties; k++)
		shared += members[k] > 1 ? members[k] : 0;
	if (!CHECK(shared > 100)) /* repeated strands are what toys are made of */
		printf("\t%u of 400 sites share a class, %u classes\n", shared, c.s->n_ties);
	mem_free(seen);
	mem_free(members);
	close_case(&c);
}

static void few_sites_matter(void)
{
	struct toy_case c;
	open_case(&c, 1000, 2, 6);
	uint8_t y[1000] = {0};
	double d[1000], plain = cost(&c, y), top = 0, all = 0, p90;
	for (uint32_t i = 0; i < 1000; i++) {
		y[i] = 1;
		d[i] = fabs(cost(&c, y) - plain);
		y[i] = 0;
	}
	p90 = stat_quantile(d, 1000, 0.9);
	for (uint32_t i = 0; i < 1000; i++) {
		all += d[i];
		top += d[i] > p90 ? d[i] : 0;
	}
	if (!CHECK(top > 0.5 * all) || !CHECK(p90 > 4 * stat_median(d, 1000)))
		printf("\ttop tenth %g of %g; p90 %g, median %g\n", top, all, p90, stat_median(d, 1000));
	close_case(&c);
}

/* The default lies between plain and best, and brute force finds what no single flip improves. */
static void default_is_mildly_good(void)
{
	double better = 0;
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct toy_case c;
		open_case(&c, 9, 3, seed);
		uint8_t y[9] = {0}, dflt[9], best[9];
		double plain = cost(&c, y), least = brute_optimum(c.s, best);
		space_default(c.s, dflt);
		CHECK(least < plain && least <= cost(&c, dflt));
		better += cost(&c, dflt) / plain / 8;
		for (uint32_t i = 0; i < 9; i++)
			for (uint8_t k = 0; k < 3; k++) {
				memcpy(y, best, 9);
				y[i] = k;
				CHECK(cost(&c, y) >= least);
			}
		close_case(&c);
	}
	if (!CHECK(better < 1))
		printf("\tdefault is on average %g of plain\n", better);
}

/* Regions: one per connected place, the same key for the same change of terms, none for none. */
static void regions_are_places(void)
{
	struct toy_case c;
	open_case(&c, 400, 3, 5);
	struct regions none = {0}, one = {0}, other = {0};
	uint8_t a[400] = {0}, b[400] = {0};
	CHECK(c.s->ops->region(c.s, a, b, &none, NULL) == 0);
	CHECK_INT(none.n, 0);
	for (uint32_t i = 0; i < 400; i++)
		for (uint32_t j = i + 1; j < 400 && j < i + 40; j++) {
			if (c.s->site[i].tie != c.s->site[j].tie)
				continue;
			one.n = other.n = 0;
			b[i] = 1;
			c.s->ops->region(c.s, a, b, &one, NULL);
			b[i] = 0;
			b[j] = 1;
			c.s->ops->region(c.s, a, b, &other, NULL);
			b[j] = 0;
			CHECK(one.n == 1 && other.n == 1 && one.v[0].key[0] == other.v[0].key[0] &&
				one.v[0].key[1] == other.v[0].key[1]);
			b[i] = b[j] = 1;
			one.n = 0;
			c.s->ops->region(c.s, a, b, &one, NULL);
			CHECK(one.n == 1 || one.n == 2);
			b[i] = b[j] = 0;
		}
	memset(b, 2, 400);
	one.n = 0;
	c.s->ops->region(c.s, a, b, &one, NULL);
	uint32_t nodes = 0;
	for (size_t k = 0; k < one.n; k++)
		nodes += one.v[k].n_nodes;
	CHECK_INT(nodes, 400);
	regions_release(&none);
	regions_release(&one);
	regions_release(&other);
	close_case(&c);
}

static void touched_is_where_context_differs(void)
{
	struct toy_case c;
	open_case(&c, 100, 3, 9);
	uint8_t a[100], b[100];
	uint32_t changed[100], n_changed, *nodes = NULL;
	size_t n, cap = 0;
	struct rng r;
	rng_seed(&r, 4);
	for (int k = 0; k < 50; k++) {
		space_random(c.s, 0.5, &r, a);
		memcpy(b, a, 100);
		n_changed = 0;
		for (uint32_t i = 100; i-- > 0;)
			if (rng_unit(&r) < 0.1 && (b[i] = (uint8_t)rng_below(&r, 3)) != a[i])
				changed[n_changed++] = i;
		n = 0;
		c.s->ops->touched(c.s, a, b, changed, n_changed, &nodes, &n, &cap);
		for (uint32_t v = 0, at = 0; v < c.graph.n_nodes; v++) {
			float x[CTX_COUNT], y[CTX_COUNT];
			bool listed = at < n && nodes[at] == v;
			c.s->ops->context(c.s, a, &v, 1, x);
			c.s->ops->context(c.s, b, &v, 1, y);
			CHECK(listed || memcmp(x, y, sizeof x) == 0);
			at += listed;
		}
		CHECK_INT(n, n_changed);
	}
	mem_free(nodes);
	close_case(&c);
}

int main(void)
{
	RUN(names_are_parsed);
	RUN(graph_has_the_sites);
	RUN(cost_is_positive_and_repeatable);
	RUN(cost_is_quadratic);
	RUN(ties_are_true);
	RUN(few_sites_matter);
	RUN(default_is_mildly_good);
	RUN(regions_are_places);
	RUN(touched_is_where_context_differs);
	return test_done();
}
