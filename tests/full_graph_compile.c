/*
 * full_graph_compile.c - what is read and written again compiles to the same program, on XLA:CPU.
 *
 * It takes the small graphs of the examples. Real programs are in full_text_plugin.c, which reads their text, writes a
 * message and compiles it beside the original message.
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

static void tiny_graphs(void)
{
	glob_t found;
	if (!CHECK(glob("examples/graphs/tiny/*.pb.zst", 0, NULL, &found) == 0))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		same_program(found.gl_pathv[i]);
	globfree(&found);
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
	device_close(device);
	return test_done();
}
