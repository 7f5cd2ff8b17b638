/*
 * fuzz_net.c - any bytes are a net that is written and read back the same, or are refused.
 */
#include "tests/fuzz.h"

#include <string.h>
#include "space/net/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct network net, again;
	struct buf text = {0};
	struct err err = {0};

	if (network_parse(&net, data, size, &err) < 0) {
		BUG_ON(!err.text[0]);
		network_release(&net);
		return 0;
	}
	uint32_t *x = MEM_NEW(net.n_nodes + 1, uint32_t);
	for (uint32_t i = 0; i < net.n_nodes; i++)
		x[i] = network_choices(&net, i) - 1;
	struct network_value v = network_value(&net, x);
	network_write(&net, &text);
	BUG_ON(network_parse(&again, text.data, text.len, &err) < 0);
	struct network_value w = network_value(&again, x);
	BUG_ON(v.cost != w.cost || v.never != w.never || v.peak != w.peak || v.over != w.over);
	BUG_ON(network_feasible(&net, &v) != network_feasible(&again, &w));
	network_release(&net);
	network_release(&again);
	buf_release(&text);
	mem_free(x);
	return 0;
}
