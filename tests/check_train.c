/*
 * check_train.c - training: what examples consist of; that they can be learnt by heart, and in general from toy to toy;
 * and that the same seed gives the same bytes with any number of threads.
 */
#include <stdlib.h>
#include "base/stat.h"
#include "base/stop.h"
#include "learn/infer.h"
#include "learn/pack.h"
#include "tests/lesson.h"

static struct train_options small(void)
{
	struct train_options o = TRAIN_DEFAULTS;

	o.size.width = o.size.head = 16;
	o.batch = 64;
	o.least_steps = 0;
	o.evaluations = 1;
	return o;
}

static struct lesson small_lesson(void)
{
	struct lesson t = lesson_new();

	t.o = small();
	return t;
}

struct tally {
	uint32_t done[1000], by[1000];
};
static void tally(void *ctx, uint32_t item, uint32_t member)
{
	struct tally *t = ctx;
	t->done[item]++;
	t->by[item] = member;
}
static void work_is_done_once_each(void)
{
	for (uint32_t n = 1; n <= 4; n++) {
		struct team *t = team_new(n);
		struct tally c = {0};
		for (uint32_t round = 1; round <= 20; round++) {
			team_run(t, tally, &c, 1000);
			for (uint32_t i = 0; i < 1000; i++)
				CHECK(c.done[i] == round && c.by[i] < n);
		}
		team_run(t, tally, &c, 0);
		team_free(t);
	}
}

/* A sample of three choices gives three examples with two flips each, all from the same costs. */
static void samples_become_examples(void)
{
	struct toys toys = {0};
	struct space *s = toys_add(&toys, "toy:20:3:1");
	struct data d;
	uint8_t config[64] = {0};
	struct sample x = {.site = 3, .n_choices = 3, .choice = {{0, 0, OUTCOME_OK, false},
		{2e-6, 3e-7, OUTCOME_OK, false}, {-3e-6, 5e-7, OUTCOME_OK, false}}};
	static const double want[3][2] = {{2e-6, -3e-6}, {-2e-6, -5e-6}, {3e-6, 5e-6}};
	static const double se[3][2] = {{3e-7, 5e-7}, {3e-7, 4e-7}, {5e-7, 4e-7}}; /* hypot(3, 4) is 5 */

	config[3] = 1; /* the present choice, whose error is in that of choice 2 */
	data_init(&d, 3);
	data_sample(&d, data_graph(&d, "toy", s), config, &x);
	x.choice[1].outcome = OUTCOME_CRASHED; /* leaves 0 and 2 to compare */
	data_sample(&d, 0, config, &x);
	x.choice[2].delta = NAN; /* leaves nothing */
	data_sample(&d, 0, config, &x);
	data_finish(&d);
	CHECK_INT(d.n_examples, 5);
	CHECK_INT(d.graph[0].n_samples, 2);
	CHECK_INT(d.graph[0].n_skipped, 1);
	for (uint32_t i = 0; i < 3 && !test_failed; i++) {
		const struct example *e = &d.example[i];
		CHECK_INT(e->from, i);
		CHECK_INT(e->n_flips, 2);
		for (int k = 0; k < 2; k++) {
			CHECK_NEAR(e->label[k].advantage, want[i][k], 1e-15);
			CHECK_NEAR(e->label[k].se, se[i][k], 1e-15);
			CHECK(e->label[k].measured == (i == 1));
			CHECK(e->label[k].away == (e->label[k].to != s->site[3].dflt));
		}
	}
	CHECK_INT(d.example[3].from, 0);
	CHECK_INT(d.example[3].n_flips, 1);
	CHECK_NEAR(d.graph[0].sigma, 3e-6, 1e-15);
	data_release(&d);
	toys_release(&toys);
}

static void bounds_say_only_what_they_can(void)
{
	static const struct {
		bool bound1, bound2;
		double delta1, delta2;
		int flips; /* of six: three pairs of choices, both ways */
	} cases[] = {
		{true, false, 5e-6, 5e-6, 4},	/* at least 5 us worse; whether also than the other, nobody knows */
		{true, false, 5e-6, 2e-6, 6},	/* at least 3 us worse than the other */
		{true, false, 5e-6, 9e-6, 4},
		{true, false, -5e-6, 2e-6, 6},	/* at least 5 us better, and 7 than the other */
		{true, false, -5e-6, -9e-6, 4}, /* at least 5 us better: maybe than the other, too */
		{true, true, 5e-6, 9e-6, 4},	/* both worse, and nothing is known of the two */
		{true, true, -5e-6, 9e-6, 6},	/* better and worse */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct toys toys = {0};
		struct space *s = toys_add(&toys, "toy:20:3:1");
		struct data d;
		uint8_t config[64] = {0};
		int flips = 0;
		struct sample x = {.site = 3, .n_choices = 3, .choice = {{0, 0, OUTCOME_OK, false},
			{cases[i].delta1, 1e-7, OUTCOME_OK, cases[i].bound1},
			{cases[i].delta2, 1e-7, OUTCOME_OK, cases[i].bound2}}};
		data_init(&d, 3);
		data_sample(&d, data_graph(&d, "toy", s), config, &x);
		for (size_t k = 0; k < d.n_examples; k++)
			flips += d.example[k].n_flips;
		CHECK_INT(flips, cases[i].flips);
		data_release(&d);
		toys_release(&toys);
	}
}

