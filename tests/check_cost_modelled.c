/*
 * check_cost_modelled.c - under the performance model, the sum of a move's regions is the difference of the whole
 * programs.
 */
#include "cost/own.h"
#include "ready/subject.h"
#include "tests/script_device.h"

/* The sums agree to the last digits, also for programs with loops. */
static const char *const programs[] = {"toy", "examples/graphs/tiny/chain.pb.zst",
	"examples/graphs/tiny/reduction.pb.zst", "examples/graphs/tiny/loop.pb.zst",
	"examples/graphs/tiny/branch.pb.zst", "examples/graphs/tiny/scatter.pb.zst",
	"examples/graphs/tiny/convolution.pb.zst", "examples/graphs/tiny/update.pb.zst",
	"examples/graphs/tiny/scan.pb.zst", "examples/graphs/tiny/sort.pb.zst",
	"examples/graphs/train/encoder.pb.zst"};

struct modelled {
	struct device *d;
	struct subject s;
	struct space *space;
	struct cost *c;
};

static bool open_modelled(struct modelled *m, const char *program)
{
	struct device_options o = {.backend = "sim"};
	struct err err = {0};
	*m = (struct modelled){.d = device_open(&o, NULL)};
	if (strcmp(program, "toy") == 0)
		m->space = space_open("fusion", "sim", &graph, NULL, 0, &err);
	else if (subject_open(&m->s, program, "fusion", m->d, &err) == 0)
		m->space = m->s.space;
	if (m->space)
		m->c = cost_new(m->space, m->d, NULL, &err);
	else
		printf("\t%s\n", err.text);
	return m->c != NULL;
}

static void close_modelled(struct modelled *m)
{
	cost_free(m->c);
	if (!m->s.space)
		space_free(m->space);
	subject_release(&m->s);
	device_close(m->d);
}

static bool sums_agree(struct modelled *m, const uint8_t *a, const uint8_t *b, const char *name)
{
	struct delta d;
	struct timing w;
	if (!CHECK(cost_delta(m->c, a, b, &d, NULL) == 0 && cost_whole(m->c, a, b, NULL, &w, NULL) == 0) ||
		!CHECK_INT(d.outcome, OUTCOME_OK) || !CHECK_INT(w.outcome, OUTCOME_OK) ||
		!CHECK_NEAR(d.seconds, w.delta, 1e-9 * (w.seconds_a + w.seconds_b))) {
		printf("\t%s: %s%s\n", name, d.detail, w.detail);
		return false;
	}
	return true;
}

static void regions_sum_to_the_whole(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		static const double density[] = {0.001, 0.05, 0.5, 1};
		struct modelled m;
		struct rng r;
		uint8_t *a, *b;
		if (!CHECK(open_modelled(&m, programs[i])))
			return;
		rng_seed(&r, i);
		a = mem_alloc(m.space->n_sites);
		b = mem_alloc(m.space->n_sites);
		for (int k = 0; k < (m.space->n_sites > 1000 ? 3 : 8); k++) {
			space_default(m.space, a);
			if (k >= 4)
				space_random(m.space, 0.5, &r, a);
			memcpy(b, a, m.space->n_sites);
			for (uint32_t j = 0; j < m.space->n_sites; j++)
				if (rng_unit(&r) < density[k % 4] ||
					(k % 4 == 0 && j == (uint32_t)k * m.space->n_sites / 8))
					b[j] = (uint8_t)rng_below(&r, m.space->site[j].choices);
			if (!sums_agree(&m, a, b, programs[i]))
				break;
		}
		mem_free(a);
		mem_free(b);
		close_modelled(&m);
	}
}

/* Returns the cost of a move as the sum of the regions of its path. */
static double price_path(struct modelled *m, const uint8_t *a, const uint8_t *b, size_t *n)
{
	struct regions r = {0};
	double sum = 0;

	CHECK(cost_path(m->space, a, b, SIZE_MAX, 1e15, &r, NULL) == 1);
	for (size_t i = 0; i < r.n; i++) {
		struct compiled c[2];
		struct timing t;
		for (int k = 0; k < 2; k++) {
			const struct buf *side = k ? &r.v[i].b : &r.v[i].a;
			CHECK(device_compile(m->d, COMPILE_APPLIED, "hlo", side->data, side->len, 0, &c[k], NULL) == 0);
		}
		CHECK(device_pair(m->d, &c[0], &c[1], NULL, &t, NULL) == 0 && t.outcome == OUTCOME_OK);
		sum += t.identical ? 0 : r.v[i].times * t.delta;
		timing_release(&t);
		for (int k = 0; k < 2; k++) {
			CHECK(device_drop(m->d, &c[k], NULL) == 0);
			compiled_release(&c[k]);
		}
	}
	*n = r.n;
	regions_release(&r);
	return sum;
}

