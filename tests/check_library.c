/*
 * check_library.c - kernels that XLA:CPU leaves to a library are taken apart, and are put together again where a group
 * is just what one of them computed.
 *
 * In the program a library sums products and takes the root of the sum; it reads the products, though they could be
 * computed on the way. A second kernel of the library computes a matrix product.
 */
#include <string.h>
#include "space/fusion/own.h"
#include "tests/test.h"

#define SETTINGS "backend_config={\"fusion_config\":{\"kind\":\"__ynn_fusion\"},\"outer_dimension_partitions\":[]}\n"
#define INSIDES \
	"HloModule library\n" \
	"%sum (p: f32[], q: f32[]) -> f32[] {\n" \
	"  %p = f32[] parameter(0)\n  %q = f32[] parameter(1)\n  ROOT %s = f32[] add(%p, %q)\n}\n" \
	"%sums (m: f32[64,64,3]) -> f32[64,64] {\n" \
	"  %m = f32[64,64,3]{2,1,0} parameter(0)\n  %zero = f32[] constant(0)\n" \
	"  %r = f32[64,64]{1,0} reduce(%m, %zero), dimensions={2}, to_apply=%sum\n" \
	"  ROOT %root = f32[64,64]{1,0} sqrt(%r)\n}\n" \
	"%product (u: f32[64,64], w: f32[64,64]) -> f32[64,64] {\n" \
	"  %u = f32[64,64]{1,0} parameter(0)\n  %w = f32[64,64]{1,0} parameter(1)\n" \
	"  ROOT %dot = f32[64,64]{1,0} dot(%u, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
#define ENTRY "ENTRY %main (x: f32[64,64,3], y: f32[64,64,3]) -> f32[64,64] {\n" \
	"  %x = f32[64,64,3]{2,1,0} parameter(0)\n  %y = f32[64,64,3]{2,1,0} parameter(1)\n"
#define KERNELS \
	"  %lib = f32[64,64]{1,0} fusion(%mul), kind=kCustom, calls=%sums, " SETTINGS \
	"  %dots = f32[64,64]{1,0} fusion(%lib, %lib), kind=kCustom, calls=%product, " SETTINGS \
	"  ROOT %end = f32[64,64]{1,0} "

static const char before[] =
	INSIDES ENTRY "  %mul = f32[64,64,3]{2,1,0} multiply(%x, %y)\n" KERNELS "negate(%dots)\n}\n";

struct opened {
	struct graph before, bare;
	struct space *whole, *apart;
};

static void open_both(struct opened *o)
{
	struct err err = {{0}};
	struct buf module = {0};

	*o = (struct opened){0};
	if (CHECK(graph_parse(&o->before, before, sizeof before - 1, "before", &err) == 0))
		o->whole = space_open("fusion", "cpu", &o->before, NULL, 0, &err);
	if (CHECK(o->whole != NULL) && CHECK_INT(fusion_take_apart(o->whole, &module), 2) &&
		CHECK(graph_parse(&o->bare, module.data, module.len, "bare", &err) == 0))
		o->apart = space_open("fusion", "cpu", &o->bare, NULL, 0, &err);
	if (!CHECK(o->apart != NULL))
		printf("\t%s\n", err.text);
	buf_release(&module);
}

static void close_both(struct opened *o)
{
	space_free(o->whole);
	space_free(o->apart);
	graph_release(&o->before);
	graph_release(&o->bare);
}

/* The first node of the entry with this opcode. */
static uint32_t find(const struct graph *g, const char *opcode)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (g->comp[g->node[v].comp].role == ROLE_ENTRY && strcmp(g->node[v].proto->opcode, opcode) == 0)
			return v;
	return NONE;
}

static bool is_custom(const struct graph *g, uint32_t v)
{
	return g->node[v].opcode == OP_FUSION && strcmp(g->node[v].proto->fusion_kind, "kCustom") == 0;
}