static void losses_have_their_derivatives(void)
{
	static const struct flip_label labels[] = {{1e-6, 1e-7, 1, false, true, true}, {-1e-6, 1e-7, 1, false, true,
		true},
		{-1e-6, 2e-6, 1, false, true, true}, {0, 0, 1, false, true, true}, {8e-6, 0, 1, true, true, true}};
	struct train_options o = TRAIN_DEFAULTS;

	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		for (int k = 0; k < OUT_COUNT; k++) {
			real out[OUT_COUNT] = {0.3f, -0.4f, 0.2f}, d[OUT_COUNT], ignored[OUT_COUNT], h = 1e-2f;
			double up, down;
			flip_loss(&o, &labels[i], 1e-6, out, d);
			out[k] += h;
			up = flip_loss(&o, &labels[i], 1e-6, out, ignored);
			out[k] -= 2 * h;
			down = flip_loss(&o, &labels[i], 1e-6, out, ignored);
			CHECK_NEAR((up - down) / (2 * (double)h), (double)d[k], 1e-4);
		}
}

/* The network gives the same number on a packed batch and as a prediction of the whole graph. */
static void agree(uint32_t ramps)
{
	struct toys toys = {0};
	struct space *s = toys_add(&toys, "toy:60:3:2");
	struct model m = {.facts.space = (char[]){"toy"}};
	struct train_options o = small();
	struct train_result r = {0};
	struct err err = {0};
	struct data d;
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct pack p = {0};
	struct pass pass = {0};
	struct infer *f;
	uint32_t e = 0;

	data_init(&d, 3);
	data_graph(&d, "toy", s);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct sample x = toy_sample(s, config, i);
		data_sample(&d, 0, config, &x);
	}
	data_finish(&d);
	o.epochs = 2;
	o.ramps = ramps;
	CHECK(train(&d, NULL, &o, &m.net, &r, &err) == 0);
	f = infer_new(&m, s, &err);
	infer_move(f, config);
	for (e = 0; e < d.n_examples; e++) {
		if (d.example[e].from != config[d.example[e].site])
			continue;
		pack_examples(&p, &d, &m.net, NULL, &e, 1);
		net_forward(&m.net, &p.batch, &pass);
		for (uint8_t k = 0; k < d.example[e].n_flips; k++) {
			float want = pass.out[k * OUT_COUNT + OUT_MAGNITUDE];
			CHECK_NEAR(infer_site(f, d.example[e].site)[d.example[e].label[k].to].magnitude,
				want > 0 ? want : 0, 1e-5 * (1 + fabsf(want)));
		}
	}
	infer_free(f);
	pack_release(&p);
	pass_release(&pass);
	net_release(&m.net);
	train_result_release(&r);
	data_release(&d);
	toys_release(&toys);
	mem_free(config);
}

static void batches_agree_with_inference(void)
{
	agree(0);
	agree(8);
}

static void twenty_samples_are_learnt_by_heart(void)
{
	struct lesson t = small_lesson();
	struct space *s = toys_add(&t.toys, "toy:20:2:3");

	toy_samples(&t.d, s, "toy", 1, 1);
	data_finish(&t.d);
	t.o.size.width = t.o.size.head = 32;
	t.o.top_draws = 0;
	t.o.current_only = true;
	t.o.adam.decay = 0;
	t.o.epochs = 2000;
	CHECK(train(&t.d, NULL, &t.o, &t.net, &t.r, &t.err) == 0);
	CHECK_INT(t.r.n_train, 20);
	real out[20 * OUT_COUNT];
	uint32_t all[20];
	size_t n = 0;
	for (uint32_t i = 0; i < t.d.n_examples; i++)
		if (t.d.example[i].label[0].measured)
			all[n++] = i;
	train_predict(&t.net, &t.d, NULL, all, n, t.team, out);
	for (size_t i = 0; i < n; i++) {
		const struct flip_label *l = t.d.example[all[i]].label;
		CHECK_NEAR(out[i * OUT_COUNT], log1p(fabs(l->advantage) / t.d.graph[0].sigma), 0.05);
		CHECK((out[i * OUT_COUNT + OUT_SIGN] > 0) == (l->advantage < 0));
	}
	lesson_release(&t);
}

