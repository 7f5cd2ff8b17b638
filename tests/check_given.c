/*
 * check_given.c - the user's own inputs: what a file holds is read, a program that does not take it is refused, and so
 * is a damaged file.
 */
#include "base/io.h"
#include "device/given.h"
#include "hlo/op.h"
#include "tests/test.h"
#include "tests/given_file.h"

static char *folder;

static void what_was_written_is_read(void)
{
	const char *path = made_path(folder, "in.npz");
	int64_t square[] = {GIVEN_SIDE, GIVEN_SIDE}, other[] = {GIVEN_SIDE, 2 * GIVEN_SIDE};
	struct err err = {{0}};
	struct given *g;
	int32_t turns = 0;
	float x[GIVEN_SIDE * GIVEN_SIDE];

	given_write(path);
	g = given_open(path, &err);
	if (!CHECK(g != NULL)) {
		printf("\t%s\n", err.text);
		return;
	}
	CHECK_INT(given_count(g), 2);
	if (CHECK(given_values(g, 0, DT_F32, 2, square) != NULL)) {
		memcpy(x, given_values(g, 0, DT_F32, 2, square), sizeof x);
		CHECK_NEAR(x[7], 0.07, 1e-7);
	}
	if (CHECK(given_values(g, 1, DT_S32, 0, NULL) != NULL)) {
		memcpy(&turns, given_values(g, 1, DT_S32, 0, NULL), sizeof turns);
		CHECK_INT(turns, GIVEN_TURNS);
	}
	CHECK(!given_values(g, 0, DT_S32, 2, square) && !given_values(g, 0, DT_F32, 2, other));
	CHECK(!given_values(g, 0, DT_F32, 1, square) && !given_values(g, 2, DT_S32, 0, NULL));
	given_close(g);
}

/* What NumPy has no name for may lie there as whole numbers of its size; what it has a name for may not. */
static void bits_are_taken(void)
{
	const char *path = made_path(folder, "bits.npz");
	int64_t three[] = {3};
	struct err err = {{0}};
	struct npz z = {0};
	struct given *g;

	CHECK(npz_open(&z, path, &err) == 0);
	CHECK(npz_array(&z, "arr_0", "<u2", (uint64_t[]){3}, 1, &err) == 0);
	CHECK(npz_data(&z, (uint16_t[]){1, 2, 3}, 6, &err) == 0);
	CHECK(npz_close(&z, &err) == 0);
	g = given_open(path, &err);
	if (!CHECK(g != NULL))
		return;
	CHECK(given_values(g, 0, DT_BF16, 1, three) && given_values(g, 0, DT_U16, 1, three));
	CHECK(!given_values(g, 0, DT_F16, 1, three) && !given_values(g, 0, DT_S16, 1, three));
	CHECK(!given_values(g, 0, DT_F8E4M3FN, 1, three) && !given_values(g, 0, DT_F32, 1, three));
	given_close(g);
}

/* Does a program with this in the place of that take the file? The sentence has to say so much. */
static void fits(const struct given *g, const char *this, const char *that, const char *sentence)
{
	struct buf text = {0};
	struct graph program;
	struct err err = {{0}};
	const char *at = strstr(given_text, that);

	buf_addf(&text, "%.*s%s%s", (int)(at - given_text), given_text, this, at + strlen(that));
	if (CHECK(graph_parse(&program, text.data, text.len, "text", &err) == 0)) {
		CHECK_INT(given_fits(g, &program, &err), *sentence ? -1 : 0);
		if (*sentence && !CHECK(strstr(err.text, sentence) != NULL))
			printf("\t%s\n", err.text);
		graph_release(&program);
	} else {
		printf("\t%s\n", err.text);
	}
	buf_release(&text);
}

static void a_program_of_other_parameters_is_refused(void)
{
	struct err err = {{0}};
	struct given *g = given_open(made_path(folder, "in.npz"), &err);

	if (!CHECK(g != NULL))
		return;
	fits(g, "main", "main", "");
	fits(g, "  more = f32[] parameter(2)\n  x = f32[4,4] parameter(0)\n", "  x = f32[4,4] parameter(0)\n",
		"2 arrays, and the program has 3 parameters");
	fits(g, "  u = u32[] parameter(1)\n  n = s32[] convert(u)\n", "  n = s32[] parameter(1)\n",
		"array 1 is s32[], and parameter 1 of the program u32[]");
	given_close(g);
}

static void refused(const char *path, const char *sentence)
{
	struct err err = {{0}};

	CHECK(!given_open(path, &err));
	if (!CHECK(strstr(err.text, sentence) != NULL))
		printf("\t%s\n", err.text);
}

/* Whatever is wrong with the bytes, the file is refused, or read as what it then says; nothing is read beyond it. */
static void damage_is_refused(void)
{
	const char *path = made_path(folder, "in.npz"), *bad = made_path(folder, "bad.npz");
	struct buf file = {0};
	struct err err = {{0}};
	unsigned read = 0;

	refused(made_path(folder, "none.npz"), "cannot be read");
	if (!CHECK(io_read_file(path, 1 << 20, &file, &err) == 0))
		return;
	for (size_t n = 0; n < file.len; n += 7) {
		CHECK(io_write_file(bad, file.data, n, &err) == 0);
		CHECK(!given_open(bad, &err));
	}
	for (size_t i = 0; i < file.len; i++) {
		struct given *g;
		file.data[i] = (char)~file.data[i];
		CHECK(io_write_file(bad, file.data, file.len, &err) == 0);
		g = given_open(bad, &err);
		read += g != NULL;
		given_close(g);
		file.data[i] = (char)~file.data[i];
	}
	CHECK(read < file.len);
	CHECK(io_write_file(bad, "hello", 5, &err) == 0);
	refused(bad, "is no .npz file");
	buf_release(&file);
}

int main(void)
{
	struct err ignored;

	folder = made_folder();
	if (!folder)
		return 1;
	RUN(what_was_written_is_read);
	RUN(bits_are_taken);
	RUN(a_program_of_other_parameters_is_refused);
	RUN(damage_is_refused);
	io_remove_tree(folder, &ignored);
	mem_free(folder);
	return test_done();
}
