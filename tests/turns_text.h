/*
 * turns_text.h - a program of two loops whose turns can only be counted by running it: each goes on while one computed
 * float is below another. It has odd but legal forms: the root of the outer body is the inner loop itself, and the
 * results of the loops are read whole.
 */
#ifndef TESTS_TURNS_TEXT_H
#define TESTS_TURNS_TEXT_H

#define TURNS_OUTER 3 /* 1 doubled until it is 8 */
#define TURNS_INNER 5 /* a turn of the outer loop: 0, 2, ... 10 */

static const char turns_text[] =
	"HloModule two_loops\n"
	"inner_body {\n"
	"  p = (f32[], f32[]) parameter(0)\n"
	"  x = f32[] get-tuple-element(p), index=0\n"
	"  y = f32[] get-tuple-element(p), index=1\n"
	"  two = f32[] constant(2)\n"
	"  y2 = f32[] add(y, two)\n"
	"  ROOT t = (f32[], f32[]) tuple(x, y2)\n"
	"}\n"
	"inner_go {\n"
	"  p = (f32[], f32[]) parameter(0)\n"
	"  y = f32[] get-tuple-element(p), index=1\n"
	"  ten = f32[] constant(10)\n"
	"  ROOT c = pred[] compare(y, ten), direction=LT\n"
	"}\n"
	"outer_body {\n"
	"  p = (f32[], f32[]) parameter(0)\n"
	"  x = f32[] get-tuple-element(p), index=0\n"
	"  x2 = f32[] add(x, x)\n"
	"  zero = f32[] constant(0)\n"
	"  t = (f32[], f32[]) tuple(x2, zero)\n"
	"  ROOT w = (f32[], f32[]) while(t), condition=inner_go, body=inner_body\n"
	"}\n"
	"outer_go {\n"
	"  p = (f32[], f32[]) parameter(0)\n"
	"  x = f32[] get-tuple-element(p), index=0\n"
	"  eight = f32[] constant(8)\n"
	"  ROOT c = pred[] compare(x, eight), direction=LT\n"
	"}\n"
	"ENTRY main {\n"
	"  a = f32[4] parameter(0)\n"
	"  one = f32[] constant(1)\n"
	"  t = (f32[], f32[]) tuple(one, one)\n"
	"  w = (f32[], f32[]) while(t), condition=outer_go, body=outer_body\n"
	"  ROOT out = ((f32[], f32[]), f32[4]) tuple(w, a)\n"
	"}\n";

#endif
