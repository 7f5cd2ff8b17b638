/*
 * settings.c - see settings.h.
 */
#include "learn/settings.h"
#include "base/re.h"

static void take_over(struct settings *s)
{
	struct train_options *o = &s->fit.net;
	struct boost_options *b = &s->fit.trees;

	o->size.width = (uint32_t)s->width;
	o->size.head = (uint32_t)s->head;
	o->size.layers = (uint32_t)s->layers;
	o->size.blind = s->blind;
	o->linear = s->linear;
	o->current_only = s->current_only;
	o->batch = (uint32_t)s->batch;
	o->threads = (uint32_t)s->threads;
	o->seed = (uint64_t)s->seed;
	o->patience = (uint32_t)s->patience;
	o->least_steps = (uint64_t)s->least_steps;
	b->rounds = (uint32_t)s->trees;
	b->leaves = (uint32_t)s->leaves;
	b->least = (uint32_t)s->least_rows;
	b->seed = o->seed;
	b->threads = o->threads;
	s->fit.absolute = s->absolute || s->fit.learner != LEARNER_GNN;
}

/* Is it a regular expression? Asked before anything is read, which may take minutes. */
static int check_pattern(const char *pattern, struct err *err)
{
	struct re *re = pattern ? re_new(pattern, err) : NULL;

	re_free(re);
	return pattern && !re ? -1 : 0;
}

/* Refuses options that cannot go together, and sets what follows from the others. */
static int settle(struct settings *s, struct err *err)
{
	if (s->models)
		return 0;
	if (s->dbs.n == 0)
		return err_set(err, "no database: give at least one with --db");
	if (s->eval && (s->out || s->leave_one_out))
		return err_set(err, "--eval trains nothing, so --out and --leave-one-out make no sense with it");
	if (s->leave_one_out && (s->holdout || s->out))
		return err_set(err, "--leave-one-out decides itself what to hold out and keeps no model");
	if (check_pattern(s->holdout, err) < 0)
		return err_prefix(err, "--holdout");
	s->keep = s->keep && !s->out && !s->eval && !s->leave_one_out;
	if (s->force && !s->keep)
		return err_set(err, "--force is for a model that goes where search finds it, and this one does not");
	if (s->keep && s->patience > 0)
		return err_set(err, "--patience chooses by what is held out, which then cannot judge the model; use --out");
	s->fit.learner = learner_of(s->learner);
	if (s->fit.learner == LEARNERS)
		return err_set(err, "there is no learner \"%s\": gnn, trees or both", s->learner);
	take_over(s);
	return 0;
}

