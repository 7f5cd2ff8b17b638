/*
 * check_effect.c - what a flip does to kernels (enum space_effect), on a program that is small enough to count by hand:
 * an exponential that a negation may absorb, the negation that a sum may absorb, and a cosine of which a part is cut
 * out.
 */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"
#include "space/fusion/own.h"
#include "tests/test.h"

static const char text[] =
	"HloModule effects\n"
	"%add (a: f32[], b: f32[]) -> f32[] {\n"
	"  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n"
	"ENTRY %main (p: f32[64,32], i: s32[]) -> (f32[64], f32[8,32]) {\n"
	"  %p = f32[64,32]{1,0} parameter(0)\n  %i = s32[] parameter(1)\n  %zero = f32[] constant(0)\n"
	"  %exp = f32[64,32]{1,0} exponential(%p)\n"
	"  %neg = f32[64,32]{1,0} negate(%exp)\n"
	"  %sum = f32[64]{0} reduce(%neg, %zero), dimensions={1}, to_apply=%add\n"
	"  %cos = f32[64,32]{1,0} cosine(%p)\n"
	"  %part = f32[8,32]{1,0} dynamic-slice(%cos, %i, %i), dynamic_slice_sizes={8,32}\n"
	"  ROOT %all = (f32[64]{0}, f32[8,32]{1,0}) tuple(%sum, %part)\n}\n";

/* From each of its operations kept in memory to this one absorbed. */
static const struct {
	const char *absorbed;
	enum space_effect effect;
	double before, after;
} table[] = {
	{"exp", EFFECT_VALUES, 2, 1},
	{"exp", EFFECT_CALLS, 2048, 2048},
	{"exp", EFFECT_OVER, 4096, 0}, /* the negation may write over what only it reads; p is the caller's */
	{"exp", EFFECT_SERIAL, 0, 0},
	{"neg", EFFECT_FOLDED, 2048, 2048},
	{"neg", EFFECT_LONE_FOLDED, 2048, 0},
	{"neg", EFFECT_INDEXED, 2048, 2048},
	{"neg", EFFECT_SERIAL, 4096, 6144}, /* the sum's additions and fetches; then the negations, too */
	{"cos", EFFECT_SOUGHT, 256, 256},
	{"cos", EFFECT_LONE_MOVED, 256, 0},
	{"cos", EFFECT_CALLS, 2048, 256},
	{"cos", EFFECT_SERIAL, 16 * 2048 + 2048, 16 * 256 + 3 * 256},
};

static uint32_t site_named(const struct space *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (strcmp(s->graph->node[s->site[i].node].proto->name, name) == 0)
			return i;
	return NONE;
}

static void effects_are_those_counted_by_hand(void)
{
	struct graph g = {0};
	struct err err = {{0}};
	struct space *s = NULL;
	uint8_t kept[16] = {0};

	if (!CHECK(graph_parse(&g, text, sizeof text - 1, "text", &err) == 0 &&
		    (s = space_open("fusion", "cpu", &g, NULL, 0, &err)))) {
		printf("%s\n", err.text);
		return;
	}
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		float effect[2 * EFFECT_COUNT];
		uint32_t site = site_named(s, table[i].absorbed);
		if (!CHECK(site != NONE))
			continue;
		s->ops->effect(s, kept, site, 1, effect);
		if (!CHECK_NEAR((double)effect[table[i].effect], table[i].before, 1e-3) ||
			!CHECK_NEAR((double)effect[EFFECT_COUNT + table[i].effect], table[i].after, 1e-3))
			printf("%s absorbed, effect %d\n", table[i].absorbed, (int)table[i].effect);
	}
	space_free(s);
	graph_release(&g);
}

/* A chain of so many operations in one kernel, and what is said of cutting it in the middle. */
static void cut_chain(uint32_t n, float *effect)
{
	struct graph g = {0};
	struct err err = {{0}};
	struct space *s = NULL;
	struct buf t = {0};
	uint8_t *config;

	buf_adds(&t, "HloModule chain\nENTRY %main (p: f32[64]) -> f32[64] {\n  %x0 = f32[64]{0} parameter(0)\n");
	for (uint32_t i = 1; i <= n; i++)
		buf_addf(&t, "  %s%%x%u = f32[64]{0} add(%%x%u, %%x0)\n", i == n ? "ROOT " : "", i, i - 1);
	buf_adds(&t, "}\n");
	if (CHECK(graph_parse(&g, t.data, t.len, "chain", &err) == 0 &&
		    (s = space_open("fusion", "cpu", &g, NULL, 0, &err)))) {
		char middle[16];
		config = mem_alloc(s->n_sites);
		for (uint32_t i = 0; i < s->n_sites; i++)
			config[i] = (uint8_t)(s->site[i].choices - 1);
		snprintf(middle, sizeof middle, "x%u", n / 2);
		s->ops->effect(s, config, site_named(s, middle), 0, effect);
		mem_free(config);
		space_free(s);
	} else {
		printf("%s\n", err.text);
	}
	graph_release(&g);
	buf_release(&t);
}

/* Of a large kernel only what is near the flip is counted: the rest is the same before and after it. */
static void large_kernels_are_counted_near_the_flip(void)
{
	static const enum space_effect same[] = {EFFECT_FLOPS, EFFECT_READ, EFFECT_WRITTEN, EFFECT_LOADS, EFFECT_PARTS,
		EFFECT_VALUES, EFFECT_NODES, EFFECT_CALLS, EFFECT_SERIAL};
	float small[2 * EFFECT_COUNT], large[2 * EFFECT_COUNT];

	cut_chain(600, small);
	cut_chain(6000, large);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (!CHECK_NEAR((double)(large[EFFECT_COUNT + same[i]] - large[same[i]]),
			    (double)(small[EFFECT_COUNT + same[i]] - small[same[i]]), 1e-3))
			printf("effect %d\n", (int)same[i]);
	CHECK_NEAR((double)small[EFFECT_FLOPS], 600 * 64, 1e-3);
	CHECK((double)large[EFFECT_FLOPS] < 2000 * 64);
	CHECK_NEAR((double)large[EFFECT_NODES], 6000, 1e-3);
	CHECK_NEAR((double)large[EFFECT_LARGEST], 6000, 1e-3);
}

int main(void)
{
	RUN(effects_are_those_counted_by_hand);
	RUN(large_kernels_are_counted_near_the_flip);
	return test_done();
}
