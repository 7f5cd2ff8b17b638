/*
 * check_place_space.c - placement as decisions: machines are read or refused, schedules are those worked out by hand,
 * programs become problems, and a configuration costs what its placement costs.
 */
#include "space/place/deciding.h"
#include "space/place/program.h"
#include "space/place/schedule.h"
#include "tests/made_space.h"
#include "tests/test.h"

#define TWO "device a count 2 flops 10 bandwidth 100 memory 1000\nlink a a bandwidth 4 latency 1\n"

static int read_machine(struct machine *m, const char *text, struct err *err)
{
	return machine_parse(m, text, strlen(text), "m.txt", err);
}

static void machines_are_read(void)
{
	static const char text[] = "# a comment\ndevice gpu count 2 flops 1e13 bandwidth 9e11 memory 16GiB start 5e-6\n"
		"device host flops 2e11 bandwidth 5e10 # no limit\n\nlink gpu gpu bandwidth 5e10 latency 2e-6\n"
		"link host gpu bandwidth 1.2e10\ntransfers synchronous\n";
	struct machine m, again;
	struct buf brief = {0}, name = {0};
	struct err err = {0};

	if (!CHECK_INT(read_machine(&m, text, &err), 0))
		printf("\t%s\n", err.text);
	CHECK_INT(m.n_devices, 3);
	CHECK(m.synchronous && m.class[0].memory == 0x1p34 && isinf(m.class[1].memory));
	CHECK_NEAR(machine_send(&m, 5e10, 0, 1), 1 + 2e-6, 1e-12);
	CHECK_NEAR(machine_send(&m, 1.2e10, 2, 1), 1, 1e-12);
	CHECK_NEAR(machine_send(&m, 1e9, 1, 1), 0, 0);
	machine_device_name(&m, 1, &name);
	buf_addch(&name, ' ');
	machine_device_name(&m, 2, &name);
	CHECK_STR(name.data, "gpu 1 host");
	machine_short(&m, &brief);
	CHECK_INT(machine_from_short(&again, brief.data, &err), 0);
	CHECK(again.n_devices == 3 && again.synchronous && again.rate[0][1] == 1.2e10 && isinf(again.class[1].memory));
	buf_release(&brief);
	buf_release(&name);
}

