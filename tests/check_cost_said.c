/*
 * check_cost_said.c - where a compiler says what whole programs cost: they are asked about once, instead of regions
 * that are larger, and after regions that promise a gain. On a device whose answers are scripted, so regions and
 * whole programs never agree.
 */
#include "cost/own.h"
#include "tests/script_device.h"

static struct script new_compiler(void)
{
	struct script s = new_script();

	s.d.info.kind = COST_ESTIMATED;
	s.d.info.quantity = QUANTITY_SECONDS;
	return s;
}

static struct cost *open_cost(struct script *s, bool ask)
{
	struct cost_options o = {.ask_wholes = ask, .part_seconds = -1};

	return cost_new(space, &s->d, &o, NULL);
}

static double whole_seconds(const uint8_t *config)
{
	struct buf m = {0};
	double seconds;

	CHECK(space->ops->apply(space, config, &m, NULL) == 0);
	seconds = hashed_seconds(hash64(m.data, m.len, 0));
	buf_release(&m);
	return seconds;
}

/* Each program is compiled once, alone, and never run. */
static void wholes_are_asked_once(void)
{
	struct script s = new_compiler();
	struct cost *c = open_cost(&s, false);
	struct timing t = {0};
	double seconds;

	flipped(3);
	CHECK(cost_default_seconds(c, &seconds, NULL, NULL) == 0 && seconds == whole_seconds(dflt));
	CHECK_INT(s.compiles, 1);
	for (int again = 0; again < 2; again++) {
		CHECK(cost_whole(c, dflt, flip, NULL, &t, NULL) == 0 && t.outcome == OUTCOME_OK);
		CHECK(t.kind == COST_ESTIMATED && t.delta == whole_seconds(flip) - whole_seconds(dflt));
		CHECK_INT(s.compiles, 2);
	}
	CHECK_INT(s.pairs, 0);
	CHECK_INT(s.live, 0);
	cost_free(c);
}

/* A region's promise counts only if the whole program keeps it; where there is none the program is not asked about. */
static void promises_are_checked(void)
{
	struct script s = new_compiler();
	struct cost *c = open_cost(&s, true), *plain = open_cost(&s, false);
	uint32_t promised = 0, kept = 0;
	struct rng r;

	c->program = 256 << 10; /* a large one, so that regions are worth a look */
	rng_seed(&r, 4);
	for (uint32_t k = 0; k < space->n_sites; k++) {
		struct delta by_region, d;
		space_random(space, 0.5, &r, dflt);
		memcpy(flip, dflt, space->n_sites);
		flip[k] ^= 1;
		CHECK(cost_delta(plain, dflt, flip, &by_region, NULL) == 0 && cost_delta(c, dflt, flip, &d, NULL) == 0);
		if (by_region.seconds >= 0) {
			CHECK(d.seconds == by_region.seconds && d.measured == by_region.measured);
			continue;
		}
		promised++;
		kept += d.seconds < 0;
		CHECK(d.outcome == OUTCOME_OK && d.seconds == whole_seconds(flip) - whole_seconds(dflt) && d.se == 0);
		CHECK_INT(d.regions, by_region.regions + 1);
	}
	CHECK(promised > 5 && kept > 0 && kept < promised);
	CHECK_INT(s.live, 0);
	cost_free(plain);
	cost_free(c);
}

/* Many changes at once: two programs are compiled, and no regions; with no wish for that, the regions. */
static void large_moves_are_asked_whole(void)
{
	struct script s = new_compiler();
	struct cost *c = open_cost(&s, true), *plain = open_cost(&s, false);
	struct agenda agenda = {0};
	struct delta d;
	double seconds;
	size_t bytes;

	flipped(0);
	for (uint32_t i = 0; i < space->n_sites; i++)
		flip[i] = dflt[i] ^ 1;
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_OK);
	CHECK(d.seconds == whole_seconds(flip) - whole_seconds(dflt) && d.regions == 1 && d.measured == 1);
	CHECK(s.compiles == 2 && s.pairs == 0);
	CHECK(cost_expect(c, dflt, flip, 1, &agenda, NULL) == 0 && agenda.n == 0);
	cost_set_pace(c, 1, 1 << 20);
	CHECK(cost_takes(c, dflt, flip, INFINITY, &seconds, &bytes, NULL) == 0 && bytes > 0 && seconds > 0);
	CHECK(cost_delta(plain, dflt, flip, &d, NULL) == 0 && d.regions > 1 && s.pairs == d.measured);
	agenda_release(&agenda);
	cost_free(plain);
	cost_free(c);
}

/* What was asked is found in a store, and a failure is an outcome. */
static int found_everywhere(void *ctx, const uint64_t key[2], struct price *out, struct err *err)
{
	(void)err;
	if (key[0] != 0)
		return 0;
	++*(uint32_t *)ctx;
	*out = (struct price){.delta = 5e-6, .kind = COST_ESTIMATED};
	return 1;
}

static void stores_and_failures(void)
{
	struct script s = new_compiler();
	uint32_t asked = 0;
	struct cost_options o = {.ask_wholes = true, .hooks = {.ctx = &asked, .lookup = found_everywhere}};
	struct cost *c = cost_new(space, &s.d, &o, NULL);
	struct timing t = {0};

	flipped(3);
	CHECK(cost_whole(c, dflt, flip, NULL, &t, NULL) == 0 && t.seconds_a == 5e-6 && t.seconds_b == 5e-6);
	CHECK(asked == 2 && s.compiles == 0);
	cost_free(c);
	s.fail_compile = 1;
	s.failure = OUTCOME_REFUSED;
	c = open_cost(&s, true);
	CHECK(cost_whole(c, dflt, flip, NULL, &t, NULL) == 0 && t.outcome == OUTCOME_REFUSED);
	CHECK_INT(s.compiles, 1);
	cost_free(c);
}

/* Where programs are run, nothing of this holds. */
static void runs_are_not_asked(void)
{
	struct script s = new_script();
	struct cost *c = open_cost(&s, true);
	struct delta d;
	struct timing t = {0};

	flipped(3);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.regions == 1 && s.pairs == 1);
	CHECK(cost_whole(c, dflt, flip, NULL, &t, NULL) == 0 && s.pairs == 2);
	timing_release(&t);
	cost_free(c);
}

int main(void)
{
	script_open();
	RUN(wholes_are_asked_once);
	RUN(promises_are_checked);
	RUN(large_moves_are_asked_whole);
	RUN(stores_and_failures);
	RUN(runs_are_not_asked);
	script_close();
	return test_done();
}
