/* check_transforms.c - which programs have Fourier transforms that may run at once, and their options. */
#include "device/codegen.h"
#include "graph/transforms.h"
#include "tests/test.h"

#define FFT "c64[8] fft("
#define AS "), fft_type=FFT, fft_length={8}\n"
#define INNER "inner {\n p = c64[8] parameter(0)\n ROOT t = " FFT "p" AS "}\n"
#define PLAIN "plain {\n p = c64[8] parameter(0)\n ROOT t = c64[8] negate(p)\n}\n"

static const struct {
	const char *what, *before, *body;
	bool at_once;
} programs[] = {
	{"none", "", " ROOT r = c64[8] negate(x)\n", false},
	{"one", "", " ROOT r = " FFT "x" AS, false},
	{"two of one input", "", " a = " FFT "x" AS " b = " FFT "x" AS " ROOT r = c64[8] add(a, b)\n", true},
	{"a row", "", " a = " FFT "x" AS " b = c64[8] negate(a)\n c = " FFT "b" AS " ROOT r = " FFT "c" AS, false},
	{"a row that forks at its end", "", " a = " FFT "x" AS " b = " FFT "a" AS " c = " FFT "a" AS
		" ROOT r = c64[8] add(b, c)\n", true},
	{"a row beside what waits for its first only", "", " a = " FFT "x" AS " b = " FFT "a" AS
		" c = c64[8] negate(a)\n d = " FFT "c" AS " ROOT r = c64[8] add(b, d)\n", true},
	{"a call and what waits for it", INNER, " a = c64[8] call(x), to_apply=inner\n ROOT r = " FFT "a" AS, false},
	{"a call and what does not", INNER, " a = c64[8] call(x), to_apply=inner\n b = " FFT "x" AS
		" ROOT r = c64[8] add(a, b)\n", true},
	{"a call without any, beside one", PLAIN, " a = c64[8] call(x), to_apply=plain\n b = " FFT "x" AS
		" ROOT r = c64[8] add(a, b)\n", false},
	{"two in what is called", "inner {\n p = c64[8] parameter(0)\n a = " FFT "p" AS " b = " FFT "p" AS
		" ROOT t = c64[8] add(a, b)\n}\n", " ROOT r = c64[8] call(x), to_apply=inner\n", true},
};

static void what_may_run_at_once(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		const char *needed = programs[i].at_once ? "xla_cpu_multi_thread_eigen=false" : "";
		struct buf text = {0}, module = {0};
		struct graph g = {0};
		struct err err = {{0}};

		buf_addf(&text, "HloModule m\n%sENTRY main {\n x = c64[8] parameter(0)\n%s}\n", programs[i].before,
			programs[i].body);
		CHECK_INT(graph_parse(&g, text.data, text.len, "made", &err), 0);
		CHECK_STR(err.text, "");
		if (!CHECK(transforms_at_once(&g) == programs[i].at_once))
			printf("of %s\n", programs[i].what);
		graph_write(&g, &module);
		CHECK_STR(codegen_needed("cpu", module.data, module.len), needed);
		CHECK_STR(codegen_needed("cuda", module.data, module.len), "");
		CHECK_STR(codegen_needed("cpu", module.data, module.len / 2), ""); /* no program */
		graph_release(&g);
		buf_release(&text);
		buf_release(&module);
	}
}

int main(void)
{
	RUN(what_may_run_at_once);
	return test_done();
}
