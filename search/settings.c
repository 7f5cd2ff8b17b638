/*
 * settings.c - the table of the options of `search`, and which of them cannot go together.
 */
#include "search/settings.h"

#include <stdio.h>
#include <string.h>
#define LAB_JOBS_ZERO "none. For a net of iopddl: threads that search; auto and 0: as many as there are cores"
#define LAB_SPACE_MORE ". KIND,KIND or KIND+KIND: one after the other, such as rewriting and then what the compiler " \
	"decides about it; if the last one arranges memory, a program is made fast within a limit on bytes, or small " \
	"within one on seconds. auto: the first of these; for a program that is timed, after rewriting it if that " \
	"promises something"
#include "device/backend.h"
#include "lab/options.h"
#include "learn/infer.h"
#include "search/hunt.h"
#include "search/lead.h"
#include "space/arranging.h"

_Static_assert(HUNT_AUTO == OPT_AUTO, "what auto stores is what the search takes");

/* Strategies: those of every kind, and after them what the kind that looks by itself has beside them. */
#define STRATEGIES 16
static struct {
	const char *name[STRATEGIES];
	int n;
	char words[200], help[700]; /* as opt.h wants them */
} strategies = {.name = {"guided", "random", "sweep", "brkga", "taso", "greedy", "tensat", "own"}, .n = STRATEGY_OWN};

static void add_strategy(const char *name)
{
	for (int i = 0; i < strategies.n; i++)
		if (strcmp(strategies.name[i], name) == 0)
			return;
	BUG_ON(strategies.n == STRATEGIES);
	strategies.name[strategies.n++] = name;
}

static void name_strategies(void)
{
	const struct space_kind *k = space_arranger();
	struct buf own = {0};

	for (size_t i = 0; k && k->arranging->strategy(i); i++) {
		add_strategy(k->arranging->strategy(i));
		buf_addf(&own, "%s%s", i ? ", " : "", k->arranging->strategy(i));
	}
	strategies.words[0] = 0;
	for (int i = 0; i < strategies.n; i++)
		snprintf(strategies.words + strlen(strategies.words),
			sizeof strategies.words - strlen(strategies.words), "%s%s", i ? "|" : "", strategies.name[i]);
	snprintf(strategies.help, sizeof strategies.help,
		"how candidates are chosen. guided: by the model; random: at random; sweep: every single flip; brkga: "
		"whole configurations are bred, as REGAL does; taso, "
		"greedy and tensat: as those optimisers do, by the sum of operators that are each measured once; "
		"tensat needs a solver of integer programs (coinor-cbc or glpk-utils); own: as the kind of decision "
		"looks by itself, if it can, and then the default%s%s%s%s%s",
		k ? ". For " : "", k ? k->name : "", k ? ": " : "", own.len ? own.data : "",
		k ? ", the first unless another is named" : "");
	buf_release(&own);
}

const char *search_strategy_name(int strategy)
{
	return strategies.name[strategy];
}

/* Adds the options of the kinds to the table, after the entry with this name. */
static void insert_own(struct settings *s, const struct opt *table, const char *after, struct opt *out)
{
	size_t n = 0;

	do {
		*out++ = *table;
		if (!table->name || strcmp(table->name, after) != 0)
			continue;
		for (const struct space_option *o = NULL; (o = space_option_next(o)); n++) {
			BUG_ON(n == SETTINGS_OWN);
			*out++ = (struct opt)OPT_STR(0, o->name, &s->own[n], o->value, o->meaning);
		}
	} while (table++->type != OPT_T_END);
}

/* Puts what these options say into the full name of the kind. */
static int settle_own(struct settings *s, struct err *err)
{
	bool named = strcmp(s->space, LEAD_AUTO) != 0;
	size_t n = 0;

	for (const struct space_option *o = NULL; (o = space_option_next(o)); n++) {
		if (!s->own[n])
			continue;
		if (space_option_add(o, named ? s->space : NULL, s->own[n], s->kind, err) < 0)
			return -1;
		s->space = s->kind;
	}
	return 0;
}

/* Kinds may be joined by "+", too, which people write where they are decided for one purpose. */
static int settle_joined(struct settings *s, struct err *err)
{
	struct err none = {0};
	char next[SPACE_KIND_ROOM];

	if (!strchr(s->space, '+'))
		return 0;
	if (strlen(s->space) >= sizeof s->kind)
		return err_set(err, "--space %.60s... is too long", s->space);
	strcpy(s->kind, s->space);
	for (char *plus = s->kind; (plus = strchr(plus, '+')); plus++) {
		snprintf(next, sizeof next, "%.*s", (int)strcspn(plus + 1, "+,"), plus + 1);
		if (space_kind_find(next, &none))
			*plus = ',';
	}
	s->space = s->kind;
	return 0;
}

