/*
 * check_bundle.c - candidates of several flips: how many there are, and what they are worth from a bad start.
 *
 * The toy's cost is a formula, so a scorer can know what each flip would save.
 */
#include "base/stat.h"
#include "search/hunt.h"
#include "tests/test.h"

struct bed { /* a toy, and a scorer that knows it */
	struct lab lab;
	struct space *s;
	uint8_t *config;
	double now; /* what it costs */
	struct scorer scorer;
};

static double cost_of(const struct bed *b)
{
	return b->s->ops->formula(b->s, b->config, QUANTITY_SECONDS);
}

static const uint32_t *oracle_move(void *ctx, const uint8_t *config, uint32_t *n)
{
	struct bed *b = ctx;

	memcpy(b->config, config, b->s->n_sites);
	b->now = cost_of(b);
	*n = 0;
	return NULL; /* anything may have changed */
}

static float oracle_score(void *ctx, uint32_t site, uint8_t choice)
{
	struct bed *b = ctx;
	uint8_t old = b->config[site];
	double after;

	b->config[site] = choice;
	after = cost_of(b);
	b->config[site] = old;
	return (float)(b->now - after);
}

static bool open_bed(struct bed *b, const char *toy)
{
	struct cost_options co = {0};
	struct err err = {0};

	*b = (struct bed){0};
	if (!CHECK(lab_open(&b->lab, toy, "fusion", NULL, &co, NULL, &err) == 0)) {
		printf("%s\n", err.text);
		return false;
	}
	b->s = b->lab.space;
	b->config = mem_zalloc(b->s->n_sites, 1);
	b->scorer = (struct scorer){.ctx = b, .move = oracle_move, .score = oracle_score};
	return true;
}

static void close_bed(struct bed *b)
{
	mem_free(b->config);
	lab_release(&b->lab);
}

/* Makes the hunt's past, an evaluation a letter: k kept, = no change, . worse, x failed. */
static void live_through(struct hunt *h, const char *past)
{
	h->bundle = 0;
	h->bundle_kept = false;
	for (; *past; past++) {
		struct delta d = {.outcome = *past == 'x' ? OUTCOME_CRASHED : OUTCOME_OK, .se = 1,
			.seconds = *past == 'k' ? -3 : *past == '.' ? 3 : *past == '=' ? 0.5 : 0};
		hunt_bundled(h, &d, *past == 'k');
	}
}

static void the_size_follows_what_was_kept(void)
{
	static const struct {
		const char *past;
		uint32_t size;
	} t[] = {{"", 1}, {"k", 1}, {"kk", 2}, {"kkk", 4}, {"kkkk", 8}, {"kkkk.", 4}, {"kkkk.k", 4}, {"kkkk.kk", 8},
		{"kkkk...", 1}, {"k.k.k.k.k.", 1}, {"kkkk....k", 1}, {".....", 1}, {"kk.k", 1}, {"kkk.k", 2},
		{"k=k==k", 2}, {"k=kk", 4}, {"k==.==k", 1}, {"=====", 1}, {"kkkx", 2}, {"kkkxxxx=kk", 2},
		{"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", 4096}};
	struct hunt_options o = {.budget = 100, .alpha = 10, .bundles = true};
	struct err err = {0};
	struct hunt h;
	struct bed b;

	if (!open_bed(&b, "toy:40:2:6"))
		return;
	CHECK(hunt_begin(&h, &o, &b.lab, &b.scorer, &err) == 0);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		live_through(&h, t[i].past);
		if (!CHECK_INT(hunt_bundle(&h), t[i].size))
			printf("after \"%s\"\n", t[i].past);
		h.o.bundles = false;
		CHECK_INT(hunt_bundle(&h), 1);
		h.o.bundles = true;
	}
	h.o.start = HUNT_RANDOM;
	live_through(&h, "");
	CHECK_INT(hunt_bundle(&h), 16);
	live_through(&h, "=");
	CHECK_INT(hunt_bundle(&h), 8);
	live_through(&h, "....");
	CHECK_INT(hunt_bundle(&h), 1);
	live_through(&h, ".k=k");
	CHECK_INT(hunt_bundle(&h), 8);
	CHECK(hunt_bundles(b.s, STRATEGY_GUIDED, PROPOSE_SIGNED));
	CHECK(!hunt_bundles(b.s, STRATEGY_GUIDED, PROPOSE_MAGNITUDE));
	CHECK(!hunt_bundles(b.s, STRATEGY_RANDOM, PROPOSE_SIGNED));
	CHECK(!hunt_bundles(b.s, STRATEGY_SWEEP, PROPOSE_SIGNED));
	hunt_release(&h);
	close_bed(&b);
}

