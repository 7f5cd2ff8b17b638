/*
 * check_numbers.c - the rule by which numbers of two programs agree, on a device whose comparisons are scripted.
 */
#include <math.h>
#include "device/ops.h"
#include "graph/graph.h"
#include "ready/subject.h"
#include "search/numbers.h"
#include "tests/test.h"

#define FLOAT 0x1p-23
#define HALF 0x1p-7 /* bfloat16 */
#define OUTPUTS 2

struct row {
	const char *what;
	enum inputs inputs;	/* on which the following is so; on others all are equal */
	struct difference tuned[OUTPUTS], nudged[OUTPUTS], fusions[OUTPUTS];
	struct difference again[OUTPUTS];  /* by further nudges */
	struct difference rounded[OUTPUTS]; /* the compiler's own, from what is not rounded */
	struct difference moved[OUTPUTS];   /* ... both on nudged inputs; none: as on the others */
	/* the tuned one, and itself in 64 bits, likewise; none: as far as from the compiler's own */
	struct difference exact[OUTPUTS], right[OUTPUTS];
	enum outcome own, other; /* of running the compiler's own; of running the tuned one */
	bool layouts;
	enum outcome want;
	const char *says;	/* part of the sentence */
	uint32_t compiled;	/* programs for further yardsticks */
	bool silent;		/* this kind of input tells nothing */
};

#define FAR(rel) {{.max_rel = rel, .unit = FLOAT, .elements = 9, .finite = 9}, {.unit = FLOAT, .elements = 9, \
	.finite = 9}}
#define UNLIKE(n) {{.unlike = n, .unit = FLOAT, .elements = 9, .finite = 9 - n}, {.unit = FLOAT, .elements = 9, \
	.finite = 9}}
#define CHAOS(rel, n) {{.max_rel = rel, .far = n, .unit = FLOAT, .elements = 9, .finite = 9}, {.unit = FLOAT, \
	.elements = 9, .finite = 9}}
#define SIGNS(rel, rest) {{.max_rel = rel, .rest_rel = rest, .unit = FLOAT, .elements = 48, .finite = 48}, \
	{.max_rel = 64, .far = 1, .unit = FLOAT, .elements = 9, .finite = 9}}
#define ORDERLY(rel, rest) {{.max_rel = rel, .rest_rel = rest, .unit = FLOAT, .elements = 48, .finite = 48}, \
	{.unit = FLOAT, .elements = 9, .finite = 9}}
#define WHOLE(n) {{.unlike = n, .elements = 9, .finite = 9}, {.unit = FLOAT, .elements = 9, .finite = 9}}

