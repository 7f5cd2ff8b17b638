/*
 * check_gibbs.c - the sampler draws from the distribution that it claims.
 *
 * The costs of a toy are a formula. The shares of a long chain's time in each configuration must match exp(-cost / T),
 * by chi-square. The test can fail: at a temperature that is off by a fifth, the same counts must be rejected.
 */
#include <stdlib.h>
#include "collect/chain.h"
#include "tests/chi.h"
#include "tests/test.h"

#define STATES 1024

static struct lab lab;
static uint32_t all[64];

static bool open_toy(const char *name)
{
	struct cost_options o = {0};
	struct err err = {0};

	CHECK_INT(lab_open(&lab, name, "fusion", NULL, &o, NULL, &err), 0);
	CHECK_STR(err.text, "");
	for (uint32_t i = 0; i < 64; i++)
		all[i] = i;
	return lab.space != NULL;
}

/* Configurations in the order of a number written with the sites' choices as digits. */
static void nth(uint32_t n, uint8_t *config)
{
	for (uint32_t i = 0; i < lab.space->n_sites; i++) {
		config[i] = (uint8_t)(n % lab.space->site[i].choices);
		n /= lab.space->site[i].choices;
	}
}

static uint32_t number_of(const uint8_t *config)
{
	uint32_t n = 0;

	for (uint32_t i = lab.space->n_sites; i-- > 0;)
		n = n * lab.space->site[i].choices + config[i];
	return n;
}

static uint32_t count_states(void)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < lab.space->n_sites; i++)
		n *= lab.space->site[i].choices;
	return n;
}

/* The exact distribution at temperature T, by enumeration. */
static void exact(double temperature, double *p)
{
	uint32_t n = count_states();
	double sum = 0, low = INFINITY;
	uint8_t config[64];

	for (uint32_t i = 0; i < n; i++) {
		nth(i, config);
		p[i] = lab.space->ops->formula(lab.space, config, QUANTITY_SECONDS);
		low = p[i] < low ? p[i] : low;
	}
	for (uint32_t i = 0; i < n; i++)
		sum += p[i] = exp(-(p[i] - low) / temperature);
	for (uint32_t i = 0; i < n; i++)
		p[i] /= sum;
}

/* Returns P of a chi-square at least as large; pools the states that are expected less than 5 times. */
static double fit(const uint32_t *count, const double *p, uint32_t n, uint32_t draws)
{
	double chi = 0, rare = 0, rare_seen = 0;
	int cells = 0;

	for (uint32_t i = 0; i < n; i++) {
		double e = p[i] * draws;
		if (e < 5) {
			rare += e;
			rare_seen += count[i];
			continue;
		}
		chi += (count[i] - e) * (count[i] - e) / e;
		cells++;
	}
	if (rare >= 5) {
		chi += (rare_seen - rare) * (rare_seen - rare) / rare;
		cells++;
	}
	return chi2_tail(chi, cells - 1);
}

/* Returns the standard deviation of the cost over all configurations; at that temperature chains move a lot. */
static double spread(void)
{
	uint32_t n = count_states();
	double *v = calloc(n, sizeof *v), s;
	uint8_t config[64];

	for (uint32_t i = 0; i < n; i++) {
		nth(i, config);
		v[i] = lab.space->ops->formula(lab.space, config, QUANTITY_SECONDS);
	}
	s = sqrt(stat_var(v, n));
	free(v);
	return s;
}

/* Counts in which state the chain is after every `thin` sweeps, so that the counted states are independent. */
static void walk(double temperature, uint64_t seed, int draws, int thin, uint32_t *count)
{
	struct err err = {0};
	struct chain c;

	memset(count, 0, STATES * sizeof *count);
	chain_init(&c, &lab, seed, 0, all, lab.space->n_sites);
	space_default(lab.space, c.config);
	c.at = (struct chain_state){.tau = 1, .default_seconds = temperature, .known = true};
	chain_order(&c);
	for (uint32_t i = 0; i < (uint32_t)(draws * thin) * lab.space->n_sites; i++) {
		struct chain_step t;
		if (chain_try(&c, false, &t, &err) < 0)
			break;
		chain_take(&c, &t);
		if (c.at.pos == 0 && c.at.sweep % (uint32_t)thin == 0)
			count[number_of(c.config)]++;
	}
	CHECK_STR(err.text, "");
	chain_release(&c);
}

