/*
 * check_strip.c - what a device does when: the seconds of all nodes are those of the program, and the strip shows them.
 */
#include "device/estimate.h"
#include "search/strip.h"
#include "tests/test.h"

/* A product of 2 us, an exchange, and a sum of everything. */
static const char program[] =
	"HloModule part\n"
	"add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
	"ENTRY main {\n"
	"  x = f32[1024,1024] parameter(0)\n"
	"  y = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  z = f32[1024,1024] all-reduce(y), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, "
	"to_apply=add\n"
	"  zero = f32[] constant(0)\n"
	"  ROOT s = f32[] reduce(z, zero), dimensions={0,1}, to_apply=add\n"
	"}\n";

static const struct device_info pod = {.backend = "pod:v5e", .family = "pod", .spread = {1, 2}};

static void nodes_add_up(void)
{
	struct graph g = {0};
	struct priced p;
	struct strip s;
	double *each, sum = 0;

	CHECK_INT(graph_parse(&g, program, strlen(program), "the program", NULL), 0);
	each = MEM_NEW(g.n_nodes, double);
	estimate_mesh(&g, "v5e", pod.spread, &p);
	estimate_mesh_each(&g, "v5e", pod.spread, each);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		sum += each[v];
	CHECK_NEAR(sum, p.seconds, 1e-12);
	strip_read(&s, &g, &pod);
	CHECK_NEAR(strip_seconds(&s), p.seconds, 1e-12);
	CHECK_NEAR(s.sum[STRIP_PRODUCT], each[graph_find(&g, "y")], 1e-12);
	CHECK_NEAR(s.sum[STRIP_EXCHANGE], each[graph_find(&g, "z")], 1e-12);
	mem_free(each);
	graph_release(&g);
}

/* In the program's order, each for its share of the time. */
static void strips_show_what_comes_when(void)
{
	struct graph g = {0};
	struct buf out = {0};
	struct strip s;
	uint32_t turns = 0, exchanges = 0;

	CHECK_INT(graph_parse(&g, program, strlen(program), "the program", NULL), 0);
	strip_read(&s, &g, &pod);
	for (uint32_t i = 0; i < STRIP_PIECES; i++) {
		turns += i > 0 && s.piece[i] != s.piece[i - 1];
		exchanges += s.piece[i] == STRIP_EXCHANGE;
	}
	CHECK_NEAR(exchanges, STRIP_PIECES * s.sum[STRIP_EXCHANGE] / strip_seconds(&s), 2);
	CHECK(turns >= 2 && turns <= 3 && s.piece[STRIP_PIECES - 1] == STRIP_REST);
	strip_draw(&s, "found", 2 * strip_seconds(&s), &out);
	CHECK(strstr(out.data, ">found</td>") && strstr(out.data, "</span> exchanges 92.8 us"));
	CHECK(strstr(out.data, "viewBox=\"0 0 700 22\"") != NULL); /* without it a narrow page would show a part */
	buf_release(&out);
	graph_release(&g);
}

/* An estimator that has no seconds of single nodes leaves the strip empty, and nothing is drawn. */
static void nothing_is_known_of_others(void)
{
	static const struct device_info tpu = {.backend = "tpu:v5e:2x2", .family = "tpu", .spread = {1, 4}},
					cpu = {.backend = "cpu", .family = "cpu"};
	struct graph g = {0};
	struct buf out = {0};
	struct strip s;

	CHECK_INT(graph_parse(&g, program, strlen(program), "the program", NULL), 0);
	strip_read(&s, &g, &tpu);
	CHECK(strip_seconds(&s) <= 0);
	strip_read(&s, &g, &cpu);
	strip_draw(&s, "none", 1, &out);
	CHECK_INT(out.len, 0);
	buf_release(&out);
	graph_release(&g);
}

int main(void)
{
	RUN(nodes_add_up);
	RUN(strips_show_what_comes_when);
	RUN(nothing_is_known_of_others);
	return test_done();
}
