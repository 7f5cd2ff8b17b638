/*
 * settings.c - see settings.h.
 */
#include "search/settings.h"

#include <stdio.h>
#include <string.h>
#define LAB_JOBS_ZERO "none; of a problem: threads, 0 and auto: as many as there are cores"
#include "lab/options.h"
#include "learn/infer.h"
#include "search/hunt.h"
#include "space/arranging.h"

_Static_assert(HUNT_AUTO == OPT_AUTO, "what auto stores is what the search takes");

/* Strategies: those of every kind, and after them what the kind that looks by itself has beside them. */
#define STRATEGIES 16
static struct {
	const char *name[STRATEGIES];
	int n;
	char words[200], help[400]; /* as opt.h wants them */
} strategies = {.name = {"guided", "random", "sweep", "taso", "greedy"}, .n = STRATEGY_OWN};

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
		"how candidates are chosen; taso and greedy do as others do and add up "
		"operators that are measured once each%s%s%s%s",
		k ? "; of the kind " : "", k ? k->name : "", k ? ", by its "
		"own ways, the first unless another is named: " : "", own.len ? own.data : "");
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
	size_t n = 0;

	for (const struct space_option *o = NULL; (o = space_option_next(o)); n++) {
		if (!s->own[n])
			continue;
		if (space_option_add(o, s->space, s->own[n], s->kind, err) < 0)
			return -1;
		s->space = s->kind;
	}
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
	if (s->from && strcmp(s->start, "default") != 0)
		return err_set(err, "--from and --start both say where to begin");
	if (s->unverified && (s->from || strcmp(s->start, "default") != 0 || s->measure == POLICY_WHOLE ||
		s->strategy == STRATEGY_TASO || s->strategy == STRATEGY_GREEDY))
		return err_set(err, "--unverified runs no whole program: it "
			"starts from the default, and measures by regions");
	return settle_own(s, err);
}

