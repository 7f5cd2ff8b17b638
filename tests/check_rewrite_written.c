/*
 * check_rewrite_written.c - what rules write in places that are rare, and right there too.
 */
#include "tests/rewritten.h"

/* How many such operations the program has once the rule was followed; -1: it could not be written. */
static int written(const char *text, const char *rule, uint16_t opcode)
{
	struct graph after;
	int n = rewritten(&after, text, &rule, 1) ? count_op(&after, opcode) : -1;

	graph_release(&after);
	return n;
}

/* Rows of one word's attention: their one place is before what both sides share. */
static void a_row_may_stand_before_what_is_shared(void)
{
	CHECK_INT(written("HloModule m\nENTRY e {\n  x = bf16[2,1,4,64] parameter(0)\n"
		"  k = bf16[2,128,4,64] parameter(1)\n  ROOT y = bf16[2,4,1,128] dot(x, k), lhs_batch_dims={0,2}, "
		"rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={3}\n}\n",
		"second-row", OP_PAD), 1);
	CHECK_INT(written("HloModule m\nENTRY e {\n  x = bf16[1,4,64] parameter(0)\n"
		"  k = bf16[128,4,64] parameter(1)\n  ROOT y = bf16[4,128,1] dot(k, x), lhs_batch_dims={1}, "
		"rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}\n",
		"second-row", OP_PAD), 1);
}

/* What nobody needs may read the state as a turn leaves it. */
static void a_turn_may_read_what_it_leaves(void)
{
	CHECK_INT(written("HloModule m\n\non {\n  p = (s32[], f32[64]) parameter(0)\n"
		"  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n"
		"  ROOT r = pred[] compare(i, n), direction=LT\n}\n\nturn {\n  p = (s32[], f32[64]) parameter(0)\n"
		"  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
		"  x = f32[64] get-tuple-element(p), index=1\n  y = f32[64] sine(x)\n"
		"  ROOT t = (s32[], f32[64]) tuple(j, y)\n  dead = s32[] get-tuple-element(t), index=0\n}\n\n"
		"ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[64] parameter(0)\n"
		"  p = (s32[], f32[64]) tuple(zero, x)\n  y = (s32[], f32[64]) while(p), condition=on, body=turn\n"
		"  ROOT r = f32[64] get-tuple-element(y), index=1\n}\n", "unroll-loop",
		OP_SINE), 4); /* beside that of the body, which nobody calls */
}

/* XLA would take the numbers before they were rounded to 16 bits. */
static void what_jumps_reads_rounded_numbers(void)
{
	CHECK_INT(written("HloModule m\nENTRY e {\n  a = bf16[128,128] parameter(0)\n"
		"  b = bf16[128,128] parameter(1)\n"
		"  t = bf16[128,128] multiply(a, b)\n  ROOT y = pred[128,128] compare(t, b), direction=EQ\n}\n",
		"round-once", OP_REDUCE_PRECISION), 2);
	CHECK_INT(written("HloModule m\nENTRY e {\n  a = bf16[128,128] parameter(0)\n"
		"  b = bf16[128,128] parameter(1)\n"
		"  ROOT y = bf16[128,128] maximum(a, b)\n}\n", "round-once", OP_REDUCE_PRECISION), 0);
	CHECK_INT(written("HloModule m\nENTRY e {\n  a = bf16[8,1000] parameter(0)\n"
		"  ROOT y = (bf16[8,5], s32[8,5]) topk(a), k=5, largest=true\n}\n", "largest-in-32-bits",
		OP_REDUCE_PRECISION), 1);
}

/* On other inputs than those it was tried on, it may lose all digits. */
static void a_sum_of_squares_is_never_below_zero(void)
{
	CHECK_INT(written("HloModule m\nadd {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
		"  ROOT s = f32[] add(p, q)\n}\nENTRY e {\n  x = f32[64,512] parameter(0)\n  m = f32[64] parameter(1)\n"
		"  b = f32[64,512] broadcast(m), dimensions={0}\n  d = f32[64,512] subtract(x, b)\n"
		"  q = f32[64,512] multiply(d, d)\n  z = f32[] constant(0)\n"
		"  ROOT y = f32[64] reduce(q, z), dimensions={1}, to_apply=add\n}\n", "one-pass-variance",
		OP_MAXIMUM), 1);
}

int main(void)
{
	RUN(a_row_may_stand_before_what_is_shared);
	RUN(a_turn_may_read_what_it_leaves);
	RUN(what_jumps_reads_rounded_numbers);
	RUN(a_sum_of_squares_is_never_below_zero);
	return test_done();
}
