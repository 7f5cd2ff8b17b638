/*
 * check_integer.c - integer programs against all solutions of small ones, with each solver that is installed.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/io.h"
#include "base/rng.h"
#include "search/integer.h"
#include "tests/test.h"

#define COLUMNS 8

/* A program in the shape of those that choose among ways to compute: some way, which needs other things, which cost. */
static void draw(struct integer *p, struct rng *r)
{
	for (int i = 0; i < COLUMNS; i++)
		integer_column(p, (double)rng_below(r, 100) / 4);
	for (uint32_t i = 0; i + 1 < COLUMNS; i += 2) {
		integer_row(p, i ? '>' : '=', 1);
		integer_term(p, i, 1);
		integer_term(p, i + 1, 1);
		integer_row(p, rng_below(r, 2) ? '>' : '<', 0);
		integer_term(p, (uint32_t)rng_below(r, i + 1), 1);
		integer_term(p, i + 1, -1);
	}
}

static bool allowed(const struct integer *p, unsigned set)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		size_t end = i + 1 < p->n_rows ? p->row[i + 1].first : p->n_terms;
		double sum = 0;
		for (size_t k = p->row[i].first; k < end; k++)
			sum += set >> p->term[k].column & 1 ? p->term[k].times : 0;
		if (p->row[i].sense == '<' ? sum > p->row[i].bound : p->row[i].sense == '>' ? sum < p->row[i].bound :
			sum != p->row[i].bound)
			return false;
	}
	return true;
}

static double cost_of(const struct integer *p, unsigned set)
{
	double sum = 0;

	for (int i = 0; i < COLUMNS; i++)
		sum += set >> i & 1 ? p->cost[i] : 0;
	return sum;
}

static double best_of_all(const struct integer *p)
{
	double best = INFINITY;

	for (unsigned set = 0; set < 1u << COLUMNS; set++)
		if (allowed(p, set) && cost_of(p, set) < best)
			best = cost_of(p, set);
	return best;
}

static void solutions_are_the_best(void)
{
	struct rng r;

	rng_seed(&r, 7);
	for (int i = 0; i < 20; i++) {
		struct integer p = {0};
		uint8_t value[COLUMNS];
		struct err err = {0};
		unsigned set = 0;
		bool proved;
		double best;
		draw(&p, &r);
		best = best_of_all(&p);
		if (integer_solve(&p, 10, value, &proved, &err) < 0) {
			if (!CHECK(isinf(best)))
				printf("\tprogram %d: %s, not %g\n", i, err.text, best);
		} else {
			for (int k = 0; k < COLUMNS; k++)
				set |= (unsigned)value[k] << k;
			if (!CHECK(proved && allowed(&p, set)) || !CHECK_NEAR(cost_of(&p, set), best, 1e-6))
				printf("\tprogram %d\n", i);
		}
		integer_release(&p);
	}
}

/* With a PATH that has one solver alone, so that both are tried where both are installed. */
static void with_solver(const char *name)
{
	static const char *const folders[] = {"/usr/bin", "/usr/local/bin", "/bin"};
	char folder[] = "/tmp/check_integer-XXXXXX", from[64] = "", to[64], *path = strdup(getenv("PATH"));

	for (int i = 2; i >= 0; i--) {
		snprintf(to, sizeof to, "%s/%s", folders[i], name);
		if (access(to, X_OK) == 0)
			strcpy(from, to);
	}
	if (*from && CHECK(mkdtemp(folder) != NULL)) {
		snprintf(to, sizeof to, "%s/%s", folder, name);
		CHECK(symlink(from, to) == 0 && setenv("PATH", folder, 1) == 0);
		solutions_are_the_best();
		CHECK(unlink(to) == 0 && rmdir(folder) == 0 && setenv("PATH", path, 1) == 0);
	}
	free(path);
}

static void cbc_solves(void)
{
	with_solver("cbc");
}

static void glpk_solves(void)
{
	with_solver("glpsol");
}

/* A solver that finds the first of two columns, if it has a process group of its own. */
static const char obedient[] = "#!/bin/sh\n"
	"read -r pid name state parent group rest </proc/self/stat\n"
	"[ $group = $$ ] && echo 'Optimal - objective value 1' >answer && echo '0 v0 1 1' >>answer\n";
/* ... and one that ends well without an answer. */
static const char silent[] = "#!/bin/sh\n";

/* With a solver that is such a script. Returns whether it solved. */
static bool solve_by(const char *script)
{
	char folder[] = "/tmp/check_integer-XXXXXX", at[64], *path = strdup(getenv("PATH"));
	struct integer p = {0};
	struct err err = {0};
	uint8_t value[2] = {0, 0};
	bool proved = false, solved = false;

	integer_column(&p, 1);
	integer_column(&p, 2);
	if (CHECK(mkdtemp(folder) != NULL)) {
		snprintf(at, sizeof at, "%s/cbc", folder);
		CHECK(io_write_file(at, script, strlen(script), &err) == 0 && chmod(at, 0755) == 0);
		CHECK(setenv("PATH", folder, 1) == 0);
		solved = integer_solve(&p, 1, value, &proved, &err) == 0;
		CHECK(setenv("PATH", path, 1) == 0 && unlink(at) == 0 && rmdir(folder) == 0);
		if (solved)
			CHECK(value[0] == 1 && value[1] == 0 && proved);
		else
			CHECK_STR(err.text, "cbc could not solve an integer program of 2 columns");
	}
	integer_release(&p);
	free(path);
	return solved;
}

/* Ctrl-C is for us alone; and whoever starts us may have us ignore SIGCHLD, so that no status is to be had. */
static void solvers_are_on_their_own(void)
{
	CHECK(solve_by(obedient) && !solve_by(silent));
	signal(SIGCHLD, SIG_IGN);
	CHECK(solve_by(obedient) && !solve_by(silent));
	signal(SIGCHLD, SIG_DFL);
}

static void a_missing_solver_is_told(void)
{
	char *path = strdup(getenv("PATH"));
	struct integer p = {0};
	struct err err = {0};
	uint8_t value[1];
	bool proved;

	integer_column(&p, 1);
	CHECK(setenv("PATH", "/nowhere", 1) == 0);
	CHECK(!integer_solver_exists() && integer_solve(&p, 1, value, &proved, &err) < 0);
	CHECK(strstr(err.text, "coinor-cbc"));
	CHECK(setenv("PATH", path, 1) == 0);
	integer_release(&p);
	free(path);
}

int main(void)
{
	RUN(cbc_solves);
	RUN(glpk_solves);
	RUN(solvers_are_on_their_own);
	RUN(a_missing_solver_is_told);
	return test_done();
}
