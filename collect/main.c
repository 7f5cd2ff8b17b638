/*
 * main.c - `collect`: measures what single decisions are worth, night after night.
 *
 * It ends when its seconds are spent, and gives up the sample in flight; or after the sample in flight on SIGTERM or
 * SIGINT. The next call with the same settings goes on where it ended. If it is told to stop while it opens programs or
 * waits, it ends at once, without a sample. Under cron it prints one line.
 */
#include <stdio.h>
#include <unistd.h>
#include "base/io.h"
#include "base/stop.h"
#include "base/talk.h"
#include "collect/plan.h"
#define LAB_CORES_UNSAID "" /* each worker has its own, one unless it is said */
#include "lab/options.h"

static int run(const struct settings *set, struct err *err)
{
	struct plan plan;
	struct buf summary = {0};
	int rc = plan_open(&plan, set, err);

	if (rc == 0) {
		if (plan.resumed && !set->quiet)
			fprintf(stderr, "collect: going on with run %s after %llu samples\n",
				run_uuid(plan.archive.run), (unsigned long long)plan.before);
		rc = plan_run(&plan, err);
	}
	if (rc == 0)
		rc = plan_finish(&plan, &summary, err);
	else if (stop_asked() && plan.running <= 0) {
		buf_adds(&summary, "told to stop before the first sample\n");
		rc = 0;
	}
	if (rc == 0)
		rc = io_print(&summary, err);
	buf_release(&summary);
	plan_close(&plan);
	return rc;
}

/* Takes no device where a formula gives the prices of all programs, unless the user named one. */
static void settle_device(struct settings *set, const char *usual)
{
	bool needs = set->folders.n > 0 || set->graphs.n == 0;

	for (size_t i = 0; i < set->graphs.n; i++)
		needs |= !space_needs_no_device(set->graphs.item[i], set->space);
	if (!needs && set->device == usual)
		set->device = "none";
}

int main(int argc, char **argv)
{
	struct settings set = {LAB_DEFAULTS, .cores = "1", .jobs = OPT_AUTO,
		.db = "runs.sqlite", .workers = 1, .resume = true,
		.anchors = true, .share = 1.5, .start = START_MIXED};
	const struct opt table[] = {
		OPT_SECTION("What to measure"),
		OPT_LIST('g', "graph", &set.graphs, "FILE", "a program to measure; may be repeated"),
		OPT_LIST(0, "graphs", &set.folders, "DIR",
			"measure every program in a folder (*.pb, *.pb.zst); may be repeated"),
		OPT_STR(0, "nodes", &set.nodes, "REGEX",
			"measure only decisions about instructions whose name or op_name matches"),
		LAB_OPT_SPACE(set),
		OPT_SECTION("Where"),
		OPT_STR('d', "db", &set.db, "FILE", "the store; it is made if absent"),
		LAB_OPT_CACHE(set),
		LAB_OPTS_WHERE(set),
		LAB_OPTS_AHEAD(set),
		OPT_INT(0, "workers", &set.workers, 1, 64,
			"how many processes measure side by side, each on cores of its own"),
		OPT_SECTION("How long"),
		OPT_NUM(0, "seconds", &set.seconds, 0, 1e9, "stop after so many seconds; 0: no limit"),
		OPT_INT('n', "samples", &set.samples, 0, INT64_C(1) << 50, "stop after this many samples; 0: no limit"),
		OPT_FLAG(0, "resume", &set.resume,
			"go on with the unfinished run with the same settings, if there is one"),
		OPT_SECTION("How"),
		OPT_ENUM(0, "start", &set.start, "default|random|mixed", "where chains start: at the "
			"default, at a random configuration, or some at each"),
		OPT_INT(0, "chains", &set.chains, 0, 1000,
			"how many chains of samples a program gets; 0: one for each kind of start"),
		OPT_NUM(0, "tau", &set.tau, 0, 1e6, "temperature of the sampling, as a "
			"share of the default's cost; 0: by the error of the measurements"),
		OPT_FLAG(0, "anchors", &set.anchors, "measure the whole program once per sweep, against drift"),
		LAB_OPTS_HOW(set),
		OPT_NUM(0, "share", &set.share, 0, 1e6,
			"a program whose next sample would give it more than so many times its fair share of the "
			"time has to wait, however few samples it has; 0: only the numbers of samples decide"),
		OPT_SECTION("Output"),
		LAB_OPTS_TALK(set),
		OPT_END};
	const struct opt_program prog = {"collect", "[OPTIONS] --graph FILE...",
		"Measures what single compiler decisions cost. Samples the decisions of the given programs "
		"(Gibbs sampling) and measures each on a device. The results go into a store that `learn` and `search` "
		"read. Made to run every night: it ends when --seconds or --samples is used up, when nothing is left "
		"to measure, or when it is told to stop (Ctrl-C), and the next call goes on where it ended.", table};
	struct err err = {0};
	const char *usual = set.device;
	int n_words = 0, rc;

	err_program("collect");
	stop_on_signals(STOP_WHEN_ASKED);
	rc = opt_parse(&prog, argc, argv, &n_words, &err);
	if (rc == 0 && n_words)
		rc = err_set(&err, "\"%s\" is no option; programs are named with --graph", argv[0]);
	if (rc == 0) {
		settle_device(&set, usual);
		set.silent = set.quiet;
		set.quiet |= !isatty(STDERR_FILENO);
		talk_on(!set.quiet);
		rc = run(&set, &err);
	}
	opt_list_release(&set.graphs);
	opt_list_release(&set.folders);
	return rc < 0 ? err_exit(&err) : 0;
}
