/*
 * device_fixture.h - a device on the fake plugin, in a folder of its own: temporary files and lock
 * files go there, so a test can tell what is left behind.
 */
#ifndef TESTS_DEVICE_FIXTURE_H
#define TESTS_DEVICE_FIXTURE_H

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/progress.h"
#include "device/host.h"
#include "schemas/hlo.pb-c.h"
#include "tests/test.h"

static char fixture_folder[64], fixture_plugin[512];

/* False when there is no fake plugin because its header is missing. */
static inline bool fixture_begin(void)
{
	const char *b = getenv("B");
	snprintf(fixture_plugin, sizeof fixture_plugin, "%s/tests/fake_plugin.so",
		b ? b : "build/release");
	snprintf(fixture_folder, sizeof fixture_folder, "/tmp/vantage-test-XXXXXX");
	if (!mkdtemp(fixture_folder))
		return false;
	setenv("TMPDIR", fixture_folder, 1);
	setenv("VANTAGE_LOCK_DIR", fixture_folder, 1);
	return io_exists(fixture_plugin);
}

static inline int fixture_leftovers(void)
{
	DIR *d = opendir(fixture_folder);
	int n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static inline void fixture_end(void)
{
	rmdir(fixture_folder);
}

/* True when no child process is left, neither running nor dead. */
static inline bool fixture_no_children(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0;
}

/* A module that the fake plugin reads a script from, with one parameter f32[n]. */
static inline void fixture_program_of(const char *script, int64_t n, struct buf *out)
{
	Hlo__HloModuleProto m = HLO__HLO_MODULE_PROTO__INIT;
	Hlo__ProgramShapeProto shape = HLO__PROGRAM_SHAPE_PROTO__INIT;
	Hlo__ShapeProto array = HLO__SHAPE_PROTO__INIT, *parameters[1] = {&array};
	int64_t dims[1] = {n};
	char name[256];
	snprintf(name, sizeof name, "fake:%s", script);
	array.element_type = 11;
	array.n_dimensions = 1;
	array.dimensions = dims;
	shape.n_parameters = 1;
	shape.parameters = parameters;
	m.name = name;
	m.host_program_shape = &shape;
	buf_reset(out);
	buf_reserve(out, hlo__hlo_module_proto__get_packed_size(&m));
	out->len = hlo__hlo_module_proto__pack(&m, (uint8_t *)out->data);
}

static inline void fixture_program(const char *script, struct buf *out)
{
	fixture_program_of(script, 4, out);
}

#define SHORT 0.2 /* seconds for what is late on purpose; all else gets PATIENT */

/* Sets the deadline of the following requests. Starting a worker stays patient. */
static inline void fixture_deadline(struct device *d, double seconds)
{
	if (d)
		host_of(d)->deadline = seconds;
}

static inline struct device *fixture_open(void)
{
	struct err err = {{0}};
	struct device_options o = {.backend = fixture_plugin,
		.deadline = PATIENT,
		.wait = true,
		.seed = 1,
		.core = 1 + sched_getcpu()};
	struct device *d = device_open(&o, &err);
	if (!d)
		printf("FAIL: %s: %s\n", test_name, err.text);
	return d;
}

/* Compiles a script. Releases the bytes of the result; the test looks at its outcome, handle and sentences. */
static inline enum outcome fixture_compile(struct device *d, const char *script, struct compiled *c)
{
	struct buf program = {0};
	struct err err = {{0}};
	fixture_program(script, &program);
	int rc = device_compile(d, COMPILE_DEFAULT, "hlo", program.data, program.len, 0, c, &err);
	if (rc < 0)
		printf("FAIL: %s: %s\n", test_name, err.text);
	else
		compiled_release(c);
	buf_release(&program);
	return rc < 0 ? OUTCOME_COUNT : c->outcome;
}

/* Checks that the next request works, whatever happened before. */
static inline void fixture_still_works(struct device *d, const char *after)
{
	struct compiled c;
	struct timing t = {0};
	struct precision p = {.max_seconds = 0.005};
	struct err err = {{0}};
	if (fixture_compile(d, "us=20", &c) != OUTCOME_OK || device_run(d, &c, &p, &t, &err) < 0 ||
		t.outcome != OUTCOME_OK) {
		printf("FAIL: %s: nothing works after %s: %s\n", test_name, after, err.text);
		test_failed++;
	}
	device_drop(d, &c, &err);
	timing_release(&t);
}

#endif
