/*
 * check_rewrite_reread.c - what is kept in memory because loops would compute it more than once
 * (space/rewrite/reread.c).
 */
#include "tests/rewritten.h"

#define ADD "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
#define ENTRY "HloModule m\n" ADD "ENTRY e {\n x = f32[2,32,32,1] parameter(0)\n"
#define ABOVE(x) " k = f32[11,1,1,1] parameter(1)\n y = f32[2,22,32,1] convolution(" x ", k), window={size=11x1}," \
	" dim_labels=b01f_01io->b01f\n"
#define TALL ABOVE("x")
#define WIDE " l = f32[1,11,1,1] parameter(2)\n"
#define OF(in) " ROOT r = f32[2,22,22,1] convolution(" in ", l), window={size=1x11}, dim_labels=b01f_01io->b01f\n}\n"
#define NEGATIVE " n = f32[2,22,32,1] negate(y)\n"
#define ALL(x) " z = f32[] constant(0)\n m = f32[] reduce(" x ", z), dimensions={0,1,2,3}, to_apply=add\n"

/* How many barriers the program has if all sites are taken apart; -1: it could not be written. */
static int barriers(const char *text)
{
	static const char *const rules[] = {"few-features-forward", "few-terms-as-slices", "unroll-loop"};
	struct graph after;
	int n = -1;

	if (rewritten(&after, text, rules, sizeof rules / sizeof *rules))
		n = count_op(&after, OP_OPTIMIZATION_BARRIER);
	graph_release(&after);
	return n;
}

struct row {
	const char *text;
	int kept;
};

static void check_rows(const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int have = barriers(row[i].text);
		if (!CHECK(have == row[i].kept))
			printf("\t%d barriers, not %d, in\n%s", have, row[i].kept, row[i].text);
	}
}

static void what_a_loop_reads_again_is_kept(void)
{
	static const struct row table[] = {
		/* read once */
		{ENTRY TALL " ROOT r = f32[2,22,32,1] negate(y)\n}\n", 0},
		{ENTRY TALL " ROOT r = f32[2,22,16,1] slice(y), slice={[0:2], [0:22], [0:16], [0:1]}\n}\n", 0},
		{ENTRY TALL " ROOT r = f32[22,2,32,1] transpose(y), dimensions={1,0,2,3}\n}\n", 0},
		/* read by a window, at once or through another operation */
		{ENTRY TALL WIDE OF("y"), 1},
		{ENTRY TALL NEGATIVE WIDE OF("n"), 1},
		/* repeated */
		{ENTRY TALL " n = f32[2,22,32] reshape(y)\n"
			" ROOT r = f32[2,22,32,3] broadcast(n), dimensions={0,1,2}\n}\n", 1},
		{ENTRY TALL " n = f32[2,22,32] reshape(y)\n c = f32[3] parameter(2)\n"
			" ROOT r = f32[2,22,32,3] dot(n, c), lhs_contracting_dims={}, rhs_contracting_dims={}\n}\n", 1},
		/* by slices that overlap, and by halves */
		{ENTRY TALL " a = f32[2,21,32,1] slice(y), slice={[0:2], [0:21], [0:32], [0:1]}\n"
			" b = f32[2,21,32,1] slice(y), slice={[0:2], [1:22], [0:32], [0:1]}\n"
			" ROOT r = f32[2,21,32,1] subtract(b, a)\n}\n", 1},
		{ENTRY TALL " a = f32[2,11,32,1] slice(y), slice={[0:2], [0:11], [0:32], [0:1]}\n"
			" b = f32[2,11,32,1] slice(y), slice={[0:2], [11:22], [0:32], [0:1]}\n"
			" ROOT r = f32[2,11,32,1] subtract(b, a)\n}\n", 0},
		/* in what is called */
		{"HloModule m\n" ADD "f {\n y = f32[2,22,32] parameter(0)\n"
			" ROOT r = f32[2,22,32,3] broadcast(y), dimensions={0,1,2}\n}\nENTRY e {\n"
			" x = f32[2,32,32,1] parameter(0)\n" TALL " n = f32[2,22,32] reshape(y)\n"
			" ROOT r = f32[2,22,32,3] call(n), to_apply=f\n}\n", 1},
		/* after what is called */
		{"HloModule m\n" ADD "f {\n x = f32[2,32,32,1] parameter(0)\n" TALL
			" ROOT n = f32[2,22,32] reshape(y)\n}\nENTRY e {\n"
			" x = f32[2,32,32,1] parameter(0)\n k = f32[11,1,1,1] parameter(1)\n"
			" c = f32[2,22,32] call(x, k), to_apply=f\n"
			" ROOT r = f32[2,22,32,3] broadcast(c), dimensions={0,1,2}\n}\n", 1},
		/* what a window moves over, if it takes more than a few operations */
		{ENTRY " x1 = f32[2,32,32,1] negate(x)\n" ABOVE("x1") " ROOT r = f32[2,22,32,1] negate(y)\n}\n", 0},
		{ENTRY " x1 = f32[2,32,32,1] multiply(x, x)\n x2 = f32[2,32,32,1] multiply(x1, x1)\n"
			ABOVE("x2") " ROOT r = f32[2,22,32,1] negate(y)\n}\n", 1},
		{ENTRY " x1 = f32[2,32,32,1] tanh(x)\n" ABOVE("x1") " ROOT r = f32[2,22,32,1] negate(y)\n}\n", 1},
		{ENTRY " t = f32[2,32,1,32] parameter(2)\n x1 = f32[2,32,1,32] tanh(t)\n"
			" x2 = f32[2,32,32,1] transpose(x1), dimensions={0,1,3,2}\n"
			ABOVE("x2") " ROOT r = f32[2,22,32,1] negate(y)\n}\n", 1},
		/* terms side by side */
		{"HloModule m\n" ADD "ENTRY e {\n x = f32[9,3] parameter(0)\n z = f32[] constant(0)\n"
			" x1 = f32[9,3] multiply(x, x)\n"
			" ROOT y = f32[9] reduce(x1, z), dimensions={1}, to_apply=add\n}\n", 0},
		{"HloModule m\n" ADD "ENTRY e {\n x = f32[9,3] parameter(0)\n z = f32[] constant(0)\n"
			" x1 = f32[9,3] exponential(x)\n"
			" ROOT y = f32[9] reduce(x1, z), dimensions={1}, to_apply=add\n}\n", 1},
		/* few operations are done again */
		{"HloModule m\n" ADD "ENTRY e {\n x = f32[9,3] parameter(0)\n z = f32[] constant(0)\n"
			" y = f32[9] reduce(x, z), dimensions={1}, to_apply=add\n"
			" ROOT r = f32[9,3] broadcast(y), dimensions={0}\n}\n", 0},
		{"HloModule m\n" ADD "ENTRY e {\n x = f32[9,3] parameter(0)\n z = f32[] constant(0)\n"
			" y = f32[9] reduce(x, z), dimensions={1}, to_apply=add\n"
			" ROOT r = f32[9,30] broadcast(y), dimensions={0}\n}\n", 1},
	};

	check_rows(table, sizeof table / sizeof *table);
}

