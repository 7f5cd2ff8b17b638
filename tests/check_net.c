/*
 * check_net.c - nets: which files are read, which are refused, and what an answer costs.
 */
#include "space/net/network.h"
#include "tests/net_fixture.h"
#include "tests/test.h"

/* Two nodes of two choices, alive in [0, 5) and [3, 9), and one edge. */
#define NODES "\"nodes\": {\"intervals\": [[0, 5], [3, 9]], \"costs\": " \
	"[[1, 2], [10, 20]], \"usages\": [[4, 1], [3, 3]]}"
#define EDGES "\"edges\": {\"nodes\": [[0, 1]], \"costs\": [[100, 200, 300, 1000000000000000000]]}"
#define PROBLEM(inner) "{\"problem\": {\"name\": \"p\", " inner "}}"

static int parse(struct network *net, const char *text, struct err *err)
{
	return network_parse(net, text, strlen(text), err);
}

static void value_by_hand(void)
{
	static const struct {
		uint32_t x[2];
		int64_t cost, peak, peak_time, over;
		uint32_t never;
	} table[] = {{{0, 0}, 111, 7, 3, 1, 0}, {{0, 1}, 221, 7, 3, 1, 0}, {{1, 0}, 312, 4, 3, 0, 0},
		{{1, 1}, NET_NEVER + 22, 4, 3, 0, 1}};
	struct network net;
	struct err err = {0};

	CHECK_INT(parse(&net, PROBLEM(NODES ", " EDGES ", \"usage_limit\": 6"), &err), 0);
	CHECK_INT(net.n_nodes, 2);
	CHECK_INT(net.n_edges, 1);
	CHECK_INT(net.limit, 6);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct network_value v = network_value(&net, table[i].x);
		CHECK_INT(v.cost, table[i].cost);
		CHECK_INT(v.peak, table[i].peak);
		CHECK_INT(v.peak_time, table[i].peak_time);
		CHECK_INT(v.over, table[i].over);
		CHECK_INT(v.never, table[i].never);
		CHECK_INT(network_feasible(&net, &v), i == 2);
	}
	network_release(&net);
}

/*
 * A node that ends when another one begins is never in memory with it. Edges between the same two nodes add up, in
 * whichever direction they are written.
 */
static void intervals_and_edges(void)
{
	static const uint32_t x[2] = {1, 0};
	struct network net;
	struct err err = {0};
	struct network_value v;

	CHECK_INT(parse(&net, PROBLEM("\"nodes\": {\"intervals\": [[0, 5], [5, 9]], \"costs\": [[1, 2], [10, 20, 30]], "
		"\"usages\": [[4, 4], [3, 3, 3]]}, \"edges\": {\"nodes\": [[0, 1], [1, 0], [0, 0], [1]], \"costs\": "
		"[[1, 2, 3, 4, 5, 6], [100, 200, 300, 400, 500, 600], [7, 8, 9, 1000], [5000, 0, 0]]}"), &err), 0);
	CHECK_INT(net.n_edges, 2);
	v = network_value(&net, x);
	CHECK_INT(v.cost, 2 + 10 + 4 + 200 + 1000 + 5000);
	CHECK_INT(v.peak, 4);
	CHECK(network_feasible(&net, &v));
	network_release(&net);
}

/* A hundred thousand costs of nearly 2^63 each. */
static void sums_are_wide(void)
{
	struct buf text = {0};
	struct network net;
	struct err err = {0};
	uint32_t n = 100000, *x = MEM_NEW(n, uint32_t);
	char got[41];

	buf_adds(&text, "{\"problem\": {\"nodes\": {\"intervals\": [");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%s[0,9223372036854775807]", i ? "," : "");
	buf_adds(&text, "], \"costs\": [");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%s[-9223372036854775808]", i ? "," : "");
	buf_adds(&text, "], \"usages\": [");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%s[9223372036854775807]", i ? "," : "");
	buf_adds(&text, "]}, \"usage_limit\": 9223372036854775807}}");
	CHECK_INT(parse(&net, text.data, &err), 0);
	struct network_value v = network_value(&net, x);
	CHECK_STR(network_sum_text(v.cost, got), "-922337203685477580800000");
	CHECK_STR(network_sum_text(v.peak, got), "922337203685477580700000");
	CHECK(!network_feasible(&net, &v));
	network_release(&net);
	buf_release(&text);
	mem_free(x);
}

