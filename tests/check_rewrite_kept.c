/*
 * check_rewrite_kept.c - where a function's result may be kept in memory (space/rewrite/series.c): where it, or what is
 * made of it number by number, is read more than once. Where it is kept, and only there, a barrier is written.
 */
#include "space/space.h"
#include "tests/test.h"

#define HEAD "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n" \
	"ENTRY e {\n x = f32[64,4] parameter(0)\n z = f32[] constant(0)\n y = f32[64,4] sine(x)\n"

/* Does the program with this choice at its first site have a barrier? */
static bool has_barrier(struct space *s, uint8_t choice)
{
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct buf module = {0};
	struct graph g = {0};
	struct err err = {0};
	bool found = false;

	config[0] = choice;
	s->ops->apply(s, config, &module, &err);
	if (CHECK(graph_parse(&g, module.data, module.len, "kept", &err) == 0))
		for (uint32_t i = 0; i < g.n_nodes; i++)
			found |= g.node[i].opcode == OP_OPTIMIZATION_BARRIER;
	graph_release(&g);
	buf_release(&module);
	mem_free(config);
	return found;
}

static void what_is_read_twice_can_be_kept(void)
{
	static const struct {
		const char *text;
		uint8_t choices;
	} table[] = {
		{" ROOT r = f32[64,4] negate(y)\n}\n", 2},
		{" ROOT r = f32[64,4] multiply(y, y)\n}\n", 2},
		{" n = f32[64,4] negate(y)\n m = f32[4,64] transpose(n), dimensions={1,0}\n"
		 " ROOT r = (f32[64,4], f32[4,64]) tuple(n, m)\n}\n", 3},
		{" n = f32[64,4] negate(y)\n ROOT r = (f32[64,4], f32[64,4]) tuple(n, x)\n}\n", 2},
		{" n = f32[64] reduce(y, z), dimensions={1}, to_apply=add\n m = f32[64] negate(n)\n"
		 " ROOT r = (f32[64], f32[64]) tuple(n, m)\n}\n", 2}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf text = {0};
		struct graph g;
		struct err err = {0};
		struct space *s = NULL;
		buf_addf(&text, HEAD "%s", table[i].text);
		if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
			s = space_open("rewrite/without:few-terms-as-slices", "cpu", &g, NULL, 0, &err);
		if (!CHECK(s && s->n_sites == 1 && s->site[0].choices == table[i].choices))
			printf("\t%u choices, %s, of\n%s", s && s->n_sites ? s->site[0].choices : 0, err.text,
				table[i].text);
		else
			CHECK(!has_barrier(s, 1) && (table[i].choices == 2 || has_barrier(s, 2)));
		space_free(s);
		graph_release(&g);
		buf_release(&text);
	}
}

/* A chain of functions is not followed from each of them to its end. */
static void what_is_read_twice_far_away_is_not_kept(void)
{
	static const struct {
		int steps;
		uint8_t choices;
	} table[] = {{200, 3}, {300, 2}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf text = {0};
		struct graph g;
		struct err err = {0};
		struct space *s = NULL;
		buf_adds(&text, HEAD " n0 = f32[64,4] negate(y)\n");
		for (int k = 1; k < table[i].steps; k++)
			buf_addf(&text, " n%d = f32[64,4] negate(n%d)\n", k, k - 1);
		buf_addf(&text, " m = f32[4,64] transpose(n%d), dimensions={1,0}\n"
			" ROOT r = (f32[64,4], f32[4,64]) tuple(n%d, m)\n}\n", table[i].steps - 1, table[i].steps - 1);
		if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
			s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
		if (!CHECK(s && s->n_sites == 1 && s->site[0].choices == table[i].choices))
			printf("\t%u choices, %s, after %d steps\n", s && s->n_sites ? s->site[0].choices : 0, err.text,
				table[i].steps);
		space_free(s);
		graph_release(&g);
		buf_release(&text);
	}
}

int main(void)
{
	RUN(what_is_read_twice_far_away_is_not_kept);
	RUN(what_is_read_twice_can_be_kept);
	return test_done();
}