/* The words that are no options, and options that cannot go together. */
static int settle(struct settings *s, int n_words, char **words, struct err *err)
{
	if (!s->graph && n_words == 1)
		s->graph = words[0];
	else if (n_words)
		return err_set(err, "\"%s\" is no option; the program is named with --graph", words[0]);
	if (!s->graph)
		return err_set(err, "no program to tune: name one with --graph FILE");
	if (!space_is_problem(s->graph) && (s->placing >= 0 || s->goal >= 0))
		return err_set(err, "--%s is about a public problem (NAME.json or NAME.json.gz), which %s is not",
			s->placing >= 0 ? "placing" : "goal", s->graph);
	if (s->placing >= 0 && s->strategy_named)
		return err_set(err, "--placing and --strategy both say how to look for a placement");
	if (s->raw && !s->db)
		return err_set(err, "--raw keeps timings in the store: name one with --db");
	if (s->from && settings_begin_elsewhere(s))
		return err_set(err, "--from and --start both say where to begin");
	if (s->unverified && (s->measure == POLICY_WHOLE ||
		(s->strategy >= STRATEGY_TASO && s->strategy <= STRATEGY_TENSAT)))
		return err_set(err, SETTINGS_BY_PARTS);
	return settle_joined(s, err) < 0 ? -1 : settle_own(s, err);
}

bool settings_begin_elsewhere(const struct settings *s)
{
	return strcmp(s->start, SETTINGS_BETTER) != 0 && strcmp(s->start, "default") != 0;
}

int settings_fit_device(const struct settings *s, struct err *err)
{
	const char *none = s->inputs ? "inputs" : s->core >= 0 ? "core" : s->cores ? "cores" : NULL;
	struct err ignored;
	const struct backend *b = backend_find(s->device, &ignored);

	if (none && (strcmp(s->device, "none") == 0 || (b && !*b->plugin)))
		return err_set(err, "--%s has no effect on --device %s, where prices are calculated and nothing runs: "
			"leave it out", none, s->device);
	return 0;
}