/* A bundle has as many flips as it should, of different sites, and each saves something. */
static void a_bundle_promises_only_gains(void)
{
	struct hunt_options o = {.budget = 100, .alpha = 5, .start = HUNT_RANDOM, .seed = 3, .bundles = true,
		.adapt = true};
	struct err err = {0};
	struct hunt h;
	struct bed b;

	if (!open_bed(&b, "toy:400:3:6"))
		return;
	CHECK(hunt_begin(&h, &o, &b.lab, &b.scorer, &err) == 0);
	live_through(&h, "....");
	CHECK(!hunt_propose_bundle(&h, UINT32_MAX));
	for (uint32_t most = 2; most <= 1024; most *= 2) {
		uint32_t gains = 0;
		live_through(&h, "kkkkkkkkkkk"); /* 1,024 */
		for (uint32_t i = 0; i < b.s->n_sites; i++)
			for (uint8_t k = 0; k < b.s->site[i].choices; k++)
				if (k != h.config[i] && oracle_score(&b, i, k) > 0) {
					gains++;
					break;
				}
		CHECK(hunt_propose_bundle(&h, most));
		CHECK_INT(h.n_flips, most < gains ? most : gains);
		for (uint32_t i = 0; i < h.n_flips; i++)
			CHECK(oracle_score(&b, h.flips[i], h.candidate[h.flips[i]]) > 0);
		hunt_undo(&h);
		CHECK(memcmp(h.candidate, h.config, b.s->n_sites) == 0);
	}
	hunt_release(&h);
	close_bed(&b);
}

/* The evaluations until nine tenths of what the longer of two searches saves are saved. */
static uint64_t until_most(struct bed *b, uint64_t seed, bool bundles, double *saved, double wanted)
{
	struct hunt_options o = {.budget = 600, .seed = seed, .start = HUNT_RANDOM, .alpha = 10, .hops = 1,
		.adapt = true, .bundles = bundles};
	struct err err = {0};
	struct hunt h;
	uint64_t at = 0;
	double start;

	CHECK(hunt_begin(&h, &o, &b->lab, &b->scorer, &err) == 0);
	start = h.running.value;
	while (hunt_next(&h, &err) == 1)
		if (!at && start - h.running.value >= wanted)
			at = h.evaluations;
	*saved = start - h.running.value;
	hunt_release(&h);
	return at ? at : o.budget + 1;
}

static void a_bad_start_is_left_in_fewer_evaluations(void)
{
	enum { SEEDS = 9 };
	double ratio[SEEDS];

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		double saved, ignored;
		uint64_t with, without;
		char name[40];
		struct bed b;
		snprintf(name, sizeof name, "toy:200:2:%d", (int)seed + 1);
		if (!open_bed(&b, name))
			return;
		until_most(&b, seed, false, &saved, 0);
		without = until_most(&b, seed, false, &ignored, 0.9 * saved);
		with = until_most(&b, seed, true, &ignored, 0.9 * saved);
		ratio[seed] = (double)with / (double)without;
		close_bed(&b);
	}
	if (!CHECK(stat_median(ratio, SEEDS) < 0.5))
		printf("median ratio %.2f\n", stat_median(ratio, SEEDS));
}

/* A search that is saved and goes on takes bundles of the same sizes. */
static void bundles_go_on_after_a_kill(void)
{
	struct hunt_options o = {.budget = 120, .seed = 5, .start = HUNT_RANDOM, .alpha = 10, .explore = 10, .hops = 1,
		.adapt = true, .bundles = true};
	struct buf state = {0};
	struct err err = {0};
	struct hunt whole, pieces;
	uint32_t largest = 1;
	struct bed b;

	if (!open_bed(&b, "toy:200:2:4"))
		return;
	CHECK(hunt_begin(&whole, &o, &b.lab, &b.scorer, &err) == 0);
	while (hunt_next(&whole, &err) == 1)
		largest = hunt_bundle(&whole) > largest ? hunt_bundle(&whole) : largest;
	CHECK(largest >= 8);
	CHECK(hunt_begin(&pieces, &o, &b.lab, &b.scorer, &err) == 0);
	while (hunt_next(&pieces, &err) == 1) {
		buf_reset(&state);
		hunt_save(&pieces, &state);
		hunt_release(&pieces);
		CHECK(hunt_begin(&pieces, &o, &b.lab, &b.scorer, &err) == 0);
		CHECK(hunt_load(&pieces, state.data, state.len, &err) == 0);
	}
	CHECK(pieces.hash == whole.hash);
	CHECK_INT(pieces.evaluations, whole.evaluations);
	CHECK_INT(pieces.kept, whole.kept);
	hunt_release(&whole);
	hunt_release(&pieces);
	buf_release(&state);
	close_bed(&b);
}

int main(void)
{
	RUN(the_size_follows_what_was_kept);
	RUN(a_bundle_promises_only_gains);
	RUN(a_bad_start_is_left_in_fewer_evaluations);
	RUN(bundles_go_on_after_a_kill);
	return test_done();
}
