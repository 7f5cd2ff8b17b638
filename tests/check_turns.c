/*
 * check_turns.c - the program that counts the turns of loops and the runs of branches: it is a sound program; it is
 * refused if they cannot be counted; counts are kept; and nothing is decided where nothing runs.
 */
#include <math.h>
#include "graph/describe.h"
#include "graph/turns.h"
#include "ready/turns.h"
#include "search/guide.h"
#include "space/space.h"
#include "tests/script_device.h"
#include "tests/test.h"
#include "tests/turns_text.h"

static void parse(struct graph *g, const char *text)
{
	struct err err = {{0}};
	if (!CHECK(graph_parse(g, text, strlen(text), "text", &err) == 0))
		printf("\t%s\n", err.text);
}

static uint32_t body(const struct graph *g, uint32_t loop)
{
	return node_calls(g, loop)[0];
}

/* Returns the node of the `which`-th loop, callers first. */
static uint32_t loop(const struct graph *g, int which)
{
	for (uint32_t v = g->n_nodes; v-- > 0;)
		if (g->node[v].opcode == OP_WHILE && which-- == 0)
			return v;
	return NONE;
}

static uint32_t count(const struct graph *g, uint16_t opcode)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += g->node[v].opcode == opcode;
	return n;
}

/* Does the node give a value together with a vector of counts? */
static bool is_pair(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *s = g->node[v].proto->shape;

	return s->n_tuple_shapes == 2 && s->tuple_shapes[1]->element_type == DT_S32 &&
	       s->tuple_shapes[1]->n_dimensions == 1;
}

static void counting_programs_are_sound(void)
{
	static const struct {
		bool both;
		uint32_t counts;
		bool inner; /* does the inner loop's state become a pair? The outer one's always does */
	} cases[] = {{false, 1, false}, {false, 1, true}, {true, 2, true}};
	struct graph g;
	parse(&g, turns_text);
	for (int which = 0; which < 3; which++) {
		struct graph counting;
		struct buf made = {0};
		struct err err = {{0}};
		uint32_t counted[] = {body(&g, loop(&g, 0)), body(&g, loop(&g, 1))};
		if (!CHECK(turns_program(&g, &counted[which % 2], cases[which].both ? 2 : 1, &made)))
			continue;
		if (!CHECK(graph_parse(&counting, made.data, made.len, "counting", &err) == 0)) {
			printf("\t%s\n", err.text);
			continue;
		}
		const struct node *root = &counting.node[counting.comp[counting.entry].root];
		CHECK(root->dtype == DT_TUPLE);
		CHECK_INT(root->proto->shape->n_tuple_shapes, cases[which].counts);
		CHECK_INT(counting.module->host_program_shape->result->n_tuple_shapes, cases[which].counts);
		CHECK_INT(counting.module->host_program_shape->n_parameters, 1);
		CHECK_INT(count(&counting, OP_WHILE), 2);
		/* only the loops on the way are wider */
		CHECK(is_pair(&counting, loop(&counting, 0)));
		CHECK(is_pair(&counting, loop(&counting, 1)) == cases[which].inner);
		graph_release(&counting);
		buf_release(&made);
	}
	graph_release(&g);
}

/* The body returns three values and the loop has two, so a count could not be carried from turn to turn. */
static void a_loop_has_one_state(void)
{
	static const char text[] =
		"HloModule m\n"
		"body {\n"
		"  p = (f32[], f32[]) parameter(0)\n"
		"  x = f32[] get-tuple-element(p), index=0\n"
		"  ROOT t = (f32[], f32[], f32[]) tuple(x, x, x)\n"
		"}\n"
		"go {\n"
		"  p = (f32[], f32[]) parameter(0)\n"
		"  x = f32[] get-tuple-element(p), index=0\n"
		"  ROOT c = pred[] compare(x, x), direction=LT\n"
		"}\n"
		"ENTRY main {\n"
		"  t = (f32[], f32[]) parameter(0)\n"
		"  ROOT w = (f32[], f32[]) while(t), condition=go, body=body\n"
		"}\n";
	struct graph g;
	struct err err = {{0}};
	CHECK_INT(graph_parse(&g, text, strlen(text), "text", &err), -1);
	if (!CHECK(strstr(err.text, "(while) of computation main does not fit the computations it calls") != NULL))
		printf("\t%s\n", err.text);
	graph_release(&g);
}

