/*
 * full_decode.c - the real compiler's own choices, read back whole: on programs made for one cause each, and on
 * the examples that compile quickly. Applied, they are kept, and the program computes what it did. Programs of more
 * than a thousand sites are only read back, because applying takes two more compilations of seconds; LONG_TESTS=1
 * applies them, too.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "ready/subject.h"
#include "tests/test.h"

static struct device *device;

/* Nodes that compute the same twice, in the entry and in a loop; one of each pair is fused, the other read whole. */
static const char twins[] =
	"HloModule twins\n"
	"body {\n s = (s32[], f32[64,64], f32[64,64]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
	" x = f32[64,64] get-tuple-element(s), index=1\n w = f32[64,64] get-tuple-element(s), index=2\n"
	" one = s32[] constant(1)\n j = s32[] add(i, one)\n e1 = f32[64,64] "
	"exponential(x)\n e2 = f32[64,64] exponential(x)\n"
	" n = f32[64,64] negate(e1)\n d = f32[64,64] dot(e2, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	" a = f32[64,64] add(n, d)\n t = f32[64,64] tanh(a)\n ROOT r = "
	"(s32[], f32[64,64], f32[64,64]) tuple(j, t, w)\n}\n"
	"cond {\n s = (s32[], f32[64,64], f32[64,64]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
	" k = s32[] constant(5)\n ROOT c = pred[] compare(i, k), direction=LT\n}\n"
	"ENTRY main {\n p = f32[64,64] parameter(0)\n w = f32[64,64] parameter(1)\n z = s32[] constant(0)\n"
	" s = (s32[], f32[64,64], f32[64,64]) tuple(z, p, w)\n"
	" l = (s32[], f32[64,64], f32[64,64]) while(s), condition=cond, body=body\n"
	" ROOT g = f32[64,64] get-tuple-element(l), index=1\n}\n";

/* A product of two vectors, either of which may be computed inside. */
static const char vectors[] =
	"HloModule vectors\nENTRY main {\n p = f32[300] parameter(0)\n q = f32[300] parameter(1)\n"
	" n = f32[300] negate(p)\n s = f32[300] sine(q)\n"
	" ROOT d = f32[] dot(n, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n";

/* A small function applied to each element. */
static const char mapped[] =
	"HloModule mapped\nsmaller {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] minimum(a, b)\n"
	" ROOT s = f32[] multiply(m, m)\n}\n"
	"ENTRY main {\n p = f32[40,30] parameter(0)\n q = f32[40,30] parameter(1)\n n = f32[40,30] negate(p)\n"
	" m = f32[40,30] map(n, q), dimensions={0,1}, to_apply=smaller\n ROOT e = f32[40,30] exponential(m)\n}\n";

/* A concatenation that one reader of its bitcast computes again and another reads. */
static const char copies[] =
	"HloModule copies\nENTRY main {\n p = f32[16,4,15,3] parameter(0)\n q = f32[16,4,15,4] parameter(1)\n"
	" w = f32[3,3,7,12] parameter(2)\n n = f32[16,4,15,3] negate(p)\n a = f32[16,4,15,4] abs(q)\n"
	" c = f32[16,4,15,7] concatenate(n, a), dimensions={3}\n b = f32[16,10,6,7] reshape(c)\n"
	" v = f32[16,10,6,12] convolution(b, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n"
	" t = f32[7,10,6,16] transpose(b), dimensions={3,1,2,0}\n"
	" g = f32[16,10,6,12] multiply(v, v)\n"
	" u = f32[7,3,3,12] convolution(t, g), window={size=10x6 pad=1_1x1_1}, dim_labels=b01f_i01o->b01f\n"
	" ROOT r = (f32[16,10,6,12], f32[7,3,3,12]) tuple(v, u)\n}\n";

/* What XLA:CPU leaves to a library since 2026: a sum, whose terms are computed before, and a product. */
static const char sums[] =
	"HloModule sums\nplus {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
	"ENTRY main {\n p = f32[64,64,3] parameter(0)\n q = f32[64,64,3] parameter(1)\n z = f32[] constant(0)\n"
	" c = f32[64,64,3] cosine(p)\n m = f32[64,64,3] multiply(c, q)\n"
	" r = f32[64,64] reduce(m, z), dimensions={2}, to_apply=plus\n ROOT n = f32[64,64] sine(r)\n}\n";
static const char product[] =
	"HloModule product\nENTRY main {\n p = f32[64,64] parameter(0)\n q = f32[64,64] parameter(1)\n"
	" c = f32[64,64] cosine(p)\n d = f32[64,64] dot(c, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	" ROOT n = f32[64,64] sine(d)\n}\n";

static void check_config(struct subject *s, const uint8_t *config)
{
	struct compiled own = {0}, ours = {0};
	struct check_result kept;
	struct comparison c;
	struct err err = {0};
	struct buf module = {0};

	CHECK(s->space->ops->apply(s->space, config, &module, &err) == 0);
	CHECK(device_compile(device, COMPILE_DEFAULT, "hlo", s->original.data, s->original.len, 0, &own, &err) == 0);
	CHECK(device_compile(device, COMPILE_APPLIED, "hlo", module.data, module.len, WANT_OPTIMISED, &ours,
		&err) == 0);
	CHECK_STR(ours.detail, "");
	if (CHECK(own.handle && ours.handle)) {
		CHECK(s->space->ops->check(s->space, config, ours.optimised.data, ours.optimised.len, &kept,
			&err) == 0);
		CHECK_INT(kept.equal, kept.asked);
		CHECK(device_compare(device, &own, &ours, NULL, &c, &err) == 0);
		CHECK_INT(c.outcome, OUTCOME_OK);
		CHECK(!c.all.unlike && c.all.max_rel < 1e-3 && !c.layouts_differ);
		comparison_release(&c);
	}
	device_drop(device, &own, &err);
	device_drop(device, &ours, &err);
	compiled_release(&own);
	compiled_release(&ours);
	buf_release(&module);
}

