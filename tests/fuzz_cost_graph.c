/*
 * fuzz_cost_graph.c - any bytes as a CostGraphDef: refused with a sentence that names the line, or a program of which
 * everything can be made that we make of one (consume.h).
 */
#include "base/buf.h"
#include "hlo/text/cost_graph.h"
#include "tests/consume.h"
#include "tests/fuzz.h"

#define LONGEST 4096 /* bytes: a byte of text can become a hundred of program */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct graph g = {0};
	struct buf hlo = {0};
	struct err err = {0};

	if (size > LONGEST)
		return 0;
	if (cost_graph_read((const char *)data, size, "fuzz", &hlo, &err) < 0)
		BUG_ON(!strstr(err.text, "fuzz"));
	else if (graph_parse(&g, hlo.data, hlo.len, "fuzz", &err) == 0)
		consume(&g, true, hash64(data, size, 0));
	graph_release(&g);
	buf_release(&hlo);
	return 0;
}
