/*
 * full_given.c - a program runs on the user's own inputs: its loop turns as often as they say, where made-up ones would
 * make it turn a few times; a program that does not take them is refused before it is compiled.
 */
#include "base/io.h"
#include "ready/subject.h"
#include "tests/test.h"
#include "tests/given_file.h"

static char *folder;

static double turns_of(const char *inputs, struct err *err)
{
	struct device_options o = {.wait = true, .deadline = PATIENT, .seed = 1, .inputs = inputs};
	struct device *d = device_open(&o, err);
	struct subject s;
	double turns = -1;

	if (!d)
		return -2;
	if (subject_open(&s, made_path(folder, "program.txt"), "fusion", d, err) == 0) {
		for (uint32_t v = 0; v < s.graph.n_nodes; v++)
			if (s.graph.node[v].opcode == OP_WHILE)
				turns = s.graph.node[v].trip_count;
		subject_release(&s);
	}
	device_close(d);
	return turns;
}

static void loops_turn_as_given(void)
{
	struct err err = {{0}};
	double made_up = turns_of(NULL, &err);

	if (made_up == -2)
		SKIP(err.text);
	CHECK(made_up >= 0 && made_up <= 7);
	CHECK_NEAR(turns_of(made_path(folder, "in.npz"), &err), GIVEN_TURNS, 0);
}

static void what_does_not_fit_is_refused(void)
{
	static const char text[] = "HloModule m\nENTRY main {\n  ROOT x = f32[] parameter(0)\n}\n";
	struct err err = {{0}};
	double turns;

	CHECK(io_write_file(made_path(folder, "program.txt"), text, sizeof text - 1, &err) == 0);
	turns = turns_of(made_path(folder, "in.npz"), &err);
	if (turns == -2)
		SKIP(err.text);
	CHECK(turns == -1);
	if (!CHECK(strstr(err.text, "2 arrays, and the program has 1 parameter") != NULL))
		printf("\t%s\n", err.text);
}

int main(void)
{
	struct err err;

	folder = made_folder();
	if (!folder)
		return 1;
	given_write(made_path(folder, "in.npz"));
	CHECK(io_write_file(made_path(folder, "program.txt"), given_text, sizeof given_text - 1, &err) == 0);
	RUN(loops_turn_as_given);
	RUN(what_does_not_fit_is_refused);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
