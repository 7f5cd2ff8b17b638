/*
 * check_search.c - the search on spaces whose optimum is known.
 *
 * The toy's cost is a formula, so an oracle can score every flip exactly, and brute force finds the optimum. Only the
 * search itself is tested.
 */
#include <math.h>
#include <stdlib.h>
#include "base/stat.h"
#include "space/toy/toy.h"
#include "search/hunt.h"
#include "tests/test.h"

/* A perfect scorer: it knows what each flip would really save. */
struct oracle {
	struct space *s;
	uint8_t *config;
};

static const uint32_t *oracle_move(void *ctx, const uint8_t *config, uint32_t *n)
{
	struct oracle *o = ctx;

	memcpy(o->config, config, o->s->n_sites);
	*n = 0;
	return NULL; /* anything may have changed */
}

static float oracle_score(void *ctx, uint32_t site, uint8_t choice)
{
	struct oracle *o = ctx;
	uint8_t old = o->config[site];
	double before = o->s->ops->formula(o->s, o->config, QUANTITY_SECONDS), after;

	o->config[site] = choice;
	after = o->s->ops->formula(o->s, o->config, QUANTITY_SECONDS);
	o->config[site] = old;
	return (float)(before - after);
}

struct bed { /* a toy, ready to be searched */
	struct lab lab;
	struct oracle oracle;
	struct scorer scorer;
};

static bool open_bed(struct bed *b, const char *path)
{
	struct cost_options co = {0};
	struct err err = {0};

	*b = (struct bed){0};
	if (lab_open(&b->lab, path, "fusion", NULL, &co, NULL, &err) < 0) {
		printf("%s\n", err.text);
		return CHECK(false && "opened");
	}
	b->oracle = (struct oracle){b->lab.space, mem_zalloc(b->lab.space->n_sites, 1)};
	b->scorer = (struct scorer){.ctx = &b->oracle, .move = oracle_move, .score = oracle_score};
	return true;
}

static void close_bed(struct bed *b)
{
	mem_free(b->oracle.config);
	lab_release(&b->lab);
}

static double optimum(struct space *s)
{
	uint8_t *c = mem_zalloc(s->n_sites, 1);
	double best = s->ops->formula(s, c, QUANTITY_SECONDS);

	for (;;) { /* count through all configurations */
		uint32_t i = 0;
		double cost;
		while (i < s->n_sites && ++c[i] == s->site[i].choices)
			c[i++] = 0;
		if (i == s->n_sites)
			break;
		cost = s->ops->formula(s, c, QUANTITY_SECONDS);
		best = cost < best ? cost : best;
	}
	mem_free(c);
	return best;
}

/* Runs a search to its end; returns the evaluations it took to reach `target` (budget + 1: never). */
static uint64_t run_search(struct bed *b, struct hunt_options o, bool guided, double target, double *reached)
{
	struct hunt h;
	struct err err = {0};
	uint64_t at = 0;

	if (!CHECK(hunt_begin(&h, &o, &b->lab, guided ? &b->scorer : NULL, &err) == 0))
		printf("%s\n", err.text);
	*reached = b->lab.space->ops->formula(b->lab.space, h.config, QUANTITY_SECONDS);
	while (hunt_next(&h, &err) == 1) {
		*reached = b->lab.space->ops->formula(b->lab.space, h.config, QUANTITY_SECONDS);
		if (!at && *reached <= target)
			at = h.evaluations;
	}
	CHECK(h.hash == config_hash(b->lab.space, h.config));
	hunt_release(&h);
	return at ? at : o.budget + 1;
}

static void every_strategy_reaches_the_optimum(void)
{
	struct bed b;
	double best, reached;

	if (!open_bed(&b, "toy:8:3:5"))
		return;
	best = optimum(b.lab.space);
	for (int start = HUNT_DEFAULT; start <= HUNT_RANDOM; start++)
		for (int k = 0; k < 4; k++) {
			int strategy = k == 0 ? STRATEGY_GUIDED : k == 3 ? STRATEGY_BRKGA : STRATEGY_RANDOM;
			struct hunt_options o = {.strategy = strategy, .start = start, .budget = k == 0 ? 6000 : 40000,
				.propose = k == 1 ? PROPOSE_MAGNITUDE : PROPOSE_SIGNED,
				.seed = 7, .alpha = 20, .explore = 10, .hops = 2, .adapt = k == 0};
			run_search(&b, o, k == 0, best, &reached);
			CHECK_NEAR(reached, best, 1e-9 * best);
		}
	close_bed(&b);
}

