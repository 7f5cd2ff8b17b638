/*
 * fuzz_text.c - any text is refused with a sentence and a caret, or becomes a message; if that makes
 * a graph, the graph prints to text that is read again as the same program.
 */
#include "tests/fuzz.h"

#include <string.h>
#include "graph/graph.h"
#include "graph/print.h"
#include "hlo/module.h"
#include "hlo/text/text.h"

static void print_and_read(const uint8_t *data, size_t size)
{
	struct graph g = {0}, again = {0};
	struct err err = {0};
	struct buf b = {0};
	if (hlo_sniff(data, size) == HLO_TEXT && graph_parse(&g, data, size, "input", &err) == 0) {
		hlo_print(&g, &b);
		if (graph_parse(&again, b.data, b.len, "printed", &err) < 0)
			BUG("what we printed is refused: %s", err.text);
		BUG_ON(memcmp(&again.content, &g.content, sizeof(g.content)) != 0);
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
