/*
 * full_sort.c - proves the rules sort-by-keys, sort-by-places, sort-by-network, first-of-the-largest and
 * largest-in-32-bits, of which integer rings (check_rewrite_proof.c) know nothing: both sides of every kind of sort,
 * and of every kind of search for the largest, run on the real compiler, on numbers among which are zeros and NaNs of
 * both signs, infinities and denormals, each many times, and must give the same bits. Only where one array is sorted by
 * a comparator that takes zeros or NaNs for equal, bits of what it makes of them are compared, and beside them a sum
 * that tells whether the bits that went in came out.
 *
 * The proof can fail: every number that is written is changed, every numbering of places goes along another
 * dimension, every complement is left out, every comparison is turned, and "or" and the choice of the larger number
 * become their opposites, one at a time; all that must be seen.
 */
#include "device/device.h"
#include "hlo/pack.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/sort_programs.h"
#include "tests/test.h"

#define KINDS 5
static const char *const wrong[KINDS] = {"another number", "places along another dimension", "no complement",
	"a turned comparison", "the opposite operation"};
static const char *const rules[] = {"sort-by-keys", "sort-by-places", "sort-by-network",
	"first-of-the-largest", "largest-in-32-bits"};
#define RULES (sizeof rules / sizeof *rules)

static struct device *device;
static uint32_t tried[KINDS], caught[KINDS], proven[RULES];

/* Do both programs give the same bits? -1: the second one does not compile. */
static int same(const struct buf *a, const struct buf *b)
{
	const struct buf *module[2] = {a, b};
	struct compiled c[2] = {{0}, {0}};
	struct err err = {0};
	int same = 1;

	for (int i = 0; i < 2; i++)
		if (!CHECK(device_compile(device, COMPILE_APPLIED, "hlo", module[i]->data, module[i]->len, 0, &c[i],
			&err) == 0) || c[i].outcome != OUTCOME_OK) {
			printf("# %s%s\n", c[i].detail, err.text);
			same = -1;
		}
	for (int i = 0; same > 0 && i < 2; i++) {
		struct compare_options o = {.inputs = i ? INPUTS_ZERO : INPUTS_NORMAL};
		struct comparison x = {0};
		same = CHECK(device_compare(device, &c[0], &c[1], &o, &x, &err) == 0) && x.outcome == OUTCOME_OK &&
			x.all.unlike == 0 && x.all.elements > 0;
		comparison_release(&x);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(device_drop(device, &c[i], &err) == 0);
		compiled_release(&c[i]);
	}
	return same;
}

/* What is the opposite in a search for the largest, and in a network; other sorts have none of these. */
static const char *opposite(const struct node *n)
{
	switch (n->opcode) {
	case OP_OR:
		return "and";
	case OP_MAXIMUM:
		return "minimum";
	case OP_MINIMUM:
		return "maximum";
	default:
		return NULL;
	}
}

static bool spoil_operation(struct graph *g, uint32_t v, int kind)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	uint16_t op = g->node[v].opcode;

	if (kind == 1 && op == OP_IOTA)
		return in->dimensions[0] = !in->dimensions[0], true;
	if (kind == 2 && op == OP_NOT)
		return in->opcode = (char *)"copy", true;
	if (kind == 3 && op == OP_COMPARE && g->node[v].rank == 0)
		return in->comparison_direction = (char *)"GT", true;
	if (kind == 3 && op == OP_COMPARE && g->node[v].dtype == DT_PRED && strchr("EN", in->comparison_direction[0]))
		return in->comparison_direction = (char *)(in->comparison_direction[0] == 'E' ? "NE" : "EQ"), true;
	if (kind == 4 && op == OP_TOPK)
		return in->largest = !in->largest, true;
	if (kind == 4 && opposite(&g->node[v]))
		return in->opcode = (char *)opposite(&g->node[v]), true;
	return false;
}

/* A wrong number. To shift by one place less than the width of a number is as good, and so may any large number be. */
static int64_t other(int64_t v)
{
	return v == 0;
}

