/* check_order_bound.c - the lower bound of orders: no order is below it, and often one reaches it. */
#include "graph/graph.h"
#include "space/order/bound.h"
#include "space/order/list.h"
#include "tests/order_slow.h"
#include "tests/test.h"

static void shuffle_order(const struct line *l, struct rng *r, uint32_t *order)
{
	double *key = MEM_NEW(l->n, double);

	for (uint32_t i = 0; i < l->n; i++)
		key[i] = rng_unit(r);
	list_schedule(l, key, order);
	mem_free(key);
}

static void no_order_is_below_the_bound(void)
{
	struct rng r;
	uint32_t reached = 0, order[16];
	uint64_t at[16];

	rng_seed(&r, 8);
	for (int k = 0; k < 60; k++) {
		struct line l;
		uint64_t bound = 0, best;
		make_line(&l, 8, &r);
		for (uint32_t v = 0; v < l.n; v++) {
			uint64_t bytes = bound_step(&l, v);
			bound = bytes > bound ? bytes : bound;
		}
		best = best_of_all(&l, order, 0, 0, UINT64_MAX);
		CHECK(bound <= best);
		reached += bound == best;
		for (int i = 0; i < 20; i++) { /* nor is any step below its own */
			shuffle_order(&l, &r, order);
			line_bytes(&l, order, at);
			for (uint32_t p = 0; p < l.n; p++)
				CHECK(bound_step(&l, order[p]) <= at[p]);
		}
		line_release(&l);
	}
	if (!CHECK(reached >= 30)) /* it is worth something */
		printf("\t%u of 60\n", reached);
}

/* A program that returns arrays of several sizes, in whose memory others may be for a while; and a loop. */
static const char rooms_text[] = "HloModule rooms\n"
	"add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
	"body {\n s = (s32[], f32[700]{0}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
	" v = f32[700]{0} get-tuple-element(s), index=1\n o = s32[] constant(1)\n j = s32[] add(i, o)\n"
	" w = f32[1400]{0} concatenate(v, v), dimensions={0}\n u = f32[700]{0} slice(w), slice={[0:700]}\n"
	" ROOT t = (s32[], f32[700]{0}) tuple(j, u)\n}\n"
	"cond {\n s = (s32[], f32[700]{0}) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
	" n = s32[] constant(5)\n ROOT l = pred[] compare(i, n), direction=LT\n}\n"
	"ENTRY main {\n p = f32[] parameter(0)\n z = s32[] constant(0)\n f = f32[] constant(0)\n"
	" a0 = f32[1000]{0} broadcast(p), dimensions={}\n b0 = f32[2000]{0} concatenate(a0, a0), dimensions={0}\n"
	" c0 = f32[] reduce(b0, f), dimensions={0}, to_apply=add\n d0 = f32[700]{0} broadcast(c0), dimensions={}\n"
	" s0 = (s32[], f32[700]{0}) tuple(z, d0)\n"
	" w0 = (s32[], f32[700]{0}) while(s0), condition=cond, body=body\n"
	" e0 = f32[700]{0} get-tuple-element(w0), index=1\n g0 = f32[] reduce(e0, f), dimensions={0}, to_apply=add\n"
	" h0 = f32[1500]{0} broadcast(g0), dimensions={}\n k0 = f32[] reduce(h0, f), dimensions={0}, to_apply=add\n"
	" m0 = f32[900]{0} broadcast(k0), dimensions={}\n n0 = f32[500]{0} broadcast(c0), dimensions={}\n"
	" q0 = f32[1200]{0} broadcast(p), dimensions={}\n r0 = f32[] reduce(q0, f), dimensions={0}, to_apply=add\n"
	" v0 = f32[300]{0} broadcast(r0), dimensions={}\n"
	" ROOT t = (f32[900]{0}, f32[500]{0}, f32[300]{0}) tuple(m0, n0, v0)\n}\n";

static void no_program_is_below_its_bound(void)
{
	struct graph g;
	struct program p;
	struct bound b;
	struct err err = {0};
	struct rng r;

	rng_seed(&r, 9);
	if (!CHECK(graph_parse(&g, rooms_text, sizeof rooms_text - 1, "rooms", &err) == 0)) {
		printf("\t%s\n", err.text);
		return;
	}
	program_open(&p, &g);
	bound_find(&b, &p);
	CHECK(b.bytes > 0);
	for (int k = 0; k < 400; k++) {
		for (uint32_t c = 0; c < g.n_comps; c++)
			if (program_line(&p, c)->n)
				shuffle_order(program_line(&p, c), &r, p.order[c]);
		CHECK(program_settle(&p) + p.tables >= b.bytes);
		CHECK(values_rounded(&p.values, program_bytes(&p)) >= b.bytes);
	}
	bound_release(&b);
	program_release(&p);
	graph_release(&g);
}

int main(void)
{
	RUN(no_order_is_below_the_bound);
	RUN(no_program_is_below_its_bound);
	return test_done();
}
