/*
 * adapt.c - measures what it is worth to learn from a program's own measurements, for programs that trees were not
 * trained on.
 *
 *	adapt DB [SEEDS]	from the root of the repository
 *
 * Each program of the store is left out once. A tenth of its flips is tried in five batches, always those with the
 * largest predicted gain; after each batch the predictions are corrected (learn/residual.h). The bench prints the share
 * of all possible gain that was found without the correction, with it, and by a perfect predictor. Nothing is measured
 * anew.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/opt.h"
#include "base/stat.h"
#include "learn/dataset.h"
#include "learn/eval.h"
#include "learn/fit.h"
#include "learn/residual.h"

#define BATCHES 5
#define PART 0.1

struct tried { /* measured */
	float row[ROW_COLUMNS];
	real out[OUT_COUNT];
	struct residual_sums sums;
	double advantage, gain, units;
	bool done;
};

enum how { PLAIN, LEARNING, PERFECT, HOWS };

static double expected(const struct tried *x, enum how how)
{
	real out[OUT_COUNT] = {x->out[0], x->out[1], x->out[2]};

	if (how == LEARNING)
		residual_correct(&x->sums, out);
	return how == PERFECT ? x->gain : (double)guess_of(out, x->units).gain;
}

static size_t best(const struct tried *x, size_t n, enum how how)
{
	size_t at = n;
	double most = -1;

	for (size_t i = 0; i < n; i++)
		if (!x[i].done && expected(&x[i], how) > most) {
			most = expected(&x[i], how);
			at = i;
		}
	return at;
}

static double found(const struct model *m, struct tried *x, size_t n, enum how how)
{
	struct residual *r = residual_new(m);
	uint16_t *mark = MEM_NEW(n * residual_marks(r), uint16_t);
	size_t most = (size_t)ceil(PART * (double)n), tried = 0;
	double gain = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		x[i].done = false;
		x[i].sums = (struct residual_sums){0};
		all += x[i].gain;
		residual_mark(r, x[i].row, mark + i * residual_marks(r));
	}
	for (size_t batch = 1; batch <= BATCHES; batch++) {
		uint32_t told = residual_count(r);
		size_t *list = MEM_NEW(most, size_t), k = 0;
		for (; tried < most * batch / BATCHES; tried++) {
			list[k] = best(x, n, how);
			x[list[k]].done = true;
			gain += x[list[k++]].gain;
		}
		for (size_t i = 0; i < k; i++)
			residual_tell(r, x[list[i]].row, x[list[i]].out,
				x[list[i]].advantage / (m->unit * x[list[i]].units));
		for (size_t i = 0; i < n; i++)
			residual_add(r, told, mark + i * residual_marks(r), &x[i].sums);
		mem_free(list);
	}
	mem_free(mark);
	residual_free(r);
	return all > 0 ? gain / all : NAN;
}

static struct tried *flips_of(const struct data *d, uint32_t graph, const struct model *m, size_t *n)
{
	struct tried *x = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < d->n_examples; i++) {
		const struct example *e = &d->example[i];
		if (e->graph != graph || !e->label[0].measured)
			continue;
		MEM_GROW(&x, &cap, *n + e->n_flips);
		for (uint8_t k = 0; k < e->n_flips; k++) {
			struct tried *y = &x[(*n)++];
			const struct flip_label *l = &e->label[k];
			*y = (struct tried){.advantage = l->advantage, .gain = l->advantage < -l->se ? -l->advantage
				: 0,
				.units = example_units(d, e)};
			example_row(d, e, k, y->row);
			trees_predict(&m->trees, y->row, 1, y->out);
		}
	}
	return x;
}

static void one(const struct data *d, uint32_t graph, uint64_t seed, double *out)
{
	struct fit_options o = {.learner = LEARNER_TREES, .net = TRAIN_DEFAULTS, .trees = BOOST_DEFAULTS,
		.absolute = true};
	bool *held = MEM_NEW(d->n_graphs, bool);
	struct train_result r = {0};
	struct model m = {0};
	struct err err = {0};
	struct tried *x;
	size_t n;

	o.trees.seed = seed;
	held[graph] = true;
	if (fit(d, held, &o, &m, &r, &err) < 0)
		exit(err_exit(&err));
	x = flips_of(d, graph, &m, &n);
	for (int how = 0; how < HOWS; how++)
		out[how] = found(&m, x, n, (enum how)how);
	printf("| %s | %.0f | %.0f | %.0f |\n", d->graph[graph].name, 100 * out[PLAIN], 100 * out[LEARNING],
		100 * out[PERFECT]);
	fflush(stdout);
	mem_free(x);
	mem_free(held);
	model_release(&m);
	train_result_release(&r);
}

int main(int argc, char **argv)
{
	struct dataset_options o = DATASET_DEFAULTS;
	struct dataset ds;
	struct err err = {0};
	double sum[HOWS] = {0}, n = 0;

	err_program("adapt");
	if (argc < 2)
		err_set(&err, "which store? adapt DB [SEEDS]");
	dataset_init(&ds, 1);
	if (argc < 2 || dataset_read(&ds, argv[1], &o, &err) < 0 || dataset_finish(&ds, &err) < 0)
		return err_exit(&err);
	printf("| program | as predicted | learning | perfect |\n|---|---|---|---|\n");
	for (uint64_t seed = 1; seed <= (argc > 2 ? strtoull(argv[2], NULL, 10) : 1); seed++)
		for (uint32_t g = 0; g < ds.data.n_graphs; g++) {
			double out[HOWS];
			one(&ds.data, g, seed, out);
			for (int how = 0; how < HOWS && !isnan(out[PERFECT]); how++)
				sum[how] += out[how];
			n += !isnan(out[PERFECT]);
		}
	printf("| mean | %.1f | %.1f | %.1f |\n", 100 * sum[PLAIN] / n, 100 * sum[LEARNING] / n,
		100 * sum[PERFECT] / n);
	dataset_release(&ds);
	return 0;
}