static void sweeps_end_where_no_flip_helps(void)
{
	struct bed b;

	if (!open_bed(&b, "toy:30:3:2"))
		return;
	for (int guided = 0; guided < 2; guided++) {
		struct hunt h;
		struct err err = {0};
		struct hunt_options o = {.strategy = STRATEGY_SWEEP, .budget = 100000, .seed = 1,
			.alpha = guided ? 10 : 0};
		CHECK(hunt_begin(&h, &o, &b.lab, guided ? &b.scorer : NULL, &err) == 0);
		while (hunt_next(&h, &err) == 1)
			;
		CHECK(h.evaluations < o.budget);
		memcpy(b.oracle.config, h.config, b.lab.space->n_sites);
		for (uint32_t i = 0; i < b.lab.space->n_sites; i++)
			for (uint8_t k = 0; k < b.lab.space->site[i].choices; k++)
				CHECK(k == h.config[i] || oracle_score(&b.oracle, i, k) <= 0);
		hunt_release(&h);
	}
	close_bed(&b);
}

/* Compares how many evaluations the optimum takes, guided and at random, on one toy, from one start, with one seed. */
static void a_perfect_oracle_halves_the_evaluations(void)
{
	enum { SEEDS = 15 };
	double ratio[SEEDS];

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct hunt_options o = {.budget = 20000, .seed = seed, .start = HUNT_RANDOM, .alpha = 10, .hops = 1,
			.adapt = true};
		double best, reached;
		uint64_t random, guided;
		char name[40];
		struct bed b;
		snprintf(name, sizeof name, "toy:10:3:%d", (int)seed + 1);
		if (!open_bed(&b, name))
			return;
		best = optimum(b.lab.space) * (1 + 1e-12);
		o.strategy = STRATEGY_RANDOM;
		random = run_search(&b, o, false, best, &reached);
		o.strategy = STRATEGY_GUIDED;
		guided = run_search(&b, o, true, best, &reached);
		ratio[seed] = (double)guided / (double)random;
		close_bed(&b);
	}
	if (!CHECK(stat_median(ratio, SEEDS) < 0.5))
		printf("median ratio %.2f\n", stat_median(ratio, SEEDS));
}

/* Runs a search to its end. After every `every` evaluations (0: never) it is saved, and another hunt goes on. */
static void run_in_pieces(struct bed *b, const struct hunt_options *o, int every, struct hunt *h, struct buf *state)
{
	const struct scorer *scorer = o->strategy == STRATEGY_RANDOM ? NULL : &b->scorer;
	struct err err = {0};
	int n = 0;

	CHECK(hunt_begin(h, o, &b->lab, scorer, &err) == 0);
	while (hunt_next(h, &err) == 1) {
		if (every == 0 || ++n % every != 0)
			continue;
		buf_reset(state);
		hunt_save(h, state);
		hunt_release(h);
		CHECK(hunt_begin(h, o, &b->lab, scorer, &err) == 0);
		if (!CHECK(hunt_load(h, state->data, state->len, &err) == 0))
			printf("%s\n", err.text);
	}
}

