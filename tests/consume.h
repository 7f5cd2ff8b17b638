/*
 * consume.h - does everything that we do with a program after reading it, for tests that read damaged programs.
 *
 * The program is hashed, described and drawn. Written or printed, and read again, it is the same program. The
 * performance model and the learner get finite numbers from it. It is opened as each kind of space: default and random
 * configurations become programs that can be read, and the choices are found in them; regions are programs, too. Its
 * loops are rewritten to be counted. Nothing may crash, and nothing may be too slow for a fuzzer; work that grows
 * faster than the program is done for a few sites only.
 */
#ifndef TESTS_CONSUME_H
#define TESTS_CONSUME_H

#include <math.h>
#include <string.h>
#include "base/rng.h"
#include "device/roofline.h"
#include "graph/describe.h"
#include "graph/dot.h"
#include "graph/print.h"
#include "graph/turns.h"
#include "learn/feature.h"
#include "space/part.h"
#include "space/space.h"

#define CONSUME_SITES 4
#define CONSUME_LOOPS 4

/* Reads a program that we wrote ourselves; it must be readable. */
static inline void consume_own(struct graph *g, const struct buf *b, const char *what)
{
	struct err err = {0};
	if (graph_parse(g, b->data, b->len, what, &err) < 0)
		BUG("%s is refused: %s", what, err.text);
}

static inline bool consume_same(const struct graph *a, const struct graph *b)
{
	return memcmp(&a->content, &b->content, sizeof(a->content)) == 0 && a->n_nodes == b->n_nodes;
}

static inline void consume_views(const struct graph *g)
{
	struct buf out = {0};
	struct json j = {.out = &out};
	struct err err = {0};
	struct roofline_scratch scratch = {0};
	uint64_t *hash = MEM_NEW(g->n_nodes, uint64_t);
	graph_structural_hash(g, hash);
	describe_text(g, &out);
	json_object(&j, NULL);
	describe_json(g, &j);
	json_end(&j);
	graph_dot(g, g->comp[g->entry].root, 2, &out, &err);
	BUG_ON(!isfinite(roofline_seconds(&roofline_default, g, &scratch)));
	roofline_scratch_release(&scratch);
	mem_free(hash);
	buf_release(&out);
}

static inline void consume_written(const struct graph *g)
{
	struct graph again = {0};
	struct buf b = {0};
	graph_write(g, &b);
	consume_own(&again, &b, "what was written");
	BUG_ON(!consume_same(g, &again));
	graph_release(&again);
	buf_release(&b);
}

/*
 * A message can hold what text cannot express (numbers without a word, unknown fields). So the text of a message may be
 * refused, or be another program. A program that was read from text is printed as the same program.
 */
static inline void consume_printed(const struct graph *g, bool from_text)
{
	struct graph again = {0};
	struct buf b = {0};
	struct err err = {0};
	hlo_print(g, &b);
	if (graph_parse(&again, b.data, b.len, "what was printed", &err) == 0) {
		BUG_ON(from_text && !consume_same(g, &again));
		if (!from_text)
			consume_printed(&again, true);
	} else if (from_text) {
		BUG("%s", err.text);
	}
	graph_release(&again);
	buf_release(&b);
}

static inline void consume_numbers(struct space *s, uint8_t *config, struct rng *r)
{
	struct scene scene;
	real flip[FLIP_FEATURES], context[NODE_CONTEXT];
	feature_open(&scene, s);
	for (uint32_t i = 0; i < scene.n_nodes * (uint32_t)NODE_FIXED; i++)
		BUG_ON(!isfinite(scene.fixed[i]));
	for (int i = 0; s->n_sites && i < CONSUME_SITES; i++) {
		uint32_t site = (uint32_t)rng_below(r, s->n_sites), node = s->site[site].node;
		uint8_t to = (uint8_t)((config[site] + 1) % s->site[site].choices);
		feature_context(&scene, config, &node, 1, context, NODE_CONTEXT);
		feature_flip(&scene, config, site, to, flip);
		for (uint32_t k = 0; k < NODE_CONTEXT; k++)
			BUG_ON(!isfinite(context[k]));
		for (uint32_t k = 0; k < FLIP_FEATURES; k++)
			BUG_ON(!isfinite(flip[k]));
	}
	feature_release(&scene);
}

/* Writes the program anew, as is done where a compiler made of it what no choice can say. */
static inline void consume_anew(struct space *s, const struct graph *after)
{
	for (int how = 0; how < 2; how++) {
		struct buf b = {0};
		struct graph anew = {0};
		uint32_t (*write)(struct space *, const struct graph *, struct buf *) =
			how ? s->ops->restate : s->ops->adopt;
		if (write && write(s, after, &b)) {
			consume_own(&anew, &b, "a program written anew");
			graph_release(&anew);
		}
		buf_release(&b);
	}
}

