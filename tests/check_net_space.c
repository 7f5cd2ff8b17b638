/*
 * check_net_space.c - nets as decisions: what a tally keeps up to date is what an answer is worth; a configuration
 * that is not allowed costs more than one that is; pieces are parts of the whole; a learner sees no units.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "learn/train.h"
#include "space/net/net.h"
#include "space/net/tally.h"
#include "tests/made_space.h"
#include "tests/net_fixture.h"
#include "tests/test.h"

static const struct net_shape shapes[] = {
	{.nodes = 12, .edges = 30, .choices = 5, .tightness = 30, .size = 50},
	{.nodes = 40, .edges = 60, .choices = 4, .tightness = 20, .never = 10, .size = 1000, .negative = true},
	{.nodes = 60, .edges = 20, .choices = 9, .size = 100000},
	{.nodes = 1, .choices = 3, .tightness = 1, .size = 9},
};

static void sums_agree(void)
{
	struct rng r;

	rng_seed(&r, 5);
	for (size_t k = 0; k < sizeof shapes / sizeof *shapes * 8; k++) {
		struct buf text = {0};
		struct network net;
		struct tally t;
		net_random(&text, &shapes[k / 8], &r);
		if (!CHECK_INT(network_parse(&net, text.data, text.len, NULL), 0))
			continue;
		uint32_t *x = MEM_NEW(net.n_nodes + 1, uint32_t);
		tally_init(&t, &net);
		for (int i = 0; i < 60; i++) {
			double density = i % 7 ? 0.05 : 1; /* near, and anew */
			for (uint32_t v = 0; v < net.n_nodes; v++)
				if (rng_unit(&r) < density)
					x[v] = (uint32_t)rng_below(&r, network_choices(&net, v));
			struct network_value v = network_value(&net, x);
			tally_set(&t, x);
			CHECK(t.never == v.never && t.over == v.over);
			CHECK(v.never || t.cost == v.cost);
			CHECK(v.peak_time == INT64_MIN ? tally_peak(&t, NULL) == 0 : tally_peak(&t, NULL) == v.peak);
		}
		tally_release(&t);
		network_release(&net);
		buf_release(&text);
		mem_free(x);
	}
}

/* The kind's own search finds what costs less than the default, and a forbidden answer costs more than both. */
static void costs_are_in_order(void)
{
	struct graph g = {0};
	struct space *s = open_made(&net_kind, "net:80:5:3", &g);
	struct space_effort e = {.steps = 200, .jobs = 1, .seed = 1};
	uint8_t *dflt, *found, *most;
	double cost[3];

	if (!s)
		return;
	dflt = mem_alloc(s->n_sites), found = mem_alloc(s->n_sites), most = mem_alloc(s->n_sites);
	space_default(s, dflt);
	CHECK_INT(net_kind.solve(s, &e, found, NULL), 0);
	memset(most, 0, s->n_sites); /* choice 0 splits nothing: far too much memory */
	cost[0] = s->ops->formula(s, found, QUANTITY_FORMULA);
	cost[1] = s->ops->formula(s, dflt, QUANTITY_FORMULA);
	cost[2] = s->ops->formula(s, most, QUANTITY_FORMULA);
	if (!CHECK(cost[0] < cost[1] && cost[1] < cost[2]))
		printf("\t%g %g %g\n", cost[0], cost[1], cost[2]);
	CHECK(s->ops->formula(s, most, QUANTITY_BYTES) > s->ops->formula(s, dflt, QUANTITY_BYTES));
	mem_free(dflt), mem_free(found), mem_free(most);
	space_free(s);
	graph_release(&g);
}

