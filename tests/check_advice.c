/*
 * check_advice.c - a network that takes what trees say and corrects it: whose trees advise on which program, what it
 * says before it is trained, and that a model file and the prediction of a whole program say the same.
 */
#include "learn/advice.h"
#include "learn/fit.h"
#include "learn/infer.h"
#include "learn/predict.h"
#include "tests/lesson.h"

enum { PROGRAMS = 4 };

/* The first is also measured from a configuration of zeros. */
static void toys(struct lesson *t)
{
	char name[32];

	for (int i = 1; i <= PROGRAMS; i++) {
		snprintf(name, sizeof name, "toy:40:3:%d", i);
		toy_samples(&t->d, toys_add(&t->toys, name), name, 1, (uint64_t)i);
	}
	for (uint32_t i = 0; i < t->toys.s[0]->n_sites; i++) {
		uint8_t config[64] = {0};
		struct sample x = toy_sample(t->toys.s[0], config, i);
		data_sample(&t->d, 0, config, &x);
	}
	data_finish(&t->d);
}

static struct fit_options few(void)
{
	struct fit_options o = {.learner = LEARNER_CORRECTED, .net = TRAIN_DEFAULTS, .trees = BOOST_DEFAULTS,
		.absolute = true};

	o.trees.rounds = 20;
	o.net.size.width = o.net.size.head = 16;
	o.net.ramps = 0; /* as a model of format 5 */
	o.net.least_steps = 20;
	o.net.epochs = 0.01;
	o.net.evaluations = 1;
	return o;
}

/* The largest difference between what trees say of the flips of one graph and the advice on them. */
static double differ(const struct lesson *t, uint32_t graph, const struct trees *trees, const struct advice *a)
{
	double most = 0;

	for (uint32_t i = 0; i < t->d.n_examples; i++) {
		struct advice own = {0};
		if (t->d.example[i].graph != graph)
			continue;
		advice_by(trees, &t->d, &i, 1, &own);
		for (uint8_t k = 0; k < t->d.example[i].n_flips; k++)
			for (int out = 0; out < OUT_COUNT; out++)
				most = fmax(most, fabs((double)(advice_on(&own, i, k)[out] -
					advice_on(a, i, k)[out])));
		advice_release(&own);
	}
	return most;
}

/* Of four programs one is held out: each of the others is advised on by trees of the other two. */
static void advice_comes_from_trees_that_never_saw_the_program(void)
{
	struct lesson t = lesson_new();
	struct boost_options o = few().trees;
	bool held[PROGRAMS] = {[PROGRAMS - 1] = true};
	struct boost_result r;
	struct advice a = {0};
	struct trees full;
	double unit;

	toys(&t);
	unit = data_unit(&t.d, held);
	CHECK(boost(&t.d, held, unit, &o, &full, &r, &t.err) == 0);
	CHECK(advice_crossed(&full, &t.d, held, unit, &o, &a, &t.err) == 0);
	CHECK_NEAR(differ(&t, PROGRAMS - 1, &full, &a), 0, 0);
	for (uint32_t g = 0; g < PROGRAMS - 1; g++) {
		bool without[PROGRAMS] = {[PROGRAMS - 1] = true};
		struct trees others;
		without[g] = true;
		CHECK(boost(&t.d, without, unit, &o, &others, &r, &t.err) == 0);
		CHECK_NEAR(differ(&t, g, &others, &a), 0, 0);
		CHECK(differ(&t, g, &full, &a) > 0.01);
		trees_release(&others);
	}
	advice_release(&a);
	trees_release(&full);
	lesson_release(&t);
}

/* Of one program alone nothing is left to grow other trees on. */
static void a_single_program_is_advised_on_by_its_own_trees(void)
{
	struct lesson t = lesson_new();
	struct fit_options o = few();
	struct model m = {0};

	toy_samples(&t.d, toys_add(&t.toys, "toy:40:3:1"), "toy:40:3:1", 1, 1);
	data_finish(&t.d);
	CHECK(fit(&t.d, NULL, &o, &m, &t.r, &t.err) == 0);
	CHECK_INT(m.net.size.advised, OUT_COUNT);
	model_release(&m);
	lesson_release(&t);
}

