/*
 * rewrite.c - measures what our own part of rewriting costs: reading a program, finding its places, writing it with
 * every promising place rewritten, reading that, and opening it for the next kind of decision.
 *
 *	build/release/bench/rewrite FILE...
 *
 * It prints one line per program: instructions, places, and seconds of processor time for each step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/err.h"
#include "space/space.h"

static double processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(const char *path, struct err *err)
{
	double at[6] = {processor_seconds()};
	struct graph g = {0}, h = {0};
	struct space *s = NULL, *next = NULL;
	struct buf module = {0};
	uint8_t *config = NULL;
	int rc = graph_read(&g, path, err);

	at[1] = processor_seconds();
	if (rc == 0 && !(s = space_open("rewrite", "cpu", &g, NULL, 0, err)))
		rc = -1;
	at[2] = processor_seconds();
	if (rc == 0) {
		config = MEM_NEW(s->n_sites + 1, uint8_t);
		space_start_find(s, "promised")->fill(s, config);
		rc = s->ops->apply(s, config, &module, err);
	}
	at[3] = processor_seconds();
	if (rc == 0)
		rc = graph_parse(&h, module.data, module.len, "rewritten", err);
	at[4] = processor_seconds();
	if (rc == 0 && !(next = space_open(NULL, "cpu", &h, NULL, 0, err)))
		rc = -1;
	at[5] = processor_seconds();
	if (rc == 0)
		printf("%s: %u instructions, read %.3f s, %u places counted %.3f s, "
			"written anew %.3f s, read again (%u) %.3f s, opened "
		       "for the next kind %.3f s\n", path, g.n_nodes, at[1] - at[0], s->n_sites, at[2] - at[1],
		       at[3] - at[2],
			h.n_nodes, at[4] - at[3], at[5] - at[4]);
	space_free(next);
	space_free(s);
	graph_release(&h);
	graph_release(&g);
	buf_release(&module);
	mem_free(config);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = {0};

	err_program("rewrite");
	for (int i = 1; i < argc; i++)
		if (measure(argv[i], &err) < 0)
			return err_exit(&err);
	return 0;
}
