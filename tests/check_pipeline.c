/*
 * check_pipeline.c - the passes of a compiler are read from what it prints, and kept as text. The proof is tried with a
 * plugin that can be told to differ from the compilers that we know.
 */
#include "device/pipeline.h"

#include <string.h>
#include "device/device.h"
#include "device/probe.h"
#include "graph/graph.h"
#include "tests/device_fixture.h"

static bool plugin; /* there is one to pretend with */

static const char printed[] =
	"WARNING: something else\n"
	"I0 a.cc:1] Running HLO pass pipeline on module m: first\n"
	"I0 a.cc:2]   HLO pass cse\n"
	"I0 a.cc:3] HLO pass: cse time: 3 us\n"
	"I0 a.cc:4]     Invariant checker hlo-verifier\n"
	"I0 a.cc:1] Running HLO pass pipeline on module m: second\n"
	"I0 a.cc:2]   HLO pass fusion\n"
	"I0 a.cc:2]   HLO pass fusion-wrapper\n"
	"I0 a.cc:2]   HLO pass tidy up\n"
	"I0 a.cc:1] Running HLO pass pipeline on module m: tidy up\n"
	"I0 a.cc:2]   HLO pass dce\n"
	"I0 a.cc:2]   HLO pass cse\n"
	"I0 a.cc:2]   HLO pass dce\n"
	"I0 a.cc:1] Running HLO pass pipeline on module m: last\n"
	"I0 a.cc:2]   HLO pass done";
static const char kept[] =
	"vantage pipeline 2\nfirst\n\tcse\nsecond\n\tfusion\n\tfusion-wrapper\n\ttidy "
	"up\n\tdce\n\tcse\n\tdce\nlast\n\tdone\n";

static void reads_what_is_printed(void)
{
	struct pipeline p, again;
	struct buf text = {0}, names = {0};
	struct err err = {{0}};

	pipeline_read(&p, printed, sizeof printed - 1);
	pipeline_save(&p, &text);
	CHECK_STR(text.data, kept);
	CHECK(pipeline_find(&p, "^fusion$", &err) == 0 && strcmp(p.step[p.decides].name, "fusion") == 0);
	pipeline_after(&p, &names);
	CHECK_STR(names.data, "fusion-wrapper,tidy up,dce,done");
	buf_reset(&names);
	pipeline_again(&p, &names);
	CHECK_STR(names.data, "cse");
	buf_reset(&names);
	stage_apply(stage_find("fusion", "cpu"), &p, &names);
	CHECK_STR(names.data, "xla_enable_hlo_passes_only=fusion-wrapper,tidy up,dce,done");
	CHECK(pipeline_load(&again, text.data, text.len) == 0);
	buf_reset(&names);
	pipeline_save(&again, &names);
	CHECK_STR(names.data, kept);
	pipeline_release(&again);
	for (size_t n = 0; n < text.len; n++) { /* cut anywhere: refused, or the whole lines that are left */
		size_t lines = pipeline_load(&again, text.data, n) == 0 ? again.n : 0;
		CHECK(lines == 0 || text.data[n - 1] == '\n');
		pipeline_release(&again);
	}
	pipeline_release(&p);
	buf_release(&text);
	buf_release(&names);
}

static void says_what_it_misses(void)
{
	static const struct {
		const char *log, *sentence;
	} t[] = {
		{"", "does not say which passes"},
		{"]   HLO pass dce\n", "runs 1 passes, and none of them is ^fusion$"},
		{"]   HLO pass fusion\n]   HLO pass fusion\n", "runs ^fusion$ 2 times"},
		{"Running HLO pass pipeline on module fusion\n]   HLO pass \n", "does not say which passes"},
		{"Running HLO pass pipeline on module m: fusion\n", "none of them is"},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct pipeline p;
		struct err err = {{0}};
		pipeline_read(&p, t[i].log, strlen(t[i].log));
		CHECK(pipeline_find(&p, "^fusion$", &err) < 0);
		if (!strstr(err.text, t[i].sentence))
			CHECK_STR(err.text, t[i].sentence);
		pipeline_release(&p);
	}
}

