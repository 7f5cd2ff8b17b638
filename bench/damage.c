/*
 * damage.c - reads real programs cut short at every byte, and with thousands of flipped bits.
 *
 *	make MODE=asan build/asan/bench/damage
 *	build/asan/bench/damage --flips 7000 examples/graphs/tiny/scan.pb.zst ...
 *
 * It measures no time. It is the long form of tests/check_graph_damage and is run under the sanitizers, which end it if
 * something is wrong. It prints how many of the damaged files were still programs.
 */
#include "base/opt.h"
#include "base/progress.h"
#include "tests/graph_damage.h"

static int sweep(const char *path, size_t step, size_t flips, uint64_t seed, struct err *err)
{
	struct buf b = {0};
	double start = now_seconds();
	if (io_read_file(path, IO_FILE_LIMIT, &b, err) < 0)
		return -1;
	size_t cuts = step ? damage_cuts(&b, step) : 0, flipped = damage_flips(&b, flips, seed);
	printf("%s: %zu bytes; of %zu cuts %zu are programs, of %zu flips %zu; %.0f s\n", path, b.len,
		step ? (b.len + step - 1) / step : 0, cuts, flips, flipped, now_seconds() - start);
	fflush(stdout);
	buf_release(&b);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t step = 1, flips = 7000, seed = 1;
	const struct opt table[] = {
		OPT_INT(0, "step", &step, 0, INT64_C(1) << 40, "cut at every STEP-th byte; 0: nowhere"),
		OPT_INT(0, "flips", &flips, 0, INT64_C(1) << 40, "bits to flip, one at a time"),
		OPT_INT(0, "seed", &seed, 0, INT64_MAX, "which bits"),
		OPT_END};
	const struct opt_program prog = {"damage", "[OPTIONS] FILE...",
		"Feeds damaged programs to everything that is made of one.", table};
	struct err err = {0};
	int n = 0, rc;
	err_program("damage");
	rc = opt_parse(&prog, argc, argv, &n, &err);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = sweep(argv[i], (size_t)step, (size_t)flips, (uint64_t)seed, &err);
	return rc < 0 ? err_exit(&err) : 0;
}
