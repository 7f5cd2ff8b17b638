/*
 * check_shard_guess.c - what a layout is guessed to cost, what a learner sees of it, and schemes in a model's order.
 *
 * Over four devices. The step has two layers: x is [examples, in], w1 [in, hidden], w2 [hidden, out]; m1 is a moment.
 */
#include <math.h>
#include "hlo/pack.h"
#include "learn/rater.h"
#include "search/hunt.h"
#include "space/shard/guess.h"
#include "tests/test.h"

static const char step[] =
	"HloModule step\n"
	"ENTRY main {\n"
	"  w1 = f32[1024,4096] parameter(0)\n"
	"  m1 = f32[1024,4096] parameter(1)\n"
	"  w2 = f32[4096,1024] parameter(2)\n"
	"  x = f32[8192,1024] parameter(3)\n"
	"  rate = f32[] constant(0.1)\n"
	"  h = f32[8192,4096] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  a = f32[8192,4096] tanh(h)\n"
	"  y = f32[8192,1024] dot(a, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  dw2 = f32[4096,1024] dot(a, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  dh = f32[8192,4096] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
	"  dw1 = f32[1024,4096] dot(x, dh), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  r1 = f32[1024,4096] broadcast(rate), dimensions={}\n"
	"  r2 = f32[4096,1024] broadcast(rate), dimensions={}\n"
	"  old = f32[1024,4096] multiply(m1, r1)\n"
	"  m1n = f32[1024,4096] add(old, dw1)\n"
	"  p1 = f32[1024,4096] multiply(m1n, r1)\n"
	"  w1n = f32[1024,4096] subtract(w1, p1)\n"
	"  p2 = f32[4096,1024] multiply(dw2, r2)\n"
	"  w2n = f32[4096,1024] subtract(w2, p2)\n"
	"  ROOT out = (f32[1024,4096], f32[1024,4096], f32[4096,1024]) tuple(w1n, m1n, w2n)\n"
	"}\n";

struct stepping {
	struct graph g;
	struct space *s;
	uint8_t *config, *other;
};

static void open_step(struct stepping *o)
{
	struct err err = {{0}};

	*o = (struct stepping){.s = NULL};
	CHECK_INT(graph_parse(&o->g, step, sizeof step - 1, "the step", &err), 0);
	o->s = space_open("shard:4", "sim", &o->g, NULL, 0, &err);
	CHECK_STR(err.text, "");
	o->config = MEM_NEW(o->s->n_sites + 1, uint8_t);
	o->other = MEM_NEW(o->s->n_sites + 1, uint8_t);
}

static void close_step(struct stepping *o)
{
	mem_free(o->config);
	mem_free(o->other);
	space_free(o->s);
	graph_release(&o->g);
}

static struct loads guess_start(struct stepping *o, const char *name)
{
	struct loads g;

	space_start_find(o->s, name)->fill(o->s, o->config);
	shard_guess(o->s, o->config, &g);
	return g;
}

static double sent(double bytes)
{
	return bytes * 0.75 / 90e9;
}

/* What is known of the layouts that people make: who works on how much, and what has to be sent. */
static void layouts_by_hand_are_as_expected(void)
{
	struct stepping o;
	const double weight = 4.0 * 1024 * 4096, rows = 4.0 * 8192;
	struct loads none, g;

	open_step(&o);
	none = guess_start(&o, "none");
	CHECK(none.of[LOAD_SUMMED] == 0 && none.of[LOAD_MOVED] == 0 && none.laid == 0);
	CHECK_NEAR(none.of[LOAD_WEIGHTS], 2 * 2 * weight / 800e9, 1e-12);
	CHECK_NEAR(none.of[LOAD_MOMENTS], 2 * weight / 800e9, 1e-12);
	g = guess_start(&o, "data"); /* the gradients of both weights are sums over devices */
	CHECK_NEAR(g.of[LOAD_WORK], none.of[LOAD_WORK] / 4, 1e-12);
	CHECK_NEAR(g.of[LOAD_SUMMED], 2 * 2 * sent(weight), 1e-12);
	CHECK(g.of[LOAD_MOVED] == 0);
	CHECK_NEAR(g.of[LOAD_DATA], none.of[LOAD_DATA] / 4, 1e-12);
	g = guess_start(&o, "zero"); /* a weight is gathered after its moment, of which each has a part, is updated */
	CHECK_NEAR(g.of[LOAD_MOVED], sent(weight) / 2, 1e-12);
	CHECK_NEAR(g.of[LOAD_MOMENTS], none.of[LOAD_MOMENTS] / 4, 1e-12);
	g = guess_start(&o, "model"); /* the hidden features are split, so y is a sum */
	CHECK_NEAR(g.of[LOAD_WORK], none.of[LOAD_WORK] / 4, 1e-12);
	CHECK_NEAR(g.of[LOAD_SUMMED], 2 * sent(rows * 1024), 1e-12);
	CHECK(g.of[LOAD_MOVED] == 0);
	g = guess_start(&o, "fsdp"); /* weights are gathered where they meet data that are split by examples */
	CHECK(g.of[LOAD_MOVED] > 2 * sent(weight));
	CHECK_NEAR(g.of[LOAD_WEIGHTS], none.of[LOAD_WEIGHTS] / 4, 1e-12);
	close_step(&o);
}