int search_parse(struct settings *s, int argc, char **argv, struct err *err)
{
	const struct opt table[] = {
		OPT_SECTION("What to tune"),
		OPT_STR('g', "graph", &s->graph, "FILE", "the program: HLO (proto or text), StableHLO, a folder of "
			"XLA's dumps, a CostGraphDef (.pbtxt), or a public problem (below)"),
		OPT_STR(0, "inputs", &s->inputs, "FILE",
			"run the program on these inputs: an array for each parameter, as numpy.savez(FILE, *arrays) "
			"writes them; default: numbers within +-0.5, and small whole ones"),
		LAB_OPT_SPACE(*s),
		OPT_SECTION("Where"),
		OPT_STR('d', "db", &s->db, "FILE", "keep every measurement in this store, and use those that it has; "
			"default: none, and nothing is kept"),
		LAB_OPT_CACHE(*s),
		LAB_OPTS_WHERE(*s),
		LAB_OPTS_AHEAD(*s),
		OPT_SECTION("How long"),
		OPT_INT_AUTO('b', "budget", &s->budget, 0, INT64_C(1) << 40,
			"the most candidates that are priced; auto: 2000"),
		OPT_NUM_AUTO(0, "seconds", &s->seconds, 0, 1e9, "the most seconds for the search, not counting the "
			"opening of the program and the verdict; what is under way then is given up; 0: no limit; "
			"auto: 600 if --budget is not given either, else no limit; for what looks by itself, 60"),
		OPT_NUM_AUTO(0, "verdict-seconds", &s->verdict_seconds, 0.1, 1e6,
			"seconds for which the verdict runs the two programs; auto: 20, or more if one run takes "
			"seconds, but no more than the search took; four times as long if a gain is likely but not "
			"sure"),
		OPT_SECTION("How"),
		OPT_ENUM(0, "strategy", &s->strategy, strategies.words, strategies.help),
		OPT_STR('m', "model", &s->model, "FILE",
			"the model that guides the search; none: no model; default: your own from learn, or else the "
			"one shipped"),
		OPT_STR(0, "start", &s->start, "NAME",
			"where the search starts: default (what the compiler decides), random, or by a rule that the "
			"kind of decision has, such as greedy; auto: by such a rule if that saves a fifth of the "
			"time, else at the default"),
		OPT_STR(0, "from", &s->from, "DIR",
			"start from what an earlier search left in this folder, with decisions of the same kind unless "
			"--space names another; with --budget 0 only measure it again"),
		OPT_ENUM(0, "propose", &s->propose, "signed|magnitude",
			"what is tried at a site. signed: the choice with the largest predicted gain; magnitude: "
			"random choices for the site and its neighbourhood, as in the paper"),
		OPT_ENUM(0, "by", &s->by, "magnitude|improve|gain",
			"the prediction that sorts the sites: how much a change matters, how likely it improves the "
			"program, or the gain that follows from both"),
		OPT_NUM_AUTO(0, "alpha", &s->alpha, 0, 100,
			"the percentage of the sites to pick from, best first; "
			"auto: the smaller the budget, the fewer; 0: all, one after the other in random order"),
		OPT_INT_AUTO(0, "hops", &s->hops, 0, 16,
			"with --propose magnitude, how many steps from the site its neighbourhood reaches at first; it "
			"grows while nothing is found; auto: 1, and faster on a small budget"),
		OPT_NUM(0, "explore", &s->explore, 0, 100, "the percentage of sites that are picked at random instead"),
		OPT_FLAG(0, "adapt", &s->adapt,
			"replace predictions by what was measured, and correct the predictions for similar flips"),
		OPT_FLAG(0, "bundles", &s->bundles,
			"try more and more flips at once while hardly any is worse, as from a bad start"),
		OPT_NUM_AUTO(0, "kernel-us", &s->kernel_us, 0, 1000,
			"microseconds that a kernel of a large program costs beyond "
			"its region; auto: what is known of the device, corrected by checks of the whole program"),
		OPT_FLAG(0, "codegen", &s->codegen,
			"in the end have the code of the answer generated in another way, too, such as with wider "
			"vectors, and take that if it is faster"),
		OPT_FLAG(0, "weld", &s->weld,
			"in the end have small kernels that run one after the other made one, and take that if it is "
			"faster"),
		OPT_FLAG(0, "tied", &s->tied, "decide sites with the same surroundings together"),
		OPT_FLAG(0, "unverified", &s->unverified,
			"for a program that cannot be run here: price it by its parts, or by the compiler's own "
			"figures; what is found is written, but nothing is claimed. What is laid over several devices "
			"is priced as ever, and its numbers are not compared"),
		OPT_INT(0, "drift-checks", &s->drift_checks, 0, 1000,
			"how often, at most, the whole program is measured during the search, to see whether the gains "
			"of its parts arrive"),
		LAB_OPTS_HOW(*s),
		OPT_LIST(0, "limit", &s->limits, "QUANTITY:BOUND",
			"what the tuned program must keep to, against the default or absolute: seconds:+2%, bytes:+0%, "
			"bytes:16GiB; may be repeated"),
		OPT_SECTION("A public problem instead of a program "
			"(NAME.json or NAME.json.gz: iopddl, dnn-partitioning)"),
		OPT_ENUM(0, "placing", &s->placing, "anneal|one|contiguous|heft|random|local|brkga",
			"how operations are placed on devices"),
		OPT_ENUM(0, "goal", &s->goal, "load|latency|time|memory",
			"what to make small: the load of the busiest device, the time of one sample, or, by a list "
			"scheduler, that time or the most memory in use on any device"),
		OPT_INT(0, "steps", &s->steps, 0, INT64_C(1) << 40,
			"how many steps each thread takes, however long that lasts, so that the answer is always the "
			"same; 0: as many as --seconds allows, or a minute"),
		OPT_SECTION("Output"),
		OPT_STR('o', "out", &s->out, "DIR",
			"the folder for the result, or the file for the answer to a public problem; default: "
			"NAME.tuned beside the program"),
		OPT_FLAG(0, "resume", &s->resume, "go on with a search "
			"with the same settings that was stopped or killed"),
		LAB_OPTS_TALK(*s),
		OPT_END_GIVEN(&s->given)};
	struct opt all[sizeof table / sizeof *table + SETTINGS_OWN];
	const struct opt_program prog = {"search", "[OPTIONS] --graph FILE",
		"Makes a program faster than its compiler does. Tries other decisions than the compiler's own, guided "
		"by a model if there is one, and keeps what is measurably better. In the end the result is measured "
		"against the compiler's own program, in fresh processes; where no gain can be shown, the compiler's "
		"own program is the answer. A search that is told to stop (Ctrl-C) still gives its answer. "
		"examples/run shows how to use the result.", all};
	int n_words = 0, rc;
	const char *device;

	name_strategies();
	insert_own(s, table, "space", all);
	*s = (struct settings){LAB_DEFAULTS, .jobs = OPT_AUTO, .budget = OPT_AUTO, .seconds = OPT_AUTO,
		.start = SETTINGS_BETTER,
		.hops = HUNT_AUTO, .alpha = HUNT_AUTO,
		.kernel_us = OPT_AUTO, .explore = 10, .tied = true, .bundles = true, .codegen = true, .drift_checks = 4,
		.weld = true,
		.verdict_seconds = OPT_AUTO, .adapt = true, .by = INFER_GAIN, .strategy = -1,
		.placing = -1, .goal = -1};
	s->space = LEAD_AUTO;
	device = s->device;
	rc = opt_parse(&prog, argc, argv, &n_words, err);
	s->device_named = s->device != device;
	s->strategy_named = s->strategy >= 0;
	s->strategy = s->strategy_named ? s->strategy : STRATEGY_GUIDED;
	return rc == 0 ? settle(s, n_words, argv, err) : rc;
}

void search_settings_release(struct settings *s)
{
	opt_list_release(&s->limits);
	opt_list_release(&s->given);
}
