/*
 * check_judge.c - which of two models is better. The figure is compared with a slow one; the rule is tried, also
 * against chance; and flips that judge are never trained on.
 */
#include <math.h>
#include <stdlib.h>
#include "learn/apart.h"
#include "learn/judge.h"
#include "tests/lesson.h"

/* Returns a list of all measured examples of the data. */
static struct judge_list all_of(const struct data *d)
{
	struct judge_list l = {.example = MEM_NEW(d->n_examples, uint32_t)};

	for (uint32_t i = 0; i < d->n_examples; i++)
		if (d->example[i].label[0].measured) {
			l.example[l.n++] = i;
			l.n_flips += d->example[i].n_flips;
		}
	return l;
}

/* Returns scores: the truth with noise. Noise 0 gives the best order there is. */
static float *guesses(const struct data *d, const struct judge_list *l, double noise, uint64_t seed)
{
	float *out = MEM_NEW(l->n_flips, float);
	struct rng r;
	size_t at = 0;

	rng_seed(&r, seed);
	for (size_t i = 0; i < l->n; i++)
		for (int k = 0; k < d->example[l->example[i]].n_flips; k++)
			out[at++] = (float)(-d->example[l->example[i]].label[k].advantage * 1e6 + noise *
				rng_normal(&r));
	return out;
}

/* Returns the mean place of the gains, by counting for every flip how many stand before it. */
static double slow_depth(const struct data *d, const struct judge_list *l, const float *score)
{
	double sum = 0, gain = 0;
	size_t at = 0;

	for (size_t i = 0; i < l->n; i++)
		for (int k = 0; k < d->example[l->example[i]].n_flips; k++, at++) {
			double g = fmax(0, -d->example[l->example[i]].label[k].advantage), before = 0;
			for (size_t o = 0; o < l->n_flips; o++)
				before += score[o] > score[at] ? 1 : score[o] == score[at] ? 0.5 : 0;
			sum += g * before / (double)l->n_flips;
			gain += g;
		}
	return sum / gain;
}

/* Draws samples of so many programs. */
static void setup(struct lesson *t, int programs)
{
	char name[32];

	for (int i = 0; i < programs; i++) {
		snprintf(name, sizeof name, "toy:60:3:%d", i + 1);
		toy_samples(&t->d, toys_add(&t->toys, name), name, 2, (uint64_t)i + 1);
	}
	data_finish(&t->d);
	apart_mark(&t->d);
}

/* The same, and lists all that is there to judge. */
static struct judge_list setup_all(struct lesson *t, int programs)
{
	setup(t, programs);
	return all_of(&t->d);
}

static void the_figure_is_what_it_says(void)
{
	struct lesson t = lesson_new();
	struct judge_list l = setup_all(&t, 1);
	struct judged j;
	float *a, *b;

	a = guesses(&t.d, &l, 3, 1);
	b = guesses(&t.d, &l, 0, 1);
	for (size_t i = 0; i < l.n_flips; i += 3) /* ties */
		a[i] = 1;
	judge(&t.d, &l, a, b, &j);
	CHECK_NEAR(j.depth[0], slow_depth(&t.d, &l, a), 1e-12);
	CHECK_NEAR(j.depth[1], slow_depth(&t.d, &l, b), 1e-12);
	CHECK(j.depth[1] < j.depth[0]);
	judge(&t.d, &l, a, NULL, &j);
	CHECK_NEAR(j.depth[1], 0.5, 1e-12);
	CHECK_INT(j.flips, l.n_flips);
	CHECK(j.surroundings > JUDGE_LEAST && j.gaining <= j.surroundings && j.graphs == 1);
	mem_free(a), mem_free(b), mem_free(l.example);
	lesson_release(&t);
}

static void the_rule(void)
{
	struct lesson t = lesson_new();
	struct judge_list l = setup_all(&t, 4);
	struct judged j;

	for (int i = 0; i < 4; i++) { /* {noise of the new, of the old} and what must come out */
		static const struct {
			double fresh, old;
			enum judgement want;
		} cases[] = {{0, 50, JUDGED_BETTER}, {50, 0, JUDGED_WORSE}, {0, 0, JUDGED_ALIKE},
			{1e6, 1e6, JUDGED_ALIKE}};
		float *a = guesses(&t.d, &l, cases[i].fresh, 1), *b = guesses(&t.d, &l, cases[i].old, 2);
		judge(&t.d, &l, a, b, &j);
		if (!CHECK_INT(j.verdict, cases[i].want))
			printf("case %d: %g against %g, %g to %g\n", i, j.depth[0], j.depth[1], j.low, j.high);
		mem_free(a), mem_free(b);
	}
	mem_free(l.example);
	lesson_release(&t);
}

