/*
 * check_cost_places.c - a move that whole programs price: where these take too long, what its places promise is its
 * cost, and that it is a guess can be seen.
 */
#include "tests/script_device.h"

/* All programs compute the same numbers. */
static int same_numbers(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
	struct comparison *out, struct err *err)
{
	(void)d;
	(void)a;
	(void)b;
	(void)o;
	(void)out;
	(void)err;
	return 0;
}

static struct space *convolution(struct graph *g, int channels)
{
	char text[400];

	snprintf(text, sizeof text, "HloModule m\nENTRY e {\n x = f32[8,16,16,%d] parameter(0)\n"
		" k = f32[1,1,%d,64] parameter(1)\n ROOT y = f32[8,16,16,64] convolution(x, k), window={size=1x1}, "
		"dim_labels=b01f_01io->b01f\n}\n", channels, channels);
	CHECK(graph_parse(g, text, strlen(text), "m", NULL) == 0);
	return space_open("rewrite", "cpu", g, NULL, 0, NULL);
}

/* A choice of the only site that has a place and then whole programs. */
static uint8_t told_whole(struct space *s)
{
	uint8_t before[1] = {0}, after[1];
	bool whole = false;

	for (uint8_t k = 1; k < s->site[0].choices; k++) {
		struct regions r = {0};
		after[0] = k;
		CHECK(s->ops->region(s, before, after, &r, NULL) == 0);
		whole = r.n == 2 && r.v[0].screen && r.v[1].whole;
		regions_release(&r);
		if (whole)
			return k;
	}
	return 0;
}

/* Prices the flip if a pair of programs takes 200 s, and may take `pair`. */
static struct delta priced(struct space *s, double pair, uint32_t *compiles, double *takes)
{
	struct worth w = {.pair = pair};
	struct cost_options o = {.policy = POLICY_REGION, .seed = 5};
	struct device_ops ops = script_ops;
	struct script d = new_script();
	struct cost *c = cost_new(s, &d.d, &o, NULL);
	uint8_t before[1] = {0}, after[1] = {told_whole(s)};
	struct delta out = {0};
	size_t bytes;

	ops.compare = same_numbers;
	d.d.ops = &ops;
	cost_set_worth(c, &w);
	cost_set_pace(c, 100, 1000);
	CHECK(cost_takes(c, before, after, INFINITY, takes, &bytes, NULL) == 0);
	CHECK(cost_delta(c, before, after, &out, NULL) == 0 && out.outcome == OUTCOME_OK);
	*compiles = d.compiles;
	cost_free(c);
	return out;
}

static void places_do_where_programs_take_too_long(void)
{
	int promising = 0;

	for (int channels = 8; channels < 40; channels++) {
		struct graph g;
		struct space *s = convolution(&g, channels);
		double takes, guessed_in, in_time;
		uint32_t n;
		struct delta sure, guess, enough;
		if (!CHECK(s && s->n_sites == 1 && told_whole(s)))
			return;
		sure = priced(s, 0, &n, &takes);
		enough = priced(s, 1000, &n, &in_time);
		CHECK(enough.seconds == sure.seconds && enough.regions == sure.regions && in_time == takes);
		guess = priced(s, 10, &n, &guessed_in);
		CHECK(guess.regions == 1 && n == 2 && guessed_in < takes - 99);
		if (sure.regions == 2) {
			promising++;
			CHECK(guess.seconds < 0 && guess.se >= 0.5 * -guess.seconds && guess.se > sure.se);
		} else {
			CHECK(guess.seconds == sure.seconds && guess.seconds >= 0);
		}
		space_free(s);
		graph_release(&g);
	}
	CHECK(promising > 0 && promising < 32);
}

int main(void)
{
	RUN(places_do_where_programs_take_too_long);
	return test_done();
}
