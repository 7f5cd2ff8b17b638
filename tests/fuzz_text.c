/*
 * fuzz_text.c - any text is refused with a sentence and a caret, or becomes a message; if that makes
 * a graph, everything can be made of it that we make of one, and it prints as itself (consume.h).
 */
#include "tests/fuzz.h"

#include "hlo/module.h"
#include "hlo/text/text.h"
#include "tests/consume.h"

static void use(const uint8_t *data, size_t size)
{
	struct graph g = {0};
	struct err err = {0};
	if (hlo_sniff(data, size) == HLO_TEXT && graph_parse(&g, data, size, "input", &err) == 0)
		consume(&g, true, hash64(data, size, 0));
	graph_release(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena mem = {0};
	struct err err = {0};
	Hlo__HloModuleProto *m = hlo_text_parse(&mem, (const char *)data, size, "input", &err);
	BUG_ON(!m && (!strchr(err.text, '^') || !strstr(err.text, "input:")));
	arena_release(&mem);
	use(data, size);
	return 0;
}
