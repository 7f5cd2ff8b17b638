/*
 * fuzz_graph.c - any bytes as a program: refused with a sentence, or a graph that can be hashed,
 * described, written and read again as the same program.
 */
#include <string.h>
#include "base/err.h"
#include "graph/describe.h"
#include "graph/graph.h"
#include "tests/fuzz.h"

static void use(const struct graph *g)
{
	struct buf text = {0}, again = {0};
	struct graph h = {0};
	struct err err = {0};
	uint64_t *hash = MEM_NEW(g->n_nodes, uint64_t);
	graph_structural_hash(g, hash);
	describe_text(g, &text);
	graph_write(g, &again);
	if (graph_parse(&h, again.data, again.len, "again", &err) < 0)
		BUG("what was written is refused: %s", err.text);
	BUG_ON(memcmp(&g->content, &h.content, sizeof(g->content)) != 0 || g->n_nodes != h.n_nodes);
	graph_release(&h);
	mem_free(hash);
	buf_release(&text);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct graph g = {0};
	struct err err = {0};
	if (graph_parse(&g, data, size, "fuzz", &err) == 0) {
		use(&g);
		graph_release(&g);
	} else {
		BUG_ON(!err.text[0] || g.node);
	}
	return 0;
}
