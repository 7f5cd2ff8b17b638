/*
 * fuzz_unpack.c - any bytes unpack to no more than the limit, or are refused with a sentence.
 */
#include "tests/fuzz.h"

#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = {0};
	struct err err = {0};
	size_t limit = 1 << 20;
	if (io_unpack(data, size, limit, &out, &err) == 0)
		BUG_ON(out.len > limit);
	else
		BUG_ON(out.len != 0 || !err.text[0]);
	buf_release(&out);
	return 0;
}
