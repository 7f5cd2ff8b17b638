/*
 * adapt.c - measures what it is worth to learn from a program's own measurements, for programs that the model was not
 * trained on.
 *
 *	adapt [--learner NAME] [--seeds N] DB...
 *
 * Each program that the first store's version of the compiler measured is left out once, under all versions. A tenth of
 * its flips is tried in five batches, always those with the largest predicted gain; after each batch the predictions
 * are corrected (learn/residual.h). The bench prints the share of all possible gain that was found without the
 * correction, with it, and by a perfect predictor. Nothing is measured anew.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/opt.h"
#include "base/stat.h"
#include "learn/dataset.h"
#include "learn/eval.h"
#include "learn/fit.h"
#include "learn/predict.h"
#include "learn/residual.h"
#include "learn/team.h"

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

/* The measured flips of a graph, with what the model says of each. */
static struct tried *flips_of(const struct data *d, uint32_t graph, const struct model *m, size_t *n)
{
	uint32_t *list = MEM_NEW(d->n_examples + 1, uint32_t), k = 0;
	struct team *team = team_new(1);
	struct tried *x;
	real *out;

	*n = 0;
	for (uint32_t i = 0; i < d->n_examples; i++)
		if (d->example[i].graph == graph && d->example[i].label[0].measured) {
			list[k++] = i;
			*n += d->example[i].n_flips;
		}
	x = MEM_NEW(*n + 1, struct tried);
	out = MEM_NEW(*n * OUT_COUNT + 1, real);
	predict_outputs(m, d, list, k, team, out);
	for (size_t i = 0, at = 0; i < k; i++) {
		const struct example *e = &d->example[list[i]];
		for (uint8_t f = 0; f < e->n_flips; f++, at++) {
			const struct flip_label *l = &e->label[f];
			x[at] = (struct tried){.advantage = l->advantage,
				.gain = l->advantage < -l->se ? -l->advantage : 0, .units = example_units(d, e)};
			example_row(d, e, f, x[at].row);
			memcpy(x[at].out, out + at * OUT_COUNT, sizeof x[at].out);
		}
	}
	team_free(team);
	mem_free(list);
	mem_free(out);
	return x;
}

/* Leaves this graph's program out, and fills the shares found; false if nothing can be gained in it. */
static bool one(const struct data *d, uint32_t graph, const struct fit_options *o, double *out)
{
	bool *held = MEM_NEW(d->n_graphs, bool);
	struct train_result r = {0};
	struct model m = {0};
	struct err err = {0};
	struct tried *x;
	size_t n;

	for (size_t i = 0; i < d->n_graphs; i++)
		held[i] = strcmp(d->graph[i].name, d->graph[graph].name) == 0;
	if (fit(d, held, o, &m, &r, &err) < 0)
		exit(err_exit(&err));
	x = flips_of(d, graph, &m, &n);
	for (int how = 0; how < HOWS; how++)
		out[how] = found(&m, x, n, (enum how)how);
	printf("| %s | %.0f | %.0f | %.0f |\n", d->graph[graph].name, 100 * out[PLAIN], 100 * out[LEARNING],
		100 * out[PERFECT]);
	mem_free(x);
	mem_free(held);
	model_release(&m);
	train_result_release(&r);
	return !isnan(out[PERFECT]);
}

/* All programs, with each seed, and their means. */
static void all(const struct data *d, struct fit_options *o, uint64_t seeds)
{
	double sum[HOWS] = {0}, n = 0;

	printf("| program | as predicted | learning | perfect |\n|---|---|---|---|\n");
	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (uint32_t g = 0; g < d->n_graphs; g++) {
			double out[HOWS];
			o->trees.seed = o->net.seed = seed;
			if (d->graph[g].other || !one(d, g, o, out))
				continue;
			for (int how = 0; how < HOWS; how++)
				sum[how] += out[how];
			n++;
		}
	printf("| mean | %.1f | %.1f | %.1f |\n", 100 * sum[PLAIN] / n, 100 * sum[LEARNING] / n,
		100 * sum[PERFECT] / n);
}

int main(int argc, char **argv)
{
	const char *learner = "trees";
	int64_t seeds = 1;
	struct dataset_options data = DATASET_DEFAULTS;
	struct fit_options o = {.net = TRAIN_DEFAULTS, .trees = BOOST_DEFAULTS, .absolute = true};
	const struct opt table[] = {OPT_STR(0, "learner", &learner, "NAME", "trees or both: as for learn"),
		OPT_NUM(0, "other-weight", &data.other_weight, 0, 1, "as for learn"),
		OPT_INT('s', "seeds", &seeds, 1, 1000, "random seeds: from 1 to this one"), OPT_END};
	const struct opt_program prog = {"adapt", "[OPTIONS] DB...",
		"Measures what it is worth to learn from a program's own measurements.", table};
	struct dataset ds;
	struct err err = {0};
	int n = 0, rc;

	err_program(prog.name);
	setvbuf(stdout, NULL, _IOLBF, 0); /* a line is there as soon as it is known, in a file, too */
	if ((rc = opt_parse(&prog, argc, argv, &n, &err)) != 0)
		return rc < 0 ? err_exit(&err) : 0;
	o.learner = learner_of(learner);
	if (n == 0 || (o.learner != LEARNER_TREES && o.learner != LEARNER_BOTH)) {
		err_set(&err, n == 0 ? "which store? adapt DB" : "--learner: trees or both");
		return err_exit(&err);
	}
	dataset_init(&ds, 1);
	for (int i = 0; i < n; i++)
		if (dataset_read(&ds, argv[i], &data, &err) < 0)
			return err_exit(&err);
	if (dataset_finish(&ds, &err) < 0)
		return err_exit(&err);
	all(&ds.data, &o, (uint64_t)seeds);
	dataset_release(&ds);
	return 0;
}
