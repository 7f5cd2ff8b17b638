/*
 * check_place.c - placement: which files are read and refused; costs are compared with those worked out by hand, moves
 * with a new sum, and answers to small problems with the best of all answers.
 */
#include "space/place/placing.h"
#include "space/place/standing_load.h"
#include "tests/test.h"

/* a -> b -> d, a -> c -> d; values cost 1, 2, 3 to transfer. */
#define NODE(id, fast, slow, color) "{\"id\": " id ", \"fpgaLatency\": " fast ", \"cpuLatency\": " slow ", " \
	"\"size\": 10" color "}"
#define DIAMOND(memory, color) "{\"maxSizePerFPGA\": " memory ", \"maxFPGAs\": 2, \"maxCPUs\": 1, \"nodes\": [" \
	NODE("7", "10", "100", "") ", " NODE("8", "20", "200", color) ", " NODE("9", "30", "300", "") ", " \
	NODE("3", "40", "400", color) "], \"edges\": [" \
	"{\"sourceId\": 7, \"destId\": 8, \"cost\": 1}, {\"sourceId\": 7, \"destId\": 9, \"cost\": 1}, " \
	"{\"sourceId\": 8, \"destId\": 3, \"cost\": 2}, {\"sourceId\": 9, \"destId\": 3, \"cost\": 3}]}"

static int parse(struct place *p, const char *text, struct err *err)
{
	return place_parse(p, text, strlen(text), err);
}

static void by_hand(void)
{
	/* Of a, b, c, d; 2 is the processor. The load and the latency of each follow below. */
	static const uint32_t device[][4] = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 0, 1}, {2, 0, 0, 0}, {2, 2, 2, 2},
		{0, 1, 0, 0}};
	struct place p;
	struct err err = {0};

	CHECK_INT(parse(&p, DIAMOND("100", ""), &err), 0);
	CHECK_INT(p.n_groups, 4);
	CHECK_NEAR(place_load(&p, device[0]), 100, 1e-9);
	CHECK_NEAR(place_latency(&p, device[0]), 100, 1e-9);
	CHECK_NEAR(place_load(&p, device[1]), 30 + 40 + 1 + 2, 1e-9);
	/* The first piece: 30 + 1 + 2 out; the second waits for it, reads 1 and 2, computes 70. */
	CHECK_NEAR(place_latency(&p, device[1]), 33 + 73, 1e-9);
	/* Both accelerators hold a value the other reads: 10 + 30 + 1 + 3, and 20 + 40 + 1 + 3. */
	CHECK_NEAR(place_load(&p, device[2]), 64, 1e-9);
	CHECK_NEAR(place_latency(&p, device[2]), 44 + 64, 1e-9);
	CHECK_NEAR(place_load(&p, device[3]), 100, 1e-9);
	CHECK_NEAR(place_latency(&p, device[3]), 191, 1e-9);
	CHECK_NEAR(place_load(&p, device[4]), 1000, 1e-9);
	CHECK_NEAR(place_latency(&p, device[4]), 800, 1e-9);
	/*
	 * d comes back to the first accelerator: a piece of its own. a and c: 40 + 1 + 3; b: 1 + 20 + 2; d: 3 + 2 + 40.
	 */
	CHECK_NEAR(place_load(&p, device[5]), 80 + 1 + 2, 1e-9);
	CHECK_NEAR(place_latency(&p, device[5]), 44 + 23 + 45, 1e-9);
	place_release(&p);
}

/*
 * A value from a processor does not come back to the accelerator. So an operation that begins on the accelerator waits
 * with the operations that read inputs.
 */
static void entered_once(void)
{
	static const char join[] = "{\"maxSizePerFPGA\": 100, \"maxFPGAs\": 1, \"maxCPUs\": 1, \"nodes\": ["
		NODE("1", "10", "100", "") ", " NODE("2", "20", "200", "") ", " NODE("3", "30", "300",
			"") "], \"edges\": ["
		"{\"sourceId\": 1, \"destId\": 3, \"cost\": 1}, {\"sourceId\": 2, \"destId\": 3, \"cost\": 2}]}";
	static const uint32_t device[] = {1, 0, 0};
	struct place p;
	struct err err = {0};

	CHECK_INT(parse(&p, join, &err), 0);
	CHECK_NEAR(place_latency(&p, device), 100 + 1 + 20 + 30, 1e-9);
	place_release(&p);
}

