/*
 * full_nan.c - the real compiler keeps NaNs where it takes maxima and minima, as jaxlib has it.
 *
 * A row has a NaN if its maximum is one. That is compared with what a search for NaNs says of the row; and the same of
 * maxima of two numbers. The proof can fail: with the compiler's own options (schemas/codegen.def), it has to.
 */
#include <string.h>
#include "device/device.h"
#include "graph/graph.h"
#include "tests/test.h"

static const char *const operations[] = {"maximum", "minimum"};

/* Numbers, one in 13 of them NaN: the root of a negative number. Then which rows have one, by `how`. */
static void write_program(struct buf *b, const char *how, bool rows)
{
	const char *text = "HloModule m\nf {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n"
		" ROOT r = f32[] %s(p, q)\n}\n"
		"any {\n p = pred[] parameter(0)\n q = pred[] parameter(1)\n ROOT r = pred[] or(p, q)\n}\n"
		"ENTRY e {\n a = f32[61,67] parameter(0)\n i = s32[61,67] iota(), iota_dimension=1\n"
		" j = s32[61,67] iota(), iota_dimension=0\n k = s32[61,67] add(i, j)\n n13 = s32[] constant(13)\n"
		" m = s32[61,67] broadcast(n13), dimensions={}\n u = s32[61,67] remainder(k, m)\n"
		" n5 = s32[] constant(5)\n v = s32[61,67] broadcast(n5), dimensions={}\n"
		" w = s32[61,67] multiply(i, v)\n"
		" s = pred[61,67] compare(u, w), direction=EQ\n"
		" one = f32[] constant(-1)\n"
		" ones = f32[61,67] broadcast(one), dimensions={}\n b = f32[61,67] abs(a)\n c = f32[61,67] negate(b)\n"
		" d = f32[61,67] add(c, ones)\n g = f32[61,67] sqrt(d)\n x = f32[61,67] select(s, g, a)\n"
		" zero = f32[] constant(0)\n zeros = f32[61,67] broadcast(zero), dimensions={}\n"
		" no = pred[] constant(false)\n";

	buf_addf(b, text, *how ? how : "add");
	if (!*how)
		buf_adds(b, " z = pred[61,67] compare(x, x), direction=NE\n");
	if (!*how && rows)
		buf_adds(b, " y = pred[61] reduce(z, no), dimensions={1}, to_apply=any\n");
	else if (!*how)
		buf_adds(b, " y = pred[61,67] copy(z)\n");
	else if (rows)
		buf_adds(b, " z = f32[61] reduce(x, zero), dimensions={1}, to_apply=f\n"
			" y = pred[61] compare(z, z), direction=NE\n");
	else
		buf_addf(b, " z = f32[61,67] %s(x, zeros)\n y = pred[61,67] compare(z, z), direction=NE\n", how);
	buf_addf(b, " ROOT o = s32[%s] convert(y)\n}\n", rows ? "61" : "61,67");
}

static void compile(struct device *d, const char *how, bool rows, struct compiled *out)
{
	struct buf text = {0}, bytes = {0};
	struct graph g = {0};
	struct err err = {0};

	write_program(&text, how, rows);
	if (CHECK(graph_parse(&g, text.data, text.len, "rows", &err) == 0)) {
		graph_write(&g, &bytes);
		CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", bytes.data, bytes.len, 0, out, &err) == 0);
		CHECK_INT(out->outcome, OUTCOME_OK);
	}
	CHECK_STR(err.text, "");
	graph_release(&g);
	buf_release(&text);
	buf_release(&bytes);
}

/* In how many places an operation is wrong about NaNs. */
static uint64_t wrong(struct device *d, const char *operation, bool rows)
{
	struct compiled side[2] = {{0}, {0}};
	struct compare_options o = {.inputs = INPUTS_NORMAL};
	struct comparison c = {0};
	struct err err = {0};
	uint64_t n;

	compile(d, "", rows, &side[0]);
	compile(d, operation, rows, &side[1]);
	CHECK(device_compare(d, &side[0], &side[1], &o, &c, &err) == 0 && c.outcome == OUTCOME_OK);
	n = c.all.unlike;
	comparison_release(&c);
	for (int i = 0; i < 2; i++) {
		CHECK(device_drop(d, &side[i], &err) == 0);
		compiled_release(&side[i]);
	}
	return n;
}

static uint64_t all_wrong(const char *options)
{
	struct err err = {0};
	struct device *d = device_open(&(struct device_options){.backend = "cpu", .wait = true, .untimed = true,
		.deadline = PATIENT, .kind = "fusion", .options = options}, &err);
	uint64_t n = 0;

	CHECK_STR(err.text, "");
	for (int i = 0; d && i < 4; i++)
		n += wrong(d, operations[i / 2], i % 2);
	device_close(d);
	return n;
}

static void nans_are_kept(void)
{
	CHECK_INT(all_wrong(NULL), 0);
}

static void the_compiler_alone_loses_some(void)
{
	CHECK(all_wrong("xla_cpu_enable_fast_min_max=true") > 0);
}

int main(void)
{
	struct err err = {0};
	struct device *d = device_open(&(struct device_options){.backend = "cpu", .wait = true, .kind = "fusion"},
		&err);

	if (!d) {
		printf("skip: NaNs: %s\n", err.text);
		return 0;
	}
	device_close(d);
	RUN(nans_are_kept);
	RUN(the_compiler_alone_loses_some);
	return test_done();
}