static void toy_world(struct toys *toys, struct data *d, int n, int sweeps)
{
	for (int i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof name, "toy:40:3:%d", i + 1);
		toy_samples(d, toys_add(toys, name), name, sweeps, (uint64_t)i);
	}
	data_finish(d);
}

static void same_seed_same_bytes_any_threads(void)
{
	struct toys toys = {0};
	struct data d;
	struct net net[4];
	static const struct {
		uint32_t threads;
		uint64_t seed;
	} runs[] = {{1, 7}, {1, 7}, {2, 7}, {1, 8}};

	data_init(&d, 3);
	toy_world(&toys, &d, 3, 1);
	for (int i = 0; i < 4; i++) {
		struct train_options o = small();
		struct train_result r = {0};
		struct err err = {0};
		bool held[3] = {false, true, false};
		o.threads = runs[i].threads;
		o.seed = runs[i].seed;
		o.batch = 100; /* shards that are not all full */
		o.epochs = 20;
		o.evaluations = 3;
		o.patience = 3;
		CHECK(train(&d, held, &o, &net[i], &r, &err) == 0);
		CHECK(r.n_points >= 1 && isfinite(r.point[0].held_loss));
		train_result_release(&r);
	}
	for (int i = 1; i < 4; i++)
		CHECK((memcmp(net[0].weight, net[i].weight, net[0].n_weights * sizeof(real)) == 0) == (i < 3));
	for (int i = 0; i < 4; i++)
		net_release(&net[i]);
	data_release(&d);
	toys_release(&toys);
}

/* A model that was trained on five toys predicts a sixth one. */
/* Examples of a graph of hardly any weight are never drawn, so lies in it teach nothing. */
static void graphs_are_drawn_by_their_weight(void)
{
	double loss[4];

	for (int i = 0; i < 4; i++) {
		struct lesson t = small_lesson();
		toy_world(&t.toys, &t.d, 3, 1);
		t.d.graph[2].weight = i < 2 ? 1e-12 : 1;
		for (size_t k = 0; k < t.d.n_examples; k++)
			if (i % 2 && t.d.example[k].graph == 2)
				t.d.example[k].label[0].advantage *= 30;
		t.o.epochs = 5;
		t.o.evaluations = 1;
		CHECK(train(&t.d, NULL, &t.o, &t.net, &t.r, &t.err) == 0);
		loss[i] = t.r.n_points ? t.r.point[0].loss : 0;
		lesson_release(&t);
	}
	CHECK(loss[0] == loss[1] && loss[2] != loss[3]);
}

static void an_unseen_toy_is_predicted(void)
{
	struct lesson t = small_lesson();
	bool held[6] = {false, false, false, false, false, true};
	double *guess, *truth;
	real *out;
	size_t flips = 0, right = 0, clear = 0;

	toy_world(&t.toys, &t.d, 6, 2);
	t.o.size.width = t.o.size.head = 32;
	t.o.epochs = 40;
	CHECK(train(&t.d, held, &t.o, &t.net, &t.r, &t.err) == 0);
	out = MEM_NEW((size_t)t.d.graph[5].n_examples * 2 * OUT_COUNT, real);
	guess = MEM_NEW(t.d.graph[5].n_examples * 2, double), truth = MEM_NEW(t.d.graph[5].n_examples * 2, double);
	train_predict(&t.net, &t.d, NULL, t.d.graph[5].by_size, t.d.graph[5].n_examples, t.team, out);
	for (uint32_t i = 0; i < t.d.graph[5].n_examples; i++)
		for (uint8_t k = 0; k < t.d.example[t.d.graph[5].by_size[i]].n_flips; k++, flips++) {
			double a = t.d.example[t.d.graph[5].by_size[i]].label[k].advantage;
			guess[flips] = (double)out[flips * OUT_COUNT];
			truth[flips] = fabs(a);
			if (fabs(a) > t.d.graph[5].sigma) {
				clear++;
				right += (out[flips * OUT_COUNT + OUT_SIGN] > 0) == (a < 0);
			}
		}
	if (!CHECK(stat_spearman(guess, truth, flips) > 0.7))
		printf("Spearman %.3f\n", stat_spearman(guess, truth, flips));
	if (!CHECK((double)right > 0.75 * (double)clear))
		printf("%zu of %zu signs right\n", right, clear);
	mem_free(out), mem_free(guess), mem_free(truth);
	lesson_release(&t);
}

