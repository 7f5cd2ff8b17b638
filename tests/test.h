/*
 * test.h - a test is a function; a test program is a table of them.
 *
 *	static void adds(void) { CHECK(1 + 1 == 2); CHECK_INT(add(2, 3), 5); }
 *	int main(int argc, char **argv) { RUN(adds); return test_done(); }
 *
 * Prints one line per case: "pass: name", "FAIL: name: file:line: what", "skip: name: why". A case goes on after a
 * failed check, so write checks that survive a failed one. After five failures it prints no more of them.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds, so many that nothing is late on any machine. tests/run ends a test that hangs much sooner. */
#define PATIENT 36000.0

static const char *test_name;
static int test_failed, test_failures;
static bool test_skipped;

#define CHECK(cond) test_check((cond), __FILE__, __LINE__, #cond)
#define CHECK_INT(got, want) test_int((long long)(got), (long long)(want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) test_str((got), (want), __FILE__, __LINE__, #got)
#define CHECK_NEAR(got, want, tol) test_near((got), (want), (tol), __FILE__, __LINE__, #got)
#define SKIP(why) do { test_skipped = true; printf("skip: %s: %s\n", test_name, why); return; } while (0)
#define RUN(fn) test_run(#fn, fn)

/* Counts a failure. Returns true if it is to be printed, and then has begun the line. */
static inline bool test_fail_line(const char *file, int line)
{
	if (++test_failed > 5)
		return false;
	printf("FAIL: %s: %s:%d: ", test_name, file, line);
	return true;
}

static inline bool test_check(bool ok, const char *file, int line, const char *text)
{
	if (!ok && test_fail_line(file, line))
		printf("%s\n", text);
	return ok;
}

static inline bool test_int(long long got, long long want, const char *file, int line, const char *text)
{
	if (got != want && test_fail_line(file, line))
		printf("%s is %lld, wanted %lld\n", text, got, want);
	return got == want;
}

static inline bool test_str(const char *got, const char *want, const char *file, int line, const char *text)
{
	bool ok = got && want && strcmp(got, want) == 0;
	if (!ok && test_fail_line(file, line))
		printf("%s is \"%s\", wanted \"%s\"\n", text, got ? got : "(null)", want ? want : "(null)");
	return ok;
}

static inline bool test_near(double got, double want, double tol, const char *file, int line, const char *text)
{
	bool ok = fabs(got - want) <= tol;
	if (!ok && test_fail_line(file, line))
		printf("%s is %.17g, wanted %.17g +- %g\n", text, got, want, tol);
	return ok;
}

static inline void test_run(const char *name, void (*fn)(void))
{
	test_name = name;
	test_failed = 0;
	test_skipped = false;
	fn();
	if (test_failed)
		test_failures++;
	else if (!test_skipped)
		printf("pass: %s\n", name);
	fflush(stdout);
}

/*
 * How many of n random cases to try: all of them. TEST_FEWER=10 in the environment says a tenth, one at least, for
 * what watches every instruction and learns nothing from the same code with other numbers (valgrind).
 */
static inline int test_cases(int n)
{
	const char *s = getenv("TEST_FEWER");
	int fewer = s ? atoi(s) : 1;

	return fewer > 1 ? (n + fewer - 1) / fewer : n;
}

static inline int test_done(void)
{
	return test_failures ? 1 : 0;
}

#endif