static void check_default(struct subject *s)
{
	uint8_t *config = mem_alloc(s->space->n_sites + 1);

	space_default(s->space, config);
	check_config(s, config);
	mem_free(config);
}

#define QUICK 1000 /* sites of a program that compiles in a second or so */

/* Returns how many instructions were added. */
static uint32_t check_program(const char *path)
{
	struct subject s;
	struct err err = {0};
	uint32_t added;

	if (!CHECK(subject_open(&s, path, "fusion", device, &err) == 0)) {
		printf("\t%s: %s\n", path, err.text);
		return 0;
	}
	CHECK(s.space->account.parts > 0);
	if (!CHECK_INT(s.space->account.equal, s.space->account.parts))
		printf("\t%s: %s\n", path, s.decoded);
	if (s.space->n_sites <= QUICK || getenv("LONG_TESTS"))
		check_default(&s);
	added = s.space->account.added;
	subject_release(&s);
	return added;
}

static uint32_t check_text(const char *text, size_t n)
{
	char path[] = "/tmp/vantage-decode-XXXXXX";
	struct err err = {0};
	int fd = mkstemp(path);
	uint32_t added;

	if (!CHECK(fd >= 0) || !CHECK(io_write_file(path, text, n, &err) == 0))
		return 0;
	close(fd);
	added = check_program(path);
	unlink(path);
	return added;
}

static void twins_are_told_apart(void)
{
	CHECK_INT(check_text(twins, sizeof twins - 1), 0);
}

static void products_of_vectors(void)
{
	check_text(vectors, sizeof vectors - 1);
}

static void mapped_functions(void)
{
	check_text(mapped, sizeof mapped - 1);
}

static void copies_that_differ(void)
{
	CHECK(check_text(copies, sizeof copies - 1) > 0);
}

/* Kernels of the library in the program that a configuration gives. */
static uint32_t count_library(struct subject *s, const uint8_t *config)
{
	struct buf module = {0};
	struct graph g = {0};
	struct err err = {0};
	uint32_t n = 0;

	if (CHECK(s->space->ops->apply(s->space, config, &module, &err) == 0) &&
		CHECK(graph_parse(&g, module.data, module.len, "applied", &err) == 0))
		for (uint32_t v = 0; v < g.n_nodes; v++)
			n += g.node[v].opcode == OP_FUSION && strcmp(g.node[v].proto->fusion_kind, "kCustom") == 0;
	graph_release(&g);
	buf_release(&module);
	return n;
}

/* Each choice by itself: one at least takes the library's kernel away. */
static void check_choices(struct subject *s)
{
	uint8_t *config = mem_alloc(s->space->n_sites + 1);
	uint32_t without = 0;

	space_default(s->space, config);
	CHECK_INT(count_library(s, config), 1);
	for (uint32_t i = 0; i < s->space->n_sites; i++)
		for (uint8_t k = 0; k < s->space->site[i].choices; k++) {
			if (k == s->space->site[i].dflt)
				continue;
			config[i] = k;
			without += count_library(s, config) == 0;
			check_config(s, config);
			config[i] = s->space->site[i].dflt;
		}
	CHECK(without > 0);
	mem_free(config);
}

static void check_library(const char *text, size_t n)
{
	char path[] = "/tmp/vantage-library-XXXXXX";
	struct subject s;
	struct err err = {0};
	int fd = mkstemp(path);

	if (!CHECK(fd >= 0))
		return;
	close(fd);
	if (CHECK(io_write_file(path, text, n, &err) == 0) &&
		CHECK(subject_open(&s, path, "fusion", device, &err) == 0)) {
		CHECK_INT(s.space->account.equal, s.space->account.parts);
		check_choices(&s);
		subject_release(&s);
	}
	unlink(path);
}

static void what_a_library_does(void)
{
	const char *release = device_info(device)->release;

	if (release && strcmp(release, "0.0.1") == 0)
		SKIP("this plugin has no such library");
	check_library(sums, sizeof sums - 1);
	check_library(product, sizeof product - 1);
}

static void examples(void)
{
	static const char *const patterns[] = {"examples/graphs/tiny/*.pb.zst",
		"examples/graphs/held-out/ranker.pb.zst",
		"examples/graphs/held-out/graph-network.pb.zst", "../shared/hlo/*.pb"};
	glob_t g;

	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		if (glob(patterns[i], 0, NULL, &g) != 0)
			continue;
		for (size_t k = 0; k < g.gl_pathc; k++)
			check_program(g.gl_pathv[k]);
		globfree(&g);
	}
}

int main(void)
{
	struct device_options o = {.wait = true, .deadline = PATIENT};
	struct err err = {0};

	device = device_open(&o, &err);
	if (!device) {
		printf("skip: decode: %s\n", err.text);
		return 0;
	}
	RUN(twins_are_told_apart);
	RUN(products_of_vectors);
	RUN(mapped_functions);
	RUN(copies_that_differ);
	RUN(what_a_library_does);
	RUN(examples);
	device_close(device);
	return test_done();
}
