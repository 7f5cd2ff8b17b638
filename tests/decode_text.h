/*
 * decode_text.h - small programs before and after a fusion pass, one for each way in which they can differ.
 *
 * The modules after the pass are written by hand, so they also have what compilers do rarely, or what XLA never does.
 */
#ifndef TESTS_DECODE_TEXT_H
#define TESTS_DECODE_TEXT_H

#include "space/fusion/fusion.h"

struct decode_case {
	const char *name, *before, *after;
	uint32_t groups, equal;
	enum fusion_cause cause; /* of all that differ; CAUSE_COUNT: none does */
	uint32_t added;		 /* instructions, so that copies can differ */
	uint32_t left;		 /* groups that differ all the same */
};

#define MODULE "HloModule m\n"
#define ENTRY "ENTRY main {\n p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n"
/* a fused computation of one parameter whose result is OP(negate(it)) */
#define FUSED_NEGATE(name, op) \
	name " {\n a = f32[8] parameter(0)\n n = f32[8] negate(a)\n ROOT r = f32[8] " op "(n)\n}\n"

static const struct decode_case decode_cases[] = {
	{"nothing fused",
		MODULE ENTRY " n = f32[8] negate(p)\n ROOT e = f32[8] exponential(n)\n}\n",
		MODULE ENTRY " n = f32[8] negate(p)\n ROOT e = f32[8] exponential(n)\n}\n",
		4, 4, CAUSE_COUNT, 0, 0},
	{"twins, one absorbed and one in memory",
		MODULE ENTRY " n1 = f32[8] negate(p)\n n2 = f32[8] negate(p)\n e = f32[8] exponential(n1)\n"
		" s = f32[8] sine(n2)\n ROOT t = (f32[8], f32[8], f32[8]) tuple(e, s, n2)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential") ENTRY
		" m = f32[8] negate(p)\n x = f32[8] fusion(p), kind=kLoop, calls=f\n s = f32[8] sine(m)\n"
		" ROOT t = (f32[8], f32[8], f32[8]) tuple(x, s, m)\n}\n",
		5, 5, CAUSE_COUNT, 0, 0},
	{"twins of twins, told apart by who reads them",
		MODULE ENTRY " n1 = f32[8] negate(p)\n n2 = f32[8] negate(p)\n e1 = f32[8] exponential(n1)\n"
		" e2 = f32[8] exponential(n2)\n s = f32[8] sine(e1)\n c = f32[8] cosine(e2)\n"
		" ROOT t = (f32[8], f32[8]) tuple(s, c)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential")
		"g {\n a = f32[8] parameter(0)\n e = f32[8] exponential(a)\n ROOT c = f32[8] cosine(e)\n}\n" ENTRY
		" x = f32[8] fusion(p), kind=kLoop, calls=f\n s = f32[8] sine(x)\n n = f32[8] negate(p)\n"
		" y = f32[8] fusion(n), kind=kLoop, calls=g\n ROOT t = (f32[8], f32[8]) tuple(s, y)\n}\n",
		6, 6, CAUSE_COUNT, 0, 0},
	{"operands of a sum change places",
		MODULE ENTRY " n = f32[8] negate(p)\n e = f32[8] exponential(q)\n ROOT a = f32[8] add(n, e)\n}\n",
		MODULE "f {\n b = f32[8] parameter(0)\n c = f32[8] parameter(1)\n n = f32[8] negate(c)\n"
		" ROOT a = f32[8] add(b, n)\n}\n" ENTRY
		" e = f32[8] exponential(q)\n ROOT x = f32[8] fusion(e, p), kind=kLoop, calls=f\n}\n",
		4, 4, CAUSE_COUNT, 0, 0},
	{"twins merged on the way",
		MODULE ENTRY " n1 = f32[8] negate(p)\n n2 = f32[8] negate(p)\n e = f32[8] exponential(n1)\n"
		" s = f32[8] sine(n2)\n ROOT t = (f32[8], f32[8]) tuple(e, s)\n}\n",
		MODULE ENTRY " n = f32[8] negate(p)\n e = f32[8] exponential(n)\n s = f32[8] sine(n)\n"
		" ROOT t = (f32[8], f32[8]) tuple(e, s)\n}\n",
		5, 5, CAUSE_COUNT, 0, 0},
	{"copies differ: one absorbs what another reads",
		MODULE ENTRY " e = f32[8] exponential(p)\n n = f32[8] negate(e)\n s = f32[8] sine(n)\n"
		" ROOT t = (f32[8], f32[8]) tuple(s, n)\n}\n",
		MODULE "f {\n a = f32[8] parameter(0)\n e = f32[8] exponential(a)\n ROOT n = f32[8] negate(e)\n}\n"
		FUSED_NEGATE("g", "sine") ENTRY " e = f32[8] "
			"exponential(p)\n x = f32[8] fusion(p), kind=kLoop, calls=f\n"
		" y = f32[8] fusion(e), kind=kLoop, calls=g\n ROOT t = (f32[8], f32[8]) tuple(y, x)\n}\n",
		5, 4, CAUSE_COPIES, 1, 0},
	{"one of four consumers absorbs",
		MODULE ENTRY " n = f32[8] negate(p)\n a = f32[8] abs(n)\n b = f32[8] sine(n)\n c = f32[8] cosine(n)\n"
		" d = f32[8] exponential(n)\n ROOT t = (f32[8], f32[8], f32[8], f32[8]) tuple(a, b, c, d)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential") ENTRY
		" n = f32[8] negate(p)\n a = f32[8] abs(n)\n b = f32[8] sine(n)\n c = f32[8] cosine(n)\n"
		" d = f32[8] fusion(p), kind=kLoop, calls=f\n"
		" ROOT t = (f32[8], f32[8], f32[8], f32[8]) tuple(a, b, c, d)\n}\n",
		7, 6, CAUSE_CONSUMERS, 1, 0},
	{"an operation that our rules keep alone is absorbed",
		MODULE "ENTRY main {\n p = f32[4,4] parameter(0)\n c = f32[4,4] "
		"cholesky(p)\n ROOT n = f32[4,4] negate(c)\n}\n",
		MODULE "f {\n a = f32[4,4] parameter(0)\n c = f32[4,4] cholesky(a)\n ROOT n = f32[4,4] negate(c)\n}\n"
		"ENTRY main {\n p = f32[4,4] parameter(0)\n ROOT x = f32[4,4] fusion(p), kind=kLoop, calls=f\n}\n",
		2, 1, CAUSE_RULES, 0, 1},
	{"a fusion of two results",
		MODULE ENTRY " n = f32[8] negate(p)\n e = f32[8] exponential(n)\n s = f32[8] sine(n)\n"
		" ROOT t = (f32[8], f32[8]) tuple(e, s)\n}\n",
		MODULE "f {\n a = f32[8] parameter(0)\n n = f32[8] negate(a)\n e "
		"= f32[8] exponential(n)\n s = f32[8] sine(n)\n"
		" ROOT t = (f32[8], f32[8]) tuple(e, s)\n}\n" ENTRY
		" x = (f32[8], f32[8]) fusion(p), kind=kLoop, calls=f\n e = f32[8] get-tuple-element(x), index=0\n"
		" s = f32[8] get-tuple-element(x), index=1\n ROOT t = (f32[8], f32[8]) tuple(e, s)\n}\n",
		3, 2, CAUSE_RESULTS, 0, 1},
	{"the pass makes another instruction of two, far below a kernel",
		MODULE ENTRY " n = f32[8] negate(p)\n e = f32[8] exponential(n)\n s = f32[8] sine(e)\n"
		" c = f32[8] cosine(s)\n ROOT r = f32[8] sqrt(c)\n}\n",
		MODULE "f {\n a = f32[8] parameter(0)\n l = f32[8] logistic(a)\n ROOT s = f32[8] sine(l)\n}\n"
		"g {\n a = f32[8] parameter(0)\n c = f32[8] cosine(a)\n ROOT r = f32[8] sqrt(c)\n}\n" ENTRY
		" x = f32[8] fusion(p), kind=kLoop, calls=f\n ROOT y = f32[8] fusion(x), kind=kLoop, calls=g\n}\n",
		4, 3, CAUSE_NOT_FOUND, 0, 1},
	{"an instruction appears",
		MODULE ENTRY " n = f32[8] negate(p)\n ROOT e = f32[8] exponential(n)\n}\n",
		MODULE ENTRY " c = f32[8] copy(p)\n n = f32[8] negate(p)\n ROOT e = f32[8] exponential(n)\n}\n",
		5, 4, CAUSE_NOT_FOUND, 0, 1},
	{"an instruction comes between",
		MODULE ENTRY " n = f32[8] negate(p)\n e = f32[8] exponential(n)\n ROOT s = f32[8] sine(e)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential") ENTRY " x = f32[8] fusion(p), kind=kLoop, calls=f\n"
		" c = f32[8] copy(x)\n ROOT s = f32[8] sine(c)\n}\n",
		5, 3, CAUSE_NOT_FOUND, 0, 2},
	{"what nobody needs goes",
		MODULE ENTRY " n = f32[8] negate(p)\n m = f32[8] negate(p)\n d = f32[8] abs(m)\n"
		" ROOT e = f32[8] exponential(n)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential") ENTRY " ROOT x = f32[8] fusion(p), kind=kLoop, calls=f\n}\n",
		3, 3, CAUSE_COUNT, 0, 0},
	{"a fusion of one instruction",
		MODULE ENTRY " ROOT n = f32[8] negate(p)\n}\n",
		MODULE "f {\n a = f32[8] parameter(0)\n ROOT n = f32[8] negate(a)\n}\n" ENTRY
		" ROOT x = f32[8] fusion(p), kind=kLoop, calls=f\n}\n",
		3, 3, CAUSE_COUNT, 0, 0},
	{"a fusion that was there before stays",
		MODULE FUSED_NEGATE("f", "exponential") ENTRY
		" x = f32[8] fusion(p), kind=kLoop, calls=f\n s = f32[8] sine(x)\n ROOT c = f32[8] cosine(s)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential")
		"g {\n a = f32[8] parameter(0)\n s = f32[8] sine(a)\n ROOT c = f32[8] cosine(s)\n}\n" ENTRY
		" x = f32[8] fusion(p), kind=kLoop, calls=f\n ROOT y = f32[8] fusion(x), kind=kLoop, calls=g\n}\n",
		4, 4, CAUSE_COUNT, 0, 0},
	{"a fusion that was there before is absorbed",
		MODULE FUSED_NEGATE("f", "exponential") ENTRY
		" x = f32[8] fusion(p), kind=kLoop, calls=f\n ROOT s = f32[8] sine(x)\n}\n",
		MODULE FUSED_NEGATE("f", "exponential")
		"g {\n a = f32[8] parameter(0)\n x = f32[8] fusion(a), "
		"kind=kLoop, calls=f\n ROOT s = f32[8] sine(x)\n}\n" ENTRY
		" ROOT y = f32[8] fusion(p), kind=kLoop, calls=g\n}\n",
		3, 2, CAUSE_RULES, 0, 1},
	{"twins in a loop",
		MODULE "body {\n s = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
		" x = f32[8] get-tuple-element(s), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n"
		" n1 = f32[8] negate(x)\n n2 = f32[8] negate(x)\n e = f32[8] exponential(n1)\n a = f32[8] add(e, n2)\n"
		" ROOT t = (s32[], f32[8]) tuple(j, a)\n}\n"
		"cond {\n s = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
		" ten = s32[] constant(10)\n ROOT c = pred[] compare(i, ten), direction=LT\n}\n"
		"ENTRY main {\n p = (s32[], f32[8]) parameter(0)\n"
		" ROOT w = (s32[], f32[8]) while(p), condition=cond, body=body\n}\n",
		MODULE "f {\n x = f32[8] parameter(0)\n b = f32[8] parameter(1)\n n = f32[8] negate(x)\n"
		" e = f32[8] exponential(n)\n ROOT a = f32[8] add(e, b)\n}\n"
		"body {\n s = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
		" x = f32[8] get-tuple-element(s), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n"
		" n = f32[8] negate(x)\n a = f32[8] fusion(x, n), kind=kLoop, calls=f\n"
		" ROOT t = (s32[], f32[8]) tuple(j, a)\n}\n"
		"cond {\n s = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
		" ten = s32[] constant(10)\n ROOT c = pred[] compare(i, ten), direction=LT\n}\n"
		"ENTRY main {\n p = (s32[], f32[8]) parameter(0)\n"
		" ROOT w = (s32[], f32[8]) while(p), condition=cond, body=body\n}\n",
		7, 7, CAUSE_COUNT, 0, 0},
	{"copies differ in one branch of two",
		MODULE "yes {\n p = f32[8] parameter(0)\n e = f32[8] exponential(p)\n n = f32[8] negate(e)\n"
		" s = f32[8] sine(n)\n ROOT t = (f32[8], f32[8]) tuple(s, n)\n}\n"
		"no {\n p = f32[8] parameter(0)\n ROOT t = (f32[8], f32[8]) tuple(p, p)\n}\n"
		"ENTRY main {\n b = pred[] parameter(0)\n p = f32[8] parameter(1)\n"
		" ROOT c = (f32[8], f32[8]) conditional(b, p, p), true_computation=yes, false_computation=no\n}\n",
		MODULE "f {\n a = f32[8] parameter(0)\n e = f32[8] exponential(a)\n ROOT n = f32[8] negate(e)\n}\n"
		FUSED_NEGATE("g", "sine")
		"yes {\n p = f32[8] parameter(0)\n e = f32[8] "
		"exponential(p)\n x = f32[8] fusion(p), kind=kLoop, calls=f\n"
		" y = f32[8] fusion(e), kind=kLoop, calls=g\n ROOT t = (f32[8], f32[8]) tuple(y, x)\n}\n"
		"no {\n p = f32[8] parameter(0)\n ROOT t = (f32[8], f32[8]) tuple(p, p)\n}\n"
		"ENTRY main {\n b = pred[] parameter(0)\n p = f32[8] parameter(1)\n"
		" ROOT c = (f32[8], f32[8]) conditional(b, p, p), true_computation=yes, false_computation=no\n}\n",
		7, 6, CAUSE_COPIES, 1, 0},
	{"what nobody reads, twice",
		MODULE ENTRY " n = f32[8] negate(p)\n"
		" h1 = () custom-call(n), custom_call_target=\"show\", custom_call_has_side_effect=true\n"
		" e = f32[8] exponential(n)\n"
		" h2 = () custom-call(n), custom_call_target=\"show\", custom_call_has_side_effect=true\n"
		" ROOT s = f32[8] sine(e)\n}\n",
		MODULE "f {\n a = f32[8] parameter(0)\n e = f32[8] exponential(a)\n ROOT s = f32[8] sine(e)\n}\n" ENTRY
		" n = f32[8] negate(p)\n"
		" h1 = () custom-call(n), custom_call_target=\"show\", custom_call_has_side_effect=true\n"
		" h2 = () custom-call(n), custom_call_target=\"show\", custom_call_has_side_effect=true\n"
		" ROOT x = f32[8] fusion(n), kind=kLoop, calls=f\n}\n",
		4, 4, CAUSE_COUNT, 0, 0},
	{"two computations that one call site shares",
		MODULE "sub {\n p = f32[8] parameter(0)\n n1 = f32[8] negate(p)\n n2 = f32[8] negate(p)\n"
		" e = f32[8] exponential(n1)\n ROOT a = f32[8] add(e, n2)\n}\n" ENTRY
		" c = f32[8] call(p), to_apply=sub\n d = f32[8] call(q), to_apply=sub\n ROOT a = f32[8] add(c, d)\n}\n",
		MODULE "f {\n x = f32[8] parameter(0)\n b = f32[8] parameter(1)\n n = f32[8] negate(x)\n"
		" e = f32[8] exponential(n)\n ROOT a = f32[8] add(e, b)\n}\n"
		"sub {\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n"
		" ROOT a = f32[8] fusion(p, n), kind=kLoop, calls=f\n}\n" ENTRY
		" c = f32[8] call(p), to_apply=sub\n d = f32[8] call(q), to_apply=sub\n ROOT a = f32[8] add(c, d)\n}\n",
		8, 8, CAUSE_COUNT, 0, 0},
};
#define N_DECODE_CASES (sizeof decode_cases / sizeof *decode_cases)

#endif