static void refuses(void)
{
	static const struct {
		const char *text, *why;
	} table[] = {{"{}", "line 1, byte 3: there is no \"problem\""},
		{PROBLEM("\"edges\": {}"), "the nodes lack costs"},
		{PROBLEM(NODES ", " NODES), "line 1, byte 148: the nodes' intervals is given twice"},
		{PROBLEM("\"nodes\": {\"intervals\": [[0]], \"costs\": [[1]], \"usages\": [[1]]}"),
			"node 0: an interval is two times, not 1"},
		{PROBLEM("\"nodes\": {\"intervals\": [[-1, 3]], \"costs\": [[1]], \"usages\": [[1]]}"),
			"node 0: a time below 0"},
		{PROBLEM("\"nodes\": {\"intervals\": [[0, 3]], \"costs\": [[]], \"usages\": [[]]}"),
			"node 0 has no choices"},
		{PROBLEM("\"nodes\": {\"intervals\": [[0, 3]], \"costs\": [[1]], \"usages\": [[1, 2]]}"),
			"node 0 has 1 costs but 2 usages"},
		{PROBLEM("\"nodes\": {\"intervals\": [[0, 3]], \"costs\": [[1], [2]], \"usages\": [[1], [2]]}"),
			"there are 2 nodes with costs, 1 with intervals, 2 with usages"},
		{PROBLEM(NODES ", \"edges\": {\"nodes\": [[0, 2]], \"costs\": [[1]]}"), "edge 0: there is no node 2"},
		{PROBLEM(NODES ", \"edges\": {\"nodes\": [[0, -1]], \"costs\": [[1]]}"), "edge 0: there is no node -1"},
		{PROBLEM(NODES ", \"edges\": {\"nodes\": [[0, 1]], \"costs\": [[1]]}"),
			"edge 0 has 1 costs where its nodes have 4 pairs of choices"},
		{PROBLEM(NODES ", \"edges\": {\"nodes\": [[0, 1]], \"costs\": []}"),
			"there are 1 edges with nodes, 0 with costs"},
		{PROBLEM(NODES ", \"edges\": {\"nodes\": [[]], \"costs\": [[1]]}"), "edge 0 has no nodes"},
		{PROBLEM(NODES ", \"edges\": {\"nodes\": [[0, 1]]}"), "the edges lack costs"},
		{PROBLEM("\"usage_limit\": 9223372036854775808"),
			"line 1, byte 42: 9223372036854775808 is not a whole number of 64 bits"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		struct network net;
		CHECK_INT(parse(&net, table[i].text, &err), -1);
		CHECK_STR(err.text, table[i].why);
		network_release(&net);
	}
}

static void written_and_read(void)
{
	struct rng r;

	rng_seed(&r, 3);
	for (int i = 0; i < 50; i++) {
		struct net_shape shape = {.nodes = 1 + (uint32_t)i % 9, .edges = (uint32_t)i % 20, .choices = 5,
			.never = 20,
			.tightness = i % 3 * 30, .size = (int64_t)1 << i, .negative = i % 2};
		struct buf text = {0}, again = {0}, answer = {0};
		struct network net, copy;
		struct err err = {0};
		uint32_t x[9], y[9];
		net_random(&text, &shape, &r);
		CHECK_INT(parse(&net, text.data, &err), 0);
		network_write(&net, &again);
		CHECK_INT(parse(&copy, again.data, &err), 0);
		CHECK_INT(copy.limited, net.limited);
		CHECK_INT(copy.n_edges, net.n_edges);
		for (uint32_t v = 0; v < net.n_nodes; v++)
			x[v] = (uint32_t)rng_below(&r, network_choices(&net, v));
		struct network_value a = network_value(&net, x), b = network_value(&copy, x);
		CHECK(a.cost == b.cost && a.peak == b.peak && a.never == b.never && a.over == b.over);
		network_write_answer(&net, x, &answer);
		CHECK_INT(net_read_answer(&copy, answer.data, answer.len, y, &err), 0);
		CHECK(memcmp(x, y, net.n_nodes * sizeof *x) == 0);
		network_release(&net);
		network_release(&copy);
		buf_release(&text);
		buf_release(&again);
		buf_release(&answer);
	}
}

static void answers_are_checked(void)
{
	static const struct {
		const char *text, *why;
	} table[] = {{"[0, 1]", NULL}, {"[0]", "the answer is for 1 nodes, the problem has 2"},
		{"[0, 2]", "line 1, byte 6: node 1 has no choice 2"},
		{"[-1, 0]", "line 1, byte 4: node 0 has no choice -1"},
		{"[0, 1, 0]", "line 1, byte 8: the answer is for more than the 2 nodes there are"},
		{"[0, 1] 3", "line 1, byte 8: '3' stands where the end should be"}};
	struct network net;
	struct err err = {0};

	CHECK_INT(parse(&net, PROBLEM(NODES), &err), 0);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		uint32_t x[2];
		CHECK_INT(net_read_answer(&net, table[i].text, strlen(table[i].text), x, &err), table[i].why ? -1 : 0);
		if (table[i].why)
			CHECK_STR(err.text, table[i].why);
	}
	network_release(&net);
}

int main(void)
{
	RUN(value_by_hand);
	RUN(intervals_and_edges);
	RUN(sums_are_wide);
	RUN(refuses);
	RUN(written_and_read);
	RUN(answers_are_checked);
	return test_done();
}
