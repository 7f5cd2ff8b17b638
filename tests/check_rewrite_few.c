/*
 * check_rewrite_few.c - which sums, maxima and minima are taken apart into slices (space/rewrite/few.c), and that
 * nothing is done to what sums over a length that the program only knows when it runs.
 *
 * That what is written is right, tests/check_rewrite_proof.c proves.
 */
#include "tests/rewritten.h"

#define HEAD "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n" \
	"twice {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, a)\n}\n" \
	"most {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] maximum(a, b)\n}\nENTRY e {\n"
#define SUM(x, first, y, dims, f) "x = f32[" x "] parameter(0)\n z = f32[] constant(" first ")\n" \
	" ROOT y = f32[" y "] reduce(x, z), dimensions={" dims "}, to_apply=" f "\n}\n"

/* Opens a program of HEAD and these lines; NULL if that fails. */
static struct space *open_lines(const char *lines, struct graph *g, struct err *err)
{
	struct buf text = {0};
	struct space *s = NULL;

	buf_addf(&text, HEAD " %s", lines);
	if (CHECK(graph_parse(g, text.data, text.len, "text", err) == 0))
		s = space_open("rewrite", "cpu", g, NULL, 0, err);
	buf_release(&text);
	return s;
}

static void few_terms_side_by_side_are_taken_apart(void)
{
	static const struct {
		const char *text;
		bool taken;
	} table[] = {{SUM("9,3", "0", "9", "1", "add"), true},
		{SUM("9,3", "-0", "9", "1", "add"), true},
		{SUM("9,16", "0", "9", "1", "add"), true},
		{SUM("9,17", "0", "9", "1", "add"), false},
		{SUM("9,1", "0", "9", "1", "add"), false},
		{SUM("3,9", "0", "9", "0", "add"), false}, /* not side by side */
		{SUM("4,2,4,2", "0", "4,4", "1,3", "add"), true},
		{SUM("4,4,4,5", "0", "4,4", "1,3", "add"), false},
		{SUM("9,3", "-inf", "9", "1", "most"), true},
		{SUM("9,3", "0", "9", "1", "most"), false},
		{SUM("9,3", "1", "9", "1", "add"), false},
		{SUM("9,3", "nan", "9", "1", "add"), false},
		{SUM("9,3", "0", "9", "1", "twice"), false},
		{SUM("9,3", "0", "3", "1", "add"), false}, /* no shape that follows */
		{SUM("9,3", "0", "9,3", "1", "add"), false}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g;
		struct err err = {0};
		struct space *s = open_lines(table[i].text, &g, &err);
		if (!CHECK(s && (s->n_sites == 1) == table[i].taken))
			printf("\t%u sites, %s, in\n%s", s ? s->n_sites : 0, err.text, table[i].text);
		space_free(s);
		graph_release(&g);
	}
}

/* The slices would add up what lies beyond the length; for a product so written the compiler has no code. */
static void a_length_of_the_run_is_left_alone(void)
{
	static const char *const table[] = {
		"x = f32[64,%s3] parameter(0)\n z = f32[] constant(0)\n"
		" ROOT y = f32[64] reduce(x, z), dimensions={1}, to_apply=add\n}\n",
		"x = f32[%s256,128] parameter(0)\n w = f32[256,64] parameter(1)\n"
		" ROOT y = f32[128,64] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n",
		"x = f32[256,128] parameter(0)\n w = f32[%s256,64] parameter(1)\n"
		" ROOT y = f32[128,64] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n",
		"x = f32[1,8,8,%s4] parameter(0)\n k = f32[3,3,4,8] parameter(1)\n"
		" ROOT y = f32[1,6,6,8] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f\n}\n",
		"x = f32[%s3,9] parameter(0)\n z = f32[] constant(0)\n"
		" ROOT y = f32[1,9] reduce-window(x, z), window={size=3x1}, to_apply=add\n}\n"};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		for (int dynamic = 0; dynamic < 2; dynamic++) {
			const char *at = strstr(table[i], "%s");
			struct buf lines = {0};
			struct graph g;
			struct err err = {0};
			struct space *s;
			buf_addf(&lines, "%.*s%s%s", (int)(at - table[i]), table[i], dynamic ? "<=" : "", at + 2);
			s = open_lines(lines.data, &g, &err);
			if (!CHECK(s && (s->n_sites > 0) != dynamic))
				printf("\t%u sites, %s, in\n%s", s ? s->n_sites : 0, err.text, lines.data);
			space_free(s);
			graph_release(&g);
			buf_release(&lines);
		}
}

static uint32_t subtractions(const struct buf *module)
{
	struct graph g = {0};
	int n;

	CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
	n = count_op(&g, OP_SUBTRACT);
	graph_release(&g);
	return (uint32_t)n;
}

/* Terms that are all -0 add up to -0, or to 0 if the sum begins with that: then the result is 0 - -x. */
static void sums_have_the_sign_that_they_begin_with(void)
{
	static const struct {
		const char *text;
		uint32_t subtractions; /* by any choice */
	} table[] = {{SUM("9,3", "0", "9", "1", "add"), 1}, {SUM("9,3", "-0.0", "9", "1", "add"), 0},
		{SUM("9,3", "-inf", "9", "1", "most"), 0},
		{"x = f32[9,30] parameter(0)\n z = f32[] constant(0)\n"
		 " ROOT y = f32[9,27] reduce-window(x, z), window={size=1x4}, to_apply=add\n}\n", 1},
		{"x = f32[9,30] parameter(0)\n z = f32[] constant(0)\n"
		 " ROOT y = f32[6,12] reduce-window(x, z), window={size=4x19}, to_apply=add\n}\n", 1},
		{"x = f32[9,30] parameter(0)\n z = f32[] constant(-0.0)\n"
		 " ROOT y = f32[6,12] reduce-window(x, z), window={size=4x19}, to_apply=add\n}\n", 0}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g;
		struct err err = {0};
		struct space *s = open_lines(table[i].text, &g, &err);
		CHECK(s && s->n_sites == 1 && s->site[0].choices > 1);
		for (uint8_t k = 1; s && s->n_sites && k < s->site[0].choices; k++) {
			struct buf module = {0};
			CHECK(s->ops->apply(s, &k, &module, &err) == 0);
			if (!CHECK_INT(subtractions(&module), table[i].subtractions))
				printf("\tby choice %d in\n%s", k, table[i].text);
			buf_release(&module);
		}
		space_free(s);
		graph_release(&g);
	}
}

int main(void)
{
	RUN(sums_have_the_sign_that_they_begin_with);
	RUN(a_length_of_the_run_is_left_alone);
	RUN(few_terms_side_by_side_are_taken_apart);
	return test_done();
}
