/*
 * decoded.c - measures how far the default that searches start from is from the compiler's own program.
 *
 *	build/release/bench/decoded [--core N] [--device NAME] [--instances N] [--seconds S] GRAPH...
 *
 * The compiler's decisions are read back as choices; decisions that choices cannot say are lost. This bench runs the
 * compiler's program alternately with the program of those choices, with several instances of each. It prints one line
 * per program; above 0% the default as read back is slower.
 */
#include <stdio.h>
#include "bench/each.h"
#include "ready/subject.h"

struct settings {
	struct each_on on;
	int64_t instances;
	double seconds;
};

static int compile_both(struct subject *s, struct device *d, struct compiled *own, struct compiled *decoded,
	struct err *err)
{
	struct buf module = {0};
	int rc = space_apply_default(s->space, &module, err);

	if (rc == 0)
		rc = device_compile(d, COMPILE_DEFAULT, "hlo", s->original.data, s->original.len, 0, own, err);
	if (rc == 0)
		rc = device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, 0, decoded, err);
	buf_release(&module);
	return rc;
}

static int try_program(const char *path, struct device *d, const void *settings, struct err *err)
{
	const struct settings *set = settings;
	struct precision p = {.target = 0.0005, .max_seconds = set->seconds, .instances = (uint32_t)set->instances,
		.give_up = -1};
	struct subject s = {0};
	struct compiled own = {0}, decoded = {0};
	struct timing t = {0};
	int rc = subject_open(&s, path, "fusion", d, err);

	if (rc == 0)
		rc = compile_both(&s, d, &own, &decoded, err);
	if (rc == 0)
		rc = device_pair(d, &own, &decoded, &p, &t, err);
	if (rc == 0 && t.outcome != OUTCOME_OK)
		printf("%s: %s: %.200s\n", s.name, outcome_name(t.outcome), t.detail);
	else if (rc == 0)
		printf("%s: %.3f ms, decoded %+.2f%% +- %.2f%%%s; %s\n", s.name, 1e3 * t.seconds_a, 100 * t.ratio,
			100 * t.ratio_se, t.identical ? " (the same program)" : "", s.decoded);
	fflush(stdout);
	timing_release(&t);
	compiled_release(&own);
	compiled_release(&decoded);
	subject_release(&s);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.on = EACH_ON, .instances = 4, .seconds = 4};
	const struct opt table[] = {OPT_EACH_ON(&set.on),
		OPT_INT(0, "instances", &set.instances, 1, 100, "of each side"),
		OPT_NUM(0, "seconds", &set.seconds, 0.1, 600, "of running a pair at most"), OPT_END};
	const struct opt_program prog = {"decoded", "[OPTIONS] GRAPH...",
		"Runs the compiler's default against what we read of it.", table};

	return each_program(&prog, argc, argv, &set.on, try_program, &set);
}
