/*
 * graph_read.c - measures how long reading a module takes, and how much memory it needs.
 *
 * Time: the best and the median of some reads of a file in the page cache, from path to finished graph, and
 * the processor time of one read, which other work on the machine does not change.
 * Memory: the peak resident size of a process that reads the file once, minus that of a process that reads a module of
 * a few instructions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/io.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/stat.h"
#include "bench/gen_module.h"

#define ROUNDS 21

static int read_once(const char *path)
{
	struct graph g = {0};
	struct err err = {0};
	if (graph_read(&g, path, &err) < 0)
		return err_exit(&err);
	graph_release(&g);
	return 0;
}

/* Peak resident bytes of a process that reads the file. */
static double peak(const char *self, const char *path)
{
	pid_t pid = fork();
	if (pid == 0) {
		execl(self, self, "--once", path, (char *)NULL);
		_exit(127);
	}
	struct rusage use;
	int status;
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid || status != 0)
		return NAN;
	return (double)use.ru_maxrss * 1024;
}

static int write_module(uint32_t n, const char *path, size_t *size, struct err *err)
{
	struct buf b = {0};
	gen_module(n, 1, &b);
	*size = b.len;
	int rc = io_write_file(path, b.data, b.len, err);
	buf_release(&b);
	return rc;
}

static void report(const char *self, const char *path, const char *small, size_t size)
{
	double seconds[ROUNDS], cpu[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		double t = now_seconds();
		clock_t c = clock();
		read_once(path);
		seconds[i] = now_seconds() - t;
		cpu[i] = (double)(clock() - c) / CLOCKS_PER_SEC;
	}
	double memory = peak(self, path) - peak(self, small);
	printf("%s: %zu bytes, best %.1f ms, median %.1f ms (processor %.1f ms), %.1f MB = %.1f times the "
	       "file\n", path, size, 1e3 * stat_quantile(seconds, ROUNDS, 0), 1e3 * stat_median(seconds, ROUNDS),
		1e3 * stat_median(cpu, ROUNDS), memory / 1e6, memory / (double)size);
}

int main(int argc, char **argv)
{
	bool once = false;
	int64_t n = 30000;
	const struct opt table[] = {OPT_INT('n', "instructions", &n, 40, 10000000, "about how many"),
		OPT_FLAG(0, "once", &once, "only read the file (what is measured)"), OPT_END};
	const struct opt_program prog = {"graph_read", "[OPTIONS] [FILE]",
		"Times reading a module: the file given, or a generated one.", table};
	struct err err = {0};
	char self[4096], folder[] = "/tmp/vantage-bench-XXXXXX";
	snprintf(self, sizeof(self), "%s", argv[0]);
	int words = 0, rc = opt_parse(&prog, argc, argv, &words, &err);
	if (rc > 0)
		return 0;
	if (rc == 0 && once && words == 1)
		return read_once(argv[0]);
	if (rc < 0 || !mkdtemp(folder))
		return err_exit(&err);
	struct buf path = {0}, small = {0};
	size_t size = 0, ignored;
	buf_addf(&path, "%s/made.pb", folder);
	buf_addf(&small, "%s/small.pb", folder);
	rc = write_module(40, small.data, &ignored, &err);
	if (rc == 0)
		rc = write_module((uint32_t)n, path.data, &size, &err);
	if (rc == 0)
		report(self, path.data, small.data, size);
	for (int i = 0; rc == 0 && i < words; i++) {
		struct buf b = {0};
		rc = io_read_file(argv[i], IO_FILE_LIMIT, &b, &err);
		if (rc == 0)
			report(self, argv[i], small.data, b.len);
		buf_release(&b);
	}
	io_remove_tree(folder, NULL);
	buf_release(&path);
	buf_release(&small);
	return rc < 0 ? err_exit(&err) : 0;
}