static const struct row rows[] = {
	{"equal", INPUTS_NORMAL, FAR(0), FAR(0), FAR(0), .want = OUTCOME_OK},
	{"a few units in the last place", INPUTS_NORMAL, FAR(4e-6), FAR(0), FAR(0), .want = OUTCOME_OK},
	{"more", INPUTS_NORMAL, FAR(1e-5), FAR(0), FAR(0), .want = OUTCOME_WRONG_NUMBERS, .says = "on normal",
	.compiled = 4},
	{"no number at all", INPUTS_NORMAL, FAR(NAN), FAR(0), FAR(0), .want = OUTCOME_WRONG_NUMBERS, .compiled = 4},
	{"only on large inputs", INPUTS_LARGE, FAR(0.1), FAR(0), FAR(0), .want = OUTCOME_WRONG_NUMBERS,
	.says = "on large",
		.compiled = 4},
	{"only on zeros", INPUTS_ZERO, FAR(0.1), FAR(0), FAR(0), .want = OUTCOME_WRONG_NUMBERS, .says = "on zero",
	.compiled = 4},
	{"rounding does as much", INPUTS_SMALL, FAR(9e-3), FAR(1e-3), FAR(0), .want = OUTCOME_OK},
	{"rounding does less", INPUTS_SMALL, FAR(2e-2), FAR(1e-3), FAR(0), .want = OUTCOME_WRONG_NUMBERS,
	.compiled = 4},
	{"fusing does as much", INPUTS_SMALL, FAR(9e-3), FAR(0), FAR(1e-3), .want = OUTCOME_OK, .compiled = 2},
	{"fusing does less", INPUTS_SMALL, FAR(2e-2), FAR(0), FAR(1e-3), .want = OUTCOME_WRONG_NUMBERS, .compiled = 4},
	{"a nudge that moved it little by luck", INPUTS_NORMAL, FAR(9e-3), FAR(1e-5), FAR(0), .again = FAR(1e-3),
		.want = OUTCOME_OK},
	{"another nudge does not help", INPUTS_NORMAL, FAR(2e-2), FAR(1e-5), FAR(0), .again = FAR(1e-3),
		.want = OUTCOME_WRONG_NUMBERS, .says = "differs by 0.02", .compiled = 4},
	{"a long sum that the compiler's own program rounds", INPUTS_NORMAL, FAR(9e-3), FAR(0), FAR(0),
		.rounded = FAR(9e-3), .exact = FAR(1e-5), .want = OUTCOME_OK, .compiled = 3},
	{"... and the tuned one rounds three times as much", INPUTS_NORMAL, FAR(9e-3), FAR(0), FAR(0),
		.rounded = FAR(3e-3), .exact = FAR(8.9e-3), .want = OUTCOME_OK, .compiled = 3},
	{"the tuned one is further off than that", INPUTS_LARGE, FAR(9e-3), FAR(0), FAR(0), .rounded = FAR(2e-3),
		.exact = FAR(8e-3), .want = OUTCOME_WRONG_NUMBERS, .says = "0.008 relative from what it is without",
		.compiled = 4},
	{"the compiler's own rounds little by luck", INPUTS_LARGE, FAR(9e-3), FAR(0), FAR(0), .rounded = FAR(2e-3),
		.moved = FAR(3e-3), .exact = FAR(8e-3), .right = FAR(1e-7), .want = OUTCOME_OK, .compiled = 4},
	{"... and not by luck", INPUTS_LARGE, FAR(9e-3), FAR(0), FAR(0), .rounded = FAR(2e-3),
		.moved = FAR(2.5e-3), .exact = FAR(8e-3), .right = FAR(1e-7), .want = OUTCOME_WRONG_NUMBERS,
		.says = "0.0075 allowed", .compiled = 4},
	{"... and another program in 64 bits", INPUTS_LARGE, FAR(9e-3), FAR(0), FAR(0), .rounded = FAR(2e-3),
		.moved = FAR(3e-3), .exact = FAR(8e-3), .right = FAR(1e-6), .want = OUTCOME_WRONG_NUMBERS,
		.says = "0.006 allowed", .compiled = 4},
	/* The longest sum has 512 terms, so 4 * sqrt(512) units: 1.08e-5. */
	{"a sum that only the tuned one rounds", INPUTS_NORMAL, FAR(1e-5), FAR(0), FAR(0), .right = FAR(1e-7),
		.want = OUTCOME_OK, .compiled = 4},
	{"... by more than chance does", INPUTS_NORMAL, FAR(1.2e-5), FAR(0), FAR(0), .right = FAR(1e-7),
		.want = OUTCOME_WRONG_NUMBERS, .says = "without rounding", .compiled = 4},
	{"... and which is another sum in 64 bits, too", INPUTS_NORMAL, FAR(1e-5), FAR(0), FAR(0), .right = FAR(3e-7),
		.want = OUTCOME_WRONG_NUMBERS, .says = "without rounding", .compiled = 4},
	{"integers that rounding changes", INPUTS_NORMAL, WHOLE(4), WHOLE(0), WHOLE(0), .rounded = WHOLE(1),
		.want = OUTCOME_OK, .compiled = 3},
	{"NaN of the compiler's own, of which exact ones have none", INPUTS_NORMAL, UNLIKE(1), UNLIKE(0), UNLIKE(0),
		.rounded = UNLIKE(5), .want = OUTCOME_WRONG_NUMBERS, .says = "unlike", .compiled = 4},
	{"... and of which the tuned one, right in 64 bits, has three times as many", INPUTS_LARGE, UNLIKE(1),
		UNLIKE(0), UNLIKE(0), .rounded = UNLIKE(2), .exact = UNLIKE(6), .right = FAR(1e-7), .want = OUTCOME_OK,
		.compiled = 4},
	{"... or more", INPUTS_LARGE, UNLIKE(1), UNLIKE(0), UNLIKE(0), .rounded = UNLIKE(2), .exact = UNLIKE(7),
		.right = FAR(1e-7), .want = OUTCOME_WRONG_NUMBERS, .says = "7 elements of output 0 are unlike",
		.compiled = 4},
	{"an infinity where there is none, among outputs that have some", INPUTS_LARGE, UNLIKE(1), UNLIKE(0), UNLIKE(0),
		.rounded = {{.unit = FLOAT, .elements = 9, .finite = 9}, {.unlike = 5, .unit = FLOAT, .elements = 9}},
		.exact = UNLIKE(1), .right = FAR(1e-7), .want = OUTCOME_OK, .compiled = 4},
	{"... and four", INPUTS_LARGE, UNLIKE(4), UNLIKE(0), UNLIKE(0),
		.rounded = {{.unit = FLOAT, .elements = 9, .finite = 9}, {.unlike = 5, .unit = FLOAT, .elements = 9}},
		.exact = UNLIKE(4), .right = FAR(1e-7), .want = OUTCOME_WRONG_NUMBERS,
		.says = "4 elements of output 0 are unlike", .compiled = 4},
	{"... and integers that rounding changes are none", INPUTS_LARGE, UNLIKE(1), UNLIKE(0), UNLIKE(0),
		.rounded = {{.unit = FLOAT, .elements = 9, .finite = 9}, {.unlike = 5, .elements = 9, .finite = 9}},
		.exact = UNLIKE(1), .right = FAR(1e-7), .want = OUTCOME_WRONG_NUMBERS, .says = "unlike", .compiled = 4},
	{"... and one that is not right in 64 bits", INPUTS_LARGE, UNLIKE(1), UNLIKE(0), UNLIKE(0),
		.rounded = {{.unit = FLOAT, .elements = 9, .finite = 9}, {.unlike = 5, .unit = FLOAT, .elements = 9}},
		.exact = UNLIKE(1), .right = UNLIKE(1), .want = OUTCOME_WRONG_NUMBERS, .says = "unlike", .compiled = 4},
	{"one NaN more among numbers that are chaos", INPUTS_LARGE, UNLIKE(1), {{.max_rel = 21}}, UNLIKE(0),
		.right = FAR(1e-7), .want = OUTCOME_OK, .compiled = 4},
	{"... and not right in 64 bits", INPUTS_LARGE, UNLIKE(1), {{.max_rel = 21}}, UNLIKE(0), .right = UNLIKE(1),
		.want = OUTCOME_WRONG_NUMBERS, .says = "unlike", .compiled = 4},
	{"what rounds so much tells nothing", INPUTS_LARGE, FAR(0.4), FAR(0), FAR(0), .rounded = FAR(0.3),
		.exact = FAR(0.4), .want = OUTCOME_OK, .compiled = 3},
	{"a coarse type", INPUTS_NORMAL, {{.max_rel = 0.02, .unit = HALF, .elements = 9, .finite = 9}}, FAR(0), FAR(0),
		.want = OUTCOME_OK},
	{"more than a coarse type explains", INPUTS_NORMAL,
	{{.max_rel = 0.04, .unit = HALF, .elements = 9, .finite = 9}}, FAR(0), FAR(0),
		.want = OUTCOME_WRONG_NUMBERS, .compiled = 4},
	{"one output is ill-conditioned, the other one wrong", INPUTS_NORMAL,
		{{.max_rel = 0.05, .unit = FLOAT, .elements = 9, .finite = 9}, {.max_rel = 0.05, .unit = FLOAT,
		.elements = 9, .finite = 9}},
		FAR(0.01), FAR(0), .want = OUTCOME_WRONG_NUMBERS, .says = "output 1", .compiled = 4},
	{"a NaN more", INPUTS_LARGE, UNLIKE(1), UNLIKE(0), UNLIKE(0), .want = OUTCOME_WRONG_NUMBERS, .says = "unlike",
	.compiled = 4},
	{"NaN comes and goes with rounding", INPUTS_LARGE, UNLIKE(3), UNLIKE(1), UNLIKE(0), .want = OUTCOME_OK},
	{"an integer", INPUTS_NORMAL, WHOLE(1), WHOLE(0), WHOLE(0), .want = OUTCOME_WRONG_NUMBERS, .says = "integer",
	.compiled = 4},
	{"integers that hang on rounding", INPUTS_NORMAL, WHOLE(4), WHOLE(2), WHOLE(0), .want = OUTCOME_OK},
	{"chaotic on large inputs", INPUTS_LARGE, {{.max_rel = 2, .unit = FLOAT, .elements = 9, .finite = 9}},
		{{.max_rel = 0.5}}, FAR(0), .want = OUTCOME_OK, .silent = true},
	{"half of what is there would be allowed", INPUTS_LARGE,
	{{.max_rel = 0.1, .unit = FLOAT, .elements = 9, .finite = 9}},
		{{.max_rel = 0.06}}, FAR(0), .want = OUTCOME_OK, .silent = true},
	{"one output is chaos, and equal by luck", INPUTS_NORMAL,
		{{.max_rel = 0, .unit = FLOAT, .elements = 9, .finite = 9}, {.max_rel = 2e-3, .unit = FLOAT,
		.elements = 9, .finite = 9}},
		{{.max_rel = 64}, {.max_rel = 1e-3}}, FAR(0), .want = OUTCOME_OK},
	{"one output is chaos, and both are equal", INPUTS_NORMAL, FAR(0), {{.max_rel = 64}, {.max_rel = 1e-3}}, FAR(0),
		.want = OUTCOME_OK},
	{"one output is chaos, and even further apart", INPUTS_NORMAL,
		{{.max_rel = 700, .unit = FLOAT, .elements = 9, .finite = 9},
			{.unit = FLOAT, .elements = 9, .finite = 9}},
		{{.max_rel = 64}}, FAR(0), .want = OUTCOME_WRONG_NUMBERS, .says = "output 0", .compiled = 4},
	{"one output is chaos, and far apart in three times as many places", INPUTS_NORMAL, CHAOS(700, 3), CHAOS(64, 1),
		FAR(0), .rounded = CHAOS(64, 1), .exact = CHAOS(700, 3), .right = FAR(1e-7), .want = OUTCOME_OK,
		.compiled = 4},
	{"... in more", INPUTS_NORMAL, CHAOS(700, 4), CHAOS(64, 1), FAR(0), .rounded = CHAOS(64, 1),
		.exact = CHAOS(700, 4), .right = FAR(1e-7), .want = OUTCOME_WRONG_NUMBERS, .says = "output 0",
		.compiled = 4},
	{"... in as many on nudged inputs", INPUTS_NORMAL, CHAOS(700, 4), CHAOS(64, 1), FAR(0), .rounded = CHAOS(64, 1),
		.moved = CHAOS(64, 2), .exact = CHAOS(700, 4), .right = FAR(1e-7), .want = OUTCOME_OK, .compiled = 4},
	{"... and another program in 64 bits", INPUTS_NORMAL, CHAOS(700, 3), CHAOS(64, 1), FAR(0),
		.rounded = CHAOS(64, 1), .exact = CHAOS(700, 3), .right = FAR(2e-6), .want = OUTCOME_WRONG_NUMBERS,
		.says = "output 0", .compiled = 4},
	{"signs that hang on rounding, where another output is chaos", INPUTS_NORMAL, SIGNS(1, 1e-6), SIGNS(0, 0),
		FAR(0), .rounded = SIGNS(3e-3, 1e-3), .exact = SIGNS(1, 9e-3), .right = SIGNS(1e-7, 0),
		.want = OUTCOME_OK, .compiled = 4},
	{"... more than a few of them", INPUTS_NORMAL, SIGNS(1, 1e-6), SIGNS(0, 0), FAR(0),
		.rounded = SIGNS(3e-3, 1e-3), .exact = SIGNS(1, 1e-2), .right = SIGNS(1e-7, 0),
		.want = OUTCOME_WRONG_NUMBERS, .says = "output 0", .compiled = 4},
	{"... of another program in 64 bits", INPUTS_NORMAL, SIGNS(1, 1e-6), SIGNS(0, 0), FAR(0),
		.rounded = SIGNS(3e-3, 1e-3), .exact = SIGNS(1, 9e-3), .right = SIGNS(2e-6, 0),
		.want = OUTCOME_WRONG_NUMBERS, .says = "output 0", .compiled = 4},
	{"... where none is", INPUTS_NORMAL, ORDERLY(1, 1e-6), ORDERLY(0, 0), FAR(0),
		.rounded = ORDERLY(3e-3, 1e-3), .exact = ORDERLY(1, 9e-3), .right = ORDERLY(1e-7, 0),
		.want = OUTCOME_WRONG_NUMBERS, .says = "output 0", .compiled = 4},
	{"... of an output of a few numbers", INPUTS_NORMAL, FAR(1), FAR(0), FAR(0),
		.rounded = {{.max_rel = 3e-3, .unit = FLOAT, .elements = 9, .finite = 9}, {.max_rel = 64, .far = 1}},
		.exact = FAR(1), .right = FAR(1e-7), .want = OUTCOME_WRONG_NUMBERS, .says = "output 0", .compiled = 4},
	{"all NaN on large inputs", INPUTS_LARGE, {{.unit = FLOAT, .elements = 9}}, FAR(0), FAR(0), .want = OUTCOME_OK,
	.silent = true},
	{"its own program does not run on large inputs", INPUTS_LARGE, FAR(0), FAR(0), FAR(0), .own = OUTCOME_TIMEOUT,
		.want = OUTCOME_OK, .silent = true},
	{"the tuned one does not run on zeros", INPUTS_ZERO, FAR(0), FAR(0), FAR(0), .other = OUTCOME_CRASHED,
		.want = OUTCOME_CRASHED, .says = "on zero inputs it does not run"},
	{"other layouts", INPUTS_NORMAL, FAR(0), FAR(0), FAR(0), .layouts = true, .want = OUTCOME_WRONG_NUMBERS,
	.says = "layouts",
		.compiled = 2},
};

