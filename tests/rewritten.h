/*
 * rewritten.h - what becomes of a small program if all its places follow the rules that a test names.
 */
#ifndef TESTS_REWRITTEN_H
#define TESTS_REWRITTEN_H

#include <string.h>
#include "space/rewrite/own.h"
#include "tests/test.h"

#define ALL_RULES "rewrite/with:one-pass-variance" /* those, too, that wait until they are asked for */

/* The site's first choice that follows one of the rules; 0: it stays as it is. */
static inline uint8_t choice_by(struct space *s, uint32_t site, const char *const *rule, size_t n)
{
	for (uint8_t k = 1; k < s->site[site].choices; k++)
		for (size_t i = 0; i < n; i++)
			if (strcmp(rewrite_rule(s, rewrite_offer(s, site, k))->name, rule[i]) == 0)
				return k;
	return 0;
}

/* Reads the program, rewrites it and reads that; false with a sentence if one of these fails. */
static inline bool rewritten(struct graph *after, const char *text, const char *const *rule, size_t n)
{
	struct graph g = {0};
	struct buf out = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint8_t config[64] = {0};
	bool done;

	*after = (struct graph){0};
	if (graph_parse(&g, text, strlen(text), "text", &err) == 0)
		s = space_open(ALL_RULES, "cpu", &g, NULL, 0, &err);
	for (uint32_t i = 0; s && i < s->n_sites && i < sizeof config; i++)
		config[i] = choice_by(s, i, rule, n);
	done = s && s->n_sites > 0 && s->n_sites <= sizeof config && s->ops->apply(s, config, &out, &err) == 0 &&
	       graph_parse(after, out.data, out.len, "after", &err) == 0;
	if (!done)
		printf("\t%s, in\n%s", err.text, text);
	space_free(s);
	graph_release(&g);
	buf_release(&out);
	return done;
}

static inline int count_op(const struct graph *g, uint16_t opcode)
{
	int n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += g->node[v].opcode == opcode;
	return n;
}

#endif
