/*
 * text_damage.h - real HLO text, cut short and with bits flipped.
 *
 * A text that ends early is an error with a sentence, and leaves nothing behind. A text with a flipped bit is an error,
 * or still a program; then printing it must give the same program again. The files lie beside the project; a case is
 * skipped if its file is not there.
 */
#ifndef TESTS_TEXT_DAMAGE_H
#define TESTS_TEXT_DAMAGE_H

#include <stdlib.h>
#include "base/io.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "graph/print.h"
#include "tests/test.h"

#define DAMAGE_FOLDER "../shared/hlo/"

/* False where the file is not here. */
static inline bool damage_load(const char *file, struct buf *text)
{
	struct buf path = {0};
	struct err err = {0};
	buf_addf(&path, DAMAGE_FOLDER "%s", file);
	bool found = io_read_file(path.data, IO_FILE_LIMIT, text, &err) == 0;
	buf_release(&path);
	return found;
}

/* The first n bytes, in memory of exactly that size, so that a sanitizer sees any step beyond. */
static inline void damage_cut(const struct buf *text, size_t n)
{
	struct graph g;
	struct err err = {0};
	char *cut = malloc(n ? n : 1);
	memcpy(cut, text->data, n);
	if (!CHECK_INT(graph_parse(&g, cut, n, "cut", &err), -1))
		printf("taken: the first %zu bytes\n", n);
	CHECK(err.text[0] && g.n_nodes == 0 && g.mem.used == 0);
	graph_release(&g);
	free(cut);
}

/* Every step-th prefix that is not the whole program. */
static inline void damage_cuts(const char *file, size_t step)
{
	struct buf text = {0};
	if (!damage_load(file, &text))
		SKIP("no " DAMAGE_FOLDER " here");
	size_t end = text.len;
	while (end && text.data[end - 1] != '}')
		end--;
	for (size_t n = 0; n < end; n += step)
		damage_cut(&text, n);
	buf_release(&text);
}

/* What was read from a damaged text is printed as the same program. */
static inline void damage_same_again(const struct graph *g, size_t at, int bit)
{
	struct graph again;
	struct err err = {0};
	struct buf printed = {0};
	hlo_print(g, &printed);
	if (!CHECK_INT(graph_parse(&again, printed.data, printed.len, "printed", &err), 0) ||
		!CHECK(memcmp(&again.content, &g->content, sizeof(g->content)) == 0))
		printf("byte %zu, bit %d: %s\n", at, bit, err.text);
	graph_release(&again);
	buf_release(&printed);
}

/* `count` single bits anywhere; how many of them leave a program is printed. */
static inline void damage_flips(const char *file, unsigned count)
{
	struct buf text = {0};
	struct rng r;
	unsigned taken = 0;
	if (!damage_load(file, &text))
		SKIP("no " DAMAGE_FOLDER " here");
	rng_seed(&r, 1);
	for (unsigned i = 0; i < count; i++) {
		struct graph g;
		struct err err = {0};
		size_t at = (size_t)rng_below(&r, text.len);
		int bit = (int)rng_below(&r, 8);
		text.data[at] ^= (char)(1 << bit);
		int rc = graph_parse(&g, text.data, text.len, "flipped", &err);
		if (rc == 0)
			damage_same_again(&g, at, bit);
		else
			CHECK(err.text[0] && g.n_nodes == 0);
		taken += rc == 0;
		graph_release(&g);
		text.data[at] ^= (char)(1 << bit);
	}
	/* Most bits are in names and comments of some kind: were all refused, nothing was tested. */
	CHECK(taken > count / 20 && taken < count);
	buf_release(&text);
}

#endif
