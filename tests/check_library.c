/*
 * check_library.c - kernels that XLA:CPU leaves to a library are taken apart, and are put together again where a group
 * is just what one of them computed.
 *
 * In the program a library sums products and takes the root of the sum. It could be given the products, too, but reads
 * them. A second kernel holds a matrix product, which has rules of its own, and stays.
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
	if (CHECK(o->whole != NULL) && CHECK_INT(fusion_take_apart(o->whole, &module), 1) &&
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

/*
 * What makes the matrix that the product reads twice, in the program that a configuration gives; checks that the groups
 * are as asked, and that no instruction keeps a mark.
 */
static const Hlo__HloInstructionProto *applied(struct space *s, const uint8_t *config, struct graph *g)
{
	struct check_result found;
	struct buf module = {0};
	struct err err = {{0}};
	uint32_t product = NONE;

	if (!CHECK(s->ops->apply(s, config, &module, &err) == 0) ||
		!CHECK(graph_parse(g, module.data, module.len, "applied", &err) == 0))
		return NULL;
	CHECK(s->ops->check(s, config, module.data, module.len, &found, &err) == 0);
	CHECK_INT(found.equal, found.asked);
	CHECK_INT(found.equal, found.found);
	buf_release(&module);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		if (is_custom(g, v) && g->node[v].n_operands == 2)
			product = v;
		CHECK(g->node[v].opcode == OP_FUSION || g->node[v].proto->backend_config.len == 0);
	}
	return CHECK(product != NONE) ? g->node[node_operands(g, product)[0]].proto : NULL;
}

static void a_kernel_is_put_together_again(void)
{
	struct opened o;
	struct graph g = {0};
	struct buf said = {0};
	struct err err = {{0}};
	uint8_t config[16];
	const Hlo__HloInstructionProto *k;

	open_both(&o);
	if (o.apart) {
		CHECK_INT(o.apart->n_sites, o.whole->n_sites + 2); /* the sum and its root */
		CHECK(o.apart->ops->decode(o.apart, &o.before, &said, &err) == 0);
		space_default(o.apart, config);
		CHECK_INT(o.apart->account.equal, o.apart->account.parts);
		k = applied(o.apart, config, &g);
		if (CHECK(k != NULL) && CHECK_STR(k->opcode, "fusion")) {
			CHECK_STR(k->fusion_kind, "kCustom");
			CHECK(memmem(k->backend_config.data, k->backend_config.len, "__ynn_fusion", 12) != NULL);
			CHECK_INT(k->n_operand_ids, 1);
		}
	}
	buf_release(&said);
	graph_release(&g);
	close_both(&o);
}

/* Sets what the only consumer of a node does, and looks at what becomes of the library's kernel. */
static void a_flip_gives(const char *opcode, const char *kernel, const char *kind)
{
	struct opened o;
	struct graph g = {0};
	struct buf said = {0};
	struct err err = {{0}};
	uint8_t config[16];
	uint32_t site;
	const Hlo__HloInstructionProto *k;

	open_both(&o);
	if (o.apart && CHECK(o.apart->ops->decode(o.apart, &o.before, &said, &err) == 0)) {
		space_default(o.apart, config);
		site = o.apart->site_of[find(&o.bare, opcode)];
		if (CHECK(site != NONE))
			config[site] = !config[site];
		k = applied(o.apart, config, &g);
		if (CHECK(k != NULL) && CHECK_STR(k->opcode, kernel) && kind)
			CHECK_STR(k->fusion_kind, kind);
	}
	buf_release(&said);
	graph_release(&g);
	close_both(&o);
}

static void what_it_reads_is_computed_inside(void)
{
	a_flip_gives("multiply", "fusion", "kLoop");
}

static void a_part_of_it_is_no_library_kernel(void)
{
	a_flip_gives("reduce", "sqrt", NULL);
}

/* What a group that is alone costs, beside the group that takes in what it reads. */
static void regions_hold_the_library_kernel(void)
{
	struct opened o;
	struct regions regions = {0};
	struct graph side = {0};
	struct buf said = {0};
	struct err err = {{0}};
	uint8_t a[16], b[16];
	uint32_t custom = 0;

	open_both(&o);
	if (o.apart && CHECK(o.apart->ops->decode(o.apart, &o.before, &said, &err) == 0)) {
		space_default(o.apart, a);
		memcpy(b, a, sizeof b);
		b[o.apart->site_of[find(&o.bare, "multiply")]] ^= 1;
		CHECK(o.apart->ops->region(o.apart, a, b, &regions, &err) == 0);
		if (CHECK_INT(regions.n, 1) &&
			CHECK(graph_parse(&side, regions.v[0].a.data, regions.v[0].a.len, "a", &err) == 0))
			for (uint32_t v = 0; v < side.n_nodes; v++)
				custom += is_custom(&side, v);
		CHECK_INT(custom, 1);
	}
	regions_release(&regions);
	buf_release(&said);
	graph_release(&side);
	close_both(&o);
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
	RUN(a_kernel_is_put_together_again);
	RUN(what_it_reads_is_computed_inside);
	RUN(a_part_of_it_is_no_library_kernel);
	RUN(regions_hold_the_library_kernel);
	RUN(once_is_enough);
	return test_done();
}