/* A model that predicts nothing sortable is as good as no model. */
static void what_is_no_number_promises_nothing(void)
{
	struct lesson t = lesson_new();
	struct judge_list l = setup_all(&t, 1);
	float *a = guesses(&t.d, &l, 0, 1);
	struct judged j;

	for (size_t i = 0; i < l.n_flips; i++)
		a[i] = NAN;
	judge(&t.d, &l, a, a, &j);
	CHECK_NEAR(j.depth[0], 0.5, 1e-12);
	CHECK_INT(j.verdict, JUDGED_ALIKE);
	mem_free(a), mem_free(l.example);
	lesson_release(&t);
}

static void few_judge_nothing(void)
{
	struct lesson t = lesson_new();
	struct judge_list l = setup_all(&t, 1);
	struct judged j;
	float *a, *b;

	a = guesses(&t.d, &l, 0, 1);
	b = guesses(&t.d, &l, 50, 2);
	l.n = 8; /* of eight sites at most */
	l.n_flips = 0;
	for (size_t i = 0; i < l.n; i++)
		l.n_flips += t.d.example[l.example[i]].n_flips;
	judge(&t.d, &l, a, b, &j);
	CHECK_INT(j.verdict, JUDGED_ALIKE);
	l.n = l.n_flips = 0;
	judge(&t.d, &l, a, b, &j);
	CHECK_INT(j.verdict, JUDGED_ALIKE);
	CHECK(isnan(j.depth[0]) && isnan(j.low));
	mem_free(a), mem_free(b), mem_free(l.example);
	lesson_release(&t);
}

/* If two models are equally good, the rule calls the new one better in one case of forty. */
static void chance_is_rarely_called_better(void)
{
	struct lesson t = lesson_new();
	struct judge_list l = setup_all(&t, 3);
	struct judged j;
	int better = 0, rounds = 200;

	for (int i = 0; i < rounds; i++) {
		float *a = guesses(&t.d, &l, 2, 2 * (uint64_t)i + 1), *b = guesses(&t.d, &l, 2, 2 * (uint64_t)i + 2);
		judge(&t.d, &l, a, b, &j);
		better += j.verdict == JUDGED_BETTER;
		mem_free(a), mem_free(b);
	}
	printf("%d of %d called better by chance\n", better, rounds);
	CHECK(better <= rounds / 12);
	mem_free(l.example);
	lesson_release(&t);
}

/* If two programs have the same block, it is held out in both or in neither, wherever it is in them. */
static void surroundings_know_no_program(void)
{
	struct lesson t = lesson_new();
	size_t n = 0, apart = 0;

	setup(&t, 8);
	for (size_t i = 0; i < t.d.n_examples; i++) {
		const struct example *a = &t.d.example[i];
		CHECK(a->around != 0 && a->apart == apart_is(a->around));
		for (size_t k = 0; k < i; k += 17)
			CHECK(a->around != t.d.example[k].around || a->apart == t.d.example[k].apart);
	}
	for (uint64_t h = 0; h < 80000; h++, n++)
		apart += apart_is(hash_mix(h, 7));
	CHECK_NEAR((double)apart / (double)n, 1.0 / APART_ONE_IN, 0.005);
	lesson_release(&t);
}

/* Nothing is learnt from flips that are held out: whatever their costs, the weights are the same. */
static void what_is_apart_teaches_nothing(void)
{
	real *first = NULL;
	size_t n = 0;

	for (int lie = 0; lie < 2; lie++) {
		struct lesson t = lesson_new();
		setup(&t, 2);
		for (size_t i = 0; lie && i < t.d.n_examples; i++)
			for (int k = 0; t.d.example[i].apart && k < t.d.example[i].n_flips; k++)
				t.d.example[i].label[k].advantage *= -1;
		t.o.size.width = t.o.size.head = 8;
		t.o.least_steps = 20;
		t.o.epochs = 0.01;
		CHECK(train(&t.d, NULL, &t.o, &t.net, &t.r, &t.err) == 0);
		CHECK(t.r.n_held > 0 && t.r.n_train > 0);
		if (!lie) {
			n = t.net.n_weights;
			first = MEM_NEW(n, real);
			memcpy(first, t.net.weight, n * sizeof *first);
		} else {
			CHECK(memcmp(first, t.net.weight, n * sizeof *first) == 0);
		}
		lesson_release(&t);
	}
	mem_free(first);
}

int main(void)
{
	RUN(the_figure_is_what_it_says);
	RUN(the_rule);
	RUN(what_is_no_number_promises_nothing);
	RUN(few_judge_nothing);
	RUN(chance_is_rarely_called_better);
	RUN(surroundings_know_no_program);
	RUN(what_is_apart_teaches_nothing);
	return test_done();
}
