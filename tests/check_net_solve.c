/*
 * check_net_solve.c - the solver of nets: on small ones its answer is the best of all.
 */
#include <stdlib.h>
#include "space/net/solve.h"
#include "tests/net_fixture.h"
#include "tests/test.h"

static void parse_or_exit(struct network *net, const struct buf *text)
{
	struct err err = {0};

	if (network_parse(net, text->data, text->len, &err) == 0)
		return;
	printf("FAIL: a random net: %s\n", err.text);
	exit(1);
}

/* Draws a network, and keeps its text. */
static void draw_net(struct network *net, struct buf *text, const struct net_shape *shape, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed);
	net_random(text, shape, &rng);
	parse_or_exit(net, text);
}

static void as_good_as_all(const struct net_shape *shape, uint64_t seed)
{
	struct network_options o = {.steps = 400, .jobs = 2, .seed = seed};
	struct network_result r;
	struct network net;
	struct buf text = {0};
	network_sum best = 0;

	draw_net(&net, &text, shape, seed);
	bool any = net_brute(&net, &best);
	network_solve(&net, &o, &r);
	struct network_value v = network_value(&net, r.choice);
	bool ok = CHECK_INT(r.found, any) && (!any || CHECK(r.value.cost == best)) && CHECK(v.cost == r.value.cost) &&
		CHECK(!r.found || network_feasible(&net, &v)) && CHECK(!r.hopeless || !any);
	if (!ok)
		printf("\tseed %llu, %u nodes: %lld, wanted %lld\n%s\n", (unsigned long long)seed, shape->nodes,
			(long long)r.value.cost, (long long)best, text.data);
	network_result_release(&r);
	network_release(&net);
	buf_release(&text);
}