/* The inner loop needs nothing from the outer loop's state, so it may come first in the file. */
static void an_inner_loop_may_come_first(void)
{
	static const char text[] =
		"HloModule m\n"
		"body {\n"
		"  p = (s32[]) parameter(0)\n"
		"  x = s32[] get-tuple-element(p), index=0\n"
		"  ROOT t = (s32[]) tuple(x)\n"
		"}\n"
		"go {\n"
		"  p = (s32[]) parameter(0)\n"
		"  x = s32[] get-tuple-element(p), index=0\n"
		"  ROOT c = pred[] compare(x, x), direction=LT\n"
		"}\n"
		"outer {\n"
		"  zero = s32[] constant(0)\n"
		"  z = (s32[]) tuple(zero)\n"
		"  w = (s32[]) while(z), condition=go, body=body\n"
		"  ROOT p = (s32[]) parameter(0)\n"
		"}\n"
		"outer_go {\n"
		"  p = (s32[]) parameter(0)\n"
		"  x = s32[] get-tuple-element(p), index=0\n"
		"  ROOT c = pred[] compare(x, x), direction=LT\n"
		"}\n"
		"ENTRY main {\n"
		"  t = (s32[]) parameter(0)\n"
		"  ROOT w = (s32[]) while(t), condition=outer_go, body=outer\n"
		"}\n";
	struct graph g, counting;
	struct buf made = {0};
	struct err err = {{0}};

	parse(&g, text);
	for (int which = 0; which < 2; which++) {
		uint32_t counted = body(&g, loop(&g, which));
		buf_reset(&made);
		CHECK(turns_program(&g, &counted, 1, &made));
		if (!CHECK_INT(graph_parse(&counting, made.data, made.len, "counting", &err), 0))
			printf("\t%s\n", err.text);
		graph_release(&counting);
	}
	buf_release(&made);
	graph_release(&g);
}

static void counts_are_kept(void)
{
	struct graph g, again;
	struct buf bytes = {0};
	struct err err = {{0}};
	parse(&g, turns_text);
	struct digest before = g.content;
	CHECK(g.node[loop(&g, 0)].trip_count == -1 && g.node[loop(&g, 1)].trip_count == -1);
	CHECK(turns_entered(&g, loop(&g, 0)) == 1 && turns_entered(&g, loop(&g, 1)) == -1);
	turns_note(&g, loop(&g, 0), (double[]){3}, 1);
	turns_note(&g, loop(&g, 1), (double[]){2.5}, 1);
	graph_write(&g, &bytes);
	CHECK(graph_parse(&again, bytes.data, bytes.len, "again", &err) == 0);
	CHECK(again.node[loop(&again, 0)].trip_count == 3 && again.node[loop(&again, 1)].trip_count == 2.5);
	CHECK(turns_entered(&again, loop(&again, 1)) == 3);
	CHECK(again.comp[node_calls(&again, loop(&again, 1))[0]].trips == 7.5);
	/* costs are of another size then, so it is another program to a store */
	CHECK(memcmp(&before, &again.content, sizeof before) != 0);
	graph_release(&again);
	graph_release(&g);
	buf_release(&bytes);
}

static int script_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
	struct comparison *out, struct err *err)
{
	static const double turns[] = {3, 15}; /* the inner loop's are those of all three executions */

	(void)a;
	(void)b;
	(void)o;
	(void)err;
	((struct script *)d)->pairs++;
	out->n_outputs = 2;
	out->output = MEM_NEW(2, struct difference);
	for (int i = 0; i < 2; i++)
		out->output[i].max_abs = turns[i];
	return 0;
}

/* However many loops there are, one large program is compiled and run: the other one is only zeros. */
static void one_program_counts_all(void)
{
	struct script s = new_script();
	struct device_ops ops = script_ops;
	struct graph g;
	struct err err = {{0}};
	bool noted;

	ops.compare = script_compare;
	s.d.ops = &ops;
	parse(&g, turns_text);
	s.d.info.can_run = false;
	CHECK(count_turns(&s.d, &g, &noted, &err) == 0 && !noted && turns_unknown(&g));
	CHECK_INT(s.compiles, 0);
	s.d.info.can_run = true;
	CHECK(count_turns(&s.d, &g, &noted, &err) == 0 && noted && !turns_unknown(&g));
	CHECK_INT(s.compiles, 2);
	CHECK_INT(s.pairs, 1);
	CHECK_INT(s.live, 0);
	CHECK(g.node[loop(&g, 0)].trip_count == 3 && g.node[loop(&g, 1)].trip_count == 5);
	graph_release(&g);
}