/* Opens a device on the plugin, and checks the sentence with which it is refused; "": it is not. */
static void open_with(const char *fake, const char *wanted, bool wants_kept)
{
	struct buf program = {0};
	struct extracted e = {0};
	struct compiled c = {0};
	struct err err = {{0}};

	setenv("FAKE_PLUGIN", fake, 1);
	struct device *d = fixture_open();
	if (!d)
		return;
	const struct device_passes *q = device_passes(d);
	bool refused = *wanted != 0;
	fixture_program("us=10", &program);
	CHECK(!q->refusal == !refused && q->kept == wants_kept);
	CHECK(!refused || (q->refusal && strstr(q->refusal, wanted)));
	CHECK(!strcmp(device_info(d)->compile_options, refused ? "" : "xla_enable_hlo_passes_only=late,later,"
		"xla_cpu_enable_fast_min_max=false"));
	/* Refused for decisions alone: it compiles as before. */
	CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", program.data, program.len, 0, &c, &err) == 0 &&
		c.outcome == OUTCOME_OK);
	compiled_release(&c);
	CHECK((device_extract(d, "hlo", program.data, program.len, &e, &err) == 0) == !refused);
	CHECK(!refused || strstr(err.text, "nothing can be decided with the plugin"));
	CHECK((device_compile(d, COMPILE_APPLIED, "hlo", program.data, program.len, 0, &c, &err) == 0) == !refused);
	compiled_release(&c);
	extracted_release(&e);
	buf_release(&program);
	device_close(d);
}

static void damage(const char *path)
{
	CHECK(io_write_file(path, "vantage pipeline 2\n\tdce\n", 24, NULL) == 0);
}

static void asks_the_plugin(void)
{
	struct buf cache = {0}, file = {0};

	if (!plugin)
		SKIP("no fake plugin without the plugin's header");
	buf_addf(&cache, "%s/cache", fixture_folder);
	setenv("XDG_CACHE_HOME", cache.data, 1);
	setenv("TF_CPP_MIN_LOG_LEVEL", "3", 1); /* as a user's shell, or JAX, may have it */
	open_with("fake:passes=none", "does not say which passes it runs", false);
	open_with("fake:passes=twice", "runs ^fusion$ 2 times", false);
	open_with("fake:passes=another", "make another program", false);
	CHECK(!io_exists(cache.data)); /* nothing is kept of those */
	open_with("fake:us=1", "", false);
	open_with("fake:us=1", "", true);
	open_with("fake:passes=none", "", true);
	struct device *d = fixture_open();
	if (d) {
		probe_path(host_of(d), &file);
		device_close(d);
		CHECK(io_exists(file.data));
		damage(file.data);
		open_with("fake:us=1", "", false);
		open_with("fake:us=1", "", true);
	}
	setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
	open_with("fake:us=1", "", false);
	io_remove_tree(cache.data, NULL);
	CHECK(fixture_no_children() && fixture_leftovers() == 0);
	buf_release(&cache);
	buf_release(&file);
}

/* What a pass behind the decision may treat in a way of its own is in the program that proves the list of them. */
static void probes_something_of_each_sort(void)
{
	static const enum opcode wanted[] = {OP_DOT, OP_REDUCE, OP_WHILE, OP_CONDITIONAL, OP_TRANSPOSE, OP_RESHAPE};
	const char *text = probe_program();
	struct graph g = {0};
	struct err err = {{0}};

	CHECK(graph_parse(&g, text, strlen(text), "the probe", &err) == 0);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		size_t found = 0;
		for (uint32_t v = 0; v < g.n_nodes; v++)
			found += g.node[v].opcode == wanted[i];
		CHECK(found > 0);
	}
	graph_release(&g);
}

int main(void)
{
	plugin = fixture_begin();
	RUN(reads_what_is_printed);
	RUN(says_what_it_misses);
	RUN(probes_something_of_each_sort);
	RUN(asks_the_plugin);
	fixture_end();
	return test_done();
}