/* Is it added to the numbers of places? That shows only where maxima lose NaNs, and these programs have no such. */
static bool is_added(const struct graph *g, uint32_t v)
{
	uint32_t u = g->node[v].n_users == 1 ? node_users(g, v)[0] : v;

	return g->node[u].opcode == OP_BROADCAST && g->node[u].n_users == 1 &&
	       g->node[node_users(g, u)[0]].opcode == OP_ADD;
}

/* Makes an instruction wrong in one way; false if that way does not apply to it. */
static bool spoil(struct graph *g, uint32_t v, int kind)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	uint16_t op = g->node[v].opcode;

	if (kind == 0 && op == OP_CONSTANT && is_added(g, v))
		return false;
	if (kind == 0 && op == OP_CONSTANT && in->literal->n_s32s == 1)
		in->literal->s32s[0] = (int32_t)other(in->literal->s32s[0]);
	else if (kind == 0 && op == OP_CONSTANT && in->literal->n_s64s == 1)
		in->literal->s64s[0] = other(in->literal->s64s[0]);
	else if (kind == 0 && op == OP_CONSTANT && in->literal->s16s.len == 2)
		in->literal->s16s.data[0] = (uint8_t)other(in->literal->s16s.data[0]);
	else
		return kind > 0 && spoil_operation(g, v, kind);
	return true;
}

static void spoil_all(const struct graph *a, const struct buf *before, const struct buf *module)
{
	struct graph g = {0};

	CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		struct buf bytes = {0};
		for (int kind = 0; kind < KINDS; kind++) {
			if (graph_find(a, g.node[v].proto->name) != NONE || !spoil(&g, v, kind))
				continue;
			pack_message(&g.module->base, &bytes);
			bool seen = same(before, &bytes) != 1;
			tried[kind]++;
			caught[kind] += seen;
			if (!seen)
				printf("# not seen: %s of %s\n", wrong[kind], g.node[v].proto->name);
			break;
		}
		if (bytes.len) {
			graph_release(&g);
			CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
		}
		buf_release(&bytes);
	}
	graph_release(&g);
}

/* Applies one choice at a place, and compares. */
static bool prove_choice(struct space *s, const struct graph *g, uint32_t site, uint8_t choice, bool mutate)
{
	uint8_t config[16] = {0};
	struct buf before = {0}, after = {0};
	struct err err = {0};

	config[site] = choice;
	graph_write(g, &before);
	CHECK(s->ops->apply(s, config, &after, &err) == 0);
	bool right = CHECK_INT(same(&before, &after), 1);
	for (size_t r = 0; r < RULES; r++)
		proven[r] += right && strcmp(rewrite_rule(s, rewrite_offer(s, site, choice))->name, rules[r]) == 0;
	if (right && mutate)
		spoil_all(g, &before, &after);
	buf_release(&before);
	buf_release(&after);
	return right;
}

