/*
 * full_evade.c - the real compiler is as wrong as schemas/fault.def says, and right about what is written instead.
 *
 * Skipped where the plugin is not one that the table speaks of. An arctangent is compared with atan2(x, 0 x + 1), of
 * which no compiler can know that it is one.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "ready/subject.h"
#include "tests/test.h"

#define N "4099" /* no multiple of a vector */
#define RIGHT 1e-6

static struct device *device;

static void write_arctangent(struct buf *b, const char *type, const char *one)
{
	buf_addf(b, "HloModule m\nENTRY e {\n x = %s[" N "] parameter(0)\n c = %s[] constant(1)\n"
		" n = %s[] constant(0)\n d = %s[" N "] broadcast(c), dimensions={}\n"
		" z = %s[" N "] broadcast(n), dimensions={}\n"
		" m = %s[" N "] multiply(x, z)\n o = %s[" N "] add(m, d)\n ROOT y = %s[" N "] atan2(x, %s)\n}\n",
		type, type, type, type, type, type, type, type, one);
}

static bool compile(const char *text, struct compiled *out)
{
	struct graph g = {0};
	struct buf bytes = {0};
	struct err err = {0};
	bool ok = CHECK(graph_parse(&g, text, strlen(text), "arctangent", &err) == 0);

	if (ok)
		graph_write(&g, &bytes);
	ok = ok && CHECK(device_compile(device, COMPILE_DEFAULT, "hlo", bytes.data, bytes.len, 0, out, &err) == 0) &&
		CHECK_INT(out->outcome, OUTCOME_OK);
	buf_release(&bytes);
	graph_release(&g);
	return ok;
}

/* How far the outputs of two programs are apart. */
static double apart(struct compiled *a, struct compiled *b)
{
	struct compare_options o = {.inputs = INPUTS_LARGE};
	struct comparison c = {0};
	struct err err = {0};
	double far = INFINITY;

	if (CHECK(device_compare(device, a, b, &o, &c, &err) == 0) && CHECK_INT(c.outcome, OUTCOME_OK))
		far = c.all.max_rel;
	comparison_release(&c);
	return far;
}

static void open_and_compile(const char *text, struct compiled *out)
{
	char path[] = "/tmp/vantage-evade.XXXXXX.hlo";
	int fd = mkstemps(path, 4);
	struct subject s;
	struct err err = {0};

	if (!CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text)))
		return;
	close(fd);
	if (CHECK(subject_open(&s, path, "fusion", device, &err) == 0)) {
		CHECK(strstr(s.decoded, "arctangents"));
		CHECK(device_compile(device, COMPILE_DEFAULT, "hlo", s.original.data, s.original.len, 0, out, &err) ==
			0);
		subject_release(&s);
	}
	if (err.text[0])
		printf("\t%s\n", err.text);
	unlink(path);
}

static void arctangents_are_right(void)
{
	static const char *const types[] = {"f32", "f64"};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct compiled side[3] = {{0}, {0}, {0}};
		struct buf plain = {0}, hidden = {0};
		struct err err = {0};
		write_arctangent(&plain, types[i], "d");
		write_arctangent(&hidden, types[i], "o");
		if (compile((char *)plain.data, &side[0]) && compile((char *)hidden.data, &side[1])) {
			printf("# %s: the compiler's own is %.2g off\n", types[i], apart(&side[0], &side[1]));
			CHECK(apart(&side[0], &side[1]) > RIGHT);
		}
		open_and_compile((char *)plain.data, &side[2]);
		CHECK(side[2].handle && apart(&side[2], &side[1]) <= RIGHT);
		for (int k = 0; k < 3; k++) {
			if (side[k].handle)
				CHECK(device_drop(device, &side[k], &err) == 0);
			compiled_release(&side[k]);
		}
		buf_release(&plain);
		buf_release(&hidden);
	}
}

int main(void)
{
	struct err err = {0};

	device = device_open(&(struct device_options){.backend = "cpu", .wait = true, .untimed = true,
		.deadline = PATIENT, .kind = "fusion"}, &err);
	if (!device || !device_info(device)->release || strcmp(device_info(device)->release, "0.11.2") != 0) {
		printf("skip: known faults: %s\n", device ? "no row speaks of this plugin" : err.text);
		device_close(device);
		return 0;
	}
	RUN(arctangents_are_right);
	device_close(device);
	return test_done();
}
