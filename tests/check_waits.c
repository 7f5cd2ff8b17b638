/*
 * check_waits.c - a region in which an array is updated in place: what is written there waits for what was read of the
 * array before, if it comes of that in the program. Otherwise the compiler would copy the array in the region alone.
 */
#include <string.h>
#include "space/space.h"
#include "tests/opcodes.h"
#include "tests/test.h"

#define HEAD "HloModule m\nENTRY e {\n  x = f32[8,64]{1,0} parameter(0)\n  u = f32[1,64]{1,0} parameter(1)\n" \
	"  i = s32[] parameter(2)\n  z = s32[] constant(0)\n  w = f32[64,64]{1,0} parameter(3)\n"
#define READ "  s = f32[1,64]{1,0} slice(a), slice={[0:1], [0:64]}\n  t = f32[1,64]{1,0} exponential(s)\n"
#define PRODUCT "  d = f32[1,64]{1,0} dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
#define OTHER "  d = f32[1,64]{1,0} parameter(4)\n"
#define UPDATED "  a = f32[8,64]{1,0} dynamic-update-slice(x, u, i, z)\n"
#define UPDATE "  b = f32[8,64]{1,0} dynamic-update-slice(a, d, i, z)\n"
#define ADDED "  c = f32[8,64]{1,0} broadcast(u), dimensions={0,1}\n  a = f32[8,64]{1,0} add(x, c)\n"
#define END "  ROOT r = (f32[8,64]{1,0}, f32[1,64]{1,0}) tuple(b, t)\n}\n"

/* How many barriers are in each side of the region of the last choice of site "a"; 99: not as many. */
static uint32_t barriers(const char *text)
{
	struct graph g = {0};
	struct space *s = NULL;
	struct regions rg = {0};
	struct err err = {{0}};
	uint8_t from[32] = {0}, to[32] = {0};
	uint32_t n = 99;

	if (CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0))
		s = space_open("fusion", "cpu", &g, NULL, 0, &err);
	if (CHECK(s != NULL) && CHECK(s->n_sites <= 32)) {
		space_default(s, from);
		space_default(s, to);
		for (uint32_t i = 0; i < s->n_sites; i++)
			if (strcmp(g.node[s->site[i].node].proto->name, "a") == 0)
				to[i] = (uint8_t)(s->site[i].choices - 1);
		CHECK(memcmp(from, to, s->n_sites) != 0);
		CHECK(s->ops->region(s, from, to, &rg, &err) == 0);
		if (CHECK_INT(rg.n, 1) && opcodes_in(&rg.v[0].a, OP_OPTIMIZATION_BARRIER) ==
				opcodes_in(&rg.v[0].b, OP_OPTIMIZATION_BARRIER))
			n = opcodes_in(&rg.v[0].a, OP_OPTIMIZATION_BARRIER);
	}
	if (*err.text)
		printf("%s\n", err.text);
	regions_release(&rg);
	space_free(s);
	graph_release(&g);
	return n;
}

static void updates_wait_for_what_is_read_before(void)
{
	CHECK_INT(barriers(HEAD UPDATED READ PRODUCT UPDATE END), 1);
	CHECK_INT(barriers(HEAD UPDATED READ OTHER UPDATE END), 0);
}

/* Nothing is copied for what is made anew, and a barrier would only keep kernels apart. */
static void nothing_waits_where_nothing_is_updated(void)
{
	CHECK_INT(barriers(HEAD ADDED READ PRODUCT
		"  y = f32[8,64]{1,0} broadcast(d), dimensions={0,1}\n  b = f32[8,64]{1,0} add(a, y)\n" END), 0);
}

int main(void)
{
	RUN(updates_wait_for_what_is_read_before);
	RUN(nothing_waits_where_nothing_is_updated);
	return test_done();
}
