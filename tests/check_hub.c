/*
 * check_hub.c - a value that many groups read: each reader is a region of its own, the same one however many there are,
 * and together they still cost what the whole programs differ by.
 */
#include "cost/cost.h"
#include "tests/test.h"

#define MOST 12

/*
 * `n` layers of one structure and one of another read h. With `own`, each layer has a decision of its own, so that h
 * and the layers' decisions change the same groups.
 */
static void write_program(uint32_t n, bool own, struct buf *out)
{
	static const char shape[] = "f32[64,64]{1,0}";

	buf_addf(out, "HloModule m\nENTRY e {\n  x = %s parameter(0)\n  h = %s exponential(x)\n", shape, shape);
	for (uint32_t i = 0; i <= n; i++) {
		buf_addf(out, "  p%u = %s parameter(%u)\n", i, shape, i + 1);
		buf_addf(out, "  a%u = %s %s(p%u, h)\n", i, shape, i < n ? "multiply" : "add", i);
		if (own)
			buf_addf(out, "  b%u = %s tanh(a%u)\n", i, shape, i);
	}
	buf_adds(out, "  ROOT r = (");
	for (uint32_t i = 0; i <= n; i++)
		buf_addf(out, "%s%s", i ? ", " : "", shape);
	buf_adds(out, ") tuple(");
	for (uint32_t i = 0; i <= n; i++)
		buf_addf(out, "%s%s%u", i ? ", " : "", own ? "b" : "a", i);
	buf_adds(out, ")\n}\n");
}

struct hub {
	struct graph g;
	struct space *s;
	struct device *d;
	struct regions there, back;
	struct delta cost;
	struct timing whole;
};

/* Flips h, and the layers' decisions, from plain to the last choice. */
static bool open_hub(struct hub *t, uint32_t n, bool own)
{
	struct device_options o = {.backend = "sim"};
	struct buf text = {0};
	struct err err = {{0}};
	struct cost *c = NULL;
	uint8_t a[2 * MOST] = {0}, b[2 * MOST] = {0};
	bool ok;

	*t = (struct hub){.d = device_open(&o, &err)};
	write_program(n, own, &text);
	ok = CHECK(t->d && graph_parse(&t->g, text.data, text.len, "text", &err) == 0) &&
		CHECK((t->s = space_open("fusion", "sim", &t->g, NULL, 0, &err))) &&
		CHECK(t->s->n_sites == (own ? n + 2 : 1)) && CHECK((c = cost_new(t->s, t->d, NULL, &err)));
	for (uint32_t i = 0; ok && i < t->s->n_sites; i++)
		b[i] = (uint8_t)(t->s->site[i].choices - 1);
	ok = ok && CHECK(t->s->ops->region(t->s, a, b, &t->there, &err) == 0) &&
		CHECK(t->s->ops->region(t->s, b, a, &t->back, &err) == 0) &&
		CHECK(cost_delta(c, a, b, &t->cost, &err) == 0 && cost_whole(c, a, b, NULL, &t->whole, &err) == 0);
	if (!ok)
		printf("  %s\n", err.text);
	cost_free(c);
	buf_release(&text);
	return ok;
}

static void close_hub(struct hub *t)
{
	regions_release(&t->there);
	regions_release(&t->back);
	timing_release(&t->whole);
	space_free(t->s);
	graph_release(&t->g);
	device_close(t->d);
}

static double times_of(const struct regions *r)
{
	double times = 0;

	for (size_t i = 0; i < r->n; i++)
		times += r->v[i].times;
	return times;
}

static bool has(const struct regions *all, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].key[0] == from && all->v[i].key[1] == to)
			return true;
	return false;
}

/* Two or three regions: the layers, the other layer, one of them with h itself. */
static void readers_are_regions(void)
{
	for (int own = 0; own < 2; own++) {
		struct hub few, many;
		if (!open_hub(&few, 5, own) || !open_hub(&many, 11, own))
			return;
		CHECK(few.there.n == 2 || few.there.n == 3);
		CHECK_INT(many.there.n, few.there.n);
		CHECK_NEAR(times_of(&few.there), 6, 1e-12);
		CHECK_NEAR(times_of(&many.there), 12, 1e-12);
		CHECK_INT(many.back.n, many.there.n);
		for (size_t i = 0; i < many.there.n; i++) {
			const uint64_t *key = many.there.v[i].key;
			CHECK(has(&few.there, key[0], key[1])); /* known from the smaller program */
			CHECK(has(&many.back, key[1], key[0]));
		}
		close_hub(&few);
		close_hub(&many);
	}
}

static void they_sum_to_the_whole(void)
{
	for (uint32_t n = 1; n < MOST; n++)
		for (int own = 0; own < 2; own++) {
			struct hub t;
			if (!open_hub(&t, n, own))
				return;
			CHECK_INT(t.cost.outcome, OUTCOME_OK);
			if (!CHECK_NEAR(t.cost.seconds - t.cost.added, t.whole.delta, 1e-9 * t.whole.seconds_a))
				printf("  of %u layers%s\n", n, own ? ", each with a decision" : "");
			close_hub(&t);
		}
}

/* A few readers stay one region: there is nothing to be had. */
static void few_readers_stay_together(void)
{
	struct hub t;

	if (open_hub(&t, 1, false))
		CHECK_INT(t.there.n, 1);
	close_hub(&t);
}

int main(void)
{
	RUN(readers_are_regions);
	RUN(they_sum_to_the_whole);
	RUN(few_readers_stay_together);
	return test_done();
}
