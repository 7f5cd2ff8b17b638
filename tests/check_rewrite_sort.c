/*
 * check_rewrite_sort.c - which sorts the rules of space/rewrite/keys.c and network.c take, and which they leave alone.
 *
 * What they write is proven by tests/full_sort.c; here every comparator is read, and programs that are rewritten are
 * read again.
 */
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/sort_programs.h"
#include "tests/test.h"

/* Rewrites the sort y in one way; what it becomes sorts one array of keys, or compares two elements at a time. */
static void rewritten(struct space *s, uint32_t site, uint8_t choice, bool network)
{
	uint8_t config[16] = {0};
	struct graph h = {0};
	struct buf module = {0};
	struct err err = {0};

	config[site] = choice;
	CHECK(s->ops->apply(s, config, &module, &err) == 0);
	CHECK(graph_parse(&h, module.data, module.len, "rewritten", &err) == 0);
	for (uint32_t v = 0; v < h.n_nodes; v++)
		CHECK(h.node[v].opcode != OP_SORT ||
			(!network && h.node[v].n_operands == 1 && h.node[v].dtype != DT_F32));
	if (err.text[0])
		printf("%s\n", err.text);
	graph_release(&h);
	buf_release(&module);
}

/* The names of the rules that apply to the sort y. */
static void offered(const char *text, char out[64])
{
	struct graph g = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint32_t y, site = NONE;
	size_t n = 0;

	*out = 0;
	if (CHECK(graph_parse(&g, text, strlen(text), "sorts", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	if (s && CHECK((y = graph_find(&g, "y")) != NONE) && CHECK(s->n_sites < 16))
		site = s->site_of[y];
	for (uint32_t k = 1; site != NONE && k < s->site[site].choices; k++) {
		const char *name = rewrite_rule(s, rewrite_offer(s, site, (uint8_t)k))->name;
		n += (size_t)snprintf(out + n, 64 - n, "%s%s", n ? " " : "", name);
		rewritten(s, site, (uint8_t)k, strcmp(name, "sort-by-network") == 0);
	}
	if (err.text[0])
		printf("%s\n%s", err.text, text);
	space_free(s);
	graph_release(&g);
}

static void comparators_are_read(void)
{
	static const char keys[] = "sort-by-keys", places[] = "sort-by-places", none[] = "",
		network[] = "sort-by-network", both[] = "sort-by-places sort-by-network";
	static const struct {
		struct sort_case c;
		const char *rule;
	} table[] = {
		{{"f32", "s32", BOTH, false, false, "x", 1, 6, 40}, keys},
		{{"f32", "s32", BOTH, true, true, "x", 0, 40, 6}, keys},
		{{"f32", "s32", NOTHING, true, false, "x", 1, 6, 40}, keys},
		{{"f64", "s64", NANS, false, false, "x", 1, 6, 40}, keys},
		{{"bf16", "s16", ZEROS, false, true, "x", 1, 6, 40}, keys},
		{{"f32", "s32", BITS, false, false, "x", 1, 6, 40}, places},
		{{"f32", "s32", BOTH, false, false, "xi", 1, 6, 40}, places},
		{{"f32", "s32", BOTH, true, true, "ix", 1, 6, 10}, both},
		{{"f16", "s16", BOTH, false, false, "vxi", 0, 40, 6}, places},
		{{"u32", "s32", PLAIN, false, false, "xi", 1, 6, 10}, both},
		{{"f64", "s64", BOTH, false, false, "xi", 1, 6, 10}, none}, /* key and place do not fit in 64 bits */
		{{"f32", "s32", PLAIN, false, false, "x", 1, 6, 10}, none},
		{{"f32", "s32", PLAIN, false, false, "xi", 1, 6, 10}, none},
		{{"s32", "s32", PLAIN, false, false, "x", 1, 6, 40}, none}, /* fast as it is */
		{{"s32", "s32", PLAIN, true, false, "x", 0, 6, 40}, network},
		{{"f32", "s32", BOTH, false, false, "x", 1, 10, 6}, network},
		{{"f32", "s32", BOTH, false, false, "xi", 1, 10, 6}, network},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf text = {0};
		char rule[64];
		sort_program(&text, &table[i].c);
		offered(text.data, rule);
		if (!CHECK_STR(rule, table[i].rule))
			printf("# row %zu\n", i);
		buf_release(&text);
	}
}

/* Replaces the first `what` by `with`. */
static void replace(struct buf *b, const char *what, const char *with)
{
	struct buf was = *b;
	const char *at = strstr(was.data, what);

	*b = (struct buf){0};
	if (CHECK(at != NULL))
		buf_addf(b, "%.*s%s%s", (int)(at - was.data), was.data, with, at + strlen(what));
	buf_release(&was);
}

/* Each change makes of JAX's comparator one that must be left alone, or that one array cannot be made again from. */
static void other_comparators_are_left_alone(void)
{
	static const struct {
		const char *what, *with, *rule;
	} table[] = {
		{"tb), direction=LT", "tb), direction=LE", ""},
		{"compare(ta, tb), direction=LT", "compare(tb, ta), direction=LE", ""},
		{"compare(ta, tb), direction=LT", "compare(tb, ta), direction=GE", ""},
		{"compare(ta, tb), direction=LT", "compare(ta, tb), direction=NE", ""},
		{"compare(ta, tb)", "compare(ta, ta)", ""},
		{"compare(ta, tb)", "compare(ta, sb)", ""},
		{"select(ub, nb, sb)", "select(ua, nb, sb)", ""},
		{"za = f32[] constant(0)", "za = f32[] constant(1)", ""},
		{"ea = pred[] compare(pa, za), direction=EQ", "ea = pred[] compare(pa, za), direction=GE", ""},
		{"sa = f32[] select(ea, za, pa)", "sa = f32[] sine(pa)", ""},
		{"nan", "-nan", ""}, /* of one side alone */
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct sort_case c = {"f32", "s32", BOTH, false, false, "x", 1, 6, 10};
		struct buf text = {0};
		char rule[64];
		sort_program(&text, &c);
		replace(&text, table[i].what, table[i].with);
		offered(text.data, rule);
		if (!CHECK_STR(rule, table[i].rule))
			printf("# %s\n", table[i].with);
		buf_release(&text);
	}
}

/* NaNs come first, or ones are taken for zeros, or f does nothing: one array cannot be made again from such keys. */
static void what_is_no_refinement_is_sorted_by_place(void)
{
	static const char *const table[][4] = {
		{"na = f32[] constant(nan)", "na = f32[] constant(-nan)", "nb = f32[] constant(nan)",
			"nb = f32[] constant(-nan)"},
		{"za = f32[] constant(0)", "za = f32[] constant(1)", "zb = f32[] constant(0)",
			"zb = f32[] constant(1)"},
		{"direction=NE", "direction=NE, type=TOTALORDER", "ub = pred[] compare(pb, pb), direction=NE",
			"ub = pred[] compare(pb, pb), direction=NE, type=TOTALORDER"},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct sort_case c = {"f32", "s32", BOTH, false, false, "x", 1, 6, 10};
		struct buf text = {0};
		char rule[64];
		sort_program(&text, &c);
		replace(&text, table[i][0], table[i][1]);
		replace(&text, table[i][2], table[i][3]);
		offered(text.data, rule);
		if (!CHECK_STR(rule, "sort-by-places sort-by-network"))
			printf("# %s\n", table[i][1]);
		buf_release(&text);
	}
}

int main(void)
{
	RUN(comparators_are_read);
	RUN(other_comparators_are_left_alone);
	RUN(what_is_no_refinement_is_sorted_by_place);
	return test_done();
}