static void what_several_loops_read_is_kept(void)
{
	static const struct row table[] = {
		/* two that are written to memory, a sum and one that is written, two sums */
		{ENTRY TALL NEGATIVE " m = f32[2,22,32,1] multiply(y, y)\n"
			" ROOT r = (f32[2,22,32,1], f32[2,22,32,1]) tuple(n, m)\n}\n", 1},
		{ENTRY TALL NEGATIVE ALL("y") " ROOT r = (f32[2,22,32,1], f32[]) tuple(n, m)\n}\n", 1},
		{ENTRY TALL ALL("y") " n = f32[2] reduce(y, z), dimensions={1,2,3}, to_apply=add\n"
			" ROOT r = (f32[], f32[2]) tuple(m, n)\n}\n", 1},
		/* one that reads it twice at the same place; one that is a sum */
		{ENTRY TALL NEGATIVE " ROOT m = f32[2,22,32,1] multiply(y, n)\n}\n", 0},
		{ENTRY TALL NEGATIVE " k2 = f32[2,22,32,1] multiply(y, n)\n" ALL("k2")
			" ROOT r = f32[] negate(m)\n}\n", 0},
	};

	check_rows(table, sizeof table / sizeof *table);
}

#define TURNS(limit) "HloModule m\non {\n p = (s32[], f32[64], f32[64]) parameter(0)\n" \
	" i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(" limit ")\n" \
	" ROOT r = pred[] compare(i, n), direction=LT\n}\nturn {\n p = (s32[], f32[64], f32[64]) parameter(0)\n" \
	" i = s32[] get-tuple-element(p), index=0\n x = f32[64] get-tuple-element(p), index=1\n" \
	" y = f32[64] get-tuple-element(p), index=2\n one = s32[] constant(1)\n j = s32[] add(i, one)\n" \
	" a = f32[64] add(x, y)\n b = f32[64] multiply(a, x)\n" \
	" ROOT r = (s32[], f32[64], f32[64]) tuple(j, b, y)\n}\n" \
	"ENTRY e {\n zero = s32[] constant(0)\n x = f32[64] parameter(0)\n y = f32[64] parameter(1)\n" \
	" p = (s32[], f32[64], f32[64]) tuple(zero, x, y)\n" \
	" l = (s32[], f32[64], f32[64]) while(p), condition=on, body=turn\n" \
	" c = f32[64] get-tuple-element(l), index=1\n d = f32[64] get-tuple-element(l), index=2\n"
#define TWO(a, b) " ROOT r = (f32[64], f32[64]) tuple(" a ", " b ")\n}\n"

static void what_turns_leave_is_kept(void)
{
	static const struct row table[] = {
		/* read by one loop, by two, and twice by one */
		{TURNS("12") " ROOT n = f32[64] negate(c)\n}\n", 0},
		{TURNS("12") " n = f32[64] negate(c)\n m = f32[64] add(c, d)\n" TWO("n", "m"), 1},
		{TURNS("12") " n = f32[64] negate(c)\n ROOT m = f32[64] add(c, n)\n}\n", 0},
		/* few operations; and none, because turns leave it as it was */
		{TURNS("4") " n = f32[64] negate(c)\n m = f32[64] add(c, d)\n" TWO("n", "m"), 0},
		{TURNS("12") " n = f32[64] negate(d)\n m = f32[64] add(d, d)\n" TWO("n", "m"), 0},
	};

	check_rows(table, sizeof table / sizeof *table);
}

int main(void)
{
	RUN(what_a_loop_reads_again_is_kept);
	RUN(what_several_loops_read_is_kept);
	RUN(what_turns_leave_is_kept);
	return test_done();
}
