/*
 * full_text_plugin.c - real programs as text and as message are one program: equal content hashes,
 * and the compiler makes the same of both, on XLA:CPU.
 *
 * The messages were made from the texts by XLA's own reader. If a text leaves out the values of a constant,
 * "constant({...})", that reader makes values up, which depend on what its process has read before. For these constants
 * we take the values of the message, and only compare shape and place. Everything else must be equal.
 */
#include <glob.h>
#include "base/io.h"
#include "graph/graph.h"
#include "graph/print.h"
#include "tests/optimised.h"

#define REAL "../shared/hlo/*.hlo"

static struct device *device;

/* The name of the instruction on whose line `at` is, in `name`. */
static void name_of_line(const char *text, const char *at, char *name, size_t size)
{
	while (at > text && at[-1] != '\n')
		at--;
	at += strspn(at, " \t");
	if (strncmp(at, "ROOT ", 5) == 0)
		at += 5;
	at += *at == '%';
	snprintf(name, size, "%.*s", (int)strcspn(at, " "), at);
}

/* Takes the values that the text leaves out from the message. Returns how many constants; -1: one is not in both. */
static int take_over(const char *text, const struct graph *from, struct graph *to)
{
	int n = 0;
	for (const char *at = text; (at = strstr(at, "constant({...})")); at++, n++) {
		char name[200];
		name_of_line(text, at, name, sizeof(name));
		uint32_t a = graph_find(from, name), b = graph_find(to, name);
		if (!CHECK(a != NONE && b != NONE) || !CHECK_INT(from->node[a].opcode, OP_CONSTANT) ||
			!CHECK_INT(from->node[a].bytes, to->node[b].bytes)) {
			printf("constant %s\n", name);
			return -1;
		}
		to->node[b].proto->literal = from->node[a].proto->literal;
	}
	return n;
}

static bool same_content(const struct graph *a, const struct graph *b)
{
	return memcmp(&a->content, &b->content, sizeof(a->content)) == 0;
}

static void compare(const char *path, const struct buf *text, const struct buf *message)
{
	struct graph of_text = {0}, of_message = {0}, filled = {0};
	struct buf bytes = {0};
	struct err err = {0};
	if (!CHECK(graph_parse(&of_text, text->data, text->len, path, &err) == 0 &&
		    graph_parse(&of_message, message->data, message->len, path, &err) == 0)) {
		printf("%s\n", err.text);
		goto out;
	}
	int left_out = take_over(text->data, &of_message, &of_text);
	graph_write(&of_text, &bytes);
	if (left_out < 0 || !CHECK(graph_parse(&filled, bytes.data, bytes.len, path, &err) == 0))
		goto out;
	bool equal = CHECK(same_content(&filled, &of_message));
	if (left_out == 0)
		equal &= CHECK(same_content(&of_text, &of_message));
	uint64_t a = optimised(device, &bytes), b = optimised(device, message);
	equal &= CHECK(a != 0 && a == b);
	if (!equal)
		printf("of %s, with %d constants left out\n", path, left_out);
out:
	graph_release(&of_text);
	graph_release(&of_message);
	graph_release(&filled);
	buf_release(&bytes);
}

static void text_compiles_to_the_same_program(void)
{
	glob_t found;
	if (glob(REAL, 0, NULL, &found) != 0)
		SKIP("no real programs at " REAL);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct buf text = {0}, message = {0}, path = {0};
		struct err err = {0};
		const char *hlo = found.gl_pathv[i];
		buf_addf(&path, "%.*s.pb", (int)(strlen(hlo) - strlen(".hlo")), hlo);
		if (!CHECK(io_read_file(hlo, IO_FILE_LIMIT, &text, &err) == 0 &&
			    io_read_file(path.data, IO_FILE_LIMIT, &message, &err) == 0))
			printf("%s\n", err.text);
		else
			compare(hlo, &text, &message);
		buf_release(&text);
		buf_release(&message);
		buf_release(&path);
	}
	globfree(&found);
}

/* The hashes can differ: if one operation of a text is replaced, neither hash is the same. A small text shows that. */
static void another_text_is_told_apart(void)
{
	struct buf text = {0}, altered = {0}, bytes[2];
	struct graph g[2];
	struct err err = {0};
	const char *at;
	memset(g, 0, sizeof(g));
	memset(bytes, 0, sizeof(bytes));
	CHECK(graph_read(&g[0], "examples/graphs/tiny/attention.pb.zst", &err) == 0);
	hlo_print(&g[0], &text);
	graph_release(&g[0]);
	if (CHECK((at = strstr(text.data, " add(")) != NULL))
		buf_addf(&altered, "%.*s subtract(%s", (int)(at - text.data), text.data, at + strlen(" add("));
	CHECK(graph_parse(&g[0], text.data, text.len, "text", &err) == 0);
	CHECK(graph_parse(&g[1], altered.data, altered.len, "altered", &err) == 0);
	CHECK(!same_content(&g[0], &g[1]));
	for (int i = 0; i < 2; i++)
		graph_write(&g[i], &bytes[i]);
	uint64_t a = optimised(device, &bytes[0]), b = optimised(device, &bytes[1]);
	CHECK(a && b && a != b);
	for (int i = 0; i < 2; i++) {
		graph_release(&g[i]);
		buf_release(&bytes[i]);
	}
	buf_release(&text);
	buf_release(&altered);
}

int main(void)
{
	struct device_options o = {.backend = "cpu", .wait = true, .deadline = PATIENT};
	struct err err = {0};
	device = device_open(&o, &err);
	if (!device) {
		printf("skip: text_plugin: %s\n", err.text);
		return 0;
	}
	RUN(text_compiles_to_the_same_program);
	RUN(another_text_is_told_apart);
	device_close(device);
	return test_done();
}
