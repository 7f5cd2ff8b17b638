/*
 * full_weld.c - the real compiler makes one kernel of what is welded, and that computes the same numbers.
 *
 * The programs are the compiler's own after fusion. A call that becomes one kernel stays a call in the optimised
 * program; one whose results nobody needs is dropped.
 */
#include <string.h>
#include <unistd.h>
#include "device/codegen.h"
#include "graph/weld.h"
#include "ready/subject.h"
#include "tests/test.h"

#define UNITS 100 /* in the last place: sums in another order */

static struct device *device;

static uint32_t count_tags(const struct buf *module, const char *tag)
{
	const char *at = module->data, *end = at + module->len;
	uint32_t n = 0;

	for (; (at = memmem(at, (size_t)(end - at), tag, strlen(tag))); at += strlen(tag))
		n++;
	return n;
}

/* Compiles both forms, and compares what they compute on the same inputs. */
static void compare(const struct buf *apart, const struct buf *welded, const char *tag)
{
	struct compiled c[2] = {{0}, {0}};
	struct comparison x = {0};
	struct err err = {{0}};

	CHECK_INT(device_compile(device, COMPILE_APPLIED, "hlo", apart->data, apart->len, 0, &c[0], &err), 0);
	CHECK_INT(device_compile(device, COMPILE_APPLIED, "hlo", welded->data, welded->len, WANT_OPTIMISED, &c[1],
		&err), 0);
	if (CHECK_INT(c[0].outcome, OUTCOME_OK) && CHECK_INT(c[1].outcome, OUTCOME_OK) &&
		CHECK_INT(device_compare(device, &c[0], &c[1], &(struct compare_options){0}, &x, &err), 0)) {
		CHECK_INT(x.outcome, OUTCOME_OK);
		CHECK_INT(x.all.unlike, 0);
		CHECK(x.all.max_rel <= UNITS * x.all.unit);
		CHECK(count_tags(&c[1].optimised, tag) > 0);
	}
	CHECK_STR(err.text, "");
	comparison_release(&x);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(device_drop(device, &c[i], &err), 0);
		compiled_release(&c[i]);
	}
}

static void welded_programs_compute_the_same(void)
{
	static const char *const paths[] = {"tiny/loop", "tiny/scan", "tiny/attention", "tiny/sort", "loops/garch",
		"loops/multigrid", "loops/kalman", "loops/asian-option", "loops/life", "loops/spiking"};
	static const double sizes[] = {1 << 12, 1 << 16, 1 << 26};
	const char *tag = codegen_weld(device_info(device)->family);
	uint32_t welded = 0;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		char path[120];
		struct subject s;
		struct err err = {{0}};
		struct buf apart = {0};
		snprintf(path, sizeof path, "examples/graphs/%s.pb.zst", paths[i]);
		if (!CHECK(subject_open(&s, path, "fusion", device, &err) == 0))
			continue;
		uint8_t *config = MEM_NEW(s.space->n_sites + 1, uint8_t);
		space_default(s.space, config);
		CHECK_INT(s.space->ops->apply(s.space, config, &apart, &err), 0);
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			struct welding how = {tag, sizes[k]};
			struct welded w;
			struct buf out = {0};
			CHECK_INT(weld(apart.data, apart.len, &how, &out, &w, &err), 0);
			if (w.into)
				compare(&apart, &out, tag);
			welded += w.into;
			buf_release(&out);
		}
		mem_free(config);
		buf_release(&apart);
		subject_release(&s);
	}
	CHECK(welded >= 30);
}

int main(void)
{
	struct err err = {{0}};
	struct device_options o = {.wait = true, .deadline = PATIENT};

	device = device_open(&o, &err);
	if (!device) {
		printf("skip: weld: %s\n", err.text);
		return 0;
	}
	RUN(welded_programs_compute_the_same);
	device_close(device);
	return test_done();
}