static void distribution(void)
{
	static const struct {
		const char *toy;
		double spreads; /* temperature, in standard deviations of the cost */
		uint64_t seed;
	} table[] = {{"toy:4:3:1", 1, 1}, {"toy:4:3:2", 0.5, 7}, {"toy:5:2:3", 1, 3}, {"toy:6:2:4", 2, 4},
		{"toy:3:8:5", 1, 5}};
	enum { DRAWS = 12000, THIN = 3 };
	uint32_t count[STATES];
	double p[STATES];

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double temperature, good, bad;
		if (!open_toy(table[i].toy))
			return;
		temperature = table[i].spreads * spread();
		CHECK(count_states() <= STATES);
		walk(temperature, table[i].seed, DRAWS, THIN, count);
		exact(temperature, p);
		good = fit(count, p, count_states(), DRAWS);
		exact(1.2 * temperature, p);
		bad = fit(count, p, count_states(), DRAWS);
		if (!CHECK(good > 0.001) || !CHECK(bad < 0.001))
			printf("%s: P is %.3g, of a wrong temperature %.3g\n", table[i].toy, good, bad);
		lab_release(&lab);
	}
}

static void probabilities(void)
{
	const enum outcome ok = OUTCOME_OK, no = OUTCOME_CRASHED;
	static const double T = 2e-6;
	static const struct {
		struct choice_cost c[3];
		double p[3];
		bool any;
	} table[] = {
		{{{0, 0, ok, false}, {0, 0, ok, false}, {0, 0, ok, false}}, {1. / 3, 1. / 3, 1. / 3}, true},
		{{{0, 0, ok, false}, {2e-6, 0, ok, false}, {0, 0, no, false}}, {0.7310585786, 0.2689414214, 0}, true},
		{{{-2e-6, 0, ok, false}, {0, 0, ok, false}, {-9e9, 0, no, false}}, {0.7310585786, 0.2689414214, 0},
			true},
		{{{0, 0, no, false}, {5, 0, ok, false}, {0, 0, no, false}}, {0, 1, 0}, true},
		{{{0, 0, ok, false}, {1e9, 0, ok, true}, {0, 0, ok, false}}, {0.5, 0, 0.5}, true},
		{{{0, 0, no, false}, {0, 0, no, false}, {0, 0, no, false}}, {0, 0, 0}, false},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double p[3];
		CHECK_INT(gibbs_probabilities(table[i].c, 3, T, p), table[i].any);
		for (int k = 0; k < 3; k++)
			CHECK_NEAR(p[k], table[i].p[k], 1e-9);
	}
}

/* Without a temperature the cheapest choices share all of it. */
static void no_temperature(void)
{
	static const struct choice_cost c[4] = {{0, 0, OUTCOME_OK, false}, {-5, 0, OUTCOME_OK, false},
		{-9, 0, OUTCOME_CRASHED, false}, {-5, 0, OUTCOME_OK, false}};
	static const double want[4] = {0, 0.5, 0, 0.5};
	double p[4];

	CHECK(gibbs_probabilities(c, 4, 0, p));
	for (int k = 0; k < 4; k++)
		CHECK_NEAR(p[k], want[k], 1e-12);
}

