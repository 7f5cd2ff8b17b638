/*
 * check_tiles.c - kernels that no choice can say become part of the program, as the compiler left them; and scalar
 * constants go into the instruction that reads them, as XLA:GPU does it.
 *
 * The program is half a softmax: before the fusion pass a small kernel in tiles subtracts the maximum; after it the
 * kernel also computes what it reads, and the exponential behind it.
 */
#include <string.h>
#include "space/fusion/fusion.h"
#include "space/fusion/own.h"
#include "tests/test.h"

#define MAXIMUM \
	"HloModule softmax\n" \
	"%max (a: f32[], b: f32[]) -> f32[] {\n" \
	"  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n" \
	"  ROOT %m = f32[] maximum(%a, %b)\n}\n"
#define SETTINGS ", backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\"}}\n"
#define SMALL \
	"%small (p: f32[8,64]) -> f32[8,64] {\n" \
	"  %p = f32[8,64]{1,0} parameter(0)\n  %low = f32[] constant(-inf)\n" \
	"  %r = f32[8]{0} reduce(%p, %low), dimensions={1}, to_apply=%max\n" \
	"  %rb = f32[8,64]{1,0} broadcast(%r), dimensions={0}\n" \
	"  ROOT %sub = f32[8,64]{1,0} subtract(%p, %rb)\n}\n"
#define ENTRY "ENTRY %main (x: f32[8,64], y: f32[8,64]) -> f32[8,64] {\n" \
	"  %x = f32[8,64]{1,0} parameter(0)\n  %y = f32[8,64]{1,0} parameter(1)\n"

static const char before[] = MAXIMUM SMALL ENTRY
	"  %add = f32[8,64]{1,0} add(%x, %y)\n"
	"  %soft = f32[8,64]{1,0} fusion(%add), kind=kCustom, calls=%small" SETTINGS
	"  %exp = f32[8,64]{1,0} exponential(%soft)\n"
	"  %neg = f32[8,64]{1,0} negate(%exp)\n"
	"  ROOT %tanh = f32[8,64]{1,0} tanh(%neg)\n}\n";

static const char after[] = MAXIMUM
	"%large (p: f32[8,64], q: f32[8,64]) -> f32[8,64] {\n"
	"  %p = f32[8,64]{1,0} parameter(0)\n  %q = f32[8,64]{1,0} parameter(1)\n"
	"  %low = f32[] constant(-inf)\n  %sum = f32[8,64]{1,0} add(%p, %q)\n"
	"  %r = f32[8]{0} reduce(%sum, %low), dimensions={1}, to_apply=%max\n"
	"  %rb = f32[8,64]{1,0} broadcast(%r), dimensions={0}\n"
	"  %sub = f32[8,64]{1,0} subtract(%sum, %rb)\n"
	"  ROOT %e = f32[8,64]{1,0} exponential(%sub)\n}\n"
	"%rest (p: f32[8,64]) -> f32[8,64] {\n"
	"  %p = f32[8,64]{1,0} parameter(0)\n  %neg = f32[8,64]{1,0} negate(%p)\n"
	"  ROOT %tanh = f32[8,64]{1,0} tanh(%neg)\n}\n" ENTRY
	"  %soft = f32[8,64]{1,0} fusion(%x, %y), kind=kCustom, calls=%large" SETTINGS
	"  ROOT %end = f32[8,64]{1,0} fusion(%soft), kind=kLoop, calls=%rest\n}\n";

/* A reduction with two results, which absorbs what it reads. */
#define BOTH \
	"HloModule both\n" \
	"%two (a: f32[], b: f32[], c: f32[], d: f32[]) -> (f32[], f32[]) {\n" \
	"  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  %c = f32[] parameter(2)\n  %d = f32[] parameter(3)\n" \
	"  %m = f32[] maximum(%a, %c)\n  %n = f32[] minimum(%b, %d)\n" \
	"  ROOT %t = (f32[], f32[]) tuple(%m, %n)\n}\n"
