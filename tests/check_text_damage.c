/* check_text_damage.c - a sample of what full_text_damage.c does with every byte. */
#include "tests/text_damage.h"

static void cuts_are_seen(void)
{
	damage_cuts("diffrax.b380012920.hlo", 797 * (11 - (size_t)test_cases(10)));
}

static void flips_are_seen_or_mean_something(void)
{
	damage_flips("diffrax.b380012920.hlo", (unsigned)test_cases(100));
}

int main(void)
{
	RUN(cuts_are_seen);
	RUN(flips_are_seen_or_mean_something);
	return test_done();
}
