/*
 * main.c - the program `inspect`: shows what is in a program's file.
 *
 * Each option of the section "What to show" asks for a view. Views that need only the graph are rows in the table
 * below; the others need a device, or a space, and read the file themselves. A new view is an option, a row or a branch
 * in show(), and a function in a file of its own (inspect.h).
 */
#include "inspect/inspect.h"

#include <string.h>
#include "base/io.h"
#include "base/opt.h"
#include "base/stop.h"
#include "base/talk.h"
#include "ready/user_program.h"
#include "graph/print.h"
#include "lab/options.h"
#include "inspect/puzzle.h"
#include "space/space.h"

#define HOPS 2

struct view {
	bool (*asked)(const struct inspect_settings *s);
	int (*show)(struct inspection *in);
};

static bool asks_nodes(const struct inspect_settings *s)
{
	return s->nodes != NULL;
}

static bool asks_dot(const struct inspect_settings *s)
{
	return s->dot || s->around;
}

static bool asks_hlo(const struct inspect_settings *s)
{
	return s->hlo;
}

static int show_hlo(struct inspection *in)
{
	hlo_print(in->graph, in->out);
	return 0;
}

static bool always(const struct inspect_settings *s)
{
	(void)s;
	return true;
}

static const struct view views[] = {
	{asks_nodes, inspect_nodes},
	{asks_dot, inspect_dot},
	{asks_hlo, show_hlo},
	{always, inspect_summary},
};

/* Reads the graph and shows the first view that was asked for. */
static int view(struct inspection *in)
{
	struct user_program p;
	size_t i = 0;
	if (user_program_fetch(&p, in->path, NULL, in->err) < 0)
		return -1;
	while (!views[i].asked(in->set))
		i++;
	in->graph = &p.graph;
	int rc = views[i].show(in);
	user_program_release(&p);
	return rc;
}

/* Refuses options that would have no effect, so that nobody takes one view for another. */
static int fits(const struct inspect_settings *s, struct err *err)
{
	bool decisions = s->space || s->flip, spread = s->replicas != 1 || s->partitions != 1;
	const struct {
		bool asked;
		const char *name;
	} view[] = {{s->pipeline, "--pipeline"}, {decisions, s->space ? "--space" : "--flip"}, {s->memory, "--memory"},
		{s->hlo, "--hlo"}, {asks_dot(s), s->dot ? "--dot" : "--around"},
		{s->nodes && !decisions, "--nodes"}};
	const char *name = NULL;

	for (size_t i = 0; i < sizeof view / sizeof *view; i++) {
		if (view[i].asked && name)
			return err_set(err, "%s and %s show different things: ask for one at a time", name,
				view[i].name);
		name = view[i].asked ? view[i].name : name;
	}
	if (s->json && (s->hlo || asks_dot(s)))
		return err_set(err, "%s is printed in a form of its own, not as JSON", name);
	if (s->device && (s->hlo || asks_dot(s) || (s->nodes && !decisions)))
		return err_set(err, "%s shows the program in the file, and not what --device NAME makes of it", name);
	if (s->hops != HOPS && !s->around)
		return err_set(err, "--hops says how far from a node: name it with --around NODE");
	if (s->space_kind && !decisions)
		return err_set(err, "--space-kind says what to decide: add --space or --flip NODE");
	if (spread && !decisions && !s->device)
		return err_set(err, "--replicas and --partitions are for what a device does: add --device NAME");
	return 0;
}

static int show(const struct inspect_settings *s, const char *path, struct err *err)
{
	struct buf out = {0};
	struct inspection in = {s, path, NULL, &out, err};
	if (space_maker(path) && !s->pipeline && !s->space && !s->flip)
		return err_set(err, "%s is made up by a kind of decision: --space shows what can be decided in it. If "
			"it stands for a public problem, name the problem's file alone", path);
	int rc = space_is_problem(path) && !s->pipeline ? puzzle_show(path, &out, err) : 0;
	if (rc == 0)
		rc = s->pipeline ? inspect_pipeline(&in) : s->space || s->flip ? inspect_decisions(&in) : s->memory ?
			inspect_memory(&in) : s->device ? inspect_device(&in) : view(&in);
	if (rc >= 0)
		rc = io_print(&out, err);
	buf_release(&out);
	return rc;
}

int main(int argc, char **argv)
{
	struct inspect_settings s = {.hops = HOPS, .replicas = 1, .partitions = 1};
	const char *graph = NULL;
	const struct opt table[] = {
		OPT_STR('g', "graph", &graph, "FILE", "another way to name FILE, the one that search and collect have"),
		OPT_SECTION("What to show"),
		OPT_STR(0, "nodes", &s.nodes, "REGEX", "list the nodes whose name, op name or source file matches"),
		OPT_FLAG(0, "hlo", &s.hlo, "print the program as HLO text"),
		OPT_FLAG(0, "dot", &s.dot, "print a drawing for Graphviz"),
		OPT_STR(0, "around", &s.around, "NODE", "draw only the nodes near this one"),
		OPT_INT(0, "hops", &s.hops, 0, 1000, "how many steps away "
			"is near; a step leads to an operand or a user"),
		OPT_FLAG(0, "space", &s.space, "list what can be decided "
			"in the program, and how the compiler decides it"),
		OPT_STR(0, "flip", &s.flip, "NODE", "measure the other choices of this node against "
			"its default: by region, and by whole programs"),
		OPT_STR(0, "space-kind", &s.space_kind, "KIND", space_kind_words("; default: the first")),
		OPT_FLAG(0, "memory", &s.memory, "draw the temporary memory over the program, and list "
			"what is in memory at the peak; with --device, as its compiler arranges the program"),
		OPT_FLAG(0, "pipeline", &s.pipeline, "list the passes of the device's compiler, "
			"and those that run after its decisions (no FILE)"),
		OPT_SECTION("How"),
		OPT_STR(0, "device", &s.device, "NAME",
			backend_words("; NAME@VERSION, or the path of a plugin, for another version. Alone: "
				"compile the program there and run it. With --space, --flip and --memory: decide for "
				"this device (default: the first, if its plugin is there)")),
		LAB_OPTS_SPREAD(s),
		OPT_FLAG(0, "json", &s.json, "print the answer as JSON"),
		OPT_END};
	const struct opt_program prog = {"inspect", "[OPTIONS] FILE",
		"Shows what is in a program: operations, work, parameters, loops. FILE is HLO text, an "
		"HloModuleProto, HloProto or HloModuleProtoWithConfig, or "
		"StableHLO (if there is a plugin), plain or packed with zstd; or a folder of XLA's dumps; or a public "
		"problem of placement (JSON, plain or packed with gzip); \"-\" is standard input. "
		"With --space it may also be the name of a program that a kind of decision makes up itself.",
		table};
	struct err err = {0};
	int n = 0;
	err_program("inspect");
	stop_on_signals(STOP_AT_SECOND); /* at the first a compiler is stopped, and leaves nothing in /tmp */
	int rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc > 0)
		return 0;
	n += graph != NULL;
	if (rc == 0 && n != !s.pipeline)
		rc = s.pipeline ? err_set(&err, "--pipeline is about a device and wants no file")
				: err_set(&err, "wants one file, not %d; inspect --help tells more", n);
	if (rc == 0)
		rc = fits(&s, &err);
	talk_on(true);
	if (rc == 0)
		rc = show(&s, s.pipeline ? "" : graph ? graph : argv[0], &err);
	if (rc < 0 && stop_asked())
		err_set(&err, "stopped");
	return rc < 0 ? err_exit(&err) : 0;
}
