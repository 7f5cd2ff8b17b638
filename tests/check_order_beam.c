/*
 * check_order_beam.c - beams over windows of an order. On small lines they are compared with trying all orders, on
 * large ones with counting bytes the slow way; and after annealing they must find what it left.
 */
#include "space/order/anneal.h"
#include "space/order/beam.h"
#include "space/order/list.h"
#include "tests/order_chains.h"
#include "tests/order_slow.h"
#include "tests/test.h"

/* Does a beam that may do all find an order below so many bytes? Checks what it found. */
static bool finds(const struct line *l, const uint32_t *order, uint64_t below, bool backwards)
{
	struct beam_options o = {.width = 5000, .near = l->n, .backwards = backwards, .below = below};
	uint64_t bytes[16] = {0};
	double orders = 0;
	struct course c;
	bool found;

	course_init(&c, l, order);
	found = beam_search(&c, l->n - 1, &o, &orders);
	if (found) {
		CHECK(orders >= 1);
		course_take(&c);
		CHECK(line_legal(l, c.order));
		CHECK_INT(course_peak(&c), line_bytes(l, c.order, bytes));
		for (uint32_t p = l->n_pinned; p < l->n; p++)
			CHECK(bytes[p] < below);
	}
	course_release(&c);
	return found;
}

static void a_wide_beam_finds_the_best_of_all(void)
{
	struct rng r;

	rng_seed(&r, 21);
	for (int k = 0; k < 300; k++) {
		struct line l;
		uint32_t first[16], order[16];
		make_line(&l, 2 + (uint32_t)rng_below(&r, 7), &r);
		as_listed(&l, first);
		memcpy(order, first, sizeof order);
		uint64_t truth = best_of_all(&l, order, 0, 0, UINT64_MAX);
		for (int backwards = 0; backwards < 2; backwards++) {
			if (!CHECK(finds(&l, first, truth + 1, backwards)))
				printf("\tline %d, %s\n", k, backwards ? "backwards" : "forwards");
			CHECK(!finds(&l, first, truth, backwards));
		}
		line_release(&l);
	}
}

/* Windows of a line that is longer than a window leave the rest as it is, and count as the whole does. */
static void a_window_counts_as_the_whole_does(void)
{
	struct rng r;
	int found = 0;

	rng_seed(&r, 22);
	for (int k = 0; k < 4; k++) {
		struct line l;
		uint32_t n = 3 * BEAM_WINDOW, *order = MEM_NEW(n, uint32_t), *old = MEM_NEW(n, uint32_t);
		uint64_t *bytes = MEM_NEW(n, uint64_t);
		struct beam_press b = {.widest = 40};
		double orders = 0, before = 0, *key = MEM_NEW(n, double);
		struct course c;
		make_line(&l, n, &r);
		for (uint32_t v = 0; v < n; v++)
			key[v] = rng_unit(&r);
		list_schedule(&l, key, order);
		course_init(&c, &l, order);
		for (bool more = true; more;) {
			uint64_t peak = course_peak(&c);
			uint32_t at = course_where(&c, peak), changed = 0;
			memcpy(old, c.order, n * sizeof *old);
			more = beam_press(&c, &b, &orders);
			CHECK(orders > before && orders <= before + 40.0 * BEAM_WINDOW / n);
			before = orders;
			for (uint32_t p = 0; p < n; p++)
				changed += old[p] != c.order[p] && (p > at ? p - at : at - p) > BEAM_WINDOW;
			CHECK_INT(changed, 0);
			CHECK(course_peak(&c) <= peak);
			found += course_where(&c, peak) != at;
		}
		CHECK(line_legal(&l, c.order));
		CHECK_INT(course_peak(&c), line_bytes(&l, c.order, bytes));
		CHECK(memcmp(c.bytes, bytes, n * sizeof *bytes) == 0);
		course_release(&c);
		line_release(&l);
		mem_free(order);
		mem_free(old);
		mem_free(bytes);
		mem_free(key);
	}
	if (!CHECK(found >= 10))
		printf("\t%d windows became better\n", found);
}

/* A trial that nobody took before a beam leaves no trace in it. */
static void an_open_trial_is_forgotten(void)
{
	struct rng r;

	rng_seed(&r, 23);
	for (int k = 0; k < 40; k++) {
		struct line l;
		uint32_t n = 20 + (uint32_t)rng_below(&r, 60), order[80], first, size;
		struct course clean, used;
		struct anneal a;
		make_line(&l, n, &r);
		as_listed(&l, order);
		course_init(&clean, &l, order);
		course_init(&used, &l, order);
		anneal_init(&a, &used, &r);
		while ((size = anneal_next(&a, &first)) == 0)
			;
		course_try(&used, first, size, a.sequence);
		for (int back = 0; back < 2; back++) {
			struct beam_options o = {.width = 30, .near = 20, .backwards = back,
				.below = course_peak(&clean)};
			uint32_t at = course_where(&clean, o.below);
			double x = 0, y = 0;
			bool found = beam_search(&clean, at, &o, &x);
			CHECK_INT(beam_search(&used, at, &o, &y), found);
			CHECK(x == y);
			CHECK(!found || memcmp(clean.trial.step, used.trial.step,
				clean.trial.n * sizeof *order) == 0);
		}
		anneal_release(&a);
		course_release(&clean);
		course_release(&used);
		line_release(&l);
	}
}

static void beams_find_what_annealing_left(void)
{
	int better = 0;
	struct rng r;

	rng_seed(&r, 24);
	for (int k = 0; k < 30; k++) {
		struct line l;
		uint32_t n = 100, order[128];
		struct beam_press b = {.widest = 64};
		double orders = 0;
		struct course c;
		struct anneal a;
		make_line(&l, n, &r);
		list_depth_first(&l, order);
		course_init(&c, &l, order);
		anneal_init(&a, &c, &r);
		for (int i = 0; i < 40; i++)
			anneal_moves(&a, 200, 0.003 / (1 + i));
		uint64_t before = course_peak(&c);
		while (beam_press(&c, &b, &orders))
			;
		better += course_peak(&c) < before;
		anneal_release(&a);
		course_release(&c);
		line_release(&l);
	}
	if (!CHECK(better >= 3))
		printf("\t%d of 30\n", better);
}

int main(void)
{
	RUN(a_wide_beam_finds_the_best_of_all);
	RUN(a_window_counts_as_the_whole_does);
	RUN(an_open_trial_is_forgotten);
	RUN(beams_find_what_annealing_left);
	return test_done();
}
