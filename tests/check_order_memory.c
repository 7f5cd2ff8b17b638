/*
 * check_order_memory.c - the memory model of orders: which values take the place of others, which memory they may use,
 * and what a tuple costs.
 */
#include "graph/graph.h"
#include "space/order/program.h"
#include "tests/test.h"

#define BIG 4032 /* 1000 floats in a heap */
#define TWICE 8000

/*
 * Returns the bytes of temporary memory of a program in our order with steps a and b exchanged; with `listed`, in the
 * order in which it is listed.
 */
static uint64_t bytes_when(const char *text, uint32_t a, uint32_t b, bool listed)
{
	struct graph g;
	struct program p;
	struct err err = {0};
	uint64_t bytes;

	if (!CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0)) {
		printf("\t%s\n", err.text);
		return 0;
	}
	program_open(&p, &g);
	uint32_t *order = p.order[g.entry], was = order[a];
	order[a] = order[b];
	order[b] = was;
	CHECK(line_legal(program_line(&p, g.entry), order));
	if (listed)
		program_as_listed(&p);
	program_settle(&p);
	bytes = program_bytes(&p);
	program_release(&p);
	graph_release(&g);
	return bytes;
}

static uint64_t bytes_of(const char *text)
{
	return bytes_when(text, 0, 0, false);
}

#define ADD "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
#define DONATE(how) "HloModule d" how "\n" ADD "ENTRY main {\n p = " \
	"f32[1000]{0} parameter(0)\n q = f32[] parameter(1)\n" \
	" z = f32[] constant(0)\n t = f32[1000]{0} broadcast(q), dimensions={}\n" \
	" u = f32[] reduce(t, z), dimensions={0}, to_apply=add\n b = f32[1000]{0} broadcast(u), dimensions={}\n" \
	" ROOT r = f32[1000]{0} add(p, b)\n}\n"

/* t and b fit into the memory of the result, unless the result takes the parameter's, which is still read then. */
static void a_result_is_room_unless_it_was_given(void)
{
	CHECK_INT(bytes_of(DONATE("")), 4); /* u */
	CHECK_INT(bytes_of(DONATE(", input_output_alias={ {}: (0, {}, may-alias) }")), BIG + 4);
}

/* Between the instruction that reads x and the one that makes y, the buffer of both is free, and t may use it. */
static void a_loop_leaves_its_buffer_in_between(void)
{
	static const char text[] = "HloModule l\n" ADD
		"body {\n s = (s32[], f32[1000]{0}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
		" x = f32[1000]{0} get-tuple-element(s), index=1\n one = s32[] constant(1)\n z = f32[] constant(0)\n"
		" u = f32[] reduce(x, z), dimensions={0}, to_apply=add\n t = f32[1000]{0} broadcast(u), dimensions={}\n"
		" w = f32[] reduce(t, z), dimensions={0}, to_apply=add\n y = f32[1000]{0} broadcast(w), dimensions={}\n"
		" j = s32[] add(i, one)\n ROOT o = (s32[], f32[1000]{0}) tuple(j, y)\n}\n"
		"cond {\n s = (s32[], f32[1000]{0}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
		" n = s32[] constant(9)\n ROOT c = pred[] compare(i, n), direction=LT\n}\n"
		"ENTRY main {\n p = f32[] parameter(0)\n k = s32[] constant(0)\n k2 = s32[] copy(k)\n"
		" b = f32[1000]{0} broadcast(p), dimensions={}\n a = (s32[], f32[1000]{0}) tuple(k2, b)\n"
		" v = (s32[], f32[1000]{0}) while(a), condition=cond, body=body\n"
		" g = f32[1000]{0} get-tuple-element(v), index=1\n h = f32[] constant(0)\n"
		" ROOT r = f32[] reduce(g, h), dimensions={0}, to_apply=add\n}\n";
	uint64_t bytes = bytes_of(text);

	if (!CHECK(bytes >= BIG && bytes < BIG + 500)) /* two of them, and some scalars */
		printf("\t%llu bytes\n", (unsigned long long)bytes);
}

/* The result of a branch is made inside the branch, and stays until the conditional ends. */
static void what_a_branch_gives_is_made_inside(void)
{
	static const char text[] = "HloModule b\n" ADD
		"yes {\n x = f32[] parameter(0)\n z = f32[] constant(0)\n "
		"t = f32[1000]{0} broadcast(x), dimensions={}\n"
		" ROOT y = f32[2000]{0} concatenate(t, t), dimensions={0}\n}\n"
		"no {\n x = f32[] parameter(0)\n ROOT y = f32[2000]{0} broadcast(x), dimensions={}\n}\n"
		"ENTRY main {\n p = pred[] parameter(0)\n q = f32[] parameter(1)\n z = f32[] constant(0)\n"
		" c = f32[2000]{0} conditional(p, q, q), true_computation=yes, false_computation=no\n"
		" ROOT r = f32[] reduce(c, z), dimensions={0}, to_apply=add\n}\n";

	CHECK_INT(bytes_of(text), 4000 + TWICE);
}

