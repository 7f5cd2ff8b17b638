/*
 * check_eval.c - the figures that score a model: shares with ties, trivial rivals, and the noise ceiling, on data whose
 * answer is known.
 */
#include <stdlib.h>
#include "learn/eval.h"
#include "learn/show.h"
#include "tests/lesson.h"

static void shares_with_ties(void)
{
	static const struct {
		size_t n;
		double score[6], value[6], part, want;
	} cases[] = {
		{4, {4, 3, 2, 1}, {10, 0, 0, 30}, 0.25, 0.25},	     /* the best first */
		{4, {1, 2, 3, 4}, {10, 0, 0, 30}, 0.25, 0.75},
		{4, {1, 1, 1, 1}, {10, 0, 0, 30}, 0.5, 0.5},	     /* any order: the share itself */
		{6, {5, 2, 2, 2, 2, 0}, {4, 8, 0, 0, 0, 4}, 0.5, 0.5}, /* 4 and half of the tied 8, of 16 */
		{3, {1, 2, 3}, {0, 0, 0}, 0.5, NAN},		     /* nothing to find */
		{3, {3, 2, 1}, {1, 1, 1}, 0.01, 1.0 / 3},	     /* at least one item */
		{3, {3, 2, 1}, {1, 1, 1}, 1, 1},
		{4, {NAN, 3, NAN, 1}, {10, 20, 0, 10}, 0.5, 0.75},   /* no number is the lowest score */
		{4, {NAN, NAN, NAN, NAN}, {1, 2, 3, 4}, 0.5, 0.5},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double got = share_found(cases[i].score, cases[i].value, cases[i].n, cases[i].part);
		if (!CHECK(isnan(cases[i].want) ? isnan(got) : fabs(got - cases[i].want) < 1e-12))
			printf("case %zu: %g, wanted %g\n", i, got, cases[i].want);
	}
	CHECK(isnan(share_found(NULL, NULL, 0, 0.5)));
}

/* Trains a network for a moment on what was collected. */
static void teach(struct lesson *t, const bool *held, uint32_t width, uint32_t steps, double epochs)
{
	data_finish(&t->d);
	t->o.size.width = t->o.size.head = width;
	t->o.least_steps = steps;
	t->o.epochs = epochs;
	CHECK(train(&t->d, held, &t->o, &t->net, &t->r, &t->err) == 0);
}

/* Two toys of 40 sites, three choices, exact costs; scored with a network that was trained for a moment. */
static void rivals_and_ceiling(void)
{
	struct lesson t = lesson_new();
	struct evaluation e = {0};
	bool held[2] = {false, true}, known[2] = {true, false};
	struct buf text = {0};
	double possible = 0;
	uint32_t improving = 0;

	toy_samples(&t.d, toys_add(&t.toys, "toy:40:3:1"), "taught", 2, 1);
	toy_samples(&t.d, toys_add(&t.toys, "toy:40:3:2"), "asked", 2, 2);
	teach(&t, held, 8, 5, 0.1);
	evaluate(&t.d, held, known, &(struct model){.net = t.net}, t.team, &e);
	if (!CHECK_INT(e.n_graphs, 1))
		return;
	CHECK_INT(e.graph[0].graph, 1);
	CHECK_INT(e.graph[0].n, 2 * 40 * 2); /* sweeps x sites x alternatives */
	for (int s = 0; s < SHARES; s++) {
		size_t k = (size_t)ceil(eval_share[s] * 160);
		CHECK_NEAR(e.graph[0].gain[BY_CONSTANT][s], (double)k / 160, 1e-9);
		CHECK_NEAR(e.graph[0].recall[BY_REPEAT][s], 1, 1e-9); /* no error: measuring again tells the same */
		CHECK(e.graph[0].gain[BY_MODEL][s] <= e.graph[0].gain[BY_REPEAT][s] + 1e-9);
		CHECK(s == 0 || e.graph[0].gain[BY_MODEL][s] >= e.graph[0].gain[BY_MODEL][s - 1]);
	}
	CHECK_NEAR(e.graph[0].spearman[BY_REPEAT], 1, 1e-9);
	for (size_t i = 0; i < e.graph[0].n; i++)
		if (e.graph[0].item[i].advantage < 0) {
			possible -= e.graph[0].item[i].advantage;
			improving++;
		}
	CHECK_NEAR(e.graph[0].possible, possible, 1e-15);
	CHECK_INT(e.graph[0].n_improving, improving);
	CHECK_NEAR(e.mean.recall[BY_MODEL][AT_10], e.graph[0].recall[BY_MODEL][AT_10], 1e-12);
	show_text(&t.d, &e, QUANTITY_SECONDS, &text);
	CHECK(strstr(text.data, "asked") && !strstr(text.data, "taught") && strstr(text.data, "opcode mean"));
	buf_release(&text);
	evaluation_release(&e);
	lesson_release(&t);
}

/* The ceiling falls as the noise grows, and a difference within its error counts as no gain. */
static void noise_lowers_the_ceiling(void)
{
	double recall[2];

	for (int noisy = 0; noisy < 2; noisy++) {
		struct lesson t = lesson_new();
		struct space *s = toys_add(&t.toys, "toy:60:2:3");
		struct evaluation e = {0};
		bool which[1] = {true};
		uint8_t *config = MEM_NEW(s->n_sites, uint8_t);

		data_graph(&t.d, "toy", s);
		for (uint32_t i = 0; i < s->n_sites; i++) {
			struct sample x = toy_sample(s, config, i);
			x.choice[1].se = noisy ? 2 * fabs(x.choice[1].delta) : 0;
			data_sample(&t.d, 0, config, &x);
		}
		teach(&t, NULL, 4, 1, 0.01);
		evaluate(&t.d, which, which, &(struct model){.net = t.net}, t.team, &e);
		recall[noisy] = e.graph[0].recall[BY_REPEAT][AT_20];
		CHECK((e.graph[0].possible == 0) == (bool)noisy);
		CHECK(isnan(e.graph[0].gain[BY_MODEL][AT_10]) == (bool)noisy);
		CHECK(isnan(e.graph[0].signs) == (bool)noisy);
		CHECK(isnan(e.graph[0].improving_recall) == (bool)noisy);
		evaluation_release(&e);
		lesson_release(&t);
		mem_free(config);
	}
	CHECK_NEAR(recall[0], 1, 1e-9);
	CHECK(recall[1] < 0.9);
}

int main(void)
{
	RUN(shares_with_ties);
	RUN(rivals_and_ceiling);
	RUN(noise_lowers_the_ceiling);
	return test_done();
}