#define GO(shape) "go {\n  p = " shape " parameter(0)\n  ROOT c = pred[] " \
	"custom-call(p), custom_call_target=\"ask\"\n}\n"
#define BODY(shape) "body {\n  ROOT p = " shape " parameter(0)\n}\n"
#define LOOP(name, shape) "  " name " = " shape " while(a), condition=go, body=body\n"

static void some_are_not_told(void)
{
	static const struct {
		const char *why, *text;
	} cases[] = {
		{"a body of two loops",
			"HloModule m\n" GO("(s32[])") BODY("(s32[])") "ENTRY main {\n  x "
			"= s32[] parameter(0)\n  a = (s32[]) tuple(x)\n"
			LOOP("w", "(s32[])") LOOP("w2", "(s32[])") "  ROOT t = ((s32[]), (s32[])) tuple(w, w2)\n}\n"},
		{"a computation of two branches",
			"HloModule m\n" GO("(s32[])") BODY("(s32[])") "branch {\n  a = (s32[]) parameter(0)\n"
			LOOP("ROOT w", "(s32[])")
			"}\nENTRY main {\n  c = pred[] parameter(0)\n  x = s32[] parameter(1)\n"
			"  t = (s32[]) tuple(x)\n  ROOT r = (s32[]) conditional(c, t, t), true_computation=branch, "
			"false_computation=branch\n}\n"},
		{"a call on the way",
			"HloModule m\n" GO("(s32[])") BODY("(s32[])") "called {\n  x "
			"= s32[] parameter(0)\n  a = (s32[]) tuple(x)\n"
			LOOP("ROOT w", "(s32[])") "}\nENTRY main {\n  x = s32[] parameter(0)\n  "
				"ROOT c = (s32[]) call(x), to_apply=called\n}\n"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct graph g;
		struct buf made = {0};
		parse(&g, cases[i].text);
		uint32_t first = loop(&g, 0);
		CHECK(!turns_countable(&g, body(&g, first)));
		if (!CHECK(!turns_program(&g, node_calls(&g, first), 1, &made)) ||
			!CHECK(turns_entered(&g, first) == -1))
			printf("\t%s\n", cases[i].why);
		CHECK(made.len == 0);
		graph_release(&g);
	}
}

/* Lists the branches and bodies of all that branches_text has, callers first. Returns how many. */
static uint32_t all_parts(const struct graph *g, uint32_t *comp)
{
	uint32_t n = 0;

	for (uint32_t v = g->n_nodes; v-- > 0;) {
		const struct node *in = &g->node[v];
		uint32_t parts = in->opcode == OP_WHILE ? 1 : in->opcode == OP_CONDITIONAL ? in->n_called : 0;
		for (uint32_t k = 0; k < parts; k++)
			comp[n++] = node_calls(g, v)[k];
	}
	return n;
}

static void branches_are_counted_likewise(void)
{
	struct graph g, counting;
	struct buf made = {0};
	struct err err = {{0}};
	uint32_t comp[16], n;

	parse(&g, branches_text);
	n = all_parts(&g, comp);
	CHECK_INT(n, 9);
	for (uint32_t k = 0; k < n; k++)
		CHECK(turns_countable(&g, comp[k]));
	CHECK(turns_program(&g, comp, n, &made));
	if (CHECK_INT(graph_parse(&counting, made.data, made.len, "counting", &err), 0)) {
		const Hlo__ShapeProto *result = counting.node[counting.comp[counting.entry].root].proto->shape;
		CHECK_INT(result->n_tuple_shapes, n);
		for (uint32_t v = 0; v < counting.n_nodes; v++)
			if (counting.node[v].opcode == OP_WHILE || counting.node[v].opcode == OP_CONDITIONAL)
				CHECK(is_pair(&counting, v));
		graph_release(&counting);
	} else {
		printf("\t%s\n", err.text);
	}
	buf_release(&made);
	graph_release(&g);
}

/* A computation that nobody calls may call what has become wider, and would not fit it any more. */
static void what_nobody_calls_is_left_out(void)
{
	struct graph g, counting;
	struct buf text = {0}, made = {0};
	struct err err = {{0}};
	uint32_t comp[16];

	buf_addf(&text, "%sunused {\n  x = f32[] parameter(0)\n  ROOT c = f32[] call(x), to_apply=small\n}\n",
		branches_text);
	parse(&g, text.data);
	all_parts(&g, comp);
	for (int which = 0; which < 9; which++) {
		buf_reset(&made);
		CHECK(turns_program(&g, &comp[which], 1, &made));
		if (!CHECK_INT(graph_parse(&counting, made.data, made.len, "counting", &err), 0))
			printf("\t%s\n", err.text);
		graph_release(&counting);
	}
	graph_release(&g);
	buf_release(&made);
	buf_release(&text);
}

/* The node of branches_text that decides between three. */
static uint32_t choice_of_three(const struct graph *g)
{
	uint32_t v = 0;

	while (g->node[v].opcode != OP_CONDITIONAL || g->node[v].n_called != 3)
		v++;
	return v;
}

/* Takes over the text with what was counted of the choice between three: the second alone runs. */
static void parse_counted(struct graph *g)
{
	struct buf bytes = {0};
	struct err err = {{0}};
	struct graph before;

	parse(&before, branches_text);
	turns_note(&before, choice_of_three(&before), (double[]){0, 1, 0}, 3);
	graph_write(&before, &bytes);
	CHECK_INT(graph_parse(g, bytes.data, bytes.len, "counted", &err), 0);
	graph_release(&before);
	buf_release(&bytes);
}

static void what_is_in_no_taken_branch_never_runs(void)
{
	struct buf said = {0};
	struct graph g;
	uint32_t v;

	parse_counted(&g);
	v = choice_of_three(&g);
	for (uint32_t k = 0; k < 3; k++) {
		CHECK_NEAR(turns_noted(g.node[v].proto, k), k == 1, 0);
		CHECK_NEAR(g.comp[node_calls(&g, v)[k]].trips, k == 1, 0);
	}
	CHECK_NEAR(turns_noted(g.node[v].proto, 3), -1, 0);
	describe_text(&g, &said);
	CHECK(strstr(said.data, "branches taken 0%, 100%, 0%\n") != NULL);
	buf_release(&said);
	for (uint32_t w = 0; w < g.n_nodes; w++)
		if (g.node[w].opcode == OP_WHILE && g.node[w].comp == node_calls(&g, v)[0]) {
			CHECK_NEAR(turns_entered(&g, w), 0, 0);
			CHECK_NEAR(g.comp[body(&g, w)].trips, 0, 0);
			CHECK(g.comp[body(&g, w)].trips_known);
		}
	graph_release(&g);
}

/* Where nothing runs, a guide moves nothing to make it faster, and a flip has no price; but it may to save memory. */
static void a_site_that_never_runs_is_left(void)
{
	struct graph g;
	struct err err = {{0}};
	struct space *s;

	parse_counted(&g);
	s = space_open("fusion", "cpu", &g, NULL, 0, &err);
	if (!CHECK(s != NULL))
		return;
	CHECK(space_idle_sites(s, QUANTITY_SECONDS) > 0 && space_idle_sites(s, QUANTITY_SECONDS) < s->n_sites);
	CHECK_INT(space_idle_sites(s, QUANTITY_BYTES), 0);
	for (int bytes = 0; bytes < 2; bytes++) {
		struct guide_options o = {.alpha = 100, .explore = 100, .adapt = true,
			.quantity = bytes ? QUANTITY_BYTES : QUANTITY_SECONDS};
		struct guide *guide = guide_new(s, NULL, &o);
		uint8_t *config = MEM_NEW(2 * s->n_sites, uint8_t), *other = config + s->n_sites, choice;
		uint32_t site, idle = 0;
		struct rng r;
		rng_seed(&r, 1);
		space_default(s, config);
		guide_move(guide, config);
		while (guide_pick(guide, &r, &site, &choice)) {
			struct regions cut = {0};
			guide_tell(guide, site, choice, NAN);
			if (space_matters(s, site, QUANTITY_SECONDS))
				continue;
			idle++;
			memcpy(other, config, s->n_sites);
			other[site] = choice;
			CHECK(s->ops->region(s, config, other, &cut, &err) == 0 && cut.n == 0);
			regions_release(&cut);
		}
		CHECK(bytes ? idle > 0 : idle == 0);
		mem_free(config);
		guide_free(guide);
	}
	space_free(s);
	graph_release(&g);
}

int main(void)
{
	RUN(counting_programs_are_sound);
	RUN(a_loop_has_one_state);
	RUN(an_inner_loop_may_come_first);
	RUN(counts_are_kept);
	RUN(one_program_counts_all);
	RUN(some_are_not_told);
	RUN(branches_are_counted_likewise);
	RUN(what_nobody_calls_is_left_out);
	RUN(what_is_in_no_taken_branch_never_runs);
	RUN(a_site_that_never_runs_is_left);
	return test_done();
}
