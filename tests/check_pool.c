/*
 * check_pool.c - workers that work ahead: what they compile is loaded, and what they measure counts; a failure of
 * theirs has the same outcome as without them; and nothing is left behind.
 */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "tests/pool_fixture.h"

/* Compiles two programs as a pair is compiled; `ahead` gets how many executables of each were compiled ahead. */
static void compile_pair(struct device *d, const char *const *script, uint32_t instances, struct compiled *c,
	uint32_t *ready)
{
	struct buf module[2] = {{0}, {0}};

	fixture_program(script[0], &module[0]);
	fixture_program(script[1], &module[1]);
	device_gather(d, (const struct buf *const[]){&module[0], &module[1]}, instances);
	for (int i = 0; i < 2; i++) {
		struct known *k;
		CHECK(device_compile_planned(d, COMPILE_REGION, module[i].data, module[i].len, instances, &c[i],
			NULL) == 0);
		k = host_known(host_of(d), c[i].handle);
		ready[i] = k ? k->ready : 0;
		buf_release(&module[i]);
	}
}

static void drop_pair(struct device *d, struct compiled *c)
{
	for (int i = 0; i < 2; i++) {
		CHECK(device_drop(d, &c[i], NULL) == 0);
		compiled_release(&c[i]);
	}
}

/* As many executables as were expected are loaded, however many helpers there are, and are measured as usual. */
static void what_is_made_is_loaded(void)
{
	static const char *const script[] = {"us=200", "us=300", "us=77"};
	static const struct {
		int jobs;
		uint32_t copies, instances, ready;
		bool quiet;
	} t[] = {{0, 1, 1, 0, false}, {1, 1, 1, 1, false}, {3, 1, 1, 1, true}, {2, 3, 3, 3, false}, {1, 6, 3, 3, true},
		{2, 2, 3, 2, false}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct device *d = pool_fixture_open(t[i].jobs, t[i].quiet);
		struct compiled c[2];
		struct timing x;
		uint32_t ready[2];
		if (!d)
			return;
		CHECK_INT(device_info(d)->helpers, (uint32_t)t[i].jobs);
		pool_fixture_expect(d, script, 3, t[i].copies);
		compile_pair(d, script, t[i].instances, c, ready);
		if (!CHECK_INT(ready[0], t[i].ready) || !CHECK_INT(ready[1], t[i].ready))
			printf("  row %zu\n", i);
		CHECK(device_pair(d, &c[0], &c[1], &(struct precision){.instances = t[i].instances,
			.max_seconds = 0.05}, &x, NULL) == 0);
		CHECK(x.outcome == OUTCOME_OK && x.seconds_b > x.seconds_a);
		timing_release(&x);
		drop_pair(d, c);
		device_close(d);
		CHECK(fixture_no_children());
	}
}

/* A program that nobody expects, or that is expected no longer, is compiled as without helpers. */
static void plans_take_each_others_place(void)
{
	static const char *const script[] = {"us=20", "us=30"}, *const other[] = {"us=40", "us=50"};
	struct device *d = pool_fixture_open(2, false);
	struct compiled c[2];
	uint32_t ready[2];

	if (!d)
		return;
	compile_pair(d, script, 1, c, ready);
	CHECK(c[0].outcome == OUTCOME_OK && ready[0] == 0 && ready[1] == 0);
	drop_pair(d, c);
	pool_fixture_expect(d, script, 2, 1);
	pool_fixture_expect(d, other, 2, 1);
	compile_pair(d, script, 1, c, ready);
	CHECK(c[1].outcome == OUTCOME_OK);
	drop_pair(d, c);
	compile_pair(d, other, 1, c, ready);
	CHECK(ready[0] == 1 && ready[1] == 1);
	drop_pair(d, c);
	device_close(d);
}

/* What was made when the plan changed is still there when it is wanted after all. */
static void what_is_made_is_kept(void)
{
	static const char *const script[] = {"us=20", "us=30"}, *const other[] = {"us=40", "us=50"};
	struct device *d = pool_fixture_open(2, false);
	struct buf module[2] = {{0}, {0}};
	struct compiled c[2];
	uint32_t ready[2];

	if (!d)
		return;
	for (int i = 0; i < 2; i++)
		fixture_program(script[i], &module[i]);
	pool_fixture_expect(d, script, 2, 1);
	device_gather(d, (const struct buf *const[]){&module[0], &module[1]}, 1);
	pool_fixture_expect(d, other, 2, 1);
	compile_pair(d, script, 1, c, ready);
	CHECK(ready[0] == 1 && ready[1] == 1);
	drop_pair(d, c);
	for (int i = 0; i < 2; i++)
		buf_release(&module[i]);
	device_close(d);
}

