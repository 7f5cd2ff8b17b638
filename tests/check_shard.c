/*
 * check_shard.c - meshes and layouts, the roles of a step's parameters, layouts made by hand, the programs that are
 * written, and the cost of exchanges.
 *
 * The step trains two layers by hand-written gradients: w1 is [8,16], w2 is [16,8], m1 is w1's moment.
 */
#include "device/estimate.h"
#include "graph/collective.h"
#include "space/shard/own.h"
#include "space/shard/shard.h"
#include "tests/test.h"

static const char step[] =
	"HloModule step\n"
	"ENTRY main {\n"
	"  w1 = f32[8,16] parameter(0)\n"
	"  m1 = f32[8,16] parameter(1)\n"
	"  w2 = f32[16,8] parameter(2)\n"
	"  x = f32[32,8] parameter(3)\n"
	"  rate = f32[] constant(0.1)\n"
	"  h = f32[32,16] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  a = f32[32,16] tanh(h)\n"
	"  y = f32[32,8] dot(a, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  dw2 = f32[16,8] dot(a, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  dh = f32[32,16] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
	"  dw1 = f32[8,16] dot(x, dh), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  r1 = f32[8,16] broadcast(rate), dimensions={}\n"
	"  r2 = f32[16,8] broadcast(rate), dimensions={}\n"
	"  old = f32[8,16] multiply(m1, r1)\n"
	"  m1n = f32[8,16] add(old, dw1)\n"
	"  p1 = f32[8,16] multiply(m1n, r1)\n"
	"  w1n = f32[8,16] subtract(w1, p1)\n"
	"  p2 = f32[16,8] multiply(dw2, r2)\n"
	"  w2n = f32[16,8] subtract(w2, p2)\n"
	"  ROOT out = (f32[8,16], f32[8,16], f32[16,8]) tuple(w1n, m1n, w2n)\n"
	"}\n";

/* Three layers as a loop: up is [3,8,16], down [3,4,4,8], whose rows are two dimensions; it only serves. */
static const char layers[] =
	"HloModule layers\n"
	"body {\n"
	"  s = (s32[], f32[32,8], f32[3,8,16], f32[3,4,4,8]) parameter(0)\n"
	"  i = s32[] get-tuple-element(s), index=0\n"
	"  x = f32[32,8] get-tuple-element(s), index=1\n"
	"  ups = f32[3,8,16] get-tuple-element(s), index=2\n"
	"  downs = f32[3,4,4,8] get-tuple-element(s), index=3\n"
	"  zero = s32[] constant(0)\n"
	"  up1 = f32[1,8,16] dynamic-slice(ups, i, zero, zero), dynamic_slice_sizes={1,8,16}\n"
	"  up = f32[8,16] reshape(up1)\n"
	"  down1 = f32[1,4,4,8] dynamic-slice(downs, i, zero, zero, zero), dynamic_slice_sizes={1,4,4,8}\n"
	"  down = f32[16,8] reshape(down1)\n"
	"  h = f32[32,16] dot(x, up), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  a = f32[32,16] tanh(h)\n"
	"  y = f32[32,8] dot(a, down), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  one = s32[] constant(1)\n"
	"  j = s32[] add(i, one)\n"
	"  ROOT t = (s32[], f32[32,8], f32[3,8,16], f32[3,4,4,8]) tuple(j, y, ups, downs)\n"
	"}\n"
	"more {\n"
	"  t2 = (s32[], f32[32,8], f32[3,8,16], f32[3,4,4,8]) parameter(0)\n"
	"  i2 = s32[] get-tuple-element(t2), index=0\n"
	"  three = s32[] constant(3)\n"
	"  ROOT less = pred[] compare(i2, three), direction=LT\n"
	"}\n"
	"apply {\n"
	"  v = f32[32,8] parameter(0)\n"
	"  w = f32[8,8] parameter(1)\n"
	"  ROOT z = f32[32,8] dot(v, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"}\n"
	"ENTRY main {\n"
	"  first = f32[32,8] parameter(0)\n"
	"  all_up = f32[3,8,16] parameter(1)\n"
	"  all_down = f32[3,4,4,8] parameter(2)\n"
	"  head = f32[8,8] parameter(3)\n"
	"  begin = s32[] constant(0)\n"
	"  state = (s32[], f32[32,8], f32[3,8,16], f32[3,4,4,8]) tuple(begin, first, all_up, all_down)\n"
	"  loop = (s32[], f32[32,8], f32[3,8,16], f32[3,4,4,8]) while(state), condition=more, body=body\n"
	"  last = f32[32,8] get-tuple-element(loop), index=1\n"
	"  turned = f32[8,8] transpose(head), dimensions={1,0}\n"
	"  ROOT out = f32[32,8] call(last, turned), to_apply=apply\n"
	"}\n";