static void saved_search_goes_on(const char *toy)
{
	struct hunt whole, pieces, cut;
	struct buf state = {0};
	struct err err = {0};
	struct bed b;

	if (!open_bed(&b, toy))
		return;
	for (int i = 0; i < 32; i++) {
		struct hunt_options o = {.strategy = i % 4, .propose = i / 4 % 2, .adapt = i / 8 % 2, .tied = i / 16,
			.start = (i / 4 + i / 8) % 2 ? HUNT_RANDOM : HUNT_DEFAULT, .budget = 300, .seed = 9,
			.hops = 1, .alpha = 10, .explore = 10, .drift_checks = 4};
		run_in_pieces(&b, &o, 0, &whole, &state);
		run_in_pieces(&b, &o, 17, &pieces, &state);
		CHECK(pieces.hash == whole.hash);
		CHECK_INT(pieces.evaluations, whole.evaluations);
		CHECK_INT(pieces.kept, whole.kept);
		CHECK_INT(pieces.n_curve, whole.n_curve);
		CHECK(pieces.running.value == whole.running.value);
		for (size_t n = 0; n < state.len; n += 41) { /* cut short anywhere: refused */
			CHECK(hunt_begin(&cut, &o, &b.lab, o.strategy == STRATEGY_RANDOM ? NULL : &b.scorer,
				&err) == 0);
			CHECK(hunt_load(&cut, state.data, n, &err) == -1);
			hunt_release(&cut);
		}
		hunt_release(&whole);
		hunt_release(&pieces);
	}
	buf_release(&state);
	close_bed(&b);
}

static void a_saved_search_goes_on_where_it_was(void)
{
	saved_search_goes_on("toy:40:2:6");
	saved_search_goes_on("toy:14:20:6"); /* more choices than a byte has bits */
}

static void small_budgets_are_fine(void)
{
	struct bed b;

	if (!open_bed(&b, "toy:5:2:1"))
		return;
	for (uint64_t budget = 0; budget < 3; budget++)
		for (int strategy = 0; strategy < 3; strategy++) {
			struct hunt_options o = {.strategy = strategy, .budget = budget, .seed = 1, .alpha = 10};
			struct hunt h;
			struct err err = {0};
			CHECK(hunt_begin(&h, &o, &b.lab, strategy == STRATEGY_RANDOM ? NULL : &b.scorer, &err) == 0);
			while (hunt_next(&h, &err) == 1)
				;
			CHECK(h.evaluations <= budget);
			hunt_release(&h);
		}
	close_bed(&b);
}

/* A cost that is the same each time it is asked for is not confirmed. */
static void what_is_exact_is_asked_once(void)
{
	struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 100, .seed = 3, .alpha = 100, .hops = 1,
		.drift_checks = 5};
	struct err err = {0};
	struct hunt h;
	struct bed b;

	if (!open_bed(&b, "toy:30:3:5"))
		return;
	CHECK_INT(hunt_begin(&h, &o, &b.lab, NULL, &err), 0);
	while (hunt_next(&h, &err) == 1)
		;
	CHECK_INT(cost_totals(b.lab.cost)->deltas, h.evaluations);
	CHECK(h.kept > 0 && h.n_check == 0 && cost_exact(b.lab.cost));
	CHECK_STR(err.text, "");
	hunt_release(&h);
	close_bed(&b);
}

static void a_budget_chooses_width_and_radius(void)
{
	static const struct {
		uint64_t budget;
		double alpha;
		uint64_t idle; /* evaluations without success before the radius grows */
	} table[] = {{10, 1, 50}, {100, 6.25, 50}, {320, 20, 50}, {1600, 25, 200}, {3000, 25, 375}, {100000, 25, 1650}};
	struct bed b;

	if (!open_bed(&b, "toy:400:2:6"))
		return;
	for (size_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
		bool by_budget = i % 2 == 0;
		struct hunt_options o = {.budget = table[i / 2].budget, .alpha = by_budget ? HUNT_AUTO : 10,
			.hops = by_budget ? HUNT_AUTO : 1};
		uint64_t idle = by_budget ? table[i / 2].idle : 1650;
		struct hunt h;
		struct err err = {0};
		CHECK_INT(b.lab.space->n_sites, 400);
		CHECK(hunt_begin(&h, &o, &b.lab, &b.scorer, &err) == 0);
		h.idle = idle - 1;
		CHECK_NEAR(h.o.alpha, by_budget ? table[i / 2].alpha : 10, 1e-12);
		CHECK_INT(hunt_radius(&h), 1);
		h.idle = idle;
		CHECK_INT(hunt_radius(&h), 2);
		h.idle = 100 * idle;
		CHECK_INT(hunt_radius(&h), 16);
		hunt_release(&h);
	}
	close_bed(&b);
}

