/*
 * check_ramps.c - ramps: where columns are cut, what a number is written as, and their part of the model file.
 */
#include "learn/ramps.h"
#include "tests/test.h"

enum { ROWS = 101, COLUMNS = 4 };

/* Column 0 never changes; 1 is 0 or 1; 2 is the row's number; 3 is mostly 0. */
static struct ramps some(uint32_t most)
{
	static float x[ROWS * COLUMNS];
	struct ramps r;

	for (int i = 0; i < ROWS; i++) {
		float *row = x + (ROWS - 1 - i) * COLUMNS;
		row[0] = 7;
		row[1] = (float)(i % 2);
		row[2] = (float)i;
		row[3] = i > 95 ? (float)i : 0;
	}
	ramps_make(&r, x, ROWS, COLUMNS, most);
	return r;
}

static void columns_are_cut_at_their_quantiles(void)
{
	struct ramps r = some(4);

	CHECK_INT(r.first[1] - r.first[0], 0);
	CHECK_INT(r.first[2] - r.first[1], 2);
	CHECK_INT(r.first[3] - r.first[2], 5);
	CHECK_NEAR(r.cut[r.first[2] + 1], 25, 0);
	CHECK_NEAR(r.cut[r.first[2] + 4], 100, 0);
	CHECK_INT(r.first[4] - r.first[3], 2);
	CHECK_INT(r.width, 1 + 4 + 1);
	ramps_release(&r);
}

static void a_number_is_the_row_of_its_ramps(void)
{
	struct ramps r = some(4);
	real out[6];
	const struct {
		float row[COLUMNS];
		real want[6];
	} cases[] = {
		{{7, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
		{{7, 1, 30, 100}, {1, 1, REAL(0.2), 0, 0, 1}},
		{{9, REAL(0.5), 62.5, 50}, {REAL(0.5), 1, 1, REAL(0.5), 0, REAL(0.5)}},
		{{-1, -5, -3, -9}, {0, 0, 0, 0, 0, 0}}, /* beyond all that was seen */
		{{7, 5, 1e9F, 1e9F}, {1, 1, 1, 1, 1, 1}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ramps_of(&r, cases[i].row, out);
		for (int k = 0; k < 6; k++)
			CHECK_NEAR(out[k], cases[i].want[k], 1e-6);
	}
	ramps_release(&r);
}

static void they_come_back_from_a_file_of_fewer_columns(void)
{
	const uint32_t column[COLUMNS] = {0, 2, 3, 5};
	struct ramps r = some(8), back;
	struct buf b = {0};
	struct cursor c;
	real out[16], again[16];

	ramps_pack(&r, &b);
	c = cursor_of(b.data, b.len);
	ramps_parse(&back, column, COLUMNS, 7, &c);
	CHECK(cursor_done(&c));
	CHECK_INT(back.n_columns, 7);
	if (CHECK_INT(back.width, r.width)) {
		ramps_of(&r, (float[]){7, 1, 41, 99}, out);
		ramps_of(&back, (float[]){7, 3, 1, 41, 3, 99, 3}, again);
		CHECK(memcmp(out, again, r.width * sizeof *out) == 0);
	}
	ramps_release(&r);
	ramps_release(&back);
	buf_release(&b);
}

/* Every shorter file is refused, and so is one with any word changed to one that makes no sense. */
static void damage_is_refused(void)
{
	const uint32_t column[COLUMNS] = {0, 1, 2, 3};
	struct ramps r = some(8), back;
	struct buf b = {0};

	ramps_pack(&r, &b);
	for (size_t n = 0; n < b.len; n++) {
		struct cursor c = cursor_of(b.data, n);
		ramps_parse(&back, column, COLUMNS, COLUMNS, &c);
		CHECK(c.bad);
		ramps_release(&back);
	}
	for (size_t at = 0; at + 4 <= b.len; at += 4) {
		uint8_t kept[4];
		struct cursor c;
		memcpy(kept, b.data + at, 4);
		memset(b.data + at, 0xff, 4); /* a huge number, or not a number */
		c = cursor_of(b.data, b.len);
		ramps_parse(&back, column, COLUMNS, COLUMNS, &c);
		CHECK(c.bad);
		ramps_release(&back);
		memcpy(b.data + at, kept, 4);
	}
	ramps_release(&r);
	buf_release(&b);
}

int main(void)
{
	RUN(columns_are_cut_at_their_quantiles);
	RUN(a_number_is_the_row_of_its_ramps);
	RUN(they_come_back_from_a_file_of_fewer_columns);
	RUN(damage_is_refused);
	return test_done();
}