/* A flip and the same flip as a move are described alike; a move is described by what all of it does. */
static void moves_are_seen_as_flips(void)
{
	struct stepping o;
	float flip[32] = {0}, move[32] = {0}, all[32] = {0};
	const uint32_t n = shard_features.n_effect;

	open_step(&o);
	for (uint32_t i = 0; i < o.s->n_sites; i++)
		for (uint8_t k = 1; k < o.s->site[i].choices; k++) {
			memcpy(o.other, o.config, o.s->n_sites);
			o.other[i] = k;
			o.s->ops->effect(o.s, o.config, i, k, flip);
			o.s->ops->effect_of(o.s, o.config, o.other, move);
			CHECK(memcmp(flip, move, sizeof flip) == 0 && o.config[i] == 0);
			CHECK_INT(feature_lead(o.s, o.config, o.other), i);
		}
	space_start_find(o.s, "data")->fill(o.s, o.other);
	o.s->ops->effect_of(o.s, o.config, o.other, all);
	CHECK_NEAR(all[n] - all[0], -2, 1e-4); /* log2 of the work: a quarter */
	CHECK(all[1] == 0 && all[n + 1] > 0);
	CHECK_INT(feature_lead(o.s, o.other, o.other), NONE);
	close_step(&o);
}

static double wanted; /* the guess that the scorer below likes best is the lowest */

static float rate(void *ctx, const uint8_t *from, const uint8_t *to)
{
	struct loads g;
	double sum = 0;

	(void)from;
	shard_guess(ctx, to, &g);
	for (int k = 0; k < LOAD_COUNT; k++)
		sum += g.of[k];
	return (float)(wanted - sum);
}

static float score(void *ctx, uint32_t site, uint8_t choice)
{
	(void)ctx;
	(void)site;
	(void)choice;
	return -1e6f;
}

/* With a scorer that rates moves, the scheme that it likes best comes first; some come in the kind's own order. */
static void schemes_come_in_the_models_order(void)
{
	struct stepping o;
	struct hunt h;
	struct lab lab = {0};
	struct hunt_options ho = {.budget = 1000, .seed = 1, .alpha = 100, .adapt = true};
	struct scorer scorer = {.score = score, .rate = rate};
	float last = INFINITY;
	uint32_t drawn = 0, hedged = 0, position = 0;

	open_step(&o);
	lab.space = o.s;
	scorer.ctx = o.s;
	hunt_prepare(&h, &ho, &lab);
	hunt_stand(&h, &scorer);
	for (int i = 0; i < 200; i++) {
		float now;
		CHECK(hunt_propose(&h));
		now = rate(o.s, h.config, h.candidate);
		if (h.scheme == SCHEMES_DONE)
			break;
		CHECK(h.scheme == position || now <= last);
		last = h.scheme == position ? last : now;
		hedged += h.scheme == position; /* the kind's own order */
		position = h.scheme;
		drawn++;
		hunt_refuse(&h);
		hunt_undo(&h);
	}
	CHECK(drawn > 5 && hedged > 0 && hedged < drawn / 2);
	hunt_release(&h);
	close_step(&o);
}

