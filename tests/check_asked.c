/*
 * check_asked.c - what a device was asked about is known again, by its layouts and by the program made of them.
 */
#include "search/asked.h"
#include "tests/test.h"

static void what_was_asked_is_known(void)
{
	struct asked a = {0};
	const struct digest none = {{0}}, one = {{1}}, two = {{2}};

	CHECK(!asked_has(&a, 7) && !asked_made(&a, &one) && !asked_made(&a, &none));
	asked_add(&a, 7, &one);
	CHECK(asked_has(&a, 7) && !asked_has(&a, 8));
	CHECK(asked_made(&a, &one) && !asked_made(&a, &two)); /* of 8, too: the program is what counts */
	asked_add(&a, 8, &one);
	asked_add(&a, 9, &none); /* it could not be made */
	CHECK(asked_has(&a, 8) && asked_has(&a, 9) && !asked_made(&a, &none));
	for (uint64_t i = 100; i < 200; i++) {
		struct digest d = {{3, (uint8_t)i}};
		CHECK(!asked_made(&a, &d));
		asked_add(&a, i, &d);
		CHECK(asked_has(&a, i) && asked_made(&a, &d));
	}
	CHECK(asked_has(&a, 7) && asked_made(&a, &one) && !asked_made(&a, &two));
	asked_release(&a);
	CHECK(a.n == 0 && !asked_has(&a, 7));
}

int main(void)
{
	RUN(what_was_asked_is_known);
	return test_done();
}