enum { OWN = 1, TUNED, READ_BACK, UNFUSED, TUNED_EXACT, EXACT };

struct script {
	struct device d;
	const struct row *row;
	uint32_t compiled, applied, dropped, lost;
	struct numbers_kept *kept;
	bool everywhere; /* the row is so on every kind of input */
};

static struct subject subject;

static int script_compile(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err)
{
	struct script *s = (struct script *)d;

	(void)format, (void)want, (void)err;
	out->handle = s->lost ? TUNED : (uint32_t)(READ_BACK + s->applied);
	s->applied += how == COMPILE_APPLIED;
	if (how == COMPILE_DEFAULT)
		out->handle = n == subject.original.len && memcmp(p, subject.original.data, n) == 0 ? OWN : EXACT;
	s->lost -= s->lost > 0;
	s->compiled++;
	return 0;
}

static int script_drop(struct device *d, uint32_t handle, struct err *err)
{
	(void)handle, (void)err;
	((struct script *)d)->dropped++;
	return 0;
}

static void lose(struct script *s, enum outcome o, struct comparison *out)
{
	out->outcome = o;
	s->d.generation += o == OUTCOME_CRASHED || o == OUTCOME_TIMEOUT;
	s->lost = 2;
}

static const struct difference *said(const struct row *r, uint32_t a, uint32_t b, uint8_t nudged)
{
	if (a == EXACT && b == OWN)
		return nudged && r->moved[0].elements ? r->moved : r->rounded;
	if (a == EXACT)
		return b == TUNED && r->exact[0].elements ? r->exact :
			b == TUNED_EXACT && r->right[0].elements ? r->right : r->tuned;
	if (a == READ_BACK)
		return r->fusions;
	return b == TUNED ? r->tuned : nudged > 1 && r->again[0].elements ? r->again : r->nudged;
}