/* A move that is made site by site costs what it costs at once; equal steps are one region. */
static void paths_lead_to_the_same(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct modelled m;
		struct timing w;
		struct rng r;
		uint32_t flips = 0;
		uint8_t *a, *b;
		size_t n;
		if (!CHECK(open_modelled(&m, programs[i])))
			return;
		rng_seed(&r, i);
		a = mem_alloc(m.space->n_sites + 1);
		space_default(m.space, a);
		b = mem_alloc(m.space->n_sites + 1);
		memcpy(b, a, m.space->n_sites);
		for (uint32_t j = 0; j < m.space->n_sites && flips < 40; j++)
			if (rng_below(&r, 1 + m.space->n_sites / 30) == 0 &&
				(b[j] = (uint8_t)rng_below(&r, m.space->site[j].choices)) != a[j])
				flips++;
		CHECK(cost_whole(m.c, a, b, NULL, &w, NULL) == 0);
		if (!CHECK_NEAR(price_path(&m, a, b, &n), w.delta, 1e-9 * w.seconds_a) || !CHECK(n <= 3 * flips))
			printf("  %s: %zu regions of %u flips\n", programs[i], n, flips);
		mem_free(a);
		mem_free(b);
		close_modelled(&m);
	}
}

/* All configurations of a tiny program: regions from the plain one find the same best as whole programs. */
static void brute_force_agrees(void)
{
	struct modelled m;
	uint8_t plain[16] = {0}, y[17] = {0};
	double best_sum = 0, best_whole = 0;
	uint32_t tried = 0;
	if (!CHECK(open_modelled(&m, "examples/graphs/tiny/reduction.pb.zst")) || !CHECK(m.space->n_sites < 12))
		return;
	while (!y[m.space->n_sites] && tried++ < 5000) {
		struct delta d;
		struct timing w;
		uint32_t i = 0;
		CHECK(cost_delta(m.c, plain, y, &d, NULL) == 0 && cost_whole(m.c, plain, y, NULL, &w, NULL) == 0);
		if (!CHECK_NEAR(d.seconds, w.delta, 1e-9 * w.seconds_a))
			break;
		best_sum = fmin(best_sum, d.seconds);
		best_whole = fmin(best_whole, w.delta);
		while (i < m.space->n_sites && y[i] + 1 == m.space->site[i].choices)
			y[i++] = 0;
		y[i]++;
	}
	CHECK(tried > 8 && best_whole < 0);
	CHECK_NEAR(best_sum, best_whole, 1e-12);
	close_modelled(&m);
}

/*
 * A cost in bytes is that of whole programs. Each program is asked for once, and a store keeps its price as the price
 * of that program alone.
 */
static void figures_are_asked_once(void)
{
	struct kept k = {0};
	struct cost_options o = {.quantity = 1 + QUANTITY_BYTES, .hooks = {&k, keep_lookup, keep_insert, NULL,
		keep_failed}};
	struct modelled m;
	struct compiled p[2];
	struct buf bytes[2] = {{0}, {0}};
	struct delta d[3];
	uint64_t compiled = 0;

	if (!CHECK(open_modelled(&m, "examples/graphs/tiny/loop.pb.zst")))
		return;
	uint8_t *a = arena_alloc(&m.space->mem, m.space->n_sites), *b = arena_alloc(&m.space->mem, m.space->n_sites);
	const uint8_t *config[2] = {a, b};
	memset(a, 0, m.space->n_sites);
	space_default(m.space, b);
	b[0] = a[0] = 0;
	b[1] = 1;
	for (int i = 0; i < 2; i++) {
		CHECK(m.space->ops->apply(m.space, config[i], &bytes[i], NULL) == 0);
		CHECK(device_compile(m.d, COMPILE_APPLIED, "hlo", bytes[i].data, bytes[i].len, WANT_MEMORY, &p[i],
			NULL) == 0);
		CHECK(p[i].has_temp);
	}
	for (int run = 0; run < 2; run++) { /* with an empty store, then with a full one */
		struct cost *c = cost_new(m.space, m.d, &o, NULL);
		double seconds;
		CHECK(cost_exact(c) && cost_whole_exact(c) && cost_quantity(c) == QUANTITY_BYTES);
		CHECK(cost_delta(c, a, b, &d[0], NULL) == 0 && cost_delta(c, b, a, &d[1], NULL) == 0 &&
			cost_delta(c, a, b, &d[2], NULL) == 0);
		CHECK_NEAR(d[0].seconds, (double)p[1].temp_bytes - (double)p[0].temp_bytes, 0);
		CHECK(d[0].seconds != 0 && d[1].seconds == -d[0].seconds && d[0].se == 0 &&
			d[0].quantity == QUANTITY_BYTES);
		CHECK(d[0].measured == !run && d[1].measured == 0 && d[2].measured == 0);
		CHECK(cost_default_seconds(c, &seconds, NULL, NULL) == 0 && seconds > 0);
		if (run)
			CHECK_INT(compiled, k.inserts);
		compiled = (uint64_t)k.inserts;
		cost_free(c);
	}
	CHECK(k.inserts >= 2 && k.inserts <= 3 && k.failed == 0);
	for (int i = 0; i < 2; i++) {
		device_drop(m.d, &p[i], NULL);
		compiled_release(&p[i]);
		buf_release(&bytes[i]);
	}
	prices_release(&k.prices);
	close_modelled(&m);
}

int main(void)
{
	struct toy_spec spec = {100, 3, 7};
	struct err err = {0};
	toy_graph(&spec, &module);
	if (graph_parse(&graph, module.data, module.len, "toy", &err) < 0)
		return err_exit(&err);
	RUN(regions_sum_to_the_whole);
	RUN(paths_lead_to_the_same);
	RUN(brute_force_agrees);
	RUN(figures_are_asked_once);
	graph_release(&graph);
	buf_release(&module);
	return test_done();
}