/* If the whole program gains less than its parts say, the search goes back to what it last vouched for. */
static void disappointments_are_taken_back(void)
{
	struct cost_options co = {.part_seconds = -1};
	struct device_options on = {.backend = "sim"};
	struct device *d = device_open(&on, NULL);
	struct lab lab = {0};
	struct err err = {0};

	if (!CHECK(d && lab_open(&lab, "examples/graphs/train/vae.pb.zst", "fusion", d, &co, NULL, &err) == 0))
		return;
	for (int better = 0; better < 2; better++) {
		struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 80, .alpha = 10, .hops = 1,
			.drift_checks = 1, .seed = 4};
		struct hunt h;
		uint8_t *then;
		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		while (h.evaluations < 40 && hunt_next(&h, &err) == 1)
			;
		CHECK(h.kept > 1 && h.running.value < 0);
		then = arena_dup(&lab.space->mem, h.config, h.s->n_sites);
		h.sure_cost.value = better ? 0 : 4 * h.running.value; /* as if the start had been as good as that */
		h.running.value *= 2;				      /* more than it saves */
		CHECK(hunt_next(&h, &err) == 1);
		CHECK_INT(h.drifts, 1);
		CHECK(h.sure_steps <= h.n_steps);
		for (uint32_t i = 0; i < h.s->n_sites && !better; i++)
			CHECK_INT(h.sure[i], h.s->site[i].dflt);
		if (better)
			CHECK(memcmp(h.sure, then, h.s->n_sites) == 0);
		else
			CHECK(h.n_steps <= 1);
		CHECK(h.hash == config_hash(h.s, h.config));
		hunt_release(&h);
	}
	lab_release(&lab);
	device_close(d);
}

/*
 * By our model a kernel costs the same alone and in a program, so checks must correct a charge beyond the region. A
 * charge that is known stays; that search comes first, and leaves the regions priced.
 */
static void a_wrong_charge_is_unlearnt(void)
{
	static const double charge = 1e-6;
	struct cost_options co = {.part_seconds = charge};
	struct device_options on = {.backend = "sim"};
	struct lab lab = {0};
	struct err err = {0};
	struct device *d = device_open(&on, &err);

	if (!CHECK(d && lab_open(&lab, "examples/graphs/held-out/graph-network.pb.zst", "fusion", d, &co, NULL, &err) ==
		0))
		return;
	for (int known = 1; known >= 0; known--) {
		struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 120, .seed = 3, .alpha = 10, .hops = 1,
			.drift_checks = known ? 1 : 2, .part_known = known};
		double initial = cost_part(lab.cost);
		struct hunt h;

		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		CHECK_NEAR(initial, charge, 1e-12); /* a large program: all of it */
		h.checking = 1e9; /* nor does it matter how long the checks take here */
		while (hunt_next(&h, &err) == 1)
			;
		CHECK(h.n_check > 0 && h.kept > 0);
		CHECK_STR(err.text, "");
		if (known)
			CHECK(cost_part(lab.cost) == initial);
		else
			CHECK(cost_part(lab.cost) < 0.01 * charge && h.part.value == cost_part(lab.cost));
		hunt_release(&h);
	}
	lab_release(&lab);
	device_close(d);
}

/* Returns the least cost in one quantity, of all configurations of a toy that cost at most `allowed` in the other. */
static double best_within(struct space *s, enum quantity q, enum quantity limited, double allowed)
{
	uint8_t *c = mem_zalloc(s->n_sites, 1);
	double best = INFINITY;

	for (;;) {
		uint32_t i = 0;
		if (s->ops->formula(s, c, limited) <= allowed && s->ops->formula(s, c, q) < best)
			best = s->ops->formula(s, c, q);
		while (i < s->n_sites && ++c[i] == s->site[i].choices)
			c[i++] = 0;
		if (i == s->n_sites)
			break;
	}
	mem_free(c);
	return best;
}