static const char partitioned[] =
	"HloModule part\n"
	"add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
	"ENTRY main {\n"
	"  x = f32[1024] parameter(0)\n"
	"  i = s32[] parameter(1)\n"
	"  sum = f32[1024] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add\n"
	"  all = f32[4096] all-gather(sum), replica_groups={{0,1,2,3}}, dimensions={0}\n"
	"  sum2 = f32[4096] all-reduce(all), replica_groups={{0,1,2,3}}, to_apply=add\n"
	"  ROOT mine = f32[1024] dynamic-slice(sum2, i), dynamic_slice_sizes={1024}\n"
	"}\n";

static void read_program(struct graph *g, const char *text)
{
	struct err err = {{0}};

	CHECK_INT(graph_parse(g, text, strlen(text), "the program", &err), 0);
	CHECK_STR(err.text, "");
}

static void meshes_are_read(void)
{
	static const struct {
		const char *text, *error;
		uint32_t n, devices;
		const char *last;
	} t[] = {
		{"4", NULL, 1, 4, "x"},
		{"2x2", NULL, 2, 4, "y"},
		{"data=2,model=3", NULL, 2, 6, "model"},
		{"data=2:model=4", NULL, 2, 8, "model"},
		{"", "is no mesh", 0, 0, NULL},
		{"0", "is no mesh", 0, 0, NULL},
		{"2x", "is no mesh", 0, 0, NULL},
		{"4x400", "is no mesh", 0, 0, NULL},
		{"2x2x2x2x2", "is no mesh", 0, 0, NULL},
		{"99999999999999999999", "is no mesh", 0, 0, NULL},
		{"a=2,a=2", "are called a", 0, 0, NULL},
		{"data=,2", "is no mesh", 0, 0, NULL},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct mesh m;
		struct err err = {{0}};
		int rc = mesh_parse(&m, t[i].text, &err);
		CHECK_INT(rc, t[i].error ? -1 : 0);
		if (t[i].error) {
			CHECK(strstr(err.text, t[i].error) != NULL);
			continue;
		}
		CHECK_INT(m.n, t[i].n);
		CHECK_INT(m.devices, t[i].devices);
		CHECK_STR(m.axis[m.n - 1].name, t[i].last);
	}
}

/* Every layout that divides its dimensions is there once; compared with counting all assignments of axes. */
static void layouts_are_all_there_are(void)
{
	static const char *const meshes[] = {"4", "2x2", "2x3", "2x2x2"};
	static const int64_t dims[][3] = {{4, 6, 12}, {8, 8, 8}, {1, 2, 5}, {0, 4, 4}};

	for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
		for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
			Hlo__ShapeProto shape = HLO__SHAPE_PROTO__INIT;
			struct mesh m;
			struct layout l, seen[64];
			uint32_t n, brute = 0;
			shape.n_dimensions = 3;
			shape.dimensions = (int64_t *)(uintptr_t)dims[k];
			CHECK_INT(mesh_parse(&m, meshes[i], NULL), 0);
			n = layout_count(&m, &shape);
			for (uint32_t j = 0; j < n; j++) {
				layout_at(&m, &shape, j, &seen[j]);
				CHECK(layout_fits(&m, &shape, &seen[j]));
				CHECK_INT(layout_number(&m, &shape, &seen[j]), j);
			}
			for (int code = 0; code < 1 << 2 * (int)m.n; code++) {
				l = layout_whole;
				for (uint32_t a = 0; a < m.n; a++)
					l.dim[a] = (int8_t)((code >> 2 * a & 3) - 1);
				brute += layout_fits(&m, &shape, &l);
			}
			CHECK_INT(n, brute);
		}
}

