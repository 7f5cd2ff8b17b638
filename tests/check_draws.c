/*
 * check_draws.c - which programs draw random numbers: those with an instruction or a call for it, and not those in
 * which something is only named so.
 */
#include "hlo/draws.h"
#include "hlo/pack.h"
#include "hlo/text/text.h"
#include "tests/test.h"

static void what_is_named_so_draws_nothing(void)
{
	static const struct {
		const char *body;
		bool draws;
	} table[] = {
		{"ROOT y = f32[4] negate(x)", false},
		{"rng = f32[4] abs(x)\n"
		 "  ROOT y = f32[4] negate(rng), metadata={op_name=\"jit(f)/rng-bit-generator\"}", false},
		{"ROOT y = f32[4] custom-call(x), custom_call_target=\"sort\", backend_config=\"rng\"", false},
		{"ROOT y = f32[4] custom-call(x), custom_call_target=\"my_rng_f32\"", true},
		{"l = f32[] constant(0)\n  h = f32[] constant(1)\n"
		 "  ROOT y = f32[4] rng(l, h), distribution=rng_uniform", true},
		{"s = u64[2] constant({1, 2})\n"
		 "  ROOT y = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_default", true},
		{"ROOT y = u64[1] rng-get-and-update-state(), delta=1", true},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena mem = {0};
		struct buf text = {0}, bytes = {0};
		struct err err = {0};
		Hlo__HloModuleProto *m;
		buf_addf(&text, "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  %s\n}\n", table[i].body);
		m = hlo_text_parse(&mem, text.data, text.len, "text", &err);
		if (m)
			pack_message(&m->base, &bytes);
		if (!CHECK(m && hlo_draws(bytes.data, bytes.len) == table[i].draws))
			printf("  of %s: %s\n", table[i].body, err.text);
		arena_release(&mem);
		buf_release(&text);
		buf_release(&bytes);
	}
	CHECK(hlo_draws("no program of rng", 17));
}

int main(void)
{
	RUN(what_is_named_so_draws_nothing);
	return test_done();
}