static atomic_int measured; /* how often, by anybody */

/* Stands for what measures a pair: by its first byte it fails, and its second one is the result. */
static void measure(struct device *d, const struct errand *e, struct timing *out)
{
	const char *say = e->module[0].data;

	CHECK(d && e->workers > 1 && e->module[1].len);
	measured++;
	*out = (struct timing){.outcome = say[0] == 'x' ? OUTCOME_CRASHED : OUTCOME_OK, .pairs = (uint32_t)say[1]};
}

static void expect_pairs(struct device *d, const char *const *say, size_t n)
{
	struct agenda agenda = {.measure = measure};

	for (size_t i = 0; i < n; i++) {
		struct errand e = {.alike = true};
		buf_adds(&e.module[0], say[i]);
		buf_adds(&e.module[1], "other side");
		agenda_add_pair(&agenda, &e);
	}
	device_expect(d, &agenda);
	agenda_release(&agenda);
}

/* Was it measured ahead? Then `pairs` is the result. */
static bool was_measured(struct device *d, const char *say, uint32_t *pairs)
{
	struct buf a = {0}, b = {0};
	struct timing t = {0};
	bool was;

	buf_adds(&a, say);
	buf_adds(&b, "other side");
	was = device_measured(d, (const struct buf *const[]){&a, &b}, &t);
	*pairs = t.pairs;
	timing_release(&t);
	buf_release(&a);
	buf_release(&b);
	return was;
}

/*
 * A pair is measured once, by a helper or by the device that would only wait; or, if nobody has begun it, by the
 * caller. What it showed is kept if the plan changes, and given out once. A failure is left to the caller.
 */
static void pairs_are_measured_ahead(void)
{
	static const char *const say[] = {"oA", "oB", "oC", "xD", "oE"}, *const other[] = {"oF", "oB"};
	uint32_t pairs, had = 0;
	int before;
	struct device *d = pool_fixture_open(2, false);

	if (!d || !device_measures_ahead(d)) {
		printf("skip: pairs that are measured ahead: there is one core\n");
		device_close(d);
		return;
	}
	measured = 0;
	expect_pairs(d, say, 5);
	for (int i = 0; i < 5; i++)
		if (was_measured(d, say[i], &pairs)) {
			CHECK(say[i][0] == 'o' && pairs == (uint32_t)say[i][1]);
			had++;
		}
	CHECK(had <= 4 && (int)had <= measured && measured <= 5);
	CHECK(!was_measured(d, "oA", &pairs)); /* it was given out, or is the caller's */
	before = measured;
	expect_pairs(d, say, 5);
	CHECK(pool_fixture_counted(d, &measured, before + 5)); /* each is begun */
	expect_pairs(d, other, 2);
	CHECK(was_measured(d, "oC", &pairs) && pairs == 'C');
	device_close(d);
	d = pool_fixture_open(2, true);
	CHECK(d && !device_measures_ahead(d)); /* they only compile */
	device_close(d);
}

/* Stands for what measures a pair whose modules were compiled before, */
static void measure_made(struct device *d, const struct errand *e, struct timing *out)
{
	struct compiled c[2];

	for (unsigned i = 0; i < 2; i++) {
		CHECK(e->executable[i].len && e->compiling[i] > 0);
		CHECK(device_compile_errand(d, e, i, &c[i], NULL) == 0);
		CHECK(c[i].outcome == OUTCOME_OK && host_known(host_of(d), c[i].handle)->ready == 1);
	}
	drop_pair(d, c);
	*out = (struct timing){.outcome = OUTCOME_OK, .delta = -1};
	measured++;
}

#define TIMES 3

/* ... and of which two more executables are needed, because it will be measured again. */
static uint32_t again(const struct errand *e, const struct timing *t, uint32_t times)
{
	CHECK(e->apart && e->module[0].len && times == TIMES);
	return t->delta < 0 ? 2 : 0;
}