/* On a small toy the search keeps the limit at every step, or comes to within it, and finds the best that keeps it. */
static void limits_are_kept(void)
{
	static const struct {
		const char *limit;
		enum quantity objective, limited;
		int start;
		bool bites;    /* the optimum without the limit breaks it */
		bool repaired; /* the start breaks it */
	} t[] = {{"bytes:+0%", QUANTITY_SECONDS, QUANTITY_BYTES, HUNT_DEFAULT, true, false},
		{"bytes:+3%", QUANTITY_SECONDS, QUANTITY_BYTES, HUNT_DEFAULT, true, false},
		{"bytes:-10%", QUANTITY_SECONDS, QUANTITY_BYTES, HUNT_DEFAULT, true, true},
		{"bytes:1GiB", QUANTITY_SECONDS, QUANTITY_BYTES, HUNT_DEFAULT, false, false},
		{"seconds:+0%", QUANTITY_BYTES, QUANTITY_SECONDS, HUNT_DEFAULT, true, false},
		{"seconds:-20%", QUANTITY_BYTES, QUANTITY_SECONDS, HUNT_RANDOM, true, true}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct cost_options co = {.quantity = 1 + (int)t[i].objective};
		struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 4000, .seed = 7, .alpha = 20, .hops = 2,
			.start = t[i].start, .drift_checks = 3};
		struct lab lab = {0};
		struct limit limit;
		struct hunt h;
		struct err err = {0};
		uint8_t *dflt;
		double own, allowed, best;
		bool within = false;

		if (!CHECK(lab_open(&lab, "toy:7:3:5", "fusion", NULL, &co, NULL, &err) == 0 &&
			limit_read(t[i].limit, &limit, &err) == 0 && lab_limits(&lab, &limit, 1, &err) == 0 &&
			hunt_begin(&h, &o, &lab, NULL, &err) == 0)) {
			printf("%s: %s\n", t[i].limit, err.text);
			continue;
		}
		dflt = arena_dup(&lab.space->mem, h.config, h.s->n_sites);
		space_default(h.s, dflt);
		own = h.s->ops->formula(h.s, dflt, t[i].limited);
		allowed = limit_allows(&limit, own) * (1 + 1e-12);
		best = best_within(h.s, t[i].objective, t[i].limited, allowed);
		while (hunt_next(&h, &err) == 1) {
			bool now = h.s->ops->formula(h.s, h.config, t[i].limited) <= allowed;
			CHECK(now || !within);
			within |= now;
		}
		/* A toy's strands never change together: what one owes another stays where it was repaired first. */
		if (!CHECK_NEAR(h.s->ops->formula(h.s, h.config, t[i].objective), best,
			(t[i].repaired ? 0.3 : 1e-9) * best))
			printf("%s\n", t[i].limit);
		CHECK(within && hunt_excess(&h) == 0);
		CHECK_INT(t[i].bites, best_within(h.s, t[i].objective, t[i].limited, INFINITY) < best);
		CHECK_INT(t[i].bites, h.beyond > 0);
		hunt_release(&h);
		lab_release(&lab);
	}
}

/* A search with a limit takes the same steps if it is saved and resumed many times. */
static void a_saved_search_keeps_its_limits(void)
{
	struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 400, .seed = 3, .alpha = 20, .hops = 2};
	struct limit limit;
	struct hunt whole, pieces;
	struct buf state = {0};
	struct bed b;

	if (!open_bed(&b, "toy:40:3:6"))
		return;
	CHECK(limit_read("bytes:+0%", &limit, NULL) == 0 && lab_limits(&b.lab, &limit, 1, NULL) == 0);
	run_in_pieces(&b, &o, 0, &whole, &state);
	run_in_pieces(&b, &o, 37, &pieces, &state);
	CHECK(whole.hash == pieces.hash && whole.beyond == pieces.beyond && whole.beyond > 0);
	CHECK(whole.limit[0].running.value == pieces.limit[0].running.value);
	hunt_release(&whole);
	hunt_release(&pieces);
	buf_release(&state);
	close_bed(&b);
}

int main(void)
{
	RUN(limits_are_kept);
	RUN(a_saved_search_keeps_its_limits);
	RUN(a_wrong_charge_is_unlearnt);
	RUN(disappointments_are_taken_back);
	RUN(every_strategy_reaches_the_optimum);
	RUN(sweeps_end_where_no_flip_helps);
	RUN(a_perfect_oracle_halves_the_evaluations);
	RUN(a_saved_search_goes_on_where_it_was);
	RUN(small_budgets_are_fine);
	RUN(what_is_exact_is_asked_once);
	RUN(a_budget_chooses_width_and_radius);
	return test_done();
}
