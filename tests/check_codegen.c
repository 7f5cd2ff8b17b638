/* check_codegen.c - what a processor has, and the other way of generating code, against the fake plugin. */
#include "device/codegen.h"
#include "tests/device_fixture.h"

static char processor[128]; /* the file that stands for /proc/cpuinfo */

static void be_a_processor(const char *text)
{
	struct err err = {{0}};

	snprintf(processor, sizeof processor, "%s/cpuinfo", fixture_folder);
	CHECK_INT(io_write_file(processor, text, strlen(text), &err), 0);
	setenv("VANTAGE_CPUINFO", processor, 1);
}

static void flags_are_whole_words(void)
{
	static const struct {
		const char *text;
		uint32_t ways;
	} t[] = {
		{"model name\t: X\nflags\t\t: fpu avx512f\n", 3 + 448},
		{"flags\t\t: avx512f fpu\nflags : fpu\n", 3 + 448},
		{"flags\t\t: avx512fp16 avx512\n", 2 + 448},
		{"model name\t: avx512f\n", 2 + 448},
		{"Features\t: asimd\n", 2 + 448}, /* another kind of processor */
		{"flags", 2 + 448},
		{"", 2 + 448},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		be_a_processor(t[i].text);
		CHECK_INT(codegen_worth("cpu"), t[i].ways);
	}
	be_a_processor(t[0].text);
	CHECK_INT(codegen_worth("cuda"), 4 + 8 + 16 + 32);
	CHECK_INT(codegen_worth("tpu"), 0);
	CHECK_INT(codegen_rivals(0), 0);
	CHECK_INT(codegen_rivals(7), 64 + 256);
	setenv("VANTAGE_CPUINFO", "/nowhere", 1);
	CHECK_INT(codegen_worth("cpu"), 2 + 448);
	unsetenv("VANTAGE_CPUINFO");
}

static void ways_are_written_and_read(void)
{
	static const struct {
		uint32_t ways;
		const char *options, *words;
	} t[] = {
		{0, "", ""},
		{1, "xla_cpu_prefer_vector_width=512", "vectors of 512 bits"},
		{2, "xla_cpu_copy_insertion_use_region_analysis=true", "fewer copies"},
		{3, "xla_cpu_prefer_vector_width=512;xla_cpu_copy_insertion_use_region_analysis=true",
			"vectors of 512 bits, fewer copies"},
		{4 + 32, "xla_gpu_graph_min_graph_size=1;xla_gpu_enable_command_buffer="
			"FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL,DYNAMIC_SLICE_FUSION,CONDITIONAL,WHILE",
			"graphs of single kernels, loops in graphs"},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct buf options = {0}, words = {0};
		codegen_options(t[i].ways, ";", &options);
		codegen_words(t[i].ways, &words);
		CHECK_STR(options.len ? options.data : "", t[i].options);
		CHECK_STR(words.len ? words.data : "", t[i].words);
		CHECK_INT(codegen_read(t[i].options), t[i].ways);
		buf_release(&options);
		buf_release(&words);
	}
}

/* Only the ways of compiling that say so ask for what the device was told, when it was opened or later. */
static void it_is_asked_for_by_name(void)
{
	for (uint32_t ways = 0; ways < 4; ways++) {
		struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .codegen = ways ^ 1};
		struct buf program = {0};
		struct compiled c;
		struct err err = {{0}};
		struct device *d;

		d = device_open(&o, &err);
		CHECK_STR(err.text, "");
		if (!CHECK(d))
			return;
		fixture_program("us=20;needs=vector", &program);
		for (unsigned i = 0; i <= 2 * COMPILE_CODEGEN_OWN + 1; i++) {
			enum compile_how how = i % (COMPILE_CODEGEN_OWN + 1);
			bool later = i > COMPILE_CODEGEN_OWN, told = (later ? ways : ways ^ 1) & 1;
			if (later)
				device_codegen(d, ways);
			CHECK_INT(device_compile(d, how, "hlo", program.data, program.len, 0, &c, &err), 0);
			CHECK_INT(c.outcome, told && how >= COMPILE_CODEGEN ? OUTCOME_OK : OUTCOME_REFUSED);
			compiled_release(&c);
		}
		buf_release(&program);
		device_close(d);
	}
}

int main(void)
{
	if (fixture_begin()) {
		RUN(flags_are_whole_words);
		RUN(ways_are_written_and_read);
		RUN(it_is_asked_for_by_name);
		remove(processor);
		CHECK_INT(fixture_leftovers(), 0);
	} else {
		printf("skip: codegen: no fake plugin without the plugin's header\n");
	}
	fixture_end();
	return test_done();
}