static void small_nets(void)
{
	static const struct net_shape table[] = {{.nodes = 1, .choices = 5, .size = 9},
		{.nodes = 6, .edges = 8, .choices = 4, .size = 50}, {.nodes = 6, .edges = 8, .choices = 4, .size = 50,
		.tightness = 25},
		{.nodes = 7, .edges = 12, .choices = 4, .size = 1000, .tightness = 20, .never = 20},
		{.nodes = 8, .edges = 10, .choices = 3, .size = 1000, .tightness = 15, .never = 30, .tie = 60},
		{.nodes = 8, .edges = 20, .choices = 3, .size = 1000, .tightness = 20, .never = 10, .tie = 20,
		.negative = true},
		{.nodes = 7, .edges = 12, .choices = 4, .size = (int64_t)1 << 40, .tightness = 20, .never = 20,
		.negative = true},
		{.nodes = 8, .edges = 7, .choices = 3, .size = 1, .tightness = 20, .never = 50}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		for (uint64_t seed = 0; seed < (uint64_t)test_cases(25); seed++)
			as_good_as_all(&table[i], seed);
}

/* Costs of half of 2^62 each: sums leave 64 bits, and must not come back smaller. */
static void huge_costs(void)
{
	struct net_shape shape = {.nodes = 6, .edges = 9, .choices = 3, .tightness = 20, .size = NET_NEVER - 1};

	for (uint64_t seed = 0; seed < (uint64_t)test_cases(10); seed++) {
		struct network_options o = {.steps = 400, .jobs = 1};
		struct network_result r;
		struct network net;
		struct buf text = {0};
			network_sum best = 0;
		draw_net(&net, &text, &shape, seed);
		bool any = net_brute(&net, &best);
		network_solve(&net, &o, &r);
		CHECK_INT(r.found, any);
		CHECK(!any || (r.value.cost >= best && r.value.cost - best <= best / 1000000));
		network_result_release(&r);
		network_release(&net);
		buf_release(&text);
	}
}

/* Solves the same net several times: it takes as many steps and ends with the same answer each time. */
static void ends_the_same(const struct net_shape *shape, const struct network_options *o, int times, uint32_t walks)
{
	struct network net;
	struct buf text = {0};
	network_sum first = 0;

	draw_net(&net, &text, shape, o->seed);
	for (int i = 0; i < times; i++) {
		struct network_result r;
		network_solve(&net, o, &r);
		CHECK(r.found && !r.exact);
		CHECK_INT(r.steps, o->jobs * o->steps);
		if (walks)
			CHECK_INT(r.walks, walks);
		first = i ? first : r.value.cost;
		CHECK(r.value.cost == first);
		network_result_release(&r);
	}
	network_release(&net);
	buf_release(&text);
}

static void steps_decide(void)
{
	struct net_shape shape = {.nodes = 120, .edges = 280, .choices = 6, .size = 1000, .tightness = 14};
	struct network_options o = {.steps = (uint64_t)test_cases(100), .jobs = 3, .seed = 7};

	ends_the_same(&shape, &o, 1 + test_cases(2), 0);
}

/* One thread takes several walks in turns, and still the steps alone decide. */
static void one_thread_has_several_walks(void)
{
	struct net_shape shape = {.nodes = 30, .edges = 60, .choices = 5, .size = 1000, .tightness = 25};
	struct network_options o = {.steps = (uint64_t)test_cases(6000), .jobs = 1, .seed = 7};

	ends_the_same(&shape, &o, 2, o.steps >= 6000 ? 4 : 0);
}

#define KINDS 4 /* of choices in a net of kinds */

/*
 * Appends a net in which neighbours pay much unless they take choices of the same kind (the number modulo KINDS). Of
 * the kinds the last is the best for most nodes. With `only`, nodes have the choices of the last kind alone.
 */
static void net_of_kinds(struct buf *b, uint32_t nodes, uint32_t choices, bool only, uint64_t seed)
{
	static const uint64_t dear[KINDS] = {20, 17, 14, 6};
	struct buf pairs = {0}, ends = {0};
	struct rng rng;

	rng_seed(&rng, seed);
	buf_adds(b, "{\"problem\": {\"name\": \"kinds\", \"nodes\": {\"intervals\": [");
	for (uint32_t i = 0; i < nodes; i++)
		buf_addf(b, "%s[0,1]", i ? "," : "");
	buf_adds(b, "], \"costs\": [");
	for (uint32_t i = 0; i < nodes; i++) {
		buf_addf(b, "%s", i ? ",[" : "[");
		for (uint32_t k = 0, n = 0; k < choices; k++) {
			uint64_t cost = dear[k % KINDS] + rng_below(&rng, 20);
			if (!only || k % KINDS == KINDS - 1)
				buf_addf(b, "%s%llu", n++ ? "," : "", (unsigned long long)cost);
		}
		buf_addch(b, ']');
	}
	for (uint32_t i = 1; i < nodes; i++)
		for (uint32_t e = 0; e < 4; e++) {
			buf_addf(&ends, "%s[%u,%u]", ends.len ? "," : "", i, (uint32_t)rng_below(&rng, i));
			buf_addf(&pairs, "%s", pairs.len ? ",[" : "[");
			for (uint32_t k = 0, n = 0; k < choices * choices; k++) {
				uint32_t kind = k / choices % KINDS;
				uint64_t cost = rng_below(&rng, 10) + (kind == k % choices % KINDS ? 0 : 200);
				if (!only || (kind == KINDS - 1 && k % choices % KINDS == KINDS - 1))
					buf_addf(&pairs, "%s%llu", n++ ? "," : "", (unsigned long long)cost);
			}
			buf_addch(&pairs, ']');
		}
	buf_adds(b, "], \"usages\": [");
	for (uint32_t i = 0; i < nodes; i++) {
		buf_addf(b, "%s", i ? ",[" : "[");
		for (uint32_t k = 0; k < (only ? choices / KINDS : choices); k++)
			buf_addf(b, "%s%u", k ? "," : "", 1 + k / KINDS);
		buf_addch(b, ']');
	}
	buf_addf(b, "]}, \"edges\": {\"nodes\": [%s], \"costs\": [%s]}, \"usage_limit\": %u}}", ends.data, pairs.data,
		2 * nodes);
	buf_release(&pairs);
	buf_release(&ends);
}

/* An answer of another kind is found, though each change on the way there makes things much worse. */
static void large_decisions(void)
{
	for (uint64_t seed = 0; seed < (uint64_t)test_cases(4); seed++) {
		network_sum cost[2];
		for (int only = 0; only < 2; only++) {
			struct network_options o = {.steps = 60, .jobs = 1, .seed = seed};
			struct network_result r;
			struct network net;
			struct buf text = {0};
			net_of_kinds(&text, 150, 12, only, seed);
			parse_or_exit(&net, &text);
			network_solve(&net, &o, &r);
			CHECK(r.found);
			cost[only] = r.value.cost;
			network_result_release(&r);
			network_release(&net);
			buf_release(&text);
		}
		if (!CHECK(cost[0] <= cost[1] + cost[1] / 50))
			printf("\tseed %llu: %lld; with the best kind alone %lld\n", (unsigned long long)seed,
				(long long)cost[0], (long long)cost[1]);
	}
}

static void nothing_and_no_way(void)
{
	static const struct {
		const char *text;
		bool found, hopeless;
	} table[] = {{"{\"problem\": {\"nodes\": {\"intervals\": [], \"costs\": [], \"usages\": []}}}", true, false},
		{"{\"problem\": {\"nodes\": {\"intervals\": [[0, 1]], "
			"\"costs\": [[1e18, 1e18]], \"usages\": [[1, 1]]}}}", false, true},
		{"{\"problem\": {\"nodes\": {\"intervals\": [[0, 1]], \"costs\": [[1, "
			"2]], \"usages\": [[8, 9]]}, \"usage_limit\": 7}}", false, true},
		{"{\"problem\": {\"nodes\": {\"intervals\": [[1, 1]], \"costs\": [[1, "
			"2]], \"usages\": [[8, 9]]}, \"usage_limit\": 7}}", true, false}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct network_options o = {.steps = 20, .jobs = 1};
		struct network_result r;
		struct network net;
		struct err err = {0};
		CHECK_INT(network_parse(&net, table[i].text, strlen(table[i].text), &err), 0);
		network_solve(&net, &o, &r);
		if (!CHECK_INT(r.found, table[i].found) || !CHECK_INT(r.hopeless, table[i].hopeless))
			printf("\tof %s\n", table[i].text);
		network_result_release(&r);
		network_release(&net);
	}
}

static bool at_once(void)
{
	return true;
}

/* A solver that is stopped before it begins returns an answer. */
static void stops(void)
{
	static const char text[] = "{\"problem\": {\"nodes\": {\"intervals\": "
		"[[0, 1], [0, 1]], \"costs\": [[1, 2], [2, 1]], \"usages\": [[5, 1], [5, 1]]}, \"usage_limit\": 7}}";
	struct network_options o = {.seconds = 3600, .stop = at_once};
	struct network_result r;
	struct network net;
	struct err err = {0};

	CHECK_INT(network_parse(&net, text, strlen(text), &err), 0);
	network_solve(&net, &o, &r);
	CHECK(!r.found);
	network_result_release(&r);
	network_release(&net);
}

int main(void)
{
	RUN(small_nets);
	RUN(huge_costs);
	RUN(steps_decide);
	RUN(one_thread_has_several_walks);
	RUN(large_decisions);
	RUN(nothing_and_no_way);
	RUN(stops);
	return test_done();
}
