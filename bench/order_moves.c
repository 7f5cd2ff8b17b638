/*
 * order_moves.c - measures how many shifts of instructions a second our model of memory judges.
 *
 *	build/release/bench/order_moves [--moves N] [--steps N]... [GRAPH...]
 *
 * Takes a drawn program of N steps, and of every GRAPH the largest computation as it is in the file. Prints the shifts
 * per second of processor time, beginning at the program's own order, at a low temperature: nearly only shifts that
 * need less memory are kept. Of a GRAPH it also prints how long it takes to settle the whole program (which values
 * share memory) and to lay out its heap.
 */
#include <stdio.h>
#include <time.h>
#include "base/mem.h"
#include "base/opt.h"
#include "ready/user_program.h"
#include "space/order/anneal.h"
#include "space/order/list.h"
#include "space/order/program.h"

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps read up to three of the last hundred values, or any one; sizes as real programs have them: a few are large. */
static void draw(struct line *l, uint32_t n, struct rng *r)
{
	line_init(l, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t near = i < 100 ? i : 100;
		for (uint32_t k = 0; near && k < 1 + rng_below(r, 3); k++)
			line_reads(l, i,
				rng_unit(r) < 0.95 ? i - 1 - (uint32_t)rng_below(r, near) : (uint32_t)rng_below(r, i));
		line_value(l, i, rng_unit(r) < 0.75 ? rng_below(r, 8192) : rng_below(r, 1 << 20));
	}
	line_finish(l);
}

static void measure(const char *name, struct course *c, int64_t moves, struct rng *r)
{
	struct anneal k;
	uint64_t before = course_peak(c);
	double seconds;

	anneal_init(&k, c, r);
	seconds = cpu_seconds();
	anneal_moves(&k, (uint32_t)moves, ANNEAL_COLD);
	seconds = cpu_seconds() - seconds;
	printf("%s: %u steps: %.0f shifts/s, %.1f%% taken, peak %.1f%% lower\n", name, c->line->n,
		(double)moves / seconds, 100.0 * (double)k.taken / (double)moves,
		before ? 100 * (1 - (double)course_peak(c) / (double)before) : 0.0);
	fflush(stdout);
	anneal_release(&k);
}

static void try_drawn(uint32_t n, int64_t moves, uint64_t seed)
{
	struct line l;
	struct course c;
	struct rng r;
	double *key = MEM_NEW(n, double);
	uint32_t *order = MEM_NEW(n, uint32_t);

	rng_seed(&r, seed);
	draw(&l, n, &r);
	list_schedule(&l, key, order);
	course_init(&c, &l, order);
	measure("drawn", &c, moves, &r);
	course_release(&c);
	line_release(&l);
	mem_free(key);
	mem_free(order);
}

static int try_graph(const char *path, int64_t moves, uint64_t seed, struct err *err)
{
	struct user_program u;
	struct program p;
	struct rng r;
	uint32_t most = 0;
	double settled, laid;

	rng_seed(&r, seed);
	if (user_program_fetch(&u, path, NULL, err) < 0)
		return -1;
	program_open(&p, &u.graph);
	program_settle(&p);
	settled = cpu_seconds();
	program_settle(&p);
	laid = cpu_seconds();
	program_bytes(&p);
	printf("%s: %u instructions: settled in %.2f ms, heap laid out in %.2f ms\n", path, u.graph.n_nodes,
		1e3 * (laid - settled), 1e3 * (cpu_seconds() - laid));
	for (uint32_t c = 0; c < u.graph.n_comps; c++)
		most = program_line(&p, c)->n > program_line(&p, most)->n ? c : most;
	measure(path, &p.course[most], moves, &r);
	program_release(&p);
	user_program_release(&u);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t moves = 200000, steps = 0, seed = 1;
	const struct opt table[] = {OPT_INT(0, "moves", &moves, 1, 1000000000, "shifts of each program"),
		OPT_INT(0, "steps", &steps, 0, 10000000,
			"of a drawn program; 0: 1,000 and 30,000, if no GRAPH is given"),
		OPT_INT('s', "seed", &seed, 0, INT64_MAX, "random seed"), OPT_END};
	const struct opt_program prog = {"order_moves", "[OPTIONS] [GRAPH...]",
		"Measures how fast shifts in an order are judged.", table};
	struct err err = {0};
	int n = 0, rc;

	err_program(prog.name);
	rc = opt_parse(&prog, argc, argv, &n, &err);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = try_graph(argv[i], moves, (uint64_t)seed, &err);
	if (rc == 0 && steps)
		try_drawn((uint32_t)steps, moves, (uint64_t)seed);
	for (uint32_t k = 0; rc == 0 && !steps && !n && k < 2; k++)
		try_drawn(k ? 30000 : 1000, moves, (uint64_t)seed);
	return rc < 0 ? err_exit(&err) : 0;
}
