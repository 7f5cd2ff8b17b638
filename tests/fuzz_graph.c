/*
 * fuzz_graph.c - any bytes as a program: refused with a sentence, or a graph of which everything can be
 * made that we make of one (consume.h). Half of the changes are made to the message, half to its bytes.
 */
#include "hlo/module.h"
#include "tests/consume.h"
#include "tests/fuzz.h"
#include "tests/mutate.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct buf out = {0};
	size_t n = 0;
	if (seed % 4 && size && mutate_module(data, size, seed, &out) && out.len && out.len <= max_size) {
		memcpy(data, out.data, out.len);
		n = out.len;
	}
	buf_release(&out);
	return n ? n : LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct graph g = {0};
	struct err err = {0};
	bool text = hlo_sniff(data, size) == HLO_TEXT;
	if (graph_parse(&g, data, size, "fuzz", &err) == 0) {
		consume(&g, text, hash64(data, size, 0));
		graph_release(&g);
	} else {
		BUG_ON(!err.text[0] || g.node);
	}
	return 0;
}
