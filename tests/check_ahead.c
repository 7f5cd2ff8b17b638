/*
 * check_ahead.c - what a cost tells its helpers: pairs to be measured, or modules to be compiled where compiling is
 * nearly all of it; and that a price is the same, whoever measured it.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "cost/cost.h"
#include "tests/device_fixture.h"

#define PROGRAM "examples/graphs/tiny/attention.pb.zst"

struct bench {
	struct graph g;
	struct space *s;
	struct device *d;
	struct cost *c;
	uint8_t *a, *b;
};

static void open_bench(struct bench *t, int jobs)
{
	struct device_options o = {.backend = fixture_plugin, .jobs = jobs, .deadline = 60};
	struct err err = {{0}};

	*t = (struct bench){.d = device_open(&o, &err)};
	if (!CHECK(t->d && graph_read(&t->g, PROGRAM, &err) == 0) ||
		!CHECK((t->s = space_open("fusion", "cpu", &t->g, NULL, 0, &err))) ||
		!CHECK((t->c = cost_new(t->s, t->d, NULL, &err)))) {
		printf("  %s\n", err.text);
		exit(1);
	}
	t->a = mem_zalloc(t->s->n_sites, 1);
	t->b = mem_zalloc(t->s->n_sites, 1);
	t->b[0] = 1;
}

static void close_bench(struct bench *t)
{
	cost_free(t->c);
	space_free(t->s);
	graph_release(&t->g);
	device_close(t->d);
	mem_free(t->a);
	mem_free(t->b);
}

/*
 * A pair where it is cheap, or where one helper could not share it; where it is dear, or nobody knows, its modules and
 * the pair; for confirmations modules alone.
 */
static void dear_pairs_are_compiled_by_two(void)
{
	static const struct {
		int jobs;
		uint32_t copies;
		double seconds; /* that a pair took to compile; 0: not known */
		size_t items;
	} t[] = {{1, 0, 0.1, 1}, {2, 0, 0.1, 1}, {2, 3, 0.1, 2}, {2, 0, 1, 1}, {2, 0, 5, 3}, {1, 0, 5, 1}, {2, 0, 0, 3},
		{2, 1, 5, 2}, {2, 3, 5, 2}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct agenda agenda = {0};
		struct bench b;
		size_t items;
		open_bench(&b, t[i].jobs);
		items = device_measures_ahead(b.d) ? t[i].items : 2;
		if (t[i].seconds > 0)
			cost_note_compiling(b.c, t[i].seconds);
		CHECK(cost_expect(b.c, b.a, b.b, t[i].copies, &agenda, NULL) == 0);
		if (!CHECK(agenda.n == items && agenda.v[items - 1].pair == (items != 2)))
			printf("  row %zu: %zu items\n", i, agenda.n);
		agenda_release(&agenda);
		close_bench(&b);
	}
}

/* Waits until a helper has measured the pair, if helpers do. */
static void have_measured(struct bench *b)
{
	struct agenda agenda = {0};
	struct foretold told;
	uint64_t key[2];

	CHECK(cost_expect(b->c, b->a, b->b, 0, &agenda, NULL) == 0);
	memcpy(key, agenda.v[agenda.n - 1].key, sizeof key);
	device_expect(b->d, &agenda);
	while (device_measures_ahead(b->d) && !device_foretells(b->d, key, &told))
		sched_yield();
	agenda_release(&agenda);
}

/* Measured by a helper, it is a price like any other: measured once, and then known. */
static void a_price_is_a_price(void)
{
	struct delta alone, ahead, again;
	struct helped helped;
	struct bench b;

	open_bench(&b, 0);
	CHECK(cost_delta(b.c, b.a, b.b, &alone, NULL) == 0);
	close_bench(&b);
	open_bench(&b, 1);
	have_measured(&b);
	CHECK(cost_delta(b.c, b.a, b.b, &ahead, NULL) == 0 && cost_delta(b.c, b.a, b.b, &again, NULL) == 0);
	CHECK(ahead.outcome == OUTCOME_OK && ahead.measured == 1 && ahead.compiling > 0 && again.cached == 1);
	device_helped(b.d, &helped); /* all that was done ahead was of use */
	CHECK(helped.helpers == 1 && (helped.used > 0 || !device_measures_ahead(b.d)));
	CHECK(helped.idle >= 0 && helped.seconds > 0);
	CHECK_NEAR(helped.vain, 0, 1e-9);
	CHECK_NEAR(ahead.seconds, alone.seconds, 10 * hypot(alone.se, ahead.se));
	close_bench(&b);
}

/* What a helper compiled to measure it is loaded to measure it again, where compiling it took long. */
static void what_took_long_is_compiled_once(void)
{
	struct precision p = {.max_seconds = 0.1, .instances = 3, .copies = 1};
	struct agenda agenda = {0};
	struct delta d;
	struct bench b;
	bool ahead;

	setenv("FAKE_PLUGIN", "fake:any=1;spread=40;slow=150", 1);
	open_bench(&b, 1);
	ahead = device_measures_ahead(b.d);
	have_measured(&b);
	CHECK(cost_delta(b.c, b.a, b.b, &d, NULL) == 0 && d.outcome == OUTCOME_OK);
	CHECK(cost_expect(b.c, b.a, b.b, 1, &agenda, NULL) == 0);
	CHECK_INT(agenda.n, ahead ? 0 : 2);
	agenda_release(&agenda);
	CHECK(cost_expect(b.c, b.a, b.b, 3, &agenda, NULL) == 0);
	CHECK_INT(agenda.n, 2);
	agenda_release(&agenda);
	CHECK(cost_confirm(b.c, b.a, b.b, &p, &d, NULL) == 0);
	CHECK_INT(d.outcome, OUTCOME_OK);
	close_bench(&b);
}

int main(void)
{
	if (!fixture_begin()) {
		printf("skip: what is measured ahead: no fake plugin without the plugin's header\n");
		return test_done();
	}
	setenv("VANTAGE_SHARE_CORES", "1", 1);
	setenv("FAKE_PLUGIN", "fake:any=1;spread=40", 1);
	RUN(dear_pairs_are_compiled_by_two);
	RUN(a_price_is_a_price);
	RUN(what_took_long_is_compiled_once);
	fixture_end();
	return test_done();
}
