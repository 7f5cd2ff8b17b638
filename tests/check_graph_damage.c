/* check_graph_damage.c - a sample of what bench/damage does with every byte. */
#include "tests/graph_damage.h"
#include "tests/test.h"

#define FOLDER "examples/graphs/tiny/"

/* The file as a message without packing. */
static void load(const char *file, struct buf *b)
{
	struct err err = {0};
	if (!CHECK_INT(io_read_file(file, IO_FILE_LIMIT, b, &err), 0))
		printf("%s\n", err.text);
}

static void damaged(const char *file, size_t step, size_t flips)
{
	struct buf b = {0};
	size_t taken;
	load(file, &b);
	CHECK(b.len && damage_feed(b.data, b.len, 0)); /* as it is */
	damage_cuts(&b, step * (11 - (size_t)test_cases(10)));
	flips = (size_t)test_cases((int)flips);
	taken = damage_flips(&b, flips, 1);
	CHECK(taken > flips / 20 && taken < flips); /* or nothing was tested */
	buf_release(&b);
}

static void a_loop(void)
{
	damaged(FOLDER "scan.pb.zst", 97, 60);
}

static void a_branch(void)
{
	damaged(FOLDER "branch.pb.zst", 53, 60);
}

static void a_block(void)
{
	damaged(FOLDER "attention.pb.zst", 89, 60);
}

int main(void)
{
	RUN(a_loop);
	RUN(a_branch);
	RUN(a_block);
	return test_done();
}