/* A sum may be written over the operand that is not read later, whichever it is. */
static void a_value_takes_any_place_that_gets_free(void)
{
#define SUM(first, second) "HloModule s\n" ADD "ENTRY main {\n q = f32[] parameter(0)\n z = f32[] constant(0)\n" \
	" a = f32[1000]{0} broadcast(q), dimensions={}\n b = f32[1000]{0} broadcast(q), dimensions={}\n" \
	" c = f32[1000]{0} add(" first ", " second ")\n u = f32[] reduce(c, z), dimensions={0}, to_apply=add\n" \
	" w = f32[] reduce(a, z), dimensions={0}, to_apply=add\n ROOT r = f32[] add(u, w)\n}\n"
	CHECK_INT(bytes_of(SUM("a", "b")), bytes_of(SUM("b", "a")));
	CHECK(bytes_of(SUM("a", "b")) < 3 * 4000);
}

/* A sort works in place, unless its operand is read by another instruction; several operands each in their own. */
static void a_sort_works_in_place(void)
{
#define SORT(read) "HloModule s\n" ADD "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n" \
	" ROOT c = pred[] compare(a, b), direction=LT\n}\n" \
	"ENTRY main {\n q = f32[] parameter(0)\n z = f32[] constant(0)\n " \
	"a = f32[1000]{0} broadcast(q), dimensions={}\n" \
	" o = f32[1000]{0} sort(a), dimensions={0}, to_apply=less\n u = " \
	"f32[] reduce(o, z), dimensions={0}, to_apply=add\n" \
	" w = f32[] reduce(" read ", z), dimensions={0}, to_apply=add\n ROOT r = f32[] add(u, w)\n}\n"
	static const char pairs[] = "HloModule s\n" ADD "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
		" c = f32[] parameter(2)\n d = f32[] parameter(3)\n ROOT e = pred[] compare(a, b), direction=LT\n}\n"
		"ENTRY main {\n q = f32[] parameter(0)\n z = f32[] constant(0)\n "
		"a = f32[1000]{0} broadcast(q), dimensions={}\n"
		" b = f32[1000]{0} broadcast(q), dimensions={}\n"
		" o = (f32[1000]{0}, f32[1000]{0}) sort(a, b), dimensions={0}, to_apply=less\n"
		" x = f32[1000]{0} get-tuple-element(o), index=0\n y = f32[1000]{0} get-tuple-element(o), index=1\n"
		" u = f32[] reduce(x, z), dimensions={0}, to_apply=add\n w = "
		"f32[] reduce(y, z), dimensions={0}, to_apply=add\n"
		" ROOT r = f32[] add(u, w)\n}\n";

	CHECK(bytes_of(SORT("o")) < BIG + 200);
	CHECK(bytes_of(SORT("a")) >= 2 * 4000);
	CHECK(bytes_of(pairs) >= 2 * 4000 && bytes_of(pairs) < 2 * BIG + 200);
}

/*
 * Appends a fusion's computation: n times two instructions, of which the second reads the first; with `twice`, also
 * what the first reads.
 */
static void add_fused(struct buf *b, uint32_t n, bool twice)
{
	buf_adds(b, "fused {\n p = f32[1000]{0} parameter(0)\n m0 = f32[1000]{0} negate(p)\n");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(b, " n%u = f32[1000]{0} sine(m%u)\n m%u = f32[1000]{0} multiply(n%u, %s%u)\n", i, i, i + 1, i,
			twice ? "m" : "n", i);
	buf_addf(b, " ROOT r = f32[1000]{0} negate(m%u)\n}\n", n);
}

/* A fusion may work in place if all paths through it keep elements where they are, however many and long these are. */
static void a_fusion_of_many_paths_works_in_place(void)
{
	static const struct {
		uint32_t n;
		bool twice;
	} table[] = {{1, false}, {1, true}, {30, true}, {100, true}, {100, false}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf b = {0};
		buf_adds(&b, "HloModule f\n" ADD);
		add_fused(&b, table[i].n, table[i].twice);
		buf_adds(&b, "ENTRY main {\n x = f32[1000]{0} parameter(0)\n z = f32[] constant(0)\n"
			" a = f32[1000]{0} cosine(x)\n f = f32[1000]{0} fusion(a), kind=kLoop, calls=fused\n"
			" ROOT s = f32[] reduce(f, z), dimensions={0}, to_apply=add\n}\n");
		CHECK_INT(bytes_of(b.data), 4000);
		buf_release(&b);
	}
}

