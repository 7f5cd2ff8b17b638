/*
 * fuzz_text.c - any text is refused with a sentence and a caret, or becomes a message; if that makes
 * a graph, the graph prints to text that is read again.
 */
#include "tests/fuzz.h"

#include <string.h>
#include "graph/graph.h"
#include "graph/hlo_print.h"
#include "graph/hlo_text.h"

/* A program that was read is written so that it is read again, as one with as many instructions. */
static void print_and_read(const uint8_t *data, size_t size)
{
	struct graph g = {0}, again = {0};
	struct err err = {0};
	struct buf b = {0};
	if (graph_sniff(data, size) == GRAPH_HLO_TEXT && graph_parse(&g, data, size, "input", &err) == 0) {
		hlo_print(&g, &b);
		int rc = graph_parse(&again, b.data, b.len, "printed", &err);
		BUG_ON(rc == 0 && again.n_nodes != g.n_nodes);
	}
	buf_release(&b);
	graph_release(&g);
	graph_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena mem = {0};
	struct err err = {0};
	Hlo__HloModuleProto *m = hlo_text_parse(&mem, (const char *)data, size, "input", &err);
	BUG_ON(!m && (!strchr(err.text, '^') || !strstr(err.text, "input:")));
	arena_release(&mem);
	print_and_read(data, size);
	return 0;
}
