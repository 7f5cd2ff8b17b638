/*
 * full_cost.c - costs on the real compiler: the default is read back, choices are honoured, numbers agree, and both
 * ways of asking for a cost answer. bench/region measures how well the answers agree. Skipped without a plugin.
 */
#include "cost/cost.h"
#include "ready/subject.h"
#include "search/numbers.h"
#include "tests/test.h"

static struct device *device;

static void program(const char *path)
{
	struct subject s;
	struct cost *c;
	struct err err = {0};
	uint8_t *a, *b;
	struct precision p = {.target = 0.001, .max_seconds = 1, .instances = 3, .give_up = -1};
	struct compiled own = {0}, tuned = {0};
	struct numbers numbers;
	double seconds, se;
	struct rng r;

	if (!CHECK(subject_open(&s, path, "fusion", device, &err) == 0)) {
		printf("\t%s\n", err.text);
		return;
	}
	c = cost_new(s.space, device, NULL, &err);
	a = mem_alloc(s.space->n_sites);
	b = mem_alloc(s.space->n_sites);
	space_default(s.space, a);
	rng_seed(&r, 5);
	CHECK(cost_default_seconds(c, &seconds, &se, &err) == 0 && seconds > 0);
	for (uint32_t i = 0; i < s.space->n_sites && i < 3; i++) {
		struct delta d;
		struct timing w;
		memcpy(b, a, s.space->n_sites);
		b[i] = (uint8_t)((b[i] + 1) % s.space->site[i].choices);
		CHECK(cost_confirm(c, a, b, &p, &d, &err) == 0 && cost_whole(c, a, b, &p, &w, &err) == 0);
		CHECK_INT(d.outcome, OUTCOME_OK);
		CHECK_INT(w.outcome, OUTCOME_OK);
		CHECK(isfinite(d.seconds) && d.se >= 0 && isfinite(w.delta) && w.delta_se >= 0);
		printf("site %u of %s: region %+.2f us +- %.2f, whole %+.2f +- %.2f\n", i, path, d.seconds * 1e6,
			1.96e6 * d.se, w.delta * 1e6, 1.96e6 * w.delta_se);
		timing_release(&w);
	}
	space_random(s.space, 0.5, &r, b);
	CHECK(numbers_check(&numbers, &(struct numbers_job){.device = device, .space = s.space, .original = &s.original,
		.config = b, .own = &own, .tuned = &tuned}, &err) == 0);
	if (!CHECK_INT(numbers.outcome, OUTCOME_OK))
		printf("\t%s\n", numbers.detail);
	for (int i = 0; i < INPUTS_COUNT; i++)
		CHECK(numbers.on[i].compared && numbers.on[i].own == OUTCOME_OK);
	CHECK(device_drop(device, &own, &err) == 0 && device_drop(device, &tuned, &err) == 0);
	mem_free(a);
	mem_free(b);
	cost_free(c);
	subject_release(&s);
}

static void chain(void)
{
	if (!device)
		SKIP("no plugin");
	program("examples/graphs/tiny/chain.pb.zst");
}

static void reduction(void)
{
	if (!device)
		SKIP("no plugin");
	program("examples/graphs/tiny/reduction.pb.zst");
}

static void loop(void)
{
	if (!device)
		SKIP("no plugin");
	program("examples/graphs/tiny/loop.pb.zst");
}

/* A store knows a program by its bytes: those before fusion must not depend on what was compiled before. */
static void extracted_twice_is_the_same(void)
{
	struct subject a, between, b;
	struct err err = {0};

	if (!device)
		SKIP("no plugin");
	if (!CHECK(subject_open(&a, "examples/graphs/tiny/loop.pb.zst", "fusion", device, &err) == 0))
		return;
	CHECK(subject_open(&between, "examples/graphs/tiny/chain.pb.zst", "fusion", device, &err) == 0);
	subject_release(&between);
	if (CHECK(subject_open(&b, "examples/graphs/tiny/loop.pb.zst", "fusion", device, &err) == 0))
		CHECK(a.bytes.len == b.bytes.len && memcmp(a.bytes.data, b.bytes.data, a.bytes.len) == 0);
	subject_release(&a);
	subject_release(&b);
}