/* A value takes memory from its start until what reads it has run, wherever it is read. */
static void memory_of_values(void)
{
	static const char chain[] = "{\"maxSizePerFPGA\": 15, \"maxFPGAs\": 2, \"maxCPUs\": 1, \"nodes\": ["
		"{\"id\": 1, \"fpgaLatency\": 1, \"cpuLatency\": 9, \"size\": 1, \"valueSize\": 5},"
		"{\"id\": 2, \"fpgaLatency\": 1, \"cpuLatency\": 9, \"size\": 1, \"valueSize\": 7},"
		"{\"id\": 3, \"fpgaLatency\": 1, \"cpuLatency\": 9, \"size\": 1, \"valueSize\": 2}], \"edges\": ["
		"{\"sourceId\": 1, \"destId\": 2, \"cost\": 1}, {\"sourceId\": 2, \"destId\": 3, \"cost\": 1}]}";
	static const uint32_t device[][3] = {{0, 0, 0}, {0, 1, 1}, {0, 0, 1}};
	static const double most[] = {3 + 5 + 7, 2 + 5 + 7, 2 + 5 + 7};
	struct place p;
	struct err err = {0};

	CHECK_INT(parse(&p, chain, &err), 0);
	for (size_t i = 0; i < sizeof most / sizeof *most; i++)
		CHECK_NEAR(place_cost(&p, PLACE_MEMORY, device[i]), most[i], 1e-9);
	p.room[0] = 14;
	CHECK(isinf(place_memory(&p, device[0])) && isinf(place_time(&p, device[0])));
	place_release(&p);
}

static void what_is_allowed(void)
{
	static const uint32_t apart[4] = {0, 0, 1, 1}, together[4] = {0, 1, 0, 1}, all[4] = {0, 0, 0, 0},
		no_device[4] = {3, 0, 0, 0};
	struct place p;
	struct err err = {0};

	CHECK_INT(parse(&p, DIAMOND("20", ", \"colorClass\": 5"), &err), 0);
	CHECK_INT(p.n_groups, 3);
	CHECK(!place_allowed(&p, apart));
	CHECK(place_allowed(&p, together));
	CHECK(!place_allowed(&p, all));
	CHECK(!place_allowed(&p, no_device));
	CHECK(isinf(place_load(&p, all)) && isinf(place_latency(&p, apart)));
	place_release(&p);
}

