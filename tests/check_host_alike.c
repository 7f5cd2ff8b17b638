/*
 * check_host_alike.c - how far outputs are said to be apart: on each kind of input, and beside numbers of any size.
 */
#include "tests/device_fixture.h"

/* Programs that differ from another one on one kind of input only. Their outputs are 1, 2, 3, 4, times a factor. */
static void kinds_of_input(void)
{
	static const struct {
		const char *script;
		enum inputs inputs;
		uint8_t nudged;
		bool fresh;
		double abs;
		uint64_t unlike;
	} table[] = {
		{"large=2", INPUTS_NORMAL, 0, false, 0, 0}, {"large=2", INPUTS_LARGE, 0, false, 4, 0},
		{"large=2", INPUTS_LARGE, 0, true, 4, 0}, {"small=2", INPUTS_SMALL, 0, false, 4, 0},
		{"small=2", INPUTS_ZERO, 0, false, 0, 0}, {"zero=2", INPUTS_ZERO, 0, false, 4, 0},
		{"zero=2", INPUTS_POSITIVE, 0, false, 0, 0}, {"us=9", INPUTS_NORMAL, 1, false, 0, 0},
		{"serial=no;zero=2", INPUTS_ZERO, 0, true, 4, 0},
	};
	struct device *d = fixture_open();
	struct compiled plain, other, chaos, whole;
	struct comparison c;
	struct err err = {{0}};

	if (!d)
		return;
	CHECK(fixture_compile(d, "us=1", &plain) == OUTCOME_OK);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct compare_options o = {table[i].inputs, table[i].nudged, false, table[i].fresh, false};
		CHECK(fixture_compile(d, table[i].script, &other) == OUTCOME_OK);
		CHECK(device_compare(d, &plain, &other, &o, &c, &err) == 0);
		if (!CHECK_INT(c.outcome, OUTCOME_OK) || !CHECK_NEAR(c.all.max_abs, table[i].abs, 1e-6))
			printf("\trow %zu: %s\n", i, c.detail);
		comparison_release(&c);
		device_drop(d, &other, &err);
	}
	/*
	 * A program against itself: the same inputs give the same outputs; nudged inputs change what depends on the
	 * last bit; zeros stay zeros. If both inputs are nudged, they are the same again.
	 */
	CHECK(fixture_compile(d, "chaos=1", &chaos) == OUTCOME_OK);
	for (int i = 0; i < INPUTS_COUNT; i++)
		for (uint8_t nudged = 0; nudged < 3; nudged++) {
			struct compare_options o = {.inputs = (enum inputs)i, .nudged = nudged};
			CHECK(device_compare(d, &chaos, &chaos, &o, &c, &err) == 0);
			CHECK((c.all.max_rel > 0) == (nudged && i != INPUTS_ZERO));
			comparison_release(&c);
			o.both = true;
			CHECK(device_compare(d, &chaos, &chaos, &o, &c, &err) == 0);
			CHECK(c.outcome == OUTCOME_OK && c.all.max_rel <= 0);
			comparison_release(&c);
		}
	CHECK(fixture_compile(d, "type=int", &whole) == OUTCOME_OK && fixture_compile(d, "type=int;large=2", &other) ==
		OUTCOME_OK);
	CHECK(device_compare(d, &whole, &other, &(struct compare_options){.inputs = INPUTS_LARGE}, &c, &err) == 0);
	CHECK(c.all.unlike == 4 && c.all.max_abs == 4 && c.output[0].unit == 0);
	comparison_release(&c);
	CHECK(device_compare(d, &whole, &plain, NULL, &c, &err) == 0);
	CHECK_INT(c.outcome, OUTCOME_REFUSED); /* other types */
	comparison_release(&c);
	device_close(d);
}

static void how_far_apart(void)
{
	struct device *d = fixture_open();
	struct compiled a, b, n, far;
	struct comparison c;
	struct err err = {{0}};

	if (!d)
		return;
	CHECK(fixture_compile(d, "us=1", &a) == OUTCOME_OK && fixture_compile(d, "out=1.5", &b) == OUTCOME_OK);
	CHECK(fixture_compile(d, "run=nan", &n) == OUTCOME_OK && fixture_compile(d, "out=2.5", &far) == OUTCOME_OK);
	CHECK(device_compare(d, &a, &a, NULL, &c, &err) == 0);
	CHECK(c.outcome == OUTCOME_OK && c.all.max_abs == 0 && c.all.max_rel == 0 && !c.all.unlike &&
		!c.layouts_differ);
	CHECK(c.n_outputs == 1 && c.output[0].elements == 4 && c.all.finite == 4);
	CHECK_NEAR(c.output[0].unit, 0x1p-23, 1e-12);
	comparison_release(&c);
	CHECK(device_compare(d, &a, &b, NULL, &c, &err) == 0);
	CHECK_NEAR(c.all.max_abs, 2, 1e-6);
	CHECK_NEAR(c.all.max_rel, 2 / 6.5, 1e-6);
	CHECK_INT(c.all.far, 0);
	comparison_release(&c);
	CHECK(device_compare(d, &a, &far, NULL, &c, &err) == 0);
	CHECK_INT(c.all.far, 3); /* all but the smallest, which is 1.5 / 3.5 off */
	CHECK_NEAR(c.all.rest_rel, 1.5 / 3.5, 1e-6);
	CHECK_NEAR(c.all.max_rel, 6 / 6.5, 1e-6);
	comparison_release(&c);
	CHECK(device_compare(d, &a, &n, NULL, &c, &err) == 0);
	CHECK(c.all.unlike == 1 && c.all.finite == 3);
	comparison_release(&c);
	CHECK(device_compare(d, &n, &n, NULL, &c, &err) == 0);
	CHECK(!c.all.unlike && c.all.max_abs == 0 && c.all.finite == 3);
	comparison_release(&c);
	device_close(d);
}

/* One huge number, as masks are, which is the same in both, does not make all others alike. */
static void beside_a_mask(void)
{
	struct device *d = fixture_open();
	struct compiled a, b;
	struct comparison c;
	struct err err = {{0}};

	if (!d)
		return;
	CHECK(fixture_compile(d, "run=mask", &a) == OUTCOME_OK);
	CHECK(fixture_compile(d, "run=mask;out=1e5", &b) == OUTCOME_OK);
	CHECK(device_compare(d, &a, &b, NULL, &c, &err) == 0);
	CHECK(c.outcome == OUTCOME_OK && c.all.max_rel > 1);
	CHECK_INT(c.all.far, 3);
	comparison_release(&c);
	device_close(d);
}

int main(void)
{
	if (fixture_begin()) {
		RUN(kinds_of_input);
		RUN(how_far_apart);
		RUN(beside_a_mask);
	} else {
		printf("skip: alike: no fake plugin: it is built once the plugin's header is there (make deps)\n");
	}
	fixture_end();
	return test_done();
}