static int script_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
	struct comparison *out, struct err *err)
{
	static const struct difference same[OUTPUTS] = FAR(0);
	struct script *s = (struct script *)d;
	bool here = s->everywhere || o->inputs == s->row->inputs;
	const struct difference *from = said(s->row, a, b, o->nudged);
	enum outcome outcome = b == TUNED ? s->row->other : a == OWN && b == OWN ? s->row->own : OUTCOME_OK;

	(void)err;
	CHECK((o->nudged > 0) == (a == b || (a == EXACT && b == OWN && o->both)) && !o->fresh);
	CHECK(((a == OWN || a == EXACT) && (b == OWN || b == TUNED)) || (a == EXACT && b == TUNED_EXACT) ||
		(a == READ_BACK && b == UNFUSED));
	if (here && outcome != OUTCOME_OK) {
		lose(s, outcome, out);
		return 0;
	}
	out->n_outputs = OUTPUTS;
	out->output = MEM_NEW(OUTPUTS, struct difference);
	memcpy(out->output, here ? from : same, sizeof same);
	out->layouts_differ = here && b == TUNED && s->row->layouts;
	return 0;
}

static const struct device_ops ops = {.compile = script_compile, .drop = script_drop, .compare = script_compare};

static bool check(struct script *s, struct numbers *n)
{
	uint8_t *config = MEM_NEW(subject.space->n_sites + 1, uint8_t);
	struct compiled own = {.handle = OWN, .generation = 1}, tuned = {.handle = TUNED, .generation = 1};
	struct numbers_job job = {.device = &s->d, .space = subject.space, .original = &subject.original,
		.config = config, .own = &own, .tuned = &tuned, .kept = s->kept};
	struct err err = {0};
	bool ok;

	s->d.ops = &ops;
	s->d.generation = 1;
	ok = CHECK(numbers_check(n, &job, &err) == 0);
	mem_free(config);
	return ok;
}

