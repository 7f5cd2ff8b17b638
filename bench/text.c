/*
 * text.c - measures how long reading and printing HLO text takes.
 *
 * The text is a file, or our print of a generated module (gen_module.h), which has metadata, layouts and shapes as
 * frameworks write them. The bench prints the best and the median of some rounds, in memory: from text to message, from
 * text to finished graph with its hashes, from graph to text.
 */
#include <stdio.h>
#include <time.h>
#include "base/io.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/stat.h"
#include "bench/gen_module.h"
#include "graph/graph.h"
#include "graph/print.h"
#include "hlo/text/text.h"

#define ROUNDS 15

static int to_message(const struct buf *text, struct err *err)
{
	struct arena mem = {0};
	int rc = hlo_text_parse(&mem, text->data, text->len, "text", err) ? 0 : -1;
	arena_release(&mem);
	return rc;
}

static int to_graph(const struct buf *text, struct err *err)
{
	struct graph g;
	int rc = graph_parse(&g, text->data, text->len, "text", err);
	graph_release(&g);
	return rc;
}

static int and_back(const struct graph *g)
{
	struct buf out = {0};
	hlo_print(g, &out);
	buf_release(&out);
	return 0;
}

enum what { MESSAGE, GRAPH, PRINT, WHATS };

static int report(const char *name, const struct buf *text, struct err *err)
{
	static const char *const titles[WHATS] = {"to message", "to graph", "printed"};
	struct graph g;
	if (graph_parse(&g, text->data, text->len, name, err) < 0)
		return -1;
	printf("%s: %zu bytes, %u instructions", name, text->len, g.n_nodes);
	for (int k = 0; k < WHATS; k++) {
		double seconds[ROUNDS], cpu[ROUNDS];
		for (int i = 0; i < ROUNDS; i++) {
			double t = now_seconds();
			clock_t c = clock();
			int rc = k == MESSAGE ? to_message(text, err) : k == GRAPH ? to_graph(text, err) : and_back(&g);
			if (rc < 0)
				return -1;
			seconds[i] = now_seconds() - t;
			cpu[i] = (double)(clock() - c) / CLOCKS_PER_SEC;
		}
		printf("; %s best %.1f ms, median %.1f ms (processor %.1f ms)", titles[k],
			1e3 * stat_quantile(seconds, ROUNDS, 0), 1e3 * stat_median(seconds, ROUNDS),
			1e3 * stat_median(cpu, ROUNDS));
	}
	printf("\n");
	graph_release(&g);
	return 0;
}

static int generated(uint32_t n, struct err *err)
{
	struct buf module = {0}, text = {0};
	struct graph g;
	gen_module(n, 1, &module);
	int rc = graph_parse(&g, module.data, module.len, "generated", err);
	if (rc == 0) {
		hlo_print(&g, &text);
		rc = report("generated", &text, err);
	}
	graph_release(&g);
	buf_release(&module);
	buf_release(&text);
	return rc;
}

int main(int argc, char **argv)
{
	int64_t n = 30000;
	const struct opt table[] = {OPT_INT('n', "instructions", &n, 40, 10000000, "about how many"), OPT_END};
	const struct opt_program prog = {"text", "[OPTIONS] [FILE...]",
		"Times reading and printing HLO text: a generated one, and the files given.", table};
	struct err err = {0};
	int words = 0, rc = opt_parse(&prog, argc, argv, &words, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = generated((uint32_t)n, &err);
	for (int i = 0; rc == 0 && i < words; i++) {
		struct buf text = {0};
		rc = io_read_file(argv[i], IO_FILE_LIMIT, &text, &err);
		if (rc == 0)
			rc = report(argv[i], &text, &err);
		buf_release(&text);
	}
	return rc < 0 ? err_exit(&err) : 0;
}