int settings_parse(struct settings *s, int argc, char **argv, struct err *err)
{
	struct train_options *o = &s->fit.net;
	struct boost_options *b = &s->fit.trees;
	const struct opt table[] = {
		OPT_SECTION("Data"),
		OPT_LIST('d', "db", &s->dbs, "FILE", "database of measurements; may be repeated"),
		OPT_STR(0, "backend", &s->backend, "NAME", "use runs on this one only (default: that of the first run)"),
		OPT_STR(0, "cost", &s->cost, "KIND", "measured, estimated or modelled (default: that of the first run)"),
		OPT_INT(0, "limit", &s->limit, 0, INT64_MAX, "samples per graph at most; 0: all"),
		OPT_NUM_AUTO(0, "kernel-us", &s->kernel_us, 0, 1000,
			"microseconds a kernel of a large program costs beyond its region, added to what was measured; auto: by the backend"),
		OPT_STR(0, "holdout", &s->holdout, "REGEX", "do not train on graphs with such names; score on them"),
		OPT_FLAG(0, "leave-one-out", &s->leave_one_out, "for every graph: train on the others, score on it"),
		OPT_STR(0, "eval", &s->eval, "MODEL", "train nothing; score this model"),
		OPT_FLAG(0, "score-training", &s->score_training, "score on the graphs trained on as well"),
		OPT_SECTION("Result"),
		OPT_STR('o', "out", &s->out, "FILE",
			"where the model goes; default: where search finds it, if it is better than the model that search uses now"),
		OPT_FLAG(0, "keep", &s->keep, "without --out: put a better model in that place"),
		OPT_FLAG(0, "force", &s->force, "put it there although it is not better"),
		OPT_FLAG(0, "models", &s->models, "train nothing; list the models that search can use"),
		OPT_STR(0, "report", &s->report, "FILE", "a page with curves and tables (HTML)"),
		OPT_FLAG(0, "json", &s->json, "scores as JSON on standard output"),
		OPT_FLAG('q', "quiet", &s->quiet, "no talk on standard error"),
		OPT_SECTION("Learner"),
		OPT_STR(0, "learner", &s->learner, "NAME",
			"trees, boosted trees over the target alone; gnn, a graph network; both, their mean"),
		OPT_FLAG(0, "absolute", &s->absolute, "count in time for one execution, as trees do, not in the median of each graph"),
		OPT_INT(0, "trees", &s->trees, 1, 100000, "trees of each of the three forests"),
		OPT_INT(0, "leaves", &s->leaves, 2, 4096, "of a tree"),
		OPT_INT(0, "least-rows", &s->least_rows, 1, 1e6, "of a leaf"),
		OPT_NUM(0, "tree-rate", &b->rate, 1e-6, 1, "share of a tree's answer that is added"),
		OPT_NUM(0, "tree-columns", &b->columns, 0.01, 1, "share of the features that a tree may ask for"),
		OPT_NUM(0, "tree-rows", &b->rows, 0.01, 1, "share of the examples that a tree is grown on"),
		OPT_NUM(0, "lambda", &b->lambda, 0, 1e6, "pulls leaves to 0"),
		OPT_SECTION("Training of the network"),
		OPT_NUM(0, "epochs", &o->epochs, 0.01, 1e6, "draws per example"),
		OPT_INT(0, "least-steps", &s->least_steps, 0, 1e9, "steps at least, however few the examples"),
		OPT_NUM(0, "seconds", &o->seconds, 0, 1e9, "at most, for each model; paces the learning rate; 0: no limit"),
		OPT_INT(0, "seed", &s->seed, 0, INT64_MAX, "of weights and draws"),
		OPT_INT('t', "threads", &s->threads, 1, 1024, "threads; the result does not depend on them"),
		OPT_INT(0, "batch", &s->batch, 1, 65536, "examples per step"),
		OPT_NUM(0, "rate", &o->adam.rate, 1e-9, 10, "learning rate at its highest"),
		OPT_NUM(0, "decay", &o->adam.decay, 0, 10, "weight decay"),
		OPT_NUM(0, "clip", &o->adam.clip, 0, 1e9, "norm of the gradient at most; 0: no limit"),
		OPT_NUM(0, "average", &o->adam.average, 0, 0.99999, "of the weights, running; 0: the last ones"),
		OPT_INT(0, "patience", &s->patience, 0, 1000, "stop after so many of 20 checks on held-out graphs got no better, "
			"and keep the best; 0: train to the end"),
		OPT_NUM(0, "top-draws", &o->top_draws, 0, 1, "share of draws from the largest advantages; 0: uniform"),
		OPT_NUM(0, "top-part", &o->top_part, 0, 1, "the share of examples that are called large"),
		OPT_NUM(0, "gain-draws", &o->gain_draws, 0, 1, "of those draws, the share from flips that improve"),
		OPT_NUM(0, "magnitude-weight", &o->magnitude_weight, 0, 1e3, "of the magnitude's loss"),
		OPT_NUM(0, "sign-weight", &o->sign_weight, 0, 1e3, "of the sign's loss"),
		OPT_NUM(0, "size-weight", &o->size_weight, 0, 1e3, "of the loss of the size of gains"),
		OPT_SECTION("Network"),
		OPT_INT(0, "width", &s->width, 1, LAYER_WIDTH, "numbers per node"),
		OPT_INT(0, "head", &s->head, 1, LAYER_WIDTH, "numbers per flip"),
		OPT_INT(0, "layers", &s->layers, 1, NET_LAYERS, "how many steps away a node can still matter"),
		OPT_SECTION("Only to show that they matter"),
		OPT_FLAG(0, "blind", &s->blind, "one mean over operands and users: no direction"),
		OPT_FLAG(0, "linear", &s->linear, "learn magnitudes without the logarithm"),
		OPT_FLAG(0, "current-only", &s->current_only, "each sample once, not from every choice"),
		OPT_END};
	const struct opt_program prog = {"learn", "--db FILE [OPTIONS]",
		"Learns from measured decisions which decisions matter and which improve, as a model "
		"that holds for graphs it has never seen, and says how well it does. Without --out one in eight kinds of "
		"surroundings is never trained on: there the new model is compared with the one that search uses now, and takes "
		"its place only if it is better. Exit status: 0, or 3 if the model was not put in place, or 1 after an error.",
		table};
	int n_words, rc = opt_parse(&prog, argc, argv, &n_words, err);

	if (rc != 0)
		return rc;
	if (n_words > 0)
		return err_set(err, "what is \"%s\"? Databases are given with --db", argv[0]);
	return settle(s, err);
}

void settings_init(struct settings *s)
{
	*s = (struct settings){.fit = {.net = TRAIN_DEFAULTS, .trees = BOOST_DEFAULTS}, .seed = 1, .threads = 1,
		.kernel_us = OPT_AUTO, .keep = true, .learner = "trees"};
	s->width = s->fit.net.size.width, s->head = s->fit.net.size.head, s->layers = s->fit.net.size.layers;
	s->batch = s->fit.net.batch, s->patience = s->fit.net.patience, s->least_steps = (int64_t)s->fit.net.least_steps;
	s->trees = s->fit.trees.rounds, s->leaves = s->fit.trees.leaves, s->least_rows = s->fit.trees.least;
}

void settings_release(struct settings *s)
{
	opt_list_release(&s->dbs);
}