/* By its coordinates and by the annotation that XLA reads, a device holds the same part. */
static void shardings_say_who_holds_what(void)
{
	struct arena mem = {0};
	struct mesh m;
	const struct layout l = {{1, 0, -1, -1}}; /* of 2x3: dimension 0 by y, 1 by x */
	Hlo__OpSharding *s;

	CHECK_INT(mesh_parse(&m, "2x3x2", NULL), 0);
	s = layout_sharding(&m, &l, 2, &mem);
	CHECK_INT(s->n_tile_assignment_dimensions, 3);
	CHECK_INT(s->tile_assignment_dimensions[0], 3);
	CHECK_INT(s->tile_assignment_dimensions[1], 2);
	CHECK_INT(s->tile_assignment_dimensions[2], 2);
	CHECK(s->replicate_on_last_tile_dim);
	for (int row = 0; row < 3; row++)
		for (int column = 0; column < 2; column++)
			for (int copy = 0; copy < 2; copy++)
				CHECK_INT(s->tile_assignment_devices[(row * 2 + column) * 2 + copy],
					(column * 3 + row) * 2 + copy);
	CHECK_INT(layout_sharding(&m, &layout_whole, 2, &mem)->type, 0);
	arena_release(&mem);
}

static struct space *open_as(struct graph *g, const char *text, const char *kind)
{
	struct err err = {{0}};
	struct space *s;

	read_program(g, text);
	s = space_open(kind, "pod", g, NULL, 0, &err);
	CHECK_STR(err.text, "");
	return s;
}

static struct space *open_space(struct graph *g, const char *kind)
{
	return open_as(g, step, kind);
}

static uint32_t site_of(const struct space *s, const char *name)
{
	return s->site_of[graph_find(s->graph, name)];
}

static void roles_are_told(void)
{
	static const struct {
		const char *name;
		enum role role;
		uint32_t out;
	} t[] = {{"w1", FOR_WEIGHT, 0}, {"m1", FOR_MOMENT, 1}, {"w2", FOR_WEIGHT, 2}, {"x", FOR_DATA, NONE}};
	struct graph g = {0};
	struct space *s = open_space(&g, "shard:4");

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		const struct purpose *p = purpose_of(s, graph_find(&g, t[i].name));
		CHECK_INT(p->role, t[i].role);
		CHECK_INT(p->out, t[i].out);
	}
	CHECK_INT(purpose_of(s, graph_find(&g, "m1"))->owner, graph_find(&g, "w1"));
	space_free(s);
	graph_release(&g);
}

/* For each layout made by hand: which dimension of each parameter the axes x and y split. */
static void hands_lay_out(void)
{
	static const struct {
		const char *start;
		int8_t w1[2], m1[2], w2[2], x[2];
	} t[] = {
		{"none", {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}},
		{"data", {-1, -1}, {-1, -1}, {-1, -1}, {0, 0}},
		{"zero", {-1, -1}, {1, 1}, {-1, -1}, {0, 0}},
		{"fsdp", {1, 1}, {1, 1}, {0, 0}, {0, 0}},
		{"model", {1, 1}, {1, 1}, {0, 0}, {-1, -1}},
		{"data-model", {-1, 1}, {-1, 1}, {-1, 0}, {0, -1}},
		{"data-model-fsdp", {0, 1}, {0, 1}, {1, 0}, {0, -1}},
		{"experts", {1, 1}, {1, 1}, {0, 0}, {0, 0}},
	};
	struct graph g = {0};
	struct space *s = open_space(&g, "shard:2x2");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		static const char *const names[] = {"w1", "m1", "w2", "x"};
		const int8_t *want[] = {t[i].w1, t[i].m1, t[i].w2, t[i].x};
		space_start_find(s, t[i].start)->fill(s, config);
		for (int k = 0; k < 4; k++) {
			struct layout l;
			shard_layout(s, site_of(s, names[k]), config[site_of(s, names[k])], &l);
			CHECK_INT(l.dim[0], want[k][0]);
			CHECK_INT(l.dim[1], want[k][1]);
		}
	}
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