/* tau follows the noise (noise = 0.3 tau), and is never below its minimum. */
static void temperature(void)
{
	static const struct {
		double noise, seconds, tau;
	} table[] = {{0, 1e-3, GIBBS_TAU}, {1e-9, 1e-3, GIBBS_TAU}, {3e-6, 1e-3, 0.01}, {3e-5, 1e-3, 0.1},
		{1e-6, 0, GIBBS_TAU}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		CHECK_NEAR(gibbs_tau(table[i].noise, table[i].seconds), table[i].tau, 1e-12);
	CHECK(3e-6 / (gibbs_tau(3e-6, 1e-3) * 1e-3) <= GIBBS_NOISE_PER_TAU * (1 + 1e-9));
}

/* Stored costs are those of the formula, relative to the first choice, whatever the present one is. */
static void costs(void)
{
	struct sample x;
	struct estimate moved;
	struct err err = {0};
	uint8_t config[64], other[64];
	struct rng r;

	if (!open_toy("toy:8:3:2"))
		return;
	rng_seed(&r, 1);
	for (int i = 0; i < 50; i++) {
		uint32_t site = (uint32_t)rng_below(&r, 8);
		double first;
		space_random(lab.space, 0.7, &r, config);
		x = (struct sample){0};
		CHECK_INT(gibbs_step(lab.cost, lab.space, config, site, 1e-6, &r, &x, &moved, &err), 0);
		memcpy(other, config, 8);
		other[site] = 0;
		first = lab.space->ops->formula(lab.space, other, QUANTITY_SECONDS);
		CHECK_INT(x.site, site);
		CHECK(x.choice[0].delta == 0);
		for (uint8_t k = 0; k < x.n_choices; k++) {
			other[site] = k;
			CHECK_NEAR(x.choice[k].delta, lab.space->ops->formula(lab.space, other, QUANTITY_SECONDS) -
				first, 1e-15);
		}
		other[site] = x.chosen;
		CHECK_NEAR(moved.value, lab.space->ops->formula(lab.space, other, QUANTITY_SECONDS) -
			lab.space->ops->formula(lab.space, config, QUANTITY_SECONDS), 1e-15);
	}
	lab_release(&lab);
}

/* Every sweep visits every site once, in another order; a chain loaded goes on with the same steps. */
static void sweeps_and_states(void)
{
	enum { SITES = 12, SWEEPS = 6, STOP = 29 };
	struct chain c, d;
	struct buf saved = {0};
	struct err err = {0};
	uint32_t order[SWEEPS][SITES], seen[SITES] = {0};
	bool differs = false;

	if (!open_toy("toy:12:3:2"))
		return;
	chain_init(&c, &lab, 5, 3, all, SITES);
	chain_init(&d, &lab, 5, 3, all, SITES);
	space_default(lab.space, c.config);
	c.at = (struct chain_state){.tau = 0.1, .default_seconds = 1e-4, .known = true, .noise = 1e-9};
	chain_order(&c);
	for (uint32_t i = 0; i < SWEEPS * SITES; i++) {
		struct chain_step t, u;
		if (i == STOP) {
			struct cursor in;
			chain_save(&c.at, &saved);
			in = cursor_of(saved.data, saved.len);
			memcpy(d.config, c.config, SITES);
			CHECK_INT(chain_load(&d, &in, &err), 0);
			CHECK(cursor_done(&in));
		}
		CHECK_INT(chain_try(&c, true, &t, &err), 0);
		CHECK_INT(t.anchored, i % SITES == 0 && i > 0);
		if (i >= STOP) {
			CHECK_INT(chain_try(&d, true, &u, &err), 0);
			CHECK(u.x.site == t.x.site && u.x.chosen == t.x.chosen && u.after.running == t.after.running);
			chain_take(&d, &u);
		}
		chain_take(&c, &t);
		order[i / SITES][i % SITES] = t.x.site;
		seen[t.x.site]++;
	}
	for (uint32_t i = 0; i < SITES; i++) {
		CHECK_INT(seen[i], SWEEPS);
		differs |= order[0][i] != order[1][i];
	}
	CHECK(differs);
	for (size_t n = 0; n < saved.len; n++) { /* cut short, it is refused with a sentence */
		struct cursor in = cursor_of(saved.data, n);
		err.text[0] = 0;
		CHECK_INT(chain_load(&d, &in, &err), -1);
		CHECK(strstr(err.text, "does not fit") != NULL);
	}
	buf_release(&saved);
	chain_release(&c);
	chain_release(&d);
	lab_release(&lab);
}

static bool is_odd(const struct space *s, uint32_t site)
{
	(void)s;
	return site % 2 == 1;
}

/* Sites that are priced by whole programs come behind the others, and both in another order in each sweep. */
static void dear_sites_come_last(void)
{
	enum { SITES = 12, SWEEPS = 3 };
	struct space_ops dear;
	uint32_t order[SWEEPS][SITES];
	struct chain c;

	if (!open_toy("toy:12:3:2"))
		return;
	dear = *lab.space->ops;
	dear.dear = is_odd;
	lab.space->ops = &dear;
	chain_init(&c, &lab, 5, 3, all, SITES);
	for (uint32_t k = 0; k < SWEEPS; k++) {
		c.at.sweep = k;
		chain_order(&c);
		memcpy(order[k], c.sites, sizeof order[k]);
		for (uint32_t i = 0; i < SITES; i++)
			CHECK_INT(c.sites[i] % 2, i >= SITES / 2);
	}
	CHECK(memcmp(order[0], order[1], sizeof order[0] / 2) != 0);
	CHECK(memcmp(order[0] + SITES / 2, order[1] + SITES / 2, sizeof order[0] / 2) != 0);
	chain_release(&c);
	lab_release(&lab);
}

/* A running sum that drifted beyond the bound is set to the measured cost; one within the bound goes on as it is. */
static void anchors(void)
{
	struct err err = {0};
	struct anchor a;
	struct chain c;
	double truth, dflt;
	bool cut;
	uint8_t config[12];

	if (!open_toy("toy:12:3:2"))
		return;
	chain_init(&c, &lab, 5, 0, all, 12);
	space_default(lab.space, config);
	dflt = lab.space->ops->formula(lab.space, config, QUANTITY_SECONDS);
	memset(c.config, 1, 12);
	truth = lab.space->ops->formula(lab.space, c.config, QUANTITY_SECONDS) - dflt;
	for (int i = 0; i < 4; i++) {
		double off = (i % 2 ? -1 : 1) * (i < 2 ? 0.9 : 1.1) * DRIFT_BOUND * dflt;
		c.at = (struct chain_state){.tau = 0.1, .default_seconds = dflt, .known = true, .running = truth + off};
		CHECK_INT(chain_anchor(&c, &c.at, &a, &cut, &err), 0);
		CHECK_INT(a.reanchored, i >= 2);
		CHECK_NEAR(a.whole, truth, 1e-15);
		CHECK_NEAR(a.running, truth + off, 1e-15);
		CHECK_NEAR(c.at.running, i < 2 ? truth + off : truth, 1e-15);
	}
	c.at = (struct chain_state){.tau = 0.1, .default_seconds = dflt, .known = true,
		.running = truth + 2 * DRIFT_BOUND * dflt,
		.running_var = DRIFT_BOUND * dflt * DRIFT_BOUND * dflt};
	CHECK_INT(chain_anchor(&c, &c.at, &a, &cut, &err), 0);
	CHECK(!a.reanchored); /* within three of its own standard errors */
	c.at = (struct chain_state){.tau = 0.1, .default_seconds = dflt};
	CHECK_INT(chain_anchor(&c, &c.at, &a, &cut, &err), 0);
	CHECK(a.reanchored && c.at.known && c.at.running == a.whole); /* a random start learns where it is */
	chain_release(&c);
	lab_release(&lab);
}

int main(void)
{
	RUN(probabilities);
	RUN(no_temperature);
	RUN(temperature);
	RUN(costs);
	RUN(distribution);
	RUN(sweeps_and_states);
	RUN(dear_sites_come_last);
	RUN(anchors);
	return test_done();
}
