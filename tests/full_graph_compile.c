/*
 * full_graph_compile.c - what is read and written again compiles to the same program, on XLA:CPU.
 */
#include <glob.h>
#include "base/io.h"
#include "graph/graph.h"
#include "tests/optimised.h"

static struct device *device;

static void same_program(const char *path)
{
	struct buf file = {0}, written = {0};
	struct graph g = {0};
	struct err err = {0};
	if (!CHECK(io_read_file(path, IO_FILE_LIMIT, &file, &err) == 0 && graph_read(&g, path, &err) == 0))
		printf("%s\n", err.text);
	graph_write(&g, &written);
	uint64_t a = optimised(device, &file), b = optimised(device, &written);
	if (!CHECK(a != 0 && a == b))
		printf("of %s\n", path);
	graph_release(&g);
	buf_release(&file);
	buf_release(&written);
}

static void each(const char *pattern)
{
	glob_t found;
	if (glob(pattern, 0, NULL, &found) != 0)
		SKIP("no such graphs here");
	for (size_t i = 0; i < found.gl_pathc; i++)
		same_program(found.gl_pathv[i]);
	globfree(&found);
}

static void tiny_graphs(void)
{
	each("examples/graphs/tiny/*.pb.zst");
}

static void real_graphs(void)
{
	each("../shared/hlo/*.pb");
}

int main(void)
{
	struct device_options o = {.backend = "cpu", .wait = true, .deadline = PATIENT};
	struct err err = {0};
	device = device_open(&o, &err);
	if (!device) {
		printf("skip: graph_compile: %s\n", err.text);
		return 0;
	}
	RUN(tiny_graphs);
	RUN(real_graphs);
	device_close(device);
	return test_done();
}