#define MAIN "ENTRY %main (x: f32[8,64]) -> f32[8] {\n  %x = f32[8,64]{1,0} parameter(0)\n"
#define REDUCE "(f32[8]{0}, f32[8]{0}) reduce(%neg, %neg, %low, %low), dimensions={1}, to_apply=%two\n"
#define RESULT "  ROOT %one = f32[8]{0} get-tuple-element(%both), index=1\n}\n"
static const char both_before[] = BOTH MAIN
	"  %low = f32[] constant(0)\n  %neg = f32[8,64]{1,0} negate(%x)\n"
	"  %both = " REDUCE RESULT;
static const char both_after[] = BOTH
	"%large (p: f32[8,64]) -> (f32[8], f32[8]) {\n"
	"  %p = f32[8,64]{1,0} parameter(0)\n  %low = f32[] constant(0)\n"
	"  %neg = f32[8,64]{1,0} negate(%p)\n"
	"  ROOT %r = " REDUCE "}\n" MAIN
	"  %both = (f32[8]{0}, f32[8]{0}) fusion(%x), kind=kLoop, calls=%large\n" RESULT;

/* On a TPU a product stays in the company that the compiler gave it; other kernels are decided about. */
#define PRODUCT "HloModule product\n"
#define PRODUCT_MAIN "ENTRY %main (x: f32[64,64]) -> f32[64,64] {\n  %x = f32[64,64]{1,0} parameter(0)\n"
#define DOT "dot(%x, %neg), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
static const char product_before[] = PRODUCT PRODUCT_MAIN
	"  %neg = f32[64,64]{1,0} negate(%x)\n  %d = f32[64,64]{1,0} " DOT
	"  %t = f32[64,64]{1,0} tanh(%d)\n  %e = f32[64,64]{1,0} exponential(%t)\n"
	"  ROOT %a = f32[64,64]{1,0} add(%e, %x)\n}\n";
static const char product_after[] = PRODUCT
	"%with (x: f32[64,64]) -> f32[64,64] {\n  %x = f32[64,64]{1,0} parameter(0)\n"
	"  %neg = f32[64,64]{1,0} negate(%x)\n  %d = f32[64,64]{1,0} " DOT
	"  ROOT %t = f32[64,64]{1,0} tanh(%d)\n}\n"
	"%rest (p: f32[64,64], x: f32[64,64]) -> f32[64,64] {\n  %p = f32[64,64]{1,0} parameter(0)\n"
	"  %x = f32[64,64]{1,0} parameter(1)\n  %e = f32[64,64]{1,0} exponential(%p)\n"
	"  ROOT %a = f32[64,64]{1,0} add(%e, %x)\n}\n" PRODUCT_MAIN
	"  %t = f32[64,64]{1,0} fusion(%x), kind=kOutput, calls=%with\n"
	"  ROOT %a = f32[64,64]{1,0} fusion(%t, %x), kind=kLoop, calls=%rest\n}\n";

/* A reduction that XLA:GPU repeats for each element, which no group of ours may. */
#define SUM "HloModule again\n%add (p: f32[], q: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n" \
	"  %q = f32[] parameter(1)\n  ROOT %sum = f32[] add(%p, %q)\n}\n"
#define SUM_MAIN "ENTRY %main (x: f32[4,4096]) -> f32[4,4096] {\n  %x = f32[4,4096]{1,0} parameter(0)\n"
#define FOLDED "  %zero = f32[] constant(0)\n  %r = f32[4]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add\n" \
	"  %b = f32[4,4096]{1,0} broadcast(%r), dimensions={0}\n"
static const char again_before[] = SUM SUM_MAIN FOLDED
	"  %m = f32[4,4096]{1,0} multiply(%x, %b)\n  %e = f32[4,4096]{1,0} exponential(%m)\n"
	"  %n = f32[4,4096]{1,0} negate(%e)\n  ROOT %a = f32[4,4096]{1,0} add(%n, %x)\n}\n";