/* Weights that hold a matrix for each of four experts are split by experts, and others as for fsdp. */
static void experts_are_split(void)
{
	static const char experts[] =
		"HloModule experts\n"
		"ENTRY main {\n"
		"  x = f32[32,4,8] parameter(0)\n"
		"  w = f32[4,8,16] parameter(1)\n"
		"  v = f32[16,12] parameter(2)\n"
		"  y = f32[4,32,16] dot(x, w), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
		"rhs_contracting_dims={1}\n"
		"  z = f32[4,32,12] dot(y, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
		"  ROOT t = f32[32,4,12] transpose(z), dimensions={1,0,2}\n"
		"}\n";
	static const struct {
		const char *name;
		int8_t dim;
	} t[] = {{"x", 0}, {"w", 0}, {"v", 0}};
	struct graph g = {0};
	struct space *s = open_as(&g, experts, "shard:4");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct layout l;

	space_start_find(s, "experts")->fill(s, config);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		shard_layout(s, site_of(s, t[i].name), config[site_of(s, t[i].name)], &l);
		CHECK_INT(l.dim[0], t[i].dim);
	}
	space_start_find(s, "fsdp")->fill(s, config);
	shard_layout(s, site_of(s, "w"), config[site_of(s, "w")], &l);
	CHECK_INT(l.dim[0], 2);
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

/* The page names the mesh, and each tensor before and after; what changed is bold. JAX's form stands below. */
static void pages_show_layouts(void)
{
	static const char *const told[] = {"4 devices in a mesh: 2 along x, 2 along y.",
		"left to the partitioner, before and after",
		"<code>w1</code></td><td>8 &times; 16</td><td>whole on every device</td><td><b>split x, y</b></td>",
		"<code>x</code></td><td>32 &times; 8</td><td>split x and y, -</td><td><b>split x, -</b></td>",
		"&quot;w1&quot;: P(&quot;x&quot;, &quot;y&quot;),", "&quot;x&quot;: P(&quot;x&quot;, None),"};
	struct graph g = {0};
	struct space *s = open_space(&g, "shard:2x2");
	uint8_t *before = MEM_NEW(s->n_sites, uint8_t), *after = MEM_NEW(s->n_sites, uint8_t);
	struct buf page = {0};

	space_start_find(s, "data")->fill(s, before);
	space_start_find(s, "data-model-fsdp")->fill(s, after);
	s->ops->page(s, before, after, &page);
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		if (!CHECK(strstr(page.data, told[i]) != NULL))
			printf("not found: %s\n%s\n", told[i], page.data);
	CHECK(strstr(page.data, "by propagation") == NULL); /* rows that say nothing are left out */
	buf_release(&page);
	mem_free(before);
	mem_free(after);
	space_free(s);
	graph_release(&g);
}

static void moments_change_with_their_weights(void)
{
	struct graph g = {0};
	struct space *s = open_space(&g, "shard/arguments:4");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t), choices[9];
	uint32_t sites[9];
	struct layout l;

	CHECK_INT(shard_together(s, config, site_of(s, "w1"), 2, sites, choices, 9), 1);
	CHECK_INT(sites[0], site_of(s, "m1"));
	shard_layout(s, sites[0], choices[0], &l);
	CHECK_INT(l.dim[0], 1);
	CHECK_INT(shard_together(s, config, site_of(s, "w1"), 2, sites, choices, 0), 0); /* there is no room */
	CHECK_INT(shard_together(s, config, site_of(s, "m1"), 2, sites, choices, 9), 0); /* it goes alone */
	CHECK_INT(shard_together(s, config, site_of(s, "w2"), 2, sites, choices, 9), 0); /* it has none */
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

/* Returns which dimension of a parameter the only axis splits. */
static int8_t split_of(const struct space *s, const uint8_t *config, const char *name)
{
	struct layout l;

	shard_layout(s, site_of(s, name), config[site_of(s, name)], &l);
	return l.dim[0];
}

static void pairs_are_found_in_loops_and_calls(void)
{
	struct graph g = {0};
	struct space *s = open_as(&g, layers, "shard/arguments:4");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);

	space_start_find(s, "model")->fill(s, config);
	CHECK_INT(split_of(s, config, "all_up"), 2);
	CHECK_INT(split_of(s, config, "all_down"), 1);
	CHECK_INT(split_of(s, config, "head"), 0); /* its columns, before it is turned */
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

static uint32_t count_calls(const struct graph *g)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += g->node[v].opcode == OP_CUSTOM_CALL && strcmp(g->node[v].proto->custom_call_target, "Sharding") ==
			0;
	return n;
}

