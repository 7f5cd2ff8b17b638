/*
 * main.c - the program `inspect`: what is in a file.
 *
 * Reads the graph, then shows the view that was asked for. A new view is an option in the table of
 * options, a row in the table of views, and a function in a file of its own (inspect.h).
 */
#include "inspect/inspect.h"

#include <string.h>
#include "base/io.h"
#include "base/opt.h"
#include "base/stop.h"
#include "base/talk.h"
#include "ready/user_program.h"
#include "graph/print.h"
#include "inspect/puzzle.h"
#include "space/space.h"

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

/* The views of the graph alone. */
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

static int show(const struct inspect_settings *s, const char *path, struct err *err)
{
	struct buf out = {0};
	struct inspection in = {s, path, NULL, &out, err};
	size_t n = strlen(path);
	bool json = (n > 5 && strcmp(path + n - 5, ".json") == 0) || (n > 8 && strcmp(path + n - 8, ".json.gz") == 0);
	int rc = json && !s->pipeline ? puzzle_show(path, &out, err) : 0;
	if (rc == 0)
		rc = s->pipeline ? inspect_pipeline(&in) : s->space || s->flip ? inspect_decisions(&in) : s->memory ?
			inspect_memory(&in) : s->device ? inspect_device(&in) : view(&in);
	if (rc >= 0)
		rc = io_write_full(1, out.data, out.len, err);
	buf_release(&out);
	return rc;
}

int main(int argc, char **argv)
{
	struct inspect_settings s = {.hops = 2};
	const struct opt table[] = {
		OPT_SECTION("What to show"),
		OPT_STR(0, "nodes", &s.nodes, "REGEX", "nodes by name, op name or source file"),
		OPT_FLAG(0, "hlo", &s.hlo, "the program as HLO text"),
		OPT_FLAG(0, "dot", &s.dot, "a drawing for Graphviz"),
		OPT_STR(0, "around", &s.around, "NODE", "draw only what is near this node"),
		OPT_INT(0, "hops", &s.hops, 0, 1000, "how near, in operands and users"),
		OPT_FLAG(0, "space", &s.space, "what there is to decide, and how the compiler decides it"),
		OPT_STR(0, "flip", &s.flip, "NODE", "measure its other choices, by region and whole"),
		OPT_STR(0, "space-kind", &s.space_kind, "KIND", space_kind_forms()),
		OPT_FLAG(0, "memory", &s.memory, "temporary memory over the program, and what lives where it needs most; with --device as its "
			"compiler arranges it"),
		OPT_FLAG(0, "pipeline", &s.pipeline, "which passes the device's compiler runs, and which of them follow its decisions (no FILE)"),
		OPT_SECTION("How"),
		OPT_STR(0, "device", &s.device, "NAME",
			"cpu (cpu@VERSION, a path to a plugin) or sim: alone, compile and run; with --space, the one to decide for (default: cpu where there "
			"is a plugin)"),
		OPT_FLAG(0, "json", &s.json, "as JSON"),
		OPT_END};
	const struct opt_program prog = {"inspect", "[OPTIONS] FILE",
		"Shows what is in a program: operations, work, parameters, loops. FILE is HLO text, an "
		"HloModuleProto, HloProto or HloModuleProtoWithConfig, StableHLO (where there is a plugin), plain or packed "
		"with zstd, or a folder of XLA's dumps; \"-\" is standard input. For --space it may also be the name of a "
		"program that a kind of decision makes itself, such as toy:40:3:1.",
		table};
	struct err err = {0};
	int n = 0;
	err_program("inspect");
	stop_on_signals(STOP_BY_DEFAULT);
	int rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc > 0)
		return 0;
	if (rc == 0 && n != !s.pipeline)
		rc = s.pipeline ? err_set(&err, "--pipeline is about a device and wants no file")
				: err_set(&err, "wants one file, not %d; inspect --help tells more", n);
	talk_on(true);
	if (rc == 0)
		rc = show(&s, s.pipeline ? "" : argv[0], &err);
	return rc < 0 ? err_exit(&err) : 0;
}