static const char again_after[] = SUM
	"%with (x: f32[4,4096]) -> f32[4,4096] {\n  %x = f32[4,4096]{1,0} parameter(0)\n" FOLDED
	"  ROOT %m = f32[4,4096]{1,0} multiply(%x, %b)\n}\n"
	"%rest (p: f32[4,4096], x: f32[4,4096]) -> f32[4,4096] {\n  %p = f32[4,4096]{1,0} parameter(0)\n"
	"  %x = f32[4,4096]{1,0} parameter(1)\n  %e = f32[4,4096]{1,0} exponential(%p)\n"
	"  %n = f32[4,4096]{1,0} negate(%e)\n  ROOT %a = f32[4,4096]{1,0} add(%n, %x)\n}\n" SUM_MAIN
	"  %m = f32[4,4096]{1,0} fusion(%x), kind=kLoop, calls=%with\n"
	"  ROOT %a = f32[4,4096]{1,0} fusion(%m, %x), kind=kLoop, calls=%rest\n}\n";

static struct space *open_for(struct graph *g, const char *text, size_t n, const char *backend)
{
	struct err err = {{0}};
	struct space *s = NULL;

	if (graph_parse(g, text, n, "program", &err) == 0)
		s = space_open("fusion", backend, g, NULL, 0, &err);

	if (!CHECK(s != NULL))
		printf("\t%s\n", err.text);
	return s;
}

static struct space *open_text(struct graph *g, const char *text, size_t n)
{
	return open_for(g, text, n, "cuda");
}

static uint32_t count_tiled(const struct graph *g, uint32_t *operands)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (fusion_is_tiled(g, v)) {
			*operands = g->node[v].n_operands;
			n++;
		}
	return n;
}

/* A program before and after a pass, and the program that takes over what the pass made. */
struct taking {
	struct graph before, after, taken;
	struct space *own, *then; /* of the first and the last */
	struct buf module;	  /* the last, as bytes */
};

static void take_for(const char *backend, struct taking *k, const char *from, size_t n_from, const char *to,
	size_t n_to)
{
	struct err err = {{0}};

	*k = (struct taking){0};
	k->own = open_for(&k->before, from, n_from, backend);
	if (!k->own || !CHECK(graph_parse(&k->after, to, n_to, "after", &err) == 0))
		return;
	CHECK_INT(fusion_take_tiles(k->own, &k->after, &k->module), 1);
	k->then = open_for(&k->taken, k->module.data, k->module.len, backend);
}

static void take(struct taking *k, const char *from, size_t n_from, const char *to, size_t n_to)
{
	take_for("cuda", k, from, n_from, to, n_to);
}

static void taking_release(struct taking *k)
{
	space_free(k->then);
	space_free(k->own);
	graph_release(&k->taken);
	graph_release(&k->after);
	graph_release(&k->before);
	buf_release(&k->module);
}

static void changed_kernels_are_taken_over(void)
{
	struct taking k;
	struct buf none = {0};
	struct fusion_report report;
	uint32_t reads = 0;

	take(&k, before, sizeof before - 1, after, sizeof after - 1);
	if (k.then) {
		fusion_decode(k.own, &k.after, &report);
		CHECK(k.own->account.equal < k.own->account.parts); /* choices alone cannot say the kernel */
		fusion_decode(k.then, &k.after, &report);
		CHECK_INT(k.then->account.equal, k.then->account.parts);
		CHECK_INT(report.fusions_equal, 1); /* negate and tanh are ours to decide */
		CHECK_INT(count_tiled(&k.taken, &reads), 1);
		CHECK_INT(reads, 2);
		CHECK(graph_find(&k.taken, "add") == NONE && graph_find(&k.taken, "soft") == NONE);
		CHECK(graph_find(&k.taken, "exp") != NONE); /* the kernel has the name of what it gives */
		CHECK_INT(fusion_take_tiles(k.then, &k.after, &none), 0); /* once is enough */
	}
	CHECK_INT(none.len, 0);
	taking_release(&k);
}