int search_parse(struct settings *s, int argc, char **argv, struct err *err)
{
	const struct opt table[] = {
		OPT_SECTION("What to tune"),
		OPT_STR('g', "graph", &s->graph, "FILE", "the program: HLO as "
			"proto or text, StableHLO, or a folder of dumps"),
		LAB_OPT_SPACE(*s),
		OPT_SECTION("Where"),
		OPT_STR('d', "db", &s->db, "FILE", "keep every measurement in this store, and use those that it has"),
		LAB_OPT_CACHE(*s),
		LAB_OPTS_WHERE(*s),
		LAB_OPTS_AHEAD(*s),
		OPT_SECTION("How long"),
		OPT_INT('b', "budget", &s->budget, 0, INT64_C(1) << 40, "the most evaluations"),
		OPT_NUM(0, "seconds", &s->seconds, 0, 1e9, "the most time for the search, without opening and verdict: "
			"what is under way then is given up; 0: no limit"),
		OPT_NUM_AUTO(0, "verdict-seconds", &s->verdict_seconds, 0.1, 1e6,
			"the time that the verdict runs the programs; auto: 20, or, if one "
			"run takes seconds, at most as long as the search"),
		OPT_SECTION("How"),
		OPT_ENUM(0, "strategy", &s->strategy, strategies.words, strategies.help),
		OPT_STR('m', "model", &s->model, "FILE",
			"the model that guides the search; default: your own from learn, or else the one shipped"),
		OPT_STR(0, "start", &s->start, "NAME",
			"where the search starts: default, random, or a rule of the kind of decision, such as greedy"),
		OPT_STR(0, "from", &s->from, "DIR",
			"start from the result of an earlier search; with --budget 0 it is only measured again"),
		OPT_ENUM(0, "propose", &s->propose, "signed|magnitude",
			"what is tried at a site: the flip with the largest predicted "
			"gain, or the paper's mutation of a neighbourhood"),
		OPT_ENUM(0, "by", &s->by, "magnitude|improve|gain",
			"the prediction that orders the sites: how much "
			"a change matters, whether it improves, or both"),
		OPT_NUM_AUTO(0, "alpha", &s->alpha, 0, 100,
			"percent of the sites to pick from, best first; "
			"auto: by the budget; 0: a sweep in random order"),
		OPT_INT_AUTO(0, "hops", &s->hops, 0, 16,
			"radius of a mutated neighbourhood, which grows while nothing is "
			"found; auto: it grows faster on a small budget"),
		OPT_NUM(0, "explore", &s->explore, 0, 100, "percent of picks that are uniformly random"),
		OPT_FLAG(0, "adapt", &s->adapt,
			"replace predictions by what was measured, and correct the predictions for similar flips"),
		OPT_NUM_AUTO(0, "kernel-us", &s->kernel_us, 0, 1000,
			"microseconds that a kernel of a large program costs beyond "
			"its region; auto: what is known of the device, corrected by checks of the whole program"),
		OPT_FLAG(0, "tied", &s->tied, "decide sites with the same surroundings together"),
		OPT_FLAG(0, "unverified", &s->unverified,
			"go by the parts of the program alone, for one that cannot be run here, "
			"or by what the compiler says; what is found is written, but nothing is claimed"),
		OPT_INT(0, "drift-checks", &s->drift_checks, 0, 1000,
			"the most checks of the whole program during the search"),
		LAB_OPTS_HOW(*s),
		OPT_LIST(0, "limit", &s->limits, "QUANTITY:BOUND",
			"what the tuned program must keep to: seconds:+2% (of the "
			"default), bytes:+0%, bytes:16GiB; may be repeated"),
		OPT_SECTION("A public problem instead of a program "
			"(NAME.json or NAME.json.gz: iopddl, dnn-partitioning)"),
		OPT_ENUM(0, "placing", &s->placing, "anneal|one|contiguous|heft|random|local",
			"how operations are placed on devices"),
		OPT_ENUM(0, "goal", &s->goal, "load|latency",
			"what a placement makes small: the load of the busiest device, or the time of one sample"),
		OPT_INT(0, "steps", &s->steps, 0, INT64_C(1) << 40,
			"steps of each thread, without a limit of time, so that the answer "
			"is always the same; 0: --seconds, or a minute"),
		OPT_SECTION("Output"),
		OPT_STR('o', "out", &s->out, "DIR",
			"the folder for the result, or the file for a problem's "
			"answer; default: beside the graph, NAME.tuned"),
		OPT_FLAG(0, "resume", &s->resume, "go on with the search "
			"of the same settings that was stopped or killed"),
		LAB_OPTS_TALK(*s),
		OPT_END};
	struct opt all[sizeof table / sizeof *table + SETTINGS_OWN];
	const struct opt_program prog = {"search", "[OPTIONS] --graph FILE",
		"Looks for decisions that make a program faster than the compiler's own, "
		"guided by a model if there is one, keeps what is measurably better, and proves the result on a fresh "
		"worker against the compiler's own program. The result is "
		"never slower than that; examples/run shows how to use it. If it is "
		"told to stop, it still gives its answer, and can go on with --resume.", all};
	int n_words = 0, rc;

	name_strategies();
	insert_own(s, table, "space", all);
	*s = (struct settings){LAB_DEFAULTS, .jobs = OPT_AUTO, .budget = 2000, .start = "default", .hops = HUNT_AUTO,
		.alpha = HUNT_AUTO,
		.kernel_us = OPT_AUTO, .explore = 10, .tied = true, .drift_checks = 4, .verdict_seconds = OPT_AUTO,
		.adapt = true, .by = INFER_GAIN};
	rc = opt_parse(&prog, argc, argv, &n_words, err);
	return rc == 0 ? settle(s, n_words, argv, err) : rc;
}

void search_settings_release(struct settings *s)
{
	opt_list_release(&s->limits);
}
