/*
 * numbers.c - how far a rewritten program is from the program as it is, output by output, beside what rounding does.
 *
 *	build/release/bench/numbers [--nudges N] [--inputs NAME] [--least RATIO] [--device NAME] [--core N] GRAPH...
 *
 * Every place is rewritten that promises to gain. Prints a row for each output that the rewritten program moves by more
 * than `least` times what the first nudge of the inputs does: its elements, the difference, the largest difference by
 * so many nudges, and how far three others are from the program in 64 bits (hlo/widen.h): the program as it is, the
 * rewritten one, and that in 64 bits, which tells whether the rules are right without any rounding. At the end comes
 * what search/numbers.h says of the first two.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/opt.h"
#include "base/progress.h"
#include "hlo/widen.h"
#include "ready/subject.h"
#include "search/numbers.h"

#define NUDGES_MOST 64

struct settings {
	const char *device, *inputs, *kind;
	int64_t core, nudges;
	double least;
};

enum side { OWN, TUNED, EXACT, TUNED_EXACT, SIDES };

struct bench {
	const struct settings *set;
	struct device *d;
	struct subject subject;
	uint8_t *config;
	enum inputs inputs;
	struct compiled side[SIDES];
};

static int make_module(struct bench *b, enum side side, struct buf *out, struct err *err)
{
	const struct buf *original = &b->subject.original;

	struct buf module = {0};
	int rc = 0;

	if (side == TUNED || side == TUNED_EXACT)
		rc = b->subject.space->ops->apply(b->subject.space, b->config, &module, err);
	else
		buf_add(&module, original->data, original->len);
	if (rc == 0 && side >= EXACT)
		rc = hlo_widen(module.data, module.len, b->subject.name, out, err);
	else if (rc == 0)
		buf_add(out, module.data, module.len);
	buf_release(&module);
	return rc;
}

static int compile_all(struct bench *b, struct err *err)
{
	static const char *const name[SIDES] = {"as it is", "rewritten", "in 64 bits", "rewritten in 64 bits"};
	int rc = 0;

	for (enum side i = OWN; i < SIDES && rc == 0; i++) {
		enum compile_how how = i == TUNED || i == TUNED_EXACT ? COMPILE_APPLIED : COMPILE_DEFAULT;
		struct buf module = {0};
		rc = make_module(b, i, &module, err);
		if (rc == 0)
			rc = device_compile(b->d, how, "hlo", module.data, module.len, 0, &b->side[i], err);
		if (rc == 0)
			printf("%s, %s: %s, %.1f s\n", b->subject.name, name[i], outcome_name(b->side[i].outcome),
				b->side[i].seconds);
		if (rc == 0 && b->side[i].outcome != OUTCOME_OK)
			rc = err_set(err, "%s does not compile %s: %.300s", b->subject.name, name[i],
				b->side[i].detail);
		buf_release(&module);
	}
	return rc;
}

static int compare(struct bench *b, enum side x, enum side y, uint8_t nudged, struct comparison *out, struct err *err)
{
	struct compare_options o = {.inputs = b->inputs, .nudged = nudged};
	double start = now_seconds();
	int rc = device_compare(b->d, &b->side[x], &b->side[y], &o, out, err);

	if (rc == 0 && out->outcome != OUTCOME_OK)
		rc = err_set(err, "programs %d and %d do not run: %.300s", x, y, out->detail);
	if (y == EXACT || x == EXACT)
		printf("a comparison with 64 bits took %.1f s\n", now_seconds() - start);
	return rc;
}

static void print_rows(const struct bench *b, const struct comparison *tuned, const struct comparison *nudged,
	const struct comparison exact[3])
{
	uint32_t rows = 0;

	for (uint32_t k = 0; k < tuned->n_outputs; k++) {
		double most = 0;
		if (tuned->output[k].max_rel <= b->set->least * nudged[0].output[k].max_rel &&
			tuned->output[k].unlike <= nudged[0].output[k].unlike)
			continue;
		for (int64_t i = 0; i < b->set->nudges; i++)
			most = fmax(most, nudged[i].output[k].max_rel);
		printf("output %4u, %9llu elements: %.2e, unlike %llu; nudged %.2e, at most %.2e; from 64 bits: as it "
		       "is %.2e, rewritten %.2e, rewritten in 64 bits %.2e\n", k,
			(unsigned long long)tuned->output[k].elements,
			tuned->output[k].max_rel, (unsigned long long)tuned->output[k].unlike,
			nudged[0].output[k].max_rel, most, exact[0].output[k].max_rel, exact[1].output[k].max_rel,
			exact[2].output[k].max_rel);
		rows++;
	}
	printf("%u of %u outputs\n", rows, tuned->n_outputs);
}

static int tell_rule(struct bench *b, struct err *err)
{
	struct numbers n;
	struct numbers_job job = {.device = b->d, .space = b->subject.space, .original = &b->subject.original,
		.config = b->config, .own = &b->side[OWN], .tuned = &b->side[TUNED]};
	double difference, allowed, start = now_seconds();

	if (numbers_check(&n, &job, err) < 0)
		return -1;
	numbers_worst(&n, &difference, &allowed);
	printf("%s: numbers %s, %.2e of %.2e, %.1f s; %s\n", b->subject.name, outcome_name(n.outcome), difference,
		allowed, now_seconds() - start, n.detail);
	return 0;
}

static int run_graph(struct bench *b, const char *path, struct err *err)
{
	struct comparison tuned = {0}, nudged[NUDGES_MOST] = {{0}}, exact[3] = {{0}, {0}, {0}};
	int rc = subject_open(&b->subject, path, b->set->kind, b->d, err);

	if (rc == 0) {
		b->config = MEM_NEW(b->subject.space->n_sites + 1, uint8_t);
		space_start_find(b->subject.space, "promised")->fill(b->subject.space, b->config);
		rc = compile_all(b, err);
	}
	if (rc == 0)
		rc = compare(b, OWN, TUNED, 0, &tuned, err);
	for (int64_t i = 0; i < b->set->nudges && rc == 0; i++)
		rc = compare(b, OWN, OWN, (uint8_t)(i + 1), &nudged[i], err);
	for (int i = 0; i < 3 && rc == 0; i++)
		rc = compare(b, EXACT, i == 2 ? TUNED_EXACT : (enum side)i, 0, &exact[i], err);
	if (rc == 0)
		print_rows(b, &tuned, nudged, exact);
	if (rc == 0)
		rc = tell_rule(b, err);
	fflush(stdout);
	for (int i = 0; i < NUDGES_MOST; i++)
		comparison_release(&nudged[i]);
	comparison_release(&tuned);
	for (int i = 0; i < 3; i++)
		comparison_release(&exact[i]);
	for (enum side i = OWN; i < SIDES; i++) {
		if (b->side[i].handle)
			device_drop(b->d, &b->side[i], NULL);
		compiled_release(&b->side[i]);
	}
	mem_free(b->config);
	b->config = NULL;
	subject_release(&b->subject);
	return rc;
}

static int run(struct bench *b, char **paths, int n, struct err *err)
{
	const struct settings *set = b->set;
	struct device_options o = {.backend = set->device, .core = (int)set->core + 1, .wait = true, .untimed = true,
		.kind = set->kind};
	int rc = 0;

	while (b->inputs < INPUTS_COUNT && strcmp(inputs_name(b->inputs), set->inputs) != 0)
		b->inputs++;
	if (b->inputs == INPUTS_COUNT)
		return err_set(err, "there is no kind of input called %s", set->inputs);
	b->d = device_open(&o, err);
	for (int i = 0; i < n && b->d && rc == 0; i++)
		rc = run_graph(b, paths[i], err);
	rc = b->d ? rc : -1;
	device_close(b->d);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.device = "cpu", .inputs = "normal", .kind = "rewrite", .core = -1, .nudges = 4,
		.least = 2};
	const struct opt table[] = {OPT_STR(0, "device", &set.device, "NAME", "cpu, NAME@VERSION, or a plugin's path"),
		OPT_STR(0, "inputs", &set.inputs, "NAME", "the kind of input (schemas/inputs.def)"),
		OPT_STR(0, "space", &set.kind, "KIND", "of decision"),
		OPT_INT(0, "core", &set.core, -1, 4095, "the core to run on; -1: the least loaded"),
		OPT_INT(0, "nudges", &set.nudges, 1, NUDGES_MOST, "of the inputs"),
		OPT_NUM(0, "least", &set.least, 0, 1e9, "times what the first nudge does; others are not printed"),
		OPT_END};
	const struct opt_program prog = {"numbers", "[OPTIONS] GRAPH...", "Rewritten numbers, and what rounding does.",
		table};
	struct bench b = {.set = &set};
	struct err err = {0};
	int n = 0, rc;

	err_program("bench/numbers");
	rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = run(&b, argv, n, &err);
	return rc < 0 ? err_exit(&err) : 0;
}
