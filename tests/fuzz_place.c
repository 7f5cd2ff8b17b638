/*
 * fuzz_place.c - any bytes are a placement problem that every quick strategy places, or are refused.
 */
#include "tests/fuzz.h"

#include "space/place/placing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct place p;
	struct err err = {0};
	struct buf text = {0};

	if (place_parse(&p, data, size, &err) < 0) {
		BUG_ON(!err.text[0]);
		return 0;
	}
	for (int goal = PLACE_LOAD; goal <= PLACE_LATENCY && p.n_nodes < 200; goal++)
		for (int s = 0; s < PLACING_COUNT; s++) {
			struct placing_options o = {.strategy = (enum placing_strategy)s, .goal = (enum place_goal)goal,
				.steps = 20};
			struct placing_result r;
			placing_solve(&p, &o, &r);
			BUG_ON(r.cost < place_cost(&p, o.goal, r.device) - 1e-6 * r.cost);
			placing_result_release(&r);
		}
	uint32_t *device = MEM_NEW(p.n_nodes + 1, uint32_t);
	place_write(&p, PLACE_LOAD, device, &text);
	mem_free(device);
	buf_release(&text);
	place_release(&p);
	return 0;
}
