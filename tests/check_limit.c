/*
 * check_limit.c - how limits are written and read, and which costs they allow; figures with units.
 */
#include "base/limit.h"
#include "tests/test.h"

static void limits_are_read(void)
{
	static const struct {
		const char *text;
		double dflt, allows;	 /* where the default costs so much */
		const char *said, *wrong; /* as it is written again; or a part of the sentence */
	} t[] = {{"seconds:+2%", 100, 102, "seconds:+2%", NULL}, {"bytes:+0%", 7, 7, "bytes:+0%", NULL},
		{"bytes:-12.5%", 80, 70, "bytes:-12.5%", NULL}, {"bytes:16GiB", 1, 17179869184.0, "bytes:16 GiB", NULL},
		{"bytes:4096", 1, 4096, "bytes:4 KiB", NULL}, {"seconds:2.5 ms", 1, 2.5e-3, "seconds:2.5 ms", NULL},
		{"cycles:3Gcycles", 1, 3e9, "cycles:3 Gcycles", NULL}, {"bytes:0", 5, 0, "bytes:0 bytes", NULL},
		{"bytes", 0, 0, NULL, "QUANTITY:BOUND"}, {"joules:+2%", 0, 0, NULL, "QUANTITY:BOUND"},
		{"bytes:", 0, 0, NULL, "begin with a number"}, {"bytes:2%", 0, 0, NULL, "+2% or -10%"},
		{"bytes:-100%", 0, 0, NULL, "+2% or -10%"}, {"bytes:+nan%", 0, 0, NULL, "+2% or -10%"},
		{"bytes:16GB", 0, 0, NULL, "TiB, GiB, MiB, KiB"}, {"seconds:3 MiB", 0, 0, NULL, "s, ms, us, ns"},
		{"bytes:+5", 0, 0, NULL, "has no sign"}, {"seconds: +2", 0, 0, NULL, "has no sign"},
		{"seconds:1e+2", 1, 100, "seconds:100 s", NULL}, {"bytes:-5", 0, 0, NULL, "below nothing"},
		{"bytes:inf", 0, 0, NULL, "begin with a number"}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct limit l;
		struct err err = {0};
		struct buf said = {0};
		int rc = limit_read(t[i].text, &l, &err);

		if (!CHECK_INT(rc, t[i].wrong ? -1 : 0) || t[i].wrong) {
			if (!CHECK(t[i].wrong && strstr(err.text, t[i].wrong)))
				printf("%s: %s\n", t[i].text, err.text);
			continue;
		}
		CHECK_NEAR(limit_allows(&l, t[i].dflt), t[i].allows, 1e-9 * t[i].allows);
		limit_text(&l, &said);
		CHECK_STR(said.data, t[i].said);
		buf_release(&said);
	}
}

static void several_are_read(void)
{
	struct limit l[LIMITS_MOST];
	struct err err = {0};
	uint32_t n = 0;

	CHECK(limits_read(NULL, l, &n, &err) == 0 && n == 0);
	CHECK(limits_read("seconds:+2%,bytes:1MiB", l, &n, &err) == 0);
	CHECK(n == 2 && l[0].quantity == QUANTITY_SECONDS && l[1].quantity == QUANTITY_BYTES);
	CHECK(limits_read("cycles:+0%", l, &n, &err) == 0 && n == 3); /* added to those before */
	CHECK(limits_read("bytes:+1%", l, &n, &err) < 0 && strstr(err.text, "two limits on bytes"));
}

static void excess_is_a_share_of_what_is_allowed(void)
{
	struct limit twice = {QUANTITY_BYTES, true, 1}, none = {QUANTITY_BYTES, false, 0}, same = {QUANTITY_BYTES, true,
		0};

	CHECK_NEAR(limit_excess(&twice, 50, 110), 0.1, 1e-15);
	CHECK(limit_excess(&twice, 50, 100) == 0 && limit_excess(&twice, 50, 0) == 0);
	CHECK(limit_excess(&none, 50, 3) == 3 && limit_excess(&none, 50, 0) == 0);
	CHECK(limit_excess(&same, 0.1 + 0.2, 0.3) == 0 && limit_excess(&same, 0.3, 0.1 + 0.2) == 0);
}

int main(void)
{
	RUN(limits_are_read);
	RUN(several_are_read);
	RUN(excess_is_a_share_of_what_is_allowed);
	return test_done();
}
