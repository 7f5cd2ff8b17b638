/*
 * fuzz_sample.c - any bytes are a sample's costs or a trial's flips that encode to what decodes the
 * same, or are refused.
 */
#include "tests/fuzz.h"

#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "store/code.h"

#define SITES 300

static void costs(const uint8_t *data, size_t size)
{
	struct sample x = {0}, y = {0};
	struct buf b = {0};
	uint16_t proof, again;

	if (decode_costs(data, size, &x, &proof) < 0)
		return;
	BUG_ON(x.n_choices < 1 || x.n_choices > STORE_CHOICES);
	code_costs(&x, proof, &b);
	BUG_ON(decode_costs(b.data, b.len, &y, &again) < 0 || again != proof || y.n_choices != x.n_choices);
	for (int i = 0; i < x.n_choices; i++) {
		BUG_ON(x.choice[i].outcome != y.choice[i].outcome || x.choice[i].outcome >= OUTCOME_COUNT);
		BUG_ON(x.choice[i].outcome == OUTCOME_OK && x.choice[i].delta != y.choice[i].delta);
	}
	buf_release(&b);
}

static void flips(const uint8_t *data, size_t size)
{
	uint8_t choices[SITES];
	struct flip *v = NULL, *w = NULL;
	size_t cap_v = 0, cap_w = 0;
	uint32_t n, k;
	uint16_t proof, again;
	struct buf b = {0};

	memset(choices, 8, sizeof choices);
	if (decode_flips(data, size, choices, SITES, &v, &cap_v, &n, &proof) == 0) {
		for (uint32_t i = 0; i < n; i++)
			BUG_ON(v[i].site >= SITES || v[i].choice >= 8 || (i && v[i].site <= v[i - 1].site));
		code_flips(v, n, proof, &b);
		BUG_ON(decode_flips(b.data, b.len, choices, SITES, &w, &cap_w, &k, &again) < 0 || k != n ||
			again != proof);
		for (uint32_t i = 0; i < n; i++)
			BUG_ON(v[i].site != w[i].site || v[i].choice != w[i].choice);
	}
	mem_free(v);
	mem_free(w);
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	costs(data, size);
	flips(data, size);
	return 0;
}