/* Guesses what all layouts by hand cost. */
static void guess_all(const struct graph *g)
{
	struct err err = {{0}};
	struct space *s = space_open("shard:2x2", "sim", g, NULL, 0, &err);
	uint8_t *config;
	struct loads l;

	if (!CHECK(s))
		return;
	config = MEM_NEW(s->n_sites + 1, uint8_t);
	for (const struct space_start *x = shard_starts; x->name; x++) {
		x->fill(s, config);
		shard_guess(s, config, &l);
		CHECK(isfinite(l.of[LOAD_WORK]) && isfinite(l.of[LOAD_MOVED]));
	}
	mem_free(config);
	space_free(s);
}

/* Programs that no compiler takes, and that nothing before this has refused. */
static void broken_products_are_guessed_as_well(void)
{
#define BROKEN(line) "HloModule m\nENTRY main {\n a = f32[64,64] parameter(0)\n b = f32[64,64] parameter(1)\n" \
	" c = f32[4,4,4,4,4,4,4,4,4,4] parameter(2)\n " line "}\n"
	static const char *const text[] = {
		BROKEN("ROOT r = f32[64,64] dot(a, b), lhs_contracting_dims={1}\n"),
		BROKEN("ROOT r = f32[64,64] dot(a, b), rhs_contracting_dims={1}\n"),
		BROKEN("ROOT r = f32[64,64] dot(a, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={1}\n"),
		BROKEN("ROOT r = f32[64,64] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, "
			"rhs_contracting_dims={0}\n"),
		BROKEN("ROOT r = f32[64,64] dot(a, b), rhs_batch_dims={0}, lhs_contracting_dims={1}, "
			"rhs_contracting_dims={1}\n"),
		BROKEN("s = f32[64,64,64,64] custom-call(a), custom_call_target=\"Sharding\"\n"
			" ROOT r = f32[64,64,64,64] dot(s, b), lhs_contracting_dims={3}, rhs_contracting_dims={0}\n"),
	};

	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct graph g;
		struct err err = {{0}};
		CHECK_INT(graph_parse(&g, text[i], strlen(text[i]), "it", &err), 0);
		guess_all(&g);
		graph_release(&g);
	}
}

/* A convolution whose result has fewer dimensions than its operands: a text cannot say that, but a file can. */
static void a_convolution_may_lose_dimensions(void)
{
	static const char text[] = "HloModule m\nENTRY main {\n a = f32[64,64] parameter(0)\n"
		" b = f32[4,4,4,4,4,4,4,4,4,4] parameter(1)\n c = f32[4,4,4,4,4,4,4,4,4,4] parameter(2)\n"
		" v = f32[4,4,4,4,4,4,4,4,4,4] convolution(b, c), window={size=4x4x4x4x4x4x4x4}, "
		"dim_labels=01234567bf_01234567io->01234567bf\n ROOT r = f32[64,64] negate(a)\n}\n";
	Hlo__ConvolutionDimensionNumbers *d;
	struct buf module = {0};
	struct err err = {{0}};
	struct graph g, broken;

	CHECK_INT(graph_parse(&g, text, sizeof text - 1, "it", &err), 0);
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		if (g.node[v].opcode != OP_CONVOLUTION)
			continue;
		g.node[v].proto->shape = g.node[g.comp[g.entry].root].proto->shape;
		d = g.node[v].proto->convolution_dimension_numbers;
		d->n_output_spatial_dimensions = 0;
		d->output_batch_dimension = 0;
		d->output_feature_dimension = 1;
	}
	pack_message(&g.module->base, &module);
	if (CHECK_INT(graph_parse(&broken, module.data, module.len, "it", &err), 0)) {
		guess_all(&broken);
		graph_release(&broken);
	}
	CHECK_STR(err.text, "");
	buf_release(&module);
	graph_release(&g);
}

int main(void)
{
	RUN(broken_products_are_guessed_as_well);
	RUN(a_convolution_may_lose_dimensions);
	RUN(layouts_by_hand_are_as_expected);
	RUN(moves_are_seen_as_flips);
	RUN(schemes_come_in_the_models_order);
	return test_done();
}