/* The plugin runs on the caller's thread what it counts fewer than a thousand operations of: all regions. */
static void regions_stay_on_their_thread(void)
{
	struct subject s;
	struct regions r = {0};
	struct err err = {0};
	struct compiled out;
	uint8_t *a, *b;

	if (!device)
		SKIP("no plugin");
	if (!CHECK(subject_open(&s, "examples/graphs/tiny/loop.pb.zst", "fusion", device, &err) == 0))
		return;
	a = mem_alloc(s.space->n_sites);
	b = mem_alloc(s.space->n_sites);
	space_default(s.space, a);
	for (uint32_t i = 0; i < s.space->n_sites; i++)
		b[i] = (uint8_t)((a[i] + 1) % s.space->site[i].choices);
	CHECK(s.space->ops->region(s.space, a, b, &r, &err) == 0 && r.n > 0);
	for (size_t i = 0; i < r.n; i++) {
		CHECK(device_compile(device, COMPILE_APPLIED, "hlo", r.v[i].a.data, r.v[i].a.len, WANT_MEMORY, &out,
			&err) == 0);
		CHECK_INT(out.outcome, OUTCOME_OK);
		CHECK(out.flops < 1000);
		CHECK(device_drop(device, &out, &err) == 0);
		compiled_release(&out);
	}
	regions_release(&r);
	mem_free(a);
	mem_free(b);
	subject_release(&s);
}

/*
 * The compiler may add up the numbers of a transposed product in 16 bits. The product of the operands in the other
 * order is then far from it, and nearer to what both compute without rounding, so its numbers are accepted. This comes
 * last, because it opens the device for another kind of decision.
 */
static void better_sums_are_accepted(void)
{
	static const char text[] = "HloModule m\nENTRY e {\n x = bf16[64,96,32] parameter(0)\n"
		" g = bf16[64,96,48] parameter(1)\n t = bf16[48,32] dot(g, x), lhs_contracting_dims={0,1}, "
		"rhs_contracting_dims={0,1}\n y = bf16[32,48] transpose(t), dimensions={1,0}\n"
		" ROOT z = bf16[32,48] negate(y)\n}\n";
	struct precision p = {.target = 0.1, .max_seconds = 1, .instances = 1, .give_up = -1};
	uint8_t plain[1] = {0}, turned[1];
	struct device_options o = {.backend = "cpu", .wait = true, .deadline = PATIENT, .kind = "rewrite"};
	struct device *before;
	struct space *s = NULL;
	struct graph g = {0};
	struct err err = {0};
	struct cost *c;
	struct delta d;

	if (!device)
		SKIP("no plugin");
	device_close(device);
	before = device_open(&o, &err);
	device = NULL;
	if (CHECK(before) && CHECK(graph_parse(&g, text, sizeof text - 1, "text", &err) == 0))
		s = space_open("rewrite/without:turn-other-side:product-by-library:turned-product-by-library",
			"cpu", &g, NULL, 0, &err);
	if (CHECK(s) && CHECK_INT(s->n_sites, 1) && CHECK_INT(s->site[0].choices, 3)) {
		c = cost_new(s, before, NULL, &err);
		for (turned[0] = 1; turned[0] < 3; turned[0]++) {
			CHECK(cost_confirm(c, plain, turned, &p, &d, &err) == 0);
			CHECK_INT(d.outcome, OUTCOME_OK);
		}
		cost_free(c);
	}
	space_free(s);
	graph_release(&g);
	device_close(before);
}

int main(void)
{
	struct device_options o = {.backend = "cpu", .wait = true, .deadline = PATIENT};
	device = device_open(&o, NULL);
	RUN(chain);
	RUN(extracted_twice_is_the_same);
	RUN(reduction);
	RUN(loop);
	RUN(regions_stay_on_their_thread);
	RUN(better_sums_are_accepted);
	device_close(device);
	return test_done();
}