static void refuses(void)
{
	static const struct {
		const char *text, *why;
	} table[] = {{"{}", "there is no maxSizePerFPGA"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 0, \"maxCPUs\": 0, \"nodes\": [], \"edges\": []}",
			"1 to 64 devices"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [{\"id\": 1}], \"edges\": []}",
			"a node lacks"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [" NODE("1", "-1", "1",
			"") "], \"edges\": []}",
			"-1 is no time"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [" NODE("1", "1", "1", "") ", "
			NODE("1", "1", "1", "") "], \"edges\": []}", "two nodes have the id 1"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [" NODE("1", "1", "1",
			"") "], \"edges\": ["
			"{\"sourceId\": 1, \"destId\": 2, \"cost\": 0}]}", "there is no node 2"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [" NODE("1", "1", "1", "") ", "
			NODE("2", "1", "1", "") "], \"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 0}, "
			"{\"sourceId\": 2, \"destId\": 1, \"cost\": 0}]}", "go round in a circle: 2 of 2"},
		{"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [" NODE("1", "1", "1", "") ", "
			NODE("2", "1", "1", "") "], \"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 0}, "
			"{\"sourceId\": 1, \"destId\": 2, \"cost\": 1}]}", "cost 0 and 1"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		struct place p;
		CHECK_INT(parse(&p, table[i].text, &err), -1);
		if (!CHECK(strstr(err.text, table[i].why) != NULL))
			printf("\t%s\n", err.text);
	}
}

/* A layered program; every third node shares a color with the one before. */
static void random_place(struct place *p, struct rng *r, uint32_t nodes, uint32_t accelerators, double memory)
{
	struct buf b = {0};
	struct err err = {0};

	buf_addf(&b, "{\"maxSizePerFPGA\": %g, \"maxFPGAs\": %u, \"maxCPUs\": 1, \"nodes\": [", memory, accelerators);
	for (uint32_t v = 0; v < nodes; v++)
		buf_addf(&b, "%s{\"id\": %u, \"fpgaLatency\": %d, "
			"\"cpuLatency\": %d, \"size\": %d, \"colorClass\": %u, "
			"\"supportedOnFpga\": %d}", v ? "," : "", v, (int)rng_below(r, 20), (int)rng_below(r, 200),
			(int)rng_below(r, 10), v - (v % 3 == 2), rng_below(r, 10) > 0);
	buf_adds(&b, "], \"edges\": [");
	for (uint32_t v = 1; v < nodes; v++)
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t u = (uint32_t)rng_below(r, v);
			buf_addf(&b, "%s{\"sourceId\": %u, \"destId\": %u, \"cost\": %u}", v + k > 1 ? "," : "", u, v,
				u % 7);
		}
	buf_adds(&b, "]}");
	if (place_parse(p, b.data, b.len, &err) < 0)
		printf("FAIL: random_place: %s\n", err.text);
	buf_release(&b);
}

static void moves_add_up(void)
{
	struct rng r;

	rng_seed(&r, 1);
	for (int i = 0; i < test_cases(20); i++) {
		struct place p;
		struct standing_load s;
		random_place(&p, &r, 30, 3, 1e9);
		uint32_t *device = MEM_NEW(p.n_nodes, uint32_t);
		standing_load_init(&s, &p);
		standing_load_set(&s, s.device);
		for (int k = 0; k < 200; k++) {
			standing_load_move(&s, (uint32_t)rng_below(&r, p.n_groups),
				(uint32_t)rng_below(&r, p.n_devices));
			place_spread(&p, s.device, device);
			double load = place_load(&p, device);
			CHECK(isinf(load) || fabs(load - standing_load_most(&s)) < 1e-6);
		}
		standing_load_release(&s);
		mem_free(device);
		place_release(&p);
	}
}

static double best_of_all(const struct place *p, enum place_goal goal)
{
	uint32_t *by_group = MEM_NEW(p->n_groups, uint32_t), *device = MEM_NEW(p->n_nodes, uint32_t), g;
	double best = INFINITY;

	do {
		place_spread(p, by_group, device);
		best = fmin(best, place_cost(p, goal, device));
		for (g = 0; g < p->n_groups && ++by_group[g] == p->n_devices; g++)
			by_group[g] = 0;
	} while (g < p->n_groups);
	mem_free(by_group);
	mem_free(device);
	return best;
}

static void as_good_as_all(void)
{
	struct rng r;

	rng_seed(&r, 2);
	for (int i = 0; i < test_cases(12); i++) {
		struct place p;
		enum place_goal goal = i % 2 ? PLACE_LATENCY : PLACE_LOAD;
		random_place(&p, &r, 12, 2, i % 3 ? 1e9 : 25);
		double best = best_of_all(&p, goal);
		for (int s = 0; s < PLACING_COUNT; s++) {
			struct placing_options o = {.strategy = (enum placing_strategy)s, .goal = goal, .steps = 20000,
				.seed = 3};
			struct placing_result result;
			placing_solve(&p, &o, &result);
			CHECK(result.cost >= best - 1e-9);
			CHECK(isinf(result.cost) || fabs(place_cost(&p, goal, result.device) - result.cost) < 1e-9);
			if (s == PLACING_ANNEAL && !CHECK(isinf(best) ? isinf(result.cost)
				: fabs(result.cost - best) < 1e-9))
				printf("\tcase %d\n", i);
			placing_result_release(&result);
		}
		place_release(&p);
	}
}

int main(void)
{
	RUN(by_hand);
	RUN(entered_once);
	RUN(memory_of_values);
	RUN(what_is_allowed);
	RUN(refuses);
	RUN(moves_add_up);
	RUN(as_good_as_all);
	return test_done();
}