static void pieces_are_parts(void)
{
	struct buf whole = {0}, part = {0};
	struct network net, piece;

	net_layered(200, 4, 7, &whole);
	if (!CHECK_INT(network_parse(&net, whole.data, whole.len, NULL), 0))
		return;
	net_cut(&net, 50, 3, &part);
	if (CHECK_INT(network_parse(&piece, part.data, part.len, NULL), 0)) {
		CHECK_INT(piece.n_nodes, 50);
		CHECK(piece.n_edges >= 49 && piece.n_edges < net.n_edges && piece.limited && piece.limit < net.limit);
		network_release(&piece);
	}
	network_release(&net);
	buf_release(&whole);
	buf_release(&part);
}

/* A problem of two nodes, with zeros put behind its costs. */
static bool open_priced(const char *zeros, struct space **s, struct graph *g)
{
	struct buf text = {0}, name = {0};
	char path[] = "/tmp/check_net_space.XXXXXX";
	int fd = mkstemp(path);

	buf_addf(&text, "{\"problem\":{\"name\":\"x\",\"nodes\":{\"intervals\":[[0,1],[0,1]],\"costs\":[[1%s,7%s],"
		"[5%s,2%s]],\"usages\":[[1,2],[3,4]]},\"edges\":{\"nodes\":[[0,1]],\"costs\":[[3%s,4%s,8%s,6%s]]},"
		"\"usage_limit\":9}}", zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros);
	bool written = fd >= 0 && write(fd, text.data, text.len) == (ssize_t)text.len;
	buf_addf(&name, "net:%s", path);
	*s = CHECK(written) ? open_made(&net_kind, name.data, g) : NULL;
	close(fd);
	unlink(path);
	buf_release(&text), buf_release(&name);
	return *s != NULL;
}

/* What a model learns of a problem does not depend on the unit of the problem's costs. */
static void units_do_not_matter(void)
{
	struct space *s[2] = {0};
	struct graph g[2] = {0};
	struct data d;

	data_init(&d, 1);
	d.quantity = QUANTITY_FORMULA;
	if (!open_priced("", &s[0], &g[0]) || !open_priced("000000", &s[1], &g[1]))
		return;
	for (int i = 0; i < 2; i++) {
		double times = i ? 1e6 : 1;
		uint8_t config[2] = {0, 1};
		struct sample x = {.site = 1};
		x.chosen = 1;
		x.n_choices = 2;
		x.choice[1].delta = -2 * times;
		data_sample(&d, data_graph(&d, "x", s[i]), config, &x);
	}
	data_finish(&d);
	if (CHECK_INT(d.n_examples, 4))
		for (int i = 0; i < 2; i++) {
			const struct example *a = &d.example[i], *b = &d.example[2 + i];
			struct target x = target_of(a->label, label_unit(&d, a, 1)),
				y = target_of(b->label, label_unit(&d, b, 1));
			CHECK(memcmp(a->flip, b->flip, FLIP_FEATURES * sizeof *a->flip) == 0);
			if (!CHECK(x.size > 0 && fabs(x.size - y.size) < 1e-9))
				printf("\t%g %g\n", x.size, y.size);
		}
	data_release(&d);
	for (int i = 0; i < 2; i++) {
		space_free(s[i]);
		graph_release(&g[i]);
	}
}

static void refuses(void)
{
	static const char *const table[][2] = {{"net:1:4:1", "2 to 100000 nodes"}, {"net:40:900:1", "2 to 255 choices"},
		{"net:cut:5", "net:cut:NODES:SEED:FILE"}, {"net:/nobody/here.json", "/nobody/here.json"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf module = {0};
		struct err err = {0};
		char kind[SPACE_KIND_ROOM];
		CHECK_INT(net_kind.make(table[i][0], &module, kind, &err), -1);
		if (!CHECK(strstr(err.text, table[i][1]) != NULL))
			printf("\t%s\n", err.text);
		buf_release(&module);
	}
}

int main(void)
{
	RUN(sums_agree);
	RUN(costs_are_in_order);
	RUN(pieces_are_parts);
	RUN(units_do_not_matter);
	RUN(refuses);
	return test_done();
}