static void others_stay(void)
{
	struct graph g = {0};
	struct buf none = {0};
	struct space *s = open_text(&g, before, sizeof before - 1);

	if (s)
		CHECK_INT(fusion_take_tiles(s, &g, &none), 0); /* a pass that changed nothing */
	CHECK_INT(none.len, 0);
	space_free(s);
	graph_release(&g);
}

static void several_results_are_taken_over(void)
{
	static const char *const backends[] = {"cpu", "cuda"};

	for (size_t i = 0; i < 2; i++) {
		struct taking k;
		struct buf again = {0};
		take_for(backends[i], &k, both_before, sizeof both_before - 1, both_after, sizeof both_after - 1);
		if (k.then) {
			CHECK(graph_find(&k.taken, "neg") == NONE);
			CHECK(fusion_gives_several(&k.taken, graph_find(&k.taken, "both")));
			CHECK_INT(k.then->ops->adopt(k.then, &k.after, &again), 0);
		}
		CHECK_INT(again.len, 0);
		taking_release(&k);
	}
}

/* One kernel, whose result is `name`, holds what our rules forbid; of the others `sites` can be decided about. */
static void forbidden(const char *backend, const char *from, const char *to, const char *name, uint32_t sites)
{
	struct taking k;
	struct fusion_report report;
	uint32_t kept;

	take_for(backend, &k, from, strlen(from), to, strlen(to));
	if (k.then) {
		fusion_decode(k.own, &k.after, &report);
		CHECK(k.own->account.equal < k.own->account.parts);
		fusion_decode(k.then, &k.after, &report);
		CHECK_INT(k.then->account.equal, k.then->account.parts);
		kept = graph_find(&k.taken, name);
		CHECK(kept != NONE && k.taken.node[kept].opcode == OP_FUSION);
		CHECK_INT(k.then->n_sites, sites);
		CHECK_INT(fusion_take_tiles(k.then, &k.after, &k.module), 0);
	}
	taking_release(&k);
}

static void what_our_rules_forbid_is_taken_over(void)
{
	forbidden("tpu", product_before, product_after, "t", 1); /* the exponential, into the sum */
	forbidden("cuda", again_before, again_after, "m", 2);	 /* the exponential and the negation, into the sum */
}

/* How many fusions does the program have if nothing is fused? */
static uint32_t fusions_of_none(const char *backend)
{
	static const char text[] = MAXIMUM "ENTRY %main (x: f32[8,64]) -> f32[8] {\n"
		"  %x = f32[8,64]{1,0} parameter(0)\n  %low = f32[] constant(-inf)\n"
		"  %neg = f32[8,64]{1,0} negate(%x)\n"
		"  ROOT %r = f32[8]{0} reduce(%neg, %low), dimensions={1}, to_apply=%max\n}\n";
	struct graph g = {0}, h = {0};
	struct buf module = {0};
	struct err err = {{0}};
	struct space *s = open_for(&g, text, sizeof text - 1, backend);
	uint8_t config[4] = {0};
	uint32_t n = 0;

	if (s && CHECK(s->n_sites < 4) && CHECK(s->ops->apply(s, config, &module, &err) == 0) &&
		CHECK(graph_parse(&h, module.data, module.len, "applied", &err) == 0))
		for (uint32_t v = 0; v < h.n_nodes; v++)
			n += h.node[v].opcode == OP_FUSION;
	space_free(s);
	graph_release(&h);
	graph_release(&g);
	buf_release(&module);
	return n;
}