static void annotations_are_written(void)
{
	struct graph g = {0}, after = {0};
	struct space *s = open_space(&g, "shard:4");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct buf module = {0};
	struct err err = {{0}};

	space_start_find(s, "fsdp")->fill(s, config);
	config[site_of(s, "h")] = 2; /* split over the first dimension that divides */
	CHECK_INT(s->ops->apply(s, config, &module, &err), 0);
	CHECK_INT(graph_parse(&after, module.data, module.len, "annotated", &err), 0);
	CHECK_STR(err.text, "");
	CHECK_INT(count_calls(&after), 4); /* three results and h */
	CHECK(after.node[graph_find(&after, "w1")].proto->sharding != NULL);
	CHECK_INT(after.node[graph_find(&after, "h")].opcode, OP_CUSTOM_CALL);
	for (uint32_t k = 0; k < 3; k++) {
		const uint32_t *part = node_operands(&after, after.comp[after.entry].root);
		CHECK_INT(after.node[part[k]].opcode, OP_CUSTOM_CALL);
	}
	graph_release(&after);
	buf_reset(&module);
	CHECK_INT(s->ops->apply_whole(s, config, &module, &err), 0);
	CHECK_INT(graph_parse(&after, module.data, module.len, "whole", &err), 0);
	CHECK_INT(count_calls(&after), 4 + 4 + 3); /* behind each parameter, and each result once more */
	graph_release(&after);
	buf_release(&module);
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

static void names_are_told(void)
{
	struct graph g = {0};
	struct space *s = open_space(&g, "shard/arguments:data=2:model=2");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct buf out = {0};
	char kind[SPACE_KIND_ROOM];
	const struct space_option *mesh = NULL;
	struct err err = {{0}};

	while ((mesh = space_option_next(mesh)) && strcmp(mesh->name, "mesh") != 0)
		;
	if (!CHECK(mesh != NULL))
		return;

	CHECK(site_of(s, "h") == NONE);
	space_default(s, config);
	s->ops->answer(s, config, &out);
	CHECK(strstr(out.data, "\"name\": \"x\"") != NULL);
	CHECK(strstr(out.data, "\"data\",\n\t\t\t\t\t\"model\"") != NULL);
	CHECK_INT(space_option_add(mesh, "shard", "data=2,model=2", kind, &err), 0);
	CHECK_STR(kind, "shard:data=2:model=2");
	CHECK_INT(space_kind_devices(kind), 4);
	CHECK_INT(space_kind_devices("fusion"), 1);
	CHECK_INT(space_option_add(mesh, "rewrite,shard", "2x2", kind, &err), 0);
	CHECK_STR(kind, "rewrite,shard:2x2");
	CHECK_INT(space_option_add(mesh, "fusion", "4", kind, &err), -1);
	CHECK_INT(space_option_add(mesh, "shard:2", "4", kind, &err), -1);
	buf_release(&out);
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

static void exchanges_are_counted(void)
{
	struct graph g = {0};
	struct exchanges e;
	struct priced slow, fast;
	struct spread four = {.partitions = 4};

	read_program(&g, partitioned);
	collective_sum(&g, four, &e);
	CHECK_NEAR(e.bytes[ALL_REDUCE], 4096, 1e-9);	      /* 2 x 1/2 of 4 KiB */
	CHECK_NEAR(e.bytes[ALL_GATHER], 3 * 4096, 1e-9);
	CHECK_NEAR(e.bytes[REDUCE_SCATTER], 0.75 * 16384, 1e-9); /* only a part is read */
	CHECK_NEAR(e.count[ALL_REDUCE], 1, 0);
	estimate_mesh(&g, "v5e", four, &slow);
	estimate_mesh(&g, "v5p", four, &fast);
	CHECK_NEAR(slow.exchanged, 4096 + 3 * 4096 + 0.75 * 16384, 1e-9);
	CHECK(slow.seconds > 9e-6 && slow.seconds > fast.seconds);
	CHECK(slow.bytes >= 4096);
	graph_release(&g);
}

int main(void)
{
	RUN(meshes_are_read);
	RUN(layouts_are_all_there_are);
	RUN(shardings_say_who_holds_what);
	RUN(roles_are_told);
	RUN(hands_lay_out);
	RUN(experts_are_split);
	RUN(pages_show_layouts);
	RUN(pairs_are_found_in_loops_and_calls);
	RUN(moments_change_with_their_weights);
	RUN(annotations_are_written);
	RUN(names_are_told);
	RUN(exchanges_are_counted);
	return test_done();
}
