/*
 * arrange_prove.c - compiles what was found and the compiler's own program completely, and compares their numbers
 * if they may be run.
 *
 * The verdict needs both again, in workers of its own. A large program takes minutes to compile, so one that took long
 * is kept for it (spare.h).
 */
#include <stdio.h>
#include "device/room.h"
#include "search/arrange.h"

static void tell_why(struct arrange *a, enum outcome outcome, const char *detail)
{
	snprintf(a->why, sizeof a->why, "%s: %.200s", outcome_meaning(outcome), detail);
}

/* Are all outputs of both equal as numbers, on all kinds of input? (+0 is -0, and one NaN is another.) */
static int compare_numbers(struct arrange *a, struct compiled *own, struct compiled *tuned, struct err *err)
{
	a->numbers_equal = true;
	for (int i = 0; i < INPUTS_COUNT && a->numbers_equal; i++) {
		struct compare_options o = {.inputs = (enum inputs)i, .fresh = true};
		struct comparison c;
		if (device_compare(a->device, own, tuned, &o, &c, err) < 0)
			return -1;
		a->numbers_equal = c.outcome == OUTCOME_OK && c.all.max_abs == 0 && c.all.unlike == 0;
		if (c.outcome != OUTCOME_OK)
			tell_why(a, c.outcome, c.detail);
		comparison_release(&c);
	}
	return 0;
}

/* Is there room to run the compiler's own program, whose bytes are known already? If not, a->why says what it takes. */
static bool fits(struct arrange *a)
{
	uint64_t bytes = subject_least_memory(a->lab->space->graph) + a->default_bytes;

	return room_for(a->device, bytes, a->lab->subject.name, ROOM_OF_ALL, a->why, sizeof a->why);
}

/* Keeps the executable of what was found: the one that was compiled first, if that took long. */
static void keep_executable(struct arrange *a, struct spares *spares, struct compiled *tuned)
{
	const struct spare *known = spares ? spare_get(spares, COMPILE_APPLIED, &a->module) : NULL;

	if (known) {
		buf_add(&a->executable, known->executable.data, known->executable.len);
		return;
	}
	a->executable = tuned->serialised;
	tuned->serialised = (struct buf){0};
}

int arrange_prove(struct arrange *a, struct err *err)
{
	const struct buf *original = &a->lab->subject.original;
	struct spares *spares = a->estimated ? NULL : &a->lab->subject.opened.spares;
	struct device *d = a->device;
	struct compiled own = {0}, tuned = {0};
	int rc = 0;
	bool runs = !a->estimated && !a->set->unverified && fits(a);
	const struct compiled *failed;

	if (runs || a->estimated)
		rc = spare_compile(spares, d, COMPILE_DEFAULT, original, 0, &own, err);
	if (rc == 0)
		rc = spare_compile(spares, d, COMPILE_APPLIED, &a->module, WANT_SERIALISED, &tuned, err);
	failed = runs && own.outcome != OUTCOME_OK ? &own : &tuned;
	if (rc == 0 && runs && failed->outcome != OUTCOME_OK)
		tell_why(a, failed->outcome, failed->detail);
	else if (rc == 0 && runs && !a->derived)
		rc = compare_numbers(a, &own, &tuned, err);
	else if (rc == 0 && a->estimated)
		rc = arrange_estimate(a, &own, &tuned, err);
	if (rc == 0 && tuned.outcome == OUTCOME_OK)
		keep_executable(a, spares, &tuned);
	compiled_release(&own);
	compiled_release(&tuned);
	return rc;
}