static void constants_go_inside(void)
{
	CHECK_INT(fusions_of_none("cuda"), 1);
	CHECK_INT(fusions_of_none("cpu"), 0);
}

/* A store names the backend with its target, and the space is the same. */
static void a_target_has_its_backend_s_rules(void)
{
	static const char *const named[][2] = {{"cuda", "cuda:h100"}, {"tpu", "tpu:v5e:2x2"}, {"cpu", "cpu:any"}};

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		CHECK(fusion_rules_of(named[i][0]) == fusion_rules_of(named[i][1]));
	CHECK(fusion_rules_of("cuda") != fusion_rules_of("cpu") && fusion_rules_of("tpu") != fusion_rules_of("cpu"));
	CHECK(fusion_rules_of("cudas:h100") == fusion_rules_of("cpu"));
}

#define PADDED(how) \
	"HloModule pads\nENTRY %main (x: f32[4]) -> f32[7] {\n  %x = f32[4]{0} parameter(0)\n" \
	"  %zero = f32[] constant(0)\n" \
	"  %n = f32[4]{0} negate(%x)\n  %p = f32[7]{0} pad(%n, %zero), padding=" how "\n" \
	"  ROOT %t = f32[7]{0} tanh(%p)\n}\n"

/* The compiler for TPUs aborts if a pad that puts zeros between elements is in a fusion. */
static void pads_between_elements_stay_out_on_tpu(void)
{
	static const struct {
		const char *text, *backend;
		uint32_t sites;
	} cases[] = {{PADDED("1_2"), "tpu", 1}, {PADDED("0_0_1"), "tpu", 0}, {PADDED("0_0_1"), "cuda", 2}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct graph g = {0};
		struct space *s = open_for(&g, cases[i].text, strlen(cases[i].text), cases[i].backend);
		if (!CHECK_INT(s->n_sites, cases[i].sites))
			printf("that was case %zu\n", i);
		space_free(s);
		graph_release(&g);
	}
}

/* On a TPU a region copies each matrix that it is given, from a layout that is not the one it reads. */
static void inputs_are_copied_on_tpu(void)
{
	static const char *const backends[] = {"tpu", "cuda"};

	for (int i = 0; i < 2; i++) {
		struct graph g = {0}, one = {0};
		struct space *s = open_for(&g, product_before, sizeof product_before - 1, backends[i]);
		struct regions r = {0};
		struct err err = {{0}};
		uint8_t *a = MEM_NEW(s->n_sites + 1, uint8_t), *b = MEM_NEW(s->n_sites + 1, uint8_t);
		uint32_t copies = 0, others = 0;
		b[s->site_of[graph_find(&g, "e")]] = 1;
		CHECK(s->ops->region(s, a, b, &r, &err) == 0);
		if (CHECK_INT(r.n, 1) && CHECK(graph_parse(&one, r.v[0].b.data, r.v[0].b.len, "region", &err) == 0))
			for (uint32_t v = 0; v < one.n_nodes; v++) {
				const struct node *n = &one.node[v];
				if (n->opcode != OP_COPY)
					continue;
				copies++;
				others += one.node[node_operands(&one, v)[0]].proto->shape->layout->minor_to_major[0] !=
					  n->proto->shape->layout->minor_to_major[0];
			}
		CHECK_INT(copies, i == 0 ? 2 : 0);
		CHECK_INT(others, copies);
		graph_release(&one);
		regions_release(&r);
		space_free(s);
		graph_release(&g);
		mem_free(a);
		mem_free(b);
	}
}

int main(void)
{
	RUN(a_target_has_its_backend_s_rules);
	RUN(inputs_are_copied_on_tpu);
	RUN(pads_between_elements_stay_out_on_tpu);
	RUN(several_results_are_taken_over);
	RUN(what_our_rules_forbid_is_taken_over);
	RUN(constants_go_inside);
	RUN(changed_kernels_are_taken_over);
	RUN(others_stay);
	return test_done();
}