/* The table of a tuple takes memory of its own, in every order; the table of the result is not temporary. */
static void a_tuple_has_a_table(void)
{
#define TUPLE(result) "HloModule t\nENTRY main {\n q = f32[] parameter(0)\n " \
	"a = f32[1000]{0} broadcast(q), dimensions={}\n" \
	" t = (f32[1000]{0}, f32[]) custom-call(a), custom_call_target=\"op\"\n" result "}\n"
	CHECK_INT(bytes_of(TUPLE(" x = f32[1000]{0} get-tuple-element(t), index=0\n"
		" ROOT r = f32[1]{0} custom-call(x), custom_call_target=\"op\"\n")), 64 + BIG + 4000);
		/* the result is room for the scalar */
	CHECK_INT(bytes_of(TUPLE(" ROOT r = (f32[1000]{0}, f32[]) copy(t)\n")), 64 + BIG + 4);
}

/* a and b are as large as the result, whose memory one of them gets: the first to run, or else the first listed. */
static void ties_go_to_the_first_listed(void)
{
	static const char text[] = "HloModule l\n" ADD "ENTRY main {\n q = f32[] parameter(0)\n z = f32[] constant(0)\n"
		" b = f32[1000]{0} broadcast(q), dimensions={}\n a = f32[1000]{0} broadcast(q), dimensions={}\n"
		" u = f32[] reduce(b, z), dimensions={0}, to_apply=add\n c = f32[2000]{0} broadcast(u), dimensions={}\n"
		" w = f32[] reduce(c, z), dimensions={0}, to_apply=add\n t = f32[] "
		"custom-call(a, w), custom_call_target=\"op\"\n"
		" ROOT r = f32[1000]{0} broadcast(t), dimensions={}\n}\n";

	CHECK(bytes_when(text, 2, 2, false) < TWICE + 500);
	CHECK(bytes_when(text, 2, 3, false) >= TWICE + 4000);
	CHECK(bytes_when(text, 2, 3, true) < TWICE + 500);
}

/*
 * If two operands die at an instruction that may be written over either, the first one's place is taken. v1 lies above
 * v0, and v2 above v1. v3, which lives beside v4, stays as high as the operand whose place it takes.
 */
static void the_first_operand_yields(void)
{
#define ADDS(operands) "HloModule m\nENTRY main {\n q = f32[] parameter(0)\n" \
	" v0 = f32[1200]{0} custom-call(q), custom_call_target=\"op\"\n" \
	" v1 = f32[800]{0} custom-call(v0), custom_call_target=\"op\"\n" \
	" v2 = f32[800]{0} custom-call(v1), custom_call_target=\"op\"\n v3 = f32[800]{0} add(" operands ")\n" \
	" v4 = f32[1200]{0} custom-call(q), custom_call_target=\"op\"\n" \
	" ROOT r = f32[1]{0} custom-call(v3, v4), custom_call_target=\"op\"\n}\n"
	CHECK_INT(bytes_of(ADDS("v1, v2")), 8000);
	CHECK_INT(bytes_of(ADDS("v2, v1")), 11200);
}

/*
 * v1 goes a tick before v2 takes its place, so it lives no longer than v0, which is older and is laid out before it. So
 * v2 lies above v0, and v3 above v2. If v1 went a tick later, it would be laid out first, below v0: 6,400 bytes.
 */
static void who_yields_goes_first(void)
{
	CHECK_INT(bytes_of("HloModule m\nENTRY main {\n q = f32[] parameter(0)\n"
		" v0 = f32[800]{0} custom-call(q), custom_call_target=\"op\"\n"
		" v1 = f32[800]{0} custom-call(v0), custom_call_target=\"op\"\n v2 = f32[800]{0} negate(v1)\n"
		" v3 = f32[400]{0} custom-call(v2), custom_call_target=\"op\"\n"
		" v4 = f32[1200]{0} custom-call(q), custom_call_target=\"op\"\n"
		" ROOT r = f32[1]{0} custom-call(v3, v4), custom_call_target=\"op\"\n}\n"), 8000);
}