static void the_rule(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		struct script s = {.row = r};
		struct numbers n;
		bool lost = r->own != OUTCOME_OK || r->other != OUTCOME_OK;
		if (!check(&s, &n) || !CHECK_INT(n.outcome, r->want) || !CHECK(!r->says || strstr(n.detail, r->says)))
			printf("\t%s: %s\n", r->what, n.detail);
		if (!CHECK(lost || s.compiled == r->compiled))
			printf("\t%s: %u compiled\n", r->what, s.compiled);
		CHECK(r->silent ? !n.on[r->inputs].told : r->want != OUTCOME_OK || n.on[r->inputs].told);
		CHECK_INT(n.on[r->inputs].own, r->own);
	}
}

/* Outputs that carry no information on any kind of input verify nothing. */
static void silence_is_no_proof(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct script s = {.row = &rows[i], .everywhere = true};
		struct numbers n;
		struct buf kinds = {0};
		if (!rows[i].silent)
			continue;
		if (check(&s, &n) && !CHECK(n.outcome == OUTCOME_WRONG_NUMBERS && n.silent &&
			strstr(n.detail, "on every kind of input")))
			printf("\t%s: %s\n", rows[i].what, n.detail);
		CHECK(rows[i].own == OUTCOME_OK || strstr(n.detail, outcome_meaning(rows[i].own)));
		numbers_kinds(&n, &kinds);
		CHECK_INT(kinds.len, 0);
		buf_release(&kinds);
	}
}

