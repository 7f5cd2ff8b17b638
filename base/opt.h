/*
 * opt.h - command lines from one table.
 *
 * One table gives parsing, --help with the defaults (what the variables hold before parsing), "did you
 * mean" for typos, man pages and shell completion. Options may stand anywhere; "--" ends them;
 * --name=value and --name value both work; flags have --no-name.
 *
 *	struct settings { int64_t budget; double alpha; bool json; const char *db; struct opt_list graphs; };
 *	struct settings s = {.budget = 2000, .alpha = 10};
 *	const struct opt table[] = {
 *		OPT_SECTION("What to tune"),
 *		OPT_STR(0, "db", &s.db, "FILE", "store of earlier measurements"),
 *		OPT_INT('b', "budget", &s.budget, 0, INT64_MAX, "evaluations at most"),
 *		OPT_NUM(0, "alpha", &s.alpha, 0, 100, "percent of sites to pick from"),
 *		OPT_LIST('g', "graph", &s.graphs, "FILE", "program to tune; may be repeated"),
 *		OPT_FLAG(0, "json", &s.json, "result as JSON on standard output"),
 *		OPT_END};
 *	struct opt_program prog = {"search", "[OPTIONS] --graph FILE", "Tunes one graph ...", table};
 *	int rc = opt_parse(&prog, argc, argv, &rest, &err);  // 0 go on, 1 --help/--version printed, -1 error
 */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

enum opt_type { OPT_T_END, OPT_T_SECTION, OPT_T_FLAG, OPT_T_INT, OPT_T_NUM, OPT_T_STR, OPT_T_LIST, OPT_T_ENUM };

struct opt_list { /* values of a repeatable option, in order; release with opt_list_release */
	const char **item;
	size_t n, cap;
};

struct opt {
	enum opt_type type;
	int letter; /* 0: none */
	const char *name;
	void *value;	   /* bool, int64_t, double, const char *, struct opt_list, or int (enum) */
	double low, high;  /* bounds of numbers */
	const char *arg;   /* what the value is called in --help; for an enum "a|b|c" in order */
	const char *help;
};

#define OPT_SECTION(title) {OPT_T_SECTION, 0, NULL, NULL, 0, 0, NULL, title}
#define OPT_FLAG(c, name, var, help) {OPT_T_FLAG, c, name, var, 0, 0, NULL, help}
#define OPT_INT(c, name, var, lo, hi, help) {OPT_T_INT, c, name, var, (double)(lo), (double)(hi), "N", help}
#define OPT_NUM(c, name, var, lo, hi, help) {OPT_T_NUM, c, name, var, lo, hi, "X", help}
/* A number or the word "auto", which stores OPT_AUTO. OPT_AUTO is negative, so `lo` must be at least 0. */
#define OPT_INT_AUTO(c, name, var, lo, hi, help) {OPT_T_INT, c, name, var, (double)(lo), (double)(hi), "N|auto", help}
#define OPT_NUM_AUTO(c, name, var, lo, hi, help) {OPT_T_NUM, c, name, var, lo, hi, "X|auto", help}
#define OPT_AUTO (-1)
#define OPT_STR(c, name, var, arg, help) {OPT_T_STR, c, name, var, 0, 0, arg, help}
#define OPT_LIST(c, name, var, arg, help) {OPT_T_LIST, c, name, var, 0, 0, arg, help}
#define OPT_ENUM(c, name, var, words, help) {OPT_T_ENUM, c, name, var, 0, 0, words, help}
#define OPT_END {OPT_T_END, 0, NULL, NULL, 0, 0, NULL, NULL}
/* The same; and a struct opt_list gets the names of the options that are on the command line, in order. */
#define OPT_END_GIVEN(var) {OPT_T_END, 0, NULL, var, 0, 0, NULL, NULL}

struct opt_program {
	const char *name;  /* "search" */
	const char *usage; /* after the name */
	const char *about; /* a paragraph or two, shown by --help and in the man page */
	const struct opt *table;
};

/*
 * Parses argv[1..] and moves the words that are no options to argv[0 .. *n_words - 1], over the program's own
 * name. Strings point into argv. Besides the table's options every program has --help, --version, and the
 * undocumented --help-man and --help-completion, which print the man page and the shell's completion.
 */
int opt_parse(const struct opt_program *prog, int argc, char **argv, int *n_words, struct err *err);
void opt_list_release(struct opt_list *list);

/*
 * The first of these options that is not among those that are allowed, whose list ends with NULL; or NULL. To refuse
 * options that would have no effect.
 */
const char *opt_beside(const struct opt_list *given, const char *const *allowed);

/* The first of these options that stands in this section of the table, for the same; or NULL. */
const char *opt_in_section(const struct opt *table, const char *title, const struct opt_list *given);

/* The candidate nearest to `word` by edit distance, or NULL if none is near. */
const char *opt_nearest(const char *word, const char *const *candidates, size_t n);

/* "vantage 0.1.0 (commit)": the version every program reports and the store records. */
const char *opt_version(void);

#endif