/* The kernels of the library in a program. */
static uint32_t count_custom(const struct graph *g)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += is_custom(g, v) && memmem(g->node[v].proto->backend_config.data,
						g->node[v].proto->backend_config.len, "__ynn_fusion", 12);
	return n;
}

/* The program that a configuration gives; checks that its groups are as asked, and that no instruction keeps a mark. */
static void apply(struct space *s, const uint8_t *config, struct graph *g)
{
	struct check_result found;
	struct buf module = {0};
	struct err err = {{0}};

	*g = (struct graph){0};
	if (CHECK(s->ops->apply(s, config, &module, &err) == 0) &&
		CHECK(graph_parse(g, module.data, module.len, "applied", &err) == 0)) {
		CHECK(s->ops->check(s, config, module.data, module.len, &found, &err) == 0);
		CHECK_INT(found.equal, found.asked);
		CHECK_INT(found.equal, found.found);
	}
	buf_release(&module);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		CHECK(g->node[v].opcode == OP_FUSION || g->node[v].proto->backend_config.len == 0);
}

/* Reads the compiler's program back; then the choice of the first `opcode`, if one is named, has other bits. */
static bool configure(struct opened *o, const char *opcode, uint8_t bits, uint8_t *config)
{
	struct buf said = {0};
	struct err err = {{0}};
	uint32_t site;
	bool done = CHECK(o->apart->ops->decode(o->apart, &o->before, &said, &err) == 0);

	buf_release(&said);
	CHECK_INT(o->apart->account.equal, o->apart->account.parts);
	space_default(o->apart, config);
	if (!done || !opcode)
		return done;
	site = o->apart->site_of[find(&o->bare, opcode)];
	if (!CHECK(site != NONE))
		return false;
	config[site] ^= bits;
	return CHECK(config[site] < o->apart->site[site].choices);
}

/* With other bits of one choice, the program has so many kernels of the library; what makes the root of the sums? */
static void with(const char *opcode, uint8_t bits, uint32_t custom, const char *kind)
{
	struct opened o;
	struct graph g = {0};
	uint8_t config[16];

	open_both(&o);
	if (o.apart && configure(&o, opcode, bits, config)) {
		uint32_t v;
		apply(o.apart, config, &g);
		CHECK_INT(count_custom(&g), custom);
		v = find(&g, "sqrt");
		if (kind && CHECK(v == NONE))
			v = find(&g, "fusion");
		if (kind && CHECK(v != NONE))
			CHECK_STR(g.node[v].proto->fusion_kind, kind);
	}
	graph_release(&g);
	close_both(&o);
}

static void kernels_are_put_together_again(void)
{
	with(NULL, 0, 2, "kCustom");
}

static void what_one_reads_is_computed_inside(void)
{
	with("multiply", 1, 1, "kLoop");
}

static void a_part_of_one_is_no_library_kernel(void)
{
	with("reduce", 1, 1, NULL);
}

static void the_compiler_computes_the_same(void)
{
	with("sqrt", 1, 1, "kLoop"); /* nobody may absorb the root, so its bit is the first */
	with("dot", 1, 1, "kCustom");
}

