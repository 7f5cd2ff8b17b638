/*
 * check_accelerator.c - devices that are not the machine: how they are described, who may measure on them, and how much
 * room they have for inputs. The fake plugin plays the devices.
 */
#include "device/accelerator.h"
#include "device/machine.h"
#include "store/fact.h"
#include "tests/device_fixture.h"

static void names_are_of_the_device(void)
{
	static const struct {
		struct accelerator a;
		const char *platform, *want;
	} t[] = {
		{{.on_host = true, .kind = "cpu", .count = 1}, "cpu", ""},
		{{.count = 0}, "cuda", ""}, /* it only compiles */
		{{.kind = "big", .count = 1, .memory = 80ull << 30}, "nobody", "big, 1 device, 80 GiB"},
		{{.kind = "big", .count = 1, .memory = (80ull << 30) - 99999999}, "nobody", "big, 1 device, 80 GiB"},
		{{.kind = "big", .count = 8}, "nobody", "big, 8 devices"},
		{{.count = 1}, "nobody", "unnamed, 1 device"},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		char text[200];
		struct accelerator back = {0};
		struct buf b = {0};
		struct cursor c;

		accelerator_describe(&t[i].a, t[i].platform, text, sizeof text);
		CHECK_STR(text, t[i].want);
		accelerator_save(&t[i].a, &b);
		c = cursor_of(b.data, b.len);
		accelerator_load(&back, &c);
		CHECK(cursor_done(&c));
		accelerator_describe(&back, t[i].platform, text, sizeof text);
		CHECK_STR(text, t[i].want);
		buf_release(&b);
	}
}

static struct device *open_as(const char *fake, bool wait, struct err *err)
{
	struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = wait};

	setenv("FAKE_PLUGIN", fake, 1);
	struct device *d = device_open(&o, err);
	unsetenv("FAKE_PLUGIN");
	return d;
}

/* Returns the environment of a fake device in a store; 0 on failure. */
static int64_t environment_of(struct store *s, const char *fake, const char *want)
{
	struct err err = {{0}};
	struct device *d = open_as(fake, true, &err);
	const struct device_info *i = d ? device_info(d) : NULL;
	int64_t id = 0;

	if (CHECK(d != NULL)) {
		struct environment e = {i->machine, i->backend, i->platform, i->version, i->compile_options, i->kind,
			i->device, i->build, i->quantity};
		CHECK_STR(i->device, want);
		CHECK_INT(strlen(i->build), 16);
		CHECK_INT(store_environment(s, &e, &id, &err), 0);
	}
	CHECK_STR(err.text, "");
	device_close(d);
	return id;
}

static void two_models_share_no_prices(void)
{
	struct err err = {{0}};
	char path[128];
	int64_t id[6];
	struct store *s;

	snprintf(path, sizeof path, "%s/prices.sqlite", fixture_folder);
	s = store_open(path, STORE_CREATE, NULL, &err);
	if (!CHECK(s != NULL))
		return;
	id[0] = environment_of(s, "fake:any=1", "");
	id[1] = environment_of(s, "fake:platform=cuda;kind=big;memory=81920", "big, 1 device, 80 GiB");
	id[2] = environment_of(s, "fake:platform=cuda;kind=small;memory=81920", "small, 1 device, 80 GiB");
	id[3] = environment_of(s, "fake:platform=cuda;kind=big;memory=40960", "big, 1 device, 40 GiB");
	id[4] = environment_of(s, "fake:platform=cuda;kind=big;memory=81920;number=5", "big, 1 device, 80 GiB");
	id[5] = environment_of(s, "fake:any=0", "");
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < i; k++)
			CHECK(id[i] != id[k]);
	CHECK_INT(id[4], id[1]); /* which one of equal ones does not matter */
	CHECK_INT(id[5], id[0]);
	store_close(s);
	remove(path);
}

/* Its lock is taken once. A helper does not wait for it: it would wait for ever for who waits for the helper. */
static void its_helpers_only_compile(void)
{
	for (int wait = 0; wait < 2; wait++) {
		struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = wait, .jobs = 1};
		struct err err = {{0}};
		struct agenda agenda = {0};
		struct buf module = {0}, wanted = {0};
		struct compiled c;
		struct device *d;
		setenv("FAKE_PLUGIN", "fake:platform=cuda;kind=big;number=3", 1);
		d = device_open(&o, &err);
		CHECK_STR(err.text, "");
		if (!CHECK(d && device_info(d)->helpers == 1 && !device_measures_ahead(d)))
			return;
		fixture_program("us=20", &module);
		buf_add(&wanted, module.data, module.len);
		agenda_add(&agenda, &module, 1);
		device_expect(d, &agenda);
		agenda_release(&agenda);
		CHECK_INT(device_compile_planned(d, COMPILE_REGION, wanted.data, wanted.len, 1, &c, &err), 0);
		CHECK_INT(c.outcome, OUTCOME_OK);
		compiled_release(&c);
		buf_release(&wanted);
		device_close(d);
		unsetenv("FAKE_PLUGIN");
	}
}

/* A region is launched as a part of a program is; a program, as the user's own. */
static void regions_are_launched_as_graphs(struct device *d)
{
	static const enum outcome t[] = {
		[COMPILE_DEFAULT] = OUTCOME_REFUSED,
		[COMPILE_APPLIED] = OUTCOME_REFUSED,
		[COMPILE_REGION] = OUTCOME_OK,
	};
	struct buf program = {0};
	struct compiled c;
	struct err err = {{0}};

	fixture_program("us=20;needs=graph", &program);
	for (unsigned how = 0; how < sizeof t / sizeof *t; how++) {
		CHECK_INT(device_compile(d, how, "hlo", program.data, program.len, 0, &c, &err), 0);
		CHECK_INT(c.outcome, t[how]);
		compiled_release(&c);
	}
	buf_release(&program);
}