static inline void consume_applied(struct space *s, const uint8_t *config)
{
	struct buf b = {0};
	struct graph after = {0};
	struct check_result found;
	struct buf said = {0};
	struct err err = {0};
	if (s->ops->apply(s, config, &b, &err) < 0)
		BUG("a configuration is not applied: %s", err.text);
	consume_own(&after, &b, "an applied configuration");
	if (s->ops->check(s, config, b.data, b.len, &found, &err) < 0)
		BUG("a configuration is not checked: %s", err.text);
	if (s->ops->decode && s->ops->decode(s, &after, &said, &err) < 0)
		BUG("an applied configuration is not decoded: %s", err.text);
	consume_anew(s, &after);
	graph_release(&after);
	buf_release(&said);
	buf_release(&b);
}

static inline void consume_region(struct space *s, const uint8_t *a, const uint8_t *b)
{
	struct regions all = {0};
	struct err err = {0};
	if (s->ops->region(s, a, b, &all, &err) < 0)
		BUG("a difference has no region: %s", err.text);
	for (size_t i = 0; i < all.n; i++)
		for (int side = 0; !s->ops->formula && side < 2; side++) { /* a formula needs no modules */
			struct graph g = {0};
			consume_own(&g, side ? &all.v[i].b : &all.v[i].a, "a region");
			graph_release(&g);
		}
	regions_release(&all);
}

/* Asks for what we show people about a configuration and a choice: words, pictures, single operations. */
static inline void consume_said(struct space *s, const uint8_t *config, struct rng *r)
{
	struct buf said = {0};
	if (s->ops->summary)
		s->ops->summary(s, config, &said);
	for (const struct space_price *p = space_prices(s->ops->kind); p->how; p++)
		BUG_ON(p->how == PRICING_FORMULA && !isfinite(s->ops->formula(s, config, p->quantity)));
	for (int i = 0; s->n_sites && i < CONSUME_SITES; i++) {
		uint32_t site = (uint32_t)rng_below(r, s->n_sites);
		uint8_t choice = (uint8_t)rng_below(r, s->site[site].choices);
		struct regions before = {0}, after = {0};
		struct err err = {0};
		if (s->ops->words)
			s->ops->words(s, site, choice, &said);
		if (s->ops->picture)
			s->ops->picture(s, site, choice, &said);
		BUG_ON(s->ops->promise && !isfinite(s->ops->promise(s, site, choice)));
		if (s->ops->operators && s->ops->operators(s, site, choice, &before, &after, &err) < 0)
			BUG("a place has no operations: %s", err.text);
		regions_release(&before);
		regions_release(&after);
	}
	buf_release(&said);
}

static inline void consume_space(const struct graph *g, const char *kind, const char *backend, struct rng *r)
{
	struct err err = {0};
	struct space *s = space_open(kind, backend, g, NULL, 0, &err);
	if (!s)
		BUG("%s does not open: %s", kind, err.text);
	uint8_t *dflt = mem_alloc(s->n_sites), *config = mem_alloc(s->n_sites);
	space_default(s, dflt);
	space_random(s, rng_unit(r), r, config);
	consume_applied(s, dflt);
	consume_applied(s, config);
	consume_region(s, dflt, config);
	consume_numbers(s, config, r);
	consume_said(s, config, r);
	BUG_ON(!isfinite(part_share(s)));
	mem_free(dflt);
	mem_free(config);
	space_free(s);
}

static inline void consume_loops(const struct graph *g)
{
	int n = 0;
	for (uint32_t v = 0; v < g->n_nodes && n < CONSUME_LOOPS; v++) {
		struct buf b = {0};
		struct graph counted = {0};
		if (g->node[v].opcode != OP_WHILE && g->node[v].opcode != OP_CONDITIONAL)
			continue;
		n++;
		if (turns_program(g, node_calls(g, v), 1, &b)) {
			consume_own(&counted, &b, "a program that counts turns");
			graph_release(&counted);
		}
		buf_release(&b);
	}
}

static inline void consume(const struct graph *g, bool from_text, uint64_t seed)
{
	static const char *const kinds[][2] = {{"fusion", "cpu"}, {"fusion", "cuda"}, {"fusion/binary", "tpu"},
		{"toy:1:3", "sim"}, {"rewrite", "cpu"}, {"order", "cpu"}};
	struct rng r;
	rng_seed(&r, seed);
	consume_views(g);
	consume_written(g);
	consume_printed(g, from_text);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (space_kind_find(kinds[i][0], NULL)) /* a kind whose folder is gone has no row */
			consume_space(g, kinds[i][0], kinds[i][1], &r);
	consume_loops(g);
}

#endif
