/*
 * check_start.c - a hunt that may begin where it likes does so by a rule of the kind if the program is faster that way.
 *
 * The device is our performance model, which the hunt is told to take for a clock. By it a program in which everything
 * is a kernel of its own takes longer than by the plain greedy rule, so this makes a default that a rule beats.
 */
#include "search/hunt.h"
#include "tests/test.h"

#define PROGRAM "examples/graphs/held-out/ranker.pb.zst"
#define SPLIT 0 /* of the kind's starts */
#define GREEDY 1
#define RULE (HUNT_NAMED + GREEDY)

struct bed {
	struct device *d;
	struct lab lab;
	struct hunt h;
	uint8_t *greedy, *apart;
};

static bool open_bed(struct bed *b)
{
	struct device_options o = {.backend = "sim"};
	struct err err = {0};

	*b = (struct bed){.d = device_open(&o, &err)};
	if (!CHECK(b->d && lab_open(&b->lab, PROGRAM, "fusion", b->d, &(struct cost_options){0}, NULL, &err) == 0)) {
		printf("%s\n", err.text);
		return false;
	}
	b->greedy = mem_alloc(b->lab.space->n_sites);
	b->apart = mem_zalloc(b->lab.space->n_sites, 1);
	b->lab.space->ops->starts[GREEDY].fill(b->lab.space, b->greedy);
	b->lab.kind = COST_MEASURED;
	return true;
}

static void close_bed(struct bed *b)
{
	mem_free(b->greedy);
	mem_free(b->apart);
	lab_release(&b->lab);
	device_close(b->d);
}

/* Makes it what the compiler decides, and begins; returns where, as a number of enum hunt_start. */
static int begin(struct bed *b, const uint8_t *dflt, struct hunt_options o)
{
	struct err err = {0};

	for (uint32_t i = 0; i < b->lab.space->n_sites; i++)
		b->lab.space->site[i].dflt = dflt[i];
	cost_set_default(b->lab.cost, 0, 0);
	o.budget = 10;
	if (!CHECK(hunt_begin(&b->h, &o, &b->lab, NULL, &err) == 0))
		printf("%s\n", err.text);
	return b->h.o.start;
}

static bool stands_at(const struct bed *b, const uint8_t *config)
{
	return memcmp(b->h.config, config, b->h.s->n_sites) == 0;
}

static void a_better_rule_is_where_it_begins(void)
{
	struct bed b;
	double gain;

	if (!open_bed(&b))
		return;
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = HUNT_BETTER}), RULE);
	CHECK(stands_at(&b, b.greedy) && strcmp(hunt_start_name(&b.h), "greedy") == 0);
	gain = hunt_gain(&b.h);
	CHECK(gain > 0.2);
	CHECK_INT(b.h.evaluations, 0);
	hunt_release(&b.h);
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = RULE}), RULE);
	CHECK(stands_at(&b, b.greedy) && hunt_gain(&b.h) == gain);
	hunt_release(&b.h);
	close_bed(&b);
}

/* Finds choices that are better than the rule's by one flip. */
static bool beats_the_rule(struct bed *b, uint8_t *config)
{
	struct err err = {0};

	memcpy(config, b->greedy, b->lab.space->n_sites);
	for (uint32_t i = 0; i < b->lab.space->n_sites; i++) {
		struct timing t = {0};
		config[i] = !b->greedy[i];
		if (cost_whole(b->lab.cost, b->greedy, config, NULL, &t, &err) == 0 && t.outcome == OUTCOME_OK &&
			t.delta < 0)
			return true;
		config[i] = b->greedy[i];
	}
	return false;
}

static void a_worse_rule_is_not(void)
{
	uint8_t *good;
	struct bed b;

	if (!open_bed(&b))
		return;
	good = mem_alloc(b.lab.space->n_sites);
	if (CHECK(beats_the_rule(&b, good))) {
		CHECK_INT(begin(&b, good, (struct hunt_options){.start = HUNT_BETTER}), HUNT_DEFAULT);
		CHECK(stands_at(&b, good) && hunt_gain(&b.h) == 0);
		hunt_release(&b.h);
	}
	mem_free(good);
	close_bed(&b);
}

/* Whoever names a start, or does not time programs, has the default. */
static void only_who_may_and_can(void)
{
	struct bed b;

	if (!open_bed(&b))
		return;
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = HUNT_DEFAULT}), HUNT_DEFAULT);
	CHECK(stands_at(&b, b.apart) && strcmp(hunt_start_name(&b.h), "default") == 0);
	hunt_release(&b.h);
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = HUNT_BETTER, .handed = true}), HUNT_DEFAULT);
	CHECK(stands_at(&b, b.apart)); /* another kind goes on from what it finds */
	hunt_release(&b.h);
	b.lab.kind = COST_MODELLED;
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = HUNT_BETTER}), HUNT_DEFAULT);
	CHECK(stands_at(&b, b.apart));
	hunt_release(&b.h);
	close_bed(&b);
}

/* To try a rule takes a compilation, so it is only tried where that is a small share of the search's time. */
static void dear_rules_are_not_tried(void)
{
	struct bed b;

	if (!open_bed(&b))
		return;
	b.lab.subject.extract_seconds = 4;
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = HUNT_BETTER, .seconds = 60}), HUNT_DEFAULT);
	hunt_release(&b.h);
	CHECK_INT(begin(&b, b.apart, (struct hunt_options){.start = HUNT_BETTER, .seconds = 600}), RULE);
	hunt_release(&b.h);
	close_bed(&b);
}

/* By this rule some sites are as greedy has them, the others as the default; without large kernels, all these. */
static void large_kernels_are_taken_apart(void)
{
	uint32_t as_greedy = 0, n;
	uint8_t *all, *split;
	struct bed b;

	if (!open_bed(&b))
		return;
	n = b.lab.space->n_sites;
	all = mem_alloc(n);
	split = mem_alloc(n);
	b.lab.space->ops->starts[SPLIT].fill(b.lab.space, split);
	CHECK(memcmp(split, b.greedy, n) == 0);
	for (uint32_t i = 0; i < n; i++)
		b.lab.space->site[i].dflt = all[i] = (uint8_t)(b.lab.space->site[i].choices - 1);
	b.lab.space->ops->starts[SPLIT].fill(b.lab.space, split);
	for (uint32_t i = 0; i < n; i++) {
		CHECK(split[i] == all[i] || split[i] == b.greedy[i]);
		as_greedy += split[i] != all[i];
	}
	CHECK(as_greedy > 10 && as_greedy < n);
	mem_free(all);
	mem_free(split);
	close_bed(&b);
}

int main(void)
{
	RUN(a_better_rule_is_where_it_begins);
	RUN(a_worse_rule_is_not);
	RUN(only_who_may_and_can);
	RUN(dear_rules_are_not_tried);
	RUN(large_kernels_are_taken_apart);
	return test_done();
}