static const struct row *row_of(const char *what)
{
	size_t i = 0;

	while (strcmp(rows[i].what, what) != 0)
		i++;
	return &rows[i];
}

static void words(void)
{
	struct script s = {.row = row_of("rounding does as much")};
	struct buf kinds = {0};
	struct numbers n;
	double difference, allowed;

	if (!check(&s, &n))
		return;
	numbers_kinds(&n, &kinds);
	CHECK_STR(kinds.data, "normal, positive, large, small, zero");
	numbers_worst(&n, &difference, &allowed);
	CHECK_NEAR(difference, 9e-3, 1e-12);
	CHECK_NEAR(allowed, 1e-2, 1e-12);
	buf_release(&kinds);
}

/* What is said of the numbers is about an output that tells something. */
static void chaos_does_not_speak(void)
{
	static const char *const which[] = {"one output is chaos, and equal by luck",
		"one output is chaos, and both are equal"};

	for (size_t i = 0; i < 2; i++) {
		struct script s = {.row = row_of(which[i])};
		struct numbers n;
		if (!check(&s, &n))
			return;
		CHECK_INT(n.on[INPUTS_NORMAL].output, 1);
		CHECK_NEAR(n.on[INPUTS_NORMAL].allowed, 1e-2, 1e-12);
		CHECK_NEAR(n.on[INPUTS_NORMAL].difference, i ? 0 : 2e-3, 1e-12);
	}
}

/* Only what is made of the tuned program is compiled for each check. */
static void kept_programs_are_not_compiled_again(void)
{
	struct numbers_kept kept = {0};
	struct script s = {.row = row_of("more"), .kept = &kept};
	struct err err = {0};
	struct numbers n;

	for (uint32_t again = 0; again < 3 && check(&s, &n); again++) {
		CHECK_INT(n.outcome, OUTCOME_WRONG_NUMBERS);
		CHECK_INT(s.compiled, 4 + again);
		CHECK_INT(s.dropped, 1 + again);
		s.applied = TUNED_EXACT - READ_BACK;
	}
	CHECK(numbers_forget(&kept, &s.d, &err) == 0);
	CHECK_INT(s.dropped, 3 + NUMBERS_KEPT);
}

int main(void)
{
	struct err err = {0};

	if (subject_open(&subject, "examples/graphs/tiny/reduction.pb.zst", "fusion", NULL, &err) < 0)
		printf("FAIL: check_numbers: %s\n", err.text);
	else {
		RUN(the_rule);
		RUN(silence_is_no_proof);
		RUN(words);
		RUN(kept_programs_are_not_compiled_again);
		RUN(chaos_does_not_speak);
	}
	subject_release(&subject);
	return test_done();
}
