/* check_quantity.c - names of quantities, and how their figures are written. */
#include <math.h>
#include "base/quantity.h"
#include "tests/test.h"

static void names_lead_back(void)
{
	for (int q = 0; q < QUANTITY_COUNT; q++)
		CHECK_INT(quantity_find(quantity_name((enum quantity)q)), q);
	CHECK_INT(quantity_find("second"), QUANTITY_COUNT);
	CHECK_INT(quantity_find(""), QUANTITY_COUNT);
	CHECK(!quantity_deterministic(QUANTITY_SECONDS) && quantity_deterministic(QUANTITY_BYTES));
}

static void figures_are_for_people(void)
{
	static const struct {
		enum quantity q;
		double value;
		const char *text;
	} t[] = {
		{QUANTITY_SECONDS, 1.2345e-5, "12.3 us"},
		{QUANTITY_SECONDS, -1.2345e-5, "-12.3 us"},
		{QUANTITY_SECONDS, 9.9996e-4, "1 ms"},
		{QUANTITY_SECONDS, 9.99e-4, "999 us"},
		{QUANTITY_SECONDS, 3e-10, "0.3 ns"},
		{QUANTITY_SECONDS, 75, "75 s"},
		{QUANTITY_SECONDS, 0, "0 s"},
		{QUANTITY_BYTES, 0, "0 bytes"},
		{QUANTITY_BYTES, 1023, "1,023 bytes"},
		{QUANTITY_BYTES, 1024, "1 KiB"},
		{QUANTITY_BYTES, -1.5 * 1048576, "-1.5 MiB"},
		{QUANTITY_BYTES, 10454032, "9.97 MiB"},
		{QUANTITY_BYTES, 3e15, "2728 TiB"},
		{QUANTITY_CYCLES, 12345, "12,345 cycles"},
		{QUANTITY_CYCLES, -270, "-270 cycles"},
		{QUANTITY_CYCLES, 123456789, "123,456,789 cycles"},
		{QUANTITY_CYCLES, 1.5e9, "1.5 Gcycles"},
		{QUANTITY_FORMULA, 0.25, "0.25"},
		{QUANTITY_FORMULA, 1234567, "1.23457e+06"},
	};
	char out[QUANTITY_TEXT];

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		CHECK_STR(quantity_text(t[i].q, t[i].value, out), t[i].text);
	for (int q = 0; q < QUANTITY_COUNT; q++) { /* whatever comes, it fits */
		quantity_text((enum quantity)q, (double)NAN, out);
		quantity_text((enum quantity)q, -(double)INFINITY, out);
		quantity_text((enum quantity)q, -1.7e308, out);
		CHECK(strlen(out) < QUANTITY_TEXT);
	}
}

/* What is written can be read, in any unit. Figures with fewer digits than that come back rounded. */
static void figures_are_read_back(void)
{
	static const double t[] = {0, 3, -7, 250, 1e4, 2e6, 3e9, 4e12};
	char text[QUANTITY_TEXT], *comma;

	for (int q = 0; q < QUANTITY_COUNT; q++)
		for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
			struct err err = {0};
			double back = NAN;
			quantity_text((enum quantity)q, t[i], text);
			while ((comma = strchr(text, ',')))
				memmove(comma, comma + 1, strlen(comma));
			if (!CHECK(quantity_read((enum quantity)q, text, &back, &err) == 0) ||
				!CHECK_NEAR(back, t[i], 0.005 * fabs(t[i])))
				printf("\t%s: \"%s\" %s\n", quantity_name((enum quantity)q), text, err.text);
		}
}

static void lists_share_a_unit(void)
{
	CHECK_STR(quantity_unit(QUANTITY_SECONDS), "us");
	CHECK_NEAR(quantity_in_unit(QUANTITY_SECONDS, 2.5e-4), 250, 1e-9);
	CHECK_STR(quantity_unit(QUANTITY_BYTES), "KiB");
	CHECK_NEAR(quantity_in_unit(QUANTITY_BYTES, -3072), -3, 1e-9);
	CHECK_STR(quantity_unit(QUANTITY_FORMULA), "");
	CHECK_NEAR(quantity_in_unit(QUANTITY_FORMULA, 7), 7, 0);
}

int main(void)
{
	RUN(names_lead_back);
	RUN(figures_are_for_people);
	RUN(figures_are_read_back);
	RUN(lists_share_a_unit);
	return test_done();
}