static void machines_are_refused(void)
{
	static const char *const table[][2] = {{"", "describes no device"},
		{"robot\n", "line 1: no line begins with robot"},
		{"device a flops 1\n", "flops and bandwidth above 0"},
		{"device a flops 1 bandwidth\n", "no value after"},
		{"device a flops -1 bandwidth 1\n", "no number that is 0 or more: -1"},
		{"device a count 65 flops 1 bandwidth 1\n", "1 to 64 devices"},
		{"device a count 1e18 flops 1 bandwidth 1\n", "1 to 64 devices"},
		{"device a count 2 flops 1 bandwidth 1\n", "no link between a and a"},
		{"device a flops 1 bandwidth 1\ndevice a flops 1 bandwidth 1\n", "described before: a"},
		{"device a flops 1 bandwidth 1 memory much\n", "no number of bytes: much"},
		{"device a-b flops 1 bandwidth 1\n", "a name of at most 15"},
		{"device a flops nan bandwidth 1\n", "no number that is 0 or more: nan"},
		{"link a b bandwidth 1\n", "described above it"}, {"transfers fast\n", "not fast"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct machine m;
		struct err err = {0};
		CHECK_INT(read_machine(&m, table[i][0], &err), -1);
		if (!CHECK(strstr(err.text, table[i][1]) != NULL))
			printf("\t%s\n", err.text);
	}
}

/* a -> b -> d, a -> c -> d, as a program: 40 floats each, so 40 operations and bytes enough to see. */
static const char diamond[] = "HloModule diamond\n\nENTRY main {\n  p = f32[40] parameter(0)\n  a = f32[40] negate(p)\n"
	"  b = f32[40] add(a, a)\n  c = f32[40] multiply(a, a)\n  ROOT d = f32[40] subtract(b, c)\n}\n";

static void schedules_by_hand(void)
{
	/* The nodes are a, b, c, d in some order; the second device runs c. A kernel takes 160 * 3 / 100 or less. */
	static const struct {
		const char *more;
		double together, apart;
	} table[] = {{"transfers asynchronous\n", 3.2 + 4.8 + 4.8 + 4.8, 3.2 + 41 + 4.8 + 41 + 4.8},
		{"transfers synchronous\n", 3.2 + 4.8 + 4.8 + 4.8, 3.2 + 41 + 4.8 + 41 + 4.8}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g = {0};
		struct machine m;
		struct place p = {0};
		struct schedule s;
		struct err err = {0};
		char text[200];
		uint32_t task[16], device[16] = {0}, c;
		double peak[PLACE_DEVICES];
		snprintf(text, sizeof text, "%s%s", TWO, table[i].more);
		if (!CHECK(read_machine(&m, text, &err) == 0 && graph_parse(&g, diamond, sizeof diamond - 1, "diamond",
			&err) == 0 && place_of_program(&p, &g, &m, task, &err) == 0)) {
			printf("\t%s\n", err.text);
			continue;
		}
		CHECK(p.n_nodes == 4 && p.n_groups == 4 && p.n_inputs == 1);
		schedule_make(&p, device, NULL, &s);
		CHECK_NEAR(s.finish, table[i].together, 2);
		schedule_peaks(&p, &s, peak);
		CHECK_NEAR(peak[0], 160 + 3 * 160, 1); /* the parameter, and a or d beside b and c */
		schedule_release(&s);
		c = task[graph_find(&g, "c")];
		device[c] = 1;
		schedule_make(&p, device, NULL, &s);
		CHECK_INT(s.n_transfers, 2); /* a goes there, c comes back */
		CHECK(s.start[c] >= s.end[task[graph_find(&g, "a")]] + 41 - 1e-9);
		CHECK(s.finish > 2 * 41);
		schedule_release(&s);
		CHECK(place_time(&p, device) > 82 && place_time(&p, device) < 110);
		place_release(&p);
		graph_release(&g);
	}
}

/* While two devices exchange a value they do nothing else, unless transfers are asynchronous. */
static void devices_wait(void)
{
	double finish[2];

	for (int synchronous = 0; synchronous < 2; synchronous++) {
		static const char text[] = "HloModule two\n\nENTRY main {\n  p = f32[40] parameter(0)\n"
			"  a = f32[40] negate(p)\n  b = f32[40] abs(a)\n  c = f32[40] sqrt(p)\n"
			"  e = f32[40] cosine(c)\n"
			"  ROOT t = (f32[40], f32[40]) tuple(b, e)\n}\n";
		struct graph g = {0};
		struct machine m;
		struct place p = {0};
		uint32_t task[16], device[16] = {0};
		CHECK(read_machine(&m, TWO, NULL) == 0 && graph_parse(&g, text, sizeof text - 1, "two", NULL) == 0);
		m.synchronous = synchronous;
		CHECK_INT(place_of_program(&p, &g, &m, task, NULL), 0);
		CHECK_INT(p.n_nodes, 4); /* the tuple is no node */
		device[task[graph_find(&g, "b")]] = 1;
		finish[synchronous] = place_time(&p, device);
		place_release(&p);
		graph_release(&g);
	}
	CHECK(finish[0] <= finish[1]);
	CHECK(finish[0] > 41);
}

/* The default is no worse than all on one device, and what the kind finds is no worse than the default. */
static void costs_are_in_order(void)
{
	static const char *const programs[] = {"place:erdos:60:4:1", "place:latency:small:40:3:2",
		"place:time:attach:60:4:3", "place:blocks:60:4:4", "place:layers:60:4:5"};
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct graph g = {0};
		struct space *s = open_made(&place_kind, programs[i], &g);
		struct space_effort e = {.steps = 3000, .seed = 1};
		if (!s)
			continue;
		uint8_t *x = mem_alloc(s->n_sites + 1);
		space_default(s, x);
		double dflt = s->ops->formula(s, x, QUANTITY_SECONDS), found, one;
		space_start_find(s, "one")->fill(s, x);
		one = s->ops->formula(s, x, QUANTITY_SECONDS);
		CHECK_INT(place_kind.solve(s, &e, x, NULL), 0);
		found = s->ops->formula(s, x, QUANTITY_SECONDS);
		if (!CHECK(found <= dflt * (1 + 1e-9) && dflt <= one * (1 + 1e-9) && found < one))
			printf("\t%s: %g %g %g\n", programs[i], found, dflt, one);
		mem_free(x);
		space_free(s);
		graph_release(&g);
	}
}

static void refuses(void)
{
	static const char *const table[][2] = {{"place:1:4:1", "2 to 1000000 nodes"},
		{"place:40:65:1", "2 to 64 devices"},
		{"place:cut:5", "place:cut:NODES:SEED:FILE"}, {"place:/nobody/here.json", "/nobody/here.json"}};
	struct graph g = {0};
	struct err err = {0};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf module = {0};
		struct err why = {0};
		char kind[SPACE_KIND_ROOM];
		CHECK_INT(place_kind.make(table[i][0], &module, kind, &why), -1);
		if (!CHECK(strstr(why.text, table[i][1]) != NULL))
			printf("\t%s\n", why.text);
		buf_release(&module);
	}
	CHECK_INT(graph_parse(&g, diamond, sizeof diamond - 1, "diamond", NULL), 0);
	CHECK(space_open("place", "sim", &g, NULL, 0, &err) == NULL && strstr(err.text, "--machine FILE"));
	CHECK(space_open("place:nonsense", "sim", &g, NULL, 0, &err) == NULL && strstr(err.text, "no machine"));
	graph_release(&g);
}

int main(void)
{
	RUN(machines_are_read);
	RUN(machines_are_refused);
	RUN(schedules_by_hand);
	RUN(devices_wait);
	RUN(costs_are_in_order);
	RUN(refuses);
	return test_done();
}
