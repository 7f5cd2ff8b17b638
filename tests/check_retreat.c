/*
 * check_retreat.c - a hunt whose whole program fails keeps the steps before the one at fault.
 *
 * The device is our performance model. We let every whole program fail that has more steps than we say.
 */
#include <string.h>
#include "device/ops.h"
#include "search/hunt.h"
#include "tests/test.h"

#define PROGRAM "examples/graphs/train/vae.pb.zst"
#define STEPS 9

static const struct device_ops *own;
static const struct hunt *hunted; /* NULL: nothing fails */
static size_t standing;		  /* so many steps run */

static int pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	int rc = own->pair(d, a, b, p, out, err);

	if (p->give_up < 0 && hunted && hunted->n_steps > standing)
		out->outcome = OUTCOME_REFUSED;
	return rc;
}

/* Keeps STEPS steps, and remembers where the hunt stood after `standing` of them. */
static void take_steps(struct hunt *h, uint8_t *there)
{
	struct err err = {0};

	while (h->n_steps < STEPS && CHECK(hunt_next(h, &err) == 1))
		if (h->n_steps == standing)
			memcpy(there, h->config, h->s->n_sites);
}

/* Saves the hunt, and lets another one go on; `bare`: as before a state had a trail and what was refused. */
static void resume(struct hunt *h, const struct hunt_options *o, struct lab *lab, bool bare)
{
	enum { MARK = 8, TAIL = 44 }; /* bytes that states did not begin and end with then */
	struct hunt was = *h;
	struct buf state = {0};
	struct err err = {0};

	if (bare)
		was.n_trail = was.n_refused = 0;
	hunt_save(&was, &state);
	hunt_release(h);
	CHECK(hunt_begin(h, o, lab, NULL, &err) == 0);
	CHECK(hunt_load(h, state.data + (bare ? MARK : 0), state.len - (bare ? MARK + TAIL : 0), &err) == 0);
	CHECK_STR(err.text, "");
	buf_release(&state);
}

static void steps_before_the_bad_one_stay(void)
{
	static const struct {
		size_t standing, kept;
	} t[] = {{8, 8}, {5, 5}, {1, 1}, {0, 0}};
	struct device_options on = {.backend = "sim"};
	struct cost_options co = {.part_seconds = -1};
	struct err err = {0};
	struct device *d = device_open(&on, &err);
	struct device_ops ops;
	struct lab lab = {0};
	size_t refused;

	if (!CHECK(d != NULL))
		return;
	own = d->ops;
	ops = *own;
	ops.pair = pair;
	d->ops = &ops;
	if (!CHECK(lab_open(&lab, PROGRAM, "fusion", d, &co, NULL, &err) == 0))
		return;
	for (size_t k = 0; k < 2 * sizeof t / sizeof *t; k++) {
		size_t i = k / 2;
		struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 400, .alpha = 10, .hops = 1, .seed = 4};
		uint8_t *there = mem_alloc(lab.space->n_sites);
		struct hunt h;

		standing = t[i].standing;
		CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
		memcpy(there, h.config, h.s->n_sites);
		take_steps(&h, there);
		CHECK_INT(h.n_trail, STEPS);
		h.strayed = 7, h.schemes = 5, h.fresh = 0.25;
		refused = h.n_refused;
		if (k % 2)
			resume(&h, &o, &lab, false);
		CHECK(h.n_trail == STEPS && h.n_refused == refused && refused > 0);
		CHECK(h.strayed == 7 && h.schemes == 5 && h.fresh == 0.25);
		hunted = &h;
		CHECK(hunt_retreat(&h, &err) == 0);
		hunted = NULL;
		CHECK_INT(h.n_steps, t[i].kept);
		CHECK(memcmp(h.config, there, h.s->n_sites) == 0 && memcmp(h.sure, there, h.s->n_sites) == 0);
		CHECK(h.hash == config_hash(h.s, h.config) && h.n_trail == 0);
		CHECK(t[i].kept == 0 ? h.running.value == 0 : h.running.value < 0);
		resume(&h, &o, &lab, true);
		CHECK(h.n_steps == t[i].kept && h.n_trail == 0 && h.n_refused == 0 && h.strayed == 0);
		hunt_release(&h);
		mem_free(there);
	}
	lab_release(&lab);
	device_close(d);
}

int main(void)
{
	RUN(steps_before_the_bad_one_stay);
	return test_done();
}
