/*
 * check_plugin.c - where plugins are looked for: of several versions the first that is there, of a version that the
 * user asks for only that one, first of all in the folder that the user names, and beside the python3 of PATH. The
 * files are empty; nothing loads them.
 */
#include "device/backend.h"

#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "tests/test.h"

static const struct plugin known[] = {
#define PLUGIN(...) {__VA_ARGS__},
#include "schemas/plugin.def"
#undef PLUGIN
};
enum { N_KNOWN = sizeof known / sizeof *known };

static char named[64] = "/tmp/vantage-check-plugin.XXXXXX";

static void put(const struct plugin *p)
{
	struct buf path = {0};

	buf_addf(&path, "%s/%.*s", named, (int)(strrchr(p->file, '/') - p->file), p->file);
	CHECK(io_make_dir(path.data, NULL) == 0);
	buf_reset(&path);
	buf_addf(&path, "%s/%s", named, p->file);
	CHECK(io_write_file(path.data, "", 0, NULL) == 0);
	buf_release(&path);
}

/* Which row's file in the named folder the device's name means; -1: another file, -2: none. */
static int means(const char *device, struct err *err)
{
	struct buf path = {0};
	int found = -1;
	const struct backend *b = backend_find(device, err);

	if (!b || backend_plugin(b, device, &path, err) < 0)
		found = -2;
	for (int i = 0; found == -1 && i < N_KNOWN; i++)
		if (strncmp(path.data, named, strlen(named)) == 0 && strstr(path.data, known[i].file))
			found = i;
	buf_release(&path);
	return found;
}

/* From the oldest to the newest: each that comes is meant as soon as it is there. */
static void the_first_row_that_is_there(void)
{
	struct err err = {{0}};
	char device[64];

	for (int i = N_KNOWN - 1; i >= 0; i--) {
		put(&known[i]);
		CHECK_INT(means("cpu", &err), i);
		CHECK_INT(means(NULL, &err), i);
		CHECK_INT(means("pod:v5e", &err), i);
		snprintf(device, sizeof device, "cpu@%s", known[N_KNOWN - 1].version);
		CHECK_INT(means(device, &err), N_KNOWN - 1);
	}
}

static void the_named_folder_comes_first(void)
{
	char device[64];
	struct err err = {{0}};

	io_remove_tree(named, NULL);
	put(&known[N_KNOWN - 1]);
	CHECK_INT(means("cpu", &err), N_KNOWN - 1); /* even if a newer one lies elsewhere */
	snprintf(device, sizeof device, "cpu@%s", known[0].version);
	int newest = means(device, &err);
	CHECK(newest == -1 || (newest == -2 && strstr(err.text, device) && strstr(err.text, "--plugin VERSION")));
}

/* The packages of an environment that is not active, but whose python3 a shell would run. */
static void beside_the_python_of_path(void)
{
	static const char below[] = "lib/python3.12/site-packages/jax_plugins/xla_cuda13";
	struct buf dir = {0}, found = {0};
	struct err err = {{0}};
	char *before = strdup(getenv("PATH"));
	const struct backend *cuda = backend_find("cuda", &err);

	buf_addf(&dir, "%s/bin", named);
	CHECK(io_make_dir(dir.data, NULL) == 0);
	CHECK(io_write_in(dir.data, "python3", "", 0, NULL) == 0);
	unsetenv("VIRTUAL_ENV");
	setenv("PATH", dir.data, 1);
	int without = backend_plugin(cuda, "cuda", &found, &err); /* 0 if some other folder of this machine has one */
	CHECK(!strstr(found.len ? found.data : "", named));
	buf_reset(&dir);
	buf_addf(&dir, "%s/%s", named, below);
	CHECK(io_make_dir(dir.data, NULL) == 0);
	CHECK(io_write_in(dir.data, "xla_cuda_plugin.so", "", 0, NULL) == 0);
	CHECK_INT(backend_plugin(cuda, "cuda", &found, &err), 0);
	CHECK(without == 0 || (strstr(found.data, named) && strstr(found.data, below)));
	setenv("PATH", before, 1);
	free(before);
	buf_release(&dir);
	buf_release(&found);
}

int main(void)
{
	if (!mkdtemp(named))
		return 1;
	setenv("VANTAGE_PLUGIN_DIR", named, 1);
	RUN(the_first_row_that_is_there);
	RUN(the_named_folder_comes_first);
	RUN(beside_the_python_of_path);
	io_remove_tree(named, NULL);
	return test_done();
}