/* However often gains are drawn in training, the model expects as many flips to improve as did. */
static void signs_are_calibrated(void)
{
	struct lesson t = small_lesson();
	double said = 0, did = 0;
	real out[2 * OUT_COUNT];

	toy_world(&t.toys, &t.d, 2, 2);
	t.o.epochs = 5;
	t.o.gain_draws = 1;
	CHECK(train(&t.d, NULL, &t.o, &t.net, &t.r, &t.err) == 0);
	for (uint32_t i = 0; i < t.d.n_examples; i++) {
		const struct example *e = &t.d.example[i];
		if (!e->label[0].measured)
			continue;
		train_predict(&t.net, &t.d, NULL, &i, 1, t.team, out);
		for (uint8_t k = 0; k < e->n_flips; k++) {
			said += 1 / (1 + exp(-(double)out[k * OUT_COUNT + OUT_SIGN]));
			did += (double)label_improves(&e->label[k]);
		}
	}
	CHECK(did > 0);
	CHECK_NEAR(said / did, 1, 0.01);
	lesson_release(&t);
}

static void nothing_to_train_on_is_an_error(void)
{
	struct toys toys = {0};
	struct train_options o = small();
	struct train_result r = {0};
	struct net net = {0};
	struct err err = {0};
	struct data d;
	bool held[1] = {true};

	data_init(&d, 3);
	data_graph(&d, "empty", toys_add(&toys, "toy:20:2:1"));
	data_finish(&d);
	CHECK(train(&d, NULL, &o, &net, &r, &err) < 0 && strstr(err.text, "no graph has usable samples"));
	net_release(&net);
	toy_samples(&d, d.graph[0].scene.space, "full", 1, 1);
	data_release(&d);
	data_init(&d, 3);
	toy_samples(&d, toys.s[0], "full", 1, 1);
	data_finish(&d);
	CHECK(train(&d, held, &o, &net, &r, &err) < 0 && strstr(err.text, "held out"));
	net_release(&net);
	data_release(&d);
	toys_release(&toys);
}

/* Steps that are far too large end in a sentence, not in a network of weights that are no numbers. */
static void weights_beyond_all_numbers_are_an_error(void)
{
	for (uint32_t patience = 0; patience < 2; patience++) {
		struct lesson t = small_lesson();
		toy_world(&t.toys, &t.d, 2, 1);
		t.o.adam.rate = t.o.adam.decay = 10;
		t.o.adam.clip = t.o.adam.average = 0;
		t.o.least_steps = 300;
		t.o.patience = patience;
		CHECK_INT(train(&t.d, (const bool[]){false, true}, &t.o, &t.net, &t.r, &t.err), -1);
		if (!CHECK(strstr(t.err.text, "--rate")))
			printf("\t%s\n", t.err.text);
		lesson_release(&t);
	}
}

static void stopping_keeps_what_there_is(void)
{
	struct lesson t = small_lesson();

	toy_world(&t.toys, &t.d, 1, 1);
	stop_ask(true);
	CHECK(train(&t.d, NULL, &t.o, &t.net, &t.r, &t.err) == 0);
	stop_ask(false);
	CHECK(t.r.stopped && t.r.steps == 0 && t.net.weight[0] != 0);
	lesson_release(&t);
}

/* Where most flips cost exactly nothing, the scale of a program is that of the others. */
static void the_scale_is_of_what_costs_something(void)
{
	static const struct {
		uint32_t every; /* one example of so many costs something; 0: none does */
		double sigma;
	} t[] = {{1, 2e-6}, {4, 2e-6}, {0, 1e-12}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct lesson l = lesson_new();
		toy_samples(&l.d, toys_add(&l.toys, "toy:60:3:1"), "toy:60:3:1", 2, 1);
		for (size_t k = 0; k < l.d.n_examples; k++)
			for (uint8_t f = 0; f < l.d.example[k].n_flips; f++)
				l.d.example[k].label[f].advantage = t[i].every && k % t[i].every == 0 ? -2e-6 : 0;
		data_finish(&l.d);
		CHECK_NEAR(l.d.graph[0].sigma, t[i].sigma, 1e-15);
		lesson_release(&l);
	}
}

int main(void)
{
	RUN(the_scale_is_of_what_costs_something);
	RUN(work_is_done_once_each);
	RUN(samples_become_examples);
	RUN(bounds_say_only_what_they_can);
	RUN(losses_have_their_derivatives);
	RUN(batches_agree_with_inference);
	RUN(twenty_samples_are_learnt_by_heart);
	RUN(same_seed_same_bytes_any_threads);
	RUN(graphs_are_drawn_by_their_weight);
	RUN(an_unseen_toy_is_predicted);
	RUN(signs_are_calibrated);
	RUN(nothing_to_train_on_is_an_error);
	RUN(weights_beyond_all_numbers_are_an_error);
	RUN(stopping_keeps_what_there_is);
	return test_done();
}
