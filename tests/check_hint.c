/*
 * check_hint.c - what else could be decided about a program is said where it is worth a word, and not elsewhere.
 */
#include "search/hint.h"
#include "tests/test.h"

/* A depthwise layer. */
static const char program[] =
	"HloModule m\n\nENTRY e {\n"
	"  x = f32[1,60,60,32] parameter(0)\n  k = f32[3,3,1,32] parameter(1)\n"
	"  ROOT y = f32[1,60,60,32] convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
	"dim_labels=b01f_01io->b01f, feature_group_count=32\n}\n";
static const char nothing[] = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] sine(x)\n}\n";

/* What is said to somebody who searches this kind in a program that takes so many seconds. */
static struct buf said(const char *text, const char *kind, enum quantity quantity, double seconds)
{
	struct lab lab = {.quantity = quantity};
	struct graph g;
	struct err err = {0};
	struct buf out = {0};

	lab.subject.name = (char *)"m";
	buf_adds(&lab.subject.original, text);
	if (CHECK_INT(graph_parse(&g, text, strlen(text), "m", &err), 0)) {
		lab.space = space_open(kind, "cpu", &g, NULL, 0, &err);
		if (CHECK(lab.space != NULL))
			hint_other(&lab, seconds, &out);
		space_free(lab.space);
		graph_release(&g);
	}
	buf_release(&lab.subject.original);
	return out;
}

static void other_kinds_are_named_where_they_promise(void)
{
	static const struct {
		const char *text, *kind;
		enum quantity quantity;
		double seconds;
		const char *says; /* NULL: nothing */
	} table[] = {
		{program, "fusion", QUANTITY_SECONDS, 1e-6, "1 place of the program"},
		{program, "fusion", QUANTITY_SECONDS, 1e-6, "--space rewrite,fusion tries both"},
		{program, "fusion", QUANTITY_SECONDS, 1e6, NULL},
		{program, "fusion", QUANTITY_BYTES, 1e-6, NULL},
		{program, "rewrite", QUANTITY_SECONDS, 1e-6, NULL},
		{nothing, "fusion", QUANTITY_SECONDS, 1e-6, NULL},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf out = said(table[i].text, table[i].kind, table[i].quantity, table[i].seconds);
		if (!CHECK(table[i].says ? out.len && strstr(out.data, table[i].says) : !out.len))
			printf("\trow %zu: \"%s\"\n", i, out.len ? out.data : "");
		buf_release(&out);
	}
}

int main(void)
{
	RUN(other_kinds_are_named_where_they_promise);
	return test_done();
}
