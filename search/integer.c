/*
 * integer.c - see integer.h.
 *
 * The program goes into a file in the format of CPLEX, which all solvers read, and the solution comes back in another.
 * CBC is asked first: it is the faster one. Neither is linked, so a build needs none.
 */
#include "search/integer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"

#define SOLUTION_MOST ((size_t)64 << 20)

static const char *const solvers[] = {"cbc", "glpsol"};
#define SOLVERS (sizeof solvers / sizeof *solvers)

uint32_t integer_column(struct integer *p, double cost)
{
	MEM_GROW(&p->cost, &p->cap, p->n + 1);
	p->cost[p->n] = cost;
	return (uint32_t)p->n++;
}

void integer_row(struct integer *p, char sense, double bound)
{
	MEM_GROW(&p->row, &p->cap_rows, p->n_rows + 1);
	p->row[p->n_rows++] = (struct integer_row){sense, bound, p->n_terms};
}

void integer_term(struct integer *p, uint32_t column, double times)
{
	MEM_GROW(&p->term, &p->cap_terms, p->n_terms + 1);
	p->term[p->n_terms++] = (struct integer_term){column, times};
}

void integer_release(struct integer *p)
{
	mem_free(p->cost);
	mem_free(p->row);
	mem_free(p->term);
	*p = (struct integer){0};
}

/* Every column is in the objective, so solvers that number columns number them as we do. */
static void write_program(const struct integer *p, struct buf *out)
{
	buf_adds(out, "Minimize\n cost:\n");
	for (size_t i = 0; i < p->n; i++)
		buf_addf(out, " + %.9g v%zu\n", p->cost[i], i);
	buf_adds(out, "Subject To\n");
	for (size_t i = 0; i < p->n_rows; i++) {
		size_t end = i + 1 < p->n_rows ? p->row[i + 1].first : p->n_terms;
		buf_addf(out, " r%zu:", i);
		for (size_t k = p->row[i].first; k < end; k++)
			buf_addf(out, " %+.9g v%u\n", p->term[k].times, p->term[k].column);
		buf_addf(out, " %s %.9g\n", p->row[i].sense == '=' ? "=" : p->row[i].sense == '<' ? "<=" : ">=",
			p->row[i].bound);
	}
	buf_adds(out, "Binary\n");
	for (size_t i = 0; i < p->n; i++)
		buf_addf(out, " v%zu\n", i);
	buf_adds(out, "End\n");
}

/* The path of a program, as a shell finds it; false: there is none. */
static bool find_program(const char *name, struct buf *path)
{
	const char *at = getenv("PATH");

	for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
		buf_reset(path);
		buf_addf(path, "%.*s/%s", (int)strcspn(at, ":"), at, name);
		if (access((char *)path->data, X_OK) == 0)
			return true;
	}
	return false;
}

/* The number of the solver that there is, and its path; SOLVERS: none. */
static size_t find_solver(struct buf *path)
{
	size_t i = 0;

	while (i < SOLVERS && !find_program(solvers[i], path))
		i++;
	return i;
}

bool integer_solver_exists(void)
{
	struct buf path = {0};
	bool found = find_solver(&path) < SOLVERS;

	buf_release(&path);
	return found;
}

/*
 * Runs a program in a folder, without what it says; -1 if it fails. It has a process group of its own, so that Ctrl-C
 * reaches us alone, and ends with us. Where SIGCHLD is ignored, waiting only tells that it has ended, and not how.
 */
static int run_in(const char *folder, const char *path, char *const *args)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || chdir(folder) < 0)
			_exit(127);
		execv(path, args);
		_exit(127);
	}
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* CBC: a line of words, then "number name value cost" for each column that is not 0. */
static int read_cbc(char *text, const struct integer *p, uint8_t *value, bool *proved)
{
	char *line = strtok(text, "\n");
	unsigned column;
	double x;

	if (!line || strstr(line, "nfeasible") || strstr(line, "no integer solution"))
		return -1;
	*proved = strncmp(line, "Optimal", 7) == 0;
	while ((line = strtok(NULL, "\n"))) {
		const char *name = strchr(line, 'v');
		if (name && sscanf(name, "v%u %lf", &column, &x) == 2 && column < p->n)
			value[column] = x > 0.5;
	}
	return 0;
}

/* GLPK: "s mip rows columns state cost", "j column value", of which the first column is 1. */
static int read_glpk(char *text, const struct integer *p, uint8_t *value, bool *proved)
{
	bool found = false;
	unsigned column;
	double x;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char state = 0;
		if (sscanf(line, "s mip %*u %*u %c", &state) == 1) {
			found = state == 'o' || state == 'f';
			*proved = state == 'o';
		}
		if (sscanf(line, "j %u %lf", &column, &x) == 2 && column >= 1 && column <= p->n)
			value[column - 1] = x > 0.5;
	}
	return found ? 0 : -1;
}

static int solve_in(const char *folder, const struct integer *p, double seconds, uint8_t *value, bool *proved,
	struct err *err)
{
	struct buf program = {0}, path = {0}, file = {0}, text = {0};
	char limit[32], name[] = "p.lp", answer[] = "answer";
	size_t which = find_solver(&path);
	char *cbc[] = {(char *)"cbc", name, (char *)"sec", limit, (char *)"solve", (char *)"solu", answer, NULL};
	char *glpk[] = {(char *)"glpsol", (char *)"--lp", name, (char *)"--tmlim", limit, (char *)"-w", answer, NULL};
	int rc;

	snprintf(limit, sizeof limit, "%.0f", fmax(1, ceil(seconds)));
	write_program(p, &program);
	rc = io_write_in(folder, name, program.data, program.len, err);
	buf_addf(&file, "%s/%s", folder, answer);
	if (rc == 0 && (run_in(folder, path.data, which == 0 ? cbc : glpk) < 0 || !io_exists(file.data)))
		rc = err_set(err, "%s could not solve an integer program of %zu columns", solvers[which], p->n);
	if (rc == 0)
		rc = io_read_file((char *)file.data, SOLUTION_MOST, &text, err);
	if (rc == 0) {
		buf_add(&text, "", 1);
		memset(value, 0, p->n);
		rc = (which == 0 ? read_cbc : read_glpk)((char *)text.data, p, value, proved);
		if (rc < 0)
			err_set(err, "%s found no solution in %s seconds; give it more with --seconds", solvers[which],
				limit);
	}
	buf_release(&program);
	buf_release(&path);
	buf_release(&file);
	buf_release(&text);
	return rc;
}

int integer_solve(const struct integer *p, double seconds, uint8_t *value, bool *proved, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct buf folder = {0};
	int rc;

	if (!integer_solver_exists())
		return err_set(err, "no solver of integer programs is installed; install one: apt-get install "
			"coinor-cbc, or glpk-utils");
	buf_addf(&folder, "%s/vantage-integer-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp((char *)folder.data)) {
		rc = err_errno(err, "%s cannot be made", (char *)folder.data);
	} else {
		rc = solve_in((char *)folder.data, p, seconds, value, proved, err);
		io_remove_tree((char *)folder.data, rc == 0 ? err : NULL);
	}
	buf_release(&folder);
	return rc;
}