/* Appends a program in which each computation calls the one before it, and then loops over it, `deep` times over. */
static void add_calls(struct buf *b, int deep)
{
	buf_adds(b, "HloModule n\ncond {\n p = f32[1000]{0} parameter(0)\n ROOT t = pred[] constant(true)\n}\n"
		"c0 {\n p = f32[1000]{0} parameter(0)\n ROOT r = f32[1000]{0} sine(p)\n}\n");
	for (int i = 1; i <= deep; i++)
		buf_addf(b, "c%d {\n p = f32[1000]{0} parameter(0)\n a = f32[1000]{0} call(p), to_apply=c%d\n"
			" ROOT r = f32[1000]{0} while(a), condition=cond, body=c%d\n}\n", i, i - 1, i - 1);
	buf_addf(b, "ENTRY main {\n p = f32[1000]{0} parameter(0)\n e = f32[1000]{0} exponential(p)\n"
		" f = f32[1000]{0} call(e), to_apply=c%d\n ROOT r = f32[1]{0} custom-call(f), "
		"custom_call_target=\"op\"\n}\n", deep);
}

/* Sets when each node runs, by following every call. Returns when the computation ends. */
static uint64_t follow_calls(struct program *p, uint32_t comp, uint64_t now, uint64_t *time)
{
	const struct graph *g = p->graph;

	for (uint32_t i = 0; i < program_line(p, comp)->n; i++) {
		uint32_t v = g->comp[comp].first + p->order[comp][i], n = g->node[v].n_called;
		for (uint32_t k = 0; k < n; k++)
			now = follow_calls(p, node_calls(g, v)[g->node[v].opcode == OP_WHILE ? n - 1 - k : k], now,
				time);
		time[v] = now++;
	}
	return now;
}

/* A node's time is that of its last run. Many calls take no longer to model than few. One buffer is enough for all. */
static void calls_may_be_many(void)
{
	static const struct {
		int deep;
		bool followed;
	} table[] = {{1, true}, {2, true}, {7, true}, {40, false}, {200, false}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf b = {0};
		struct graph g;
		struct program p = {0};
		struct err err = {0};

		add_calls(&b, table[i].deep);
		if (CHECK(graph_parse(&g, b.data, b.len, "text", &err) == 0)) {
			uint64_t *time = MEM_NEW(g.n_nodes, uint64_t);
			program_open(&p, &g);
			program_settle(&p);
			CHECK_INT(program_bytes(&p), 4000);
			if (table[i].followed)
				follow_calls(&p, g.entry, 0, time);
			for (uint32_t v = 0; v < g.n_nodes && table[i].followed; v++)
				if (!CHECK_INT(p.time[v], time[v]))
					printf("\tof node %u, %d deep\n", v, table[i].deep);
			mem_free(time);
			program_release(&p);
		}
		graph_release(&g);
		buf_release(&b);
	}
}

/* Writes a chain of n sums over parameter p; every `apart`-th has a reader at the end, and so a life that is long. */
static void write_sums(struct buf *b, uint32_t n, uint32_t apart)
{
	buf_adds(b, "HloModule long\nENTRY main {\n p = f32[1000]{0} parameter(0)\n sum0 = f32[1000]{0} add(p, p)\n");
	for (uint32_t i = 1; i < n; i++)
		buf_addf(b, " sum%u = f32[1000]{0} add(sum%u, p)\n", i, i - 1);
	buf_addf(b, " tail0 = f32[1000]{0} add(sum%u, p)\n", n - 1);
	for (uint32_t i = 1; i * apart < n; i++)
		buf_addf(b, " tail%u = f32[1000]{0} add(tail%u, sum%u)\n", i, i - 1, i * apart);
	buf_addf(b, " ROOT r = f32[1000]{0} add(tail%u, p)\n}\n", (n - 1) / apart);
}

/*
 * All sums are made in place, so one memory is enough for those that nobody reads later, and they are in the room of
 * the result; each of the others needs one of its own. To compare each with all in its room would take half a minute.
 */
static void many_values_share_a_room(void)
{
	static const struct {
		uint32_t n, apart, kept;
	} table[] = {{10, 20, 0}, {100, 7, 14}, {1000, 999, 1}, {3000, 100, 29}, {100000, 100000, 0}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf b = {0};

		write_sums(&b, table[i].n, table[i].apart);
		CHECK_INT(bytes_of(b.data), table[i].kept ? (table[i].kept - 1) * (uint64_t)BIG + 4000 : 0);
		buf_release(&b);
	}
}

int main(void)
{
	RUN(many_values_share_a_room);
	RUN(a_result_is_room_unless_it_was_given);
	RUN(a_loop_leaves_its_buffer_in_between);
	RUN(what_a_branch_gives_is_made_inside);
	RUN(a_value_takes_any_place_that_gets_free);
	RUN(a_sort_works_in_place);
	RUN(the_first_operand_yields);
	RUN(who_yields_goes_first);
	RUN(a_fusion_of_many_paths_works_in_place);
	RUN(a_tuple_has_a_table);
	RUN(calls_may_be_many);
	RUN(ties_go_to_the_first_listed);
	return test_done();
}