/* What the library's kernel costs, beside the compiler's own code for the same. */
static void regions_hold_the_library_kernel(void)
{
	struct opened o;
	struct regions regions = {0};
	struct graph side[2];
	struct err err = {{0}};
	uint8_t a[16], b[16];

	memset(side, 0, sizeof side);
	open_both(&o);
	if (o.apart && configure(&o, NULL, 0, a) && configure(&o, "dot", 1, b)) {
		float effect[2 * EFFECT_COUNT];
		uint32_t site = o.apart->site_of[find(&o.bare, "dot")];
		CHECK(o.apart->ops->region(o.apart, a, b, &regions, &err) == 0);
		if (CHECK_INT(regions.n, 1) &&
			CHECK(graph_parse(&side[0], regions.v[0].a.data, regions.v[0].a.len, "a", &err) == 0) &&
			CHECK(graph_parse(&side[1], regions.v[0].b.data, regions.v[0].b.len, "b", &err) == 0)) {
			CHECK_INT(count_custom(&side[0]), 1);
			CHECK_INT(count_custom(&side[1]), 0);
		}
		o.apart->ops->effect(o.apart, a, site, b[site], effect);
		CHECK((double)effect[EFFECT_LIBRARY] >= 2.0 * 64 * 64 * 64);
		CHECK_NEAR((double)effect[EFFECT_COUNT + EFFECT_LIBRARY], 0, 0);
		CHECK_NEAR((double)effect[EFFECT_COUNT + EFFECT_FLOPS], (double)effect[EFFECT_FLOPS], 0);
	}
	regions_release(&regions);
	graph_release(&side[0]);
	graph_release(&side[1]);
	close_both(&o);
}

#define GIVEN "(a: f32[64,64]) -> f32[64,64] {\n  %%a = f32[64,64]{1,0} parameter(0)\n"

/* A program whose only kernel of the library has these insides; they may call %f, which negates. */
static void stays_whole(const char *insides)
{
	struct graph g = {0};
	struct space *s = NULL;
	struct buf text = {0}, none = {0};
	struct err err = {{0}};

	buf_addf(&text, "HloModule whole\n%%f " GIVEN "  ROOT %%m = f32[64,64]{1,0} negate(%%a)\n}\n%%k " GIVEN "%s}\n"
		"ENTRY %%main {\n  %%x = f32[64,64]{1,0} parameter(0)\n"
		"  ROOT %%lib = f32[64,64]{1,0} fusion(%%x), kind=kCustom, calls=%%k, " SETTINGS "}\n", insides);
	if (CHECK(graph_parse(&g, text.data, text.len, "whole", &err) == 0))
		s = space_open("fusion", "cpu", &g, NULL, 0, &err);
	else
		printf("\t%s\n", err.text);
	if (CHECK(s != NULL))
		CHECK_INT(fusion_take_apart(s, &none), 0);
	space_free(s);
	graph_release(&g);
	buf_release(&text);
	buf_release(&none);
}

#define NEGATED "  ROOT %n = f32[64,64]{1,0} negate(%a)\n"

static void others_stay_whole(void)
{
	stays_whole("  ROOT %n = f32[64,64]{1,0} fusion(%a), kind=kLoop, calls=%f\n");
	stays_whole("  %d = f32[64,64]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  ROOT %n = f32[64,64]{1,0} negate(%d)\n");
	stays_whole("  %b = bf16[64,64]{1,0} convert(%a)\n"
		"  ROOT %d = f32[64,64]{1,0} dot(%b, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
	stays_whole("  %s = s4[64,64]{1,0} convert(%a)\n  ROOT %n = f32[64,64]{1,0} convert(%s)\n");
	stays_whole("  %c = f32[64,64]{1,0} cosine(%a)\n" NEGATED); /* nobody reads the cosine */
	stays_whole("  %c = f32[64,64]{1,0} cosine(%a)\n"
		"  ROOT %n = f32[64,64]{1,0} sine(%c), control-predecessors={%c}\n");
}

static void once_is_enough(void)
{
	struct opened o;
	struct buf none = {0};

	open_both(&o);
	if (o.apart)
		CHECK_INT(fusion_take_apart(o.apart, &none), 0);
	CHECK_INT(none.len, 0);
	close_both(&o);
}

int main(void)
{
	RUN(kernels_are_put_together_again);
	RUN(what_one_reads_is_computed_inside);
	RUN(a_part_of_one_is_no_library_kernel);
	RUN(the_compiler_computes_the_same);
	RUN(regions_hold_the_library_kernel);
	RUN(others_stay_whole);
	RUN(once_is_enough);
	return test_done();
}