/* Two modules, one executable of each, and the pair of them. */
static void expect_apart(struct device *d, const char *const *script,
	void (*measures)(struct device *, const struct errand *, struct timing *), uint64_t key[2])
{
	struct agenda agenda = {.measure = measures, .again = again, .times = TIMES};
	struct errand e = {.apart = true, .charge = 0.25, .times = 2};

	for (int i = 0; i < 2; i++) {
		struct buf module = {0};
		fixture_program(script[i], &module);
		buf_add(&e.module[i], module.data, module.len);
		agenda_add(&agenda, &module, 1);
	}
	agenda_add_pair(&agenda, &e);
	memcpy(key, agenda.v[2].key, sizeof agenda.v[2].key);
	device_expect(d, &agenda);
	agenda_release(&agenda);
}

/*
 * A pair is measured when its modules are compiled, and what it needs to be measured again is compiled then, whether or
 * not the plan changes: two executables of each side, beside those that it used up itself. What it costs is foretold.
 */
static void what_is_measured_again_is_compiled(void)
{
	static const char *const script[] = {"us=20", "us=30"};

	for (int twice = 0; twice < 2; twice++) {
		struct device *d = pool_fixture_open(2, false);
		struct compiled c[2];
		uint32_t ready[2];
		uint64_t key[2], other[2] = {1, 2};
		struct foretold told;

		if (!d)
			return;
		measured = 0;
		expect_apart(d, script, measure_made, key);
		if (!CHECK(pool_fixture_foretold(d, key, &told))) {
			device_close(d);
			return;
		}
		CHECK_NEAR(told.seconds, 2 * (0.25 - 1), 1e-12);
		CHECK(!device_foretells(d, other, &told));
		if (twice)
			expect_apart(d, script, measure_made, key);
		compile_pair(d, script, 3, c, ready);
		CHECK_INT(ready[0], 2);
		CHECK_INT(ready[1], 2);
		CHECK_INT(measured, 1);
		drop_pair(d, c);
		device_close(d);
	}
}

/* One executable of each side is enough to run several instances of it, as a confirmation does. */
static void what_was_made_ahead_is_loaded_several_times(void)
{
	static const char *const script[] = {"us=20", "us=30"};
	struct precision p = {.max_seconds = 1e-9, .instances = 3, .min_pairs = 4}; /* no time to compile for it */
	struct device *d = pool_fixture_open(2, false);
	struct compiled c[2];
	struct foretold told;
	struct timing t;
	uint32_t ready[2];
	uint64_t key[2];

	if (!d)
		return;
	expect_apart(d, script, measure_made, key);
	CHECK(pool_fixture_foretold(d, key, &told));
	compile_pair(d, script, 1, c, ready);
	CHECK_INT(ready[0] + ready[1], 2);
	CHECK(device_pair(d, &c[0], &c[1], &p, &t, NULL) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	CHECK_STR(t.detail, "");
	timing_release(&t);
	drop_pair(d, c);
	device_close(d);
}

static atomic_int begun, go_on;

static void measure_slowly(struct device *d, const struct errand *e, struct timing *out)
{
	begun++;
	while (!go_on)
		sched_yield();
	measure_made(d, e, out);
}

/* ... and also if a new plan came while it was measured, which leaves no use for its modules but that. */
static void modules_stay_while_their_pair_is_measured(void)
{
	static const char *const script[] = {"us=20", "us=30"};
	struct device *d = pool_fixture_open(2, false);
	struct compiled c[2];
	struct foretold told;
	uint32_t ready[2];
	uint64_t key[2];

	if (!d)
		return;
	begun = go_on = 0;
	for (int plan = 0; plan < 2; plan++) {
		expect_apart(d, script, measure_slowly, key);
		CHECK(pool_fixture_counted(d, &begun, 1));
	}
	go_on = 1;
	CHECK(pool_fixture_foretold(d, key, &told));
	compile_pair(d, script, 1, c, ready);
	CHECK_INT(ready[0] + ready[1], 2);
	drop_pair(d, c);
	device_close(d);
}

/* What needs a worker that died is not measured, and nobody waits for it. */
static void what_cannot_come_is_not_waited_for(void)
{
	static const char *const die[] = {"compile=abort", "compile=exit", "compile=refuse"};

	for (size_t i = 0; i < sizeof die / sizeof *die; i++) {
		const char *script[] = {die[i], "us=20"};
		struct device *d = pool_fixture_open(2, false);
		struct foretold told;
		uint64_t key[2];
		if (!d)
			return;
		measured = 0;
		expect_apart(d, script, measure_made, key);
		CHECK(!pool_fixture_foretold(d, key, &told));
		CHECK(!pool_fixture_counted(d, &measured, 1));
		device_close(d);
	}
}

static void make_one(struct job *j)
{
	buf_adds(&j->made.executable[j->made.n++], "made");
}

/* Further executables of a module are made when the plan comes to them, after what stands before. */
static void plans_are_lists_of_steps(void)
{
	static const char *const name[] = {"first", "second"};
	struct pool p = {.quiet = false};
	struct agenda agenda = {0};
	uint64_t key[2][2];
	struct job *j[3];

	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.more, NULL);
	for (int i = 0; i < 2; i++) {
		struct buf module = {0};
		buf_adds(&module, name[i]);
		agenda_key(module.data, module.len, key[i]);
		agenda_add(&agenda, &module, 1);
	}
	agenda_add_known(&agenda, key[0], 1);
	agenda_add_known(&agenda, (uint64_t[]){1, 2}, 1); /* nobody has it */
	pool_expect(&p, &agenda);
	for (int i = 0; i < 3 && CHECK((j[i] = pool_next(&p)) != NULL); i++)
		make_one(j[i]);
	CHECK(j[0] == j[2] && j[0] != j[1] && memcmp(j[1]->key, key[1], sizeof key[1]) == 0);
	CHECK(pool_next(&p) == NULL);
	pool_forget(&p);
	agenda_release(&agenda);
	mem_free(p.job);
	mem_free(p.step);
	pthread_mutex_destroy(&p.lock);
	pthread_cond_destroy(&p.more);
}