/* A GPU is found by its name, and another process that works there keeps its memory. */
static void some_of_its_memory_is_enough(void)
{
	struct err err = {{0}};
	char file[128], *fake = realpath(fixture_plugin, NULL);
	struct device *d;

	snprintf(file, sizeof file, "%s/xla_cuda_plugin.so", fixture_folder);
	if (!CHECK(fake && symlink(fake, file) == 0))
		return;
	free(fake);
	setenv("VANTAGE_PLUGIN_DIR", fixture_folder, 1);
	setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1); /* no kernels are kept */
	setenv("FAKE_PLUGIN", "fake:platform=cuda;kind=big;full=1", 1);
	d = device_open(&(struct device_options){.backend = "cuda", .wait = true}, &err);
	CHECK_STR(err.text, "");
	if (CHECK(d)) {
		CHECK(device_info(d)->joins);
		regions_are_launched_as_graphs(d);
	}
	device_close(d);
	d = open_as("fake:platform=cuda;kind=big;full=1", true, &err);
	CHECK(!d && strstr(err.text, "memory is taken"));
	unsetenv("FAKE_PLUGIN");
	unsetenv("VANTAGE_PLUGIN_DIR");
	unsetenv("XDG_CACHE_HOME");
	unlink(file);
}

static void one_program_measures_on_it(void)
{
	static const struct {
		const char *visible, *fake;
		bool free;
	} t[] = {
		{NULL, "fake:platform=cuda;kind=big;number=3", false},
		{NULL, "fake:platform=cuda;kind=big;number=4", true},
		{NULL, "fake:platform=rocm;kind=big;number=3", true},
		{"7,3", "fake:platform=cuda;kind=big;number=1", false}, /* the second it sees is the host's 3 */
		{"7,3", "fake:platform=cuda;kind=big;number=0", true},
		{"3", "fake:platform=cuda;kind=big;number=0", false},
		{"3", "fake:platform=rocm;kind=big;number=0", true}, /* which does not look there */
	};
	struct err err = {{0}};
	struct device *d;
	size_t others;

	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("ROCR_VISIBLE_DEVICES");
	d = open_as("fake:platform=cuda;kind=big;number=3", true, &err);
	if (!CHECK(d != NULL))
		return;
	mem_free(cores_beside(&(int){device_info(d)->core}, 1, &others));
	if (others == 0) {
		device_close(d);
		SKIP("this process may use one core only, and two devices measure on two");
	}
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct err why = {{0}};
		struct device *other;

		if (t[i].visible)
			setenv("CUDA_VISIBLE_DEVICES", t[i].visible, 1);
		other = open_as(t[i].fake, false, &why);
		unsetenv("CUDA_VISIBLE_DEVICES");
		if (!CHECK_INT(other != NULL, t[i].free))
			printf("\trow %zu: %s\n", i, why.text);
		if (!t[i].free)
			CHECK(strstr(why.text, "cuda device 3 (big) is in use") && strstr(why.text, "--wait"));
		device_close(other);
	}
	device_close(d);
}

/* A program that waits for a device gets it, and starts its worker only then. */
static void waiting_for_it(void)
{
	struct err err = {{0}};
	struct device *d = open_as("fake:platform=cuda;kind=big;number=3", true, &err);
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct device *mine = open_as("fake:platform=cuda;kind=big;number=3", true, &err);
		struct compiled c;
		setenv("FAKE_PLUGIN", "fake:platform=cuda;kind=big;number=3", 1);
		bool works = mine && fixture_compile(mine, "us=1", &c) == OUTCOME_OK;
		device_close(mine);
		_exit(works ? 0 : 1);
	}
	CHECK(pid > 0 && d != NULL);
	CHECK_INT(waitpid(pid, &status, WNOHANG), 0); /* it waits, or has not come so far */
	device_close(d);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

/* Ten programs with an input of 3 MiB each, where there is room for two. */
static void inputs_fit_into_the_device(void)
{
	static const char *const fakes[] = {"fake:platform=cuda;kind=big;inputs=8;memory=28",
		"fake:platform=cuda;kind=big;inputs=8", "fake:inputs=8"};

	for (size_t k = 0; k < sizeof fakes / sizeof *fakes; k++) {
		struct err err = {{0}};
		struct device *d = open_as(fakes[k], true, &err);

		for (int64_t i = 0; CHECK(d != NULL) && i < 10; i++) {
			struct buf program = {0};
			struct compiled c;
			struct timing t;
			struct precision p = {.max_seconds = 0.001};

			fixture_program_of("us=1", 3 << 18 | i, &program);
			CHECK_INT(device_compile(d, COMPILE_DEFAULT, "hlo", program.data, program.len, 0, &c, &err), 0);
			CHECK_INT(device_run(d, &c, &p, &t, &err), 0);
			if (!CHECK_INT(t.outcome, OUTCOME_OK))
				printf("\t%s, program %d: %s\n", fakes[k], (int)i, t.detail);
			timing_release(&t);
			device_drop(d, &c, &err);
			compiled_release(&c);
			buf_release(&program);
		}
		device_close(d);
	}
}

int main(void)
{
	RUN(names_are_of_the_device);
	if (fixture_begin()) {
		RUN(two_models_share_no_prices);
		RUN(its_helpers_only_compile);
		RUN(some_of_its_memory_is_enough);
		RUN(one_program_measures_on_it);
		RUN(waiting_for_it);
		RUN(inputs_fit_into_the_device);
		CHECK_INT(fixture_leftovers(), 0);
	} else {
		printf("skip: accelerators: no fake plugin without the plugin's header\n");
	}
	fixture_end();
	return test_done();
}
