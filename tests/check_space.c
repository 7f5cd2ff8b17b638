/*
 * check_space.c - the parts that all spaces share: opening by name, configurations, hashes, refusals.
 */
#include "space/space.h"
#include "space/toy/toy.h"
#include "tests/test.h"

static struct graph graph;

static struct space *open_toy(const char *kind)
{
	struct err err = {0};
	struct space *s = space_open(kind, "sim", &graph, NULL, 0, &err);
	if (!s)
		printf("%s\n", err.text);
	return s;
}

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static void unknown_kinds_are_refused(void)
{
	static const char *const bad[] = {"", "toy", "toys:1", "fusio", "toy:x", "toy:1:1", "toy:1:201",
		"toy:1:2:3", "toy:1x", "placement",
		"toy:" ZEROS ZEROS ZEROS ZEROS "1"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};
		struct space *s = space_open(bad[i], "sim", &graph, NULL, 0, &err);
		if (!CHECK(s == NULL) || !CHECK(err.text[0] != 0))
			printf("\tkind \"%s\"\n", bad[i]);
		space_free(s);
	}
}

static void hash_follows_flips(void)
{
	struct space *s = open_toy("toy:7:4");
	uint8_t config[64] = {0}, same[64] = {0};
	struct rng r;
	uint64_t h = config_hash(s, config);
	rng_seed(&r, 3);
	for (int i = 0; i < 500; i++) {
		uint32_t site = (uint32_t)rng_below(&r, s->n_sites);
		h = config_flip(config, h, site, (uint8_t)rng_below(&r, 4));
		CHECK(h == config_hash(s, config));
	}
	for (uint32_t i = 0; i < s->n_sites; i++) /* back again, in another order */
		h = config_flip(config, h, s->n_sites - 1 - i, 0);
	CHECK(h == config_hash(s, same) && memcmp(config, same, s->n_sites) == 0);
	space_free(s);
}

static void random_keeps_density(void)
{
	static const double density[] = {0, 0.25, 1};
	struct space *s = open_toy("toy:7:4");
	uint8_t config[64];
	struct rng r;
	rng_seed(&r, 5);
	for (size_t d = 0; d < 3; d++) {
		int set = 0, seen[4] = {0};
		for (int k = 0; k < 200; k++) {
			space_random(s, density[d], &r, config);
			CHECK(config_valid(s, config, s->n_sites, NULL) == 0);
			for (uint32_t i = 0; i < s->n_sites; i++) {
				set += config[i] != 0;
				seen[config[i]]++;
			}
		}
		CHECK_NEAR(set / (200.0 * s->n_sites), density[d], 0.02);
		CHECK(density[d] == 0 || (seen[1] > 0 && seen[2] > 0 && seen[3] > 0));
	}
	space_free(s);
}

static void configurations_are_checked(void)
{
	struct space *s = open_toy("toy:7:4");
	uint8_t config[64] = {0};
	struct err err = {0};
	CHECK(config_valid(s, config, s->n_sites, &err) == 0 && err.text[0] == 0);
	CHECK(config_valid(s, config, s->n_sites - 1, &err) < 0);
	CHECK(config_valid(s, config, s->n_sites + 1, &err) < 0);
	config[9] = 4;
	CHECK(config_valid(s, config, s->n_sites, &err) < 0 && strstr(err.text, "site 9"));
	CHECK(space_open("toy:7:4", "sim", &graph, config, s->n_sites, &err) == NULL);
	space_free(s);
}

static void defaults_come_from_outside(void)
{
	struct space *s = open_toy("toy:7:4"), *t;
	uint8_t dflt[64], got[64];
	struct rng r;
	rng_seed(&r, 8);
	space_random(s, 0.5, &r, dflt);
	t = space_open("toy:7:4", "sim", &graph, dflt, s->n_sites, NULL);
	space_default(t, got);
	CHECK(memcmp(got, dflt, s->n_sites) == 0);
	CHECK(s->hash == t->hash); /* the table is the same, defaults or not */
	space_free(t);
	t = open_toy("toy:7:3");
	CHECK(s->hash != t->hash);
	space_free(t);
	space_free(s);
	space_free(NULL);
}

static void sites_are_ascending(void)
{
	struct space *s = open_toy("toy:7:4");
	for (uint32_t i = 0; i < s->n_sites; i++) {
		CHECK(i == 0 || s->site[i].node > s->site[i - 1].node);
		CHECK_INT(s->site_of[s->site[i].node], i);
		CHECK(s->site[i].tie < s->n_ties && s->site[i].dflt < s->site[i].choices);
	}
	space_free(s);
}

int main(void)
{
	struct toy_spec spec = {60, 4, 7};
	struct buf module = {0};
	struct err err = {0};
	toy_graph(&spec, &module);
	if (graph_parse(&graph, module.data, module.len, "toy", &err) < 0)
		return err_exit(&err);
	RUN(unknown_kinds_are_refused);
	RUN(hash_follows_flips);
	RUN(random_keeps_density);
	RUN(configurations_are_checked);
	RUN(defaults_come_from_outside);
	RUN(sites_are_ascending);
	graph_release(&graph);
	buf_release(&module);
	return test_done();
}