/* If a compiler crashes or refuses in a helper, the measuring worker has the same outcome, and the pool goes on. */
static void failures_are_met_alike(void)
{
	static const struct {
		const char *script;
		enum outcome outcome;
	} t[] = {{"compile=abort", OUTCOME_CRASHED}, {"compile=refuse", OUTCOME_REFUSED},
		{"compile=exit", OUTCOME_CRASHED},
		{"serial=no", OUTCOME_OK}, {"reload=no", OUTCOME_OK}};
	struct device *d = pool_fixture_open(2, false);

	for (size_t i = 0; d && i < sizeof t / sizeof *t; i++) {
		const char *script[] = {t[i].script, "us=10"};
		struct compiled c[2];
		uint32_t ready[2];
		pool_fixture_expect(d, script, 2, 1);
		compile_pair(d, script, 1, c, ready);
		if (!CHECK_INT(c[0].outcome, t[i].outcome))
			printf("  %s: %s\n", t[i].script, c[0].detail);
		CHECK_INT(c[1].outcome, OUTCOME_OK);
		drop_pair(d, c);
	}
	device_close(d);
}

static void agendas_know_modules_by_their_bytes(void)
{
	struct agenda a = {0};
	struct buf module = {0};
	uint64_t key[2];

	buf_adds(&module, "module");
	agenda_key(module.data, module.len, key);
	agenda_add(&a, &module, 2);
	CHECK(module.len == 0 && a.n == 1 && a.v[0].copies == 2);
	CHECK(a.v[0].key[0] == key[0] && a.v[0].key[1] == key[1] && key[0] != key[1]);
	agenda_add_known(&a, key, 1);
	CHECK(a.n == 2 && a.v[1].of.module[0].len == 0 && a.v[1].key[0] == key[0]);
	agenda_release(&a);
	CHECK(a.n == 0);
}

int main(void)
{
	RUN(agendas_know_modules_by_their_bytes);
	if (!fixture_begin()) {
		printf("skip: workers that compile ahead: no fake plugin without the plugin's header\n");
		return test_done();
	}
	setenv("VANTAGE_SHARE_CORES", "1", 1);
	RUN(what_is_made_is_loaded);
	RUN(plans_take_each_others_place);
	RUN(what_is_made_is_kept);
	RUN(pairs_are_measured_ahead);
	RUN(what_is_measured_again_is_compiled);
	RUN(what_was_made_ahead_is_loaded_several_times);
	RUN(modules_stay_while_their_pair_is_measured);
	RUN(what_cannot_come_is_not_waited_for);
	RUN(plans_are_lists_of_steps);
	RUN(failures_are_met_alike);
	fixture_end();
	return test_done();
}
