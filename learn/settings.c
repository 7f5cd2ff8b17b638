/*
 * settings.c - the table of the options of `learn`, and which of them cannot go together.
 */
#include "learn/settings.h"
#include "base/re.h"
#include "learn/dataset.h"

static void take_over(struct settings *s)
{
	struct train_options *o = &s->fit.net;
	struct boost_options *b = &s->fit.trees;

	o->size.width = (uint32_t)s->width;
	o->size.head = (uint32_t)s->head;
	o->size.layers = (uint32_t)s->layers;
	o->size.blind = s->blind;
	o->ramps = (uint32_t)s->ramps;
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

/* Refuses options that have no effect where models are only listed. */
static int settle_models(const struct settings *s, struct err *err)
{
	static const char *const allowed[] = {"models", "json", "quiet", NULL};
	const char *other = opt_beside(&s->given, allowed);

	return !other ? 0 : err_set(err, "--models only lists the models that search can use, so --%s has no effect: "
		"leave one of the two out", other);
}

/* The same where a model is only scored. */
static int settle_eval(const struct settings *s, struct err *err)
{
	static const char *const allowed[] = {"eval", "db", "backend", "cost", "limit", "kernel-us", "holdout",
		"foreign", "report", "json", "quiet", "threads", NULL};
	const char *other = opt_beside(&s->given, allowed);

	return !other ? 0 : err_set(err, "--eval trains nothing, so --%s has no effect: leave one of the two out",
		other);
}

#define TREES "Trees"
static const char *const of_network[] = {"Training of the network", "Network",
	"Only to show what a part of the network is worth"};

/* Refuses options of a learner that does not learn. */
static int settle_learner(struct settings *s, const struct opt *table, struct err *err)
{
	const char *other = NULL;

	s->fit.learner = learner_of(s->learner);
	if (s->fit.learner == LEARNERS)
		return err_set(err, "there is no learner \"%s\": gnn, trees, both or corrected", s->learner);
	if (s->absolute && s->fit.learner != LEARNER_GNN)
		return err_set(err, "--absolute is for --learner gnn: the others predict the time of one execution "
			"anyway");
	if (s->fit.learner == LEARNER_GNN)
		other = opt_in_section(table, TREES, &s->given);
	for (int i = 0; i < 3 && !other && !learner_has_net(s->fit.learner); i++)
		other = opt_in_section(table, of_network[i], &s->given);
	return !other ? 0 : err_set(err, "--learner %s has no %s, so --%s has no effect: leave one of the two out",
		s->learner, learner_has_net(s->fit.learner) ? "trees" : "network", other);
}

/* Refuses options that cannot go together, and sets what follows from the others. */
static int settle(struct settings *s, const struct opt *table, struct err *err)
{
	if (s->models)
		return settle_models(s, err);
	if (s->dbs.n == 0)
		return err_set(err, "no measurements to learn from: name a store with --db FILE");
	if (s->eval && settle_eval(s, err) < 0)
		return -1;
	if (s->foreign && !s->eval)
		return err_set(err, "--foreign is for a model that --eval names");
	if (s->leave_one_out && (s->holdout || s->out || s->score_training))
		return err_set(err, "--leave-one-out decides itself what to hold out and to score on, and keeps no "
			"model");
	if (s->parts == 1)
		return err_set(err, "--parts 1 leaves out all graphs at once, so nothing is left to train on: name 2 "
			"or more");
	if (check_pattern(s->holdout, err) < 0)
		return err_prefix(err, "--holdout");
	if ((s->parts || s->programs) && !s->leave_one_out)
		return err_set(err, "--%s is for --leave-one-out", s->parts ? "parts" : "programs");
	s->keep = s->keep && !s->out && !s->eval && !s->leave_one_out;
	if (s->force && !s->keep)
		return err_set(err, "--force is for a model that goes where search finds it, and this one does not");
	if (s->keep && s->patience > 0)
		return err_set(err, "--patience chooses by what is held "
			"out, which then cannot judge the model; use --out");
	if (s->out && s->patience > 0 && !s->holdout)
		return err_set(err, "--patience chooses by what is held out: add --holdout");
	if (settle_learner(s, table, err) < 0)
		return -1;
	take_over(s);
	return 0;
}

int settings_parse(struct settings *s, int argc, char **argv, struct err *err)
{
	struct train_options *o = &s->fit.net;
	struct boost_options *b = &s->fit.trees;
	const struct opt table[] = {
		OPT_SECTION("Data"),
		OPT_LIST('d', "db", &s->dbs, "FILE", "a store of measurements; may be repeated"),
		OPT_STR(0, "backend", &s->backend, "NAME", "use only runs on "
			"this backend (default: that of the first run)"),
		OPT_STR(0, "cost", &s->cost, "KIND", "use only costs of this kind: measured, "
			"estimated or modelled (default: that of the first run)"),
		OPT_INT(0, "limit", &s->limit, 0, INT64_MAX, "the most samples that are used of a graph; 0: all"),
		OPT_NUM_AUTO(0, "kernel-us", &s->kernel_us, 0, 1000,
			"microseconds that a kernel costs more in a large program than was measured of it alone; they "
			"are added to what was measured; auto: what is known of the backend"),
		OPT_NUM(0, "other-weight", &s->other_weight, 0, 1, "what a decision counts that another version of the "
			"compiler measured than the newest run in the first store; such decisions are not scored on"),
		OPT_STR(0, "holdout", &s->holdout, "REGEX", "do not train "
			"on graphs whose names match, but score on them"),
		OPT_FLAG(0, "leave-one-out", &s->leave_one_out,
			"for each graph in turn: train on the others, and score on it"),
		OPT_INT(0, "parts", &s->parts, 0, 1e6, "with --leave-one-out: leave out so many "
			"parts of the graphs in turn instead of single ones; 0: single ones"),
		OPT_INT(0, "programs", &s->programs, 0, 1e6, "with --leave-one-out: train on so many other programs, "
			"drawn by the seed; 0: on all others"),
		OPT_STR(0, "eval", &s->eval, "MODEL", "train nothing; score this model"),
		OPT_FLAG(0, "foreign", &s->foreign,
			"with --eval: score it even if it was learnt from another backend or another kind of cost"),
		OPT_FLAG(0, "score-training", &s->score_training, "score also on the graphs that were trained on"),
		OPT_SECTION("Result"),
		OPT_STR('o', "out", &s->out, "FILE",
			"write the model here once it is trained (a training that is killed leaves what it had so far "
			"beside it, in FILE.*.tmp); default: to the place where search looks for it, if it "
			"is better than the model that search uses now"),
		OPT_FLAG(0, "keep", &s->keep, "without --out, put a better model where search looks for it"),
		OPT_FLAG(0, "force", &s->force, "put the model there even if it is not better"),
		OPT_FLAG(0, "models", &s->models, "train nothing; list the models that search can use"),
		OPT_STR(0, "report", &s->report, "FILE", "write a page with curves and tables (HTML)"),
		OPT_FLAG(0, "json", &s->json, "print the scores as JSON on standard output"),
		OPT_FLAG('q', "quiet", &s->quiet, "print nothing on standard error but errors"),
		OPT_SECTION("Learner"),
		OPT_STR(0, "learner", &s->learner, "NAME",
			"trees: boosted trees, which see the instruction that is decided about alone; gnn: a graph "
			"network, which also sees its neighbourhood; both: the mean of the two; corrected: a graph "
			"network that takes what trees say, and corrects it"),
		OPT_FLAG(0, "absolute", &s->absolute, "with gnn: predict the time of one execution, as trees "
			"do, instead of multiples of each graph's median"),
		OPT_NUM(0, "seconds", &s->fit.seconds, 0, 1e9, "the most time for each model, half of it for trees "
			"where a network stands beside them; its learning rate also falls by it; 0: no limit"),
		OPT_INT(0, "seed", &s->seed, 0, INT64_MAX, "random seed of trees, weights and draws"),
		OPT_INT('t', "threads", &s->threads, 1, 1024,
			"how many threads train; the result does not depend on it"),
		OPT_SECTION(TREES),
		OPT_INT(0, "trees", &s->trees, 1, 100000, "trees in each of the three forests"),
		OPT_INT(0, "leaves", &s->leaves, 2, 4096, "the most leaves of a tree"),
		OPT_INT(0, "least-rows", &s->least_rows, 1, 1e6, "the fewest rows of a leaf"),
		OPT_NUM(0, "tree-rate", &b->rate, 1e-6, 1, "the share of a "
			"tree's answer that is added to the prediction"),
		OPT_NUM(0, "tree-columns", &b->columns, 0.01, 1, "the share of the features that a tree may ask about"),
		OPT_NUM(0, "tree-rows", &b->rows, 0.01, 1, "the share of the examples that a tree is grown on"),
		OPT_NUM(0, "lambda", &b->lambda, 0, 1e6, "how strongly leaves are pulled to 0"),
		OPT_SECTION(of_network[0]),
		OPT_NUM(0, "epochs", &o->epochs, 0.01, 1e6, "how often an example is drawn on average"),
		OPT_INT(0, "least-steps", &s->least_steps, 0, 1e9, "the fewest steps, however few the examples"),
		OPT_INT(0, "batch", &s->batch, 1, 65536, "examples per step"),
		OPT_NUM(0, "rate", &o->adam.rate, 1e-9, 10, "the highest learning rate"),
		OPT_NUM(0, "decay", &o->adam.decay, 0, 10, "weight decay"),
		OPT_NUM(0, "clip", &o->adam.clip, 0, 1e9, "the largest norm of a gradient; 0: no limit"),
		OPT_NUM(0, "average", &o->adam.average, 0, 0.99999, "the share that the running average of the "
			"weights, which is the model, keeps of itself in a step; 0: the last weights are the model"),
		OPT_INT(0, "patience", &s->patience, 0, 1000, "stop as soon as so many checks in a row, of the 20 on "
			"held-out graphs, show nothing better, and keep the best weights; 0: train to the end"),
		OPT_NUM(0, "top-draws", &o->top_draws, 0, 1, "the share of draws from "
			"the largest advantages; 0: all draws are uniform"),
		OPT_NUM(0, "top-part", &o->top_part, 0, 1, "the share of examples that count as the largest"),
		OPT_NUM(0, "gain-draws", &o->gain_draws, 0, 1, "the share of improving changes among these draws"),
		OPT_NUM(0, "magnitude-weight", &o->magnitude_weight, 0, 1e3, "weight of the loss of the magnitude"),
		OPT_NUM(0, "sign-weight", &o->sign_weight, 0, 1e3, "weight of the loss of the sign"),
		OPT_NUM(0, "size-weight", &o->size_weight, 0, 1e3, "weight of the loss of the size of gains"),
		OPT_SECTION(of_network[1]),
		OPT_INT(0, "width", &s->width, 1, LAYER_WIDTH, "how many numbers the network computes for a node"),
		OPT_INT(0, "head", &s->head, 1, LAYER_WIDTH, "how many numbers it computes for a change"),
		OPT_INT(0, "ramps", &s->ramps, 0, RAMPS_MOST, "into how many ramps each number that is known of a "
			"change is cut, so that the network can tell its ranges apart; 0: it sees the number alone"),
		OPT_INT(0, "layers", &s->layers, 1, NET_LAYERS,
			"how many layers, each of which looks one node further"),
		OPT_SECTION(of_network[2]),
		OPT_FLAG(0, "blind", &s->blind, "take one mean over operands and users, without direction"),
		OPT_FLAG(0, "linear", &s->linear, "learn magnitudes without the logarithm"),
		OPT_FLAG(0, "current-only", &s->current_only,
			"learn from each sample only the changes of its current choice, "
			"not those between all its choices"),
		OPT_END_GIVEN(&s->given)};
	const struct opt_program prog = {"learn", "--db FILE [OPTIONS]",
		"Trains the model that predicts which decisions matter. "
		"It learns from what `collect` and `search` measured, and says how well it predicts. The model also "
		"works for programs that it has never seen. Without --out, one in eight kinds of surroundings is held "
		"out of training. On these the new model is compared with the one that search uses now, and replaces "
		"it only if it is better. Exit status: 0: done; 1: an error; 3: the new model was not better, and "
		"the old one stays.",
		table};
	int n_words, rc = opt_parse(&prog, argc, argv, &n_words, err);

	if (rc != 0)
		return rc;
	if (n_words > 0)
		return err_set(err, "\"%s\" is no option; stores are named with --db", argv[0]);
	return settle(s, table, err);
}

void settings_init(struct settings *s)
{
	const struct dataset_options data = DATASET_DEFAULTS;

	*s = (struct settings){.other_weight = data.other_weight,
		.fit = {.net = TRAIN_DEFAULTS, .trees = BOOST_DEFAULTS}, .seed = 1, .threads = 1,
		.kernel_us = OPT_AUTO, .keep = true, .learner = "both"};
	s->width = s->fit.net.size.width, s->head = s->fit.net.size.head, s->layers = s->fit.net.size.layers;
	s->ramps = s->fit.net.ramps;
	s->batch = s->fit.net.batch, s->patience = s->fit.net.patience,
		s->least_steps = (int64_t)s->fit.net.least_steps;
	s->trees = s->fit.trees.rounds, s->leaves = s->fit.trees.leaves, s->least_rows = s->fit.trees.least;
}

void settings_release(struct settings *s)
{
	opt_list_release(&s->dbs);
	opt_list_release(&s->given);
}
