/*
 * gen_module.c - writes a generated module to a file: gen_module FILE [--instructions N] [--seed N].
 */
#include "base/io.h"
#include "base/opt.h"
#include "bench/gen_module.h"

int main(int argc, char **argv)
{
	int64_t n = 30000, seed = 1;
	const struct opt table[] = {OPT_INT('n', "instructions", &n, 40, 10000000, "about how many"),
		OPT_INT(0, "seed", &seed, 0, INT64_MAX, "another seed, another module"), OPT_END};
	const struct opt_program prog = {"gen_module", "[OPTIONS] FILE",
		"Writes an HloModuleProto that looks like a lowered training step.", table};
	struct err err = {0};
	struct buf out = {0};
	int words = 0, rc = opt_parse(&prog, argc, argv, &words, &err);
	if (rc > 0)
		return 0;
	if (rc == 0 && words != 1)
		rc = err_set(&err, "wants the name of one file to write");
	if (rc == 0) {
		gen_module((uint32_t)n, (uint64_t)seed, &out);
		rc = io_write_file(argv[0], out.data, out.len, &err);
	}
	buf_release(&out);
	return rc < 0 ? err_exit(&err) : 0;
}
