/*
 * rewritten.c - tests whether rewritten programs can be read. Prints a line for each program.
 *
 *	build/release/bench/rewritten FILE...
 *
 * Each program is written with every place rewritten, and with random choices; the first must open for fusion. The
 * first PLACES places are also cut out, each by itself. Counts how many of all these our reader refuses; the exit
 * status is 1 if there is any.
 */
#include <stdio.h>
#include <string.h>
#include "base/rng.h"
#include "space/space.h"

#define RANDOM 4
#define PLACES 100

static uint32_t refused(const struct buf *module, const char *what)
{
	struct graph g = {0};
	struct err err = {0};
	uint32_t n = graph_parse(&g, module->data, module->len, what, &err) < 0;

	if (n)
		printf("%s\n", err.text);
	graph_release(&g);
	return n;
}

/* Every site has its last choice. */
static uint32_t all_rewritten(struct space *s, uint8_t *config)
{
	struct buf module = {0};
	struct graph g = {0};
	struct space *next = NULL;
	struct err err = {0};

	for (uint32_t i = 0; i < s->n_sites; i++)
		config[i] = (uint8_t)(s->site[i].choices - 1);
	s->ops->apply(s, config, &module, &err);
	if (graph_parse(&g, module.data, module.len, "the rewritten program", &err) == 0)
		next = space_open("fusion", "cpu", &g, NULL, 0, &err);
	bool opened = next != NULL;
	if (!opened)
		printf("%s\n", err.text);
	space_free(next);
	graph_release(&g);
	buf_release(&module);
	return !opened;
}

static uint32_t some_rewritten(struct space *s, uint8_t *config)
{
	uint32_t n = 0;
	struct rng r;

	rng_seed(&r, 3);
	for (int k = 0; k < RANDOM; k++) {
		struct buf module = {0};
		for (uint32_t i = 0; i < s->n_sites; i++)
			config[i] = (uint8_t)rng_below(&r, s->site[i].choices);
		s->ops->apply(s, config, &module, NULL);
		n += refused(&module, "a rewritten program");
		buf_release(&module);
	}
	return n;
}

static uint32_t places(struct space *s, uint8_t *config)
{
	uint8_t *none = MEM_NEW(s->n_sites + 1, uint8_t);
	uint32_t n = 0;

	memset(config, 0, s->n_sites);
	for (uint32_t i = 0; i < s->n_sites && i < PLACES; i++) {
		struct regions r = {0};
		struct err err = {0};
		config[i] = 1;
		if (s->ops->region(s, none, config, &r, &err) < 0) {
			printf("%s\n", err.text);
			n++;
		}
		for (size_t k = 0; k < r.n; k++)
			n += refused(&r.v[k].a, "a place") + refused(&r.v[k].b, "a place");
		regions_release(&r);
		config[i] = 0;
	}
	mem_free(none);
	return n;
}

static uint32_t program(const char *path)
{
	struct graph g = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint8_t *config;
	uint32_t n;

	if (graph_read(&g, path, &err) == 0)
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	if (!s) {
		printf("%s\n", err.text);
		graph_release(&g);
		return 1;
	}
	config = MEM_NEW(s->n_sites + 1, uint8_t);
	n = all_rewritten(s, config) + some_rewritten(s, config) + places(s, config);
	printf("%s: %u instructions, %u places, refused %u\n", path, g.n_nodes, s->n_sites, n);
	fflush(stdout);
	mem_free(config);
	space_free(s);
	graph_release(&g);
	return n;
}

int main(int argc, char **argv)
{
	uint32_t n = 0;

	for (int i = 1; i < argc; i++)
		n += program(argv[i]);
	return n > 0;
}
