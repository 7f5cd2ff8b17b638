/*
 * replay.c - a main for a fuzz target without the fuzzer: every file of its corpus, once.
 *
 * The program is called check_fuzz_NAME and reads tests/corpus/NAME. What is tested is that the
 * target returns; sanitizers and the exit status do the judging.
 */
#include <dirent.h>
#include "base/buf.h"
#include "base/mem.h"
#include "tests/fuzz.h"
#include "tests/test.h"

static const char *corpus_name;

static void feed(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!test_check(f != NULL, __FILE__, __LINE__, path))
		return;
	struct buf bytes = {0};
	char piece[4096];
	for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
		buf_add(&bytes, piece, n);
	fclose(f);
	/* A copy of the exact size, so that reading one byte beyond it is seen. */
	uint8_t *exact = mem_alloc(bytes.len);
	if (bytes.len)
		memcpy(exact, bytes.data, bytes.len);
	CHECK_INT(LLVMFuzzerTestOneInput(exact, bytes.len), 0);
	mem_free(exact);
	buf_release(&bytes);
}

static void corpus(void)
{
	struct buf path = {0};
	buf_addf(&path, "tests/corpus/%s", corpus_name);
	DIR *folder = opendir(path.data);
	size_t stem = path.len, fed = 0;
	if (!folder) {
		buf_release(&path);
		SKIP("no corpus");
	}
	for (struct dirent *e; (e = readdir(folder));) {
		if (e->d_name[0] == '.')
			continue;
		path.len = stem;
		buf_addf(&path, "/%s", e->d_name);
		feed(path.data);
		fed++;
	}
	closedir(folder);
	buf_release(&path);
	CHECK(fed > 0);
}

/* What no corpus needs to hold: nothing at all. */
static void nothing(void)
{
	uint8_t *none = mem_alloc(0);
	CHECK_INT(LLVMFuzzerTestOneInput(none, 0), 0);
	mem_free(none);
}

int main(int argc, char **argv)
{
	const char *stem = argc > 0 ? strstr(argv[0], "check_fuzz_") : NULL;
	corpus_name = stem ? stem + strlen("check_fuzz_") : "";
	RUN(nothing);
	RUN(corpus);
	return test_done();
}