/* Without its own part of the outputs the network says what the trees say, and with it something else. */
static void an_untrained_network_says_what_trees_say(void)
{
	struct lesson t = lesson_new();
	struct fit_options o = few();
	struct model m = {0};
	struct guess *by_trees, *by_both;
	uint32_t *all;
	struct rng r;
	size_t n = 0, flips = 0;

	toys(&t);
	all = MEM_NEW(t.d.n_examples, uint32_t);
	for (uint32_t i = 0; i < t.d.n_examples; i++) {
		flips += t.d.example[i].n_flips;
		all[n++] = i;
	}
	by_trees = MEM_NEW(flips, struct guess), by_both = MEM_NEW(flips, struct guess);
	CHECK(fit(&t.d, NULL, &o, &m, &t.r, &t.err) == 0);
	for (int with = 0; with < 2; with++) {
		struct model trees = {.trees = m.trees, .unit = m.unit};
		double most = 0;
		rng_seed(&r, 3);
		net_randomise(&m.net, &r);
		for (uint32_t i = 0; i < m.net.size.head * OUT_COUNT && !with; i++)
			net_param(&m.net, m.net.weight, "out.weight")[i] = 0;
		for (uint32_t i = 0; i < FLIP_FEATURES * OUT_COUNT && !with; i++)
			net_param(&m.net, m.net.weight, "out.skip")[i] = 0;
		predict_examples(&trees, &t.d, all, n, t.team, by_trees);
		predict_examples(&m, &t.d, all, n, t.team, by_both);
		for (size_t i = 0; i < flips; i++)
			most = fmax(most, fabs((double)(by_trees[i].p_improve - by_both[i].p_improve)) +
				fabs((double)(by_trees[i].magnitude - by_both[i].magnitude)));
		CHECK(with ? most > 1e-3 : most < 1e-5);
	}
	mem_free(all), mem_free(by_trees), mem_free(by_both);
	model_release(&m);
	lesson_release(&t);
}

/* A model that was written and read again says of a whole program what it says of the examples. */
static void a_file_and_a_whole_program_say_the_same(void)
{
	struct lesson t = lesson_new();
	struct fit_options o = few();
	struct model m = {.facts = {.backend = (char *)"sim", .space = (char *)"toy", .provenance = (char *)"{}",
		.machine = (char *)"", .apart = (char *)""}}, *back;
	struct buf a = {0}, b = {0};
	struct infer *f;
	uint8_t config[64] = {0};

	toys(&t);
	CHECK(fit(&t.d, NULL, &o, &m, &t.r, &t.err) == 0);
	model_pack(&m, &a);
	CHECK_INT(a.data[8], 5);
	back = model_parse(a.data, a.len, "test", &t.err);
	if (!CHECK(back != NULL)) {
		printf("%s\n", t.err.text);
		return;
	}
	model_pack(back, &b);
	CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	f = infer_new(back, t.toys.s[0], &t.err);
	infer_move(f, config);
	for (uint32_t i = 0; i < t.d.n_examples; i++) {
		const struct example *e = &t.d.example[i];
		struct guess want[SPACE_CHOICES];
		if (e->graph != 0 || e->config != config_hash(t.toys.s[0], config))
			continue;
		predict_examples(&m, &t.d, &i, 1, t.team, want);
		for (uint8_t k = 0; k < e->n_flips; k++)
			CHECK_NEAR(infer_site(f, e->site)[e->label[k].to].magnitude, want[k].magnitude, 1e-4);
	}
	infer_free(f);
	model_free(back);
	net_release(&m.net), trees_release(&m.trees);
	buf_release(&a), buf_release(&b);
	lesson_release(&t);
}

int main(void)
{
	RUN(advice_comes_from_trees_that_never_saw_the_program);
	RUN(a_single_program_is_advised_on_by_its_own_trees);
	RUN(an_untrained_network_says_what_trees_say);
	RUN(a_file_and_a_whole_program_say_the_same);
	return test_done();
}