static void prove(const struct sort_case *c, bool mutate)
{
	struct buf text = {0};
	struct graph g = {0};
	struct err err = {0};
	struct space *s = NULL;

	sort_program(&text, c);
	if (CHECK(graph_parse(&g, text.data, text.len, "sorts", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	uint32_t site = s ? s->site_of[graph_find(&g, "y")] : NONE;
	if (CHECK(site != NONE && s->n_sites < 16)) {
		for (uint32_t k = 1; k < s->site[site].choices; k++)
			if (!prove_choice(s, &g, site, (uint8_t)k, mutate))
				printf("# choice %u, %s of %s: %d%s%s, dimension %d\n", k, c->arrays, c->type,
					c->joined, c->greater ? " greater" : "", c->swapped ? " swapped" : "", c->dim);
	} else {
		printf("%s\n%s", err.text, text.data);
	}
	space_free(s);
	graph_release(&g);
	buf_release(&text);
}

/* Does a rule know this kind of sort? Networks alone know one array of integers. */
static bool is_known(const struct sort_case *c, bool integer, bool shorter)
{
	if (integer)
		return c->joined == PLAIN && (shorter || strcmp(c->arrays, "x") != 0);
	return c->joined != PLAIN && (c->joined != BITS || strcmp(c->type, "f32") == 0) &&
		(!c->swapped || c->joined == BOTH) && (strcmp(c->type, "f64") != 0 || strcmp(c->arrays, "x") == 0);
}

/* All kinds, with rows of so many elements; every n-th of those that are known. */
static void walk(void (*visit)(const struct sort_case *, bool), bool mutate, int length, int every)
{
	static const char *const types[][2] = {{"f32", "s32"}, {"bf16", "s16"}, {"f16", "s16"}, {"f64", "s64"},
		{"s32", "s32"}, {"u32", "s32"}};
	static const char *const arrays[] = {"x", "xi", "vx", "xiv"};
	int n = 0;

	for (int t = 0; t < 6; t++)
		for (int a = 0; a < 4; a++)
			for (int k = 0; k < 4 * (PLAIN + 1); k++) {
				int dim = (k + a + k / 4) % 2;
				struct sort_case c = {.type = types[t][0], .bits = types[t][1], .arrays = arrays[a],
					.joined = (enum joined)(k / 4), .greater = k & 1, .swapped = k & 2, .dim = dim,
					.rows = dim ? 60 : length, .columns = dim ? length : 60};
				if (is_known(&c, t >= 4, length < 60) && n++ % every == 0)
					visit(&c, mutate);
			}
}

static void walk_places(void (*visit)(const struct sort_case *, bool), bool mutate)
{
	static const char *const types[][2] = {{"f32", "s32"}, {"bf16", "s16"}, {"f16", "s16"}, {"f64", "s64"}};
	static const enum joined how[] = {NOTHING, NANS, BOTH};

	for (int t = 0; t < 4; t++)
		for (int k = 0; k < 12; k++) {
			int dim = k / 2 & 1, along = how[k / 4] == NANS ? 60 : 7; /* some rows without NaNs, too */
			struct sort_case c = {.type = types[t][0], .bits = types[t][1], .arrays = "p",
				.joined = how[k / 4], .greater = k & 1, .dim = dim, .rows = dim ? 60 : along,
				.columns = dim ? along : 60};
			if (!mutate || (k + t) % 3 == 0)
				visit(&c, mutate);
		}
}

static void walk_tops(void (*visit)(const struct sort_case *, bool), bool mutate)
{
	for (int k = 0; k < 12; k++) {
		struct sort_case c = {.type = "bf16", .bits = "s16", .arrays = "k", .greater = k & 1, .dim = 1,
			.rows = 60 + k / 2, .columns = 60};
		if (!mutate || k < 2)
			visit(&c, mutate);
	}
}

static void both_sides_give_the_same_bits(void)
{
	walk(prove, false, 60, 1);
	walk(prove, false, 7, 5);
	walk(prove, false, 12, 11);
	walk_places(prove, false);
	walk_tops(prove, false);
	for (size_t r = 0; r < RULES; r++) {
		printf("# %-24s %u proven\n", rules[r], proven[r]);
		CHECK(proven[r] >= 10);
	}
}

static void wrong_rules_are_caught(void)
{
	walk(prove, true, 60, 5);
	walk(prove, true, 6, 31);
	walk_places(prove, true);
	walk_tops(prove, true);
	for (int kind = 0; kind < KINDS; kind++) {
		printf("# %-32s %4u of %4u caught\n", wrong[kind], caught[kind], tried[kind]);
		CHECK(tried[kind] > 0);
		CHECK_INT(caught[kind], tried[kind]);
	}
}

int main(void)
{
	struct err err = {0};

	device = device_open(&(struct device_options){.backend = "cpu", .wait = true, .untimed = true,
		.deadline = PATIENT, .kind = "rewrite"}, &err);
	if (!device) {
		printf("skip: sorts: %s\n", err.text);
		return 0;
	}
	RUN(both_sides_give_the_same_bits);
	RUN(wrong_rules_are_caught);
	device_close(device);
	return test_done();
}
