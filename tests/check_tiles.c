/*
 * check_tiles.c - kernels that the compiler computes in tiles become part of the program, as the compiler left them.
 *
 * The program is half a softmax: before the fusion pass a small kernel in tiles subtracts the maximum; after it the
 * kernel also computes what it reads, and the exponential behind it.
 */
#include <string.h>
#include "space/fusion/fusion.h"
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

static struct space *open_text(struct graph *g, const char *text, size_t n)
{
	struct err err = {{0}};
	struct space *s = graph_parse(g, text, n, "softmax", &err) == 0 ? space_open("fusion", "cuda", g, NULL, 0, &err)
								       : NULL;

	if (!CHECK(s != NULL))
		printf("\t%s\n", err.text);
	return s;
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

static void changed_kernels_are_taken_over(void)
{
	struct graph g = {0}, a = {0}, h = {0};
	struct buf module = {0}, none = {0};
	struct err err = {{0}};
	struct fusion_report report;
	struct space *s = open_text(&g, before, sizeof before - 1), *t = NULL;
	uint32_t reads = 0;

	if (!s || !CHECK(graph_parse(&a, after, sizeof after - 1, "after", &err) == 0))
		return;
	fusion_decode(s, &a, &report);
	CHECK(s->account.equal < s->account.parts); /* without it, choices cannot say the kernel */
	CHECK_INT(fusion_take_tiles(s, &a, &module), 1);
	t = open_text(&h, module.data, module.len);
	if (t) {
		fusion_decode(t, &a, &report);
		CHECK_INT(t->account.equal, t->account.parts);
		CHECK_INT(report.fusions_equal, 1); /* negate and tanh are ours to decide */
		CHECK_INT(count_tiled(&h, &reads), 1);
		CHECK_INT(reads, 2);
		CHECK(graph_find(&h, "add") == NONE && graph_find(&h, "soft") == NONE);
		CHECK(graph_find(&h, "exp") != NONE); /* the kernel has the name of what it gives */
		CHECK_INT(fusion_take_tiles(t, &a, &none), 0); /* once is enough */
	}
	CHECK_INT(none.len, 0);
	space_free(t);
	space_free(s);
	graph_release(&h);
	graph_release(&a);
	graph_release(&g);
	buf_release(&module);
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

int main(void)
{
	RUN(changed_kernels_are_taken_over);
	RUN(others_stay);
	return test_done();
}
