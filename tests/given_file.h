/*
 * given_file.h - a file of inputs, as numpy.savez writes it, and the program that takes them: its loop turns as often
 * as the second input says.
 */
#ifndef TESTS_GIVEN_FILE_H
#define TESTS_GIVEN_FILE_H

#include "store/npz.h"
#include "tests/store_fixture.h"

#define GIVEN_SIDE 4
#define GIVEN_TURNS 57

static const char given_text[] =
	"HloModule turns_as_told\n"
	"body {\n"
	"  s = (f32[4,4], s32[]) parameter(0)\n"
	"  x = f32[4,4] get-tuple-element(s), index=0\n"
	"  n = s32[] get-tuple-element(s), index=1\n"
	"  one = s32[] constant(1)\n"
	"  m = s32[] subtract(n, one)\n"
	"  e = f32[4,4] exponential(x)\n"
	"  t = f32[4,4] tanh(e)\n"
	"  ROOT o = (f32[4,4], s32[]) tuple(t, m)\n"
	"}\n"
	"go {\n"
	"  s = (f32[4,4], s32[]) parameter(0)\n"
	"  n = s32[] get-tuple-element(s), index=1\n"
	"  z = s32[] constant(0)\n"
	"  ROOT c = pred[] compare(n, z), direction=GT\n"
	"}\n"
	"ENTRY main {\n"
	"  x = f32[4,4] parameter(0)\n"
	"  n = s32[] parameter(1)\n"
	"  i = (f32[4,4], s32[]) tuple(x, n)\n"
	"  w = (f32[4,4], s32[]) while(i), condition=go, body=body\n"
	"  ROOT y = f32[4,4] get-tuple-element(w), index=0\n"
	"}\n";

static inline void given_write(const char *path)
{
	float x[GIVEN_SIDE * GIVEN_SIDE];
	int32_t turns = GIVEN_TURNS;
	struct npz z = {0};
	struct err err;

	for (int i = 0; i < GIVEN_SIDE * GIVEN_SIDE; i++)
		x[i] = 0.01f * (float)i;
	CHECK(npz_open(&z, path, &err) == 0);
	CHECK(npz_array(&z, "arr_0", "<f4", (uint64_t[]){GIVEN_SIDE, GIVEN_SIDE}, 2, &err) == 0);
	CHECK(npz_data(&z, x, sizeof x, &err) == 0);
	CHECK(npz_array(&z, "arr_1", "<i4", NULL, 0, &err) == 0);
	CHECK(npz_data(&z, &turns, sizeof turns, &err) == 0);
	CHECK(npz_close(&z, &err) == 0);
}

#endif
